"""Names to objects, through entry points.

Built-ins and plugins register alike, under the entry-point groups ``plugsamp.losses``,
``plugsamp.kernels`` and so on. Names are read from the packages' metadata; a module is imported when
one of its objects is chosen, and not before.
"""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import inspect
import io
import logging
import os
import sys
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache, lru_cache
from importlib.metadata import EntryPoint, entry_points

from plugsamp import copies
from plugsamp.options import Option, check, describe, is_finite, is_list_of, shown

#: What each group holds, for messages.
GROUPS = {
    "losses": "loss",
    "proposals": "proposal",
    "kernels": "kernel",
    "priors": "weight prior",
    "topics": "topic prior",
    "readers": "corpus reader",
    "backends": "backend",
}


#: The package whose names nobody can take.
OWN = "plugsamp"

log = logging.getLogger(__name__)


class RegistryError(ValueError):
    """A name or an option that cannot be resolved; the message says what would be right."""


@dataclass(frozen=True)
class Plugin:
    """Where one registered name comes from.

    Attributes
    ----------
    group, name : str
    package, version : str
        The distribution that registers it.
    target : str
        ``module:attribute`` that it stands for.
    """

    group: str
    name: str
    package: str
    version: str
    target: str
    entry: EntryPoint

    def __str__(self) -> str:
        return f"{self.package}:{self.name}"


def plugins(group: str) -> list[Plugin]:
    """All that is registered in a group, sorted by name and package; nothing is imported.

    Of two copies of one package on the path the first counts, as for imports.
    """
    if group not in GROUPS:
        raise RegistryError(f"no plugin group {group!r}; there are {_listed(GROUPS)}")
    return list(_scan(_search_path())[group])


def _search_path() -> tuple:
    """sys.path with the times at which its folders last changed: what the answer to a scan depends on."""
    stamps = []
    for folder in sys.path:
        try:
            stamps.append((folder, os.stat(folder or ".").st_mtime_ns))
        except OSError:
            stamps.append((folder, None))
    return tuple(stamps)


@lru_cache(maxsize=8)
def _scan(search_path: tuple) -> dict[str, tuple[Plugin, ...]]:
    """`plugins` of every group, remembered: reading the metadata of all packages takes ten milliseconds."""
    every, known, result = entry_points(), {}, {}
    for group in GROUPS:
        found = []
        for entry in every.select(group=f"plugsamp.{group}"):
            if id(entry.dist) not in known:  # which reads a file of the package each time that it is asked
                known[id(entry.dist)] = _package(entry.dist)
            found.append(Plugin(group, entry.name, *known[id(entry.dist)], entry.value, entry))
        result[group] = tuple(sorted(found, key=lambda p: (p.name, p.package)))
    return result


def _package(dist) -> tuple[str, str]:
    """Name and version; a package half removed, or being installed just now, has entry points and no name."""
    return ("unknown", "") if dist is None else (dist.name or "unknown", dist.version or "")


def names(group: str) -> list[str]:
    """The names that can be chosen.

    One that two packages claim stands as ``package:name``, twice; a built-in keeps its bare name.
    """
    return sorted(label(p) for p in plugins(group))


def label(plugin: Plugin) -> str:
    """The name that chooses a plugin: its own, or ``package:name`` where another package has that name."""
    alone = plugin.package == OWN or sum(p.name == plugin.name for p in plugins(plugin.group)) == 1
    return plugin.name if alone else str(plugin)


def origin(group: str, name: str) -> Plugin:
    """The plugin that `name`, or ``package:name``, stands for, without importing it.

    Raises
    ------
    RegistryError
        No such name (with the closest one and the list), or a name that several packages claim, none of
        which is plugsamp.
    """
    found = plugins(group)
    matches = [p for p in found if name in (p.name, str(p))]
    if len(matches) == 1:
        return matches[0]
    kind = GROUPS[group]
    own = [p for p in matches if p.package == OWN]
    if len(own) == 1:
        _tell_of_claims(own[0], tuple(p for p in matches if p is not own[0]))
        return own[0]
    if matches:
        which = " or ".join(str(p) for p in matches)
        raise RegistryError(f"{kind} {name!r} is registered by {len(matches)} packages; write {which}")
    raise RegistryError(f"no {kind} named {name!r}{elsewhere(group, name)}{suggestion(name, names(group))}")


@cache
def _tell_of_claims(own: Plugin, others: tuple[Plugin, ...]) -> None:
    """Warn, once, of packages that register a name of ours."""
    for other in others:
        log.warning(
            "package %s %s registers the %s %r, which plugsamp has; plugsamp's is taken, the other is %s",
            other.package, other.version, GROUPS[own.group], own.name, other,
        )  # fmt: skip


def misplaced() -> list[tuple[str, str]]:
    """Entry points in groups called plugsamp.something that there are not: each name, and what is wrong."""
    found = []
    for group in entry_points().groups:
        start, _, kind = group.partition(".")
        if start != "plugsamp" or kind in GROUPS:
            continue
        close = difflib.get_close_matches(kind, GROUPS, 1, cutoff=0.5)
        hint = f"; did you mean 'plugsamp.{close[0]}'?" if close else ""
        for entry in entry_points(group=group):
            package = (entry.dist.name if entry.dist is not None else None) or "unknown"
            said = f"package {package} registers {entry.name!r} in {group!r}, which is no group{hint}"
            found.append((entry.name, said))
    return sorted(found)


def hidden(group: str | None = None, name: str | None = None) -> list[str]:
    """What is said of copies of packages that do not count (`plugsamp.copies`), of all or of a name's."""
    found = copies.hidden()
    if group is not None:
        found = [copy for copy in found if (group, name) in copy.entries]
    return [copy.said(GROUPS) for copy in found]


def elsewhere(group: str, name: str) -> str:
    """The part of a message about an unknown name that says where else it is registered, without effect."""
    found = [said for entry, said in misplaced() if entry == name]
    return "".join(f"; {said}" for said in [*found, *hidden(group, name)])


def load(group: str, name: str):
    """The class (or function) registered under a name.

    Raises
    ------
    RegistryError
        As `origin`; or the plugin cannot be imported: the message names its package and the error.
    """
    plugin = origin(group, name)
    printed = io.StringIO()
    try:
        # What a module prints on import would end up in the middle of our output.
        with contextlib.redirect_stdout(printed):
            target = plugin.entry.load()
    except (Exception, SystemExit) as error:
        raise RegistryError(
            f"{GROUPS[group]} {name!r} of package {plugin.package} {plugin.version} cannot be loaded: "
            f"{type(error).__name__}: {error}{''.join(f'; {said}' for said in hidden(group, plugin.name))}"
        ) from error
    if not callable(target):
        raise RegistryError(f"{plugin.target} of package {plugin.package} is not a class")
    lacking = sorted(getattr(target, "__abstractmethods__", ()))
    if lacking:
        raise RegistryError(
            f"{plugin.target} of package {plugin.package} does not define {', '.join(lacking)}, "
            f"which every {GROUPS[group]} must"
        )
    return target


def plugin_of(group: str, value) -> Plugin | None:
    """The plugin whose class `value` is an instance of, or None; nothing is imported for it."""
    return plugin_of_class(group, type(value))


def plugin_of_class(group: str, kind: type) -> Plugin | None:
    """The plugin that is a class, or None; nothing is imported for it."""
    found = sorted(plugins(group), key=lambda p: p.package != OWN)  # others may register our classes too
    for plugin in found:
        if plugin.target == f"{kind.__module__}:{kind.__qualname__}":
            return plugin
    for plugin in found:  # registered where it is re-exported
        if getattr(sys.modules.get(plugin.entry.module), plugin.entry.attr, None) is kind:
            return plugin
    return None


def options(group: str, name: str) -> dict[str, Option]:
    """The options of a registered name, from its constructor's signature."""
    plugin = origin(group, name)
    return options_of(load(group, name), f"{GROUPS[group]} {name!r} of package {plugin.package}")


def options_of(target, label: str | None = None) -> dict[str, Option]:
    """The options of a class: its constructor's parameters with types and defaults."""
    label = label or getattr(target, "__name__", repr(target))
    try:
        signature = inspect.signature(target)
    except (TypeError, ValueError):
        return {}
    fields = {f.name: f for f in dataclasses.fields(target)} if dataclasses.is_dataclass(target) else {}
    try:
        # Of a dataclass the class: inherited fields are annotated in the modules of its bases.
        annotated = target if fields or not inspect.isclass(target) else target.__init__
        hints = typing.get_type_hints(annotated)
    except Exception:  # an annotation that only a type checker can resolve: unchecked, not an error
        hints = {}
    found = {}
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise RegistryError(f"{label} takes {parameter}, but options must be named parameters")
        if parameter.name == "name":
            raise RegistryError(f"{label} has an option called 'name', which is the plugin's own name")
        default = parameter.default
        field = fields.get(parameter.name)
        if field is not None and field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        annotation = hints.get(parameter.name, typing.Any)
        if annotation is typing.Any and isinstance(default, Enum):
            annotation = type(default)
        found[parameter.name] = Option(parameter.name, annotation, default)
    return found


def resolve(group: str, value, **given):
    """An object as it is; or the one registered under a name, constructed with options.

    Parameters
    ----------
    group : str
        One of `GROUPS`.
    value : str, mapping or object
        A name, ``package:name``, or a mapping with the key ``name`` and options beside it.
    **given
        Options of the constructor, checked against its signature.

    Raises
    ------
    RegistryError
        Unknown name or option, a value of the wrong type, an option that is missing.
    """
    if isinstance(value, Mapping):
        given = {**value, **given}
        value = given.pop("name", None)
        if value is None:
            raise RegistryError(f"a {GROUPS[group]} given as a mapping needs the key 'name'")
    if not isinstance(value, str):
        if given:
            raise RegistryError(f"options {_listed(given)} need a name to go with, not {value!r}")
        return value
    target = load(group, value)
    return target(**checked(f"{GROUPS[group]} {value!r}", options(group, value), given))


def require(name: str, value, base: type, group: str | None = None) -> None:
    """Refuse, as `name`, what is no object of a class derived from `base` (TypeError)."""
    if isinstance(value, base):
        return
    wanted = f"a {base.__name__}" if group is None else f"a plugsamp.{group}.{base.__name__} or a name"
    found = class_of(value)
    plugin = plugin_of(group, value) if group is not None else None
    if plugin is not None:
        found += f" of package {plugin.package}, which does not derive from it"
    raise TypeError(f"{name} must be {wanted}, not {found}")


def class_of(value) -> str:
    """The class of an object, or the class that it is, with its module."""
    kind = value if isinstance(value, type) else type(value)
    found = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    return f"the class {found}" if kind is value else found


def checked(label: str, valid: Mapping[str, Option], given: Mapping) -> dict:
    """Options checked and converted against `valid`, or a `RegistryError` that lists what is valid."""
    result = {}
    for name, value in given.items():
        if name not in valid:
            listed = ", ".join(str(o) for o in valid.values()) or "none"
            close = difflib.get_close_matches(name, valid, 1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise RegistryError(f"{label} has no option {name!r}{hint} (its options: {listed})")
        try:
            result[name] = check(value, valid[name].type)
        except TypeError:
            wanted = describe(valid[name].type)
            listed = f"; write {name}=[{value}]" if is_list_of(valid[name].type, value) else ""
            raise RegistryError(f"{label}: option {name!r} must be {wanted}, not {value!r}{listed}") from None
        # A model is saved as JSON, which has finite numbers alone; who has others for defaults means them.
        if not is_finite(value) and is_finite(valid[name].default):
            raise RegistryError(f"{label}: option {name!r} must be finite, not {shown(value)}")
    missing = [o.name for o in valid.values() if o.required and o.name not in result]
    if missing:
        raise RegistryError(f"{label} needs the option{'s' * (len(missing) > 1)} {_listed(missing)}")
    return result


def suggestion(name: str, available) -> str:
    """The tail of a message about an unknown name: the closest one, and all of them."""
    available = sorted(available)
    close = difflib.get_close_matches(name, available, 1, cutoff=0.5)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return f"{hint} (there are: {', '.join(available) or 'none'})"


def _listed(found) -> str:
    return ", ".join(repr(f) for f in found)
