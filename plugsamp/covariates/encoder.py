"""Fitted covariates: from raw columns and words to a matrix, the same for training and new documents."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from plugsamp.covariates.columns import Categories, Numeric
from plugsamp.covariates.options import Covariates
from plugsamp.covariates.words import Words

#: With more covariates than this (or words) the matrix is sparse.
DENSE_LIMIT = 100


@dataclass(frozen=True, eq=False)
class Encoder:
    """What `Covariates.fit` learnt. Plain data: numbers and names.

    Attributes
    ----------
    numeric : tuple of Numeric
    categorical : tuple of Categories
    words : Words or None
    """

    numeric: tuple[Numeric, ...]
    categorical: tuple[Categories, ...]
    words: Words | None

    @classmethod
    def fitted(cls, options: Covariates, corpus) -> Encoder:
        return cls(
            tuple(Numeric.fitted(corpus, name, options.standardise) for name in options.numeric),
            tuple(
                Categories.fitted(corpus, name, options.min_count, options.separator)
                for name in options.categorical
            ),
            Words.fitted(corpus, options) if options.words != "none" else None,
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that documents must have."""
        return tuple(part.column for part in (*self.numeric, *self.categorical))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The covariates: ``year``, ``country=France``, ``word:moon``."""
        return tuple(name for part in self._parts for name in part.names)

    @property
    def sparse(self) -> bool:
        """Whether covariates are CSR; a matter of the encoder, not of the documents."""
        return self.words is not None or len(self.names) > DENSE_LIMIT

    @property
    def _parts(self):
        return (*self.numeric, *self.categorical, *((self.words,) if self.words is not None else ()))

    def matrix(self, corpus):
        """The covariates of documents, float64 (D, P), an array or CSR (`sparse`)."""
        parts = [part.transform(corpus) for part in self._parts]
        if self.sparse:
            joined = sp.csr_array(sp.hstack(list(map(sp.csr_array, parts)), format="csr"))
            if max(joined.nnz, *joined.shape) < 2**31:  # some solvers of scikit-learn refuse longer indices
                joined.indices = joined.indices.astype(np.int32, copy=False)
                joined.indptr = joined.indptr.astype(np.int32, copy=False)
            return joined
        if not parts:
            return np.empty((corpus.n_documents, 0))
        return np.hstack([part.toarray() if sp.issparse(part) else part for part in parts])

    def transform(self, corpus):
        """The documents with these covariates, after those that they have.

        A document's covariates depend on the document alone, whatever is encoded with it. Documents that
        have all of them already are given back as they are.

        Parameters
        ----------
        corpus : Corpus
            Of any vocabulary, with the columns in its `fields`.

        Returns
        -------
        Corpus

        Raises
        ------
        InputError
            A column that is not there, or a value that is no number in a numeric one.
        """
        if corpus.covariates is not None and set(self.names) <= set(corpus.covariate_names):
            return corpus
        return corpus.with_covariates(self.matrix(corpus), self.names)

    # -- as data ---------------------------------------------------------------------------------------------

    def data(self) -> tuple[dict[str, np.ndarray], dict]:
        """Arrays, and a content that JSON can hold; `of` makes an equal encoder of them."""
        arrays, words = {}, None
        if self.words is not None:
            arrays["word_factors"] = self.words.factors
            words = {
                "words": list(self.words.words),
                "sublinear": self.words.sublinear,
                "norm": self.words.norm,
                "scale": self.words.scale,
            }
        content = {
            "numeric": [asdict(part) for part in self.numeric],
            "categorical": [asdict(part) | {"values": list(part.values)} for part in self.categorical],
            "words": words,
        }
        return arrays, content

    @classmethod
    def of(cls, arrays: Mapping[str, np.ndarray], content: Mapping) -> Encoder:
        """The encoder that `data` described.

        Raises
        ------
        KeyError, TypeError, ValueError
            For data that is none.
        """
        words = content["words"]
        if words is not None:
            factors = np.asarray(arrays["word_factors"], dtype=float)
            if factors.shape != (len(words["words"]),):
                raise ValueError(f"{factors.shape} factors for {len(words['words'])} words")
            words = Words(
                tuple(words["words"]), factors, bool(words["sublinear"]), words["norm"], float(words["scale"])
            )
        return cls(
            tuple(Numeric(**part) for part in content["numeric"]),
            tuple(Categories(**{**part, "values": tuple(part["values"])}) for part in content["categorical"]),
            words,
        )

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all that the encoder is, in hex."""
        arrays, content = self.data()
        h = hashlib.sha256(b"plugsamp covariates 1")
        h.update(json.dumps(content, sort_keys=True).encode())
        for name in sorted(arrays):
            h.update(name.encode() + np.ascontiguousarray(arrays[name], dtype="<f8").tobytes())
        return h.hexdigest()
