"""Documents of a file in batches, for whoever does not want all of them in memory."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Protocol

import numpy as np

from plugsamp.corpus import Corpus
from plugsamp.errors import InputError
from plugsamp.readers.records import Records, TextReader
from plugsamp.system import cores

#: Documents whose contents are in memory while words are counted.
BATCH = 1024


class Part(Protocol):
    """The documents of a file, as far as they have been read.

    Attributes
    ----------
    kind : {"text", "tokens", "counts"}
    contents : list
        Of the documents since the last call of `forget`, or those that are left of it.
    """

    kind: str
    contents: list

    def records(self) -> Records:
        """Return the documents since the last call of `forget`."""

    def forget(self) -> None:
        """Make room for the documents that follow."""


class StreamReader(TextReader):
    """A format of documents that stand in a file one after the other, so that they can be read in batches."""

    @abstractmethod
    def stream(self, path: str, size: int) -> Iterator[Records]:
        """Yield the documents of a file, about `size` at a time.

        What is decided from the first document holds for all.
        """

    @property
    def can_stream(self) -> bool:
        """Whether no option needs all documents at once to say which are read."""
        return not self.test_size and self.only is None

    def batches(self, vocabulary: Sequence[str], size: int, path: str | None = None) -> Batches:
        """Return an iterator over the corpora of so many documents of a file, in a model's words.

        Parameters
        ----------
        vocabulary : sequence of str
        size : int
        path : str, optional
            By default the reader's own.
        """
        self.check_text_options()
        self.check_split_options()
        return Batches(self, tuple(vocabulary), size, self.path if path is None else path)


class PartReader(StreamReader):
    """A format whose documents are read one by one. A subclass gives `parts`."""

    @abstractmethod
    def parts(self, path: str, size: int | None) -> Iterator[Part]:
        """Yield what has been read of a file after every `size` documents, or at its end where it is None.

        It is one object that grows. The last time that it is yielded, the file is at its end.
        """

    def stream(self, path: str, size: int) -> Iterator[Records]:
        """Yield the documents of a file, `size` at a time."""
        for part in self.parts(path, size):
            if part.contents:
                yield part.records()
                part.forget()

    def records(self, path: str) -> Records:
        (part,) = self.parts(path, None)
        return part.records()

    def counted(self, path: str) -> Records:
        last: list[Part] = []

        def batches():
            for part in self.parts(path, BATCH):
                last[:] = [part]
                contents, part.contents = part.contents, []
                yield part.kind, contents

        bags = self.bags(cores.ahead(batches()), path)
        return replace(last[0].records(), contents=bags)


class Batches:
    """The documents of a file as corpora of one vocabulary, one batch at a time.

    Parameters
    ----------
    reader : StreamReader
    vocabulary : tuple of str
    size : int
        Documents of a batch.
    path : str

    Attributes
    ----------
    divided : bool or None
        Whether documents say that they are for training or testing; None before the first batch.
    n_emptied : int
        Documents so far that have words, none of them of the vocabulary.
    """

    def __init__(self, reader: StreamReader, vocabulary: tuple[str, ...], size: int, path: str):
        self._reader, self._vocabulary, self._size, self._path = reader, vocabulary, size, path
        self.divided: bool | None = None
        self.n_emptied = 0

    def __iter__(self) -> Iterator[Corpus]:
        return self.part(None)

    def part(self, test: bool | None, skip: int = 0) -> Iterator[Corpus]:
        """Yield the training or test documents alone, or all, and leave out the first `skip` of them."""
        self._seen = np.empty(0, np.uint64)
        for records in self._reader.stream(self._path, self._size):
            self.divided = records.is_test is not None
            self._check_ids(records)
            if test is not None and records.is_test is not None:
                records = records.take([i for i, one in enumerate(records.is_test) if one == test])
            if skip:
                left_out = min(skip, len(records.contents))
                records, skip = records.take(range(left_out, len(records.contents))), skip - left_out
            if records.contents:
                yield self._corpus(records)

    def _check_ids(self, records: Records) -> None:
        """Refuse an id that an earlier batch had: eight bytes of each are remembered."""
        found = [blake2b(i.encode("utf-8", "surrogatepass"), digest_size=8).digest() for i in records.ids]
        digests = np.frombuffer(b"".join(found), np.uint64)
        places = np.searchsorted(self._seen, digests)
        inside = places < len(self._seen)
        again = np.flatnonzero(self._seen[places[inside]] == digests[inside])
        if len(again):
            name = records.ids[np.flatnonzero(inside)[again[0]]]
            raise InputError(f"id {name} occurs twice", file=records.file)
        order = np.argsort(digests)
        self._seen = np.insert(self._seen, places[order], digests[order])

    def _corpus(self, records: Records) -> Corpus:
        bags = self._reader.bags([(records.kind, records.contents)])
        records = replace(records, contents=bags)
        corpus = self._reader.corpus_of(records, self._vocabulary)
        empty = np.flatnonzero(corpus.lengths == 0)
        self.n_emptied += sum(map(records.has_content, empty))
        return corpus
