"""The dense kernel where scores are too large for floats: its form in doubles."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import gammaln

import plugsamp as ps
from plugsamp.kernels import Dense, dense

from ..chance import of_chain

WORDS, K, C = [0, 1, 1, 2, 3], 17, 2


@pytest.fixture(params=["full", "partial"])
def chain(request):
    """One document; topics 0 to 2 are near each other in what the responses say, the others far below."""
    corpus = ps.Corpus(WORDS, [0, len(WORDS)], n_words=4, responses=np.array([[1, 0]]))
    chain = ps.Chain(corpus, ps.Model(K, 0.5, 0.3, loss="hinge"), Dense(request.param), seed=1)
    eta = np.full((C, K), 300.0)
    eta[:, :3] = [[0.1, 0.4, -0.2], [0.3, -0.1, 0.2]]
    chain.set_state(z=[0, 1, 2, 0, 1], eta=eta)
    chain.state.kappa[:], chain.state.omega[:] = [[20.0, -30.0]], [[400.0, 600.0]]
    return chain


def brute_force(chain) -> dict:
    """The probability of every assignment to the topics 0 to 2, given eta, kappa, omega (and Phi)."""
    state, logs = chain.state, {}
    for z in product(range(3), repeat=len(WORDS)):
        n = np.bincount(z, minlength=K)
        f = chain.eta @ (n / len(WORDS))
        log = (state.kappa[0] * f - 0.5 * state.omega[0] * f**2).sum() + gammaln(n + 0.5).sum()
        if chain.kernel.partial:
            log += np.log(chain.phi[list(z), WORDS]).sum()
        else:
            table = np.zeros((K, 4))
            np.add.at(table, (list(z), WORDS), 1)
            log += gammaln(table + 0.3).sum() - gammaln(n + 1.2).sum()
        logs[z] = log
    top = max(logs.values())
    total = sum(np.exp(v - top) for v in logs.values())
    return {z: np.exp(v - top) / total for z, v in logs.items()}


def test_a_document_of_large_scores_has_the_right_distribution(chain, chance):
    expected = brute_force(chain)
    likely = {z: place for place, z in enumerate(z for z, p in expected.items() if p > 0.002)}
    assert len(likely) > 12
    wanted = np.array([expected[z] for z in likely])

    def p_value(seed, scale):
        n = 12_000 * scale
        seen = np.zeros((n, len(likely)))
        for sweep in range(n):
            report = chain.phases.sampler.sample(0, 1, 10**7 * seed + 1000 + sweep)
            assert report.forms == {"sum": 0, "double": len(WORDS)}
            if (z := tuple(chain.z.tolist())) in likely:
                seen[sweep, likely[z]] = 1.0
        return of_chain(seen, wanted, events=True)

    chance.holds(p_value)


def test_the_conditional_of_a_token_has_its_digits(chain):
    expected = brute_force(chain)
    for i in range(len(WORDS)):
        here = chain.token_transition(i)[chain.z[i]]
        z = chain.z.tolist()
        wanted = np.array([expected[(*z[:i], k, *z[i + 1 :])] for k in range(3)])
        np.testing.assert_allclose(here[:3], wanted / wanted.sum(), atol=1e-6)
        assert here[3:].max() < 1e-9


@pytest.mark.parametrize("collapse", ["full", "partial"])
def test_a_sweep_that_ends_midway_leaves_a_chain_that_can_go_on(collapse, monkeypatch):
    """A worker that is killed has changed topics, or counts, and not the other."""
    rng = np.random.default_rng(0)
    corpus = ps.Corpus.from_counts(rng.poisson(0.5, (30, 20)))
    chain = ps.Chain(corpus, ps.Model(4), ps.kernels.Dense(collapse), seed=1).run(2)
    run = chain.work.run

    def stop(phase, *rest, **given):
        if phase == "documents":
            chain.state.z[::2] = (chain.state.z[::2] + 1) % 4
            raise KeyboardInterrupt
        return run(phase, *rest, **given)

    monkeypatch.setattr(chain.work, "run", stop)
    with pytest.raises(KeyboardInterrupt):
        chain.run(1)
    monkeypatch.undo()
    z = chain.z
    np.testing.assert_array_equal(chain.counts.topic_totals, np.bincount(z, minlength=4))
    other = ps.Chain(corpus, ps.Model(4), ps.kernels.Dense(collapse), seed=1)
    other.sweep = 2
    other.set_state(z=z)
    np.testing.assert_array_equal(chain.run(2).z, other.run(2).z)


def test_what_memory_was_wanted_is_told(chain, monkeypatch):
    def lack(*arguments, **options):
        raise MemoryError("none")

    monkeypatch.setattr(dense, "_loop", SimpleNamespace(sample_documents=lack))
    said = r"pairs of 17 topics: with responses it wants 0.0 GB .*do without: .*composed.*sparse_pc"
    with pytest.raises(MemoryError, match=said) as refused:
        chain.run(1)
    assert "dense" not in str(refused.value).partition("do without")[2]
    unsupervised = ps.Chain(ps.Corpus(WORDS, [0, len(WORDS)], n_words=4), ps.Model(K), Dense())
    with pytest.raises(MemoryError, match=r"^none$"):  # no pairs there
        unsupervised.run(1)
