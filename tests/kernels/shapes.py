"""Odd shapes for the unsupervised kernels, and the conditional of a token by brute force."""

import numpy as np

from plugsamp.corpus import Corpus
from plugsamp.testing import Case, token_log_conditional


def case(k, lengths=(40, 7, 1, 1), v=30, alpha=0.1, beta=0.01, seed=0):
    rng = np.random.default_rng(seed)
    documents = [tuple(sorted(rng.integers(v - 1, size=n).tolist())) for n in lengths]
    documents[0] = tuple(sorted((*documents[0][:-1], v - 1)))  # a word that occurs once
    documents = tuple(documents)
    return Case(f"K={k} lengths={lengths} alpha={np.ndim(alpha)}", documents, v, k, alpha, beta)


def uneven(n, seed, low=-3.0, high=0.5):
    return tuple(10 ** np.random.default_rng(seed).uniform(low, high, n))


CASES = [
    case(1),
    case(2),
    case(17),
    case(400),
    case(400, v=5, lengths=(1500, 3)),
    case(64, lengths=(1, 1, 1)),
    case(3, alpha=1e-3, beta=1e-3),
    case(17, alpha=1e-3, beta=1e-3),
    case(17, alpha=uneven(17, 1), beta=uneven(30, 2)),
    case(400, alpha=uneven(400, 3), beta=uneven(30, 4)),
    case(16, v=2, lengths=(3000, 2)),
]


def tokens(chosen, chain, n=4):
    """A few tokens: first, last, and of documents of one token."""
    rng = np.random.default_rng(5)
    some = {0, chosen.n_tokens - 1, *rng.integers(chosen.n_tokens, size=n).tolist()}
    for i in sorted(some):
        document = int(chosen.document_of[i])
        yield i, document, i - int(chain.state.offsets[document])


def conditional(chosen, chain, i):
    return np.exp(token_log_conditional(chosen, i, chain.z))


def random_corpus(n_documents=60, n_words=50, seed=3, rate=1.0):
    rng = np.random.default_rng(seed)
    weight = 1.0 / np.arange(1, n_words + 1)
    counts = rng.poisson(rate * 8 * weight, size=(n_documents, n_words))
    counts[4] = 0
    return Corpus.from_counts(counts)


def counts_of(chain):
    corpus, k = chain.corpus, chain.state.n_topics
    topic_word = np.zeros((k, corpus.n_words), dtype=int)
    np.add.at(topic_word, (chain.z, corpus.words), 1)
    return topic_word
