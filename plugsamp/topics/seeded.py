"""Seed words: topics that are told some of their words beforehand."""

from __future__ import annotations

import difflib
from collections.abc import Mapping

import numpy as np

from plugsamp.checks import whole
from plugsamp.topics.base import TopicPrior

#: Pseudo-tokens of all topics together.
LIMIT = 10_000_000


class Seeded(TopicPrior):
    """Anchored topics: phi_k ~ Dir(beta + weight on the topic's seed words).

    Each seed word counts as if it had been seen `weight` times more in its topic. So the seeds steer a topic
    and the data can overrule them; a seed word may still belong to other topics as well.

    Parameters
    ----------
    words : dict of int to list of str
        Topics, from 0, and their seed words, such as ``{0: [moon, orbit], 1: [hockey, goal]}``. Topics that
        are not named have none. A word that is named twice in a topic counts twice.
    weight : int
        Pseudo-tokens a seed word, 1 or more. About the number of times that the word occurs makes a strong
        seed.

    Notes
    -----
    Whole numbers, so that a seed is exactly a count: every kernel samples the stated prior with no change.
    """

    def __init__(self, words: dict, weight: int = 50):
        if not isinstance(words, Mapping) or not words:
            wanted = "a mapping of topics to lists of words, {0: [moon, orbit]}"
            raise ValueError(f"seeded: words must be {wanted}, not {words!r}")
        self.words = {}
        for topic, seeds in words.items():
            if isinstance(topic, str) and topic.strip().isdecimal():
                topic = int(topic)
            topic = whole("seeded: a topic", topic)
            if topic in self.words:
                raise ValueError(f"seeded: topic {topic} is named twice")
            seeds = [seeds] if isinstance(seeds, str) else seeds
            if not isinstance(seeds, list | tuple) or not all(isinstance(w, str | int) for w in seeds):
                raise ValueError(f"seeded: the words of topic {topic} must be a list of words, not {seeds!r}")
            self.words[topic] = [str(w) for w in seeds]
        self.weight = whole("seeded: weight", weight, 1)

    def pseudo_tokens(self, vocabulary, n_topics):
        index = {word: i for i, word in enumerate(vocabulary)}
        beyond = [topic for topic in self.words if topic >= n_topics]
        if beyond:
            raise ValueError(f"seeded: there is no topic {beyond[0]}; of {n_topics} topics the first is 0")
        unknown = [(k, w) for k, words in self.words.items() for w in words if w not in index]
        if unknown:
            topic, word = unknown[0]
            close = difflib.get_close_matches(word, vocabulary, 1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            more = f" ({len(unknown)} seed words are unknown)" if len(unknown) > 1 else ""
            raise ValueError(
                f"seeded: the word {word!r} of topic {topic} is not in the vocabulary{hint}{more}"
            )
        pairs = [(index[w], k) for k, words in self.words.items() for w in words]
        if len(pairs) * self.weight > LIMIT:
            raise ValueError(f"seeded: weight {self.weight} makes more than {LIMIT} pseudo-tokens; take less")
        table = np.array(pairs, np.int32).reshape(-1, 2)
        repeated = np.repeat(table, self.weight, axis=0)
        return repeated[:, 0].copy(), repeated[:, 1].copy()
