"""The contract of a token kernel: how the topics of a block of documents are updated."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from plugsamp.options import Configured
from plugsamp.registry import RegistryError, load, names, options_of
from plugsamp.state import State


@dataclass
class BlockReport:
    """What the update of a block did.

    moved : tokens that changed topic
    proposals : (tried, accepted) by proposal
    forms : tokens drawn by a slower form of the same conditional, for its range or its digits; "visited":
        topics looked at
    """

    moved: int = 0
    proposals: dict[str, tuple[int, int]] = field(default_factory=dict)
    forms: dict[str, int] = field(default_factory=dict)


class Sampler(ABC):
    """A kernel at work on the arrays of one chain."""

    def start(self, first: int, last: int, key: int) -> bool:
        """Give the tokens of documents first:last their first topics; False for uniform ones.

        Called for one block after another before the first sweep, with the compiled stream of `key`. How a
        chain starts does not change its stationary distribution.
        """
        return False

    #: Whether `refresh_words` does anything.
    word_tables = False

    def refresh_words(self, first: int, last: int) -> None:
        """Make what lasts a sweep and is there for every process, of words first:last.

        It is kept in arrays of the state's arena. Called for block after block of words, maybe by several
        processes at a time, before any of them calls `refresh`.
        """
        return None

    def refresh(self, seed: int, sweep: int) -> None:
        """Make whatever else lasts a sweep; every process does it for itself."""
        return None

    #: Whether word counts are kept here, and the state's `topic_word` is not read.
    counts_words = False
    #: Whether `sample` takes `words`, and what it keeps by word (in the arena) is that of these words alone:
    #: then several processes may be at work on other words of other documents (`plugsamp.sampling.adlda`).
    divides = False

    @abstractmethod
    def sample(self, first: int, last: int, key: int, words: tuple[int, int] | None = None) -> BlockReport:
        """Update the topics of documents first:last, with the compiled stream of `key`.

        `words` (first, last), of samplers that divide, leaves all tokens of other words as they are.

        Collapsed kernels keep ``topic_word`` and ``topic_totals`` current, or say
        ``state.leave_topic_word()``. Partially collapsed ones leave the counts alone: several processes may
        be at work on other documents, and tokens are counted when the topics are drawn.
        """

    @abstractmethod
    def transition(self, document: int, position: int) -> np.ndarray:
        """The (K, K) transition matrix of one update of one token given everything else, float64."""


class Kernel(Configured, ABC):
    """A transition kernel for the topic indicators. The constructor's parameters are its configuration."""

    #: Losses allowed: False for kernels of unsupervised models.
    responses = True

    #: Whether responses take memory for every pair of topics.
    pairs = False

    #: What keeps the chain from the posterior, in words that follow "the kernel"; None: nothing does.
    approximate: str | None = None

    def __init__(self, collapse: str = "full"):
        if collapse not in ("full", "partial"):
            raise ValueError(f'collapse must be "full" or "partial", not {collapse!r}')
        self.collapse = collapse

    @property
    def partial(self) -> bool:
        """Whether the topics are a variable of the chain."""
        return self.collapse == "partial"

    def chosen(self, model, corpus, n_outputs: int, parallel: bool = False) -> Kernel:
        """The kernel to use for a model, a corpus and its outputs: this one, unless it stands for others.

        `parallel` says that blocks of documents may be worked on at the same time.
        """
        return self

    @abstractmethod
    def sampler(self, state: State) -> Sampler:
        """The kernel at work on `state`."""


def responsive_kernels() -> str:
    """The registered kernels that sample models with responses, for messages."""
    return ", ".join(name for name, kernel in _registered() if kernel.responses)


def partial_kernels(responses: bool) -> str:
    """The registered kernels that keep the topics as a variable, with responses or any, for messages."""
    always, chosen = [], []
    for name, kernel in _registered():
        if responses and not kernel.responses:
            continue
        try:
            if "collapse" in options_of(kernel):
                chosen.append(name)
            elif kernel().partial:
                always.append(name)
        except (RegistryError, TypeError):  # options that must be given, or that there cannot be
            continue
    return ", ".join([*always, f'and {", ".join(chosen)} with collapse="partial"'])


def frugal_kernels() -> str:
    """The registered kernels that sample models with responses in memory linear in K, for messages."""
    return ", ".join(name for name, kernel in _registered() if kernel.responses and not kernel.pairs)


def _registered() -> Iterator[tuple[str, type[Kernel]]]:
    for name in names("kernels"):
        try:
            yield name, load("kernels", name)
        except RegistryError:  # a broken plugin of somebody's is no news here
            continue


def only(words: tuple[int, int] | None) -> dict:
    """The arguments of compiled loops for tokens of words first:last, or of all."""
    return {} if words is None else {"first_word": words[0], "last_word": words[1]}


class held_at:
    """Context in which one token has another topic, counts included (for `Sampler.transition`)."""

    def __init__(self, state: State, token: int, topic: int):
        self.state, self.token, self.topic = state, token, topic

    def _put(self, topic: int) -> None:
        state, word, old = self.state, self.state.words[self.token], int(self.state.z[self.token])
        state.topic_word[word, old] -= 1
        state.topic_totals[old] -= 1
        state.topic_word[word, topic] += 1
        state.topic_totals[topic] += 1
        state.z[self.token] = topic

    def __enter__(self):
        self.before = int(self.state.z[self.token])
        self._put(self.topic)

    def __exit__(self, *error):
        self._put(self.before)
