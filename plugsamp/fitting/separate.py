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
from plugsamp.checkpoint.lock import Lock
from plugsamp.checkpoint.memory import Memory
from plugsamp.checkpoint.options import Checkpoints
from plugsamp.checkpoint.signals import Stop
from plugsamp.errors import ApproximationWarning, InputWarning
from plugsamp.fitting.parallel import in_parallel
from plugsamp.posterior.parts import Part, model_parts
from plugsamp.prediction.ensembles import CHAINS, Ensemble, Task, tasks

log = logging.getLogger(__name__)


def fit_separately(
    corpus,
    model,
    scheme: str,
    *,
    seed: int,
    chains: int = 1,
    n_jobs: int = 1,
    observers=(),
    checkpoint: Checkpoints | Memory | None = None,
    resume: bool = False,
    **options,
) -> tuple[Ensemble, list[Part]]:
    """Fit every task of `plugsamp.prediction.ensembles.tasks` with `plugsamp.fit`.

    Parameters
    ----------
    corpus : Corpus
    model : Model
        Of each task. Class weights by name become weights of documents; "balanced" is by task.
    scheme : {"ovr", "ovo", "chains"}
        "chains": no tasks, but so many `chains` of the model.
    seed : int
        Every task's seed is a function of it and of the task's number: not of `n_jobs`. The first of several
        chains has the seed itself.
    n_jobs : int
        Processes, as joblib counts them.
    observers : iterable of callables
        Each is given the rows of a task's trace when its chain is done.
    checkpoint : Checkpoints or Memory, optional
        Every task has a folder of its own in there: one that is done is not sampled again.
    resume : bool
        Go on from there.
    options
        Of `plugsamp.fit`.

    Returns
    -------
    Ensemble
    list of Part

    Raises
    ------
    ValueError
    """
    if scheme == CHAINS:
        coding = model.coding(corpus)
        made = [Task(f"chain {number + 1}", None, corpus.responses) for number in range(chains)]
    else:
        made, coding = _tasks(corpus, model, scheme)
    jobs = []
    for number, task in enumerate(made):
        member_seed = int(np.random.SeedSequence((seed, number)).generate_state(1)[0])
        if scheme == CHAINS:
            member_seed = member_seed if number else seed
            member_model, weights = model, corpus.weights
        else:
            member_model, weights = _weighting(model, corpus, coding, number)
        more = options
        if checkpoint is not None:
            more = options | {"checkpoint": checkpoint.member(number), "resume": resume}
        jobs.append((task.corpus(corpus.with_weights(weights)), member_model, member_seed, more))
    members: list[Part] = []
    approximations: dict[str, None] = {}
    with ExitStack() as stack:
        if isinstance(checkpoint, Checkpoints):
            stack.enter_context(Lock(checkpoint.folder))
            stack.enter_context(Stop())  # to whom SIGTERM is an error like any: joblib ends its processes
        done = in_parallel(_fit_member, jobs, [task.name for task in made], n_jobs)
        stack.enter_context(closing(done))
        for task, (member, memory) in zip(made, done, strict=True):
            for row in member.trace:
                row["chain" if scheme == CHAINS else "task"] = task.name
                for observe in observers:
                    observe(row)
            for clause in member.approximations:
                if clause not in approximations:
                    approximations[clause] = None
                    warnings.warn(clause, ApproximationWarning, stacklevel=2)
            if isinstance(checkpoint, Memory):
                checkpoint.keep_member(len(members), memory)
            members.append(member)
            log.info("model %d/%d: %s", len(members), len(made), one_line(task.name))
        if isinstance(checkpoint, Checkpoints) and not checkpoint.keep:
            for number in range(len(made)):
                shutil.rmtree(checkpoint.member(number).folder, ignore_errors=True)
    ensemble = Ensemble(
        members=tuple(member.predictor for member in members),
        names=tuple(task.name for task in made),
        scheme=scheme,
        coding=members[0].predictor.coding
        if scheme == CHAINS
        else replace(coding, y=np.empty((0, coding.n_outputs))),
    )
    parts = [
        replace(made, trace=m.trace, kept=m.kept, stats=m.stats, seconds=m.seconds, n_tokens=m.n_tokens,
                approximations=m.approximations)
        for made, m in zip(model_parts(ensemble), members, strict=True)
    ]  # fmt: skip
    return ensemble, parts


def _tasks(corpus, model, scheme: str):
    if model.loss.unsupervised:
        raise ValueError(f"multiclass={scheme} needs a loss; without one there are no classes to tell apart")
    task = model.coding(corpus).task
    if task not in ("binary", "multiclass", "multilabel"):
        raise ValueError(f"multiclass={scheme} is for classes, and {model.loss!r} is for {task} responses")
    return tasks(corpus, scheme)


def _fit_member(corpus, model, seed, options) -> tuple[Part, Memory | None]:
    from plugsamp.fitting.fit import fit

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ApproximationWarning)  # said once for all tasks, by the caller
        warnings.filterwarnings("ignore", "the corpus has covariates", InputWarning)
        posterior = fit(corpus, model, seed=seed, **options)
    checkpoint = options.get("checkpoint")
    return posterior.detached().parts[0], checkpoint if isinstance(checkpoint, Memory) else None


def _weighting(model, corpus, coding, number: int):
    """The model and the document weights of a task: classes have other names there."""
    if not isinstance(model.class_weight, Mapping):
        return model, corpus.weights
    from plugsamp.regression.response_weights import response_weights

    weight = response_weights(corpus.weights, model.class_weight, coding)
    column = None if weight is None else weight[:, number if coding.task == "multilabel" else 0]
    return replace(model, class_weight=None), column
