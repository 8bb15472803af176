"""A whole fit: chain, kept draws, trace, evaluation. What `plugsamp fit` runs, for Python."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from plugsamp.chain import Chain, NonFinite
from plugsamp.checks import whole
from plugsamp.corpus import Corpus
from plugsamp.covariates.encoder import Encoder
from plugsamp.covariates.options import Covariates
from plugsamp.ensembles import SCHEMES
from plugsamp.inference import Predictor
from plugsamp.keeper import PosteriorKeeper
from plugsamp.model import Model
from plugsamp.second_step import SecondStep
from plugsamp.separate import SeparateFit, fit_separately
from plugsamp.starts import Start, warm
from plugsamp.two_step import Proportions, check_second_step, without_responses
from plugsamp.two_step import second_step as with_second_step


@dataclass
class Fit:
    """The outcome of `fit`.

    Attributes
    ----------
    chain : Chain
        As it is after the last sweep; it can go on.
    predictor : Predictor
        Made of the kept draws.
    trace : list of dict
        A row a sweep (see `trace_row`).
    seconds : float
        Of sampling, without what was traced, kept and shown.
    start : str
        How the chain was started.
    """

    chain: Chain
    predictor: Predictor
    trace: list[dict] = field(repr=False)
    seconds: float = 0.0
    start: str = ""

    @property
    def approximations(self) -> tuple[str, ...]:
        """What kept the chain from the posterior, a clause each."""
        return self.chain.approximations

    @property
    def n_sweeps(self) -> int:
        return len(self.trace)

    @property
    def tokens_per_second(self) -> float:
        return len(self.trace) * self.chain.corpus.n_tokens / max(self.seconds, 1e-9)


def fit(
    corpus,
    model: Model | None = None,
    kernel="auto",
    *,
    backend=None,
    seed: int = 0,
    sweeps: int = 100,
    burn_in: int | None = None,
    thin: int = 5,
    init="auto",
    weight_update: str = "auto",
    weight_passes: int = 1,
    supervised: str = "joint",
    second_step: SecondStep | None = None,
    covariates: Covariates | Encoder | None = None,
    multiclass: str = "multitask",
    n_jobs: int = 1,
    observers: Iterable[Callable[[Mapping], object]] = (),
) -> Fit | SeparateFit:
    """Run a chain and keep its draws.

    Parameters
    ----------
    corpus : Corpus
    model : Model, optional
        By default 50 topics, with the hinge loss where the corpus has responses.
    kernel, backend : object or str
    seed : int
    sweeps : int
        How many, 1 or more.
    burn_in : int, optional
        Sweeps before draws are kept, by default half of them.
    thin : int
        Keep every so manyth draw; the last sweep's is always kept.
    init : array (N,) of int, Start or str
        The first topics; or how to find some (`plugsamp.starts.Start`, or the name of a method).
    weight_update, weight_passes
        As `Chain` takes them.
    supervised : {"joint", "two_step"}
        "two_step" learns the topics without the responses, then the weights on the topic proportions of
        the documents, as `second_step` says (by default with the loss and the weight prior of the model).
    second_step : SecondStep, optional
    covariates : Covariates or Encoder, optional
        Columns and words of the corpus as covariates, beside those that it has; the predictor makes them
        of new documents too.
    multiclass : {"multitask", "ovr", "ovo"}
        Several classes share topics in one chain, or are separate chains, one a class against the rest
        or one a pair of classes (`plugsamp.ensembles`).
    n_jobs : int
        Processes for separate chains, as joblib counts them; the result does not depend on it.
    observers : iterable of callables
        Each is given the trace's row after every sweep (progress, files); of separate chains the
        rows of each come when it is done.

    Returns
    -------
    Fit, or plugsamp.separate.SeparateFit of separate chains

    Raises
    ------
    ValueError
        An argument outside its range, or a corpus and a model that do not fit.
    NonFinite
        A quantity of the chain is not a number; the message names it and the sweep.

    Examples
    --------
    >>> import numpy as np, plugsamp as ps
    >>> corpus = ps.Corpus.from_counts(np.array([[3, 0, 1], [0, 2, 2]]), responses=["a", "b"])
    >>> result = ps.fit(corpus, ps.Model(n_topics=2, loss="hinge"), sweeps=4)
    >>> len(result.trace)
    4
    """
    kept = kept_sweeps(sweeps, burn_in, thin)
    if not isinstance(corpus, Corpus):
        raise TypeError(
            f"corpus must be a Corpus, not {type(corpus).__name__}; Corpus.from_counts takes matrices, "
            "plugsamp.readers read files"
        )
    if model is None:
        model = Model(50, loss="none" if corpus.responses is None else "hinge")
    if not isinstance(covariates, Covariates | Encoder | None):
        raise TypeError(f"covariates must be a Covariates, not {type(covariates).__name__}")
    encoder = covariates
    if isinstance(covariates, Covariates):
        # without responses they play no part
        used = bool(covariates) and not model.loss.unsupervised
        encoder = covariates.fit(corpus) if used else None
        there = set(encoder.names).intersection(corpus.covariate_names or ()) if encoder is not None else ()
        if there:
            raise ValueError(
                f"the corpus has a covariate {min(there)!r} already, and covariates ask for a column of that "
                "name; rename one"
            )
    check_scheme(supervised, multiclass)
    if init is None or isinstance(init, str):
        init = Start("random" if init is None else init)
    if multiclass != "multitask":
        if not isinstance(init, Start):
            raise ValueError("topics as init are for one chain, not for separate ones (multiclass=ovr, ovo)")
        return fit_separately(
            corpus, model, multiclass, observers=observers, seed=seed, n_jobs=n_jobs, kernel=kernel,
            backend=backend, sweeps=sweeps, burn_in=burn_in, thin=thin, weight_update=weight_update,
            weight_passes=weight_passes, supervised=supervised, second_step=second_step,
            covariates=encoder, init=init,
        )  # fmt: skip
    if encoder is not None:
        corpus = encoder.transform(corpus)
    separate = supervised == "two_step" and not model.loss.unsupervised
    if separate:
        check_second_step(corpus, model, second_step or SecondStep())
    chain = Chain(
        corpus,
        without_responses(model) if separate else model,
        kernel,
        backend=backend,
        seed=seed,
        init=None if isinstance(init, Start) else init,
        weight_update=weight_update,
        weight_passes=weight_passes,
    )
    keeper, proportions = PosteriorKeeper(chain), Proportions(chain) if separate else None
    trace: list[dict] = []
    start = time.perf_counter()
    how = warm(chain, init) if isinstance(init, Start) else chain.started
    seconds = time.perf_counter() - start
    for info in chain.sweeps(sweeps):
        seconds += info.seconds
        row = trace_row(chain, info, time.perf_counter() - start)
        trace.append(row)
        if info.sweep in kept:
            keeper.keep()
            if proportions is not None:
                proportions.keep()
        for observe in observers:
            observe(row)
    chain.close()  # worker processes, if any: they would start again
    predictor = keeper.predictor()
    if proportions is not None:
        predictor = with_second_step(
            predictor, proportions.mean(), corpus, model, second_step or SecondStep(), seed,
            method=weight_update, passes=weight_passes,
        )  # fmt: skip
    if encoder is not None:
        predictor = replace(predictor, encoder=encoder)
    return Fit(chain, predictor, trace, seconds, how)


def check_scheme(supervised: str, multiclass: str) -> None:
    """Refuse a way to learn the responses that does not exist (ValueError)."""
    if supervised not in ("joint", "two_step"):
        raise ValueError(f"supervised must be joint or two_step, not {supervised!r}")
    if multiclass not in SCHEMES:
        raise ValueError(f"multiclass must be one of {', '.join(SCHEMES)}, not {multiclass!r}")


def kept_sweeps(sweeps: int, burn_in: int | None = None, thin: int = 5) -> frozenset[int]:
    """The sweeps whose draws are kept, counted from 1; they end with the last.

    Raises
    ------
    ValueError
        No sweep, no draw left, or a number that is not whole.
    """
    for name, value, least in (("sweeps", sweeps, 1), ("burn_in", burn_in, 0), ("thin", thin, 1)):
        if value is None and name == "burn_in":
            continue
        whole(name, value, least)
    burn_in = sweeps // 2 if burn_in is None else burn_in
    if burn_in >= sweeps:
        raise ValueError(f"burn_in={burn_in} leaves none of {sweeps} sweeps to keep; it must be below sweeps")
    return frozenset(range(sweeps, burn_in, -thin))


def trace_row(chain: Chain, info, elapsed: float) -> dict:
    """One row of the trace.

    ``sweep``, ``seconds`` (of the sweep), ``elapsed`` (with everything), ``log_joint`` and its parts as
    ``log_joint_words`` and so on, ``loss`` (-log psi a document, None without responses), ``moved``
    (share of tokens that changed topic), ``acceptance_doc`` and so on.

    Raises
    ------
    NonFinite
        A part of the log joint is NaN or infinite.
    """
    parts = chain.log_joint()
    for name, value in parts.items():
        if not math.isfinite(value):
            raise NonFinite(f"sweep {info.sweep}: the {name} part of the log joint is {value}")
    row = {
        "sweep": info.sweep,
        "seconds": info.seconds,
        "elapsed": elapsed,
        "log_joint": float(sum(parts.values())),
        **{f"log_joint_{name}": float(value) for name, value in parts.items()},
        "loss": None,
        "moved": float(info.moved),
    }
    if chain.coding.n_outputs:
        row["loss"] = -float(parts["responses"]) / chain.corpus.n_documents
    if chain.model.learn_alpha.method != "none":
        row["alpha_sum"] = float(chain.alpha.sum())
    if chain.model.learn_beta.method != "none":
        row["beta"] = float(chain.beta[0])
    row.update({f"acceptance_{name}": float(rate) for name, rate in info.acceptance.items()})
    return row
