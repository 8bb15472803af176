"""The manual page of `plugsamp fit`, made from the configuration's own comments and the registry."""

from __future__ import annotations

import re
import shutil
import textwrap
from importlib.resources import files

from plugsamp import hydra_source, options, registry
from plugsamp.commands.hydra_app import compose
from plugsamp.options import shown

USAGE = """\
plugsamp fit [OPTION=VALUE ...] [FLAG ...]

Fit a supervised topic model by sampling, evaluate it on the test documents and write a run folder:
model/, trace.csv, metrics.json, predictions.csv, topics.txt, config.yaml."""

FLAGS = [
    ("--help", "this page, for the choices given beside it: plugsamp fit --help kernel=composed"),
    ("--cfg job", "show the configuration and stop"),
    ("-m, --multirun", "a run for each combination of the values given with commas"),
    ("--info", "how the configuration was composed"),
    ("-cd DIR", "a folder with configurations of your own"),
    ("--shell-completion", "install=bash completes options in the shell"),
]

EXAMPLES = """\
  plugsamp fit
  plugsamp fit loss=hinge loss.cost=50 kernel=composed kernel.steps=6 n_topics=100 sweeps=60 seed=1
  plugsamp fit corpus=jsonl corpus.path=news.jsonl
  plugsamp fit experiment=20ng data_dir=/data
  plugsamp fit -m n_topics=20,50,100 'loss=glob(*)'
  plugsamp plugins losses                               names, origin and options of what is installed"""


def page(arguments: list[str]) -> str:
    """The manual page, with the options of the choices that `arguments` make."""
    config = compose([a for a in arguments if "=" in a])
    width = min(shutil.get_terminal_size((100, 24)).columns, 110)
    parts = [USAGE, "", "Choices (GROUP=NAME), and the options of those chosen now"]
    for group, kind in hydra_source.CONFIG_GROUPS.items():
        node = config.get(group)
        chosen = node.name if node is not None else None
        available = _choices(group, kind)
        parts.append("  " + _wrap(f"{group}={chosen}", f"one of: {', '.join(available)}", width))
        if chosen is None:
            continue
        texts = options.texts(registry.load(kind, chosen))
        for option in sorted(registry.options(kind, chosen).values(), key=lambda o: not o.required):
            current = _current(node, option.name)
            value = "(needed)" if current is None and option.required else shown(current)
            head = f"  {group}.{option.name}={value}"
            parts.append("  " + _wrap(head, texts.get(option.name, ""), width))
    parts.append("")
    for title, entries in _documented():
        parts.append(title)
        for key, comment in entries:
            parts.append("  " + _wrap(f"{key}={shown(_select(config, key))}", comment, width))
        parts.append("")
    parts.append("Experiments (experiment=NAME): " + ", ".join(_experiments()))
    parts += ["", "Flags", *("  " + _wrap(flag, text, width) for flag, text in FLAGS)]
    parts += [
        "",
        "Examples",
        EXAMPLES,
        "",
        "Errors are one message and exit code 2; PLUGSAMP_TRACEBACK=1 shows the traceback.",
    ]
    return "\n".join(parts)


def _choices(group: str, kind: str) -> list[str]:
    folder = files("plugsamp.conf") / group
    own = [f.name.removesuffix(".yaml") for f in folder.iterdir()] if folder.is_dir() else []
    return sorted({*registry.names(kind), *own})


def _experiments() -> list[str]:
    folder = files("plugsamp.conf") / "experiment"
    return sorted(f.name.removesuffix(".yaml") for f in folder.iterdir() if f.name.endswith(".yaml"))


def _documented():
    """(title, [(option, comment)]) from config.yaml: a comment line heads a section."""
    sections, title, entries, parent = [], None, [], None
    for line in (files("plugsamp.conf") / "config.yaml").read_text(encoding="utf-8").splitlines():
        if line.startswith("# ") and title is None and not sections and "plugsamp fit" in line:
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


def _select(config, key: str):
    from omegaconf import OmegaConf

    return OmegaConf.select(config, key)


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
