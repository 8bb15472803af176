"""Priors of the weights, one module each; a plugin's base class is `WeightPrior`."""

from plugsamp._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "Hierarchical": "plugsamp.priors.hierarchical",
        "Horseshoe": "plugsamp.priors.horseshoe",
        "Normal": "plugsamp.priors.normal",
        "WeightPrior": "plugsamp.priors.base",
    },
)
