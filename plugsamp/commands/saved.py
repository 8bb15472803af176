"""What `plugsamp predict` and `plugsamp evaluate` share: a saved model and the documents for it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from omegaconf import DictConfig, OmegaConf

from plugsamp import hydra_source, registry
from plugsamp.commands import arguments
from plugsamp.commands.settings import checked
from plugsamp.corpus import Corpus
from plugsamp.errors import InputError
from plugsamp.files.storage import MANIFEST
from plugsamp.fitting.runfolder import CONFIG
from plugsamp.posterior.run_documents import wanted, working_folder
from plugsamp.posterior.run_folder import refuse_runs
from plugsamp.posterior.saved import load_model
from plugsamp.prediction.matching import SEVERAL, responses_for

log = logging.getLogger(__name__)


@dataclass
class Passes:
    """Options of prediction; None stands for those of the model."""

    passes: int | None
    burn_in: int | None
    restarts: int | None

    @classmethod
    def of(cls, given: dict) -> dict:
        found = vars(cls(**checked(cls, "predict.", given)))
        return {name: value for name, value in found.items() if value is not None}


UNDIVIDED = "part={}, and the corpus is not divided; part=all takes all documents"


def load(path: str, passes: dict, seed: int | None):
    """The posterior of a run folder or model folder, with other passes and seed where they are given."""
    folder = Path(path)
    if not folder.exists():
        raise InputError("there is no such folder", file=folder)
    if (folder / "model").is_dir():
        folder = folder / "model"
    elif folder.is_dir() and not (folder / MANIFEST).exists():
        refuse_runs(folder)
    options = dict(passes) if seed is None else {**passes, "seed": seed}
    return load_model(folder).with_options(**options)


def run_folder(path: str) -> Path:
    """The run folder of what `load` takes: itself, or the one that a model folder lies in."""
    folder = Path(path)
    return folder if (folder / "model").is_dir() else folder.absolute().parent


def recall(
    node: DictConfig | None, model: str, given: Sequence[str]
) -> tuple[DictConfig | None, tuple[str, ...]]:
    """The corpus of a configuration, read as that of the model's run was where nothing else is said.

    Parameters
    ----------
    node : DictConfig
        The corpus.
    model : str
        A run folder, or the model in it.
    given : sequence of str
        The options as they were given.

    Returns
    -------
    DictConfig, tuple of str
        Of the corpus; and the options that are the run's.
    """
    name = None if node is None else node.get("name")
    was = _corpus_of_run(Path(model))
    if not isinstance(name, str) or was is None:
        return node, ()
    reader = registry.load("readers", name)
    defaults = registry.options("readers", name)
    names = getattr(reader, "of_words", ())
    if was.get("name") == name:
        names = (*getattr(reader, "of_layout", ()), *names)
    said = {one.partition("=")[0].lstrip("+~") for one in given}
    found = {
        option: was[option]
        for option in names
        if option in was
        and option in defaults
        and f"corpus.{option}" not in said
        and node.get(option) == defaults[option].default != was[option]
    }
    if found:
        shown = " ".join(arguments.option(f"corpus.{one}", value) for one, value in found.items())
        log.info("read as the run's own documents were: %s", shown)
    return OmegaConf.merge(node, found), tuple(found)


def _corpus_of_run(model: Path) -> dict | None:
    """How the documents of the run were read that a model comes from; None where there is no run."""
    if not (model / "model").is_dir() and model.name != "model":
        return None  # a file, or a folder that Python has saved
    try:
        found = OmegaConf.to_container(OmegaConf.load(run_folder(model) / CONFIG).corpus, resolve=True)
    except Exception:  # missing, or damaged in whatever way
        return None
    if not isinstance(found, dict):
        return None
    words = found.get("stop_words")
    if isinstance(words, str) and words not in ("english", "none") and not Path(words).is_file():
        found["stop_words"] = str(Path(working_folder(run_folder(model)) or "") / words)
    return found


def documents(
    config: DictConfig, predictor, part: str, need_responses: bool, given: Sequence[str] = ()
) -> dict[str, Corpus]:
    """The documents of the corpus that a configuration names, in the model's vocabulary.

    Parameters
    ----------
    config : DictConfig
    predictor
    part : {"auto", "all", "train", "test"}
    need_responses : bool
    given : sequence of str
        The options as they were given: the others are the run's own (`recall`).

    Returns
    -------
    dict
        "train" and "test", or what `part` leaves of them; "all" of a corpus that is not divided.

    Raises
    ------
    ValueError
        A part that there is not.
    """
    reader = reader_of(config, predictor, need_responses, given, part)
    split = reader.read(vocabulary=predictor.vocabulary)
    if split.test is None:
        if part in ("train", "test"):
            raise ValueError(UNDIVIDED.format(part))
        parts = {"all": split.train}
    else:
        parts = {"train": split.train, "test": split.test}
        if part != "all":
            part = "test" if part == "auto" else part
            parts = {part: parts[part]}
    return {name: matched(corpus, predictor.coding, need_responses) for name, corpus in parts.items()}


def reader_of(config: DictConfig, predictor, need_responses: bool, given: Sequence[str], part: str):
    """Return the reader of the corpus that a configuration names, told what the model needs."""
    if part not in ("auto", "all", "train", "test"):
        raise ValueError(f"part must be auto, all, train or test, not {part!r}")
    node, recalled = recall(config.get("corpus"), config.model, given)
    reader = hydra_source.object_of("corpus", node)
    return reader.for_model(replace(wanted(predictor, need_responses), recalled=recalled))


def matched(corpus: Corpus, coding, need_responses: bool, warn=log.warning) -> Corpus:
    """With its responses as the model has them; those that do not fit are left out where none are needed."""
    try:
        truth = responses_for(coding, corpus)
        n_expected = coding.n_outputs if coding.task in SEVERAL else 1
        if truth is not None and truth.size != n_expected * corpus.n_documents and coding.task != "none":
            shape = " and ".join(map(str, truth.shape[1:])) or "1"
            raise ValueError(f"the model predicts {n_expected} responses, and the documents have {shape}")
    except ValueError as error:
        if need_responses:
            raise
        warn("%s; they are left out", error)
        return corpus.with_responses(None)
    if truth is corpus.responses:
        return corpus
    return corpus.with_responses(truth, coding.output_names)
