"""Kernels of the topic indicators, one module each."""

from plugsamp._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "ComposedMH": "plugsamp.kernels.composed",
        "Dense": "plugsamp.kernels.dense",
        "FastLDA": "plugsamp.kernels.fast",
        "Kernel": "plugsamp.kernels.base",
        "SparseLDA": "plugsamp.kernels.sparse",
    },
)
