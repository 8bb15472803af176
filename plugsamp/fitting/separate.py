"""Fitting separate chains in parallel, by joblib: of the binary tasks of several classes, or of one model."""

from __future__ import annotations

import logging
import shutil
import warnings
from collections.abc import Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace

import numpy as np

from plugsamp.brief import one_line
from plugsamp.checkpoint.lock import Lock
from plugsamp.checkpoint.memory import Memory
from plugsamp.checkpoint.options import Checkpoints
from plugsamp.checkpoint.signals import Stop
from plugsamp.corpus import Corpus
from plugsamp.diagnostics import topic_table
from plugsamp.errors import ApproximationWarning, InputWarning
from plugsamp.fitting.parallel import in_parallel
from plugsamp.prediction.ensembles import CHAINS, Ensemble, Task, tasks
from plugsamp.prediction.inference import Predictor

log = logging.getLogger(__name__)


@dataclass
class SeparateFit:
    """The outcome of `fit_separately`.

    Attributes
    ----------
    predictor : Ensemble
    trace : list of dict
        The rows of all tasks, one task after the other, each with its ``task``.
    topic_totals : list of ndarray (K,)
        n_k at the end, by task.
    seconds : float
        Of sampling and of the starts, summed over tasks.
    n_tokens : int
        Sampled in a sweep of all tasks.
    approximations : tuple of str
        What kept a chain from its posterior, a clause each.
    topics : list of dict
        By task what `plugsamp.diagnostics.topic_table` says of its topics.
    burn_in : int
    kept : list of lists of int
        By task the sweeps whose draws its predictor holds.
    joint : bool
        Whether the weights are draws of the chains, and not of a second step.
    corpus : Corpus
        The documents.
    options : dict
        What `plugsamp.fit` was told, in words.
    """

    predictor: Ensemble
    trace: list[dict] = field(repr=False)
    topic_totals: list[np.ndarray] = field(repr=False)
    seconds: float = 0.0
    n_tokens: int = 0
    approximations: tuple[str, ...] = ()
    topics: list[dict] = field(default_factory=list, repr=False)
    burn_in: int = 0
    kept: list[list[int]] = field(default_factory=list, repr=False)
    joint: bool = True
    corpus: Corpus | None = field(default=None, repr=False)
    options: dict = field(default_factory=dict, repr=False)

    @property
    def n_sweeps(self) -> int:
        """Of each task."""
        return len(self.trace) // len(self.predictor.members)

    @property
    def sweep_seconds(self) -> float:
        """Of `seconds` those of the sweeps; the others are the starts'."""
        return sum(row["seconds"] for row in self.trace)

    @property
    def tokens_per_second(self) -> float:
        """Of the sweeps."""
        return self.n_sweeps * self.n_tokens / max(self.sweep_seconds, 1e-9)

    def to_arviz(self, **options):
        """Several chains of one model for ArviZ (`plugsamp.exchange.to_arviz`)."""
        from plugsamp.exchange import to_arviz

        return to_arviz(self, **options)


@dataclass
class _Member:
    predictor: Predictor
    trace: list[dict]
    topic_totals: np.ndarray
    seconds: float
    n_tokens: int
    approximations: tuple[str, ...]
    topics: dict
    kept: list[int]
    memory: Memory | None = None


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
) -> SeparateFit:
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
    members, approximations = [], {}
    with ExitStack() as stack:
        if isinstance(checkpoint, Checkpoints):
            stack.enter_context(Lock(checkpoint.folder))
            stack.enter_context(Stop())  # to whom SIGTERM is an error like any: joblib ends its processes
        done = in_parallel(_fit_member, jobs, [task.name for task in made], n_jobs)
        stack.enter_context(closing(done))
        for task, member in zip(made, done, strict=True):
            for row in member.trace:
                row["chain" if scheme == CHAINS else "task"] = task.name
                for observe in observers:
                    observe(row)
            for clause in member.approximations:
                if clause not in approximations:
                    approximations[clause] = None
                    warnings.warn(clause, ApproximationWarning, stacklevel=2)
            if isinstance(checkpoint, Memory):
                checkpoint.keep_member(len(members), member.memory)
            members.append(member)
            log.info("model %d/%d: %s", len(members), len(made), one_line(task.name))
        if isinstance(checkpoint, Checkpoints) and not checkpoint.keep:
            for number in range(len(made)):
                shutil.rmtree(checkpoint.member(number).folder, ignore_errors=True)
    return SeparateFit(
        predictor=Ensemble(
            members=tuple(m.predictor for m in members),
            names=tuple(task.name for task in made),
            scheme=scheme,
            coding=members[0].predictor.coding
            if scheme == CHAINS
            else replace(coding, y=np.empty((0, coding.n_outputs))),
        ),
        trace=[row for m in members for row in m.trace],
        topic_totals=[m.topic_totals for m in members],
        seconds=sum(m.seconds for m in members),
        n_tokens=sum(m.n_tokens for m in members),
        approximations=tuple(approximations),
        topics=[m.topics for m in members],
        kept=[m.kept for m in members],
        joint=options.get("supervised", "joint") == "joint" or model.loss.unsupervised,
        corpus=corpus,
    )


def _tasks(corpus, model, scheme: str):
    if model.loss.unsupervised:
        raise ValueError(f"multiclass={scheme} needs a loss; without one there are no classes to tell apart")
    task = model.coding(corpus).task
    if task not in ("binary", "multiclass", "multilabel"):
        raise ValueError(f"multiclass={scheme} is for classes, and {model.loss!r} is for {task} responses")
    return tasks(corpus, scheme)


def _fit_member(corpus, model, seed, options) -> _Member:
    from plugsamp.fitting.fit import fit

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ApproximationWarning)  # said once for all tasks, by the caller
        warnings.filterwarnings("ignore", "the corpus has covariates", InputWarning)
        result = fit(corpus, model, seed=seed, **options)
    predictor, totals = result.predictor, result.chain.counts.topic_totals
    checkpoint = options.get("checkpoint")
    return _Member(
        predictor, result.trace, totals, result.seconds, corpus.n_tokens, result.approximations,
        topic_table(result.chain, predictor.phi, predictor.eta.mean(axis=0), corpus.counts()), result.kept,
        checkpoint if isinstance(checkpoint, Memory) else None,
    )  # fmt: skip


def _weighting(model, corpus, coding, number: int):
    """The model and the document weights of a task: classes have other names there."""
    if not isinstance(model.class_weight, Mapping):
        return model, corpus.weights
    from plugsamp.regression.response_weights import response_weights

    weight = response_weights(corpus.weights, model.class_weight, coding)
    column = None if weight is None else weight[:, number if coding.task == "multilabel" else 0]
    return replace(model, class_weight=None), column
