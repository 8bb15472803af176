"""The trace and the kept draws of a chain while it is sampled, and as a checkpoint holds them."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from plugsamp.chain import Chain
from plugsamp.files.storage import StorageError
from plugsamp.fitting import running
from plugsamp.fitting.keeping import Moments, most_draws, whole_sweeps
from plugsamp.fitting.starts import Start, start_weights, warm
from plugsamp.posterior.draws import Draws
from plugsamp.posterior.trace import Trace
from plugsamp.prediction.fold_in import BURN_IN, PASSES, RESTARTS
from plugsamp.sampling import snapshot
from plugsamp.state import ROWS

log = logging.getLogger(__name__)

#: What a checkpoint that was written in a collapsed start holds of the start's chain.
STARTING = "start"

#: Begins the names of the variances of weights among what is drawn.
VARIANCE = "variance of "


def in_start(content: Mapping) -> bool:
    """Whether a checkpoint with this content was written in a collapsed start, before the first sweep."""
    return STARTING in content


class Recording:
    """The trace and the kept draws of a chain while it is sampled.

    Parameters
    ----------
    chain : Chain
    proportions : bool
        Keep the mean topic proportions of the training documents too.
    keep_draws : {"auto", "all"} or int
        How many draws of the weights are kept whole (`plugsamp.fitting.keeping`).

    Attributes
    ----------
    trace : Trace
        A row a sweep (see `plugsamp.fitting.running.trace_row`).
    kept : list of int
        The sweeps whose draws are kept.
    whole : list of int
        Those of them whose weights are kept whole.
    parameters : list of dict of float64 arrays
        Of these sweeps, the draws of the loss's parameters and of the variances of the weights (by
        `VARIANCE` + group).
    moments : Moments or None
        Of the weights of all kept sweeps, where not all are whole.
    phi_sum : float64 (V, K) or None
        The sum over kept sweeps of the topics' means given z, word-major.
    alpha_sum : float64 (K,) or None
    proportion_sum : float64 (D, K) or None
        The sum over kept sweeps of n_dk / N_d, where that was asked for.
    seconds : float
        Of the start and of sampling.
    started : str
        How the chain was started.
    starting : Chain or None
        The chain of the collapsed start while that runs.

    Examples
    --------
    ::

        recording = Recording(chain)
        for info in chain.sweeps(100):
            if info.sweep > 50 and info.sweep % 5 == 0:
                recording.keep()
        posterior = Posterior([recording.draws()])
    """

    def __init__(self, chain: Chain, proportions: bool = False, keep_draws="all"):
        self.chain = chain
        self.most = most_draws(keep_draws, *chain.state.eta.shape)
        self.trace = Trace()
        self.seconds, self.started = 0.0, chain.started
        self.starting: Chain | None = None
        self._begun = time.perf_counter()
        shape = (chain.state.n_documents, chain.state.n_topics)
        self.proportion_sum = np.zeros(shape) if proportions else None
        self.clear()

    def clear(self) -> None:
        """Forget the draws that were kept."""
        self.kept: list[int] = []
        self.whole: list[int] = []
        self.phi_sum = self.alpha_sum = None
        self.moments: Moments | None = None
        self._room = np.empty((0, *self.chain.state.eta.shape))
        self.parameters: list[dict[str, np.ndarray]] = []
        if self.proportion_sum is not None:
            self.proportion_sum[:] = 0.0

    @property
    def eta(self) -> np.ndarray:
        """The draws of the weights that are kept whole, float64 (draws, C, J), read-only and not copied."""
        eta = self._room[: len(self.whole)]
        eta.flags.writeable = False
        return eta

    def _make_room(self, n: int) -> None:
        """Room for so many draws in all: memory that is taken as they come."""
        room = np.empty((n, *self._room.shape[1:]))
        room[: len(self.whole)] = self._room[: len(self.whole)]
        self._room = room

    @property
    def sweep(self) -> int:
        """The last sweep."""
        return self.chain.sweep

    @property
    def elapsed(self) -> float:
        """Seconds with everything, those before a checkpoint included."""
        return time.perf_counter() - self._begun

    # -- sampling ------------------------------------------------------------------------------------

    def start(self, start: Start, recorder=None, saved: tuple[dict, dict] | None = None) -> None:
        """Start the chain as `start` says, with checkpoints; `saved` is one that was written in the start."""
        if saved is not None:
            arrays, content = saved
            self._begun -= float(content["elapsed"])
            saved = (arrays, content[STARTING])

        def after(chain: Chain) -> None:
            self.starting = chain
            if recorder is not None:
                recorder.after(self)

        if saved is None:
            start_weights(self.chain)
        self.started = warm(self.chain, start, after, saved)
        self.starting = None
        self.seconds = self.elapsed

    def sweeps(self, last: int, wanted: frozenset[int], observers: Iterable[Callable[[Mapping], object]]):
        """Do the sweeps up to `last`; an iterator, a sweep a step."""
        whole = whole_sweeps(wanted, self.most)
        if len(whole) < len(wanted) and last > self.sweep:
            log.info(
                "%d of %d draws of the weights are kept whole (a draw has %.3g MB), with the mean and the "
                "variance of all; keep_draws=all keeps all",
                len(whole), len(wanted), self.chain.state.eta.nbytes / 2**20,
            )  # fmt: skip
        for info in self.chain.sweeps(last - self.sweep):
            self.seconds += info.seconds
            row = running.trace_row(self.chain, info, self.elapsed)
            self.trace.append(row)
            if info.sweep in wanted:
                self.keep(info.sweep in whole, len(whole))
            for observe in observers:
                observe(row)
            yield info

    def keep(self, whole: bool = True, room: int = 0) -> None:
        """Keep the present draw: the mean of the topics given z, weights and loss parameters.

        Parameters
        ----------
        whole : bool
            Keep the weights themselves, and not only in the moments.
        room : int
            Draws that are expected to be kept whole in all.
        """
        state = self.chain.state
        inverse = 1.0 / state.topic_masses()
        if self.phi_sum is None:
            self.phi_sum = np.zeros((state.n_words, state.n_topics))
            self.alpha_sum = np.zeros(state.n_topics)
        for first in range(0, state.n_words, ROWS):
            rows = slice(first, first + ROWS)
            self.phi_sum[rows] += state.word_masses(rows) * inverse
        self.alpha_sum += state.alpha_prior
        if self.moments is None and not whole:
            self._begin_moments()
        if self.moments is not None:
            self.moments.add(state.eta)
        if whole:
            n = len(self.whole)
            if n == len(self._room):
                self._make_room(room if room > n else 2 * n + 1)
            self._room[n] = state.eta
            self.whole.append(self.sweep)
            self.parameters.append(self._drawn())
        if self.proportion_sum is not None:
            counts = self.chain.counts.doc_topic
            rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
            lengths = np.diff(state.offsets)
            self.proportion_sum[rows, counts.indices] += counts.data / lengths[rows]
        self.kept.append(self.sweep)

    def _begin_moments(self) -> None:
        """Follow the moments from now on: so far all draws are whole."""
        self.moments = Moments(self._room.shape[1:])
        for draw in self.eta:
            self.moments.add(draw)

    def _thin(self, whole: frozenset[int]) -> None:
        """Keep only these draws whole; or, if they were not kept whole, as many others."""
        due = {sweep for sweep in whole if sweep <= self.sweep}
        wanted = due if due <= set(self.whole) else whole_sweeps(frozenset(self.whole), len(due))
        chosen = [i for i, sweep in enumerate(self.whole) if sweep in wanted]
        if len(chosen) == len(self.whole):
            return
        if self.moments is None:
            self._begin_moments()
        self._room = self._room[chosen]
        self.whole, self.parameters = ([v[i] for i in chosen] for v in (self.whole, self.parameters))

    def take_up(self, wanted: frozenset[int]) -> None:
        """Bring what a checkpoint had kept in line with the sweeps that are wanted.

        The outcome is that of a run of so many sweeps from the start wherever that can be made of what was
        kept: nothing of it, all of it, or besides it the present draw. Otherwise, which takes a number of
        sweeps that was changed, what was kept stays, and a warning says so.
        """
        due = {sweep for sweep in wanted if sweep <= self.sweep}
        lacking, needless = due - set(self.kept), set(self.kept) - due
        if needless and due <= {self.sweep}:
            self.clear()
            needless = set()
        if needless or lacking - {self.sweep}:
            so_far = f"the draws of sweeps {_listed(self.kept)} stay" if self.kept else "no draw is kept yet"
            log.warning(
                "%s; a run of %d sweeps from the start would keep %s", so_far, max(wanted), _listed(wanted)
            )
        whole = whole_sweeps(wanted, self.most)
        if self.sweep in due and self.sweep not in self.kept:
            self.keep(self.sweep in whole, len(whole))
        if self.most is not None:
            self._thin(whole)

    def _drawn(self) -> dict[str, np.ndarray]:
        """What is drawn beside topics and weights, copied."""
        drawn = {VARIANCE + name: values for name, values in self.chain.weight_variances().items()}
        return {name: values.copy() for name, values in (self.chain.parameters | drawn).items()}

    def _stacked(self, names: Iterable[str], prefix: str = "") -> dict[str, np.ndarray]:
        """Draws of some of `parameters`, (S, ...)."""
        return {name: np.array([drawn[prefix + name] for drawn in self.parameters]) for name in names}

    # -- what is made of them ------------------------------------------------------------------------

    def phi(self) -> np.ndarray:
        """The mean over kept sweeps of (n_kw + beta_w) / (n_k + sum of beta), float64 (K, V)."""
        if not self.kept:
            raise ValueError("no draw has been kept: call keep() after at least one sweep")
        return (self.phi_sum / len(self.kept)).T

    def proportions(self) -> np.ndarray:
        """The mean over kept sweeps of the topic proportions of the training documents, float64 (D, K)."""
        return self.proportion_sum / len(self.kept)

    def draws(
        self, passes: int = PASSES, burn_in: int = BURN_IN, restarts: int = RESTARTS, seed: int | None = None
    ) -> Draws:
        """Return what has been kept; it no longer needs the chain.

        Parameters
        ----------
        passes, burn_in : int
            Gibbs passes over a new document, and how many of them are left out.
        restarts : int
            Independent chains of so many passes over each document, averaged.
        seed : int, optional
            By default the chain's.

        Raises
        ------
        ValueError
            Where nothing has been kept.
        """
        chain = self.chain
        names = chain.corpus.covariate_names if chain.covariates is not None else None
        return Draws(
            phi=self.phi(),
            eta=self.eta if self.moments is None else self.moments.matched(self.eta),
            alpha=self.alpha_sum / len(self.kept),
            loss=chain.model.loss,
            coding=chain.coding,
            parameters=self._stacked(chain.parameters),
            variances=self._stacked(chain.weight_variances(), VARIANCE),
            vocabulary=chain.corpus.vocabulary,
            covariate_names=names or (),
            intercept=chain.intercept,
            passes=passes,
            burn_in=burn_in,
            restarts=restarts,
            seed=chain.seed if seed is None else seed,
            source="posterior" if chain.responses.weight is None else "weighted",
            trace=self.trace,
            kept=list(self.whole),
            seconds=self.seconds,
            n_tokens=chain.corpus.n_tokens,
            approximations=tuple(chain.approximations),
        )

    # -- checkpoints ---------------------------------------------------------------------------------

    def capture(self) -> tuple[dict, dict]:
        """Arrays and content of a checkpoint: the chain's own arrays, not copies."""
        if self.starting is not None:
            arrays, content = snapshot.capture_chain(self.starting)
            kernel = snapshot.kernel_record(self.chain)
            return arrays, {"sweep": 0, "kernel": kernel, "elapsed": self.elapsed, STARTING: content}
        arrays, content = snapshot.capture_chain(self.chain)
        content["keeper"] = {"n_kept": len(self.kept)}
        if self.kept:
            names = content["keeper"]["drawn"] = sorted(self._drawn())
            arrays |= {"phi_sum": self.phi_sum, "alpha_sum": self.alpha_sum, "etas": self.eta}
            if self.moments is not None:
                content["keeper"]["whole"] = self.whole
                arrays |= {"eta_mean": self.moments.mean, "eta_squares": self.moments.squares}
            for i, name in enumerate(names):
                arrays[f"drawn{i}"] = np.array([p[name] for p in self.parameters])
        columns = self.trace.columns
        content["trace"] = {"columns": columns}
        shape = (len(self.trace), len(columns))
        arrays["trace"] = np.array([self.trace.column(name) for name in columns]).T.reshape(shape)
        if self.proportion_sum is not None:
            arrays["proportions"], content["proportions"] = self.proportion_sum, {}
        return arrays, content | {
            "kept": self.kept, "seconds": self.seconds, "elapsed": self.elapsed, "started": self.started
        }  # fmt: skip

    def restore(self, arrays, content) -> None:
        """Go on from a checkpoint.

        Raises
        ------
        StorageError
            Parts that do not fit together.
        """
        try:
            snapshot.restore_chain(self.chain, arrays, content)
            self.clear()
            kept = [int(sweep) for sweep in content["kept"]]
            if content["keeper"]["n_kept"]:
                self.phi_sum, self.alpha_sum = np.array(arrays["phi_sum"]), np.array(arrays["alpha_sum"])
                self._room = arrays["etas"]  # never written to
                self.whole = [int(sweep) for sweep in content["keeper"].get("whole", kept)]
                if "whole" in content["keeper"]:
                    self.moments = Moments(self._room.shape[1:])
                    self.moments.n = len(kept)
                    self.moments.mean[:], self.moments.squares[:] = arrays["eta_mean"], arrays["eta_squares"]
                names = content["keeper"]["drawn"]
                drawn = [np.array(arrays[f"drawn{i}"]) for i in range(len(names))]
                self.parameters = [
                    {name: values[s] for name, values in zip(names, drawn, strict=True)}
                    for s in range(len(self.whole))
                ]
            columns = dict(zip(content["trace"]["columns"], arrays["trace"].T, strict=True))
            self.trace[:] = Trace.of(columns)
            if self.proportion_sum is not None:
                self.proportion_sum[:] = arrays["proportions"]
            self.kept = kept
            self.seconds, self.started = float(content["seconds"]), str(content["started"])
            self._begun = time.perf_counter() - float(content["elapsed"])
        except KeyError as error:
            raise StorageError(f"the checkpoint is incomplete: it lacks {error}") from None


def _listed(sweeps) -> str:
    sweeps = sorted(sweeps)
    shown = [str(s) for s in (sweeps if len(sweeps) <= 4 else [*sweeps[:2], "...", sweeps[-1]])]
    return ", ".join(shown) or "none"
