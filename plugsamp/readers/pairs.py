"""Lines of a label and id:count pairs: SVMlight and its kin."""

from __future__ import annotations

import re
import warnings

import numpy as np
import scipy.sparse as sp

from plugsamp.counts import LIMIT, summed
from plugsamp.errors import InputError, InputWarning
from plugsamp.readers.files import check_format, decode, read_bytes
from plugsamp.readers.numbers import ID, count_of, id_of
from plugsamp.sizes import check_claim

#: A line as programs write it, matched in C; all others take the slow way, which knows the columns.
FAST = re.compile(rb"([^\s:#,]+)((?: [0-9]{1,10}:[0-9]{1,10})*) ?\r?")


class PairsFile:
    """A parsed file: labels as text, and the entries with the line each came from.

    Parameters
    ----------
    path : str
    index_base : int
        The smallest id.
    n_words : int, optional
        How many words there are, where `vocabulary_path` says it.
    vocabulary_path : str, optional
    labels : {"one", "several", "optional"}
        What each line begins with: a label, labels separated by commas, or either or nothing.
    """

    def __init__(self, path, index_base, n_words=None, vocabulary_path=None, labels="one"):
        self.path, self.index_base, self.declared = path, index_base, n_words
        self.vocabulary_path, self.kind = vocabulary_path, labels
        self.labels: list[str] = []
        self.lines: list[int] = []  # line numbers of the documents
        self._qid = False
        raw = read_bytes(path)
        check_format(raw, path)
        if not raw.isascii() or b"\0" in raw or b"\r" in raw:
            raw = decode(raw, path).encode()  # refuses what is not text, and drops a byte order mark
        self._source = raw.split(b"\n")
        self._entries()
        del self._source
        if self._qid:
            warnings.warn(f"{path}: qid: is not a word, it is ignored", InputWarning, stacklevel=5)

    def _entries(self):
        pairs: list[bytes] = []  # whole numbers of at most ten digits only
        sizes: list[int] = []
        for line, source in enumerate(self._source, 1):
            match = FAST.fullmatch(source)
            if match:
                label, rest = match.group(1).decode(), match.group(2)
            else:
                parsed = self._slow(line)
                if parsed is None:
                    continue
                label, rest = parsed
            self.labels.append(label)
            self.lines.append(line)
            pairs.append(rest)
            sizes.append(rest.count(b":"))
        if not self.labels:
            raise InputError("there are no documents in this file", file=self.path)
        text = b" ".join(pairs).replace(b":", b" ").strip()
        numbers = np.fromstring(text, dtype=np.int64, sep=" ") if text else np.empty(0, dtype=np.int64)
        numbers = numbers.reshape(sum(sizes), 2)
        self.rows = np.repeat(np.arange(len(sizes)), sizes)
        self.columns, self.values = numbers[:, 0] - self.index_base, numbers[:, 1]
        bad = (self.columns < 0) | (numbers > self._largest_id_and_count()).any(axis=1)
        if bad.any():
            self._slow(self.lines[self.rows[np.argmax(bad)]])
        self.n_words = int(self.columns.max()) + 1 if len(self.columns) else 0
        if self.declared is None and self.n_words:
            self._check_claim(int(np.argmax(self.columns)))

    def _check_claim(self, largest: int) -> None:
        """Refuse an id that makes more words than there can be, where it stands."""
        number, line = int(self.columns[largest]) + self.index_base, self.lines[self.rows[largest]]
        source = self._source[line - 1].decode()
        found = re.search(rf"(?<![^ \t\r\f\v])0*{number}:", source)
        check_claim(
            f"feature id {number}", self.n_words, "words", len(self.columns), file=self.path, line=line,
            column=found.start() + 1 if found else None,
            advice="; number the ids without gaps, or name the words by vocabulary_path",
        )  # fmt: skip

    def _largest_id_and_count(self):
        largest = LIMIT if self.declared is None else self.declared - 1 + self.index_base
        return np.array([largest, LIMIT])

    def counts(self, n_words: int) -> sp.coo_array:
        def place(row, column):
            return f"{self.path}, line {self.lines[row]}, feature {column + self.index_base}"

        rows, columns, values = summed(self.rows, self.columns, self.values, place)
        return sp.coo_array((values, (rows, columns)), shape=(len(self.labels), n_words))

    def line_of_label(self, label: str) -> int:
        return self.lines[self.labels.index(label)]

    def _slow(self, line: int) -> tuple[str, bytes] | None:
        """(label, canonical pairs) of any line, None for one without data; refuses with the column."""
        source = self._source[line - 1].decode().split("#", 1)[0]
        tokens = [(m.group(), m.start() + 1) for m in re.finditer(r"[^ \t\r\f\v]+", source)]
        if not tokens:
            return None
        label, column = tokens[0]
        if ":" in label:
            if self.kind == "one":
                self._refuse(
                    f"the line has no label, it begins with {label!r}; "
                    "put a label first, or pass response=none",
                    line,
                    column,
                )
            label = ""
        else:
            tokens = tokens[1:]
        if "," in label and self.kind == "one":
            self._refuse(
                f"{label!r} are several labels on one document, and a single label is expected; "
                "pass response=labels for a multi-label corpus",
                line,
                column,
            )
        pairs = [self._pair(token, line, column, i == 0) for i, (token, column) in enumerate(tokens)]
        return label, b"".join(pairs)

    def _pair(self, token: str, line: int, column: int, first: bool) -> bytes:
        word, colon, count = token.partition(":")
        if word == "qid" and first and ID.fullmatch(count):
            self._qid = True
            return b""
        if not colon:
            self._refuse(f"cannot read {token!r} as id:count", line, column)
        if not count and ID.fullmatch(word):
            self._refuse(f"count missing after {word}:", line, column)
        largest = int(self._largest_id_and_count()[0])
        try:
            number = id_of(
                word, "feature id", self.index_base, largest,
                f"{largest}, the last of {self.vocabulary_path} ({self.declared} words)",
                "; pass index_base=0 if they start at 0",
            )  # fmt: skip
            return b" %d:%d" % (number, count_of(count))
        except InputError as error:
            self._refuse(error.what, line, column)

    def _refuse(self, what: str, line: int, column: int):
        raise InputError(what, file=self.path, line=line, column=column)
