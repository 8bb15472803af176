"""`plugsamp plugins`: what is installed, where it comes from, and what is broken."""

from __future__ import annotations

import inspect
import re
import shutil
import sys
import textwrap

from plugsamp import options, registry

HELP = """\
plugsamp plugins [GROUP ...]         list what is registered, with origin and options
plugsamp plugins GROUP=NAME ...      one of them: options with types and defaults, documentation, origin

Groups: {groups}
(the names on the command line do as well: loss, weights, corpus, ...). A name that two packages claim is
written package:name. Exit code 1 if something cannot be loaded.
"""

AGAIN = "(a package whose pyproject.toml got a new entry point must be installed again)"

#: What the groups are called on the command line and in the singular.
ALIASES = {
    "loss": "losses",
    "proposal": "proposals",
    "kernel": "kernels",
    "weights": "priors",
    "prior": "priors",
    "topic": "topics",
    "corpus": "readers",
    "reader": "readers",
    "backend": "backends",
}


def main(arguments: list[str]) -> int:
    if any(a in ("-h", "--help") for a in arguments):
        print(HELP.format(groups=", ".join(registry.GROUPS)), end="")
        return 0
    for argument in arguments:
        group = argument.partition("=")[0]
        # a group alone is listed under its own name
        if group not in registry.GROUPS and ("=" not in argument or group not in ALIASES):
            hint = registry.suggestion(group, registry.GROUPS)
            print(f"plugsamp plugins: no group {group!r}{hint}", file=sys.stderr)
            return 2
    chosen = [a for a in arguments if "=" in a]
    listed = [a for a in arguments if "=" not in a] or ([] if chosen else list(registry.GROUPS))
    broken = 0
    for i, argument in enumerate(chosen):
        group, _, name = argument.partition("=")
        kind = ALIASES.get(group, group)
        try:
            plugin = registry.origin(kind, name)
        except registry.RegistryError as error:
            print(f"plugsamp plugins: {error}\n{AGAIN}", file=sys.stderr)
            return 2
        print("\n" * (i > 0), end="")
        broken += not _describe(plugin)
        if not listed:
            _note(registry.hidden(kind, plugin.name))
    for group in listed:
        broken += _list(group)
    if listed:
        _note([*(said for _, said in registry.misplaced()), *registry.hidden()])
    if broken:
        print(f"{broken} broken", file=sys.stderr)
    return 1 if broken else 0


def _note(said: list[str]) -> None:
    print("".join(f"note: {one}\n" for one in said), end="")


def _list(group: str) -> int:
    """Print a group; the number of its plugins that cannot be loaded is returned."""
    found = registry.plugins(group)
    print(f"{group}:" if found else f"{group}: none")
    plain = [p.name for p in found]
    broken = 0
    labels = [registry.label(p) for p in found]
    width = max([12, *map(len, labels)])
    for plugin, label in zip(found, labels, strict=True):
        print(f"  {label:{width}} {plugin.package} {plugin.version}, {plugin.target}")
        try:
            valid = registry.options(group, str(plugin))
        except registry.RegistryError as error:
            broken += 1
            print(f"  {'':{width}} BROKEN: {error}")
            continue
        if valid:
            print(f"  {'':{width}} options: {', '.join(str(o) for o in valid.values())}")
    for name in sorted({n for n in plain if plain.count(n) > 1}):
        kind, own = registry.GROUPS[group], any(p.name == name and p.package == registry.OWN for p in found)
        how = "the bare name is plugsamp's" if own else "choose with package:name"
        print(f"note: several packages register {kind} {name!r}; {how}")
    return broken


def _describe(plugin: registry.Plugin) -> bool:
    """Print all that is known of one plugin; False where it cannot be loaded."""
    width = min(shutil.get_terminal_size((100, 24)).columns, 110)
    print(f"{registry.GROUPS[plugin.group]} {plugin.name}")
    print(f"  package      {plugin.package} {plugin.version}".rstrip())
    print(f"  entry point  {plugin.name} = {plugin.target} (plugsamp.{plugin.group})")
    try:
        target = registry.load(plugin.group, str(plugin))
        valid = registry.options(plugin.group, str(plugin))
    except registry.RegistryError as error:
        print(textwrap.indent("\n".join(textwrap.wrap(f"BROKEN: {error}", width - 2)), "  "))
        return False
    # its own documentation, not that of the base class, which speaks to authors
    text = _without_parameters(inspect.cleandoc(target.__doc__ or ""))
    if text:
        print("\n" + textwrap.indent(text, "  "))
    print("\n  Options" if valid else "\n  No options")
    texts = options.texts(target)
    for option in sorted(valid.values(), key=lambda o: not o.required):
        default = "needed" if option.required else f"default {options.shown(option.default)}"
        print(f"  {option.name:14} {options.describe(option.type)}, {default}")
        text = textwrap.wrap(texts.get(option.name, ""), width - 19)
        print("".join(f"{'':19}{line}\n" for line in text), end="")
    return True


def _without_parameters(text: str) -> str:
    """A docstring without its section of parameters, which are shown as options."""
    return re.sub(r"(?ms)^Parameters\n-+\n.*?(?=^[A-Z]\w*\n---|\Z)", "", text).strip()
