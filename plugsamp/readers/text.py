"""Text to counts: tokens, stop words and the choice of a vocabulary."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from plugsamp.checks import listed
from plugsamp.errors import InputError, InputWarning
from plugsamp.naming import joined, normal
from plugsamp.readers.counting import Bags, WordCounter
from plugsamp.readers.words import INVISIBLE, PATTERNS, SAMPLE, finder, lower, prepared, stop_parts, undivided
from plugsamp.sizes import share_of
from plugsamp.system import memory

#: A word a line: scikit-learn's English stop words, and what letter tokens of clitics leave behind (that list
#: has "couldnt", not "couldn"). A copy, because importing scikit-learn takes a second.
ENGLISH = Path(__file__).with_name("english.txt")

#: What a document takes beside its counts, such as its id and its response.
BYTES_PER_DOCUMENT = 200


@dataclass(kw_only=True)
class TextOptions:
    """How text becomes words; the options of every reader that takes text.

    Text is read in Unicode's composed form (NFC), and soft hyphens are left out.

    Parameters
    ----------
    lowercase : bool
        Words in lower case, so that Word and word are one.
    pattern : str
        ``"letters"`` (runs of two letters or more of any alphabet, each with its marks), ``"blanks"``
        (whatever stands between blanks, nothing dropped), or a regular expression for a token.
    stop_words : str
        ``"english"`` (scikit-learn's list, and the halves of ``don't`` and the like), ``"none"``, or a
        file with a word a line. They are divided by the pattern as the text is, and matched in any case.
        Token lists and counts are taken as they are.
    min_df : float
        A word must be in so many training documents or more: below 1 a share of them, else a number.
    max_df : float
        A word must be in so many training documents or fewer: up to 1 a share of them, else a number.
    min_count : int
        Words with fewer occurrences in the training documents are left out.
    max_words : int
        The number of words kept, those with the largest tf-idf summed over the training documents;
        0 keeps all.
    """

    lowercase: bool = True
    pattern: str = "letters"
    stop_words: str = "english"
    min_df: float = 2
    max_df: float = 1.0
    min_count: int = 1
    max_words: int = 0

    #: Of readers (`plugsamp.readers.base.Reader`).
    of_words: ClassVar[tuple[str, ...]] = ("lowercase", "pattern", "stop_words")

    def check_text_options(self) -> None:
        for name in ("min_df", "max_df", "min_count", "max_words"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
                raise InputError(f"{name} must be a number, 0 or more, not {value!r}")
            if value != int(value) and (value > 1 or name in ("min_count", "max_words")):
                share = ", or a share of the documents below 1" if name in ("min_df", "max_df") else ""
                raise InputError(f"{name} must be a whole number{share}, not {value!r}")
        try:
            groups = re.compile(self._pattern).groups
        except re.error as error:
            raise InputError(f"pattern {self.pattern!r} is not a regular expression: {error}") from None
        if groups > 1:
            raise InputError(
                f"pattern {self.pattern!r} has {groups} groups; a token is the whole match or one group"
            )

    @property
    def _pattern(self) -> str:
        return PATTERNS.get(self.pattern, self.pattern)

    def stop_set(self) -> frozenset[str]:
        """The stop words in lower case, divided as the pattern divides a text."""
        if self.stop_words == "none":
            return frozenset()
        if self.stop_words == "english":
            return stop_parts(ENGLISH.read_text(encoding="utf-8").split(), self.pattern)[0]
        if not Path(self.stop_words).is_file():
            raise InputError(
                f"stop_words must be english, none or a file, and there is no file {self.stop_words!r}"
            )
        from plugsamp.readers.files import read_lines

        words = sorted({w.strip() for w in read_lines(self.stop_words)} - {""})
        parts, divided = stop_parts(words, self.pattern)
        if divided:
            warnings.warn(
                f"{self.stop_words}: pattern={self.pattern} divides {len(divided)} stop words, and each "
                f"part is left out of the texts: {listed([repr(w) for w in divided], 5)}",
                InputWarning,
                stacklevel=4,
            )
        return parts

    def count(self, kind: str, contents: Sequence) -> tuple[sp.csr_array, list[str]]:
        """Return counts (D, V) of every word of documents, and the words; see `bags`."""
        bags = self.bags([(kind, contents)])
        return bags.X, bags.words

    def bags(self, batches: Iterable[tuple[str, Sequence]], file=None) -> Bags:
        """Count every word of documents that come in batches, of which one at a time is needed.

        Parameters
        ----------
        batches : iterable of (kind, contents)
            The kind is "text", "tokens" or "counts", the same for all. Contents are a list of str, of lists
            of str, or of dicts from word to count.
        file : path, optional
            For messages.

        Returns
        -------
        Bags
        """
        counter, filled, sample, n_hidden, n_documents = None, [], [], 0, 0
        for kind, contents in batches:
            if counter is None:
                counter = self.counter(kind)
            counter.extend(contents)
            n_documents += len(contents)
            _check_memory(counter.n_bytes, n_documents, file)
            if kind == "text":
                n_hidden += sum(bool(INVISIBLE.search(text)) for text in contents)
                sample += contents[: SAMPLE - len(sample)]
                filled.append([bool(text) and not text.isspace() for text in contents])
            else:
                filled.append(list(map(bool, contents)))
        self._warn_of_texts(sample, n_hidden)
        X, words = counter.counts()
        if (same := joined(words)) is not None:
            words = sorted(same[0])
            places = np.searchsorted(words, same[0])[same[1]]
            X = sp.csr_array(X @ sp.csr_array((np.ones_like(places), (np.arange(len(places)), places))))
            X.sort_indices()
        return Bags(X, words, np.concatenate(filled))

    def counter(self, kind: str) -> WordCounter:
        """Return what counts the words of documents of one kind."""
        if kind != "text":
            return WordCounter(_tokens if kind == "tokens" else _composed)
        stop_words, lowercase = self.stop_set(), self.lowercase
        find = finder(self.pattern)
        return WordCounter(
            lambda text: find(prepared(text, lowercase)),
            lambda word: (word if lowercase else lower(word)) in stop_words,
            lowercase if self.pattern == "letters" else None,
        )

    def _warn_of_texts(self, sample: Sequence[str], n_hidden: int) -> None:
        if n_hidden:
            warnings.warn(
                f"{n_hidden} documents hold invisible characters (zero-width spaces), which are not blanks",
                InputWarning,
                stacklevel=4,
            )
        if self.pattern in PATTERNS and undivided(sample):
            warnings.warn(
                "the texts have few blanks between words, as Chinese, Japanese and Thai are written, so that "
                "whole sentences become words; divide them by a program for the language, and read lists of "
                "words (corpus=jsonl, whose option tokens names the field)",
                InputWarning,
                stacklevel=3,
            )

    def choose(self, X: sp.csr_array) -> np.ndarray:
        """The columns of the training counts (D, V) that have a word and that the limits leave, ascending."""
        X = sp.csr_array(X)
        n_documents = X.shape[0]
        df = np.bincount(X.indices, minlength=X.shape[1])
        least = share_of(self.min_df, n_documents) if self.min_df < 1 else self.min_df
        most = share_of(self.max_df, n_documents) if self.max_df <= 1 else self.max_df
        keep = np.flatnonzero((df >= max(least, 1)) & (df <= most) & (X.sum(axis=0) >= self.min_count))
        if self.max_words and len(keep) > self.max_words:
            from sklearn.feature_extraction.text import TfidfTransformer

            weight = TfidfTransformer(norm="l2").fit_transform(X[:, keep]).sum(axis=0)
            # Stable, so that equal words are kept in the order of the vocabulary.
            order = np.argsort(-np.asarray(weight).ravel(), kind="stable")
            keep = np.sort(keep[order[: self.max_words]])
        return keep


def _check_memory(n_bytes: int, n_documents: int, file) -> None:
    """Refuse counts that do not fit in memory twice: little compressed data can hold very much."""
    needed = 2 * (n_bytes + BYTES_PER_DOCUMENT * n_documents)
    free = memory.available_bytes() if needed > memory.LITTLE else None
    if free is not None and needed > free:
        raise InputError(
            f"the counts of the first {n_documents} documents need {needed} bytes of memory, {free} are free",
            file=file,
        )


def _tokens(tokens: Sequence[str]) -> list[str]:
    """Tokens as they are, but for the Unicode form."""
    return list(map(normal, tokens))


def _composed(counts: dict[str, int]) -> dict[str, int]:
    """Counts by word, in one Unicode form."""
    if "".join(counts).isascii():
        return counts
    found: dict[str, int] = {}
    for word, count in counts.items():
        found[normal(word)] = found.get(normal(word), 0) + count
    return found
