"""Settings of a model by name: those that a search tries, and the models that they make."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace

import numpy as np

from plugsamp.checks import whole
from plugsamp.model import Model
from plugsamp.priors.hierarchical import Hierarchical
from plugsamp.priors.normal import Normal

#: Parts of a model whose options are settings too; the first that has an option of a name is meant.
PARTS = ("weights", "loss")


def with_setting(model: Model, setting: Mapping) -> Model:
    """Return a model with other settings.

    Parameters
    ----------
    model : Model
    setting : mapping of str to value
        Fields of the model (``n_topics``), options of its weights (``variance``) or of its loss (``cost``).

    Raises
    ------
    ValueError
        The model has no such setting, or not with this value.
    """
    changed: dict = {} if model.loss_given else {"loss": None}
    parts: dict = {}
    own = {field.name for field in fields(Model)} - {*PARTS, "topics"}
    for name, value in setting.items():
        part = next((part for part in PARTS if name in getattr(model, part).options()), None)
        if name in own:
            changed[name] = value
        elif part is not None:
            parts.setdefault(part, {})[name] = value
        elif name in Normal().options() and not model.weights_given:
            parts.setdefault("weights", {})[name] = value  # a fixed one in place of variances that are drawn
        else:
            there = sorted(own.union(*(getattr(model, part).options() for part in PARTS)))
            drawn = name in Normal().options() and isinstance(model.weights, Hierarchical)
            hint = f"; weights=hierarchical draws it, weights=normal takes {name}" if drawn else ""
            raise ValueError(f"the model has no setting {name!r}{hint}; it has {', '.join(there)}")
    for part, options in parts.items():
        was = getattr(model, part)
        fixed = part == "weights" and not options.keys() <= was.options().keys()
        kind = Normal if fixed else type(was)
        kept = {key: v for key, v in was.options().items() if not fixed or key in Normal().options()}
        changed[part] = kind(**kept | options)
    return replace(model, **changed)


def value_of(model: Model, name: str):
    """Return the value that a model has of a setting, None where it has none."""
    for place in (model, *(getattr(model, part) for part in PARTS)):
        if name in (place.options() if place is not model else vars(model)):
            value = getattr(place, name)
            return value.tolist() if isinstance(value, np.ndarray) else value
    return None


def default_grid(model: Model, covariates: bool) -> dict[str, list]:
    """Return values to try: those that the loss names, half and twice the topics, and the model's.

    Numbers of topics are left out where alpha is a vector.

    Parameters
    ----------
    model : Model
    covariates : bool
        Whether there are covariates, whose weights have a variance of their own.
    """
    grid = (
        {}
        if model.alpha.ndim
        else {"n_topics": {max(model.n_topics // 2, 1), model.n_topics, 2 * model.n_topics}}
    )
    for name, values in model.loss.search.items():
        own = value_of(model, name)
        known = any(name in getattr(model, part).options() for part in PARTS)
        if known and (covariates or name != "covariate_variance"):
            grid[name] = {*values, *([] if own is None else [own])}
    return {name: sorted(values) for name, values in grid.items()}


def chosen(grid: Mapping[str, Sequence], model: Model, n: int) -> list[dict]:
    """Return settings of a grid: all, or so many that are spread over it.

    The first is the model's own. Of a list without the model's value it has the first.
    The points are those of a Halton sequence (Halton 1960), the same in every call.

    Raises
    ------
    ValueError
        A name without a list of values.
    """
    n = whole("settings", n, 1)
    for name, values in grid.items():
        if isinstance(values, str) or not isinstance(values, Sequence) or not len(values):
            raise ValueError(f"{name} must have a list of values to try, not {values!r}")
    names = list(grid)
    every = [dict(zip(names, values, strict=True)) for values in itertools.product(*grid.values())]
    own = {name: value_of(model, name) for name in names}
    own = {name: own[name] if own[name] in values else values[0] for name, values in grid.items()}
    first = [setting for setting in every if setting == own][:1]
    if len(every) <= n:
        return first + [setting for setting in every if setting not in first]
    from scipy.stats import qmc  # here, as it takes a while to import

    points, found = qmc.Halton(len(names), scramble=False), list(first)
    points.fast_forward(1)  # the first is the corner of the grid
    while len(found) < n:
        place = zip(grid.items(), points.random(1)[0], strict=True)
        setting = {name: values[int(u * len(values))] for (name, values), u in place}
        if setting not in found:
            found.append(setting)
    return found


def described(setting: Mapping) -> str:
    """Return a setting in one line, as options of a command are written."""
    parts = (
        f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in setting.items()
    )
    return " ".join(parts) or "the model as it is"
