"""Kernels of the topic indicators, one module each."""

from plugsamp._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "AliasLDA": "plugsamp.kernels.presets",
        "Auto": "plugsamp.kernels.auto",
        "ComposedMH": "plugsamp.kernels.composed",
        "Dense": "plugsamp.kernels.dense",
        "FastLDA": "plugsamp.kernels.fast",
        "Kernel": "plugsamp.kernels.base",
        "LightLDA": "plugsamp.kernels.presets",
        "LightPCLDA": "plugsamp.kernels.presets",
        "SparseLDA": "plugsamp.kernels.sparse",
        "SparsePCLDA": "plugsamp.kernels.presets",
    },
)
