"""Topics and documents in the forms that other programs show: pyLDAvis and topicwizard."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from plugsamp.errors import InputError


def shown(posterior, corpus, part=None) -> tuple:
    """Return phi, theta, counts and vocabulary of a model and documents, as the other functions take them.

    Parameters
    ----------
    posterior : plugsamp.posterior.posterior.Posterior
    corpus : Corpus
    part : int or str, optional
        As in `Posterior.topics`.
    """
    one = posterior._one(part)
    theta = posterior.predict(corpus).theta[:, one.columns]
    theta = theta / theta.sum(axis=1, keepdims=True)
    return one.phi, theta, posterior.known(corpus).counts(), one.vocabulary


def pyldavis_data(phi, theta, counts, vocabulary: Sequence[str]) -> dict:
    """Return the arguments of ``pyLDAvis.prepare``.

    Topics keep their numbers, from 0. Words that no document has are left out, and so are documents without a
    word.

    Parameters
    ----------
    phi : float (K, V)
    theta : float (D, K)
        Rows sum to 1.
    counts : sparse (D, V)
        In the same words.
    vocabulary : V strings

    Raises
    ------
    InputError
        No document has a word.

    Examples
    --------
    ::

        import pyLDAvis
        pyLDAvis.display(pyLDAvis.prepare(**posterior.to_pyldavis(corpus)))
    """
    counts = sp.csr_array(counts)
    lengths, frequency = counts.sum(axis=1), counts.sum(axis=0)
    words, documents = np.flatnonzero(frequency), np.flatnonzero(lengths)
    if not len(words):
        raise InputError("no document has a word that the model knows; there is nothing to show")
    phi = np.asarray(phi, dtype=float)[:, words]
    theta = np.asarray(theta, dtype=float)[documents]
    return {
        "topic_term_dists": phi / phi.sum(axis=1, keepdims=True),
        "doc_topic_dists": theta / theta.sum(axis=1, keepdims=True),
        "doc_lengths": lengths[documents],
        "vocab": [vocabulary[w] for w in words],
        "term_frequency": frequency[words],
        "sort_topics": False,
        "start_index": 0,
    }


def topicwizard_data(
    phi,
    theta,
    counts,
    vocabulary: Sequence[str],
    names: Sequence[str],
    texts: Sequence[str] | None = None,
) -> dict:
    """Return the `TopicData` of topicwizard (topic-wizard on PyPI).

    Parameters
    ----------
    phi : float (K, V)
    theta : float (D, K)
    counts : sparse (D, V)
        In the same words.
    vocabulary : V strings
    names : K strings
        Of the topics.
    texts : D strings, optional
        The documents to read; by default their words in the order of the vocabulary, each as often as it
        occurs.

    Raises
    ------
    InputError
        Another number of texts than documents.

    Examples
    --------
    ::

        import topicwizard
        topicwizard.visualize(topic_data=posterior.topicwizard(corpus, texts=frame["text"]))
    """
    counts = sp.csr_matrix(counts)  # which topicwizard's own libraries take
    vocabulary = np.array(vocabulary, dtype=object)
    if texts is None:
        ends = np.cumsum(np.asarray(counts.sum(axis=1)).ravel())
        rows = np.split(np.repeat(counts.indices, counts.data), ends[:-1])
        texts = [" ".join(vocabulary[row]) for row in rows]
    texts = list(texts)
    if len(texts) != counts.shape[0]:
        raise InputError(f"{len(texts)} texts were given for {counts.shape[0]} documents")
    theta = np.asarray(theta, dtype=float)
    return {
        "corpus": texts,
        "vocab": vocabulary,
        "document_term_matrix": counts,
        "document_topic_matrix": theta,
        "topic_term_matrix": np.asarray(phi, dtype=float),
        "document_representation": theta,
        "transform": None,
        "topic_names": list(names),
    }
