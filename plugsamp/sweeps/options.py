"""Options as they were given on a command line, as columns of a table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

#: What Hydra takes for an escape in a text without quotes.
ESCAPED = re.compile(r"\\([\\()\[\]{}:=, \t])")


def option_columns(overrides: Iterable[Sequence[str]]) -> list[str]:
    """The names of all options that any of several jobs was given, in the order in which they are met."""
    return list(dict.fromkeys(split(one)[0] for given in overrides for one in given))


def option_values(names: Sequence[str], overrides: Sequence[str], config: Mapping) -> dict:
    """The values of options in one job: as given, otherwise as its configuration has them, otherwise None."""
    given = dict(split(one) for one in overrides)
    return {name: given[name] if name in given else _configured(config, name) for name in names}


def split(override: str) -> tuple[str, object]:
    """Name and value of an override: numbers, booleans and texts as meant, lists and mappings as they stand.

    Of a text Hydra's quotes and escapes are undone; in a list they tell its values apart.
    """
    name, _, text = override.lstrip("+").partition("=")
    blank = " " if re.search(r"\\\s+$", text) else ""  # an escaped blank is part of the value
    text = text.strip() + blank
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        # Backslashes are escapes before a quote, and at the end, alone.
        ends = rf"(\\+)({text[0]}|$)"
        return name, re.sub(ends, lambda m: m[1][: len(m[1]) // 2] + m[2], text[1:-1])
    if text.startswith(("[", "{")):
        return name, text
    value = _scalar(text)
    return name, ESCAPED.sub(r"\1", value) if isinstance(value, str) else value


def _scalar(text: str):
    if re.fullmatch(r"[+-]?\d+", text):
        return int(text)
    if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", text, re.I):
        return float(text)
    return {"true": True, "false": False}.get(text.lower(), text)


def _configured(config: Mapping, name: str):
    value: object = config
    for part in name.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return None
        value = value[part]
    if isinstance(value, Mapping):  # a group: which of its choices
        value = value.get("name")
    return str(value) if isinstance(value, list) else value
