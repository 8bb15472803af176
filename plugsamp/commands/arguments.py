"""Arguments that Hydra's grammar cannot read, and how they are written so that it can."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping

import yaml
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException

from plugsamp import registry
from plugsamp.options import shown, takes

_NAMED = re.compile(r"([+~]{0,2}[A-Za-z_][\w.@/]*)=(.*)", re.DOTALL)


def typed(name: str, value: str) -> str:
    """``name=value`` for the shell, of a value as Python or YAML writes it."""
    plain = {"True": "true", "False": "false", "None": "null"}.get(value, value)
    if re.fullmatch(r'"[\w.\-]*"', plain, re.ASCII) and _read(f"{name}={plain[1:-1]}") == (plain[1:-1],):
        plain = plain[1:-1]
    return shlex.quote(readable(f"{name}={plain}") or f"{name}={plain}")


def option(name: str, value) -> str:
    """``name=value`` for the shell, of the value itself: text that Hydra would read as another stays text."""
    return shlex.quote(f"{name}={_written(value)}")


def _written(value) -> str:
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_written, value))}]"
    if not isinstance(value, str):
        return shown(value)
    return value if _read(f"x={value}") == (value,) else _quoted(value)


def readable(argument: str) -> str | None:
    """The argument itself where it can be read, or one with the value in quotes; None where there is none.

    Blanks, letters beyond ASCII and most signs stand in quotes. In a list each element has its own; of a
    mapping the whole is a text, which `by_key` reads.
    """
    found = _NAMED.fullmatch(argument)
    if found is None:
        return None
    name, value = found.groups()
    return next((f"{name}={v}" for v in _spelled(value) if _read(f"{name}={v}")), None)


def _spelled(value: str) -> Iterator[str]:
    """A value as it is, and with quotes."""
    yield value
    if value[:1] == "[" and value[-1:] == "]":
        parts = [part.strip() for part in value[1:-1].split(",")]
        yield f"[{','.join(part if part[:1] in ('', chr(34)) else _quoted(part) for part in parts)}]"
    if value[:1] == "{" and value[-1:] == "}":
        yield _quoted(_keyed(value))
    yield _quoted(value)


def _quoted(text: str) -> str:
    """The text in quotes, as Hydra reads them; not of one that ends in a backslash or holds a reference."""
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1]
    return '"{}"'.format(text.replace('"', '\\"'))


def _read(argument: str) -> tuple:
    """The one value that Hydra reads, or nothing where it cannot, or reads several."""
    try:
        override = OverridesParser.create().parse_override(argument)
        return () if override.is_sweep_override() else (override.value(),)
    except (HydraException, ValueError, TypeError, RecursionError):
        return ()


def as_typed(argument: str) -> str:
    """The argument with quotes where Hydra would read an option's text as something else: 1e5, 1_000, NaN.

    Only of options of readers, of which most are texts, of names of columns, and of `class_weight`, whose
    keys are classes. Numbers, null and what is read as text stay as they are.
    """
    found = _NAMED.fullmatch(argument)
    name = found[1].lstrip("+") if found else ""
    read = _read(argument) if name.startswith(("corpus.", "covariates.", "class_weight")) else ()
    if not read or read[0] is None or isinstance(read[0], str):
        return argument
    value, typed_value = read[0], found[2]
    if isinstance(value, Mapping):
        keys = None if name != "class_weight" else _mapped(typed_value)
        same = keys is None or set(keys) == {key if isinstance(key, str) else str(key) for key in value}
        return argument if same else f"{found[1]}={_quoted(_keyed(typed_value))}"
    values = value if isinstance(value, list) else [value]
    parts = typed_value.strip()
    parts = [part.strip() for part in parts[1:-1].split(",")] if isinstance(value, list) else [parts]
    if len(parts) != len(values) or all(
        isinstance(one, str) or (type(one) is int and str(one) == part)
        for one, part in zip(values, parts, strict=True)
    ):
        return argument
    texts = [one if isinstance(one, str) else part for one, part in zip(values, parts, strict=True)]
    text = texts if isinstance(value, list) else texts[0]
    return f"{found[1]}={_written(text)}" if _is_text(name, value, text) else argument


def _is_text(name: str, value, texts) -> bool:
    """Whether an option takes these texts, and not the value as another."""
    group, _, option_name = name.partition(".")
    if group == "corpus":
        options = [registry.options("readers", one) for one in registry.names("readers")]
        types = [found[option_name].type for found in options if option_name in found]
    else:
        types = [list[str]] if name in ("covariates.numeric", "covariates.categorical") else []
    return any(takes(texts, one) and not takes(value, one, exactly=True) for one in types)


def _spaced(mapping: str) -> str:
    """A mapping with a blank behind each colon that a number follows, as YAML has it."""
    return re.sub(r":\s*(?=[-+.\d])", ": ", mapping)


def _keyed(mapping: str) -> str:
    """A mapping as YAML has it, with quotes about keys that need them there."""
    text = _spaced(mapping).replace('"', "")
    if _mapped(text):
        return text
    parts = (part.rpartition(": ") for part in text[1:-1].split(","))
    return "{{{}}}".format(", ".join(f'"{key.strip()}": {number}' for key, _, number in parts))


def _mapped(text: str):
    """What YAML reads, its keys and values texts; None where that is no such mapping."""
    try:
        found = yaml.load(_spaced(text), Loader=yaml.BaseLoader)
    except yaml.YAMLError:
        return None
    ok = isinstance(found, Mapping) and all(isinstance(v, str) for v in found.values())
    return found if ok else None


def by_key(value):
    """A mapping that is written as a text, ``"{Köln: 2, TRUE: 1}"``, its keys texts; all else as it is.

    Raises
    ------
    ValueError
        A text that begins like a mapping and is none.
    """
    if not isinstance(value, str) or not value.lstrip().startswith("{"):
        return value
    found = _mapped(value)
    if found is None:
        raise ValueError(f"{value!r} is not a mapping such as {{Bonn: 1, Köln: 2}}")
    try:
        return {key: float(number) for key, number in found.items()}
    except ValueError:
        raise ValueError(f"{value!r} must have a number for each key, such as {{Bonn: 1, Köln: 2}}") from None
