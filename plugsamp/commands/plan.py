"""The runs of a sweep, as far as its options say them beforehand."""

from __future__ import annotations

import itertools
import re
import warnings
from collections import Counter
from collections.abc import Iterator

from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from omegaconf import DictConfig, open_dict
from omegaconf.errors import OmegaConfBaseException

from plugsamp import hydra_source
from plugsamp.sweeps import metric as metrics_by_name
from plugsamp.sweeps.possible import impossible

#: Overrides that may change which measures a run has.
_OWN = re.compile(r"\+*(loss|corpus|experiment|covariates)[.=]")


def _parsed(arguments: list[str], params) -> list[Override]:
    extra = [f"{key}={value}" for key, value in (params or {}).items()]
    return OverridesParser.create(GlobalHydra.instance().config_loader()).parse_overrides(
        [*extra, *arguments]
    )


def check_compared(arguments: list[str], params=None) -> None:
    """Refuse several metrics: the runs of a sweep are compared by one (ValueError)."""
    for one in _parsed(arguments, params):
        if one.get_key_element().lstrip("+") == "metric" and one.is_sweep_override():
            first = next(one.sweep_string_iterator())
            raise ValueError(
                f"{one.input_line}: the runs of a sweep are compared by one metric, such as metric={first}; "
                "sweep.csv has all measures of each run"
            )


def jobs(arguments: list[str], params=None) -> list[tuple[str, ...]]:
    """The overrides of every job that Hydra's own sweeper makes of the arguments of a sweep."""
    choices: dict[str, list[str]] = {}
    for override in _parsed(arguments, params):
        key = override.get_key_element()
        if override.is_sweep_override():
            choices[key] = [f"{key}={value}" for value in override.sweep_string_iterator()]
        else:
            choices[key] = [f"{key}={override.get_value_element_as_str()}"]
    return list(itertools.product(*choices.values()))


def twice(arguments: list[str]) -> str | None:
    """The first value that an argument of a sweep has more than once."""
    for override in _parsed(arguments, None):
        if override.is_sweep_override():
            value, n = Counter(override.sweep_string_iterator()).most_common(1)[0]
            if n > 1:
                return f"{override.get_key_element()}={value}"
    return None


def check_metric(config: DictConfig, planned: list[tuple[str, ...]] | None) -> None:
    """Refuse a measure that no run of a sweep can have, before the first run.

    Parameters
    ----------
    config : DictConfig
        The sweep's configuration, with Hydra's.
    planned : list of tuple of str, or None
        The overrides of each run; None where a search chooses them.

    Raises
    ------
    ValueError
    """
    why = None
    for one in _configurations(config, planned):
        try:
            metric = str(one.get("metric") or metrics_by_name.MAIN)
            loss = hydra_source.object_of("loss", one.get("loss"))
            without = impossible(metric, loss) or _lacking(one, loss, metric)
        except (ValueError, TypeError, OSError):  # the run says so
            return
        if without is None:
            return
        why = why or f"no run of the sweep can have metric={metric}: {without}"
    if why is not None:
        raise ValueError(why)


def _lacking(config: DictConfig, loss, metric: str) -> str | None:
    """What is wrong with a measure of test or validation documents, which is known once they are read."""
    from plugsamp.commands.fit import Settings
    from plugsamp.commands.run_fit import lacking, wanted

    if loss.unsupervised or not metric.startswith(("test_", "validation_")):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reader = hydra_source.object_of("corpus", config.corpus)
        return lacking(metric, loss, reader.for_model(wanted(Settings.of(config), loss)).read())


def _configurations(config: DictConfig, planned: list[tuple[str, ...]] | None) -> Iterator[DictConfig]:
    """The configurations of runs that differ in loss or corpus; none where they are not known."""
    hydra, loader = config.hydra, GlobalHydra.instance().config_loader()
    try:
        jobs = _searched(hydra.overrides.task, hydra.sweeper.get("params")) if planned is None else planned
        seen = set()
        for job in jobs:
            own = tuple(filter(_OWN.match, job))
            if own not in seen:
                seen.add(own)
                one = loader.load_sweep_config(config, list(job))
                with open_dict(one):
                    del one["hydra"]
                yield one
    except (HydraException, OmegaConfBaseException, ValueError):  # the sweeper, or the run, says so
        return


def _searched(arguments: list[str], params) -> Iterator[tuple[str, ...]]:
    """Runs that a search may make: all choices, and of a range its start."""
    values = []
    for one in _parsed(arguments, params):
        if one.is_interval_sweep():
            choices = [f"{one.get_key_element()}={one.value().start}"]
        elif one.is_sweep_override():
            choices = [f"{one.get_key_element()}={value}" for value in one.sweep_string_iterator()]
        else:
            choices = [one.input_line]
        values.append(choices if _OWN.match(choices[0]) else choices[:1])
    return itertools.product(*values)
