"""Collapsed kernels over several groups of documents at once: approximately (AD-LDA, Newman et al. 2009).

With the topics integrated out each token's topic depends on all others at once, so groups of documents that
are worked on together must do with counts that are behind. Either every group has copies of all counts,
merged after the sweep; or words are divided too, and in turn each group is at one part of the words, so
that nothing but the topics' totals n_k is behind, and by what the other groups have moved in that turn
alone.

What comes out depends on the number of groups, not on the processes that work on them.
"""

from __future__ import annotations

import numpy as np

from plugsamp.kernels.base import BlockReport

#: How groups of documents work at the same time.
SCHEMES = ("rotation", "copies")


def chosen_scheme(scheme: str, kernel, sampler) -> str:
    """How a kernel's sampler is run over several groups: by rotation where it can, unless one is asked for.

    Raises
    ------
    ValueError
        Rotation of a kernel that keeps more than the counts of the words at hand.
    """
    if scheme == "rotation" and not sampler.divides:
        raise ValueError(
            f"{kernel!r} cannot work on parts of the words, so there is no rotation; take collapsed=copies"
        )
    if scheme == "auto":
        return "rotation" if sampler.divides else "copies"
    return scheme


class Division:
    """Groups of documents, and parts of the words.

    Parameters
    ----------
    state : State
    edges : int64 (B+1,)
        The blocks of documents, which groups are made of.
    n_groups : int
        At most so many; there is no more than one a block.
    scheme : {"rotation", "copies"}

    Attributes
    ----------
    groups : int64 (G+1,)
        Boundaries in blocks.
    words : int64 (G+1,)
        Boundaries of the parts of the words, each with about as many tokens.
    change : int64 (G, K)
        How the totals have changed in each group.
    next_z : uint16 (N,)
        Of copies: the topics that the groups have come to.
    """

    def __init__(self, state, edges: np.ndarray, n_groups: int, scheme: str):
        self.scheme = scheme
        n_groups = max(min(n_groups, len(edges) - 1), 1)
        self.groups = _even(state.offsets[edges], n_groups)
        tokens = np.cumsum(np.bincount(state.words, minlength=state.n_words))
        self.words = _even(np.concatenate([[0], tokens]), n_groups)
        arena = state.arena
        self.change = arena.array("adlda.change", (n_groups, state.n_topics), np.int64)
        self.next_z = arena.array("adlda.z", len(state.z), np.uint16) if scheme == "copies" else None

    def __len__(self) -> int:
        return len(self.groups) - 1

    def blocks(self, group: int) -> range:
        return range(int(self.groups[group]), int(self.groups[group + 1]))

    def part(self, group: int, turn: int) -> tuple[int, int]:
        """The words that a group is at in a turn."""
        p = (group + turn) % len(self)
        return int(self.words[p]), int(self.words[p + 1])

    def approximate(self, kernel) -> str:
        """What keeps the chain from the posterior, in words that follow "the backend"."""
        n = len(self)
        if self.scheme == "copies":
            return (
                f"works on {n} groups of documents at once, each with a copy of the counts that is merged "
                "after the sweep (AD-LDA): its stationary distribution is not the posterior"
            )
        return (
            f"works on {n} groups of documents at once, in turn at {n} parts of the words, with totals of "
            "the topics that are behind within a turn (AD-LDA): its stationary distribution is not the "
            "posterior"
        )


def _even(cumulated: np.ndarray, n: int) -> np.ndarray:
    """n + 1 boundaries of consecutive pieces of about the same mass, none empty where there are enough."""
    size = len(cumulated) - 1
    wanted = cumulated[-1] * np.arange(1, n) / n
    inside = np.searchsorted(cumulated, wanted)
    edges = np.concatenate([[0], inside, [size]])
    if size >= n:  # at least one each
        for i in range(1, n):
            edges[i] = min(max(edges[i], edges[i - 1] + 1), size - (n - i))
    return np.maximum.accumulate(np.clip(edges, 0, size)).astype(np.int64)


def sample(work, phases, sweep: int) -> list[BlockReport]:
    """The topics of all documents, in the groups of ``phases.division``."""
    state, division = phases.state, phases.division
    if not phases.sampler.counts_words or division.scheme == "copies":
        _ = state.topic_word  # made current here, not by each of the workers
    _ = state.topic_totals
    if division.scheme == "copies":
        reports = work.run("copied", sweep, len(division))
        state.z[:] = division.next_z
        state.renewed()
        state.leave_counts()
        return [report for group in reports for report in group]
    if phases.sampler.word_tables:
        work.run("tables", sweep, phases.n_word_blocks)
    reports = []
    for turn in range(len(division)):
        for group in work.run("rotated", sweep, len(division), turn=turn):
            reports += group
        totals = state.topic_totals
        totals[: state.n_topics] += division.change.sum(axis=0)
    return reports
