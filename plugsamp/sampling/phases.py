"""The pieces of a sweep: what is done for one block of documents, words or outputs.

A piece is a function of the shared arrays, the sweep, what is given with the phase, and its own number; its
random stream is keyed by these alone, so it does not matter which process runs it or in what order.
"""

from __future__ import annotations

import numpy as np

from plugsamp.kernels.base import BlockReport
from plugsamp.random.draws import Purpose, stream, stream_key
from plugsamp.regression.responses import Responses
from plugsamp.regression.scales import moments
from plugsamp.regression.weight_step import Features
from plugsamp.regression.weights import GROUP, update_outputs
from plugsamp.sampling.adlda import Division, chosen_scheme
from plugsamp.sampling.log_joint import log_documents
from plugsamp.state import PAD
from plugsamp.system.arena import Arena
from plugsamp.system.dispatch import load

_dirichlet = load("plugsamp.topics.dirichlet")

#: Words whose topic probabilities are drawn as one piece.
WORDS = 512

#: Counts of a word in a topic from 1 to here are counted by how often they occur.
TIMES = 256


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

    Every process has one. What they share stands in arrays of the arena and is changed in place; the sampler
    is each process's own; what else the chain decides between two phases is `given` with a phase.

    Parameters
    ----------
    model, state, kernel
        The posterior, the arrays, and the token kernel to work on them.
    responses : Responses
    columns : Columns
    prior_state : dict of arrays
        What the chain holds of the weight prior.
    seed : int
    method, passes
        The weight update, see `plugsamp.regression.weights.update_outputs`.
    groups, scheme
        How many groups of documents are to be worked on at once though the kernel is collapsed, and how
        (`plugsamp.sampling.adlda`).
    """

    def __init__(
        self, model, state, kernel, responses: Responses, columns, prior_state, seed, method, passes,
        groups: int = 1, scheme: str = "auto",
    ):  # fmt: skip
        self.model, self.state, self.kernel, self.responses = model, state, kernel, responses
        self.columns, self.seed, self.method, self.passes = columns, seed, method, passes
        arena = state.arena
        self.prior_state = {name: arena.copy(f"prior.{name}", a) for name, a in prior_state.items()}
        self.edges = document_blocks(state.offsets)
        self.given: dict = {}
        #: Of each block of words, sums of what was drawn and counted, in one row.
        shape = (self.n_word_blocks, state.n_topics)
        self.drawn, self.counted = arena.array("drawn", shape, float), arena.array("counted", shape, np.int64)
        #: Of each block of words, how often each n_kw occurs.
        self.times = arena.array("times", (self.n_word_blocks, TIMES), np.int64)
        #: What turns draws of phi into probabilities, set between their drawing and their scaling.
        self.phi_factor = arena.array("phi_factor", state.stride, np.float32)
        self.features = Features(state, self.n_document_blocks) if state.n_outputs else None
        self.division = None
        self._join()
        if min(groups, self.n_document_blocks) > 1:
            self.division = Division(state, self.edges, groups, chosen_scheme(scheme, kernel, self.sampler))
            if self.division.scheme == "copies":
                self._join()

    def _join(self) -> None:
        """Make what each process has for itself."""
        state, arena = self.state, self.state.arena
        if self.division is not None and self.division.scheme == "copies":
            _ = state.word_order  # which is for all
            state.arena = Arena()
        try:
            self.sampler = self.kernel.sampler(state)
        finally:
            state.arena = arena
        self._fresh = None  # for which sweep, and version of z, the sampler's own tables are

    def __getstate__(self):
        return {n: v for n, v in self.__dict__.items() if n not in ("sampler", "given", "_fresh")}

    def join(self, arena) -> Phases:
        """Go to work in another process, where the same arrays are to be had of `arena`."""
        self.state.arena, self.given = arena, {}
        self._join()
        return self

    def sampled(self, phase: str) -> bool:
        """Whether a phase needs what the sampler of a process keeps for itself."""
        return phase in ("documents", "rotated", "copied")

    def run(self, phase: str, sweep: int, pieces, given: dict) -> list:
        """Pieces of a phase, one after another; results in their order."""
        work, self.given = getattr(self, phase), given
        try:
            return [work(sweep, piece) for piece in pieces]
        except (
            SystemExit
        ) as stop:  # whoever uses the package would end in silence, and seem to have succeeded
            what = f'something in "{phase}" of sweep {sweep}'
            raise RuntimeError(f"{what} called sys.exit({stop.code!r})") from stop
        finally:
            self.given = {}

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

    def tables(self, sweep: int, block: int) -> None:
        """What the sampler keeps of a block of words, for all processes."""
        self.sampler.refresh_words(*self._words(block))

    def documents(self, sweep: int, block: int) -> BlockReport:
        """Augmentation, then topics of a block of documents (model.md section 6)."""
        self._refresh(sweep)
        self.augment(sweep, block)
        first, last = self._documents(block)
        report = self.sampler.sample(first, last, stream_key(self.seed, Purpose.TOPICS, sweep, block))
        self.state.recount_documents(first, last)
        return report

    def _refresh(self, sweep: int) -> None:
        if self._fresh != (sweep, self.state.version):
            self.sampler.refresh(self.seed, sweep)
            self._fresh = sweep, self.state.version

    def _documents(self, block: int) -> tuple[int, int]:
        return int(self.edges[block]), int(self.edges[block + 1])

    def rotated(self, sweep: int, group: int) -> list[BlockReport]:
        """Topics of a group's tokens of the words that it is at (`plugsamp.sampling.adlda`)."""
        turn, reports = self.given["turn"], []
        self._refresh(sweep)
        words = self.division.part(group, turn)
        with self.state.own_totals() as change:
            for block in self.division.blocks(group):
                first, last = self._documents(block)
                if turn == 0:
                    self.augment(sweep, block)
                key = stream_key(self.seed, Purpose.TOPICS, sweep, block, turn)
                reports.append(self.sampler.sample(first, last, key, words))
                if turn == len(self.division) - 1:
                    self.state.recount_documents(first, last)
        self.division.change[group] = change
        return reports

    def copied(self, sweep: int, group: int) -> list[BlockReport]:
        """Topics of a group of documents, by counts that know nothing of the others' moves."""
        reports, state = [], self.state
        with state.own_counts(-2 - (sweep * len(self.division) + group)):
            if self.sampler.word_tables:
                for block in range(self.n_word_blocks):
                    self.sampler.refresh_words(*self._words(block))
            self.sampler.refresh(self.seed, sweep)
            for block in self.division.blocks(group):
                self.augment(sweep, block)
                first, last = self._documents(block)
                key = stream_key(self.seed, Purpose.TOPICS, sweep, block)
                reports.append(self.sampler.sample(first, last, key))
                state.recount_documents(first, last)
                tokens = slice(state.offsets[first], state.offsets[last])
                self.division.next_z[tokens] = state.z[tokens]
        return reports

    @property
    def n_topic_groups(self) -> int:
        return -(-self.state.n_topics // PAD)

    def inclusion(self, sweep: int, group: int) -> None:
        """Which words are in the topics of a group, as 0 and 1 in phi, for the draw of phi that follows."""
        state = self.state
        columns = slice(group * PAD, min((group + 1) * PAD, state.n_topics))
        included = (state.phi[:, columns] > 0).astype(np.uint8)
        counts = np.ascontiguousarray(state.unread_counts[0][:, columns])
        rng = stream(self.seed, Purpose.INCLUSION, sweep, group)
        self.model.topics.draw_included(included, counts, state.beta_prior, rng)
        state.phi[:, columns] = included

    def _words(self, block: int) -> tuple[int, int]:
        return block * WORDS, min((block + 1) * WORDS, self.state.n_words)

    def counts(self, sweep: int, block: int) -> None:
        """n_kw of a block of words; `counted` gets its sums."""
        self.state.count_words(*self._words(block), self.counted[block])

    def phi(self, sweep: int, block: int) -> None:
        """Unnormalised topic probabilities of a block of words; `drawn` gets their sums."""
        state = self.state
        first, last = self._words(block)
        key = stream_key(self.seed, Purpose.PHI, sweep, block)
        if state.lazy is not None:
            state.lazy.draw(state.z, *state.word_order, first, last, self.drawn[block], key)
            return
        if not state.masked:  # otherwise they are counted
            self.counts(sweep, block)
        _dirichlet.draw_gammas(
            state.unread_counts[0], state.beta, first, last, state.n_topics, state.phi, self.drawn[block],
            key, state.masked,
        )  # fmt: skip

    def cells(self, sweep: int, block: int) -> np.ndarray:
        """How often each n_kw occurs in a block of words, in `times`; those from `TIMES` on are returned."""
        first, last = self._words(block)
        return self.state.count_cells(first, last, self.times[block], self.counted[block])

    def log_parts(self, sweep: int, block: int) -> tuple[float, float]:
        """What a block of documents adds to the log joint: log B(n_d + alpha)/B(alpha), and log psi."""
        state, (first, last) = self.state, self._documents(block)
        lengths = np.diff(state.offsets[first : last + 1])
        counted = log_documents(*state.doc_topic(first, last), lengths, state.alpha_prior)
        if not state.n_outputs:
            return counted, 0.0
        f, rows = self._predictor(block)
        return counted, self.responses.log_psi(f, rows)

    def scale_phi(self, sweep: int, block: int) -> None:
        """Multiply the draws of a block of words by `phi_factor`."""
        first, last = self._words(block)
        if self.state.lazy is not None:
            self.state.lazy.scale(first, last)
            return
        _dirichlet.scale_rows(self.state.phi, self.phi_factor, first, last)

    def feature_rows(self, sweep: int, block: int) -> None:
        """Topic proportions of a block of documents."""
        self.features.rows(self.given["topics"], block, *self._documents(block))

    def feature_columns(self, sweep: int, block: int) -> None:
        """The same, by column."""
        self.features.columns(self.given["topics"], block, *self._documents(block))

    def grams(self, sweep: int, piece: int) -> None:
        """Some rows of the Gram matrices of a group of outputs."""
        self.given["grams"].fill(self.given["design"], self.state.kappa, self.state.omega, piece)

    def outputs(self, sweep: int, group: int) -> None:
        """Weights, then shrinkage, of a group of outputs."""
        state, prior, outputs = self.state, self.model.weights, self._outputs(group)
        grams = self.given.get("grams")
        update_outputs(
            self.given["design"], state.kappa, state.omega, state.eta, outputs, prior, self.prior_state,
            self.columns, self.seed, sweep, method=self.method, passes=self.passes,
            grams=None if grams is None else grams.of(group),
        )  # fmt: skip
        for c in outputs:
            rng = stream(self.seed, Purpose.SHRINKAGE, sweep, c)
            prior.update(self.prior_state, c, self.columns, state.eta[c], rng)

    def scale_moments(self, sweep: int, group: int) -> tuple[np.ndarray, np.ndarray]:
        """What the responses of a group of outputs say of the scales of their weights."""
        state, groups = self.state, self.model.weights.groups(self.columns).values()
        outputs = self._outputs(group)
        return moments(self.given["design"], state.kappa, state.omega, state.eta, outputs, groups)

    def _outputs(self, group: int) -> range:
        return range(group * GROUP, min((group + 1) * GROUP, self.state.n_outputs))
