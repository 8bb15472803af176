"""`plugsamp report`: the HTML report of a run, made again: with names, other documents, another file."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from omegaconf import DictConfig

from plugsamp import hydra_source
from plugsamp.commands import saved
from plugsamp.commands.command import Command
from plugsamp.commands.resume import working_folder
from plugsamp.commands.settings import settings_of
from plugsamp.commands.targets import target
from plugsamp.commands.wording import warnings_to
from plugsamp.errors import InputError
from plugsamp.posterior import run_folder
from plugsamp.posterior.saved import load

log = logging.getLogger(__name__)


@dataclass
class Settings:
    """The options and their types; the values come from conf/report.yaml."""

    run: str
    documents: list[str]
    names: str | None
    out: str | None
    overwrite: bool
    data_dir: str


def task(config: DictConfig) -> None:
    from hydra.core.hydra_config import HydraConfig

    from plugsamp import report

    settings = settings_of(Settings, config)
    with contextlib.chdir(HydraConfig.get().runtime.cwd), warnings_to(log):
        run = run_folder.read(Path(settings.run))
        own = Path(settings.run) / "report.html"
        out = target("out", own if settings.out is None else settings.out, settings.overwrite, own)
        posterior = load(settings.run)
        given = HydraConfig.get().overrides.task
        train, test = documents(config, run, posterior.predictor, Path(settings.run), given)
        if settings.documents and train is None:
            raise InputError(
                "documents=... needs the corpus; say where it is: corpus=FORMAT corpus.path=FILE"
            )
        out = report.write(
            settings.run, out, posterior=posterior, train=train, test=test, documents=settings.documents,
            names=settings.names,
        )  # fmt: skip
        print(f"report: {out}")


def documents(config: DictConfig, run, predictor, path: Path, given: Sequence[str] = ()):
    """Training and test documents: of the corpus that is named, or of the run's own if it is still there.

    The paths of the run's own are relative to where it was started. One that is named is read as the run's
    own where the options `given` say nothing else (`plugsamp.commands.saved.recall`).

    Returns
    -------
    (Corpus, Corpus or None), or (None, None) where the run's own corpus cannot be read
    """
    named = config.get("corpus") is not None
    node = config.get("corpus") if named else run.config.get("corpus")
    if node is None:
        log.warning("the run does not say what its corpus was; corpus=... brings the documents in")
        return None, None
    if not named:
        try:
            train, test = documents_of_run(run, predictor, path)
        except (ValueError, OSError) as error:
            log.warning("the run's corpus cannot be read, so its documents are left out (%s)", error)
            return None, None
        return train, test
    node, recalled = saved.recall(node, str(path), given)
    train, test = _read(node, predictor, recalled)
    if not run_folder.trained_on(run, train):
        log.warning(
            "these are not the training documents of the run: what is said of documents is about others"
        )
    return train, test


def documents_of_run(run, predictor, path: Path):
    """Training and test documents of a run, read as its configuration says.

    Raises
    ------
    ValueError, OSError
        They cannot be read; an InputError where the run does not say what its corpus was.
    """
    node = run.config.get("corpus")
    if not isinstance(node, Mapping):
        raise InputError("the run does not say what its corpus was", file=path)
    where = working_folder(path)
    with contextlib.chdir(where) if where is not None else contextlib.nullcontext():
        split = _read(node, predictor, ())
    if not run_folder.trained_on(run, split.train):
        log.warning(
            "these are not the training documents of the run: what is said of documents is about others"
        )
    return split


def _read(node, predictor, recalled):
    told = saved.wanted(predictor, predictor.coding.task != "none")
    reader = hydra_source.object_of("corpus", node).for_model(replace(told, recalled=recalled))
    return reader.read(vocabulary=predictor.vocabulary)


USAGE = """\
plugsamp report run=FOLDER [documents=[ID,...]] [names=FILE] [corpus=FORMAT corpus.path=FILE] [out=FILE]

Write the report of a run again, as one HTML file. `plugsamp fit` has written one; this one explains the
predictions of documents that you ask for, and takes the names that you gave to topics. The corpus is the
run's own, if it can still be read."""

EXAMPLES = """\
  plugsamp report run=outputs/2026-01-31/12-00-00
  plugsamp report run=outputs/2026-01-31/12-00-00 'documents=[17,23]' out=why.html
  plugsamp report run=run names=topic_names.json corpus=csv corpus.path=moved.csv"""

COMMAND = Command("report", "report", task, USAGE, EXAMPLES, optional=("corpus",))
main = COMMAND.main
