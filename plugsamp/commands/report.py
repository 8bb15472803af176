"""`plugsamp report`: the HTML report of a run, made again: with names, other documents, another file."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from omegaconf import DictConfig

from plugsamp import hydra_source
from plugsamp.commands import saved
from plugsamp.commands.command import Command
from plugsamp.commands.settings import settings_of
from plugsamp.commands.targets import target
from plugsamp.commands.wording import warnings_to
from plugsamp.errors import InputError
from plugsamp.posterior import run_folder
from plugsamp.posterior.run_documents import documents_of_run, texts_of_run, wanted, warn_of_others
from plugsamp.posterior.saved import load
from plugsamp.readers.texts import texts_of

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
        (train, test), texts = documents(config, run, posterior, Path(settings.run), given)
        if settings.documents and train is None:
            raise InputError(
                "documents=... needs the corpus; say where it is: corpus=FORMAT corpus.path=FILE"
            )
        out = report.write(
            settings.run, out, posterior=posterior, train=train, test=test, documents=settings.documents,
            texts=texts, names=settings.names,
        )  # fmt: skip
        print(f"report: {out}")


def documents(config: DictConfig, run, predictor, path: Path, given: Sequence[str] = ()):
    """Training and test documents: of the corpus that is named, or of the run's own if it is still there.

    The paths of the run's own are relative to where it was started. One that is named is read as the run's
    own where the options `given` say nothing else (`plugsamp.commands.saved.recall`).

    Returns
    -------
    documents : Split, or (None, None) where the run's own corpus cannot be read
    texts : function or None
        From ids to the texts of documents.
    """
    named = config.get("corpus") is not None
    node = config.get("corpus") if named else run.config.get("corpus")
    if node is None:
        log.warning("the run does not say what its corpus was; corpus=... brings the documents in")
        return (None, None), None
    if not named:
        try:
            found = documents_of_run(run, predictor, path)
        except (ValueError, OSError) as error:
            log.warning("the run's corpus cannot be read, so its documents are left out (%s)", error)
            return (None, None), None
        return found, texts_of_run(run, predictor, path)
    node, recalled = saved.recall(node, str(path), given)
    told = replace(wanted(predictor, predictor.coding.task != "none"), recalled=recalled)
    reader = hydra_source.object_of("corpus", node).for_model(told)
    found = reader.read(vocabulary=predictor.vocabulary)
    warn_of_others(run, found)
    return found, partial(texts_of, reader)


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
