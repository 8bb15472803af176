"""Fitting separate chains in parallel, by joblib: of the binary tasks of several classes, or of one model."""

from __future__ import annotations

import logging
import shutil
import warnings
from collections.abc import Mapping
from contextlib import ExitStack, closing
from dataclasses import replace

import numpy as np

from plugsamp.brief import one_line
from plugsamp.checkpoint.options import Checkpoints
from plugsamp.checkpoint.signals import Stop
from plugsamp.errors import ApproximationWarning, InputWarning
from plugsamp.files.lock import Lock
from plugsamp.fitting.keeping import most_draws
from plugsamp.fitting.parallel import in_parallel
from plugsamp.losses.coding import Coding
from plugsamp.posterior.draws import Draws
from plugsamp.prediction.combine import tasks

log = logging.getLogger(__name__)


def fit_separately(
    corpus,
    model,
    combine: str,
    *,
    seed: int,
    chains: int = 1,
    n_jobs: int = 1,
    observers=(),
    checkpoint: Checkpoints | None = None,
    resume: bool = False,
    **options,
) -> tuple[list[Draws], Coding]:
    """Fit chains of a model, or every task of `plugsamp.prediction.combine.tasks`, with `plugsamp.fit`.

    Class weights by name become weights of documents; "balanced" is by task. Every seed is a function of
    `seed` and of the model's number, not of `n_jobs`; the first of several chains has `seed` itself.
    `checkpoint` has a place for each model: one that is done is not sampled again. Observers are given the
    rows of a model's trace when its chain is done. The other arguments are those of `plugsamp.fit`.

    Returns
    -------
    list of Draws
        With their names.
    Coding
        Of all classes.
    """
    names, jobs, coding = (_chains if combine == "mean" else _tasks)(corpus, model, combine, seed, chains)
    options["keep_draws"] = _keep_draws(corpus, model, combine, options, len(jobs))
    for number, job in enumerate(jobs):
        place = {} if checkpoint is None else {"checkpoint": checkpoint.member(number), "resume": resume}
        job.append(options | place)
    on_disk = checkpoint is not None and checkpoint.on_disk
    parts: list[Draws] = []
    approximations: dict[str, None] = {}
    with ExitStack() as stack:
        if on_disk:
            stack.enter_context(Lock(checkpoint.folder))
            stack.enter_context(Stop())  # to whom SIGTERM is an error like any: joblib ends its processes
        done = in_parallel(_fit_member, jobs, names, n_jobs)
        stack.enter_context(closing(done))
        for name, (part, states) in zip(names, done, strict=True):
            for row in part.trace:
                row["chain" if combine == "mean" else "task"] = name
                for observe in observers:
                    observe(row)
            for clause in part.approximations:
                if clause not in approximations:
                    approximations[clause] = None
                    warnings.warn(clause, ApproximationWarning, stacklevel=2)
            if checkpoint is not None:  # a process of its own has filled a copy
                checkpoint.states[len(parts)] = states
            parts.append(part.with_record(name=name))
            log.info("model %d/%d: %s", len(parts), len(names), one_line(name))
        if on_disk and not checkpoint.keep:
            for number in range(len(names)):
                shutil.rmtree(checkpoint.member(number).folder, ignore_errors=True)
    return parts, parts[0].coding if combine == "mean" else coding


def _keep_draws(corpus, model, combine: str, options: Mapping, n_jobs: int):
    """How many draws each model keeps whole: together they share what one may take."""
    encoder = options.get("covariates")
    names = corpus.covariate_names if encoder is None else encoder.names
    n_outputs = model.coding(corpus).n_outputs if combine == "mean" else 1
    n_features = model.n_topics + len(names or ())
    return most_draws(options.get("keep_draws", "auto"), n_outputs, n_features, n_jobs) or "all"


def _seed(seed: int, number: int) -> int:
    return int(np.random.SeedSequence((seed, number)).generate_state(1)[0])


def _chains(corpus, model, combine: str, seed: int, chains: int):
    """Names, arguments (corpus, model, seed) and coding of chains of one model."""
    model.coding(corpus)  # refuses responses that do not fit before any process starts
    jobs = [[corpus, model, _seed(seed, number) if number else seed] for number in range(chains)]
    return [f"chain {number + 1}" for number in range(chains)], jobs, None


def _tasks(corpus, model, combine: str, seed: int, chains: int):
    """Names, arguments (corpus, model, seed) and coding of the binary tasks of several classes."""
    if model.loss.unsupervised:
        raise ValueError(f"multiclass={combine} needs a loss; without one there are no classes to tell apart")
    task = model.coding(corpus).task
    if task not in ("binary", "multiclass", "multilabel"):
        raise ValueError(f"multiclass={combine} is for classes, and {model.loss!r} is for {task} responses")
    made, coding = tasks(corpus, combine)
    jobs = []
    for number, (_, rows, responses) in enumerate(made):
        own_model, weights = _weighting(model, corpus, coding, number)
        chosen = corpus.with_weights(weights)
        chosen = chosen if rows is None else chosen.take(rows)
        jobs.append([chosen.with_responses(responses), own_model, _seed(seed, number)])
    return [name for name, _, _ in made], jobs, replace(coding, y=np.empty((0, coding.n_outputs)))


def _fit_member(corpus, model, seed, options) -> tuple[Draws, dict]:
    from plugsamp.fitting.fit import fit

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ApproximationWarning)  # said once for all tasks, by the caller
        warnings.filterwarnings("ignore", "the corpus has covariates", InputWarning)
        posterior = fit(corpus, model, seed=seed, **options)
    checkpoint = options.get("checkpoint")
    return posterior.detached().parts[0], {} if checkpoint is None else checkpoint.states


def _weighting(model, corpus, coding, number: int):
    """The model and the document weights of a task: classes have other names there."""
    if not isinstance(model.class_weight, Mapping):
        return model, corpus.weights
    from plugsamp.regression.response_weights import response_weights

    weight = response_weights(corpus.weights, model.class_weight, coding)
    column = None if weight is None else weight[:, number if coding.task == "multilabel" else 0]
    return replace(model, class_weight=None), column
