"""Predict documents in batches: memory does not grow with their number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import numpy as np

from plugsamp.checks import n_jobs_of, whole
from plugsamp.corpus import Corpus
from plugsamp.prediction.matching import no_word_of_strangers, warn_of_strangers
from plugsamp.prediction.results import Prediction
from plugsamp.system import cores

#: Documents of a batch.
BATCH = 4096


def predict_iter(model, documents, *, batch: int = BATCH, n_jobs: int | None = None) -> Iterator[Prediction]:
    """Predict documents in batches, in their order.

    A document's prediction does not depend on the batch that it is in, nor on `n_jobs`.

    Parameters
    ----------
    model : Posterior
    documents : Reader, Corpus, or iterable of Corpus
        A reader of JSON lines, tables or lines reads its file (training and test documents alike, in the
        order of the file) as the batches are asked for. Corpora of an iterable are batches as they are.
    batch : int
        Documents of a batch.
    n_jobs : int, optional
        Batches that are predicted at once, each in a thread; as joblib counts them. So many batches and
        one more are in memory.

    Yields
    ------
    Prediction

    Raises
    ------
    ValueError
        Where the documents cannot be read or do not fit the model; an `InputError` names file and line.

    Warns
    -----
    InputWarning
        At the end, where no document has had a word of the model.
    """
    batch, n_jobs = whole("batch", batch, 1), n_jobs_of(n_jobs)
    return _predictions(model, corpora(documents, model.vocabulary, batch), n_jobs)


def corpora(documents, vocabulary, batch: int = BATCH) -> Iterator[Corpus]:
    """Yield documents as corpora of `batch` documents; see `predict_iter`."""
    if isinstance(documents, Corpus):
        for first in range(0, documents.n_documents, batch):
            yield documents.take(np.arange(first, min(first + batch, documents.n_documents)))
    elif hasattr(documents, "batches") and documents.can_stream:
        yield from documents.batches(vocabulary, batch)
    elif hasattr(documents, "read"):
        for corpus in documents.read(vocabulary=vocabulary):
            if corpus is not None:
                yield from corpora(corpus, vocabulary, batch)
    else:
        yield from documents


def _predictions(model, batches: Iterable[Corpus], n_jobs: int | None) -> Iterator[Prediction]:
    n_known = n_unknown = 0
    found: tuple[str, ...] = ()
    for corpus, prediction in predicted(model, batches, n_jobs):
        n_known += int(prediction.n_known.sum())
        n_unknown += int(prediction.n_unknown.sum())
        found = corpus.vocabulary
        yield prediction
    if found:
        warn_of_strangers(np.array([n_known]), np.array([n_unknown]), found, model.vocabulary)


def predicted(model, batches: Iterable[Corpus], n_jobs: int | None) -> Iterator[tuple[Corpus, Prediction]]:
    """Yield corpora and their predictions in order, `n_jobs` of them predicted at once in threads.

    Nothing is said of documents without a word of the model.
    """
    with cores.threads(n_jobs):
        found = cores.in_threads(partial(_quietly, model), batches)
    yield from found


def _quietly(model, corpus: Corpus) -> tuple[Corpus, Prediction]:
    with no_word_of_strangers():
        return corpus, model.predict(corpus, keep=False)
