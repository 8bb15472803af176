"""The manual page of a command, made from its configuration's own comments and the registry."""

from __future__ import annotations

import re
import shutil
import textwrap
from importlib.resources import files

from plugsamp import hydra_source, options, registry
from plugsamp.hydra_source import compose
from plugsamp.options import shown

FLAGS = [
    ("--help", "this page, for the choices given beside it, such as corpus=csv"),
    ("--cfg job", "show the configuration and stop"),
    ("-m, --multirun", "a run for each combination of the values given with commas"),
    ("--info", "how the configuration was composed"),
    ("-cd DIR", "a folder with configurations of your own"),
    ("--shell-completion", "install=bash completes options in the shell"),
]

HYDRA = [
    ("hydra.run.dir=FOLDER", "the run folder; by default outputs/DATE/TIME"),
    ("hydra.sweep.dir=FOLDER", "with -m, where the folders of the runs go; by default multirun/DATE/TIME"),
    ("hydra/job_logging=quiet", "warnings and errors alone on the terminal"),
    ("hydra.verbose=true", "more, also of how the configuration was found"),
    ("hydra/launcher=joblib", "with -m, several runs at once; or submitit_local, submitit_slurm"),
    ("hydra/sweeper=optuna", "with -m, a search for the best values instead of all combinations"),
]


def page(command, arguments: list[str]) -> str:
    """The manual page, with the options of the choices that `arguments` make."""
    config = compose([a for a in arguments if "=" in a], command.config)
    width = min(shutil.get_terminal_size((100, 24)).columns, 110)
    parts = [command.usage.rstrip(), ""]
    if command.groups:
        parts.append("Choices (GROUP=NAME), and the options of those chosen now")
    for group in command.groups:
        kind = hydra_source.CONFIG_GROUPS[group]
        node = config.get(group)
        chosen = node.name if node is not None else None
        available = _choices(group, kind)
        optional = group in command.optional
        head = f"{group}={chosen or ('null' if optional else '(needed)')}"
        parts.append("  " + _wrap(head, ("the run's own, or " * optional) + available, width))
        if chosen is None:
            continue
        texts = options.texts(registry.load(kind, chosen))
        for option in sorted(registry.options(kind, chosen).values(), key=lambda o: not o.required):
            current = _current(node, option.name)
            value = "(needed)" if current is None and option.required else shown(current)
            head = f"  {group}.{option.name}={value}"
            parts.append("  " + _wrap(head, texts.get(option.name, ""), width))
    parts += [""] * bool(command.groups)
    sections = [*documented(command.config), *(documented(command.extends) if command.extends else [])]
    for title, entries in sections:
        parts.append(title)
        for key, comment in entries:
            parts.append("  " + _wrap(f"{key}={_shown(config, key)}", comment, width))
        parts.append("")
    if command.experiments:
        head = "Experiments, with their files in data_dir"
        parts += [head, "  " + _wrap("experiment=null", ", ".join(_configurations("experiment")), width), ""]
    if command.table:
        parts += ["Where it goes, and what is said (Hydra's options)"]
        parts += ["  " + _wrap(option, text, width) for option, text in HYDRA]
        parts += [""]
    parts += ["Flags", *("  " + _wrap(flag, text, width) for flag, text in FLAGS)]
    parts += [
        "",
        "Examples",
        command.examples.rstrip(),
        "",
        "Errors are one message and exit code 2; PLUGSAMP_TRACEBACK=1 shows the traceback.",
    ]
    return "\n".join(parts).replace("`", "")


def _choices(group: str, kind: str) -> str:
    """What is registered, and apart from that what conf has beside it: corpora whose files are elsewhere."""
    names = registry.names(kind)
    own = [name for name in _configurations(group) if name not in names]
    more = f"; with their files in data_dir: {', '.join(own)}" if own else ""
    return f"one of: {', '.join(names)}{more}"


def _configurations(group: str) -> list[str]:
    folder = files("plugsamp.conf") / group
    if not folder.is_dir():
        return []
    return sorted(f.name.removesuffix(".yaml") for f in folder.iterdir() if f.name.endswith(".yaml"))


def documented(config: str = "config"):
    """(title, [(option, comment)]) from a file of conf: a comment line heads a section."""
    sections, title, entries, parent = [], None, [], None
    for line in (files("plugsamp.conf") / f"{config}.yaml").read_text(encoding="utf-8").splitlines():
        if line.startswith("# ") and title is None and not sections and "`plugsamp " in line:
            continue
        if line.startswith("hydra:"):
            break
        if line.startswith("# "):
            if entries:
                sections.append((title, entries))
            title, entries = line[2:], []
            continue
        found = re.match(r"( *)([a-z_]+):(.*?)(?:\s#\s(.*))?$", line)
        if not found or title is None:
            continue
        indent, key, value, comment = found.groups()
        if not value.strip():
            parent = key
            continue
        entries.append((f"{parent}.{key}" if indent else key, comment or ""))
    return [*sections, (title, entries)]


def _shown(config, key: str) -> str:
    from omegaconf import OmegaConf

    if OmegaConf.is_missing(config, key):
        return "(needed)"
    return shown(OmegaConf.select(config, key))


def _current(node, name: str):
    from omegaconf import OmegaConf

    if OmegaConf.is_missing(node, name):
        return None
    value = OmegaConf.select(node, name)
    return OmegaConf.to_container(value) if OmegaConf.is_config(value) else value


def _wrap(head: str, text: str, width: int) -> str:
    lead = f"{head:26}  "
    lines = textwrap.wrap(text, max(width - 30, 30)) or [""]
    return ("\n" + " " * 30).join([lead + lines[0], *lines[1:]]).rstrip()
