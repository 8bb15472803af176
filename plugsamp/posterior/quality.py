"""Quality of topics as numbers: do their words occur together, and are they theirs alone.

All measures are of the n most probable words of each topic, whatever ranking is shown.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy import sparse

from plugsamp.posterior.rankings import top_words

#: Words of a topic that its quality is measured by.
WORDS = 10

#: The measures of `quality`, of which more is better.
MEASURES = ("coherence", "npmi", "diversity", "exclusivity")


class _Occurrences:
    """Documents that hold the top words, and pairs of them.

    Attributes
    ----------
    n_documents : int
    place : int (K, n)
        Columns of `together`; -1 for a word that the documents do not have.
    together : int (W, W)
        Documents that hold both words; on the diagonal those that hold one.
    """

    def __init__(self, words, counts, vocabulary=None, reference_vocabulary=None):
        used, place = np.unique(words, return_inverse=True)
        place = place.reshape(np.shape(words))
        columns = used
        if reference_vocabulary is not None:
            index = {word: i for i, word in enumerate(reference_vocabulary)}
            columns = np.array([index.get(vocabulary[w], -1) for w in used], dtype=np.int64)
            known = np.flatnonzero(columns >= 0)
            renumbered = np.full(len(used), -1)
            renumbered[known] = np.arange(len(known))
            place, columns = renumbered[place], columns[known]
        present = sparse.csc_array(counts)[:, columns].astype(bool).astype(np.int64)
        self.n_documents = present.shape[0]
        self.place = place
        self.together = np.asarray((present.T @ present).todense())
        self.alone = np.diagonal(self.together)

    def pairs(self, k: int):
        """Return the pairs (earlier, later) of words of topic k that the documents have."""
        row = self.place[k]
        first, second = np.triu_indices(len(row), 1)
        first, second = row[first], row[second]
        known = (first >= 0) & (second >= 0)
        return first[known], second[known]


def coherence(phi, counts, n: int = WORDS) -> np.ndarray:
    """Return the UMass coherence of each topic over its n top words, float64 (K,).

    sum_{i < j} log (D(w_i, w_j) + 1) / D(w_i), words by falling probability and D the documents of
    `counts` that hold them (Mimno et al. 2011, equation 1). A pair whose first word is in no document is
    left out.

    Parameters
    ----------
    phi : float (K, V)
    counts : sparse (D, V)
        The training documents.
    """
    return _umass(_Occurrences(top_words(phi, n), counts))


def _umass(found: _Occurrences) -> np.ndarray:
    scores = np.zeros(len(found.place))
    for k in range(len(scores)):
        first, second = found.pairs(k)
        seen = found.alone[first] > 0
        first, second = first[seen], second[seen]
        scores[k] = np.log((found.together[first, second] + 1) / found.alone[first]).sum()
    return scores


def npmi(phi, counts, n: int = WORDS, vocabulary=None, reference_vocabulary=None) -> np.ndarray:
    """Return the mean NPMI of the pairs of each topic's n top words, float64 (K,), from -1 to 1.

    log(p_ij / (p_i p_j)) / -log p_ij, where p is the share of documents that hold a word, or both
    (Bouma 2009; Lau, Newman & Baldwin 2014). A pair that never occurs together has -1, a pair of words that
    are in all documents 0. Pairs with a word that is in no document are left out; a topic without pairs has
    NaN. gensim's ``c_npmi`` over whole documents is the same but for pairs that never occur together, where
    it has a value above -1 that depends on its epsilon.

    Parameters
    ----------
    phi : float (K, V)
    counts : sparse (D, V)
        The training documents, or those of a reference corpus.
    vocabulary, reference_vocabulary : sequences of str, optional
        The words of `phi` and of `counts`, where they differ.
    """
    return _npmi(_Occurrences(top_words(phi, n), counts, vocabulary, reference_vocabulary))


def _npmi(found: _Occurrences) -> np.ndarray:
    scores = np.full(len(found.place), np.nan)
    for k in range(len(scores)):
        first, second = found.pairs(k)
        seen = (found.alone[first] > 0) & (found.alone[second] > 0)
        first, second = first[seen], second[seen]
        if not len(first):
            continue
        both = found.together[first, second] / max(found.n_documents, 1)
        expected = found.alone[first] * found.alone[second] / max(found.n_documents, 1) ** 2
        values = np.where(both > 0, 0.0, -1.0)
        inside = (both > 0) & (both < 1)
        values[inside] = np.log(both[inside] / expected[inside]) / -np.log(both[inside])
        scores[k] = values.mean()
    return scores


def diversity(phi, n: int = WORDS) -> np.ndarray:
    """Return how much each topic's n top words are its own, float64 (K,), from 1/K to 1.

    The mean over the words of 1 / (number of topics that have the word among their top words). The mean over
    topics is the share of distinct words among all top words (Dieng, Ruiz & Blei 2020, section 5).

    Parameters
    ----------
    phi : float (K, V)
    """
    words = top_words(phi, n)
    _, place, times = np.unique(words, return_inverse=True, return_counts=True)
    return (1.0 / times)[place.reshape(words.shape)].mean(axis=1)


def exclusivity(phi, n: int = WORDS) -> np.ndarray:
    """Return the mean over each topic's n top words of phi_kw / sum_j phi_jw, float64 (K,).

    How much of the probability of its words is in the topic (Bischof & Airoldi 2012, section 2).

    Parameters
    ----------
    phi : float (K, V)
    """
    phi = np.asarray(phi)
    words = top_words(phi, n)
    totals = phi.sum(axis=0, dtype=float)[words]
    own = np.take_along_axis(phi, words, axis=1).astype(float)
    return np.divide(own, totals, out=np.zeros_like(own), where=totals > 0).mean(axis=1)


def quality(phi, counts, n: int = WORDS) -> dict[str, np.ndarray]:
    """Return every measure of `MEASURES` over the training documents, float64 (K,) each.

    Parameters
    ----------
    phi : float (K, V)
    counts : sparse (D, V)

    Examples
    --------
    >>> import numpy as np
    >>> from plugsamp.posterior.quality import quality
    >>> phi = np.array([[0.5, 0.4, 0.1, 0.0], [0.0, 0.1, 0.4, 0.5]])
    >>> counts = np.array([[1, 2, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 3, 0]])
    >>> {name: values.round(2).tolist() for name, values in quality(phi, counts, n=2).items()}
    {'coherence': [0.41, 0.69], 'npmi': [1.0, 0.5], 'diversity': [1.0, 1.0], 'exclusivity': [0.9, 0.9]}
    """
    found = _Occurrences(top_words(phi, n), counts)
    return {
        "coherence": _umass(found),
        "npmi": _npmi(found),
        "diversity": diversity(phi, n),
        "exclusivity": exclusivity(phi, n),
    }


def means(tables) -> dict[str, float]:
    """Return the mean over topics of each measure, of several models the mean over models.

    Parameters
    ----------
    tables : iterable of mappings of str to array (K,)
        For each model the measures of its topics (`quality`); others than `MEASURES` are passed over.
    """
    found: dict[str, list[float]] = {}
    for table in tables:
        for name in MEASURES:
            if isinstance(table, Mapping) and name in table and len(table[name]):
                values = np.asarray(table[name], dtype=float)
                known = values[~np.isnan(values)]
                if len(known):
                    found.setdefault(name, []).append(float(known.mean()))
    return {name: float(np.mean(values)) for name, values in found.items()}
