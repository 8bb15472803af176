"""The Markov chain: one sweep reads like model.md section 6."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
from scipy import sparse

from plugsamp.backends.base import Backend
from plugsamp.backends.serial import Serial
from plugsamp.checks import whole
from plugsamp.corpus import Corpus
from plugsamp.errors import ApproximationWarning, InputWarning, NonFinite
from plugsamp.kernels.base import Kernel, partial_kernels, responsive_kernels
from plugsamp.model import Model
from plugsamp.options import check_kept
from plugsamp.priors.columns import Columns
from plugsamp.random.draws import Purpose, stream, stream_key
from plugsamp.registry import require, resolve
from plugsamp.regression import weight_step
from plugsamp.regression.design import Fixed
from plugsamp.regression.response_weights import response_weights
from plugsamp.regression.responses import Responses
from plugsamp.regression.weights import check_update
from plugsamp.sampling import adlda, snapshot
from plugsamp.sampling.approximations import approximations
from plugsamp.sampling.learning import draw_priors
from plugsamp.sampling.phases import Phases
from plugsamp.sampling.view import ChainView, SweepInfo
from plugsamp.state import State
from plugsamp.system.blas import single_thread
from plugsamp.topics import lazily, tiny

log = logging.getLogger(__name__)

#: The token kernels hold weights in single precision.
LARGEST_WEIGHT = 1e37


class Chain(ChainView):
    """A Markov chain whose stationary distribution is the posterior of `model` given `corpus`.

    Parameters
    ----------
    corpus : Corpus
    model : Model
    kernel : Kernel or str
    backend : Backend or str, optional
        Where the work runs; by default in this process. A chain with worker processes ends them when it is
        closed (`close`, or a ``with`` statement), is dropped, or fails.
    seed : int
        The chain is a function of corpus, model, kernel and seed, to the bit, on one build and one type
        of processor. 0 is a seed.
    init : array_like (N,) of int, optional
        The first topics; by default drawn uniformly, or as the kernel starts.
    weight_update : {"auto", "block", "mixed", "coordinate"}
        How the weights are drawn (`plugsamp.regression.weights`).
    weight_passes : int
        Passes of the coordinate update in a sweep.
    choose : callable, optional
        Says which kernel the given one stands for, of it, model, corpus, number of outputs and whether the
        backend is parallel; by default its own `plugsamp.kernels.Kernel.chosen`.

    Raises
    ------
    ValueError
        Where corpus, model, kernel and start do not fit together; the message says how.

    Examples
    --------
    >>> import numpy as np, plugsamp as ps
    >>> corpus = ps.Corpus.from_counts(np.array([[3, 0, 1], [0, 2, 2], [1, 1, 0]]), responses=["a", "b", "a"])
    >>> chain = ps.Chain(corpus, ps.Model(n_topics=2, loss="hinge"), "dense", seed=0).run(10)
    >>> chain.z.shape, chain.eta.shape
    ((10,), (1, 2))
    """

    def __init__(
        self,
        corpus,
        model,
        kernel="dense",
        backend=None,
        seed: int = 0,
        init=None,
        weight_update: str = "auto",
        weight_passes: int = 1,
        choose: Callable[..., Kernel] | None = None,
    ):
        self.corpus, self.model, self.seed = corpus, model, whole("seed", seed, most=None)
        check_update(weight_update, weight_passes)
        self.kernel = resolve("kernels", kernel)
        self.backend = resolve("backends", backend) if backend is not None else Serial()
        require("corpus", corpus, Corpus)
        require("model", model, Model)
        require("kernel", self.kernel, Kernel, "kernels")
        require("backend", self.backend, Backend, "backends")
        for part in (model.loss, model.weights, model.topics, self.kernel):
            check_kept(part)
        if corpus.responses is not None and not model.loss_given:
            warnings.warn(
                'the corpus has responses and the model no loss, so they are not used; pass loss="hinge" to '
                'ps.Model, or loss="none" to say that this is meant',
                InputWarning,
                stacklevel=2,
            )
        self.coding = model.coding(corpus)
        n_outputs = self.coding.n_outputs
        given, choose = self.kernel, choose or type(self.kernel).chosen
        self.kernel = choose(given, model, corpus, n_outputs, self.backend.parallel)
        if self.kernel is not given:
            log.info("kernel: %r, chosen by %s", self.kernel, type(given).__name__.lower())
        if n_outputs and not self.kernel.responses:
            able = partial_kernels(True) if model.topics.needs_phi else responsive_kernels()
            raise ValueError(f"{self.kernel!r} samples models without responses only; with them: {able}")
        if model.topics.needs_phi and not self.kernel.partial:
            raise ValueError(
                f"{model.topics!r} needs the topics as a variable of the chain, and {given!r} "
                f"integrates them out; kernels that keep them: {partial_kernels(n_outputs > 0)}"
            )
        self.covariates = self._covariates()
        self.intercept = model.has_intercept(self.covariates is not None) and n_outputs > 0
        n_covariates = 0 if self.covariates is None else self.covariates.shape[1]
        self.columns = Columns(model.n_topics, n_covariates, self.intercept)
        y = self.coding.y if n_outputs else np.zeros((corpus.n_documents, 0))
        self.responses = Responses(model.loss, y, self._response_weights())
        self.work = self.backend.open(self.kernel.partial)
        arena = self.work.arena
        self.responses.share(arena)
        self.state = State(corpus, model, n_outputs, len(self.columns), self.kernel.partial, arena)
        self.phases = Phases(
            model, self.state, self.kernel, self.responses, self.columns,
            model.weights.start(n_outputs, self.columns), self.seed, weight_update, weight_passes,
            self.work.groups, self.work.scheme,
        )  # fmt: skip
        #: What keeps the chain from the posterior, a clause each.
        self.approximations = approximations(self.kernel, model, self.phases.division or self.backend)
        for clause in self.approximations:
            warnings.warn(clause, ApproximationWarning, stacklevel=2)
        self.prior_state = self.phases.prior_state
        self._fixed = None  # the columns of the design that no sweep changes, once they are needed
        if self.kernel.partial or (arena.shared and self.phases.sampler.word_tables):
            _ = self.state.word_order  # tokens are counted word by word, and workers are to find it made
        self.work.start(self.phases)
        self.sweep = 0
        self._midway = False  # a sweep was begun and not ended: counts may not be those of z
        self._start(init)

    def _response_weights(self) -> np.ndarray | None:
        if not self.coding.n_outputs:
            return None
        weight = response_weights(self.corpus.weights, self.model.class_weight, self.coding)
        self.model.check_weighted(weight)
        return weight

    def _covariates(self) -> np.ndarray | sparse.csr_array | None:
        x = self.corpus.covariates
        return None if x is None or x.shape[1] == 0 else x

    def _start(self, init) -> None:
        state = self.state
        #: How, in words.
        self.started = "random topics" if init is None else "topics that were given"
        if init is None:
            # by block, so that a distributed start would be the same
            for block, (first, last) in enumerate(pairwise(self.phases.edges)):
                key = stream_key(self.seed, Purpose.START, 0, block)
                if self.phases.sampler.start(int(first), int(last), key):
                    self.started = "topics drawn one after another"
                    continue
                tokens = slice(state.offsets[first], state.offsets[last])
                rng = stream(self.seed, Purpose.START, 0, block)
                state.z[tokens] = rng.integers(0, state.n_topics, tokens.stop - tokens.start, dtype=np.uint16)
            self.refresh()
        else:
            self.set_state(z=init)

    def set_state(self, z=None, eta=None) -> None:
        """Put the chain in a state; what follows from it (counts, Phi) is made anew.

        Parameters
        ----------
        z : array_like (N,) of int, optional
        eta : array_like (C, J), optional
        """
        state = self.state
        if z is not None:
            z = _array("z", z, "biuf")
            if z.shape != state.z.shape:
                raise ValueError(f"z must have shape {state.z.shape}, one topic a token, not {z.shape}")
            if z.size and not (z.min() >= 0 and z.max() < state.n_topics):  # NaN is in no range
                raise ValueError(f"topics of z must lie in 0..{state.n_topics - 1}")
            if z.dtype.kind in "bf" and (z.dtype.kind == "b" or (z != np.floor(z)).any()):
                raise ValueError(f"topics of z must be whole numbers, found {z.dtype} values such as {z[0]}")
        if eta is not None:
            eta = _array("eta", eta, "iuf").astype(float)
            if eta.shape != state.eta.shape:
                raise ValueError(f"eta must have shape {state.eta.shape}, not {eta.shape}")
            if not _representable(eta):
                raise ValueError(f"eta must hold finite numbers, of size {LARGEST_WEIGHT:g} at most")
        self.work.check()
        # Only now, so that what is refused changes nothing.
        if z is not None:
            state.z[:] = z
            state.renewed()
        if eta is not None:
            state.eta[:] = eta
        self.refresh()

    def refresh(self, inclusion: bool = True) -> None:
        """Make anew what follows from the state; with `inclusion`, which words the topics have, too."""
        self.state.recount()
        self._spread_weights()
        if self.kernel.partial:
            self._draw_phi(self.sweep, inclusion)
        self._midway = False

    def save(self, path, overwrite: bool = False):
        """Write the chain as it is into a folder, from which `load` takes it up to the bit.

        Parameters
        ----------
        path : path-like
        overwrite : bool
            Replace a saved chain that is there.
        """
        return snapshot.save_chain(self, path, overwrite)

    def load(self, path) -> Chain:
        """Put this chain where one of the same corpus, model, kernel and seed was when it was saved.

        It goes on as that one would have, to the bit; the backend may be another. `kappa` and `omega` are
        drawn by its next sweep.

        Raises
        ------
        StorageError
            A folder that is damaged or newer, or holds another chain; the message names what differs.
        """
        self.work.check()
        snapshot.load_chain(self, path)
        return self

    def close(self) -> None:
        """End the worker processes, where there are some; a further `run` starts them again."""
        self.work.close()

    def __enter__(self) -> Chain:
        return self

    def __exit__(self, *error) -> None:
        self.close()

    # -- one sweep -----------------------------------------------------------------------------------

    def run(self, n: int) -> Chain:
        """Do `n` sweeps; can be called again."""
        with single_thread():  # once, not for every sweep: of a small corpus that takes as long
            for _ in self.sweeps(n):
                pass
        return self

    def sweeps(self, n: int | None = None) -> Iterator[SweepInfo]:
        """Iterate over sweeps, `n` of them or without end; the chain is in the sweep's state meanwhile."""
        if n is not None:
            whole("the number of sweeps", n)
        done = 0
        while n is None or done < n:
            yield self._one_sweep()
            done += 1

    def _one_sweep(self) -> SweepInfo:
        start = time.perf_counter()
        self.work.check()
        if self._midway:  # its topics are as good a start as any, all else follows from them
            self.state.renewed()
            self.refresh(inclusion=False)
        sweep = self.sweep + 1
        self._midway = True
        with single_thread():
            self._draw_loss_parameters(sweep)
            reports = self._sample_documents(sweep)
            # Given z alone, so right before Phi: tokens drawn by a Phi of another beta would not know beta.
            draw_priors(self.state, self.model, self.seed, sweep)
            if self.kernel.partial:
                self._draw_phi(sweep)
            self._draw_weights(sweep)
        self.sweep, self._midway = sweep, False
        return SweepInfo.of(sweep, reports, len(self.state.z), time.perf_counter() - start)

    def _draw_loss_parameters(self, sweep: int) -> None:
        if not self.parameters:
            return
        parts = self.work.run("loss_statistics", sweep, self.phases.n_document_blocks)
        total = np.sum(parts, axis=0)  # over fixed blocks in fixed order
        self.responses.update(total, stream(self.seed, Purpose.LOSS, sweep))
        for name, values in self.parameters.items():
            if not np.isfinite(values).all():
                raise NonFinite(f"sweep {sweep}: the loss's {name} of an output is not a finite number")

    def _sample_documents(self, sweep: int) -> list:
        try:
            if self.phases.division is not None:
                return adlda.sample(self.work, self.phases, sweep)
            if self.phases.sampler.word_tables:
                self.work.run("tables", sweep, self.phases.n_word_blocks)
            reports = self.work.run("documents", sweep, self.phases.n_document_blocks)
        except NonFinite as error:
            raise NonFinite(f"sweep {sweep}: {error}") from None
        if self.kernel.partial:
            self.state.leave_counts()
        return reports

    def _draw_phi(self, sweep: int, inclusion: bool = True) -> None:
        state, phases, run = self.state, self.phases, self.work.run
        if state.masked:
            run("counts", sweep, phases.n_word_blocks)
            if inclusion:
                run("inclusion", sweep, phases.n_topic_groups)
        lazy = state.lazy
        if lazy is not None:
            lazy.begin(stream_key(self.seed, Purpose.PHI, sweep, 2**31 + 1))
        run("phi", sweep, phases.n_word_blocks)
        total = phases.drawn.sum(axis=0)  # over fixed blocks in fixed order
        if lazy is not None:
            total += lazily.remainder(state, stream(self.seed, Purpose.PHI, sweep, 2**31 + 2))
        else:
            state.counted(phases.counted.sum(axis=0))
            tiny.redraw(state, total, stream(self.seed, Purpose.PHI, sweep, 2**31 + 3))
        phases.phi_factor[: state.n_topics] = 1.0 / total
        if lazy is not None:
            lazy.finish(phases.phi_factor, lazily.threshold(state))
        self.work.run_sized("scale_phi", sweep, phases.n_word_blocks, state.n_words * state.stride)

    def _draw_weights(self, sweep: int) -> None:
        if not self.state.n_outputs:
            return
        weight_step.draw(self.work, self.phases, self._fixed_columns(), sweep)
        if not _representable(self.state.eta):
            c, j = np.argwhere(~(np.abs(self.state.eta) <= LARGEST_WEIGHT))[0]
            raise NonFinite(
                f"sweep {sweep}: the weight of output {c}, column {j} is {self.state.eta[c, j]:g}, beyond "
                f"{LARGEST_WEIGHT:g}; a smaller prior variance or loss keeps it in range"
            )
        self._spread_weights()

    def _fixed_columns(self) -> Fixed:
        if self._fixed is None:
            self._fixed = Fixed(self.covariates, self.intercept, self.state.n_documents)
            if self.state.arena.shared:
                self._fixed.share(self.state.arena)
        return self._fixed

    def _spread_weights(self) -> None:
        state = self.state
        state.spread_weights()
        k = state.n_topics
        state.offset[:] = 0.0
        if self.covariates is not None:
            state.offset += self.covariates @ state.eta[:, k : k + self.covariates.shape[1]].T
        if self.intercept:
            state.offset += state.eta[:, -1]


def _representable(eta) -> bool:
    return bool((np.abs(eta) <= LARGEST_WEIGHT).all())  # False for NaN


def _array(name: str, values, kinds: str) -> np.ndarray:
    try:
        array = np.asarray(values)
    except ValueError:
        array = None
    if array is None or array.dtype.kind not in kinds:
        found = "rows of different lengths" if array is None else f"values of type {array.dtype}"
        found += f"; of a {type(values).__name__} take .{name}" if hasattr(values, name) else ""
        raise ValueError(f"{name} must hold numbers, found {found}")
    return array
