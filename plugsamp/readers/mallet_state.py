"""Mallet's state files: every token with its topic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from plugsamp.brief import Brief
from plugsamp.corpus import Corpus
from plugsamp.counts import LIMIT
from plugsamp.errors import InputError
from plugsamp.readers.base import Reader, Split, SplitOptions
from plugsamp.readers.files import read_lines
from plugsamp.readers.mallet import STATE
from plugsamp.readers.numbers import ID
from plugsamp.sizes import check_claim

#: Topics are held in 16 bits.
_MOST_TOPICS = 65535


@dataclass(frozen=True, repr=False)
class TopicState(Brief):
    """What a state file holds.

    Attributes
    ----------
    corpus : Corpus
    z : uint16 (N,)
        The topic of every token, in the order of `corpus.words`: a chain can start there (``init=z``).
    alpha : float64 (K,)
    beta : float
    """

    corpus: Corpus
    z: np.ndarray
    alpha: np.ndarray
    beta: float


@dataclass(kw_only=True)
class MalletState(SplitOptions, Reader):
    """The documents of a state file (``--output-state``), plain or .gz; it has no labels.

    Documents without a token are not in such a file: those between others are kept, as empty ones.

    Parameters
    ----------
    path : str
        The file, plain or .gz.
    Others : see `plugsamp.readers.base`.
    """

    path: str

    def read(self, vocabulary: Sequence[str] | None = None) -> Split:
        self.check_split_options()
        corpus = self.state().corpus
        if vocabulary is not None:
            corpus = corpus.with_vocabulary(vocabulary)
        return self.split_corpus(corpus, None)

    def state(self) -> TopicState:
        """Documents, topics and priors.

        Raises
        ------
        InputError
            What is not such a file, with its line.
        """
        lines = read_lines(self.path)
        if not lines or not lines[0].startswith(STATE):
            raise InputError(
                f"not a Mallet state file: it does not begin with {STATE}", file=self.path, line=1
            )
        alpha = self._prior(lines, 2, "alpha")
        beta = self._prior(lines, 3, "beta")
        if len(beta) != 1:
            raise InputError(f"1 value of beta expected, {len(beta)} found", file=self.path, line=3)
        documents, topics, types = [], [], []
        words: dict[int, tuple[str, int]] = {}
        names: dict[int, tuple[str, int]] = {}
        for number, line in enumerate(lines[3:], 4):
            if not line.strip():
                continue
            document, source, kind, word, topic = self._token(line, number, len(alpha))
            self._same(words, kind, word, number, "type")
            self._same(names, document, source, number, "document")
            documents.append(document)
            types.append(kind)
            topics.append(topic)
        if not documents:
            raise InputError("there are no tokens in this file", file=self.path)
        kinds = sorted(words)
        index = {kind: i for i, kind in enumerate(kinds)}
        columns = np.array([index[kind] for kind in types])
        rows, z = np.array(documents), np.array(topics, np.uint16)
        n_documents = int(rows.max()) + 1
        at = {"file": self.path, "line": names[n_documents - 1][1], "column": 1}
        check_claim(f"doc {n_documents - 1}", n_documents, "documents", len(rows), **at)
        vocabulary = [words[kind][0] for kind in kinds]
        if len(set(vocabulary)) < len(vocabulary):
            word = next(w for i, w in enumerate(vocabulary) if w in vocabulary[:i])
            raise InputError(f"word {word!r} has two type numbers", file=self.path)
        ones = np.ones(len(rows), np.int64)
        counts = sp.coo_array((ones, (rows, columns)), shape=(n_documents, len(kinds))).tocsr()
        sources = [names[d][0] if d in names else str(d) for d in range(n_documents)]
        ids = sources if len(set(sources)) == n_documents else None
        corpus = Corpus.from_counts(counts, vocabulary=vocabulary, ids=ids)
        return TopicState(corpus, z[np.lexsort((columns, rows))], alpha, float(beta[0]))

    def _prior(self, lines, number, name) -> np.ndarray:
        text = lines[number - 1] if len(lines) >= number else ""
        head, _, values = text.partition(":")
        try:
            found = np.array([float(v) for v in values.split()])
        except ValueError:
            found = np.empty(0)
        if head.strip() != f"#{name}" or not len(found) or not (np.isfinite(found) & (found > 0)).all():
            raise InputError(f"the line must be #{name} : and positive numbers", file=self.path, line=number)
        if len(found) > _MOST_TOPICS:
            raise InputError(f"{len(found)} topics are over {_MOST_TOPICS}", file=self.path, line=number)
        return found

    def _token(self, line, number, n_topics):
        # A source may hold blanks; what follows it may not.
        head, *rest = line.rsplit(" ", 4)
        document, _, source = head.partition(" ")
        if len(rest) != 4 or not source:
            raise InputError(
                f"6 fields expected ({STATE[1:]}), {len(line.split())} found", file=self.path, line=number
            )
        _, kind, word, topic = rest
        for what, text, most in (
            ("doc", document, LIMIT),
            ("typeindex", kind, LIMIT),
            ("topic", topic, LIMIT),
        ):
            if not ID.fullmatch(text) or len(text) > 10 or int(text) > most:
                raise InputError(
                    f"{what} must be a whole number from 0 to {most}, found {text[:40]!r}",
                    file=self.path,
                    line=number,
                )
        if int(topic) >= n_topics:
            raise InputError(
                f"topic {topic} is not below {n_topics}, the number of alphas", file=self.path, line=number
            )
        if not word:
            raise InputError("the type is empty", file=self.path, line=number)
        return int(document), source, int(kind), word, int(topic)

    def _same(self, seen, key, value, number, what) -> None:
        first = seen.setdefault(key, (value, number))
        if first[0] != value:
            raise InputError(
                f"{what} {key} is {value!r} here and {first[0]!r} on line {first[1]}",
                file=self.path,
                line=number,
            )
