"""Partially collapsed chains with few words and tiny priors: empty topics keep their distribution."""

import numpy as np
import pytest

import plugsamp as ps

from ..chance import of_chain, of_mean
from ..crossed import crossed


def exact_same(beta) -> float:
    """P(z0 = z1) of two one-token documents of word 0, K = 2, symmetric alpha: by hand."""
    b, total = beta[0], beta.sum()
    same = b * (b + 1) / (total * (total + 1))
    return same / (same + (b / total) ** 2)


@pytest.mark.parametrize(
    "beta, name",
    crossed([(0.01, 0.03), (0.001, 0.003), (1e-4, 3e-4), (0.3, 0.9)], ["dense", "composed", "sparse_pc"]),
)
def test_two_tokens(beta, name, chance):
    """The chance that an empty topic takes a token is that of its topic's first word, E[phi] = .25."""
    beta = np.array(beta)
    options = {} if name == "sparse_pc" else {"collapse": "partial"}
    if name == "composed":
        options |= {"proposals": ["word", "doc"], "steps": 4}
    kernel = ps.registry.resolve("kernels", name, **options)
    corpus, model = ps.Corpus.from_counts([[1, 0], [1, 0]]), ps.Model(2, alpha=1.0, beta=beta)

    def p_value(seed, scale):
        chain = ps.Chain(corpus, model, kernel, seed=seed).run(100)
        same = [chain.z[0] == chain.z[1] for _ in chain.sweeps(12_000 * scale)]
        return of_chain(np.array(same)[:, None], [exact_same(beta)], events=True)

    chance.holds(p_value)


@pytest.mark.parametrize("topics", ["dirichlet", "spike_slab"])
def test_the_topics_of_nothing_are_their_prior(topics, chance):
    beta = np.array([1e-3, 3e-3])
    prior = ps.topics.SpikeSlab(0.999999) if topics == "spike_slab" else "dirichlet"
    model = ps.Model(2, alpha=1.0, beta=beta, topics=prior)
    corpus = ps.Corpus.from_counts([[1, 0]])

    def p_value(seed, scale):
        chain = ps.Chain(corpus, model, ps.kernels.Dense("partial"), seed=seed)
        found = [chain.phi[1 - chain.z[0], 0] for _ in chain.sweeps(6000 * scale)]
        assert np.isfinite(found).all() and min(found) > 0
        return of_mean(found, 0.25)  # nearly always 0 or 1

    chance.holds(p_value)
