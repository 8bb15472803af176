"""Where a chain starts. A start changes how soon a chain is where it wants to be, never where that is."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array, issparse

from plugsamp.backends.base import Backend, Work
from plugsamp.backends.serial import Serial
from plugsamp.checks import whole
from plugsamp.errors import ApproximationWarning, InputWarning
from plugsamp.random.draws import Purpose, stream_key
from plugsamp.sampling.snapshot import restore_chain

METHODS = ("auto", "random", "collapsed")

#: Tokens times sweeps from which a start in groups is worth worker processes of its own, which take a second
#: to come.
WORTH_WORKERS = 5_000_000

#: Of a weight that a chain starts with.
LARGEST_START = 1e6


@dataclass(frozen=True)
class Start:
    """The start of a chain.

    Parameters
    ----------
    method : {"auto", "random", "collapsed"}
        Topics drawn uniformly; or, from there, some sweeps with the topics integrated out, for chains that
        keep them as a variable: from uniform topics such chains take some hundred sweeps to get where
        collapsed ones are after ten. "auto" is "collapsed" for these and "random" for the others.
    sweeps : int
        Of the collapsed start.
    groups : int
        Groups of documents that the collapsed start works on at once, by rotation
        (`plugsamp.sampling.adlda`): 1 is one process's work, more are for that many worker processes;
        together they take more time (8 groups some 65% more). It is not the number of workers, so that the
        chain does not depend on that.

    Raises
    ------
    ValueError
    """

    method: str = "auto"
    sweeps: int = 15
    groups: int = 1

    def __post_init__(self):
        if self.method not in METHODS:
            raise ValueError(f"start: method must be one of {', '.join(METHODS)}, not {self.method!r}")
        object.__setattr__(self, "sweeps", whole("start: sweeps", self.sweeps, 1))
        object.__setattr__(self, "groups", whole("start: groups", self.groups, 1))

    def collapsed(self, kernel) -> bool:
        """Whether a chain of this kernel gets a collapsed start."""
        return self.method == "collapsed" or (self.method == "auto" and kernel.partial)


class _InGroups(Backend):
    """A backend with collapsed kernels over so many groups of documents, by rotation where they can."""

    def __init__(self, backend: Backend, groups: int):
        self.backend, self.groups = backend, groups

    def open(self, partial: bool) -> Work:
        work = self.backend.open(True)
        work.groups, work.scheme = self.groups, "rotation"
        return work


def start_weights(chain) -> None:
    """Start the weights of sparse covariates, such as words, where the loss says (`Loss.first_weights`).

    From 0 the topics would take what the words can tell, and a chain gives it back only slowly.
    """
    x, eta = chain.covariates, chain.eta.copy()
    if not issparse(x):
        return
    narrow = (x.data, x.indices.astype(np.int32), x.indptr.astype(np.int32))  # as scikit-learn takes them
    x, y, weight = csr_array(narrow, shape=x.shape), chain.coding.y, chain.responses.weight
    columns = chain.columns
    for c in range(y.shape[1]):
        known = ~np.isnan(y[:, c])
        own = None if weight is None else weight[:, c]
        if own is not None:
            known &= own > 0
        if len(np.unique(y[known, c])) < 2:
            continue
        precision = chain.model.weights.precision(chain.prior_state, c, columns)[columns.covariates]
        found = chain.model.loss.first_weights(
            x[known], y[known, c], 1.0 / float(precision.mean()), chain.intercept,
            None if own is None else own[known], chain.seed,
        )  # fmt: skip
        if found is None:
            return
        eta[c, columns.covariates] = found[0]
        if chain.intercept:
            eta[c, -1] = found[1]
    chain.set_state(eta=np.clip(eta, -LARGEST_START, LARGEST_START))


def warm(chain, start: Start, after: Callable | None = None, saved: tuple | None = None) -> str:
    """Put a chain that stands at its first topics where `start` says, and return how it started, in words.

    The sweeps are those of a second chain, with the same model (without words left out of topics) and
    a seed derived from the chain's; z and eta are copied. With several groups the start is approximate, which
    does not affect the stationary distribution.

    Parameters
    ----------
    chain : Chain
    start : Start
    after : callable, optional
        Called with the second chain after each of its sweeps.
    saved : (dict, dict), optional
        Arrays and content of the second chain, as `plugsamp.sampling.snapshot.capture_chain` returned
        them: the start goes on from there.
    """
    from plugsamp.chain import Chain
    from plugsamp.kernels.auto import Auto
    from plugsamp.topics.base import Dirichlet

    if not start.collapsed(chain.kernel):
        return chain.started
    model = chain.model
    if model.topics.needs_phi:
        model = replace(model, topics=Dirichlet())
    seed = stream_key(chain.seed, Purpose.START, 1)
    kernel = Auto("full").chosen(model, chain.corpus, chain.state.n_outputs)
    large = chain.corpus.n_tokens * start.sweeps >= WORTH_WORKERS
    backend = Serial()
    if start.groups > 1:
        backend = _InGroups(chain.backend if large else backend, start.groups)
    with warnings.catch_warnings():  # what the chain has to say of the model it has said
        warnings.simplefilter("ignore", ApproximationWarning)
        warnings.simplefilter("ignore", InputWarning)
        first = Chain(
            chain.corpus, model, kernel, backend, seed=seed,
            weight_update=chain.phases.method, weight_passes=chain.phases.passes,
        )  # fmt: skip
    with first:
        if saved is not None:
            restore_chain(first, *saved)
        elif chain.eta.any():
            first.set_state(eta=chain.eta)
        for _ in first.sweeps(start.sweeps - first.sweep):
            if after is not None:
                after(first)
    if model.learn_alpha.method != "none" or model.learn_beta.method != "none":
        chain.state.set_priors(first.alpha, first.beta)
    chain.set_state(z=first.z, eta=first.eta)  # after the priors: it draws the topics
    division = first.phases.division
    groups = "" if division is None else f", {len(division)} groups of documents at once"
    return f"{start.sweeps} sweeps with the topics integrated out ({first.kernel!r}{groups})"
