"""`plugsamp evaluate`: how well a saved model predicts documents with known responses."""

from __future__ import annotations

import contextlib
import logging
import warnings
from dataclasses import dataclass
from pathlib import Path

from omegaconf import DictConfig

from plugsamp.commands import saved
from plugsamp.commands.command import Command
from plugsamp.commands.settings import settings_of
from plugsamp.errors import InputError
from plugsamp.evaluation import evaluate
from plugsamp.runfolder import write_json

log = logging.getLogger(__name__)


@dataclass
class Settings:
    """The options and their types; the values come from conf/evaluate.yaml."""

    model: str
    part: str
    out: str | None
    overwrite: bool
    seed: int | None
    predict: dict
    data_dir: str


def task(config: DictConfig) -> float | None:
    from hydra.core.hydra_config import HydraConfig

    settings = settings_of(Settings, config)
    passes = saved.Passes.of(settings.predict)
    with contextlib.chdir(HydraConfig.get().runtime.cwd), warnings.catch_warnings():
        warnings.showwarning = lambda message, *rest, **more: log.warning("%s", message)
        out = None if settings.out is None else Path(settings.out)
        if out is not None and out.exists() and not settings.overwrite:
            raise InputError("the file is there already; overwrite=true replaces it", file=out)
        predictor = saved.load(settings.model, passes, settings.seed)
        parts = saved.documents(config, predictor, settings.part, need_responses=True)
        supervised = predictor.coding.task != "none"
        measures, main = {}, None
        for name, corpus in parts.items():
            if supervised and corpus.responses is None:
                raise ValueError(
                    "the documents have no responses to compare with; plugsamp predict needs none"
                )
            found = evaluate(predictor, corpus, held_out=True)
            measures[name] = {"documents": corpus.n_documents, **found.measures}
            main = found.main
            for measure, value in measures[name].items():
                shown = f"{value:.4f}" if isinstance(value, float) else value
                print(f"{name:6} {measure.replace('_', ' '):24} {shown}")
        if out is not None:
            write_json(out, measures)
    return main


USAGE = """\
plugsamp evaluate model=FOLDER corpus=FORMAT corpus.path=FILE [OPTION=VALUE ...]

Predict documents with a saved model and compare with their responses; of a model without responses, the
held-out log-likelihood of their words. Prints the measures, and writes them as JSON with out=FILE."""

EXAMPLES = """\
  plugsamp evaluate model=run corpus=jsonl corpus.path=test.jsonl
  plugsamp evaluate model=run corpus=csv corpus.path=all.csv part=all out=measures.json"""

COMMAND = Command("evaluate", "evaluate", task, USAGE, EXAMPLES)
main = COMMAND.main
