"""`plugsamp cite`: the references of what a run used."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from pathlib import Path

from omegaconf import DictConfig

from plugsamp import references
from plugsamp.commands.command import Command
from plugsamp.commands.settings import settings_of
from plugsamp.errors import InputError


@dataclass
class Settings:
    """The options and their types; the values come from conf/cite.yaml."""

    run: str | None
    format: str


def task(config: DictConfig) -> None:
    from hydra.core.hydra_config import HydraConfig

    settings = settings_of(Settings, config)
    if settings.format not in ("text", "bibtex"):
        raise ValueError(f"format must be text or bibtex, not {settings.format!r}")
    with contextlib.chdir(HydraConfig.get().runtime.cwd):
        entries = list(references.table().values()) if settings.run is None else of_run(Path(settings.run))
    entries.append(references.itself())
    if settings.format == "bibtex":
        print("\n\n".join(entries))
    else:
        print("\n".join(map(references.as_text, entries)))


def of_run(folder: Path) -> list[str]:
    """The entries that a finished run has written down."""
    path = folder / "metrics.json"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))["references"]
        for entry in found:
            references.key_of(entry)
    except FileNotFoundError:
        what = "this folder holds no finished run" if folder.is_dir() else "there is no such folder"
        raise InputError(what, file=folder) from None
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"no references can be read from it ({error})", file=path) from None
    return found


USAGE = """\
plugsamp cite [run=FOLDER] [format=bibtex]

The papers behind the loss, the priors, the topics and the kernel of a run; without run=,
all that there are."""

EXAMPLES = """\
  plugsamp cite run=outputs/2026-01-31/12-00-00
  plugsamp cite run=outputs/2026-01-31/12-00-00 format=bibtex > references.bib"""

COMMAND = Command("cite", "cite", task, USAGE, EXAMPLES, groups=())
main = COMMAND.main
