"""What the package says, in the words of the command line: options with their group, values as typed.

Errors and warnings name options as constructors have them (``missing_labels=true``); on the command line this
one is ``corpus.missing_labels=true``, as the configuration of the running command knows.
"""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Mapping
from contextvars import ContextVar
from pathlib import Path

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from plugsamp import hydra_source
from plugsamp.commands.arguments import option, typed
from plugsamp.errors import InputError, place

#: The configuration of the running command, as plain values.
_current: ContextVar[Mapping | None] = ContextVar("configuration", default=None)

#: Not looked into: what Python would write of an object, and what is quoted.
_APART = r"\b\w+\([^()]*\)|(?<!\w)'[^']*'(?!\w)"

#: Advice that readers without such options cannot follow.
_AS_MISSING = re.compile(
    r"missing_as=\[[^\]]*\] (reads it as missing( \(labels need missing_labels=true as well\))?"
    r"|missing_labels=true leaves such documents out)"
)

#: What a file's name tells of how it is read.
_READERS = {
    ".csv": "csv", ".tsv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".txt": "lines", ".svm": "svmlight",
    ".npz": "npz", ".mtx": "mm",
}  # fmt: skip


def speak_of(config: DictConfig | None) -> None:
    """From here on, messages are those of a command with this configuration."""
    if config is None:
        _current.set(None)
        return
    try:
        plain = OmegaConf.to_container(config, resolve=True)
    except OmegaConfBaseException:  # the command will say so
        plain = OmegaConf.to_container(config, resolve=False)
    _current.set(plain)


def spoken(message: str) -> str:
    """The message with options as they are written on the command line."""
    config = _current.get() or {}
    owners = _owners(config)
    if not owners:
        return message
    reader = config.get("corpus")
    if isinstance(reader, Mapping) and "missing_as" not in reader:
        message = re.sub(_AS_MISSING, "only=[LABEL,...] takes the documents of certain labels", message)
    names = "|".join(sorted(map(re.escape, owners), key=len, reverse=True))
    values = r"\"[^\"]*\"|\[[^\]]*\]|[^\s,;:()?]*"
    pattern = rf"{_APART}|(?<![\w.\-/])(?P<name>{names})(?:=(?P<value>{values})|(?![\w.=/]))"

    def said(found: re.Match) -> str:
        name, value = found["name"], found["value"]
        if name is None or (value is None and "_" not in name):  # such as `text`, which is a word too
            return found[0]
        if (owners[name], value) == ("corpus.response", "none") and "loss" in config:
            return "loss=none"  # a reader alone knows of no loss
        return owners[name] if value is None else typed(owners[name], value)

    return re.sub(pattern, said, message)


def _owners(config: Mapping) -> dict[str, str]:
    """Options that are not at the top -> how they are called in full."""
    groups = [g for g in hydra_source.CONFIG_GROUPS if g in config]
    owners: dict[str, str] = {}
    for group in [*groups, *(name for name in config if name not in groups)]:
        part = config[group]
        if isinstance(part, Mapping):
            for name in part:
                if isinstance(name, str) and name != "name" and name not in config:
                    owners.setdefault(name, f"{group}.{name}")
    if "kernel" in config:  # which messages advise for other kernels than the chosen one
        owners.setdefault("collapse", "kernel.collapse")
    return owners


def spoken_error(error: BaseException) -> str:
    """What an error says, in those words, with what the command line knows beside."""
    if isinstance(error, InputError):
        return place(error.file, error.line, error.column) + spoken(error.what) + _data(error)
    return spoken(str(error))


def _data(error: InputError) -> str:
    """Where data are looked for, of a file that is not there and was looked for among them."""
    folder = (_current.get() or {}).get("data_dir")
    if not isinstance(folder, str) or not error.file or "no such" not in error.what:
        return ""
    if not Path(error.file).is_relative_to(folder):
        return ""
    return "; data_dir=FOLDER, or PLUGSAMP_DATA in the environment, says where the data are"


@contextlib.contextmanager
def warnings_to(log):
    """Warnings are lines of the log, in those words."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *rest, **more: log.warning("%s", spoken(str(message)))
        yield


def corpus_of(given: str) -> str | None:
    """The options that read a file that was given without them; None where `given` names no file."""
    path = Path(given.strip("'\""))
    suffix = next((s for s in reversed(path.suffixes) if s != ".gz"), "")
    if path.is_dir():
        reader = "folder"
    elif suffix in _READERS or path.is_file():
        reader = _READERS.get(suffix, "FORMAT")
    else:
        return None
    return f"corpus={reader} {option('corpus.path', str(path))}"
