"""A whole fit: chains, trace and kept draws. What `plugsamp fit` runs, for Python."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from plugsamp.chain import Chain
from plugsamp.checkpoint.options import Checkpoints
from plugsamp.checkpoint.recorder import Recorder
from plugsamp.checks import flag, listed, n_jobs_of, near_names, whole
from plugsamp.corpus import Corpus
from plugsamp.covariates.encoder import Encoder
from plugsamp.covariates.options import Covariates
from plugsamp.errors import InputWarning
from plugsamp.fitting.deciding import decided
from plugsamp.fitting.keeping import check_keep
from plugsamp.fitting.recording import STARTING, Recording, in_start
from plugsamp.fitting.second_step import SecondStep
from plugsamp.fitting.separate import fit_separately
from plugsamp.fitting.starts import Start
from plugsamp.fitting.two_step import check_second_step, without_responses
from plugsamp.fitting.two_step import second_step as with_second_step
from plugsamp.model import Model, warn_of_idle_parts
from plugsamp.posterior.draws import Draws
from plugsamp.posterior.posterior import Posterior
from plugsamp.prediction.combine import SCHEMES
from plugsamp.prediction.thresholds import check_decide, check_decide_for
from plugsamp.sampling.identity import run_identity
from plugsamp.sampling.snapshot import kernel_again

log = logging.getLogger(__name__)


@near_names
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
    keep_draws: str | int = "auto",
    init="auto",
    weight_update: str = "auto",
    weight_passes: int = 1,
    supervised: str = "joint",
    second_step: SecondStep | None = None,
    covariates: Covariates | Encoder | None = None,
    words: bool = False,
    multiclass: str = "multitask",
    chains: int = 1,
    n_jobs: int = 1,
    decide: str | float = "auto",
    validation: Corpus | None = None,
    observers: Iterable[Callable[[Mapping], object]] = (),
    checkpoint: Checkpoints | str | Path | None = None,
    resume: bool = False,
) -> Posterior:
    """Run a chain, or several, and keep draws.

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
        Keep every `thin`-th draw. The last sweep's draw is always kept.
    keep_draws : {"auto", "all"} or int
        How many of these draws of the weights are kept whole: all, a number, or as many as take 64 MB, at
        least 16. Where some are not, those that are get the mean and the variance of all, weight by weight
        (`plugsamp.fitting.keeping`).
    init : array (N,) of int, Start or str
        The first topics; or how to find some (`plugsamp.fitting.starts.Start`, or the name of a method).
    weight_update, weight_passes
        As `Chain` takes them.
    supervised : {"joint", "two_step"}
        "two_step" learns the topics without the responses, then the weights on the topic proportions of
        the documents, as `second_step` says (by default with the loss and the weight prior of the model).
    second_step : SecondStep, optional
    covariates : Covariates or Encoder, optional
        Columns and words of the corpus as covariates, beside those that it has; the predictor makes them
        of new documents too.
    words : bool
        Take tf-idf of all words as covariates too, with the variances of weights that the loss has for
        them where the model gives none.
    multiclass : {"multitask", "ovr", "ovo"}
        Several classes share topics in one chain, or are separate chains, one a class against the rest
        or one a pair of classes (`plugsamp.prediction.combine`).
    chains : int
        So many chains of the model, which differ by their seeds; their predictions are averaged, and whether
        they agree is to be seen (`plugsamp.diagnostics.convergence`).
    n_jobs : int
        Processes for separate chains, as joblib counts them; the result does not depend on it.
    decide : {"auto", "zero", "prevalence", "validated"} or float
        The score above which a document has a label, where it may have several. "zero" is a score of 0, or a
        probability of one half. A number is the score, or of losses with probabilities the probability.
        "validated" is the threshold of the largest F1 on held-out documents, for each label; "prevalence"
        the one for all labels that gives held-out documents as many labels as training documents have
        (`plugsamp.prediction.thresholds`). "auto" is "validated" from 50 documents on.
    validation : Corpus, optional
        The held-out documents of `decide`. By default the model is fitted again without a fifth of the
        training documents, once from 1,500 documents on, and up to five times with fewer, until 300 are
        held out.
    observers : iterable of callables
        Each is given the trace's row after every sweep (progress, files); of separate chains the
        rows of each come when it is done. One that has a method ``resumed`` is given all rows before the
        checkpoint that a run goes on from.
    checkpoint : Checkpoints or path-like, optional
        Where the run's state is kept, and how often: what a killed process can lose
        (`plugsamp.checkpoint.Checkpoints`). SIGINT and SIGTERM then end the run after the sweep, with a
        checkpoint; a second one ends it at once. ``Checkpoints(None)`` keeps the last state in this process.
    resume : bool
        Go on from the checkpoint of the same fit, bit-equal to one that was never stopped; start where
        there is none yet. `sweeps`, `backend`, `n_jobs` and `observers` may differ. With more `sweeps`
        than before, the outcome is that of so many sweeps from the start where that can be made of the
        draws kept so far; otherwise these stay kept, and a warning says so.

    Returns
    -------
    Posterior
        Topics, weights, predictions, trace (`plugsamp.posterior.posterior.Posterior`).

    Raises
    ------
    ValueError
        An argument outside its range, or a corpus and a model that do not fit.
    NonFinite
        A quantity of the chain is not a number; the message names it and the sweep.
    StorageError
        The checkpoint is of another run or corpus, needs a plugin that is not installed, or is damaged.
    Interrupted
        By a signal, where there are checkpoints; a KeyboardInterrupt.

    Examples
    --------
    >>> import numpy as np, plugsamp as ps
    >>> corpus = ps.Corpus.from_counts(np.array([[3, 0, 1], [0, 2, 2]]), responses=["a", "b"])
    >>> posterior = ps.fit(corpus, ps.Model(n_topics=2, loss="hinge"), sweeps=4)
    >>> len(posterior.trace)
    4
    """
    kept_sweeps(sweeps, burn_in, thin)
    check_keep(keep_draws)
    checkpoint = _place(checkpoint, resume)
    observers, n_jobs = list(observers), n_jobs_of(n_jobs)
    if not isinstance(corpus, Corpus):
        raise TypeError(
            f"corpus must be a Corpus, not {type(corpus).__name__}; Corpus.from_frame takes data frames and "
            "mappings such as {'text': texts, 'label': labels}, Corpus.from_counts takes matrices, "
            "plugsamp.readers read files"
        )
    if model is None:
        model = Model(50, loss="none" if corpus.responses is None else "hinge")
    if not isinstance(model, Model):
        raise TypeError(f"model must be a Model, such as ps.Model(20, loss='logistic'), not {model!r:.60}")
    if not isinstance(covariates, Covariates | Encoder | None):
        raise TypeError(f"covariates must be a Covariates, not {type(covariates).__name__}")
    if flag("words", words):
        model, covariates = model.with_words(), with_words(covariates)
    encoder = _encoder(covariates, corpus, model)
    check_decide(decide)
    if decide not in ("auto", "zero"):
        check_decide_for(decide, model.loss, model.coding(corpus).task)
    if validation is not None and not isinstance(validation, Corpus):
        raise TypeError(f"validation must be a Corpus, not {validation!r:.60}; corpus.split(0.2) makes one")
    check_scheme(supervised, multiclass, chains)
    warn_of_idle_parts(corpus, model)
    if init is None or isinstance(init, str):
        init = Start("random" if init is None else init)
    sampling = Sampling(
        seed, sweeps, burn_in, thin, keep_draws, weight_update, weight_passes, supervised, second_step
    )
    start = repr(init) if isinstance(init, Start) else "topics"
    about = {
        "corpus": corpus, "burn_in": sampling.first, "joint": not sampling.two_step(model),
        "options": sampling.told() | {
            "model": repr(model), "kernel": repr(kernel), "start": start, "multiclass": multiclass,
            "chains": chains,
        },
    }  # fmt: skip
    again = partial(
        fit, model=model, kernel=kernel, backend=backend, covariates=covariates, multiclass=multiclass,
        init=init if isinstance(init, Start) else "auto", chains=chains, n_jobs=n_jobs, decide="zero",
        **vars(sampling),
    )  # fmt: skip
    if multiclass == "multitask" and chains == 1:
        chain, part, start = _one_chain(
            corpus, model, kernel, backend, init, sampling, covariates, encoder, observers, checkpoint, resume
        )
        posterior = Posterior([part], chain=chain, start=start, **about)
        return decided(posterior, decide, validation, again)
    if not isinstance(init, Start):
        raise ValueError("topics as init are for one chain, not for several (chains, multiclass=ovr, ovo)")
    combine = multiclass if chains == 1 else "mean"
    parts, coding = fit_separately(
        corpus, model, combine, chains=chains, observers=observers, n_jobs=n_jobs, kernel=kernel,
        backend=backend, covariates=encoder, init=init, checkpoint=checkpoint, resume=resume,
        **vars(sampling),
    )  # fmt: skip
    posterior = Posterior(parts, combine, coding, start=start, **about)
    return decided(posterior, decide, validation, again)


def with_words(covariates: Covariates | None) -> Covariates:
    """Return covariates with tf-idf of words, unless they have words already (ValueError: of an Encoder)."""
    if isinstance(covariates, Encoder):
        raise ValueError("words=True is for Covariates; an Encoder has the words that it was fitted with")
    covariates = Covariates() if covariates is None else covariates
    return replace(covariates, words="tfidf") if covariates.words == "none" else covariates


@dataclass(frozen=True)
class Sampling:
    """How many sweeps a chain does, which it keeps, and how the weights are learnt: arguments of `fit`."""

    seed: int
    sweeps: int
    burn_in: int | None
    thin: int
    keep_draws: str | int
    weight_update: str
    weight_passes: int
    supervised: str
    second_step: SecondStep | None

    @property
    def first(self) -> int:
        """Sweeps before the first whose draw may be kept."""
        return self.sweeps // 2 if self.burn_in is None else self.burn_in

    def two_step(self, model: Model) -> bool:
        """Whether the weights of a model are learnt after its topics."""
        return self.supervised == "two_step" and not model.loss.unsupervised

    def told(self) -> dict:
        """What a posterior says of it."""
        return vars(self) | {"burn_in": self.first, "second_step": repr(self.second_step)}


def _place(checkpoint, resume: bool) -> Checkpoints | None:
    """Where checkpoints go, as an object; None where nowhere."""
    if checkpoint is not None:
        return Checkpoints.of(checkpoint)
    if flag("resume", resume):
        raise ValueError("resume=True needs checkpoint=..., the folder to go on from")
    return None


def _one_chain(
    corpus, model, kernel, backend, init, sampling: Sampling, covariates, encoder, observers, place, resume
) -> tuple[Chain, Draws, str]:
    """Run a chain; returns it, what it leaves, and how it was started."""
    identity, step = None, sampling.second_step or SecondStep()
    if place is not None:
        names = ("seed", "weight_update", "weight_passes", "burn_in", "thin", "supervised")
        told = {name: getattr(sampling, name) for name in names}
        identity = run_identity(
            corpus, model, kernel, start=init, second_step=step, covariates=covariates, **told
        )
    if encoder is not None:
        corpus = encoder.transform(corpus)
    two_step = sampling.two_step(model)
    if two_step:
        check_second_step(corpus, model, step)
    with ExitStack() as stack:
        recorder = saved = None
        if place is not None:
            recorder = stack.enter_context(Recorder(place, resume))
            saved = recorder.load(identity)
        chain = _chain(corpus, without_responses(model) if two_step else model, kernel, backend, init,
                       sampling, saved)  # fmt: skip
        stack.callback(chain.close)  # worker processes, if any
        recording = Recording(chain, two_step, sampling.keep_draws)
        if recorder is not None:
            recorder.begin(identity, sampling.sweeps)
        _sample(recording, init, sampling, observers, recorder, saved)
        chain.close()  # nothing that follows needs workers
        draws = recording.draws()
        if two_step:
            draws = with_second_step(
                draws, recording.proportions(), corpus, model, step, sampling.seed,
                method=sampling.weight_update, passes=sampling.weight_passes, keep=sampling.keep_draws,
            )  # fmt: skip
        if encoder is not None:
            draws = replace(draws, encoder=encoder)
        if recorder is not None:
            recorder.finish()
    return chain, draws, recording.started


def _chain(corpus, model, kernel, backend, init, sampling: Sampling, saved) -> Chain:
    """The chain at its first topics, or at those of a checkpoint."""
    first = None if isinstance(init, Start) else init
    return Chain(
        corpus, model, kernel, backend=backend, seed=sampling.seed,
        init=first if saved is None or in_start(saved[1]) else saved[0]["z"],
        weight_update=sampling.weight_update, weight_passes=sampling.weight_passes,
        choose=None if saved is None else partial(kernel_again, saved[1]),
    )  # fmt: skip


def _sample(recording: Recording, init, sampling: Sampling, observers, recorder, saved) -> None:
    """Do the start and all sweeps, or those after a checkpoint."""
    kept = kept_sweeps(sampling.sweeps, sampling.burn_in, sampling.thin)
    if saved is not None:
        _take_up(recording, saved, sampling.sweeps, kept, observers)
    if isinstance(init, Start) and (saved is None or in_start(saved[1])):
        recording.start(init, recorder, saved)
    for _ in recording.sweeps(sampling.sweeps, kept, observers):
        if recorder is not None:
            recorder.after(recording)


def _encoder(covariates, corpus: Corpus, model: Model) -> Encoder | None:
    """What makes the covariates; None, with a warning, where no part of the model uses them."""
    encoder = covariates
    if isinstance(covariates, Covariates):  # unknown columns are refused, whatever the loss
        encoder = covariates.fit(corpus) if covariates else None
    if model.loss.unsupervised and (encoder is not None or corpus.covariates is not None):
        names = corpus.covariate_names if encoder is None else encoder.names
        warnings.warn(
            "the corpus has covariates and the model no responses (loss none), so they play no part: "
            f"{listed(names, 5)}",
            InputWarning,
            stacklevel=3,
        )
        return None
    there = set(encoder.names).intersection(corpus.covariate_names or ()) if encoder is not None else ()
    if isinstance(covariates, Covariates) and there:
        raise ValueError(
            f"the corpus has a covariate {min(there)!r} already, and covariates ask for a column of that "
            "name; rename one"
        )
    return encoder


def _take_up(recording: Recording, saved, sweeps: int, kept: frozenset[int], observers) -> None:
    """Put a new run where a checkpoint was, and tell the observers what has been traced."""
    if not in_start(saved[1]):
        recording.restore(*saved)
    if recording.sweep > sweeps:
        raise ValueError(
            f"the run has done {recording.sweep} sweeps already; sweeps must be that or more, not {sweeps}"
        )
    recording.take_up(kept)
    where = f"sweep {recording.sweep}"
    if in_start(saved[1]):
        where = f"sweep {saved[1][STARTING]['sweep']} of its start"
    log.info("the run goes on after %s", where)
    for observer in observers:
        resumed = getattr(observer, "resumed", None)
        if resumed is not None:
            resumed(recording.trace)


def check_scheme(supervised: str, multiclass: str, chains: int = 1) -> None:
    """Refuse a way to learn the responses that does not exist (ValueError)."""
    if whole("chains", chains, 1, 1000) > 1 and multiclass != "multitask":
        raise ValueError(f"chains={chains} goes with multiclass=multitask, not {multiclass}")
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
