"""Views of a posterior that are made in layers above it.

The package `plugsamp` registers their modules, and methods of `Posterior` look them up, so that nothing here
imports a layer above.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

_MODULES: dict[str, str] = {}


def register(name: str, module: str) -> None:
    """Name the module of a view, whose function ``write`` takes a posterior; it is imported on first use."""
    _MODULES[name] = module


def view(name: str) -> Callable:
    """Return the function that writes a view.

    Raises
    ------
    LookupError
        Nothing is registered under the name.
    """
    if name not in _MODULES:
        raise LookupError(
            f"there is no view {name!r} of a posterior; there are {', '.join(_MODULES) or 'none'}"
        )
    return import_module(_MODULES[name]).write
