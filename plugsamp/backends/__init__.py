"""Where the work runs, one module each."""

from plugsamp._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "Serial": "plugsamp.backends.serial",
    },
)
