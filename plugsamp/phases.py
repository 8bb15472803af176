"""The pieces of a sweep: what is done for one block of documents, words or outputs.

A piece is a function of the shared arrays, the sweep and its own number; its random stream is keyed by
these alone, so it does not matter which process runs it or in what order.
"""

from __future__ import annotations

import numpy as np

from plugsamp.dispatch import load
from plugsamp.kernels.base import BlockReport
from plugsamp.random.draws import Purpose, stream, stream_key
from plugsamp.responses import Responses
from plugsamp.state import PAD
from plugsamp.weights import GROUP, update_outputs

_dirichlet = load("plugsamp.topics.dirichlet")

#: Words whose topic probabilities are drawn as one piece.
WORDS = 512


def document_blocks(offsets: np.ndarray) -> np.ndarray:
    """Boundaries of the blocks of documents, a function of the corpus alone.

    Blocks of some 1/64 of the tokens, of 4,096 to 65,536 tokens, and 1,024 documents at most.
    """
    n_documents, n_tokens = len(offsets) - 1, int(offsets[-1])
    target = min(max(n_tokens // 64, 4096), 65536)
    edges = [0]
    while edges[-1] < n_documents:
        first = edges[-1]
        last = int(np.searchsorted(offsets, offsets[first] + target, side="right")) - 1
        edges.append(min(max(last, first + 1), first + 1024, n_documents))
    return np.array(edges, dtype=np.int64)


class Phases:
    """The work of a chain, in pieces.

    Parameters
    ----------
    model, state, sampler
        The posterior, the arrays, and the token kernel at work on them.
    responses : Responses
    columns : Columns
    prior_state : dict of arrays
        What the chain holds of the weight prior.
    seed : int
    method, passes
        The weight update, see `plugsamp.weights.update_outputs`.
    """

    def __init__(
        self, model, state, sampler, responses: Responses, columns, prior_state, seed, method, passes
    ):
        self.model, self.state, self.sampler, self.responses = model, state, sampler, responses
        self.columns, self.prior_state = columns, prior_state
        self.seed, self.method, self.passes = seed, method, passes
        self.edges = document_blocks(state.offsets)
        self.design = None  # set by the chain before the outputs of a sweep

    @property
    def n_document_blocks(self) -> int:
        return len(self.edges) - 1

    @property
    def n_word_blocks(self) -> int:
        return -(-self.state.n_words // WORDS)

    @property
    def n_output_groups(self) -> int:
        return -(-self.state.n_outputs // GROUP)

    def augment(self, sweep: int, block: int) -> None:
        """(kappa, omega) of a block of documents given f and y."""
        if not self.state.n_outputs:
            return
        f, rows = self._predictor(block)
        drawn = self.responses.augment(f, stream(self.seed, Purpose.AUGMENT, sweep, block), rows)
        self.state.kappa[rows], self.state.omega[rows] = drawn

    def loss_statistics(self, sweep: int, block: int) -> np.ndarray:
        """What the loss's own parameters need of a block of documents."""
        f, rows = self._predictor(block)
        return self.responses.statistics(f, stream(self.seed, Purpose.LOSS_STATISTICS, sweep, block), rows)

    def _predictor(self, block: int) -> tuple[np.ndarray, slice]:
        """f of a block of documents, and which they are."""
        rows = slice(self.edges[block], self.edges[block + 1])
        return self.state.linear_predictor(rows.start, rows.stop), rows

    def documents(self, sweep: int, block: int) -> BlockReport:
        """Augmentation, then topics of a block of documents (MODEL section 6)."""
        self.augment(sweep, block)
        first, last = int(self.edges[block]), int(self.edges[block + 1])
        report = self.sampler.sample(first, last, stream_key(self.seed, Purpose.TOPICS, sweep, block))
        self.state.recount_documents(first, last)
        return report

    @property
    def n_topic_groups(self) -> int:
        return -(-self.state.n_topics // PAD)

    def inclusion(self, sweep: int, group: int) -> None:
        """Which words are in the topics of a group, as 0 and 1 in phi, for the draw of phi that follows."""
        state = self.state
        columns = slice(group * PAD, min((group + 1) * PAD, state.n_topics))
        included = (state.phi[:, columns] > 0).astype(np.uint8)
        counts = np.ascontiguousarray(state.topic_word[:, columns])
        rng = stream(self.seed, Purpose.INCLUSION, sweep, group)
        self.model.topics.draw_included(included, counts, state.beta_prior, rng)
        state.phi[:, columns] = included

    def phi(self, sweep: int, block: int) -> np.ndarray:
        """Unnormalised topic probabilities of a block of words; returns their sums, (K,)."""
        state = self.state
        first, last = block * WORDS, min((block + 1) * WORDS, state.n_words)
        totals = np.empty(state.n_topics)
        key = stream_key(self.seed, Purpose.PHI, sweep, block)
        if state.lazy is not None:
            state.lazy.draw(state.z, *state.word_order, first, last, totals, key)
            return totals
        _dirichlet.draw_gammas(
            state.topic_word, state.beta, first, last, state.n_topics, state.phi, totals, key,
            state.masked,
        )  # fmt: skip
        return totals

    def scale_phi(self, sweep: int, block: int) -> None:
        """Divide the topic probabilities of a block of words by `phi_factor`'s reciprocal."""
        first, last = block * WORDS, min((block + 1) * WORDS, self.state.n_words)
        if self.state.lazy is not None:
            self.state.lazy.scale(first, last)
            return
        _dirichlet.scale_rows(self.state.phi, self.phi_factor, first, last)

    def outputs(self, sweep: int, group: int) -> None:
        """Weights, then shrinkage, of a group of outputs."""
        state, prior = self.state, self.model.weights
        outputs = range(group * GROUP, min((group + 1) * GROUP, state.n_outputs))
        update_outputs(
            self.design, state.kappa, state.omega, state.eta, outputs, prior, self.prior_state, self.columns,
            self.seed, sweep, method=self.method, passes=self.passes,
        )  # fmt: skip
        for c in outputs:
            rng = stream(self.seed, Purpose.SHRINKAGE, sweep, c)
            prior.update(self.prior_state, c, self.columns, state.eta[c], rng)
