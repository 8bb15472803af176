"""SVMlight: a label and id:count pairs a line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plugsamp.corpus import Corpus
from plugsamp.errors import InputError
from plugsamp.readers.base import Reader, Split, SplitOptions, TestFile, check_tokens
from plugsamp.readers.files import read_names
from plugsamp.readers.numbers import COUNT, ID, NOT_A_NUMBER
from plugsamp.readers.pairs import PairsFile
from plugsamp.readers.records import indicator_table


@dataclass(kw_only=True)
class SvmLight(TestFile, SplitOptions, Reader):
    """``label id:count id:count ...``, plain or .gz; ``#`` begins a comment.

    Parameters
    ----------
    path : str
        The file, plain or .gz.
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
        files = [self._file(path, words) for path in paths]
        responses, names = self._responses(files)
        corpora = []
        for file, values in zip(files, responses, strict=True):
            own = words or [f"w{i + self.index_base}" for i in range(file.n_words)]
            try:
                corpus = Corpus.from_counts(
                    file.counts(len(own)),
                    responses=values,
                    vocabulary=own,
                    response_names=names,
                    require_tokens=False,
                )
                if vocabulary is None and not corpora:
                    check_tokens(corpus, file.path)
            except InputError as error:
                raise error.within(file.path) from None
            if vocabulary is not None or corpora:
                corpus = corpus.with_vocabulary(
                    vocabulary if vocabulary is not None else corpora[0].vocabulary
                )
            corpora.append(corpus)
        return self.split_corpus(corpora[0], corpora[1] if self.test_path else None)

    def _file(self, path, words) -> PairsFile:
        labels = {"labels": "several", "none": "optional"}.get(self.response, "one")
        if labels == "one" and self.wanted.responses == "none":
            labels = "optional"
        n_words = None if words is None else len(words)
        return PairsFile(path, self.index_base, n_words, self.vocabulary_path, labels)

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
        beyond = next((label for label, number in value.items() if math.isinf(number)), None)
        if beyond is not None:
            file = next(f for f in files if beyond in f.labels)
            what, line = f"label {beyond[:40]} is beyond all numbers", file.line_of_label(beyond)
            raise InputError(what, file=file.path, line=line, column=1)
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


def _objects(values) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
