"""`plugsamp plugins`: what is installed, where it comes from, and what is broken."""

from __future__ import annotations

import sys

from plugsamp import registry

HELP = """\
plugsamp plugins [GROUP ...]    list what is registered, with origin and options

Groups: {groups}
A name that two packages claim is written package:name. Exit code 1 if something cannot be loaded.
"""


def main(arguments: list[str]) -> int:
    if any(a in ("-h", "--help") for a in arguments):
        print(HELP.format(groups=", ".join(registry.GROUPS)), end="")
        return 0
    unknown = [a for a in arguments if a not in registry.GROUPS]
    if unknown:
        print(
            f"plugsamp plugins: no group {unknown[0]!r}{registry.suggestion(unknown[0], registry.GROUPS)}",
            file=sys.stderr,
        )
        return 2
    broken = []
    for group in arguments or registry.GROUPS:
        found = registry.plugins(group)
        print(f"{group}:" if found else f"{group}: none")
        plain = [p.name for p in found]
        for plugin in found:
            label = plugin.name if plain.count(plugin.name) == 1 else str(plugin)
            print(f"  {label:12} {plugin.package} {plugin.version}, {plugin.target}")
            try:
                options = registry.options(group, str(plugin))
            except registry.RegistryError as error:
                broken.append(str(error))
                print(f"  {'':12} BROKEN: {error}")
                continue
            if options:
                print(f"  {'':12} options: {', '.join(str(o) for o in options.values())}")
    for group in arguments or registry.GROUPS:
        found = [p.name for p in registry.plugins(group)]
        for name in sorted({n for n in found if found.count(n) > 1}):
            print(
                f"note: several packages register {registry.GROUPS[group]} {name!r}; choose with package:name"
            )
    if broken:
        print(f"{len(broken)} broken", file=sys.stderr)
    return 1 if broken else 0
