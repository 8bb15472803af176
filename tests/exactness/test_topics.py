"""Draws of the topics Φ, in full and lazy: their law, and that kernels see what the chain shows."""

import numpy as np
import pytest
from scipy import stats

from plugsamp.chain import Chain
from plugsamp.corpus import Corpus
from plugsamp.kernels import ComposedMH, SparsePCLDA
from plugsamp.model import Model
from plugsamp.state import State
from plugsamp.testing import Enumeration, cases_for, check_draws, check_invariance, check_token
from plugsamp.topics import lazily

from ..chance import of_cells, of_mean, smallest

pytestmark = pytest.mark.usefixtures("blas_limited")
KERNEL = {"proposals": ["word", "doc"], "composition": "cycle", "steps": 2, "collapse": "partial"}


@pytest.fixture
def forced(monkeypatch):
    """Lazy topics wherever proposals allow, however few the topics and words."""
    monkeypatch.setattr("plugsamp.kernels.composed.suits", lambda state: True)


@pytest.fixture
def coarse(monkeypatch):
    """A tau so large that most cells are small."""
    monkeypatch.setattr(lazily, "tau", lambda state: 0.2)


def chain_for(case, proposals=("word", "doc"), seed=5):
    kernel = ComposedMH(list(proposals), "cycle", 2, "partial")
    chain = Chain(case.corpus(), case.model(), kernel, seed=seed).run(3)
    chain.augment()
    return chain


def many_words(n_topics=70, beta=0.02, n_words=5000, seed=0, kernel=None, alpha=0.1):
    """A chain over a corpus with some frequent words and many seldom ones."""
    rng = np.random.default_rng(seed)
    counts = np.zeros((40, n_words), dtype=int)
    np.add.at(counts, (rng.integers(40, size=3000), rng.integers(n_words, size=3000)), 1)
    counts[:, :5] += rng.poisson(3, (40, 5))
    alpha = rng.gamma(0.5, 0.4, n_topics) + 0.001 if alpha == "by topic" else alpha
    kernel = kernel or ComposedMH(**KERNEL)
    return Chain(Corpus.from_counts(counts), Model(n_topics, alpha, beta), kernel, seed=seed)


def phi_draws(lazy, n, seed, monkeypatch):
    monkeypatch.setattr("plugsamp.kernels.composed.suits", lambda state: lazy and lazily.suits(state))
    chain = many_words(seed=seed)
    assert (chain.state.lazy is not None) is lazy
    draws = []
    for sweep in range(n):
        chain._draw_phi(sweep)
        draws.append(chain.phi)
    return chain, np.array(draws)


@pytest.mark.parametrize("lazy", [False, True])
def test_cells_have_their_law(lazy, monkeypatch, chance):
    """phi_kw ~ Beta(n_kw + beta, the rest), for cells with and without tokens; topics sum to 1."""
    chance.holds(lambda seed, scale: cells_p_value(lazy, 12 * scale, seed, monkeypatch), more=2)


def cells_p_value(lazy, n_draws, seed, monkeypatch):
    chain, draws = phi_draws(lazy, n_draws, seed, monkeypatch)
    np.testing.assert_allclose(draws.sum(axis=2), 1.0, atol=1e-4)  # float32
    n, beta = chain.counts.topic_word, 0.02
    total = chain.counts.topic_totals[:, None] + chain.state.beta_sum
    p = []
    for least, most in ((0, 0), (1, 1), (2, 4), (5, 100)):
        chosen = (n >= least) & (n <= most)
        shape = (n + beta)[chosen]
        rest = (total - n - beta)[chosen]
        u = stats.beta.cdf(draws[:, chosen], shape, rest).ravel()
        if most == 0:  # what lies at the floor has no law
            low = float(stats.beta.cdf(1e-29, beta, rest.max()))
            p.append(of_mean(u <= low, low, np.sqrt(low * (1 - low))))
            u = (u[u > low][:400_000] - low) / (1 - low)
        p.append(stats.kstest(u, "uniform").pvalue)
    return smallest(p)


def test_sums_of_lazy_topics_have_their_law(monkeypatch, chance):
    """The sum over words that a topic has no token of is Beta, with all small cells in it."""

    def p_value(seed, scale):
        chain, draws = phi_draws(True, 40 * scale, seed, monkeypatch)
        n = chain.counts.topic_word
        without = (n == 0).sum(axis=1) * 0.02
        u = stats.beta.cdf(
            (draws * (n == 0)).sum(axis=2), without, chain.state.beta_sum + n.sum(axis=1) - without
        )
        return stats.kstest(u.ravel(), "uniform").pvalue

    chance.holds(p_value, more=2)


@pytest.mark.parametrize(
    "proposals",
    [["word"], ["doc"], ["word", "doc"], ["word", "exp"], ["sparse"], ["sparse", "word"]],
    ids="+".join,
)
@pytest.mark.parametrize("loss", ["none", "hinge"])
def test_tokens_with_lazy_topics(proposals, loss, forced, coarse, chance):
    chance.holds(lambda seed, scale: tokens_p_value(proposals, loss, seed, scale))


def tokens_p_value(proposals, loss, seed, scale):
    p_values = []
    for number, case in enumerate(cases_for(loss)):
        chain, key = chain_for(case, proposals), 100 * seed + number  # draws of its own for every case
        assert chain.state.lazy is not None
        for i in range(case.n_tokens):
            report = check_token(chain, case, i, collapsed=False)
            assert report.passes(), f"{case}, {report}"
            for p in range(len(proposals)):
                p_values.append(check_draws(chain, i, p, draws=5000 * scale, seed=key).p_value)
    return smallest(p_values)


@pytest.mark.parametrize("index", range(4))
def test_posterior_is_invariant_with_lazy_topics(index, forced, chance):
    exact = Enumeration(cases_for("none")[index])

    def p_value(seed, scale):
        chain = chain_for(exact.case, seed=seed)
        return check_invariance(chain, exact, restarts=400 * scale, sweeps=10, seed=seed).p_value

    chance.holds(p_value)


def test_a_wrong_small_cell_is_seen(forced, coarse):
    """What the kernel uses is what the chain shows: a kernel with other small cells fails the same check."""
    case = cases_for("none")[0]
    chain = chain_for(case)
    shown = chain.state.all_phi().copy()
    chain.state.lazy.begin(1)  # another key: other small cells
    assert (chain.state.all_phi() != shown).any()
    chain.state.all_phi = lambda: shown
    assert not all(check_token(chain, case, i, collapsed=False).passes() for i in range(case.n_tokens))


@pytest.mark.parametrize("loss", ["none", "hinge"])
def test_bounds_of_small_cells_change_no_bit(loss, forced, coarse):
    """A candidate that its bound refuses would have been refused by its value."""
    drawn = []
    for bounds in (True, False):
        draws = []
        for case in cases_for(loss)[:4]:
            chain = chain_for(case, ["word", "doc"])
            for proposal in chain.phases.sampler.proposals:
                assert proposal.kept_alone
                proposal.kept_alone = bounds
            draws += [chain.run(1).state.z.copy() for _ in range(40)]
        drawn.append(np.concatenate(draws))
    np.testing.assert_array_equal(*drawn)


def test_lazy_topics_are_reproducible_and_counts_are_those_of_z():
    first, second = many_words(seed=3), many_words(seed=3)
    first.run(4)
    second.run(2)
    second.counts, second.phi, second.token_transition(0)  # looking changes nothing
    second.run(2)
    np.testing.assert_array_equal(first.z, second.z)
    np.testing.assert_array_equal(first.phi, second.phi)
    counts = np.zeros((70, first.corpus.n_words), dtype=int)
    np.add.at(counts, (first.z, first.corpus.words), 1)
    np.testing.assert_array_equal(first.counts.topic_word, counts)
    np.testing.assert_array_equal(first.counts.topic_totals, counts.sum(axis=1))


def test_where_topics_are_lazy():
    def holds(n_topics=100, beta=0.02, n_words=5000):
        corpus = Corpus(np.zeros(1, np.int32), np.array([0, 1]), n_words=n_words)
        return lazily.suits(State(corpus, Model(n_topics, 0.1, beta), 0, 0, True))

    assert holds()
    assert not holds(n_topics=20)
    assert not holds(beta=0.5)  # most cells matter
    assert not holds(beta=1e-4)
    assert not holds(n_words=100)  # a topic's sum could be near 0


@pytest.mark.parametrize("alpha", [0.1, "by topic"])
def test_sparse_draws_over_several_sets_of_bits(alpha, monkeypatch, chance):
    """What is drawn of 200 topics is the full conditional, with small cells that matter."""
    monkeypatch.setattr(lazily, "tau", lambda state: 0.02)
    chain = many_words(200, kernel=SparsePCLDA(), alpha=alpha).run(2)
    state = chain.state
    assert state.lazy is not None
    phi = chain.phi
    small = np.array([not state.lazy.keeps(w, k) for w in range(5) for k in range(200)]).mean()
    assert small > 0.2
    chance.holds(lambda seed, scale: sparse_p_value(chain, phi, 200_000 * scale, 11 + seed))


def sparse_p_value(chain, phi, draws, key):
    state, pooled = chain.state, []
    for number, token in enumerate(np.linspace(0, chain.corpus.n_tokens - 1, 6, dtype=int)):
        document = int(np.searchsorted(state.offsets, token, side="right")) - 1
        first, last = state.offsets[document : document + 2]
        n = np.bincount(np.delete(state.z[first:last], token - first), minlength=200)
        mass = (n + state.alpha[:200]) * phi[:, chain.corpus.words[token]]
        _, stated, drawn = chain.phases.sampler.probe(
            document, int(token - first), int(state.z[token]), 0, draws, 10 * key + number
        )
        np.testing.assert_allclose(stated / stated.sum(), mass / mass.sum(), rtol=2e-5)
        pooled.append(of_cells(drawn, draws * mass / mass.sum(), seed=10 * key + number))
    return smallest(pooled)
