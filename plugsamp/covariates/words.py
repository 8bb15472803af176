"""Words as covariates: counts or tf-idf of a document's known words."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from plugsamp.errors import InputError


@dataclass(frozen=True, eq=False)
class Words:
    """A covariate for each word: its count times its factor, each document scaled to length 1.

    Attributes
    ----------
    words : tuple of str
    factors : float64 (P,)
        Inverse document frequencies of the training documents, or ones.
    sublinear : bool
        Whether a count n enters as 1 + log n.
    norm : {"l2", "none"}
    scale : float
    """

    words: tuple[str, ...]
    factors: np.ndarray
    sublinear: bool
    norm: str
    scale: float

    @classmethod
    def fitted(cls, corpus, options) -> Words:
        from sklearn.feature_extraction.text import TfidfTransformer

        counts = corpus.counts()
        document_frequency = np.bincount(counts.indices, minlength=corpus.n_words)
        keep = np.flatnonzero(document_frequency >= options.words_min_df)
        if len(keep) == 0:
            raise InputError(
                f"no word is in words_min_df={options.words_min_df} training documents or more, so there are "
                "no word covariates"
            )
        factors = np.ones(len(keep))
        if options.words == "tfidf":
            factors = np.asarray(TfidfTransformer().fit(counts).idf_, dtype=float)[keep]
        words = tuple(corpus.vocabulary[k] for k in keep)
        return cls(words, factors, options.words_sublinear, options.words_norm, float(options.words_scale))

    @property
    def names(self) -> list[str]:
        return [f"word:{word}" for word in self.words]

    def transform(self, corpus) -> sp.csr_array:
        """CSR (D, P); a row depends on its own document alone, to the bit."""
        from sklearn.preprocessing import normalize

        counts = corpus.with_vocabulary(self.words).counts()
        different, place = np.unique(counts.data, return_inverse=True)
        # One value a count: a vectorised log may round by its place in the array.
        terms = [1.0 + math.log(n) if self.sublinear else float(n) for n in different.tolist()]
        values = np.array(terms, dtype=float)[place] * self.factors[counts.indices]
        matrix = sp.csr_array((values, counts.indices, counts.indptr), shape=counts.shape)
        if self.norm == "l2":
            matrix = normalize(matrix, norm="l2", copy=False)
        matrix.data *= self.scale
        return sp.csr_array(matrix)
