"""SparseLDA: exact Gibbs sampling of unsupervised models in the topics that a word and a document have."""

from __future__ import annotations

import numpy as np

from plugsamp.kernels.base import BlockReport, Kernel, Sampler, held_at, only
from plugsamp.kernels.word_topics import WordTopics
from plugsamp.state import State
from plugsamp.system.dispatch import load

_loop = load("plugsamp.kernels.sparse_loop")


class SparseLDA(Kernel):
    """Every token from its full conditional, O(K_d + K_w) (Yao et al. 2009).

    For models without responses, topics integrated out; the fastest kernel for them from 20 topics
    to 1000, as measured. alpha and beta may be asymmetric at no cost.

    Parameters
    ----------
    start : {"sequential", "random"}
        Topics that the tokens have before the first sweep: each drawn given the tokens before it, which
        is worth some ten sweeps with many topics and makes early ones cheap, or uniform. Either way the
        chain has the same stationary distribution.
    """

    references = ("yao2009",)

    responses = False

    def __init__(self, start: str = "sequential"):
        super().__init__("full")
        if start not in ("sequential", "random"):
            raise ValueError(f'start must be "sequential" or "random", not {start!r}')
        self.start = start

    def sampler(self, state: State) -> Sampler:
        return _SparseSampler(self, state)


class _SparseSampler(Sampler):
    divides = word_tables = counts_words = True

    def __init__(self, kernel: SparseLDA, state: State):
        self.kernel, self.state = kernel, state
        self.words = self._room(state.arena.array)
        # 1 + the version of the state's z that they count, for all processes
        self.counted = state.arena.array("sparse.version", 1, np.int64)

    def _room(self, array=None) -> WordTopics:
        s = self.state
        return WordTopics(
            _joined(s.words, s.pseudo_words), s.n_words, s.n_topics, s.stride, array=array
        )  # fmt: skip

    def _count(self, words: WordTopics) -> None:
        """Tokens and pseudo-tokens."""
        s = self.state
        words.count_block(s.z, s.pseudo_topics, *s.word_order, s.beta, 0, s.n_words)

    def start(self, first: int, last: int, key: int) -> bool:
        if self.kernel.start == "random":
            return False
        if first == 0:
            s = self.state
            self.words.count(s.pseudo_words, s.pseudo_topics.astype(s.z.dtype), s.beta)
            s.topic_totals[:] = np.bincount(s.pseudo_topics, minlength=s.stride)
            self._arranged = 0
        begin = int(self.state.offsets[first])
        if begin > 1.5 * self._arranged:  # shapes change with the logarithm of what there is
            self.words.arrange(self.state.beta)
            self._arranged = begin
        _loop.sample_documents(self.state, self.words, first, last, key, start=True)
        if last == self.state.n_documents:
            self.counted[0] = self.state.version + 1
        return True

    def refresh_words(self, first: int, last: int) -> None:
        s = self.state
        if self.counted[0] != s.version + 1:
            self.words.count_block(s.z, s.pseudo_topics, *s.word_order, s.beta, first, last)
        self.words.arrange(s.beta, first, last)

    def refresh(self, seed: int, sweep: int) -> None:
        self.counted[0] = self.state.version + 1

    def sample(self, first: int, last: int, key: int, words=None) -> BlockReport:
        self.state.leave_topic_word()
        return BlockReport(
            _loop.sample_documents(self.state, self.words, first, last, key, **only(words))
        )

    def probe(self, document: int, position: int, draws: int = 0, key: int = 0):
        """The conditional (K,) of a token, and how often each topic came in so many draws (K,)."""
        state = self.state
        words = self._room()
        self._count(words)
        out, drawn = np.empty(state.n_topics), np.zeros(state.n_topics, np.int64)
        _loop.probe(state, words, document, position, key, out, drawn, draws)
        return out, drawn

    def transition(self, document: int, position: int) -> np.ndarray:
        rows = []
        for k in range(self.state.n_topics):
            with held_at(self.state, int(self.state.offsets[document]) + position, k):
                rows.append(self.probe(document, position)[0])
        return np.array(rows)


def _joined(tokens: np.ndarray, pseudo: np.ndarray) -> np.ndarray:
    return np.concatenate([tokens, pseudo.astype(tokens.dtype)]) if len(pseudo) else tokens
