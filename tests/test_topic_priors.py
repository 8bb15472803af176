"""Seed words, spike and slab, and learnt Dirichlet priors, held against enumerations and their priors."""

from itertools import product

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import gamma, kstest

import plugsamp as ps
from plugsamp.sampling.learning import Rows, update_alpha, update_beta
from plugsamp.topics.concentration import Concentration

from .chance import of_chain, smallest
from .crossed import crossed

WORDS = np.array([0, 1, 2, 0, 0, 2])  # ascending in each document, as in a corpus
OFFSETS = np.array([0, 3, 6])
ALPHA = np.array([0.7, 0.3])
BETA = np.array([0.4, 0.2, 0.5])


def corpus():
    return ps.Corpus(WORDS, OFFSETS, vocabulary=["a", "b", "c"])


def log_beta(x, axis=-1):
    return gammaln(x).sum(axis=axis) - gammaln(x.sum(axis=axis))


def posterior(log_topic):
    """p(z) over all 2^6 assignments, from the topics' part as a function of n_kw (K, V)."""
    states = np.array(list(product(range(2), repeat=6)))
    log_p = np.empty(len(states))
    for i, z in enumerate(states):
        documents = np.array([np.bincount(z[a:b], minlength=2) for a, b in ((0, 3), (3, 6))])
        counts = np.zeros((2, 3))
        np.add.at(counts, (z, WORDS), 1)
        log_p[i] = log_beta(documents + ALPHA).sum() + log_topic(counts)
    p = np.exp(log_p - log_p.max())
    return p / p.sum()


def states_of(chain, sweeps):
    """Indicators (sweeps, 64) of the state after each sweep."""
    powers = 2 ** np.arange(5, -1, -1)
    return np.eye(64)[[int(chain.z @ powers) for _ in chain.sweeps(sweeps)]]


def agrees(make_chain, expected, chance):
    """Whether a chain's time in each state is that of the exact posterior."""

    def p_value(seed, scale):
        states = states_of(make_chain(seed).run(50), 9_000 * scale)
        return of_chain(states, expected, events=True)

    chance.holds(p_value)


KERNELS = [
    ps.kernels.Dense("full"),
    ps.kernels.Dense("partial"),
    ps.kernels.ComposedMH(["word", "doc"], steps=4, collapse="full"),
    ps.kernels.ComposedMH(["word", "doc"], steps=4, collapse="partial"),
]
OTHERS = [
    ps.kernels.SparseLDA(), ps.kernels.FastLDA(), ps.kernels.AliasLDA(), ps.kernels.LightLDA(),
    ps.kernels.SparsePCLDA(), ps.kernels.LightPCLDA(),
]  # fmt: skip


def seeded_posterior():
    seeds = np.array([[0, 4, 0], [2, 0, 2]])  # weight 2: topic 0 has b twice, topic 1 a and c
    return posterior(lambda n: log_beta(n + seeds + BETA).sum())


#: These are composed kernels of the proposals that the composed ones above have.
COMPOSED = (ps.kernels.LightLDA, ps.kernels.LightPCLDA)


@pytest.mark.parametrize(
    "kernel",
    [
        pytest.param(kernel, marks=[pytest.mark.slow] * isinstance(kernel, COMPOSED))
        for kernel in KERNELS + OTHERS
    ],
    ids=repr,
)
def test_seeds_are_the_stated_prior(kernel, chance):
    prior = ps.topics.Seeded({0: ["b", "b"], "1": ["a", "c"]}, weight=2)
    model = ps.Model(2, alpha=ALPHA, beta=BETA, topics=prior)
    expected = seeded_posterior()
    agrees(lambda seed: ps.Chain(corpus(), model, kernel, seed=seed), expected, chance)
    plain = posterior(lambda n: log_beta(n + BETA).sum())
    assert 0.5 * np.abs(plain - expected).sum() > 0.2  # and another prior would be seen


def test_counts_and_log_joint_leave_pseudo_tokens_out():
    prior = ps.topics.Seeded({0: ["b"], 1: ["a", "c"]}, weight=3)
    chain = ps.Chain(corpus(), ps.Model(2, alpha=ALPHA, beta=BETA, topics=prior), seed=2).run(3)
    counts = np.zeros((2, 3), int)
    np.add.at(counts, (chain.z, WORDS), 1)
    assert (chain.counts.topic_word == counts).all()
    assert (chain.counts.topic_totals == counts.sum(axis=1)).all()
    seeds = np.array([[0, 3, 0], [3, 0, 3]])
    documents = chain.counts.doc_topic.toarray()
    expected = log_beta(documents + ALPHA).sum() - 2 * log_beta(ALPHA)
    expected += (log_beta(counts + seeds + BETA) - log_beta(seeds + BETA)).sum()
    assert chain.log_joint()["words"] == pytest.approx(expected)
    mean = counts + seeds + BETA
    np.testing.assert_allclose(chain.phi_mean(), mean / mean.sum(axis=1, keepdims=True))


def test_seeds_find_their_topic():
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 3, 90)
    counts = rng.poisson(0.1, (90, 12))
    for d, k in enumerate(kinds):
        counts[d, 4 * k : 4 * k + 4] += rng.poisson(3.0, 4)
    made = ps.Corpus.from_counts(counts)
    prior = ps.topics.Seeded({0: ["w8"], 1: ["w0"], 2: ["w4"]}, weight=20)
    chain = ps.Chain(made, ps.Model(3, topics=prior), seed=4).run(40)
    assert [int(chain.phi_mean()[k, :].argmax()) // 4 for k in range(3)] == [2, 0, 1]


@pytest.mark.parametrize(
    "words, weight, message",
    [
        ({0: ["moon"]}, 5, "the word 'moon' of topic 0 is not in the vocabulary"),
        ({0: ["aa"]}, 5, "did you mean 'a'"),
        ({2: ["a"]}, 5, "there is no topic 2"),
        ({0: ["a"]}, 10**8, "take less"),
    ],
)
def test_seeds_that_fit_nothing(words, weight, message):
    with pytest.raises(ValueError, match=message):
        ps.Chain(corpus(), ps.Model(2, topics=ps.topics.Seeded(words, weight)))


@pytest.mark.parametrize(
    "words, weight",
    [({}, 1), ([], 1), ({0: 3}, 1), ({0: [1.5]}, 1), ({-1: ["a"]}, 1), ({0: ["a"]}, 0), ({0: ["a"]}, 1.5)],
)
def test_seeds_that_are_none(words, weight):
    with pytest.raises(ValueError, match="seeded"):
        ps.topics.Seeded(words, weight)


# -- spike and slab ------------------------------------------------------------------------------------


def slab_posterior(probability, beta):
    """Sum over all sets of words of each topic."""
    sets = np.array(list(product(range(2), repeat=3)))[1:].astype(bool)

    def log_topic(counts):
        total = 0.0
        for n in counts:
            terms = []
            for inside in sets:
                if (n[~inside] > 0).any():
                    continue
                size = inside.sum()
                term = size * np.log(probability) + (3 - size) * np.log1p(-probability)
                terms.append(term + log_beta(n[inside] + beta[inside]) - log_beta(beta[inside]))
            total += np.logaddexp.reduce(terms)
        return total

    return posterior(log_topic)


@pytest.mark.parametrize(
    "kernel, beta",
    [
        *crossed(KERNELS[1::2], [BETA, np.full(3, 0.3)], repr),
        *(pytest.param(OTHERS[4], b, marks=pytest.mark.slow) for b in (BETA, np.full(3, 0.3))),
    ],
)
def test_spike_and_slab_is_the_stated_prior(kernel, beta, chance):
    model = ps.Model(2, alpha=ALPHA, beta=beta, topics=ps.topics.SpikeSlab(0.3))
    expected = slab_posterior(0.3, beta)
    agrees(lambda seed: ps.Chain(corpus(), model, kernel, seed=seed), expected, chance)
    chain = ps.Chain(corpus(), model, kernel, seed=1).run(20)
    assert (chain.phi[(chain.counts.topic_word > 0)] > 0).all() and (chain.phi == 0).any()
    plain = posterior(lambda n: log_beta(n + beta).sum())
    assert 0.5 * np.abs(plain - expected).sum() > 0.1


@pytest.mark.parametrize("beta", [(0.3, 0.3, 0.3, 0.3), (0.2, 1.5, 0.01, 0.6)])
def test_inclusion_keeps_its_conditional_distribution(beta, chance):
    """Repeated draws given counts, against the enumeration of all sets."""
    prior, beta = ps.topics.SpikeSlab(0.4), np.array(beta)
    counts, powers = np.array([[0], [3], [0], [0]], np.int32), 2 ** np.arange(4)
    expected = np.zeros(16)
    for i in range(16):
        inside = (i >> np.arange(4)) & 1 == 1
        if not inside[1]:
            continue
        n, size = counts[:, 0], inside.sum()
        log_p = size * np.log(0.4) + (4 - size) * np.log(0.6)
        expected[i] = np.exp(log_p + log_beta(n[inside] + beta[inside]) - log_beta(beta[inside]))
    expected /= expected.sum()

    def p_value(seed, scale):
        rng, included = np.random.default_rng([5, seed]), np.ones((4, 1), np.uint8)
        found = []
        for _ in range(9_000 * scale):
            prior.draw_included(included, counts, beta, rng)
            found.append(int(included[:, 0] @ powers))
        assert (expected[found] > 0).all()
        return of_chain(np.eye(16)[found], expected, events=True)

    chance.holds(p_value)


def test_a_topic_without_tokens_has_a_word():
    prior = ps.topics.SpikeSlab(1e-9)
    included = np.ones((5, 3), np.uint8)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        prior.draw_included(included, np.zeros((5, 3), np.int32), np.full(5, 0.1), rng)
        assert (included.sum(axis=0) >= 1).all()


def test_spike_and_slab_needs_the_topics():
    able = 'light_pc, sparse_pc, and auto, composed, dense with collapse="partial"'
    for kernel in ("dense", "sparse", ps.kernels.Auto("full")):
        with pytest.raises(ValueError, match=f"{able}$") as refused:
            ps.Chain(corpus(), ps.Model(2, topics="spike_slab"), kernel)
        assert f"and {ps.registry.resolve('kernels', kernel)!r} integrates" in str(refused.value)
    with pytest.raises(ValueError, match=f"without responses only; with them: {able}$"):
        labelled = corpus().with_responses(["a", "b"] * (corpus().n_documents // 2))
        ps.Chain(labelled, ps.Model(2, loss="hinge", topics="spike_slab"), "sparse")


def test_log_joint_of_spike_and_slab():
    model = ps.Model(2, alpha=ALPHA, beta=BETA, topics=ps.topics.SpikeSlab(0.3))
    chain = ps.Chain(corpus(), model, ps.kernels.Dense("partial"), seed=3).run(5)
    inside, counts = chain.phi > 0, chain.counts.topic_word
    expected = log_beta(chain.counts.doc_topic.toarray() + ALPHA).sum() - 2 * log_beta(ALPHA)
    for n, i in zip(counts, inside, strict=True):
        expected += log_beta(n[i] + BETA[i]) - log_beta(BETA[i])
    expected += inside.sum() * np.log(0.3) + (~inside).sum() * np.log(0.7)
    assert chain.log_joint()["words"] == pytest.approx(expected)


# -- learnt priors -------------------------------------------------------------------------------------


def simulated_counts(alpha, lengths, rng):
    """Rows of Dirichlet-multinomial counts as CSR arrays."""
    rows = np.array([rng.multinomial(n, rng.dirichlet(alpha)) for n in lengths])
    topics, counts = rows.nonzero()[1], rows[rows > 0]
    indptr = np.concatenate([[0], np.cumsum((rows > 0).sum(axis=1))])
    return indptr, topics.astype(np.uint16), counts


@pytest.mark.parametrize("symmetric", [False, True])
def test_slice_sampling_of_alpha_keeps_its_prior(symmetric, chance):
    """alpha from its prior, counts given alpha, alpha given counts: still from its prior."""
    chance.holds(lambda seed, scale: alpha_p_value(symmetric, seed, 600 * scale))


def alpha_p_value(symmetric, seed, n):
    rng = np.random.default_rng([6, seed])
    concentration = Concentration("slice", symmetric, shape=2.0, rate=3.0)
    lengths = np.array([4, 0, 7, 1, 12])
    drawn = []
    for _ in range(n):
        alpha = rng.gamma(2.0, 1 / 3.0, 1 if symmetric else 3) * np.ones(3)
        counts = simulated_counts(np.maximum(alpha, 1e-5), lengths, rng)
        for _ in range(2):
            alpha = update_alpha(concentration, alpha, counts, lengths, rng)
        drawn.append(alpha[:1] if symmetric else alpha)
    p = [kstest(column, gamma(2.0, scale=1 / 3.0).cdf).pvalue for column in np.array(drawn).T]
    return smallest(p)


def test_slice_sampling_of_beta_keeps_its_prior(chance):
    chance.holds(lambda seed, scale: beta_p_value(seed, 600 * scale))


def beta_p_value(seed, n):
    rng = np.random.default_rng([7, seed])
    concentration = Concentration("slice", shape=3.0, rate=2.0)
    drawn = []
    for _ in range(n):
        beta = rng.gamma(3.0, 0.5)
        table = np.array([rng.multinomial(n, rng.dirichlet(np.full(6, beta))) for n in (9, 0, 20)])
        for _ in range(2):
            beta = update_beta(concentration, beta, Rows.of(table), Rows.of(table.sum(axis=1)), 6, rng)
        drawn.append(beta)
    return kstest(drawn, gamma(3.0, scale=0.5).cdf).pvalue


@pytest.mark.parametrize("method", ["slice", "fixed_point"])
def test_the_priors_of_simulated_counts_are_found(method):
    rng = np.random.default_rng(8)
    alpha, lengths = np.array([0.05, 0.4, 2.0]), np.full(1500, 60)
    counts = simulated_counts(alpha, lengths, rng)
    concentration = Concentration(method, shape=1.0, rate=0.01)
    found = np.full(3, 0.5)
    for _ in range(60):
        found = update_alpha(concentration, found, counts, lengths, rng)
    np.testing.assert_allclose(found, alpha, rtol=0.2)
    table = np.array([rng.multinomial(3000, rng.dirichlet(np.full(200, 0.05))) for _ in range(20)])
    beta = 1.0
    for _ in range(60):
        beta = update_beta(concentration, beta, Rows.of(table), Rows.of(table.sum(axis=1)), 200, rng)
    assert beta == pytest.approx(0.05, rel=0.15)


@pytest.mark.parametrize(
    "kernel",
    [OTHERS[0], OTHERS[4], *(pytest.param(k, marks=pytest.mark.slow) for k in (KERNELS[0], OTHERS[2]))],
    ids=repr,
)
def test_a_chain_learns_within_its_posterior(kernel, chance):
    """The joint posterior of z and a symmetric alpha, by enumeration and a grid."""
    grid = np.exp(np.linspace(np.log(1e-3), np.log(60), 400))
    prior = gamma(1.5, scale=1 / 2.0).pdf(grid) * grid
    states = np.array(list(product(range(2), repeat=6)))
    joint = np.empty((len(states), len(grid)))
    for i, z in enumerate(states):
        documents = np.array([np.bincount(z[a:b], minlength=2) for a, b in ((0, 3), (3, 6))])
        counts = np.zeros((2, 3))
        np.add.at(counts, (z, WORDS), 1)
        a = grid[:, None, None]
        words = np.exp(log_beta(counts + BETA).sum())
        joint[i] = words * prior * np.exp((log_beta(documents + a) - log_beta(np.zeros(2) + a)).sum(axis=1))
    joint /= joint.sum()
    model = ps.Model(2, alpha=0.5, beta=BETA, learn_alpha=Concentration("slice", True, shape=1.5, rate=2.0))
    expected = np.append(joint.sum(axis=1), (joint.sum(axis=0) * np.tanh(grid)).sum())
    powers = 2 ** np.arange(5, -1, -1)

    def p_value(seed, scale):
        chain = ps.Chain(corpus(), model, kernel, seed=seed).run(50)
        found = [(int(chain.z @ powers), chain.alpha[0]) for _ in chain.sweeps(12_000 * scale)]
        states, alpha = np.array(found).T
        values = np.column_stack([np.eye(64)[states.astype(int)], np.tanh(alpha)])
        return of_chain(values, expected, events=True)

    chance.holds(p_value)


def test_pseudo_tokens_are_no_data_of_beta():
    """With and without the shortcut the same density, up to a constant."""
    from plugsamp.sampling.learning import word_rows

    prior = ps.topics.Seeded({0: ["b"], 1: ["a", "c"]}, weight=3)
    chain = ps.Chain(corpus(), ps.Model(2, alpha=ALPHA, beta=0.3, topics=prior), seed=2).run(2)
    cells, topics = word_rows(chain.state)
    seeds, counts = np.array([[0, 3, 0], [3, 0, 3]]), chain.counts.topic_word
    for b in (0.1, 0.7):
        expected = (log_beta(counts + seeds + b) - log_beta(seeds + b)).sum()
        assert cells.log_rising(b) - topics.log_rising(3 * b) == pytest.approx(expected)


@pytest.mark.parametrize("kernel", ["dense", "light_pc"])
def test_topics_that_are_a_variable_are_drawn_by_the_beta_of_their_sweep(kernel, monkeypatch):
    """beta is drawn with them integrated out, so that tokens may meet only topics drawn after it."""
    values, seen = [1e3, 0.01], []

    def draw(state, model, seed, sweep):
        seen.append(state.z.copy())
        state.set_priors(beta=np.full(state.n_words, values[sweep - 1]))

    monkeypatch.setattr("plugsamp.chain.draw_priors", draw)
    made = ps.Corpus.from_counts(np.eye(50, dtype=int)[:20])
    options = {"collapse": "partial"} if kernel == "dense" else {}
    model = ps.Model(4, beta=0.5, learn_beta="slice")
    chain = ps.Chain(made, model, ps.registry.resolve("kernels", kernel, **options))
    for beta in values:
        before = chain.z
        chain.run(1)
        assert (seen[-1] == chain.z).all() and (seen[-1] != before).any()
        least = chain.phi.min(axis=1)
        assert (least > 0.01).all() if beta > 1 else (least < 1e-6).all()


def test_learnt_priors_are_reproducible_traced_and_kept():
    rng = np.random.default_rng(3)
    made = ps.Corpus.from_counts(rng.poisson(0.7, (40, 15)))
    model = ps.Model(4, alpha=0.3, learn_alpha="slice", learn_beta="slice")
    kernel = ps.kernels.ComposedMH(["word", "doc"], steps=2)
    first, second = (ps.fit(made, model, kernel, sweeps=12, thin=1, seed=5) for _ in range(2))
    assert first.digest == second.digest
    for column in ("alpha_sum", "beta"):
        assert len({row[column] for row in first.trace}) > 6
    learnt = [*first.chain.alpha.tolist(), first.chain.beta[0]]
    assert first.chain.log_joint()["priors"] == pytest.approx(-sum(learnt))  # Gamma(1, 1)
    assert first.alpha != pytest.approx(np.full(4, 0.3))
    assert len(set(first.chain.alpha)) == 4


@pytest.mark.parametrize(
    "options, message",
    [
        ({"learn_alpha": "no"}, "learn_alpha: method must be one of none, slice, fixed_point"),
        ({"learn_beta": "slice", "beta": [0.1, 0.2]}, "learn_beta starts at one number"),
        ({"learn_beta": "slice", "topics": "spike_slab"}, "learn_beta does not go with SpikeSlab"),
        ({"learn_alpha": Concentration("slice", True), "alpha": [0.1, 0.2]}, "starts at one number"),
    ],
)
def test_learning_that_does_not_fit(options, message):
    with pytest.raises(ValueError, match=message):
        ps.Model(2, **options)
