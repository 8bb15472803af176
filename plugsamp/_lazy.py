"""Public names of a package, imported on first use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec


def attach(
    package: str, names: Mapping[str, str], gone: Mapping[str, str] | None = None
) -> tuple[Callable, Callable, list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package whose names live in other modules.

    Parameters
    ----------
    package : str
        ``__name__`` of the package.
    names : mapping of str to str
        Public name -> module that holds it (the module itself, where it ends with that name).
    gone : mapping of str to str, optional
        Public name of an earlier version -> what to use instead.
    """

    def find(name: str):
        if name in (gone or {}):
            raise AttributeError(f"{package}.{name} is gone: {gone[name]}")
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            module = import_module(names[name])
        except ImportError as error:
            if find_spec("plugsamp.system.cpu") is not None:
                raise
            where = import_module("plugsamp").__path__[0]
            raise ImportError(
                f"{where} is plugsamp's source, of which nothing is compiled: install it (pip install .) and "
                "start Python in another folder, or install it with pip install -e ."
            ) from error
        value = module if names[name] == f"{package}.{name}" else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    return find, lambda: sorted(names), sorted(names)
