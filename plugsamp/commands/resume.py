"""`plugsamp resume`: a run goes on from its last checkpoint, in its own folder with its own configuration."""

from __future__ import annotations

import contextlib
import json
import logging
import sys
from pathlib import Path

from omegaconf import DictConfig, OmegaConf

from plugsamp import registry
from plugsamp.commands import fit
from plugsamp.commands.command import Command
from plugsamp.fitting.runfolder import CONFIG
from plugsamp.hydra_source import CONFIG_GROUPS
from plugsamp.posterior.run_documents import working_folder
from plugsamp.sweeps import earlier
from plugsamp.sweeps.status import INTERRUPTED, KILLED, status_of

log = logging.getLogger(__name__)

#: Options that runs of older versions have not, as they were then.
LATER = {
    "netcdf": False, "topic_words": "probability", "reference": None, "decide": "zero", "keep_draws": "all",
    "words": False,
}  # fmt: skip

#: What may change.
OPTIONS = (
    "sweeps", "backend", "n_jobs", "checkpoint", "top_words", "topic_words", "reference", "report", "netcdf",
    "save_model",
)  # fmt: skip


def main(arguments: list[str]) -> int:
    try:
        if not {"-h", "--help"} & set(arguments):
            arguments = _checked(arguments)
    except ValueError as error:
        print(f"plugsamp resume: {error}", file=sys.stderr)
        return 2
    return COMMAND.main(arguments)


def _checked(arguments: list[str]) -> list[str]:
    """The arguments, with the folder's name quoted for Hydra and the run's own backend put first.

    Raises
    ------
    ValueError
        There is no such run, or something else is to change.
    """
    several = bool({"-m", "--multirun"} & set(arguments))
    folder, checked = None, []
    for argument in arguments:
        key, equals, value = argument.partition("=")
        option = key.lstrip("+~").partition(".")[0]
        hydra = key.startswith(("hydra.", "hydra/")) and key not in ("hydra.run.dir", "hydra.sweep.subdir")
        if not equals or key.startswith("-") or hydra:
            checked.append(argument)
        elif key == "run":
            folder = value
            if several:
                checked.append(argument)
        elif option not in OPTIONS:
            raise ValueError(
                f"{key} cannot change when a run goes on; only {', '.join(OPTIONS)} can (a new run is for "
                "plugsamp fit)"
            )
        else:
            checked.append(argument)
    if folder is None:
        raise ValueError("which run? plugsamp resume run=FOLDER")
    if several:  # each folder is looked at when its turn comes
        return checked
    folder = folder.strip("\"'") if folder[:1] in ("'", '"') else folder
    config = _config_of(Path(folder))  # Hydra would make the folder
    quoted = folder.replace("\\", "\\\\").replace('"', '\\"')
    backend = config.get("backend")
    own = [f"backend={backend.name}"] if backend is not None and not _given("backend", checked) else []
    return [f'run="{quoted}"', *own, *checked]


def _given(key: str, arguments) -> bool:
    return any(a.startswith(f"{key}=") for a in arguments)


def _config_of(folder: Path) -> DictConfig:
    """config.yaml of a run folder.

    Raises
    ------
    ValueError
    """
    path = folder / CONFIG
    if not folder.is_dir():
        raise ValueError(f"there is no folder {folder}")
    try:
        config = OmegaConf.load(path)
    except FileNotFoundError:
        raise ValueError(f"{folder} is not a run folder: it has no {CONFIG}") from None
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    except Exception as error:  # YAML's own, of several packages
        raise ValueError(f"{path} is damaged: {str(error).splitlines()[0]}") from None
    if not OmegaConf.is_dict(config):
        raise ValueError(f"{path} is damaged: it holds no options")
    return config


def task(config: DictConfig) -> float | None:
    """One run under Hydra."""
    from hydra.core.hydra_config import HydraConfig

    given = [o.partition("=")[0].lstrip("+") for o in HydraConfig.get().overrides.task]
    with contextlib.chdir(HydraConfig.get().runtime.cwd):
        return resume(Path(config.run).resolve(), config, given)


def resume(folder: Path, changes: DictConfig, given: list[str]) -> float | None:
    """Go on with the run in `folder`; the main metric is returned.

    Parameters
    ----------
    folder : Path
        Absolute.
    changes : DictConfig
        As in conf/resume.yaml.
    given : list of str
        The options in `changes` that are to replace those of the run.

    Raises
    ------
    ValueError
        There is nothing to go on from, or the run is done.
    """
    config = _config_of(folder)
    for name in set(LATER).difference(config):
        OmegaConf.update(config, name, LATER[name], force_add=True)
    for key in given:
        name = key.partition(".")[0]
        if name == "backend":
            own = OmegaConf.select(config, "backend.name")
            node = changes.backend
            if own == node.name and key == "backend":  # its options as they were, unless they are given
                continue
            if key == "backend":
                config.backend = node
            else:
                OmegaConf.update(config, key, OmegaConf.select(changes, key), force_add=True)
        elif name in OPTIONS:
            OmegaConf.update(config, key, OmegaConf.select(changes, key), force_add=True)
    anew = not earlier.has_checkpoint(folder)
    if anew and status_of(folder)[0] not in (INTERRUPTED, KILLED):
        raise ValueError(
            f"{folder} has no checkpoint to go on from; plugsamp fit with overwrite=true starts the run again"
        )
    earlier.check_plugins_of(folder)  # before the configuration asks for them
    _name_packages(config, folder)
    if "metric" not in config:  # a run of an older plugsamp
        OmegaConf.update(config, "metric", "main", force_add=True)
    done = _sweeps_done(folder)
    if done is not None and done == config.get("sweeps"):
        raise ValueError(f"the run in {folder} is done; with more sweeps than {done} it goes on (sweeps=...)")
    reached, wanted = earlier.sweeps_reached(folder), config.get("sweeps")
    if isinstance(wanted, int) and wanted < reached:  # before the corpus is read
        raise ValueError(
            f"the run in {folder} has done {reached} sweeps already; sweeps must be that or more, "
            f"not {wanted}"
        )
    where = working_folder(folder)
    with contextlib.chdir(where) if where is not None else contextlib.nullcontext():
        if anew:
            log.info("there is no checkpoint yet: the run begins again")
        return fit.run(config, folder, resume=not anew, anew=anew)


def _name_packages(config: DictConfig, folder: Path) -> None:
    """Add its package to the name of a plugin that another package claims too by now."""
    used = {(r["group"], r["name"]): r["package"] for r in earlier.plugins_of(folder)}
    for group, kind in CONFIG_GROUPS.items():
        name = OmegaConf.select(config, f"{group}.name")
        package = used.get((kind, name))
        if package is not None and f"{package}:{name}" in registry.names(kind):
            config[group].name = f"{package}:{name}"


def _sweeps_done(folder: Path) -> int | None:
    """The sweeps of a run whose outcome is written, otherwise None."""
    try:
        return json.loads((folder / "metrics.json").read_text(encoding="utf-8"))["sweeps"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


USAGE = """\
plugsamp resume run=FOLDER [OPTION=VALUE ...] [FLAG ...]

Go on with a run that was interrupted or killed, from its last checkpoint and in its own folder: the outcome
is what it would have been. A run that is done goes on where sweeps is raised. Where it runs may change as
well (backend=NAME and its options), and what is listed here."""

EXAMPLES = """\
  plugsamp resume run=outputs/2026-11-28/10-00-00-000000
  plugsamp resume run=outputs/2026-11-28/10-00-00-000000 sweeps=200
  plugsamp resume -m run=multirun/mine/0,multirun/mine/1      one after the other"""

COMMAND = Command("resume", "resume", task, USAGE, EXAMPLES, ())
