"""Crosses of two parametrisations: in the default suite every value of both, all pairs with `-m slow`."""

from __future__ import annotations

import pytest


def crossed(many, few, label=str) -> list:
    """All pairs; those that are not slow have each of `many` once, with each of `few` in turn.

    Turns are shifted by one after each round, so that what alternates in `many` meets all of `few`.
    """
    many, few = list(many), list(few)
    return [
        pytest.param(
            one, other, id=f"{label(one)}-{label(other)}",
            marks=() if (i + i // len(few)) % len(few) == j else (pytest.mark.slow,),
        )
        for i, one in enumerate(many)
        for j, other in enumerate(few)
    ]  # fmt: skip
