"""The one number that a run is judged by: its name, where metrics.json has it, and which way is better."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Mapping

#: Measures that runs are compared by, and whether more is better.
HIGHER = {
    "accuracy": True, "f1_micro": True, "f1_macro": True, "r2": True, "log_density": True,
    "log_likelihood": True, "log_loss": False, "calibration_error": False, "rmse": False, "mae": False,
    "perplexity": False,
}  # fmt: skip

#: Measures that have a right value, neither the largest nor the smallest.
TARGETS = {"coverage_90": 0.9, "coverage_90_lowest": 0.9}

PARTS = ("validation", "test", "train")

#: The task's own measure (`plugsamp.prediction.metrics.MAIN`) of the validation documents where there are
#: some, or else of the test or the training documents.
MAIN = "main"

#: Means over the topics of a run (`plugsamp.posterior.quality`).
TOPICS = ("coherence", "npmi", "diversity", "exclusivity")

#: Numbers of a run that are no measure of a part of the documents, and whether more is better.
OTHERS = {
    "seconds": False, "tokens_per_second": True, "log_joint": True, "log_joint_words_per_token": True,
    **dict.fromkeys(TOPICS, True),
}  # fmt: skip


def check(name: str) -> str:
    """`name`, if a run can have such a measure.

    Raises
    ------
    ValueError
    """
    if not isinstance(name, str):
        raise ValueError(f"metric must be a name, such as {MAIN!r}, not {name!r}")
    if name == MAIN or name in OTHERS or _measure(name)[1] is not None:
        return name
    measures = [*HIGHER, *TARGETS]
    known = [MAIN, *measures, *(f"{part}_{measure}" for part in PARTS for measure in measures), *OTHERS]
    close = difflib.get_close_matches(name, known, 1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    raise ValueError(
        f"there is no metric {name!r}{hint}\nmetrics: main, {', '.join(measures)} (of the validation "
        "or else the test documents, where there are some; validation_, test_ or train_ before it says "
        f"which), {', '.join(OTHERS)}"
    )


def higher_is_better(name: str) -> bool:
    """Whether more of what a search is told (`objective`) is better; `name` as `check` takes it."""
    if name == MAIN:
        return True
    return OTHERS[name] if name in OTHERS else HIGHER.get(_kind(_measure(check(name))[1]), False)


def better(name: str) -> Callable[[float], float]:
    """A function of the values of a metric, larger of better ones."""
    if (target := _target(name)) is not None:
        return lambda value: -abs(value - target)
    return (lambda value: value) if higher_is_better(name) else (lambda value: -value)


def objective(metrics: Mapping, name: str) -> float | None:
    """What a search is to make large or small: `value`, or how far it is from the right one."""
    found, target = value(metrics, name), _target(name)
    return found if found is None or target is None else abs(found - target)


def _target(name: str) -> float | None:
    return TARGETS.get(kind_of(name))


def value(metrics: Mapping, name: str) -> float | None:
    """The measure of a run, from its metrics.json; None where the run has no such measure."""
    if name == MAIN or name == metrics.get("main_name"):
        return _number(metrics.get("main"))
    if name in TOPICS:
        return _number((metrics.get("topic_quality") or {}).get(name))
    if name in OTHERS:
        return _number(metrics.get(name))
    part, measure = _measure(name)
    parts = [part] if part else [p for p in PARTS if metrics.get(p)][:1]
    return _number((metrics.get(parts[0]) or {}).get(measure)) if parts else None


def measures(metrics: Mapping) -> dict[str, float]:
    """All measures of a run by the names of `value`, the main one first."""
    found = {}
    name = metrics.get("main_name")
    if isinstance(name, str):
        found[name] = _number(metrics.get("main"))
    for part in PARTS:
        for measure, number in (metrics.get(part) or {}).items():
            if isinstance(number, float):
                found.setdefault(f"{part}_{measure}", _number(number))
    found |= {name: value(metrics, name) for name in TOPICS}
    return {name: number for name, number in found.items() if number is not None}


def _measure(name: str) -> tuple[str | None, str | None]:
    """Part (None: whichever there is) and measure of a name; the measure is None where there is no such."""
    part, _, rest = name.partition("_")
    if part not in PARTS:
        part, rest = None, name
    return part, rest if _kind(rest) is not None else None


def _kind(measure: str) -> str | None:
    """The measure itself, or what an output's own is called: r2 of r2_price."""
    if measure in HIGHER or measure in TARGETS:
        return measure
    kind = measure.partition("_")[0]
    return kind if kind in ("r2", "rmse", "mae") else None


def kind_of(name: str) -> str | None:
    """The measure that a name is of, such as r2 of test_r2_price; None of ``main`` and `OTHERS`."""
    return None if name == MAIN or name in OTHERS else _kind(_measure(check(name))[1])


def _number(found) -> float | None:
    try:
        number = float(found) if isinstance(found, int | float) and not isinstance(found, bool) else math.nan
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
