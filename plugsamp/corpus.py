"""The corpus: tokens, vocabulary, responses, covariates. Its invariants are checked here, once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from functools import cached_property
from types import MappingProxyType

import numpy as np
import scipy.sparse as sp

from plugsamp.bags import Counted, Mapped, translated
from plugsamp.checks import (
    column_names,
    covariates_of,
    fields_of,
    frozen,
    hash_strings,
    hash_values,
    names_of,
    responses_of,
    weights_of,
)
from plugsamp.counts import LIMIT, canonical, check_pointers
from plugsamp.errors import InputError
from plugsamp.naming import check_rows, in_order, joined, names_of_columns, places_in, stacked
from plugsamp.sizes import check_claim
from plugsamp.system import memory

#: What a token costs while a chain runs: its word (4 bytes), its topic, and its place by word.
BYTES_PER_TOKEN = 12

NO_TOKENS = "the corpus has no tokens: every one of its documents is empty"


class Corpus:
    """Documents as bags of words, with their responses and covariates. Immutable.

    Parameters
    ----------
    words : array (N,) of integers
        The word of each token, document after document; the order within a document is free.
    offsets : array (D+1,) of integers
        Document d holds the tokens ``words[offsets[d]:offsets[d+1]]``.
    vocabulary : sequence of V different strings, or mapping, optional
        A mapping goes from each word to its place (``CountVectorizer.vocabulary_``). Words that differ only
        in blanks at the ends, Unicode form or unseen characters are one, with one warning. By default
        ``w0, w1, ...`` up to the largest word.
    n_words : int, optional
        V, where no vocabulary is given.
    responses : array (D,) or (D, C), optional
        Labels (text, integers, booleans) or real numbers (of size 1e30 at most), one a document; or several
        columns: 0/1 indicators of labels, or several real responses. None and NaN are missing. The columns
        of a data frame are their names.
    covariates : array or sparse matrix (D, P), optional
        Numbers of size 1e30 at most. Sparse ones are kept as CSR. The columns of a data frame, or of a
        mapping of names to columns, are their names.
    ids : sequence of D different strings, optional
        By default the numbers of the documents, from 0.
    response_names, covariate_names : sequences of C and P different strings, optional
    weights : sequence of D numbers, optional
        How much the responses of each document count, 0 or more; by default 1 (the words all count 1).
    fields : mapping of str to sequence of D values, or data frame, optional
        Columns as they were read, of which `plugsamp.covariates.Covariates` makes covariates: numbers
        (NaN is missing), or texts, numbers, booleans and lists of texts (None is missing).
    require_tokens : bool
        False takes a corpus in which no document has a token (documents to predict).

    Raises
    ------
    InputError
        A ValueError that says what is wrong, where, and what would be right.

    Notes
    -----
    Everything is in the order of the documents. Series and data frames whose indexes have the same names in
    another order, or other names, are refused.
    Kept as counts; `words` is expanded when first asked for, after a check that the memory is there. A
    corpus that `plugsamp.store.open_store` gives is kept as its tokens in a file, of which counts are made
    each time they are asked for.
    All arrays are read-only (a Cython kernel takes them as ``const``).
    """

    def __init__(
        self,
        words,
        offsets,
        vocabulary=None,
        responses=None,
        covariates=None,
        ids=None,
        response_names=None,
        covariate_names=None,
        *,
        weights=None,
        fields: Mapping | None = None,
        n_words: int | None = None,
        require_tokens: bool = True,
    ):
        words = np.asarray(words)
        if words.ndim != 1 or (words.dtype.kind not in "iu" and words.size):
            raise InputError(
                f"words must be a vector of integers, found {words.ndim} dimensions of {words.dtype}"
            )
        offsets = np.asarray(offsets)
        offsets = check_pointers(offsets, max(offsets.size - 1, 0), len(words), exact=True, axis="document")
        if vocabulary is not None:
            vocabulary = in_order(vocabulary, "vocabulary")
            n_words = len(vocabulary)
        elif n_words is None:
            n_words = int(words.max()) + 1 if len(words) else 0
        if vocabulary is None:
            check_claim(f"n_words={n_words}", n_words, "words", len(words))
        if len(words) and (words.min() < 0 or words.max() >= n_words):
            first = int(np.argmax((words < 0) | (words >= n_words)))
            document = int(np.searchsorted(offsets, first, side="right")) - 1
            raise InputError(
                f"word {words[first]} of token {first} in document {document} is not below {n_words}"
            )
        bag, vocabulary = _joined(Counted.of_tokens(words, offsets, n_words), vocabulary)
        self._set(
            bag, n_words if vocabulary is None else len(vocabulary), responses, vocabulary, covariates, ids,
            response_names, covariate_names, require_tokens, weights=weights, fields=fields,
        )  # fmt: skip

    @classmethod
    def from_counts(
        cls,
        X,
        responses=None,
        vocabulary=None,
        covariates=None,
        ids=None,
        response_names=None,
        covariate_names=None,
        *,
        weights=None,
        fields: Mapping | None = None,
        require_tokens: bool = True,
    ) -> Corpus:
        """From a document by word matrix of counts.

        Parameters
        ----------
        X : sparse matrix or array, dense array, or data frame (D, V)
            The columns of a data frame are the vocabulary. Whole numbers from 0 to 2147483647 of any
            numeric type; it is not changed. Stored zeros are not tokens; entries for the same place are
            summed, with one warning.
        responses, vocabulary, covariates, ids, response_names, covariate_names
        weights, fields, require_tokens
            As for `Corpus`.
        """
        self = cls.__new__(cls)
        check_rows(
            ids, X=X, ids=ids, responses=responses, covariates=covariates, weights=weights, fields=fields
        )
        vocabulary = names_of_columns(X, vocabulary, "vocabulary")
        *parts, (_, n_words) = canonical(X)
        bag = Counted(*parts)
        if vocabulary is not None:
            vocabulary = names_of(vocabulary, n_words, "vocabulary", "word", "columns of counts")
            bag, vocabulary = _joined(bag, vocabulary)
            n_words = len(vocabulary)
        self._set(
            bag, n_words, responses, vocabulary, covariates, ids,
            response_names, covariate_names, require_tokens, weights=weights, fields=fields,
        )  # fmt: skip
        return self

    @classmethod
    def from_frame(cls, frame, text: str = "text", label=None, *, fields=(), vocabulary=None, **options):
        """From a data frame of pandas, polars or pyarrow: one document a row, whose texts are counted here.

        Row i is document i: no row is left out, and rows without a word are empty documents.

        Parameters
        ----------
        frame : data frame, or mapping of str to sequence
        text : str
            The column with the documents: texts, lists of words (taken as they are), or mappings from word to
            count.
        label : str or list of str, optional
            The column with the responses: labels (text, integers, booleans), real numbers, or lists of
            labels. Or several columns: 0/1 indicators of labels, or real responses. None, NaN and NA are
            missing.
        fields : str or list of str
            Columns to keep in `fields`, for covariates and effects.
        vocabulary : sequence of str, optional
            The words of a model or of another corpus, for new documents; other words are left out and counted
            in `n_unknown`. By default the words of these documents, within the limits of `options`.
        id, weight : str, optional
            Columns with the ids (by default the index of the frame) and with the weights of the responses.
        missing_as : list of str
            Labels and values of fields that mean "missing", such as NA.
        lowercase, pattern, stop_words, min_df, max_df, min_count, max_words : optional
            How texts become words; see `plugsamp.readers.text.TextOptions`.

        Raises
        ------
        InputError
            Naming the column and the row.

        Examples
        --------
        >>> import plugsamp as ps
        >>> frame = {"body": ["moon and orbit", "bread, butter", None], "topic": ["space", "food", None]}
        >>> corpus = ps.Corpus.from_frame(frame, text="body", label="topic", min_df=1)
        >>> corpus.vocabulary, corpus.lengths.tolist()
        (('bread', 'butter', 'moon', 'orbit'), [2, 2, 0])
        """
        from plugsamp.readers.frame import corpus_of_frame

        return corpus_of_frame(frame, vocabulary, text=text, label=label, fields=fields, **options)

    @classmethod
    def from_bag(
        cls,
        bag: Counted | Mapped,
        responses=None,
        vocabulary=None,
        covariates=None,
        ids=None,
        response_names=None,
        covariate_names=None,
        *,
        weights=None,
        fields: Mapping | None = None,
        n_unknown=None,
        require_tokens: bool = True,
    ) -> Corpus:
        """From words in one of the forms of `plugsamp.bags`, and their vocabulary; else as `Corpus`."""
        self = cls.__new__(cls)
        vocabulary = in_order(vocabulary, "vocabulary")
        self._set(
            bag, len(vocabulary), responses, vocabulary, covariates, ids, response_names, covariate_names,
            require_tokens, n_unknown, weights, fields,
        )  # fmt: skip
        return self

    def _set(
        self,
        bag,
        n_words,
        responses,
        vocabulary,
        covariates,
        ids,
        response_names,
        covariate_names,
        require_tokens,
        unknown=None,
        weights=None,
        fields=None,
    ):
        n_documents = len(bag.offsets) - 1
        if n_documents == 0:
            raise InputError("the corpus has no documents")
        if require_tokens and bag.n_entries == 0:
            raise InputError(
                NO_TOKENS, in_python="; documents to predict are taken with require_tokens=False"
            )
        check_rows(
            ids, ids=ids, responses=responses, covariates=covariates, weights=weights, fields=fields
        )
        state = self.__dict__
        state["_bag"], state["offsets"] = bag, bag.offsets
        state["n_documents"], state["n_words"] = n_documents, n_words
        state["vocabulary"] = (
            tuple(f"w{i}" for i in range(n_words))
            if vocabulary is None
            else names_of(vocabulary, n_words, "vocabulary", "word", "columns of counts")
        )
        state["ids"] = (
            tuple(map(str, range(n_documents)))
            if ids is None
            else names_of(ids, n_documents, "ids", "document id", "documents")
        )
        response_names = names_of_columns(responses, response_names, "response_names")
        covariates, names = (None, None) if covariates is None else stacked(covariates, "covariates")
        covariate_names = names if covariate_names is None else covariate_names
        covariate_names = names_of_columns(covariates, covariate_names, "covariate_names")
        state["responses"] = None if responses is None else responses_of(responses, n_documents, n_words)
        state["response_names"] = column_names(self.responses, response_names, "response")
        state["covariates"] = None if covariates is None else covariates_of(covariates, n_documents)
        state["covariate_names"] = column_names(self.covariates, covariate_names, "covariate")
        if self.covariates is not None and covariate_names is None:
            state["covariate_names"] = tuple(f"x{p}" for p in range(self.covariates.shape[1]))
        state["weights"] = None if weights is None else weights_of(weights, n_documents)
        state["_fields"] = fields_of({} if fields is None else fields, n_documents)
        state["n_unknown"] = _frozen(np.zeros(n_documents) if unknown is None else unknown, np.int64)

    def __setattr__(self, name, value):
        raise AttributeError(f"a Corpus is immutable: {name} cannot be set; build another one")

    def __setstate__(self, state):
        for value in (*state.values(), *state["_fields"].values()):
            if isinstance(value, np.ndarray) or sp.issparse(value):
                frozen(value)  # pickling forgets it
        self.__dict__.update(state)

    def __getstate__(self):
        return {k: v for k, v in self.__dict__.items() if k != "words"}  # expanded again there

    def __repr__(self) -> str:
        return f"<Corpus of {self.n_documents} documents, {self.n_words} words, {self.n_tokens} tokens>"

    def _repr_html_(self) -> str:
        from plugsamp.posterior.overview import corpus_table

        return corpus_table(self)._repr_html_()

    @property
    def fields(self) -> Mapping[str, np.ndarray]:
        """Columns as they were read, float64 or object arrays (D,) by name."""
        return MappingProxyType(self._fields)

    @property
    def n_tokens(self) -> int:
        """N, a Python integer: it may be over 2^31."""
        return int(self.offsets[-1])

    @property
    def lengths(self) -> np.ndarray:
        """Tokens of each document, int64 (D,)."""
        return np.diff(self.offsets)

    @cached_property
    def words(self) -> np.ndarray:
        """The word of each token, int32 (N,), document after document, sorted within each.

        Raises
        ------
        InputError
            Before anything is allocated, where the tokens do not fit in memory.
        """
        if self._bag.in_memory:
            self.check_memory()
        return self._bag.words()

    def token_pieces(self) -> Iterator[np.ndarray]:
        """`words` in pieces of whole documents, of which one at a time is in memory."""
        return self._bag.pieces()

    def check_memory(self) -> None:
        """Refuse a corpus whose tokens would not fit in the memory that is free."""
        needed = self.n_tokens * BYTES_PER_TOKEN
        free = memory.available_bytes() if needed > memory.LITTLE else None
        if free is not None and needed > free:
            longest = int(np.argmax(self.lengths))
            alone = int(self.lengths[longest])
            most = f" (document {self.ids[longest]!r} alone has {alone})" if 2 * alone > self.n_tokens else ""
            raise InputError(
                f"{self.n_tokens} tokens{most} need {needed} bytes of memory ({BYTES_PER_TOKEN} a token), "
                f"{free} are free; take fewer documents or a smaller vocabulary"
            )

    def counts(self) -> sp.csr_array:
        """The counts as CSR (D, V) of int32, rows sorted by word; a copy."""
        # SciPy keeps the widths it is given, and scikit-learn takes 32-bit ones only.
        indptr, indices, data = self._bag.parts()
        indptr = indptr.astype(np.int32 if len(data) <= LIMIT else np.int64)
        parts = (data.astype(np.int32), indices.astype(np.int32), indptr)
        return sp.csr_array(parts, shape=(self.n_documents, self.n_words))

    def take(self, rows) -> Corpus:
        """The corpus of some documents, in the order given, in the same vocabulary.

        Parameters
        ----------
        rows : integers from 0 to D-1, each at most once, or booleans (D,)
        """
        rows = np.asarray(rows)
        if rows.dtype.kind == "b":
            if rows.shape != (self.n_documents,):
                raise InputError(f"a mask of shape {rows.shape} was given for {self.n_documents} documents")
            rows = np.flatnonzero(rows)
        if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
            raise InputError(
                f"rows must be a vector of integers, found {rows.ndim} dimensions of {rows.dtype}"
            )
        rows = rows.astype(np.int64)
        outside = (rows < 0) | (rows >= self.n_documents)
        if outside.any():
            raise InputError(f"document {rows[np.argmax(outside)]} is outside 0..{self.n_documents - 1}")
        return self._like(self._bag.take(rows), rows, self.vocabulary, self.n_unknown[rows])

    def split(self, size: float, seed: int = 0) -> tuple[Corpus, Corpus]:
        """Divide the documents at random, so that each class keeps its share.

        Parameters
        ----------
        size : float
            The share of the second part, above 0 and below 1.
        seed : int
            Which documents those are; 0 or more.

        Returns
        -------
        rest, chosen : Corpus
            Such as training and validation documents, in the same vocabulary, each in their order.

        Raises
        ------
        InputError
            A size or seed outside its range, or fewer than two documents.

        Examples
        --------
        >>> import numpy as np, plugsamp as ps
        >>> corpus = ps.Corpus.from_counts(np.ones((10, 3), int), responses=["a", "b"] * 5)
        >>> train, validation = corpus.split(0.4)
        >>> validation.responses.tolist().count("a"), train.n_documents
        (2, 6)
        """
        from plugsamp.readers.split import class_labels, seeded_split  # here, as readers import corpora

        rows = seeded_split(self.n_documents, size, seed, class_labels(self.responses))
        return self.take(~rows), self.take(rows)

    def with_responses(self, responses, response_names=None) -> Corpus:
        """The same documents with other responses (or None)."""
        check_rows(self.ids, responses=responses)
        response_names = names_of_columns(responses, response_names, "response_names")
        values = None if responses is None else responses_of(responses, self.n_documents)
        return self._with(responses=values, response_names=column_names(values, response_names, "response"))

    def with_weights(self, weights) -> Corpus:
        """The same documents with other weights (or None)."""
        check_rows(self.ids, weights=weights)
        return self._with(weights=None if weights is None else weights_of(weights, self.n_documents))

    def _with(self, **changes) -> Corpus:
        """The same documents with other attributes, which have been checked."""
        new = type(self).__new__(type(self))
        new.__dict__.update(self.__dict__ | changes)
        return new

    def with_vocabulary(self, vocabulary) -> Corpus:
        """The same documents in the words of another vocabulary.

        Tokens whose word it does not have are left out and counted in `n_unknown`; a document that
        loses all its tokens stays, empty. Words are compared in one Unicode form.

        Parameters
        ----------
        vocabulary : sequence of different strings, or mapping from each word to its place
        """
        vocabulary = in_order(vocabulary, "vocabulary")
        if vocabulary == self.vocabulary:
            return self
        bag, lost = translated(self._bag, places_in(vocabulary, self.vocabulary), len(vocabulary))
        return self._like(bag, slice(None), vocabulary, self.n_unknown + lost)

    def with_covariates(self, covariates, names) -> Corpus:
        """The same documents with further covariates, after those that they have.

        Parameters
        ----------
        covariates : array or sparse matrix (D, P)
        names : sequence of P strings
        """
        check_rows(self.ids, covariates=covariates)
        names = tuple(names)
        if self.covariates is not None:
            parts = [self.covariates, covariates]
            if any(sp.issparse(part) for part in parts):
                covariates = sp.hstack(list(map(sp.csr_array, parts)), format="csr")
            else:
                covariates = np.hstack(parts)
            names = (*self.covariate_names, *names)
        values = covariates_of(covariates, self.n_documents)
        return self._with(covariates=values, covariate_names=column_names(values, names, "covariate"))

    def _like(self, bag, rows, vocabulary, unknown) -> Corpus:
        new = type(self).__new__(type(self))
        new._set(
            bag,
            len(vocabulary),
            None if self.responses is None else self.responses[rows],
            vocabulary,
            None if self.covariates is None else self.covariates[rows],
            self.ids if isinstance(rows, slice) else [self.ids[r] for r in rows],
            self.response_names,
            self.covariate_names,
            require_tokens=False,
            unknown=unknown,
            weights=None if self.weights is None else self.weights[rows],
            fields={name: values[rows] for name, values in self._fields.items()},
        )
        return new

    def digest(self) -> str:
        """SHA-256 of all content, in hex: equal in every process and on every machine."""
        h = hashlib.sha256(b"plugsamp corpus 1")
        h.update(np.array([self.n_documents, self.n_words, self._bag.n_entries], dtype="<i8").tobytes())
        self._bag.hash(h)
        for names in (self.vocabulary, self.ids, self.response_names, self.covariate_names):
            hash_strings(h, names)
        for values in (self.responses, self.covariates):
            hash_values(h, values)
        if self.weights is not None:
            hash_values(h, self.weights)
        for name in sorted(self._fields):
            hash_strings(h, (name,))
            hash_values(h, self._fields[name])
        return h.hexdigest()

    def vocabulary_digest(self) -> str:
        """SHA-256 of the vocabulary and its order, in hex."""
        h = hashlib.sha256(b"plugsamp vocabulary 1")
        hash_strings(h, self.vocabulary)
        return h.hexdigest()


def _joined(bag: Counted, vocabulary):
    """The bag and its vocabulary, in which words that read the same are one."""
    found = None if vocabulary is None else joined(vocabulary)
    if found is None:
        return bag, vocabulary
    names, places = found
    return translated(bag, places, len(names))[0], names


def _frozen(array, dtype) -> np.ndarray:
    return frozen(np.array(array, dtype=dtype, order="C"))
