"""The contract of a reader: options in, training and test documents out.

A reader is a class registered under the entry-point group ``plugsamp.readers``. The parameters of its
constructor are its configuration: plain numbers, strings, booleans and lists of strings, with type
annotations and defaults. Nothing is read until `Reader.read`, which returns a `Split` for every format,
with ``test`` None where there are no test documents. A reader refuses with `plugsamp.errors.InputError`
and returns nothing partial; what it takes but a user should know of is an `InputWarning`.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from plugsamp.corpus import NO_TOKENS, Corpus
from plugsamp.errors import InputError
from plugsamp.readers.formats import explained


class _Pair(NamedTuple):
    train: Corpus
    test: Corpus | None


class Split(_Pair):
    """Training documents, and test documents or None, in one vocabulary.

    Attributes
    ----------
    train : Corpus
    test : Corpus or None
    validation : Corpus or None
        Documents kept out of the training documents, to choose settings by. It is no item of the tuple:
        ``train, test = split``.
    """

    validation: Corpus | None = None


@dataclass(frozen=True)
class Wanted:
    """What a model asks of the documents beside their words.

    Attributes
    ----------
    responses : {"any", "classes", "real", "none"}
        What its loss takes. "none" means that no document needs a response.
    numeric, categorical : tuple of str
        Columns of which covariates are made.
    recalled : tuple of str
        Options of the reader that are those of the documents a model was fitted to, and were not given for
        these: fields of such a name need not be there.
    labels : tuple of str
        The labels of a model that predicts several, of which some documents may have none.
    """

    responses: str = "any"
    numeric: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    recalled: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.numeric, *self.categorical)


class Reader(ABC):
    """A format. See the module's text for the contract."""

    #: Set by `for_model`; by default everything is read as it is.
    wanted = Wanted()
    #: Whether documents of this format have columns beside their text.
    has_columns = False
    #: Options that new documents for a model share with those it was fitted to, where nothing else is said:
    #: those in any format, and in the same one.
    of_words: ClassVar[tuple[str, ...]] = ()
    of_layout: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        for name in {"read", "stream"} & vars(cls).keys():
            setattr(cls, name, explained(vars(cls)[name], lazy=name == "stream"))

    def for_model(self, wanted: Wanted) -> Reader:
        """This reader, told what a model asks of the documents.

        Raises
        ------
        InputError
            Columns are asked for, and the format has none.
        """
        if wanted.columns and not self.has_columns:
            raise InputError(
                f"covariates name the column {wanted.columns[0]!r}, and {type(self).__name__} reads no "
                "columns; corpus=csv and corpus=jsonl do"
            )
        told = copy.copy(self)
        told.wanted = wanted
        return told

    @abstractmethod
    def read(self, vocabulary: Sequence[str] | None = None) -> Split:
        """Read the documents.

        Parameters
        ----------
        vocabulary : sequence of str, optional
            The words of a model, which are then used as they are; tokens outside are left out and
            counted in `Corpus.n_unknown`. By default the vocabulary is that of the training documents.

        Raises
        ------
        InputError
            Naming file, line and column where they are known, and what would be right.
        """


@dataclass(kw_only=True)
class SplitOptions:
    """Which documents are read, and which are for testing; the options of every reader.

    Parameters
    ----------
    test_size : float
        The share of documents chosen for testing by `split_seed`, each class keeping its share; 0
        chooses none.
    validation_size : float
        The share of the training documents kept out of training, to choose settings by; 0 keeps out none.
        Each class keeps its share. The words are chosen on all training documents.
    split_seed : int
        Which documents those are; 0 or more.
    only : list of str, optional
        Take only the documents with these labels.
    """

    test_size: float = 0.0
    validation_size: float = 0.0
    split_seed: int = 0
    only: list[str] | None = None

    @property
    def second_path(self) -> str | None:
        """The file of test documents, of readers that take one (`TestFile`)."""
        return getattr(self, "test_path", None)

    def check_split_options(self) -> None:
        if self.second_path is not None and self.test_size:
            raise InputError(
                "test_path and test_size both say which documents are for testing; give one of them"
            )
        if isinstance(self.only, str):  # only=a on a command line means the one label
            self.only = [self.only]
        if self.only is not None and not self.only:
            raise InputError("only= names no label; leave it out to take all documents")
        if self.test_size and not 0 < self.test_size < 1:
            raise InputError(f"test_size must be a share from 0 to below 1, not {self.test_size!r}")
        if self.validation_size and not 0 < self.validation_size < 1:
            raise InputError(
                f"validation_size must be a share from 0 to below 1, not {self.validation_size!r}"
            )

    def split_corpus(self, corpus: Corpus, test: Corpus | None) -> Split:
        """The split of corpora whose vocabulary is given, not learnt."""
        corpus = self._selected(corpus)
        test = None if test is None else self._selected(test)
        if self.test_size:
            corpus, test = corpus.split(self.test_size, self.split_seed)
        return self.with_validation(corpus, test)

    def with_validation(self, train: Corpus, test: Corpus | None) -> Split:
        """Return the split with the documents of `validation_size` taken from the training documents."""
        if not self.validation_size:
            return Split(train, test)
        rest, chosen = train.split(self.validation_size, self.split_seed)
        split = Split(rest, test)
        split.validation = chosen
        return split

    def _selected(self, corpus: Corpus) -> Corpus:
        if self.only is None:
            return corpus
        labels = corpus.responses
        if labels is None or labels.ndim > 1:
            raise InputError("only= selects by label, and the documents have not one label each")
        texts = [str(v) for v in labels.tolist()]
        check_only(self.only, texts)
        wanted = set(map(str, self.only))
        return corpus.take([i for i, t in enumerate(texts) if t in wanted])


@dataclass(kw_only=True)
class TestFile:
    """Test documents in a file of their own.

    Parameters
    ----------
    test_path : str, optional
        A second file (or folder) of the same format, with the test documents.
    """

    test_path: str | None = None


#: What Python callers are told who read documents without a word.
TO_PREDICT = "; documents to predict are read with the model's words: read(vocabulary=model.vocabulary)"


def check_tokens(corpus: Corpus, path) -> None:
    """Refuse a corpus to train on in which no document has a word."""
    if not corpus.n_tokens:
        raise InputError(NO_TOKENS, file=path, in_python=TO_PREDICT)


def check_only(only, labels, file=None) -> None:
    """Refuse a label asked for that no document has."""
    absent = sorted(set(map(str, only)) - set(labels))
    if absent:
        known = ", ".join(sorted(set(labels))[:20])
        raise InputError(f"only= names {absent[0]!r}, which is no label here; labels are {known}", file=file)
