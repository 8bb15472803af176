"""SVMlight: a label and id:count pairs a line."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from plugsamp.corpus import Corpus
from plugsamp.counts import LIMIT, summed
from plugsamp.errors import InputError, InputWarning
from plugsamp.readers.base import Reader, Split, SplitOptions, TestFile
from plugsamp.readers.files import decode, read_bytes, read_names
from plugsamp.readers.records import indicator_table

#: A line as programs write it, matched in C; all others take the slow way, which knows the columns.
FAST = re.compile(rb"([^\s:#,]+)((?: [0-9]{1,10}:[0-9]{1,10})*) ?\r?")
ID = re.compile(r"[0-9]+")
COUNT = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
NOT_A_NUMBER = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)


@dataclass(kw_only=True)
class SvmLight(TestFile, SplitOptions, Reader):
    """``label id:count id:count ...``, plain or .gz; ``#`` begins a comment.

    Parameters
    ----------
    path : str
    vocabulary_path : str, optional
        A word a line, for the ids in turn; it says how many words there are. By default there are as
        many as the largest id of the training documents, called w1, w2, ... by their ids.
    labels_path : str, optional
        A label's name a line; the labels in the file are then numbers from `label_base` up.
    index_base, label_base : int
        The smallest id and the smallest label number; never guessed from the data.
    response : str
        ``"label"``, ``"labels"`` (several, separated by commas), ``"y"`` (a real number), or
        ``"none"`` (a label is not used, and need not be there).
    Others : see `plugsamp.readers.base`.
    """

    path: str
    vocabulary_path: str | None = None
    labels_path: str | None = None
    index_base: int = 1
    label_base: int = 0
    response: str = "label"

    def read(self, vocabulary: Sequence[str] | None = None) -> Split:
        self.check_split_options()
        if self.index_base not in (0, 1) or self.label_base not in (0, 1):
            raise InputError("index_base and label_base must be 0 or 1")
        if self.response not in ("label", "labels", "y", "none"):
            raise InputError(f"response must be label, labels, y or none, not {self.response!r}")
        words = None if self.vocabulary_path is None else read_names(self.vocabulary_path)
        paths = [self.path] if self.test_path is None else [self.path, self.test_path]
        files = [_File(path, self, words) for path in paths]
        responses, names = self._responses(files)
        corpora = []
        for file, values in zip(files, responses, strict=True):
            own = words or [f"w{i + self.index_base}" for i in range(file.n_words)]
            corpus = Corpus.from_counts(
                file.counts(len(own)),
                responses=values,
                vocabulary=own,
                response_names=names,
                require_tokens=vocabulary is None and file is files[0],
            )
            if vocabulary is not None or corpora:
                corpus = corpus.with_vocabulary(
                    vocabulary if vocabulary is not None else corpora[0].vocabulary
                )
            corpora.append(corpus)
        return self.split_corpus(corpora[0], corpora[1] if self.test_path else None)

    def _responses(self, files):
        unlabelled = self.wanted.responses == "none" and any("" in file.labels for file in files)
        if self.response == "none" or (unlabelled and self.response != "labels"):
            return [None] * len(files), None
        names = None if self.labels_path is None else read_names(self.labels_path, "label")
        if self.response == "labels":
            parts = [self._named(file, names, several=True) for file in files]
            known = sorted({label for part in parts for labels in part for label in labels})
            if not known:
                raise InputError("no document has a label", file=self.path)
            index = {name: i for i, name in enumerate(known)}
            return [indicator_table(part, index) for part in parts], known
        if names is not None:
            return [_objects([labels[0] for labels in self._named(f, names)]) for f in files], None
        # One decision for both files: numbers compare as numbers only where all labels are numbers.
        distinct = sorted({label for f in files for label in f.labels})
        odd = next((label for label in distinct if NOT_A_NUMBER.fullmatch(label)), None)
        if odd is not None:
            file = next(f for f in files if odd in f.labels)
            raise InputError(
                f"label {odd!r} is neither a number nor a name",
                file=file.path,
                line=file.line_of_label(odd),
                column=1,
            )
        numeric = all(COUNT.fullmatch(label) for label in distinct)
        if not numeric:
            if self.response == "y":
                bad = next(label for label in distinct if not COUNT.fullmatch(label))
                file = next(f for f in files if bad in f.labels)
                raise InputError(
                    f"response {bad!r} is not a number",
                    file=file.path,
                    line=file.line_of_label(bad),
                    column=1,
                )
            return [_objects(f.labels) for f in files], None
        value = {label: float(label) for label in distinct}
        whole = all(v == math.floor(v) and abs(v) <= 2**53 for v in value.values())
        dtype = np.int64 if whole and self.response == "label" else np.float64
        return [np.array([value[label] for label in f.labels]).astype(dtype) for f in files], None

    def _named(self, file, names, several=False):
        """The labels of each document as names."""
        result = []
        for line, text in zip(file.lines, file.labels, strict=True):
            labels = [part for part in text.split(",") if part] if several else [text]
            if names is not None:
                for i, label in enumerate(labels):
                    number = int(label) - self.label_base if ID.fullmatch(label) else -1
                    if not 0 <= number < len(names):
                        raise InputError(
                            f"label {label!r} is none of the {len(names)} lines of {self.labels_path}, "
                            f"numbered from {self.label_base}",
                            file=file.path,
                            line=line,
                            column=1,
                        )
                    labels[i] = names[number]
            result.append(labels)
        return result


class _File:
    """A parsed file: labels as text, and the entries with the line each came from."""

    def __init__(self, path, options: SvmLight, words):
        self.path, self.options, self.words = path, options, words
        self.labels: list[str] = []
        self.lines: list[int] = []  # line numbers of the documents
        self._qid = False
        raw = read_bytes(path)
        if not raw.isascii() or b"\0" in raw or b"\r" in raw:
            raw = decode(raw, path).encode()  # refuses what is not text, and drops a byte order mark
        self._source = raw.split(b"\n")
        self._entries()
        del self._source
        if self._qid:
            warnings.warn(f"{path}: qid: is not a word, it is ignored", InputWarning, stacklevel=4)

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
        self.columns, self.values = numbers[:, 0] - self.options.index_base, numbers[:, 1]
        bad = (self.columns < 0) | (numbers > self._largest_id_and_count()).any(axis=1)
        if bad.any():
            self._slow(self.lines[self.rows[np.argmax(bad)]])
        self.n_words = int(self.columns.max()) + 1 if len(self.columns) else 0

    def _largest_id_and_count(self):
        largest = LIMIT if self.words is None else len(self.words) - 1 + self.options.index_base
        return np.array([largest, LIMIT])

    def counts(self, n_words: int) -> sp.coo_array:
        def place(row, column):
            return f"{self.path}, line {self.lines[row]}, feature {column + self.options.index_base}"

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
        several = self.options.response == "labels"
        label, column = tokens[0]
        if ":" in label:
            if not several and self.options.response != "none" and self.options.wanted.responses != "none":
                self._refuse(
                    f"the line has no label, it begins with {label!r}; "
                    "put a label first, or pass response=none",
                    line,
                    column,
                )
            label = ""
        else:
            tokens = tokens[1:]
        if "," in label and self.options.response != "none" and not several:
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
        if word.startswith("-") and ID.fullmatch(word[1:]):
            self._refuse(
                f"feature id {word} is negative; ids start at {self.options.index_base}", line, column
            )
        if not ID.fullmatch(word):
            self._refuse(f"cannot read {word!r} as the id of a word: only the digits 0 to 9", line, column)
        if not count:
            self._refuse(f"count missing after {word}:", line, column)
        number = int(word) if len(word) <= 4000 else LIMIT + 1  # int() itself refuses more digits
        if number < self.options.index_base:
            self._refuse(
                "id 0 is not valid when ids start at 1; pass index_base=0 if they start at 0", line, column
            )
        if number > LIMIT:
            self._refuse(f"feature id {word} is over the limit {LIMIT}", line, column)
        largest = int(self._largest_id_and_count()[0])
        if number > largest:
            self._refuse(
                f"feature id {word} is over {largest}, the last of {self.options.vocabulary_path} "
                f"({len(self.words)} words)",
                line,
                column,
            )
        return b" %d:%d" % (number, self._count(count, line, column))

    def _count(self, text: str, line: int, column: int) -> int:
        if NOT_A_NUMBER.fullmatch(text):
            self._refuse(f"count {text} is not a whole number from 0 to {LIMIT}", line, column)
        if not COUNT.fullmatch(text):
            self._refuse(f"cannot read count {text!r} as a number: only the digits 0 to 9", line, column)
        value = float(text)
        if value < 0:
            self._refuse(f"negative count {text}", line, column)
        if value > LIMIT:
            self._refuse(f"count {text} is over the limit {LIMIT}", line, column)
        if value != math.floor(value):
            self._refuse(f"{text} is not a whole count", line, column)
        return int(value)

    def _refuse(self, what: str, line: int, column: int):
        raise InputError(what, file=self.path, line=line, column=column)


def _objects(values) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
