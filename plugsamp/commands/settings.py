"""Options of a command outside the groups: their types, checked."""

from __future__ import annotations

from omegaconf import DictConfig, OmegaConf

from plugsamp import hydra_source, options, registry


def settings_of(cls, config: DictConfig):
    """An object of the dataclass `cls` from a composed configuration.

    Raises
    ------
    ValueError
        An option that does not exist (a misspelt one in an experiment file, or added with +), one that is
        needed and not given, or a value of the wrong type.
    """
    plain = OmegaConf.to_container(config, resolve=True)
    own = {k: v for k, v in plain.items() if k not in hydra_source.CONFIG_GROUPS}
    missing = [name for name, value in own.items() if value == "???"]
    if missing:
        raise ValueError("; ".join(f"{name}=... is needed" for name in missing))
    return cls(**checked(cls, "", own, list(hydra_source.CONFIG_GROUPS)))


def checked(cls, prefix: str, given: dict, others=()) -> dict:
    """The values of the parameters of `cls` in `given`, by name; `others` are valid names for messages."""
    valid = registry.options_of(cls, "fit")
    listed = sorted([prefix + o for o in [*valid, *others]])
    values = {}
    for name, value in given.items():
        if name not in valid:
            raise ValueError(hydra_source.unknown_option(prefix + name, listed))
        try:
            values[name] = options.check(value, valid[name].type)
        except TypeError:
            wanted = options.describe(valid[name].type)
            listed = (
                f"; write '{prefix}{name}=[{value}]'" if options.is_list_of(valid[name].type, value) else ""
            )
            raise ValueError(f"{prefix}{name} must be {wanted}, not {value!r}{listed}") from None
    absent = [name for name in valid if name not in values]
    if absent:
        raise ValueError(f"the option {prefix}{absent[0]} is missing; it must not be taken away")
    return values
