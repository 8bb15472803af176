"""The jobs of a sweep, as far as its options say them beforehand."""

from __future__ import annotations

import itertools
import re
from collections import Counter

from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import DictConfig

from plugsamp import hydra_source, registry


def jobs(arguments: list[str], params=None) -> list[tuple[str, ...]]:
    """The overrides of every job that Hydra's own sweeper makes of the arguments of a sweep."""
    extra = [f"{key}={value}" for key, value in (params or {}).items()]
    parser = OverridesParser.create(GlobalHydra.instance().config_loader())
    choices: dict[str, list[str]] = {}
    for override in parser.parse_overrides([*extra, *arguments]):
        key = override.get_key_element()
        if override.is_sweep_override():
            choices[key] = [f"{key}={value}" for value in override.sweep_string_iterator()]
        else:
            choices[key] = [f"{key}={override.get_value_element_as_str()}"]
    return list(itertools.product(*choices.values()))


def twice(arguments: list[str]) -> str | None:
    """The first value that an argument of a sweep has more than once."""
    parser = OverridesParser.create(GlobalHydra.instance().config_loader())
    for override in parser.parse_overrides(arguments):
        if override.is_sweep_override():
            value, n = Counter(override.sweep_string_iterator()).most_common(1)[0]
            if n > 1:
                return f"{override.get_key_element()}={value}"
    return None


def losses(config: DictConfig, planned: list[tuple[str, ...]] | None) -> list:
    """The losses of the jobs: objects, or classes where their options may differ; none if not known."""
    hydra = config.hydra
    given = [*hydra.overrides.task, *(f"{key}=" for key in hydra.sweeper.get("params") or ())]
    own = [one for one in given if re.match(r"\+*(loss[.=]|experiment=)", one)]
    try:
        if planned is None:
            planned = _searched(own, hydra.sweeper.get("params"))
        if planned is None or not any(_differ(planned, key) for key in own):
            return [hydra_source.object_of("loss", config.get("loss"))]
        if not any(re.match(r"\+*(loss|experiment)=", one) for one in own):  # options of one loss differ
            return [_any_of(hydra_source.object_of("loss", config.get("loss")))]
        chosen = [[o for o in job if re.match(r"\+*(loss|experiment)=", o)] for job in planned]
        if not all(len(one) == 1 and one[0].startswith("loss=") for one in chosen):
            return []
        return [_any_of(registry.resolve("losses", one[0].partition("=")[2])) for one in chosen]
    except ValueError:  # the jobs, or the sweeper, say so
        return []


def _searched(given: list[str], params) -> list[tuple[str, ...]] | None:
    """What a search can choose of these overrides, as if all were jobs; None where it has no choice.

    Raises
    ------
    ValueError
        They are not known.
    """
    parser = OverridesParser.create(GlobalHydra.instance().config_loader())
    found = parser.parse_overrides([one for one in given if not one.endswith("=")])
    open_ones = [one for one in found if one.is_sweep_override()]
    if len(found) < len(given):
        raise ValueError("the sweeper's own params are read by the sweeper alone")
    if not open_ones:
        return None
    if any(not one.is_choice_sweep() for one in open_ones if one.get_key_element() in ("loss", "experiment")):
        raise ValueError("losses are not listed")
    values = []
    for one in found:
        chosen = (0, 1)  # of a range: that they differ is enough
        if not one.is_sweep_override():
            chosen = (one.get_value_element_as_str(),)
        elif one.is_choice_sweep():
            chosen = one.sweep_string_iterator()
        values.append([f"{one.get_key_element()}={value}" for value in chosen])
    return list(itertools.product(*values))


def _any_of(loss):
    """A loss for all of its class, whatever their options: the class, where it depends on them."""
    return type(loss) if isinstance(type(loss).calibrated, property) else loss


def _differ(planned: list[tuple[str, ...]], override: str) -> bool:
    """Whether the jobs differ in the key of an override."""
    key = override.partition("=")[0]
    return len({o for job in planned for o in job if o.partition("=")[0] == key}) > 1
