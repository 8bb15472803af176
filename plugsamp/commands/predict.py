"""`plugsamp predict`: a saved model's answer to new documents, as a table."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

import numpy as np
from omegaconf import DictConfig

from plugsamp.checks import n_jobs_of, whole
from plugsamp.commands import saved
from plugsamp.commands.command import Command
from plugsamp.commands.settings import settings_of
from plugsamp.commands.targets import target
from plugsamp.commands.wording import warnings_to
from plugsamp.corpus import Corpus
from plugsamp.files.table_files import TableFile
from plugsamp.posterior import names
from plugsamp.posterior.parts import naming
from plugsamp.prediction.matching import warn_of_strangers
from plugsamp.prediction.stream import corpora, predicted
from plugsamp.prediction.table import prediction_table
from plugsamp.readers.files import STANDARD_INPUT
from plugsamp.system import cores

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
    batch: int
    n_jobs: int
    predict: dict
    data_dir: str


def task(config: DictConfig) -> None:
    from hydra.core.hydra_config import HydraConfig

    settings = settings_of(Settings, config)
    passes = saved.Passes.of(settings.predict)
    batch, n_jobs = whole("batch", settings.batch, 1), n_jobs_of(settings.n_jobs)
    threads = cores.threads(n_jobs)
    with contextlib.chdir(HydraConfig.get().runtime.cwd), warnings_to(log), _once(), threads:
        out = None if settings.out == "-" else target("out", settings.out, settings.overwrite)
        predictor = saved.load(settings.model, passes, settings.seed)
        given = HydraConfig.get().overrides.task
        reader = saved.reader_of(config, predictor, False, given, settings.part)
        topics = naming(predictor)
        named = _topic_names(settings, topics) if settings.proportions else {}
        topic_names = tuple(named.get(key, "") for key in topics.keys)
        identity = _identity(settings, predictor, reader, named)
        with TableFile(out and str(out), identity, settings.bom) as file:
            if file.done:
                log.info("%s: going on behind the %s documents that it has", out, f"{file.done:,}")
            documents = _skipped(_documents(reader, predictor, settings.part, batch), file.done)
            totals = Totals(file.done)
            for corpus, prediction in predicted(predictor, documents, n_jobs):
                table, texts = _table(
                    corpus, replace(prediction, topic_names=topic_names), settings.proportions
                )
                file.write(table.columns, table.rows, texts)
                totals.add(prediction)
        if out is not None:
            print(f"{totals.n_documents:,} documents in {out}")
        totals.tell(predictor)


@dataclass
class Totals:
    """What is told of all documents at the end.

    Attributes
    ----------
    n_documents : int
        All of them; the others count those that were predicted by this run.
    """

    n_documents: int = 0
    new: int = 0
    blind: int = 0
    empty: int = 0
    known: int = 0
    unknown: int = 0

    def add(self, prediction) -> None:
        without = prediction.n_known == 0
        self.n_documents += len(without)
        self.new += len(without)
        self.blind += int(without.sum())
        self.empty += int((without & (prediction.n_unknown == 0)).sum())
        self.known += int(prediction.n_known.sum())
        self.unknown += int(prediction.n_unknown.sum())

    def tell(self, predictor) -> None:
        words = predictor.vocabulary
        warn_of_strangers(np.array([self.known]), np.array([self.unknown]), words, words)
        if self.unknown:
            log.info("%s tokens are no words of the model and are left out (n_unknown)", f"{self.unknown:,}")
        if self.blind and not (self.blind == self.new and self.unknown):
            of_them = f", {self.empty:,} of them no word at all" if self.empty else ""
            log.warning("%s documents have no word of the model (n_known = 0)%s", f"{self.blind:,}", of_them)


@contextlib.contextmanager
def _once():
    """Show a warning once, whatever numbers are in it: every batch may have it."""
    shown, show = set(), warnings.showwarning

    def first(message, *rest, **more):
        key = re.sub(r"\d+", "#", str(message))
        if key not in shown:
            shown.add(key)
            show(message, *rest, **more)

    with warnings.catch_warnings():
        warnings.showwarning = first
        yield


def _documents(reader, predictor, part: str, batch: int) -> Iterator[Corpus]:
    """Yield the documents in batches: of a divided corpus those for training, then those for testing."""
    said: set[str] = set()

    def warn(message: str, error) -> None:
        if str(error) not in said:
            said.add(str(error))
            log.warning(message, error)

    for corpus in _batches(reader, predictor.vocabulary, "test" if part == "auto" else part, batch):
        yield saved.matched(corpus, predictor.coding, False, warn)


def _batches(reader, vocabulary, part: str, batch: int) -> Iterator[Corpus]:
    if not getattr(reader, "can_stream", False):
        split = reader.read(vocabulary=vocabulary)
        if split.test is None and part != "all":
            raise ValueError(saved.UNDIVIDED.format(part))
        for name, corpus in zip(("train", "test"), split, strict=True):
            if corpus is not None and part in ("all", name):
                yield from corpora(corpus, vocabulary, batch)
        return
    if reader.second_path is not None:
        for name, path in (("train", reader.path), ("test", reader.second_path)):
            if part in ("all", name):
                yield from reader.batches(vocabulary, batch, path)
        return
    batches = reader.batches(vocabulary, batch)
    if part == "all" and reader.path == STANDARD_INPUT:  # which cannot be read twice
        yield from batches
        return
    for corpus in batches.part(part == "test"):
        if part != "all" and not batches.divided:
            raise ValueError(saved.UNDIVIDED.format(part))
        yield corpus
    if part == "all" and batches.divided:
        yield from batches.part(True)


def _skipped(documents: Iterator[Corpus], n: int) -> Iterator[Corpus]:
    """Leave out the first n documents."""
    for corpus in documents:
        left_out = min(n, corpus.n_documents)
        n -= left_out
        if left_out < corpus.n_documents:
            yield corpus.take(np.arange(left_out, corpus.n_documents)) if left_out else corpus


def _table(corpus: Corpus, prediction, proportions: bool):
    """Return the table of a batch, and the columns that are text."""
    truth = corpus.responses if prediction.labels is not None else None
    texts = ["id"]
    if prediction.coding.task in ("binary", "multiclass"):
        texts += ["true", "predicted"]
    return prediction_table(prediction, truth, proportions), texts


def _identity(settings: Settings, predictor, reader, named) -> str | None:
    """Return a digest of all that the predictions depend on, None where the documents come but once."""
    files = []
    for path in (getattr(reader, "path", None), getattr(reader, "second_path", None)):
        if path is None:
            continue
        if str(path) == STANDARD_INPUT or not Path(path).is_file():
            return None
        stat = Path(path).stat()
        files.append([str(Path(path).absolute()), stat.st_size, stat.st_mtime_ns])
    options = [settings.part, settings.seed, settings.predict, settings.proportions, settings.bom, named]
    content = [version("plugsamp"), predictor.digest, repr(reader), files, options]
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


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
proportions=true its topics' shares too, in columns that are called by the names given to topics.

JSON lines, tables and lines are read, predicted and written in batches, so that memory does not grow with
the number of documents. The name of the file says what is written: .csv, .jsonl or .parquet (which needs
pyarrow), with .gz, .bz2 or .xz behind it compressed. Where the command was interrupted, the same command
goes on behind the rows that it has written. A path of - is standard input, out=- standard output (CSV)."""

EXAMPLES = """\
  plugsamp predict model=outputs/2026-01-31/12-00-00 corpus=lines corpus.path=new.txt
  plugsamp predict model=run corpus=csv corpus.path=new.csv corpus.text=body proportions=true out=answers.csv
  plugsamp predict model=run corpus=jsonl corpus.path=new.jsonl.gz out=answers.jsonl.gz n_jobs=2
  plugsamp predict model=run corpus=jsonl corpus.path=- out=- < new.jsonl | head"""

COMMAND = Command("predict", "predict", task, USAGE, EXAMPLES)
main = COMMAND.main
