"""What can be read of a corpus, and the corpora that are made of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from functools import cached_property
from types import MappingProxyType

import numpy as np
import scipy.sparse as sp

from plugsamp.bags import translated
from plugsamp.checks import frozen
from plugsamp.counts import LIMIT
from plugsamp.documents.columns import (
    column_names,
    covariates_of,
    hash_strings,
    hash_values,
    responses_of,
    weights_of,
)
from plugsamp.documents.overview import corpus_table
from plugsamp.errors import InputError
from plugsamp.naming import check_rows, in_order, names_of_columns, places_in
from plugsamp.system import memory

#: What a token costs while a chain runs: its word (4 bytes), its topic, and its place by word.
BYTES_PER_TOKEN = 12


class Documents:
    """The readable side of a `plugsamp.Corpus`."""

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

    def take(self, rows) -> Documents:
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

    def split(self, size: float, seed: int = 0) -> tuple[Documents, Documents]:
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

    def with_responses(self, responses, response_names=None) -> Documents:
        """The same documents with other responses (or None)."""
        check_rows(self.ids, responses=responses)
        response_names = names_of_columns(responses, response_names, "response_names")
        values = None if responses is None else responses_of(responses, self.n_documents)
        return self._with(responses=values, response_names=column_names(values, response_names, "response"))

    def with_weights(self, weights) -> Documents:
        """The same documents with other weights (or None)."""
        check_rows(self.ids, weights=weights)
        return self._with(weights=None if weights is None else weights_of(weights, self.n_documents))

    def _with(self, **changes) -> Documents:
        """The same documents with other attributes, which have been checked."""
        new = type(self).__new__(type(self))
        new.__dict__.update(self.__dict__ | changes)
        return new

    def with_vocabulary(self, vocabulary) -> Documents:
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

    def with_covariates(self, covariates, names) -> Documents:
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

    def _like(self, bag, rows, vocabulary, unknown) -> Documents:
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
