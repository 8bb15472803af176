"""What `plugsamp fit` does once the configuration is objects: fit, evaluate, write, show."""

from __future__ import annotations

import logging
import shutil
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from plugsamp import exchange, report
from plugsamp.backends.base import Backend
from plugsamp.brief import one_line
from plugsamp.checkpoint.generations import KIND as CHECKPOINT_KIND
from plugsamp.checkpoint.generations import Generations
from plugsamp.checkpoint.options import Checkpoints
from plugsamp.checks import whole
from plugsamp.commands import sweeping
from plugsamp.commands.reference import count_on_reference, read_reference
from plugsamp.diagnostics.summary import plain_table, rich_table
from plugsamp.errors import Interrupted, RunInterrupted
from plugsamp.exchange import check_netcdf, write_netcdf
from plugsamp.files.linked import link_equal
from plugsamp.files.storage import StorageError
from plugsamp.files.whole import write_json
from plugsamp.fitting.fit import check_scheme, fit, kept_sweeps
from plugsamp.fitting.keeping import check_keep
from plugsamp.fitting.progress import Progress
from plugsamp.fitting.runfolder import CHECKPOINT, CONFIG, TraceFile
from plugsamp.fitting.second_step import SecondStep
from plugsamp.kernels.base import Kernel
from plugsamp.losses.coding import is_missing
from plugsamp.losses.none import NoLoss
from plugsamp.model import Model
from plugsamp.options import check_kept
from plugsamp.posterior import files
from plugsamp.posterior.draws import MOST_PASSES
from plugsamp.posterior.posterior import Posterior
from plugsamp.posterior.rankings import check_ranking
from plugsamp.posterior.record import record, references
from plugsamp.posterior.saved import save_model
from plugsamp.posterior.stored import KIND as MODEL_KIND
from plugsamp.posterior.stored import check_model
from plugsamp.posterior.summary import chosen as largest_topics
from plugsamp.posterior.summary import outcome, rows_of
from plugsamp.prediction.thresholds import check_decide
from plugsamp.readers.base import Reader, Wanted
from plugsamp.readers.texts import texts_of
from plugsamp.registry import require
from plugsamp.regression.weights import check_update
from plugsamp.sweeps.earlier import checkpoints
from plugsamp.sweeps.possible import responses_of

log = logging.getLogger(__name__)

#: Topics shown on the terminal; topics.txt has all.
SHOWN = 25


def check(settings, chosen: Mapping) -> Model:
    """The model, and whatever else can be wrong before the corpus is read.

    Raises
    ------
    ValueError, TypeError
    """
    kept_sweeps(settings.sweeps, settings.burn_in, settings.thin)
    if settings.seed is not None:
        whole("seed", settings.seed, most=None)
    check_update(settings.weight_update, settings.weight_passes)
    check_decide(settings.decide)
    check_keep(settings.keep_draws)
    check_scheme(settings.supervised, settings.multiclass, settings.chains)
    if settings.supervised != "two_step" and settings.second_step != SecondStep():
        raise ValueError("options of second_step are for supervised=two_step, which is not chosen")
    whole("top_words", settings.top_words, 1)
    check_ranking(settings.topic_words, "topic_words")
    whole("predict.passes", settings.predict.passes)
    whole("predict.restarts", settings.predict.restarts, 1)
    if not 1 <= settings.predict.burn_in < settings.predict.passes:
        raise ValueError(
            f"predict.burn_in must be 1 or more and below predict.passes={settings.predict.passes}, "
            f"not {settings.predict.burn_in}"
        )
    passes, restarts = settings.predict.passes, settings.predict.restarts
    if passes * restarts > MOST_PASSES:
        raise ValueError(
            f"predict.passes={passes} times predict.restarts={restarts} are over {MOST_PASSES:,} passes over "
            "each document"
        )
    if settings.netcdf:
        if settings.multiclass != "multitask":
            raise ValueError(
                "netcdf=true is for chains of one posterior, and the models of "
                f"multiclass={settings.multiclass} have posteriors of their own"
            )
        try:
            check_netcdf()
        except ImportError as error:
            raise ValueError(f"netcdf=true: {error}") from None
    require("corpus", chosen["corpus"], Reader, "readers")
    require("kernel", chosen["kernel"], Kernel, "kernels")
    require("backend", chosen["backend"], Backend, "backends")
    parts = {name: chosen[name] for name in ("loss", "weights", "topics")}
    for part in (*parts.values(), chosen["kernel"], chosen["backend"]):
        check_kept(part)
    model = Model(**settings.model_options(), **parts)
    model = model.with_words() if settings.words else model
    if settings.save_model:
        try:
            check_model(model)
        except StorageError as error:
            raise StorageError(f"{error}; save_model=false does without") from None
    return model


def run(settings, chosen: Mapping, model: Model, folder: Path, resumed=None) -> dict:
    """Read, fit, evaluate, write the run folder and show the outcome; what metrics.json holds is returned.

    metrics.json is written last: a folder that has it is complete. Where the run goes on from a checkpoint,
    `resumed` is called once that proves to be its own.
    """
    reader = chosen["corpus"].for_model(wanted(settings, model.loss))
    split = reader.read()
    train, test = split
    validation = getattr(split, "validation", None)  # a plugin may return a plain pair
    log.info("%s", described(train, test, validation))
    if test is None:
        how = "corpus.test_size=0.2 keeps out a fifth" if hasattr(reader, "test_size") else "see the reader"
        log.info("no test documents were kept out, so only training documents are scored; %s", how)
    if train.responses is None and not isinstance(model.loss, NoLoss):
        where = next((o for o in ("label", "labels_path", "response") if hasattr(reader, o)), None)
        says = f", or say where the labels are, corpus.{where}=..." if where else ""
        raise ValueError(f"the documents have no labels; choose loss=none{says}")
    if sweeping.current() is not None and (without := lacking(settings.metric, model.loss, split)):
        raise ValueError(without)
    reference = settings.reference and read_reference(chosen["corpus"], settings.reference, train.vocabulary)
    posterior = _fit(settings, chosen, model, split, folder, resumed).with_options(**vars(settings.predict))
    if reference:
        count_on_reference(posterior, reference)
    if settings.save_model:
        overwrite = settings.overwrite or resumed is not None
        save_model(folder / "model", posterior, model, overwrite=overwrite)
        newest = [found.paths()[-1] for found in checkpoints(folder) if found]
        link_equal(folder / "model", MODEL_KIND, newest, CHECKPOINT_KIND)
    posterior.validation = validation
    if validation is not None:
        posterior.evaluate(validation, held_out=True)
    trained = posterior.evaluate(train)
    tested = posterior.evaluate(test, held_out=True) if test is not None else None
    metrics = record(posterior, trained, tested)
    kernel = chosen["kernel"] if posterior.chain is None else posterior.chain.kernel
    metrics["references"] = references(model, kernel)
    if tested is not None:
        tested.table().to_csv(folder / "predictions.csv")
    files.weights(posterior).to_csv(folder / "weights.csv")
    files.topics(posterior, settings.top_words, settings.topic_words).to_csv(folder / "topics.csv")
    if settings.netcdf:
        write_netcdf(posterior, folder / exchange.FILE)
    listed = rows_of(posterior, settings.top_words, settings.topic_words)
    text = "\n\n".join(f"{one_line(title)}\n{plain_table(rows, 160)}".lstrip("\n") for title, rows in listed)
    (folder / "topics.txt").write_text(text + "\n", encoding="utf-8", errors="replace")
    if settings.report:
        texts = partial(texts_of, reader)
        report.write(folder, metrics=metrics, posterior=posterior, train=train, test=test, texts=texts)
    write_json(folder / "metrics.json", metrics)
    if sweeping.current() is None:
        show(posterior, settings.top_words, settings.topic_words, folder)
    else:  # whose table comes at the end
        for line in outcome(posterior):
            log.info("%s", line)
    return metrics


def lacking(metric: str, loss, split) -> str | None:
    """What is wrong where a metric is of documents that there are not, or that have no responses."""
    part = metric.partition("_")[0]
    if loss.unsupervised or part not in ("test", "validation"):
        return None
    corpus = split[1] if part == "test" else getattr(split, "validation", None)  # plugins return plain pairs
    if corpus is not None and corpus.responses is not None and not is_missing(corpus.responses).all():
        return None
    without = "there are none" if corpus is None else "these have no responses"
    other = f"metric={metric.replace(part, 'train', 1)} is of the training documents"
    if part == "validation" and corpus is None:
        other = "corpus.validation_size=0.2 keeps out a fifth of the training documents"
    return f"metric={metric} is of {part} documents, and {without}; {other}"


def wanted(settings, loss) -> Wanted:
    """What the reader should know of the model."""
    covariates = settings.covariates
    responses = "none" if loss.unsupervised else responses_of(loss)
    return Wanted(responses, covariates.numeric, covariates.categorical)


def _fit(settings, chosen, model, split, folder: Path, resumed) -> Posterior:
    train, validation = split.train, getattr(split, "validation", None)
    n_tokens = train.n_tokens
    sweep = sweeping.current()
    # Chains of their own report when they are done, and are counted as they are.
    one = settings.multiclass == "multitask" and settings.chains == 1
    shared = sweep is not None and sweep.elsewhere  # one terminal for several runs
    bar = None if one and not shared else False
    with TraceFile(folder / "trace.csv") as trace, Progress(settings.sweeps, n_tokens, bar) as progress:
        observers = [trace, progress] if one else [trace]
        if resumed is not None:
            observers.insert(0, _Once(resumed))
        try:
            return fit(
                train,
                model,
                chosen["kernel"],
                backend=chosen["backend"],
                seed=settings.seed,
                init=settings.start,
                sweeps=settings.sweeps,
                burn_in=settings.burn_in,
                thin=settings.thin,
                keep_draws=settings.keep_draws,
                weight_update=settings.weight_update,
                weight_passes=settings.weight_passes,
                covariates=settings.covariates,
                supervised=settings.supervised,
                second_step=settings.second_step,
                multiclass=settings.multiclass,
                chains=settings.chains,
                n_jobs=settings.n_jobs,
                decide=settings.decide,
                validation=validation,
                observers=observers,
                checkpoint=Checkpoints(folder / CHECKPOINT, **vars(settings.checkpoint)),
                resume=resumed is not None,
            )
        except Interrupted as interrupt:
            raise interrupted(interrupt, folder, one) from None
        except ArithmeticError:  # it would come to the same again
            raise
        except Exception as error:
            # What is wrong before a row is a mistake, unless a worker died or memory ended.
            if trace.begun or isinstance(error, ChildProcessError | MemoryError):
                _tell_what_stands(folder)
            raise


def interrupted(interrupt: KeyboardInterrupt, folder: Path, one: bool = True) -> RunInterrupted:
    """The interrupt of a run with what stands of it and how it goes on; `one`: it is of one chain."""
    stands = _stands(folder)
    if one and getattr(interrupt, "sweep", 0):
        message = str(interrupt)
    elif not stands:
        message = "interrupted; there is no checkpoint yet"
        if (folder / CONFIG).exists():
            message += f"\nplugsamp resume run={folder} begins the run again"
    else:
        message = f"interrupted; {'' if one else 'of every model '}the last checkpoint stands"
    if stands:
        message += f"\nplugsamp resume run={folder} goes on from there"
    return RunInterrupted(message, getattr(interrupt, "signal", 2))


def _stands(folder: Path) -> bool:
    """Whether there is a checkpoint."""
    return any(Generations(path) for path in (folder / CHECKPOINT, *folder.glob(f"{CHECKPOINT}/model-*")))


def _tell_what_stands(folder: Path) -> None:
    """Say how a run that has failed can go on."""
    if _stands(folder):
        log.error(
            "the run has failed; plugsamp resume run=%s goes on from its last checkpoint once the cause is "
            "put right", folder,
        )  # fmt: skip


class _Once:
    """An observer that calls a function when a run has taken up its checkpoint."""

    def __init__(self, function):
        self._function, self._called = function, False

    def __call__(self, row) -> None:
        if not self._called:
            self._called = True
            self._function()

    def resumed(self, rows) -> None:
        self(None)


def described(train, test, validation=None) -> str:
    text = f"{train.n_documents:,} documents, {train.n_words:,} words, {train.n_tokens:,} tokens"
    if validation is not None:
        text += f"; validation {validation.n_documents:,} documents"
    if test is not None:
        text += f"; test {test.n_documents:,} documents"
    return text


def show(posterior, n_words: int, by: str, folder: Path) -> None:
    """The outcome on standard output: metrics, then the largest topics, or the strongest of each model."""
    print("\n".join([*outcome(posterior), ""]))
    width = max(shutil.get_terminal_size((100, 24)).columns, 40)  # a narrower table says nothing
    largest, left = largest_topics(posterior, n_words, by)
    if sys.stdout.isatty():
        from rich.console import Console

        Console().print(rich_table(largest, width))
    else:
        print(plain_table(largest, width))
    if left:
        print(f"... {left} more in {folder / 'topics.txt'}")
    print(f"\nrun folder: {folder}")
