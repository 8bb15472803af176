"""The corpus: tokens, vocabulary, responses, covariates. Its invariants are checked here, once."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from plugsamp.bags import Counted, Mapped, translated
from plugsamp.checks import frozen, names_of
from plugsamp.counts import canonical, check_pointers
from plugsamp.documents.base import Documents
from plugsamp.documents.columns import (
    column_names,
    covariates_of,
    fields_of,
    responses_of,
    weights_of,
)
from plugsamp.errors import InputError
from plugsamp.naming import check_rows, in_order, joined, names_of_columns, stacked
from plugsamp.sizes import check_claim

NO_TOKENS = "the corpus has no tokens: every one of its documents is empty"


class Corpus(Documents):
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


def _frozen(array, dtype) -> np.ndarray:
    return frozen(np.array(array, dtype=dtype, order="C"))


def _joined(bag: Counted, vocabulary):
    """The bag and its vocabulary, in which words that read the same are one."""
    found = None if vocabulary is None else joined(vocabulary)
    if found is None:
        return bag, vocabulary
    names, places = found
    return translated(bag, places, len(names))[0], names
