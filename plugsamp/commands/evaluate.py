"""`plugsamp evaluate`: how well a saved model predicts documents with known responses."""

from __future__ import annotations

import contextlib
import logging
from dataclasses import dataclass
from pathlib import Path

from omegaconf import DictConfig

from plugsamp.brief import clipped, one_line
from plugsamp.checks import n_jobs_of
from plugsamp.commands import saved
from plugsamp.commands.command import Command
from plugsamp.commands.settings import settings_of
from plugsamp.commands.targets import target
from plugsamp.commands.wording import warnings_to
from plugsamp.files import csv_files
from plugsamp.files.whole import complete, write_json
from plugsamp.prediction.by_output import ByOutput, by_output
from plugsamp.prediction.evaluation import evaluate
from plugsamp.system import cores

log = logging.getLogger(__name__)

#: Outputs and kinds of mistakes on the terminal.
SHOWN, MISTAKES = 20, 5

#: Tables that are written beside the measures.
BESIDE = ("scores", "confusion", "coverage", "calibration")


@dataclass
class Settings:
    """The options and their types; the values come from conf/evaluate.yaml."""

    model: str
    part: str
    out: str | None
    bom: bool
    overwrite: bool
    seed: int | None
    n_jobs: int
    predict: dict
    data_dir: str


def task(config: DictConfig) -> float | None:
    from hydra.core.hydra_config import HydraConfig

    settings = settings_of(Settings, config)
    passes = saved.Passes.of(settings.predict)
    threads = cores.threads(n_jobs_of(settings.n_jobs))
    with contextlib.chdir(HydraConfig.get().runtime.cwd), warnings_to(log), threads:
        files = {} if settings.out is None else _files(settings.out, settings.overwrite)
        predictor = saved.load(settings.model, passes, settings.seed)
        parts = saved.documents(config, predictor, settings.part, True, HydraConfig.get().overrides.task)
        supervised = predictor.coding.task != "none"
        measures, main, tables = {}, None, {}
        further: dict[str, dict] = {}
        for name, corpus in parts.items():
            if supervised and corpus.responses is None:
                raise ValueError(
                    "the documents have no responses to compare with; plugsamp predict needs none"
                )
            found = evaluate(predictor, corpus, held_out=True)
            measures[name] = {"documents": corpus.n_documents, **found.measures}
            main = found.main
            for measure, value in measures[name].items():
                shown = f"{value:z.4f}" if isinstance(value, float) else "-" if value is None else value
                print(f"{name:6} {one_line(measure.replace('_', ' ')):24} {shown}")
            if supervised:
                tables[name] = by_output(found.prediction, corpus.responses)
                for measure, kind in (("coverage_90", "coverage"), ("calibration_error", "calibration")):
                    if found.measures.get(measure) is not None:
                        further.setdefault(kind, {})[name] = getattr(found, kind)()
        tables = {name: table for name, table in tables.items() if table is not None}
        for name, table in tables.items():
            print("\n".join(["", *_shown(name, table, bool(files))]))
        for one in further.values():
            for name, table in one.items():
                print(f"\n{name} documents, {table}")
        if files:
            write_json(files["json"], measures)
            found = _tables(tables) | {kind: _joined(one) for kind, one in further.items()}
            for kind in BESIDE:
                if kind not in found:  # what is there is of the measures that were replaced
                    files[kind].unlink(missing_ok=True)
                    continue
                with complete(files[kind], "backslashreplace", newline="", bom=settings.bom) as file:
                    csv_files.write(file, *found[kind])
    return main


def _files(out: str, overwrite: bool) -> dict[str, Path]:
    """The measures as JSON, and beside them the tables."""
    if not out.lower().endswith(".json") and Path(out).suffix.lower() in (".csv", ".tsv", ".txt"):
        stem = Path(out).with_suffix("")
        raise ValueError(
            f"out={out} would be JSON; out={stem}.json has {stem.name}.scores.csv and "
            f"{stem.name}.confusion.csv beside it"
        )
    path = target("out", out, overwrite)
    stem = path.name.removesuffix(".json")
    beside = {kind: target("out", path.with_name(f"{stem}.{kind}.csv"), overwrite) for kind in BESIDE}
    return {"json": path, **beside}


def _tables(tables: dict[str, ByOutput]) -> dict[str, tuple[list, list]]:
    """Columns and rows of the tables that there are; a first column says of which documents."""
    first = next(iter(tables.values()), None)
    if first is None:
        return {}
    found = {
        "scores": (
            ["part", *first.columns],
            [[part, *map(_cell, row)] for part, table in tables.items() for row in table.rows],
        )
    }
    if first.confusion:
        # Labels that only one part has have a column in the other too.
        names = list(dict.fromkeys(c for table in tables.values() for c in table.confusion_columns[1:]))
        rows = []
        for part, table in tables.items():
            for name, *row in table.confusion:
                counts = dict(zip(table.confusion_columns[1:], row, strict=True))
                rows.append([part, name, *(counts.get(c, 0) for c in names)])
        owner = first.confusion_columns[0]
        if owner == "true":  # a class may be called what a column is
            names = [f"predicted {name}" for name in names]
        found["confusion"] = (["part", owner, *names], rows)
    return found


def _joined(tables: dict) -> tuple[list, list]:
    """Columns and rows of the tables of the parts, as of `_tables`."""
    rows = [[part, *map(_cell, row)] for part, table in tables.items() for row in table.rows]
    return ["part", *next(iter(tables.values())).columns], rows


def _cell(value):
    return "" if value is None else repr(value) if isinstance(value, float) else value


def _shown(part: str, table: ByOutput, written: bool) -> list[str]:
    """The scores of the most frequent outputs, and the most frequent mistakes."""
    place = table.columns.index("support")
    rows = sorted(table.rows, key=lambda row: -row[place])[:SHOWN]
    width = min(max(len(one_line(row[0])) for row in table.rows), 40)
    head = [f"{name:>9}" for name in table.columns[1:]]
    lines = [" ".join([f"{part:6} {table.columns[0]:{max(width, 8)}}", *head])]
    for name, *values in rows:
        cells = [f"{v:9.3f}" if isinstance(v, float) else f"{'-' if v is None else v:>9}" for v in values]
        lines.append(" ".join([f"{'':6} {clipped(one_line(name), width):{max(width, 8)}}", *cells]))
    if len(rows) < len(table.rows):
        where = "all are in the file of scores" if written else "out=FILE.json writes all"
        lines.append(f"{'':6} ... {len(table.rows) - len(rows)} more; {where}")
    for n, true, predicted in table.mistakes()[:MISTAKES]:
        names = [clipped(one_line(name), 40) for name in (true, predicted)]
        lines.append(f"{'':6} {n} of {names[0]} taken for {names[1]}")
    return lines


USAGE = """\
plugsamp evaluate model=FOLDER corpus=FORMAT corpus.path=FILE [OPTION=VALUE ...]

Predict documents with a saved model and compare with their responses; of a model without responses, the
held-out log-likelihood of their words. Prints the measures and those of each class, label or response, and
with out=NAME.json writes them: the measures as JSON, NAME.scores.csv with precision, recall, F1 and support
of every class (R2, RMSE and MAE of real responses), NAME.confusion.csv, a row a true class and a column
"predicted CLASS" of each; of intervals NAME.coverage.csv, how many hold the response, by fifths of the
predictions; of probabilities NAME.calibration.csv, how often predictions of a probability were right."""

EXAMPLES = """\
  plugsamp evaluate model=run corpus=jsonl corpus.path=test.jsonl
  plugsamp evaluate model=run corpus=csv corpus.path=all.csv part=all out=measures.json"""

COMMAND = Command("evaluate", "evaluate", task, USAGE, EXAMPLES)
main = COMMAND.main
