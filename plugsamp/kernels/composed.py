"""Composed Metropolis–Hastings sampling of the topic indicators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from plugsamp.checks import whole
from plugsamp.kernels.base import BlockReport, Kernel, Sampler, held_at, only
from plugsamp.proposals.base import Proposal
from plugsamp.proposals.table import TableProposal, compiled
from plugsamp.registry import class_of, resolve
from plugsamp.registry import load as load_registered
from plugsamp.state import State
from plugsamp.system.dispatch import load
from plugsamp.topics.lazily import lazy_topics, suits

_loop = load("plugsamp.kernels.composed_loop")

MAX_STEPS, MAX_PROPOSALS = _loop.LIMITS


class ComposedMH(Kernel):
    """A few Metropolis–Hastings steps a token, O(1) in K (Zheng et al. 2015, section 3.3).

    Parameters
    ----------
    proposals : sequence of str or dict
        Registered names, such as "doc", "word" and "exp". Without "exp" and with two steps this is
        LightLDA (full collapse, its tables kept exact) or light PC-LDA (partial). From Python also
        `plugsamp.proposals.table.TableProposal` objects, with options of theirs, or classes of proposals;
        a name stands for the options' defaults, and ``{name: guess, rounds: 2}`` gives some.
    composition : {"cycle", "mixture"}
        Proposals take turns, or each step picks one at random.
    steps : int
        Steps a token and sweep, 1 to 64.
    collapse : {"full", "partial"}
        Integrate the topics out, or keep them as a variable.
    """

    references = ("zheng2015",)

    def __init__(
        self,
        proposals: Sequence[str | dict] = ("word", "doc", "exp"),
        composition: str = "cycle",
        steps: int = 6,
        collapse: str = "full",
    ):
        super().__init__(collapse)
        alone = str | type | TableProposal | Mapping
        proposals = [proposals] if isinstance(proposals, alone) else list(proposals)
        if not 1 <= len(proposals) <= MAX_PROPOSALS:
            raise ValueError(f"a composition takes 1 to {MAX_PROPOSALS} proposals, not {len(proposals)}")
        for proposal in proposals:
            if isinstance(proposal, Mapping) and not isinstance(proposal.get("name"), str):
                raise ValueError(f"a proposal given as a mapping needs the key 'name', not {proposal!r}")
        if composition not in ("cycle", "mixture"):
            raise ValueError(f'composition must be "cycle" or "mixture", not {composition!r}')
        self.proposals = proposals
        self.composition = composition
        self.steps = whole("steps", steps, 1, MAX_STEPS)

    @cached_property
    def classes(self) -> list:
        """`proposals` with the classes that names stand for: finding one takes longer than a short sweep."""
        return [load_registered("proposals", p) if isinstance(p, str) else p for p in self.proposals]

    def __getstate__(self):
        return {name: value for name, value in self.__dict__.items() if name != "classes"}  # found again

    def sampler(self, state: State) -> Sampler:
        return _ComposedSampler(self, state)


def proposal_name(proposal) -> str:
    """What a proposal is called in reports: its registered name, or that of its class."""
    if isinstance(proposal, str):
        return proposal
    if isinstance(proposal, Mapping):
        return proposal["name"]
    return getattr(proposal, "__name__", type(proposal).__name__)


def _make(proposal, label: str, collapse: str):
    """The compiled proposal that a mapping, a class or an object stands for."""
    if isinstance(proposal, Mapping):
        by_collapse = getattr(load_registered("proposals", label), "depends_on_collapse", False)
        proposal = resolve("proposals", proposal, **({"collapse": collapse} if by_collapse else {}))
    if getattr(proposal, "depends_on_collapse", False):
        proposal = proposal(collapse)
    elif callable(proposal):
        proposal = proposal()
    if isinstance(proposal, TableProposal):
        return compiled(proposal, label)
    if not isinstance(proposal, Proposal):
        wanted = "a plugsamp.proposals.table.TableProposal or a plugsamp.proposals.base.Proposal"
        raise TypeError(f"proposal {label} must be {wanted}, not {class_of(proposal)}")
    return proposal


class _ComposedSampler(Sampler):
    def __init__(self, kernel: ComposedMH, state: State):
        self.kernel, self.state = kernel, state
        self.names = [proposal_name(proposal) for proposal in kernel.proposals]
        named = zip(kernel.classes, self.names, strict=True)
        self.proposals = [_make(proposal, name, kernel.collapse) for proposal, name in named]
        forms = [proposal.lazy_form() for proposal in self.proposals]
        if state.phi is not None and None not in forms and suits(state):
            state.lazy = lazy_topics(state)
            self.proposals = forms
        for proposal in self.proposals:
            proposal.attach(state)

    @property
    def divides(self) -> bool:
        return all(proposal.divides for proposal in self.proposals)

    @property
    def word_tables(self) -> bool:
        return any(proposal.by_words for proposal in self.proposals)

    def refresh_words(self, first: int, last: int) -> None:
        for proposal in self.proposals:
            if proposal.by_words:
                proposal.refresh_words(self.state, first, last)

    def refresh(self, seed: int, sweep: int) -> None:
        for proposal in self.proposals:
            proposal.refresh(self.state, seed, sweep)

    def _prepare(self, first: int, last: int) -> None:
        for proposal in self.proposals:
            proposal.prepare(self.state, first, last)

    def sample(self, first: int, last: int, key: int, words=None) -> BlockReport:
        tried = np.zeros(len(self.proposals), np.int64)
        accepted = np.zeros_like(tried)
        self._prepare(first, last)
        moved = _loop.sample_documents(
            self.state, first, last, key, self.proposals, self.kernel.composition == "mixture",
            self.kernel.steps, tried, accepted, **only(words),
        )  # fmt: skip
        rates = zip(self.names, tried.tolist(), accepted.tolist(), strict=True)
        return BlockReport(moved, {name: (t, a) for name, t, a in rates})

    def probe(self, document: int, position: int, topic: int, proposal: int, draws: int = 0, key: int = 0):
        """Target (K,), masses (K,) and counted draws (K,) of a proposal for a token that has `topic`.

        `key` is that of the draws' stream.
        """
        token = int(self.state.offsets[document]) + position
        target, mass = np.empty(self.state.n_topics), np.empty(self.state.n_topics)
        counted = np.zeros(self.state.n_topics, np.int64)
        counted[0] = draws
        with held_at(self.state, token, topic):
            self.refresh_words(0, self.state.n_words)
            self.refresh(0, 0)
            self._prepare(document, document + 1)
            _loop.probe(
                self.state, document, position, topic, self.proposals, proposal, key, target, mass, counted
            )
        return target, mass, counted

    def transition(self, document: int, position: int) -> np.ndarray:
        n_topics = self.state.n_topics
        single = []
        for p in range(len(self.proposals)):
            matrix = np.zeros((n_topics, n_topics))
            for s in range(n_topics):
                target, mass, _ = self.probe(document, position, s, p)
                with np.errstate(divide="ignore", invalid="ignore"):
                    ratio = np.minimum(1.0, target * mass[s] / (target[s] * mass))
                row = mass / mass.sum() * np.where(mass > 0, ratio, 0.0)
                row[s] = 0.0
                row[s] = 1.0 - row.sum()
                matrix[s] = row
            single.append(matrix)
        if self.kernel.composition == "mixture":
            return np.linalg.matrix_power(np.mean(single, axis=0), self.kernel.steps)
        matrix = np.eye(n_topics)
        for step in range(self.kernel.steps):
            matrix = matrix @ single[step % len(single)]
        return matrix
