"""The documents of a run folder, read again as its configuration says."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from plugsamp import registry
from plugsamp.errors import InputError
from plugsamp.fitting.runfolder import HYDRA
from plugsamp.posterior import run_folder
from plugsamp.readers.base import Wanted
from plugsamp.readers.texts import texts_of

log = logging.getLogger(__name__)


def documents_of_run(run, posterior, path: Path):
    """Training and test documents of a run, read as its configuration says.

    Raises
    ------
    ValueError, OSError
        They cannot be read; an InputError where the run does not say what its corpus was.
    """
    reader = _reader(run, posterior, path)
    with within(working_folder(path)):
        split = reader.read(vocabulary=posterior.vocabulary)
    warn_of_others(run, split)
    return split


def texts_of_run(run, posterior, path: Path) -> Callable:
    """Return a function from ids to the texts of a run's documents (`plugsamp.readers.texts`)."""
    return partial(_texts, _reader(run, posterior, path), working_folder(path))


def _texts(reader, where, ids) -> dict[str, str]:
    with within(where):
        return texts_of(reader, ids)


def _reader(run, posterior, path: Path):
    node = run.config.get("corpus")
    if not isinstance(node, Mapping):
        raise InputError("the run does not say what its corpus was", file=path)
    options = {name: value for name, value in node.items() if name != "name" and value != "???"}
    with within(working_folder(path)):
        reader = registry.resolve("readers", str(node.get("name")), **options)
    return reader.for_model(wanted(posterior, posterior.coding.task != "none"))


def within(where):
    """Return a context in a folder, or where it is, for None."""
    return contextlib.nullcontext() if where is None else contextlib.chdir(where)


def warn_of_others(run, split) -> None:
    """Warn where documents are not those that a run was fitted to."""
    if not run_folder.trained_on(run, split[0]):
        log.warning(
            "these are not the training documents of the run: what is said of documents is about others"
        )


def wanted(posterior, need_responses: bool) -> Wanted:
    """What the reader should know of a saved model."""
    encoder = posterior.parts[0].encoder
    responses = "none"
    if need_responses and posterior.coding.task != "none":
        responses = "real" if posterior.coding.task in ("real", "count") else "classes"
    labels = posterior.coding.output_names if posterior.coding.task == "multilabel" else ()
    numeric = categorical = ()
    if encoder is not None:
        numeric = tuple(part.column for part in encoder.numeric)
        categorical = tuple(part.column for part in encoder.categorical)
    return Wanted(responses, numeric, categorical, labels=tuple(map(str, labels)))


def working_folder(folder: Path) -> str | None:
    """Where the run was started, which its paths are relative to; None where that is not known or gone.

    Raises
    ------
    ValueError
        The file that says it is damaged: its paths would be looked for elsewhere.
    """
    from omegaconf import OmegaConf

    path = folder / HYDRA / "hydra.yaml"
    if not path.exists():
        return None
    try:
        where = OmegaConf.select(OmegaConf.load(path), "hydra.runtime.cwd")
        if not isinstance(where, str):
            raise ValueError("it does not say where the run was started (hydra.runtime.cwd)")
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    except Exception as error:  # YAML's own, of several packages
        why = (str(error).splitlines() or [type(error).__name__])[0]
        raise ValueError(f"{path} is damaged: {why}; without the file paths are taken as of here") from None
    return where if os.path.isdir(where) else None
