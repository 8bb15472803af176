"""A run that can be stopped at any moment and goes on bit-equal.

`options` says when checkpoints are written, `snapshot` what is in one, `generations` how they lie on disk,
`identity` which run one belongs to, `lock` and `signals` keep others and the user's Ctrl-C from doing harm,
and `recorder` is what a fit holds of all that.
"""

from plugsamp._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, {"Checkpoints": "plugsamp.checkpoint.options"})
