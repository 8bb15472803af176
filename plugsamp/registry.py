"""Names to objects, through entry points."""

from __future__ import annotations

from importlib.metadata import entry_points


def resolve(group: str, value, **options):
    """An object as it is, or the registered class of that name, constructed with `options`."""
    if not isinstance(value, str):
        return value
    for entry in entry_points(group=f"plugsamp.{group}"):
        if entry.name == value:
            return entry.load()(**options)
    raise ValueError(f"no {group} named {value!r}")


def load(group: str, name: str):
    """The class registered under `name`."""
    for entry in entry_points(group=f"plugsamp.{group}"):
        if entry.name == name:
            return entry.load()
    raise ValueError(f"no {group} named {name!r}")
