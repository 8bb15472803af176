"""Where the work runs, one module each."""

from plugsamp._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "Backend": "plugsamp.backends.base",
        "Processes": "plugsamp.backends.processes",
        "Serial": "plugsamp.backends.serial",
        "WorkerDied": "plugsamp.backends.failures",
        "WorkerError": "plugsamp.backends.failures",
    },
)
