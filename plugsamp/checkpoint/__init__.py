"""A run that can be stopped at any moment and goes on bit-equal.

`options` says when checkpoints are written, `generations` how they lie on disk, `signals` grants Ctrl-C after
the sweep, and `recorder` is what a fit holds of all that. What is in a checkpoint, and which run one belongs
to, is in `plugsamp.sampling.snapshot` and `plugsamp.sampling.identity`.
"""

from plugsamp._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, {"Checkpoints": "plugsamp.checkpoint.options"})
