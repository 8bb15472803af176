"""Documents as a text format gives them, and the corpora made of them."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from plugsamp.bags import Counted
from plugsamp.corpus import Corpus
from plugsamp.counts import canonical
from plugsamp.errors import InputError, InputWarning
from plugsamp.lookalikes import matched, tidied
from plugsamp.readers.base import TO_PREDICT, Reader, Split, SplitOptions, check_only
from plugsamp.readers.counting import Bags
from plugsamp.readers.split import seeded_split
from plugsamp.readers.text import TextOptions


@dataclass
class Records:
    """The documents of one file, before words are counted.

    Attributes
    ----------
    kind : {"text", "tokens", "counts"}
    contents : list of str, of lists of str, or of dicts from word to count; or Bags
        Bags once the words are counted.
    ids : list of str, all different
    response : {None, "label", "labels", "y"}
    responses : list of str, of lists of str, of float, or of lists of float; None where missing
    is_test : list of bool, or None where the file does not say
    response_names : list of str
        The fields of the response.
    weights : list of float
        Empty where the documents have none.
    fields : dict of str to list
        Raw values by column.
    """

    file: str
    kind: str
    contents: list | Bags
    ids: list[str]
    response: str | None = None
    responses: list = field(default_factory=list)
    is_test: list[bool] | None = None
    response_names: list[str] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    fields: dict[str, list] = field(default_factory=dict)

    def has_content(self, i: int) -> bool:
        """Whether there is anything in a document whose words have been counted."""
        return bool(self.contents.filled[i])

    def take(self, rows) -> Records:
        def pick(values):
            if isinstance(values, Bags):
                return values.take(rows)
            return [values[r] for r in rows] if values else values

        return replace(
            self,
            contents=pick(self.contents),
            ids=pick(self.ids),
            responses=pick(self.responses),
            is_test=pick(self.is_test),
            weights=pick(self.weights),
            fields={name: pick(values) for name, values in self.fields.items()},
        )


@dataclass(kw_only=True)
class TextReader(TextOptions, SplitOptions, Reader):
    """A format whose documents are text (or words, or counts of words).

    A subclass gives `records`; this class does the rest, so that every format learns its vocabulary
    on training documents only, keeps emptied documents, and codes responses alike.
    """

    @abstractmethod
    def records(self, path: str) -> Records:
        """The documents of a file or folder, as they stand there."""

    def counted(self, path: str) -> Records:
        """The documents of a file with their words counted."""
        records = self.records(path)
        return replace(records, contents=self.bags([(records.kind, records.contents)]))

    def read(self, vocabulary: Sequence[str] | None = None) -> Split:
        self.check_text_options()
        self.check_split_options()
        records = self._selected_records(self.counted(getattr(self, "path", None)))
        if self.second_path is not None:
            train, test = records, _unlabelled(records, self.counted(self.second_path))
            test = self._selected_records(test)
            if (test.kind, test.response) != (train.kind, train.response):
                raise InputError(
                    f"the test file has {test.kind} and {test.response or 'no responses'}, "
                    f"the training file {train.kind} and {train.response or 'no responses'}",
                    file=test.file,
                )
        else:
            train, test = self._divided(records)
        return self._corpora(train, test, vocabulary)

    def _selected_records(self, records: Records) -> Records:
        records = replace(records, responses=tidied(records.responses))
        if self.only is None:
            return records
        if records.response != "label":
            raise InputError(
                "only= selects by label, and the documents have not one label each", file=records.file
            )
        if not any(records.responses):
            return records
        check_only(tidied(map(str, self.only)), [r for r in records.responses if r is not None], records.file)
        wanted = set(tidied(map(str, self.only)))
        return records.take([i for i, r in enumerate(records.responses) if r in wanted])

    def _divided(self, records: Records) -> tuple[Records, Records | None]:
        n = len(records.contents)
        if self.test_size:
            classes = [str(r) for r in records.responses] if records.response == "label" else None
            is_test = seeded_split(n, self.test_size, self.split_seed, classes)
        elif records.is_test is not None and any(records.is_test):
            is_test = np.array(records.is_test)
            if is_test.all():
                raise InputError(
                    "every document is a test document; there is nothing to train on", file=records.file
                )
        else:
            named = getattr(self, "split", "auto") not in ("auto", "none") or (
                getattr(self, "test_value", "test") != "test"
            )
            if records.is_test is not None and named:
                raise InputError(
                    f"no document has {self.test_value!r} in the split field, so there are no test "
                    "documents; test_value names another value, split=none takes all documents for training",
                    file=records.file,
                )
            return records, None
        return records.take(np.flatnonzero(~is_test)), records.take(np.flatnonzero(is_test))

    def _column(self, name: str, values: list):
        return np.array(values, dtype=float) if name in self.wanted.numeric else values

    def _kept(self, part: Records) -> np.ndarray:
        """The columns of the words of training documents that are kept."""
        X = part.contents.X
        if X.sum() == 0:
            why = "the corpus has no tokens: no document has a word left"
            if part.kind == "text" and part.contents.filled.any():
                why += (
                    f" with pattern={self.pattern} and stop_words={self.stop_words}; pattern=blanks "
                    "and stop_words=none take all that stands between blanks"
                )
            raise InputError(why, file=part.file, in_python=TO_PREDICT)
        keep = self.choose(X)
        if len(keep) == 0:
            raise InputError(
                f"none of the {len(np.unique(X.indices))} words of the training documents is within "
                f"min_df={self.min_df}, max_df={self.max_df} and min_count={self.min_count}",
                file=part.file,
            )
        return keep

    def _corpus(self, part: Records, responses, names, keep=None, unknown: bool = True) -> Corpus:
        """The corpus of counted documents.

        Parameters
        ----------
        keep : int array, optional
            The columns of the words that it has.
        unknown : bool
            Whether tokens of the other words count as unknown.
        """
        X, words, n_unknown = part.contents.X, part.contents.words, None
        if keep is not None:
            kept = X[:, keep]
            n_unknown = X.sum(axis=1) - kept.sum(axis=1) if unknown else None
            X, words = kept, [words[k] for k in keep]
        if part.kind == "counts":  # which may hold zeros
            bag = Counted(*canonical(X)[:3])
        else:
            bag = Counted(X.indptr, X.indices, X.data)
        return Corpus.from_bag(
            bag,
            responses=responses,
            vocabulary=words,
            ids=part.ids,
            response_names=names,
            weights=np.array(part.weights) if part.weights else None,
            fields={name: self._column(name, values) for name, values in part.fields.items()},
            n_unknown=n_unknown,
            require_tokens=False,
        )

    def corpus_of(self, records: Records, vocabulary) -> Corpus:
        """The corpus of counted documents in a model's words, with no warning of documents that lose all."""
        records = replace(records, responses=tidied(records.responses))
        (responses, _), names = coded_responses(records, None, self.wanted.labels)
        return self._corpus(records, responses, names).with_vocabulary(vocabulary)

    def _corpora(self, train: Records, test: Records | None, vocabulary) -> Split:
        responses, names = coded_responses(train, test)
        keep = self._kept(train) if vocabulary is None else None
        first = self._corpus(train, responses[0], names, keep, unknown=False)
        corpora = [first, None]
        if test is not None:
            together = test.contents.words is train.contents.words
            corpora[1] = self._corpus(test, responses[1], names, keep if together else None)
        words = first.vocabulary if vocabulary is None else vocabulary
        corpora = [corpus and corpus.with_vocabulary(words) for corpus in corpora]
        for part, corpus in zip((train, test), corpora, strict=True):
            if corpus is not None:
                _warn_of_emptied(part, corpus)
        return self.with_validation(*corpora)


def _unlabelled(train: Records, test: Records) -> Records:
    """Test documents that have no field for the response: all of theirs are missing."""
    if train.response is None or test.response is not None:
        return test
    names = ", ".join(map(repr, train.response_names)) or "responses"
    warnings.warn(
        f"{test.file}: the test documents have no {names}, so they are predicted and not scored",
        InputWarning,
        stacklevel=4,
    )
    return replace(test, response=train.response, responses=[None] * len(test.contents))


def _warn_of_emptied(part: Records, corpus: Corpus) -> None:
    empty = np.flatnonzero(corpus.lengths == 0)
    emptied = [i for i in empty if part.has_content(i)]
    if emptied:
        warnings.warn(
            f"{part.file}: {len(emptied)} of {corpus.n_documents} documents have no word of the vocabulary "
            f"and stay as empty documents (the first is {part.ids[emptied[0]]!r})",
            InputWarning,
            stacklevel=4,
        )


def coded_responses(train: Records, test: Records | None, known: Sequence[str] = ()):
    """((train's, test's), names): labels as objects, real numbers as floats, label lists as 0/1 tables."""
    if test is not None and train.response in ("label", "labels"):
        test = replace(test, responses=_as_in_training(train.responses, test.responses))
    parts = (train, test)
    if train.response is None:
        return (None, None), None
    if train.response == "y":
        several = train.response_names if len(train.response_names) > 1 else None
        return [p and real_responses(p.responses, len(several or "y")) for p in parts], several
    if train.response == "label":
        _warn_of_new(train, test, lambda r: () if r is None else (r,))
        return [p and _objects(p.responses) for p in parts], None
    _warn_of_new(train, test, lambda r: r or ())
    names = sorted({label for p in parts if p for r in p.responses if r for label in r} | set(known))
    if not names:
        raise InputError("no document has a label", file=train.file)
    index = {name: i for i, name in enumerate(names)}
    return [p and indicator_table(p.responses, index) for p in parts], names


def _as_in_training(train: list, test: list) -> list:
    """Labels of test documents, those of the same value as one of training documents called as there."""

    def each(responses):
        return {label for r in responses for label in (r if isinstance(r, list) else [r])}

    same = matched(each(test), each(train))
    return [[same.get(x, x) for x in r] if isinstance(r, list) else same.get(r, r) for r in test]


def real_responses(responses, n_columns: int) -> np.ndarray:
    """Numbers (D,), or (D, C) of several columns; NaN where missing."""
    if n_columns == 1:
        return np.array([np.nan if r is None else r for r in responses], dtype=float)
    rows = [[None] * n_columns if r is None else r for r in responses]
    return np.array([[np.nan if v is None else v for v in row] for row in rows], dtype=float)


def _objects(values) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def indicator_table(responses, index) -> np.ndarray:
    """Label lists as 0/1 (D, labels); NaN all along the row of a document whose labels are missing."""
    missing = any(r is None for r in responses)
    table = np.zeros((len(responses), len(index)), dtype=float if missing else np.int8)
    for row, labels in enumerate(responses):
        if labels is None:
            table[row] = np.nan
        else:
            table[row, [index[label] for label in labels]] = 1
    return table


def _warn_of_new(train: Records, test: Records | None, labels: Callable) -> None:
    if test is None:
        return
    new = {x for r in test.responses for x in labels(r)} - {x for r in train.responses for x in labels(r)}
    if new:
        first = ", ".join(sorted(new)[:5])
        warnings.warn(
            f"{test.file}: {len(new)} labels of test documents are those of no training document: {first}",
            InputWarning,
            stacklevel=5,
        )


#: What to do where ids are not unique, of readers with such an option.
NO_ID = "; id=none calls documents by their lines"


def unique_ids(ids: list[str], lines: list[int], file, advice: str = "") -> list[str]:
    """Refuse an id that two lines share."""
    seen: dict[str, int] = {}
    for name, line in zip(ids, lines, strict=True):
        if name in seen:
            raise InputError(f"id {name} is on lines {seen[name]} and {line}{advice}", file=file, line=line)
        seen[name] = line
    return ids
