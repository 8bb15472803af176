"""`plugsamp predict`: a saved model's answer to new documents, as a table."""

from __future__ import annotations

import contextlib
import logging
import sys
from dataclasses import dataclass
from pathlib import Path

from omegaconf import DictConfig

from plugsamp.commands import saved
from plugsamp.commands.command import Command
from plugsamp.commands.settings import settings_of
from plugsamp.commands.targets import target
from plugsamp.commands.wording import warnings_to
from plugsamp.files.whole import complete
from plugsamp.fitting.runfolder import prediction_rows, write_table
from plugsamp.prediction.evaluation import Evaluation
from plugsamp.report import names
from plugsamp.report.members import naming

log = logging.getLogger(__name__)


@dataclass
class Settings:
    """The options and their types; the values come from conf/predict.yaml."""

    model: str
    part: str
    out: str
    proportions: bool
    names: str | None
    bom: bool
    overwrite: bool
    seed: int | None
    predict: dict
    data_dir: str


def task(config: DictConfig) -> None:
    from hydra.core.hydra_config import HydraConfig

    settings = settings_of(Settings, config)
    passes = saved.Passes.of(settings.predict)
    with contextlib.chdir(HydraConfig.get().runtime.cwd), warnings_to(log):
        out = None if settings.out == "-" else target("out", settings.out, settings.overwrite)
        predictor = saved.load(settings.model, passes, settings.seed)
        parts = saved.documents(config, predictor, settings.part, False, HydraConfig.get().overrides.task)
        topics = naming(predictor)
        named = _topic_names(settings, topics) if settings.proportions else {}
        columns, rows, blind, empty, unknown = None, [], 0, 0, 0
        for corpus in parts.values():
            prediction = predictor.predict(corpus)
            truth = corpus.responses if prediction.labels is not None else None
            table = Evaluation(prediction, truth, {}, None).table()
            if settings.proportions:
                others, _ = prediction_rows(**table)
                table |= {"theta": prediction.theta, "theta_names": names.columns(named, topics.keys, others)}
            found, more = prediction_rows(**table)
            if columns is None:
                columns = found
            # One part may have responses and the other none.
            rows += [dict(zip(found, row, strict=True)) for row in more]
            columns += [name for name in found if name not in columns]
            without = prediction.n_known == 0
            blind += int(without.sum())
            empty += int((without & (prediction.n_unknown == 0)).sum())
            unknown += int(prediction.n_unknown.sum())
        table = ([row.get(name, "") for name in columns] for row in rows)
        if out is None:
            sys.stdout.write("\ufeff" * settings.bom)
            write_table(sys.stdout, columns, table)
            sys.stdout.flush()
        else:
            with complete(out, errors="backslashreplace", newline="", bom=settings.bom) as file:
                write_table(file, columns, table)
            print(f"{len(rows):,} documents in {out}")
        if unknown:
            log.info("%s tokens are no words of the model and are left out (n_unknown)", f"{unknown:,}")
        if blind and not (blind == len(rows) and unknown):  # of all of them `predict` has told
            of_them = f", {empty:,} of them no word at all" if empty else ""
            log.warning("%s documents have no word of the model (n_known = 0)%s", f"{blind:,}", of_them)


def _topic_names(settings: Settings, topics: names.Naming) -> dict[str, str]:
    """The names that were given to topics: in the file that is asked for, or in the run's own."""
    if settings.names is not None:
        path = Path(settings.names)
    else:
        path = saved.run_folder(settings.model) / names.FILE
        if not path.is_file():
            return {}
    return names.read(path, topics)


USAGE = """\
plugsamp predict model=FOLDER corpus=FORMAT corpus.path=FILE [OPTION=VALUE ...]

Predict documents with a saved model: a row a document in their order, with its id, the response where the
file has one, the predicted class or value, probabilities or scores, and how many of its words the model
knows. A document's row depends on the model, the document and the seed, not on the others. With
proportions=true its topics' shares too, in columns that are called by the names given to topics."""

EXAMPLES = """\
  plugsamp predict model=outputs/2026-01-31/12-00-00 corpus=lines corpus.path=new.txt
  plugsamp predict model=run corpus=csv corpus.path=new.csv corpus.text=body proportions=true out=answers.csv
  plugsamp predict model=run corpus=jsonl corpus.path=new.jsonl out=- | head"""

COMMAND = Command("predict", "predict", task, USAGE, EXAMPLES)
main = COMMAND.main
