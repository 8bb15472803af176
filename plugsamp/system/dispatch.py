"""Loads the variant of a compiled module that suits the processor.

The modules named in ``dispatched.txt`` are compiled once for each instruction set. All variants draw
the same random numbers, but sums are rounded in another order: a run is reproducible to the bit on one
build and one instruction set. ``PLUGSAMP_ISA`` (base, avx2, avx512) forces a lower one.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from types import ModuleType

from plugsamp.system.cpu import instruction_set

ORDER = ("base", "avx2", "avx512")


@cache
def chosen() -> str:
    """The instruction set in use.

    Raises
    ------
    ValueError
        ``PLUGSAMP_ISA`` names none, or one that the processor lacks.
    """
    best = instruction_set()
    wanted = os.environ.get("PLUGSAMP_ISA", "").strip() or best
    if wanted not in ORDER:
        raise ValueError(f"PLUGSAMP_ISA must be one of {', '.join(ORDER)}, not {wanted!r}")
    if ORDER.index(wanted) > ORDER.index(best):
        raise ValueError(f"PLUGSAMP_ISA={wanted}, but this processor runs {best} at most")
    return wanted


@cache
def load(module: str) -> ModuleType:
    """The best variant, of those built, of a module listed in ``dispatched.txt``."""
    for variant in reversed(ORDER[: ORDER.index(chosen()) + 1]):
        name = f"{module}_{variant}"
        try:
            return import_module(name)
        except ModuleNotFoundError as error:
            if error.name != name:
                raise
    raise ImportError(f"{module} is not compiled; reinstall plugsamp")
