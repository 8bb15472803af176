"""What a run folder holds already: whether it is the same run, and how far that has come."""

from __future__ import annotations

import copy
import logging
from collections.abc import Mapping
from pathlib import Path

from omegaconf import DictConfig, OmegaConf

from plugsamp.checkpoint.generations import Generations
from plugsamp.files.whole import read_object
from plugsamp.fitting.runfolder import CHECKPOINT, CONFIG
from plugsamp.options import shown
from plugsamp.sampling.identity import check_plugins
from plugsamp.sweeps.status import DONE, STATUS, status_of

log = logging.getLogger(__name__)

#: Options that leave the outcome, and what is written of it, as they are.
IMMATERIAL = ("metric", "overwrite", "n_jobs", "checkpoint", "data_dir")

#: Options whose defaults have changed, and what they were.
FORMER = {"weights.variance": 1.0, "beta": 0.01, "decide": "zero"}

#: Differences that are named; the others are counted.
NAMED = 3


def with_former_defaults(folder: Path, config: DictConfig, overrides) -> DictConfig:
    """Return the configuration with the defaults that the folder's run was begun with.

    Parameters
    ----------
    folder : Path
    config : DictConfig
        Of the run that is to go on.
    overrides : sequence of str
        The options as they were given; these stay.
    """
    try:
        was = _flat(OmegaConf.to_container(OmegaConf.load(folder / CONFIG), resolve=True))
    except Exception:  # missing, or damaged in whatever way: `differences` says so
        return config
    begun = read_object(folder / STATUS).get("overrides") or ()
    given = {str(one).partition("=")[0].lstrip("+~") for one in (*begun, *(overrides or ()))}
    now = _flat(OmegaConf.to_container(config, resolve=True))
    changed = {
        name: value
        for name, value in FORMER.items()
        if name not in given and name in now and was.get(name, FORMER["decide"]) == value != now[name]
    }
    if changed:
        config = copy.deepcopy(config)
        for name, value in changed.items():
            OmegaConf.update(config, name, value)
        said = ", ".join(f"{name}={value}" for name, value in changed.items())
        log.info("defaults have changed since this run was begun, which goes on with its own: %s", said)
    return config


def differences(folder: Path, config: DictConfig) -> list[str]:
    """Where the configuration of a folder's run differs from `config`, in words; empty where nowhere."""
    try:
        saved = OmegaConf.to_container(OmegaConf.load(folder / CONFIG), resolve=True)
    except Exception:  # missing, or damaged in whatever way
        return [f"{CONFIG} is missing or damaged"]
    was, now = _flat(saved), _flat(OmegaConf.to_container(config, resolve=True))
    # runs of older versions do not have them
    older = {name: now.get(name) for name in ("topic_words", "decide", "keep_draws")}
    older |= {"reference": None, "corpus.validation_size": 0.0, "words": False}
    was = {name: value for name, value in older.items() if name in now} | was
    if now.get("seed") is None:  # any will do
        now["seed"] = was.get("seed")
    names = [n for n in (*now, *(n for n in was if n not in now)) if n.partition(".")[0] not in IMMATERIAL]
    found = [
        f"{name} is {_words(was, name)}, here {_words(now, name)}"
        for name in names
        if was.get(name, _ABSENT) != now.get(name, _ABSENT)
    ]
    if len(found) > NAMED:
        found[NAMED:] = [f"{len(found) - NAMED} more"]
    return found


_ABSENT = object()


def _flat(node, prefix: str = "") -> dict:
    if not isinstance(node, Mapping):
        return {}
    found = {}
    for key, value in node.items():
        if isinstance(value, Mapping) and value:
            found |= _flat(value, f"{prefix}{key}.")
        else:
            found[f"{prefix}{key}"] = value
    return found


def _words(options: Mapping, name: str) -> str:
    return shown(options[name]) if name in options else "not there"


def outcome(folder: Path) -> dict | None:
    """metrics.json of a run that is done; None of one that is not."""
    return (read_object(folder / "metrics.json") or None) if status_of(folder)[0] in (DONE, None) else None


def checkpoints(folder: Path) -> list[Generations]:
    """Of the run, or of each of its models."""
    return [Generations(path) for path in (folder / CHECKPOINT, *folder.glob(f"{CHECKPOINT}/model-*"))]


def has_checkpoint(folder: Path) -> bool:
    return any(checkpoints(folder))


def sweeps_reached(folder: Path) -> int:
    """The sweeps of the last checkpoint, as its manifest says; of several models of the furthest."""
    found = [(generations.about() or {}).get("sweep") for generations in checkpoints(folder)]
    return max((sweep for sweep in found if isinstance(sweep, int)), default=0)


def check_plugins_of(folder: Path) -> None:
    """Refuse to go on with a run whose plugins are not installed (StorageError)."""
    check_plugins({"plugins": plugins_of(folder)}, folder)


def plugins_of(folder: Path) -> list[dict]:
    """What the last checkpoint says of the plugins of a run: group, name, package and version of each."""
    about = next((found.about() for found in checkpoints(folder) if found), None)
    return list((about or {}).get("made_with", {}).get("plugins", ()))


def seed_of(folder: Path) -> int | None:
    """The seed that a run has drawn, in its configuration."""
    return OmegaConf.select(OmegaConf.load(folder / CONFIG), "seed")
