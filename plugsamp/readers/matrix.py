"""Formats that hold a document by word matrix, with words and labels in files of their own."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plugsamp.corpus import Corpus
from plugsamp.errors import InputError
from plugsamp.lookalikes import tidied
from plugsamp.readers.base import Reader, Split, SplitOptions, TestFile, check_tokens
from plugsamp.readers.files import read_lines, read_names
from plugsamp.readers.formats import check_names
from plugsamp.readers.numbers import COUNT


@dataclass(kw_only=True)
class MatrixReader(TestFile, SplitOptions, Reader):
    """Counts in one file, and beside it a word a line and a label a line.

    A subclass gives `matrix`.

    Parameters
    ----------
    path : str
        Plain or .gz.
    vocabulary_path : str, optional
        A word a line, for the columns in turn. By default they are called w0, w1, ... by their numbers.
    labels_path, test_labels_path : str, optional
        A label a line for each document, as text.
    Others : see `plugsamp.readers.base`.
    """

    path: str
    vocabulary_path: str | None = None
    labels_path: str | None = None
    test_labels_path: str | None = None

    #: What says how many words there are, in the words of the format.
    size_of: ClassVar[str] = "the matrix has {} columns"
    #: The number of the first column, in the names that words without a vocabulary get.
    first_id: ClassVar[int] = 0
    #: Whether there is an option to exchange rows and columns.
    may_transpose: ClassVar[bool] = False

    @abstractmethod
    def matrix(self, path: str):
        """Counts (D, V), sparse or dense.

        Raises
        ------
        InputError
            Naming line and column where there are any; the file is added.
        """

    def read(self, vocabulary: Sequence[str] | None = None) -> Split:
        self.check_split_options()
        words = None if self.vocabulary_path is None else read_names(self.vocabulary_path)
        train = self._corpus(self.path, self.labels_path, words, vocabulary)
        if vocabulary is None:
            check_tokens(train, self.path)
        test = None
        if self.test_path is not None:
            vocabulary = train.vocabulary if vocabulary is None else vocabulary
            test = self._corpus(self.test_path, self.test_labels_path, words, vocabulary)
        return self.split_corpus(train, test)

    def _corpus(self, path, labels_path, words, vocabulary) -> Corpus:
        try:
            X = self.matrix(path)
            labels = None if labels_path is None else self._labels(labels_path, X.shape)
            if words is not None and len(words) != X.shape[1]:
                raise InputError(
                    f"vocabulary has {len(words)} words, {self.size_of.format(X.shape[1])}",
                    file=self.vocabulary_path,
                )
            names = words or [f"w{i + self.first_id}" for i in range(X.shape[1])]
            corpus = Corpus.from_counts(X, responses=labels, vocabulary=names, require_tokens=False)
        except InputError as error:
            raise error.within(path) from None
        return corpus if vocabulary is None else corpus.with_vocabulary(vocabulary)

    def _labels(self, path, shape) -> np.ndarray:
        lines = tidied(read_lines(path))
        check_names(lines, "label", path)
        blank = next((i for i, line in enumerate(lines, 1) if not line), None)
        if blank is not None:
            raise InputError("the line has no label", file=path, line=blank)
        if len(lines) != shape[0]:
            hint = ""
            if len(lines) == shape[1]:
                then = "pass transpose=true" if self.may_transpose else "a row is a document here"
                hint = f"; the matrix has {shape[1]} columns, so it looks transposed: {then}"
            raise InputError(f"{len(lines)} labels for {shape[0]} rows{hint}", file=path)
        if self.wanted.responses == "real":
            odd = next((i for i, line in enumerate(lines, 1) if not COUNT.fullmatch(line)), None)
            if odd is not None:
                raise InputError(f"response {lines[odd - 1]!r} is not a number", file=path, line=odd)
            return np.array(lines, dtype=float)
        labels = np.empty(len(lines), dtype=object)
        labels[:] = lines
        return labels
