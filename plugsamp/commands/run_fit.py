"""What `plugsamp fit` does once the configuration is objects: fit, evaluate, write, show."""

from __future__ import annotations

import logging
import platform
import shutil
import sys
from collections.abc import Mapping
from functools import partial
from importlib.metadata import version
from pathlib import Path

import numpy as np

from plugsamp import exchange, report
from plugsamp.backends.base import Backend
from plugsamp.brief import one_line
from plugsamp.checkpoint.generations import Generations
from plugsamp.checkpoint.options import Checkpoints
from plugsamp.checks import whole
from plugsamp.commands import sweeping
from plugsamp.diagnostics import sparsity, topic_table
from plugsamp.diagnostics.agreement import agreement
from plugsamp.diagnostics.summary import plain_table, rich_table, topics
from plugsamp.errors import Interrupted, RunInterrupted
from plugsamp.exchange import check_netcdf, write_netcdf
from plugsamp.exchange.chains import shortened
from plugsamp.files.storage import StorageError
from plugsamp.files.whole import write_json
from plugsamp.fitting.fit import Fit, check_scheme, fit, kept_sweeps
from plugsamp.fitting.progress import Progress, duration, quantity
from plugsamp.fitting.runfolder import (
    CHECKPOINT,
    CONFIG,
    TraceFile,
    write_predictions,
    write_topics,
    write_weights,
)
from plugsamp.fitting.second_step import SecondStep
from plugsamp.fitting.separate import SeparateFit
from plugsamp.kernels.base import Kernel
from plugsamp.losses.coding import is_missing
from plugsamp.losses.none import NoLoss
from plugsamp.model import Model
from plugsamp.options import check_kept
from plugsamp.posterior import quality
from plugsamp.posterior.rankings import check_ranking, top_words, word_marginal
from plugsamp.prediction.evaluation import evaluate
from plugsamp.prediction.inference import MOST_PASSES
from plugsamp.prediction.models import check_model, save_model
from plugsamp.readers.base import Reader, Wanted
from plugsamp.references import entries_of, parts_of
from plugsamp.registry import require
from plugsamp.regression.weights import check_update
from plugsamp.report.members import Member, members_of
from plugsamp.sweeps.possible import responses_of
from plugsamp.system import dispatch

log = logging.getLogger(__name__)

#: Covariates in weights.csv.
COVARIATES = 1000

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
    check_scheme(settings.supervised, settings.multiclass, settings.chains)
    if settings.supervised != "two_step" and settings.second_step != SecondStep():
        raise ValueError("options of second_step are for supervised=two_step, which is not chosen")
    whole("top_words", settings.top_words, 1)
    check_ranking(settings.topic_words)
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
    reader = chosen["corpus"].for_model(wanted(settings, model))
    train, test = reader.read()
    log.info("%s", described(train, test))
    if test is None:
        how = "corpus.test_size=0.2 keeps out a fifth" if hasattr(reader, "test_size") else "see the reader"
        log.info("no test documents were kept out, so only training documents are scored; %s", how)
    if train.responses is None and not isinstance(model.loss, NoLoss):
        where = next((o for o in ("label", "labels_path", "response") if hasattr(reader, o)), None)
        says = f", or say where the labels are, corpus.{where}=..." if where else ""
        raise ValueError(f"the documents have no labels; choose loss=none{says}")
    _check_test(settings.metric, model, test)
    result = _fit(settings, chosen, model, train, folder, resumed)
    predictor = result.predictor.with_options(**vars(settings.predict))
    if settings.save_model:
        save_model(folder / "model", predictor, model, overwrite=settings.overwrite or resumed is not None)
    trained = evaluate(predictor, train)
    tested = evaluate(predictor, test, held_out=True) if test is not None else None
    metrics = metrics_of(settings, train, result, trained, tested)
    kernel = result.chain.kernel if isinstance(result, Fit) else chosen["kernel"]
    metrics["references"] = entries_of(parts_of(model, kernel))
    if tested is not None:
        write_predictions(folder / "predictions.csv", **tested.table())
    members = members_of(predictor)
    owner = None if isinstance(result, Fit) else "chain" if settings.chains > 1 else "task"
    write_weights(folder / "weights.csv", map(weight_rows, members), owner)
    tables = _topic_tables(result, predictor, train)
    rows = map(partial(topic_rows, settings.top_words, settings.topic_words), members, tables)
    write_topics(folder / "topics.csv", rows, owner)
    metrics["topic_quality"] = quality.means(tables)
    if settings.netcdf:
        write_netcdf(result, folder / exchange.FILE)
    listed = tables_of(result, predictor, settings.top_words, settings.topic_words)
    text = "\n\n".join(f"{one_line(title)}\n{plain_table(rows, 160)}".lstrip("\n") for title, rows in listed)
    (folder / "topics.txt").write_text(text + "\n", encoding="utf-8", errors="replace")
    if settings.report:
        parts = {"train": train, "test": test, "train_prediction": trained.prediction}
        report.write(folder, metrics=metrics, predictor=predictor, **parts)
    write_json(folder / "metrics.json", metrics)
    if sweeping.current() is None:
        show(result, trained, tested, listed, folder, metrics)
    else:  # whose table comes at the end
        for line in outcome(result, trained, tested, metrics):
            log.info("%s", line)
    return metrics


def _check_test(name: str, model: Model, test) -> None:
    """Say before a run of a sweep that what it is to be judged by needs other test documents."""
    if sweeping.current() is None or model.loss.unsupervised or not name.startswith("test_"):
        return
    if test is None or test.responses is None or is_missing(test.responses).all():
        lacking = "there are none" if test is None else "these have no responses"
        raise ValueError(
            f"metric={name} is of test documents, and {lacking}; metric={name.replace('test_', 'train_', 1)} "
            "is of the training documents"
        )


def _topic_tables(result: Fit | SeparateFit, predictor, train) -> list[dict]:
    """By model what is known of its topics."""
    if isinstance(result, SeparateFit):
        return result.topics
    return [topic_table(result.chain, predictor.phi, predictor.eta.mean(axis=0), train.counts())]


def topic_rows(n_words: int, by: str, member: Member, columns: dict) -> tuple[str, dict, list[list[str]]]:
    """What topics.csv has of a model."""
    predictor = member.predictor
    best = top_words(predictor.phi, n_words, by, word_marginal(predictor.phi, columns["tokens"]))
    words = [[predictor.vocabulary[w] for w in row] for row in best]
    return member.name, columns, words


def weight_rows(member: Member) -> tuple[str, list[str], list[str], np.ndarray]:
    """What weights.csv has of a model: of many covariates the strongest."""
    predictor, eta = member.predictor, member.eta
    n_topics, names = predictor.n_topics, predictor.covariate_names
    columns = [f"topic {k}" for k in range(n_topics)] + list(names) + ["intercept"] * predictor.intercept
    kept = np.arange(len(columns))
    if len(names) > COVARIATES and len(eta[0]):
        strength = np.abs(eta.mean(axis=0)).max(axis=0)
        weakest = np.argsort(-strength[n_topics : n_topics + len(names)], kind="stable")[COVARIATES:]
        kept = np.delete(kept, n_topics + weakest)
    eta = eta[:, :, kept] if eta.shape[1] else eta
    return member.name, member.outputs, [columns[j] for j in kept], eta


def tables_of(result: Fit | SeparateFit, predictor, n_words: int, by: str) -> list[tuple[str, list]]:
    """(title, topics) of the model, or of every model of separate chains."""
    if isinstance(result, SeparateFit):
        members, codings, names = predictor.members, predictor.member_codings(), predictor.names
        totals = result.topic_totals
    else:
        members, codings, names = [predictor], [predictor.coding], [""]
        totals = [result.chain.counts.topic_totals]
    return [
        (name, topics(m.phi, n, m.eta.mean(axis=0), coding, m.vocabulary, n_words, by=by))
        for name, m, coding, n in zip(names, members, codings, totals, strict=True)
    ]


def wanted(settings, model: Model) -> Wanted:
    """What the reader should know of the model."""
    covariates = settings.covariates
    responses = "none" if model.loss.unsupervised else responses_of(model.loss)
    return Wanted(responses, covariates.numeric, covariates.categorical)


def _fit(settings, chosen, model, train, folder: Path, resumed) -> Fit | SeparateFit:
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
                weight_update=settings.weight_update,
                weight_passes=settings.weight_passes,
                covariates=settings.covariates,
                supervised=settings.supervised,
                second_step=settings.second_step,
                multiclass=settings.multiclass,
                chains=settings.chains,
                n_jobs=settings.n_jobs,
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


def described(train, test) -> str:
    text = f"{train.n_documents:,} documents, {train.n_words:,} words, {train.n_tokens:,} tokens"
    if test is not None:
        text += f"; test {test.n_documents:,} documents"
    return text


def metrics_of(settings, train, result: Fit | SeparateFit, trained, tested) -> dict:
    """What metrics.json holds."""
    if tested is not None and tested.main is not None:
        main, name = tested.main, f"test_{tested.main_name}"
    elif trained.main is not None:  # of test documents without responses there is nothing to compare
        main, name = trained.main, f"train_{trained.main_name}"
    else:  # no responses: how well the topics explain the words
        main = result.trace[-1]["log_joint_words"] / max(train.n_tokens, 1)
        name = "log_joint_words_per_token"
    shape, one = {}, isinstance(result, Fit)
    if one:
        shape["kernel"] = repr(result.chain.kernel)
        shape["backend"] = repr(result.chain.backend)
        shape["start"] = result.start
        shape["sparsity"] = sparsity(result.chain.counts.doc_topic, result.chain.counts.topic_word)
        last = result.trace[-1]
        for what in ("acceptance", "moves"):
            shape[what] = {k.partition("_")[2]: v for k, v in last.items() if k.startswith(f"{what}_")}
    if settings.chains > 1:
        shape["chains"] = settings.chains
        shape["mixing"] = mixing_of(settings, result)
    if settings.multiclass == "multitask":  # of one posterior; the mean of several chains
        last = [row["log_joint"] for row in result.trace if row["sweep"] == result.n_sweeps]
        shape["log_joint"] = float(np.mean(last))
    return {
        "main": main,
        "main_name": name,
        "test": tested.measures if tested is not None else None,
        "train": trained.measures,
        "seconds": result.seconds,
        "start_seconds": result.seconds - result.sweep_seconds,
        "tokens_per_second": result.tokens_per_second,
        "sweeps": result.n_sweeps,
        "kept_sweeps": [shortened(kept) for kept in ([result.kept] if one else result.kept)],
        "n_topics": settings.n_topics,
        "n_documents": train.n_documents,
        "n_words": train.n_words,
        "n_tokens": train.n_tokens,
        "seed": settings.seed,
        **shape,
        "approximations": list(result.approximations),
        "corpus_digest": train.digest(),
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("plugsamp", "numpy", "scipy")},
            "instruction set": dispatch.chosen(),
        },
    }


def mixing_of(settings, result: SeparateFit) -> dict:
    """Whether several chains agree; why that is not known, where it is not."""
    burn_in = settings.sweeps // 2 if settings.burn_in is None else settings.burn_in
    try:
        return agreement(result.trace, burn_in)
    except (ValueError, ImportError) as error:
        return {"unknown": str(error)}


def show(result: Fit | SeparateFit, trained, tested, tables, folder: Path, metrics: Mapping) -> None:
    """The outcome on standard output: metrics, then the largest topics, or the strongest of each model."""
    print("\n".join([*outcome(result, trained, tested, metrics), ""]))
    width = max(shutil.get_terminal_size((100, 24)).columns, 40)  # a narrower table says nothing
    if len(tables) == 1 or "chains" in metrics:  # of several chains the first
        every = tables[0][1]
    else:
        every = [max(rows, key=lambda t: t.speaks_for[0][1] if t.speaks_for else 0.0) for _, rows in tables]
    largest = every[:SHOWN]
    if sys.stdout.isatty():
        from rich.console import Console

        Console().print(rich_table(largest, width))
    else:
        print(plain_table(largest, width))
    left = sum(len(rows) for _, rows in tables) - len(largest)
    if left:
        print(f"... {left} more in {folder / 'topics.txt'}")
    print(f"\nrun folder: {folder}")


def outcome(result: Fit | SeparateFit, trained, tested, metrics: Mapping) -> list[str]:
    """Measures, agreement and speed, a line each."""
    lines = [
        f"{what:5} {_numbers(evaluation.measures)}"
        for what, evaluation in (("test", tested), ("train", trained))
        if evaluation is not None and evaluation.measures
    ]
    mixed = metrics.get("mixing")
    if mixed is not None:
        known = [
            f"{k.replace('_', ' ')} {one.get('constant') or format(one['r_hat'], '.3f')}"
            for k, one in mixed.items()
            if k != "unknown"
        ]
        lines.append(f"R-hat {', '.join(known)}" if known else f"R-hat unknown: {mixed['unknown']}")
    sweeps, whole = duration(result.sweep_seconds), duration(result.seconds)
    start = "" if sweeps == whole else f"; with the start {whole}"
    speed = quantity(result.tokens_per_second)
    return [*lines, f"{result.n_sweeps} sweeps in {sweeps}, {speed} tok/s{start}"]


def _numbers(measures: Mapping) -> str:
    shown = [f"{one_line(k.replace('_', ' '))} {v:z.3f}" for k, v in measures.items() if isinstance(v, float)]
    return ", ".join([*shown, f"{measures['n_scored']:,} scored"])
