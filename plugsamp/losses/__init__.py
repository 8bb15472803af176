"""Losses, one module each; a plugin's base class is `Loss`."""

from plugsamp._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "Coding": "plugsamp.losses.coding",
        "Gaussian": "plugsamp.losses.gaussian",
        "Hinge": "plugsamp.losses.hinge",
        "Loss": "plugsamp.losses.base",
        "NoLoss": "plugsamp.losses.none",
    },
)
