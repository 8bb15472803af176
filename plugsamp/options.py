"""Options of plugins and commands: their types, checked without surprises."""

from __future__ import annotations

import functools
import inspect
import math
import numbers
import re
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import numpy as np

_NAMES = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "a string",
    type(None): "null",
    Path: "a path",
    dict: "a mapping",
    list: "a list",
    tuple: "a list",
    typing.Any: "anything",
}


@dataclass(frozen=True)
class Option:
    """One option: the name, annotation and default of a constructor's parameter."""

    name: str
    type: object = typing.Any
    default: object = inspect.Parameter.empty

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty

    def __str__(self) -> str:
        return self.name if self.required else f"{self.name}={shown(self.default)}"


class Configured:
    """The parameters of the constructor are the configuration: each is kept as an attribute of its name."""

    #: What to cite: keys of `plugsamp.references`, or BibTeX entries of one's own.
    references: typing.ClassVar[tuple[str, ...]] = ()

    def options(self) -> dict:
        """The constructor's arguments as plain values, from which the class makes an equal object."""
        names = _parameters(type(self))
        for name in names:
            if not hasattr(self, name):
                raise TypeError(f"{type(self).__name__} must keep its option {name!r} as self.{name}")
        return {name: getattr(self, name) for name in names}

    def __repr__(self) -> str:
        inside = ", ".join(f"{k}={v!r}" for k, v in self.options().items())
        return f"{type(self).__name__}({inside})"


@functools.lru_cache(maxsize=256)
def _parameters(cls: type) -> tuple[str, ...]:
    """Names of the constructor's parameters; inspecting them takes longer than a sweep of a small corpus."""
    return tuple(inspect.signature(cls).parameters)


def check_kept(value: Configured) -> None:
    """Refuse an object whose class makes another one of its options: what is saved of it would be another.

    Raises
    ------
    TypeError
        An option that the constructor does not keep as it was given.
    """
    options = value.options()
    again = type(value)(**options).options()
    for name, kept in options.items():
        if not _same(kept, again[name]):
            raise TypeError(
                f"{type(value).__name__} keeps self.{name} = {again[name]!r} when it is given "
                f"{name}={kept!r}; it must keep what it is given, or a saved model would be another"
            )


def _same(a, b) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    return a is b or bool(a == b) or repr(a) == repr(b)  # NaN, and objects without an equality


def plain_default(value):
    """A default as a file can hold it: an enum by its name, a scalar of NumPy as a number.

    Raises
    ------
    TypeError
        Nothing plain stands for it.
    """
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, np.generic | np.ndarray):
        return plain_default(value.tolist())
    if isinstance(value, list | tuple | set | frozenset):
        return [plain_default(v) for v in value]
    if isinstance(value, dict):
        return {k: plain_default(v) for k, v in value.items()}
    if isinstance(value, Path):
        return str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError


def shown(value) -> str:
    """A value as one would write it on the command line."""
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, list | tuple):
        return f"[{','.join(shown(v) for v in value)}]"
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{k}:{shown(v)}" for k, v in value.items()) + "}"
    return str(value)


def describe(annotation) -> str:
    """An annotation in words."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Literal:
        return "one of " + ", ".join(shown(a) for a in arguments)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(describe(a) for a in arguments)
    if _is_sequence(origin) and arguments:
        return f"a list ({describe(arguments[0])} each)"
    if _is_enum(annotation):
        return "one of " + ", ".join(member.name for member in annotation)
    return _NAMES.get(origin or annotation, getattr(annotation, "__name__", str(annotation)))


def check(value, annotation):
    """The value in the annotated type, or TypeError.

    Only what loses nothing is converted: a whole number to float or to its text (a column called 2024), a
    list to a tuple, a string to a path. A boolean is no number, and neither a boolean nor a fraction is a
    string: YAML's guesses (no, 1.10) are refused, not repeated.
    """
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation is typing.Any or annotation is inspect.Parameter.empty:
        return value
    if origin in (typing.Union, types.UnionType):
        return _check_union(value, arguments)
    if origin is typing.Literal:
        for allowed in arguments:
            if value == allowed and type(value) is type(allowed):
                return value
        raise TypeError
    if _is_enum(annotation):
        return _member(value, annotation)
    if annotation is None or annotation is type(None):
        return _require(value, value is None)
    if annotation is bool:
        return _require(value, isinstance(value, bool))
    if annotation is int:
        return int(_require(value, isinstance(value, numbers.Integral) and not isinstance(value, bool)))
    if annotation is float:
        return float(_require(value, isinstance(value, numbers.Real) and not isinstance(value, bool)))
    if annotation is str:
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        return _require(value, isinstance(value, str))
    if annotation is Path:
        return Path(_require(value, isinstance(value, str | Path)))
    if _is_sequence(origin or annotation):
        _require(value, isinstance(value, list | tuple))
        inner = arguments[0] if arguments else typing.Any
        return (tuple if (origin or annotation) is tuple else list)(check(v, inner) for v in value)
    if (origin or annotation) in (dict, Mapping):
        _require(value, isinstance(value, Mapping))
        return {k: check(v, arguments[1]) if arguments else v for k, v in value.items()}
    return value  # a class of the plugin's own: its constructor judges


def takes(value, annotation, exactly: bool = False) -> bool:
    """Whether `check` takes the value, with `exactly` as it is."""
    try:
        return check(value, annotation) == value or not exactly
    except TypeError:
        return False


def _is_enum(annotation) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Enum)


def _member(value, kind: type[Enum]) -> Enum:
    """The member itself, or the one of that name or value."""
    if isinstance(value, kind):
        return value
    if isinstance(value, str) and value in kind.__members__:
        return kind[value]
    found = [member for member in kind if type(member.value) is type(value) and member.value == value]
    return _require(found, found)[0]


def is_finite(value) -> bool:
    """Whether no number of a value is NaN or infinite; a choice of another plugin is checked by itself."""
    if isinstance(value, Mapping):
        return "name" in value or all(map(is_finite, value.values()))
    if isinstance(value, list | tuple):
        return all(map(is_finite, value))
    if isinstance(value, numbers.Integral) or not isinstance(value, numbers.Real):
        return True
    return math.isfinite(value)


def _check_union(value, arguments):
    # An exact type first, so that `float | int` keeps a whole number whole.
    for exact in (True, False):
        for annotation in arguments:
            try:
                converted = check(value, annotation)
            except TypeError:
                continue
            if not exact or type(converted) is type(value):
                return converted
    raise TypeError


def is_list_of(annotation, value) -> bool:
    """Whether a list of this one value would do."""
    return not isinstance(value, list | tuple) and takes([value], annotation)


def _is_sequence(kind) -> bool:
    return kind in (list, tuple, Sequence, typing.Sequence)


def _require(value, holds):
    if not holds:
        raise TypeError
    return value


def texts(target) -> dict[str, str]:
    """What a class and its bases document of their parameters (numpydoc), the first sentence of each."""
    found: dict[str, str] = {}
    for cls in inspect.getmro(target) if inspect.isclass(target) else [target]:
        lines = inspect.cleandoc(cls.__doc__ or "").splitlines()
        if "Parameters" not in lines:
            continue
        names: list[str] = []
        for line in lines[lines.index("Parameters") + 2 :]:
            if re.fullmatch(r"-{3,}", line):
                break
            head = re.match(r"([A-Za-z_][\w, ]*?) : ", line)
            if head:
                names = [n.strip() for n in head[1].split(",") if n.strip() not in found]
                found.update(dict.fromkeys(names, ""))
            elif line.startswith(" "):
                for name in names:
                    found[name] = f"{found[name]} {line.strip()}".strip()
            else:
                names = []
    return {
        name: _unmarked(re.split(r"(?<=[^.][\w`])\.(?:\s|$)|(?<=\))\.(?:\s|$)", text)[0])
        for name, text in found.items()
    }


def _unmarked(text: str) -> str:
    """Without the marks of docstrings, and quotes that the command line has no need of."""
    return re.sub(r'``"([^`]*)"``|``([^`]*)``|`([^`]*)`', lambda m: m[1] or m[2] or m[3] or "", text)
