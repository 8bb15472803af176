"""FastLDA beyond the battery: draws, bounds, norms over long runs, and mistakes that must show."""

import numpy as np
import pytest

from plugsamp.chain import Chain
from plugsamp.kernels.fast import BOUNDS, FastLDA, Visit
from plugsamp.model import Model

from ..chance import of_cells, smallest
from .shapes import CASES, conditional, counts_of, random_corpus, tokens

KERNELS = [FastLDA(bound, batch) for bound in BOUNDS for batch in (1, 3, 16)]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_draws_follow_the_conditional(case, kernel, chance):
    chain = Chain(case.corpus(), case.model(), kernel, seed=1).run(3)

    def p_value(seed, scale):
        n, p = 20_000 * scale, []
        for number, (i, document, position) in enumerate(tokens(case, chain)):
            visit, drawn = chain.phases.sampler.probe(document, position, draws=n, key=1000 * seed + number)
            exact = conditional(case, chain, i)
            assert np.abs(visit.distribution() - exact).max() < 1e-6
            p.append(of_cells(drawn, n * exact, seed=1000 * seed + number))
        return smallest(p)

    chance.holds(p_value)


def parts(case, chain, i):
    """a, b, c of a token, without it, by topic."""
    k, z = case.n_topics, chain.z
    others = np.arange(case.n_tokens) != i
    a = np.bincount(z[others & (case.document_of == case.document_of[i])], minlength=k) + case.alpha_vector
    w = case.words[i]
    b = np.bincount(z[others & (case.words == w)], minlength=k) + case.beta_vector[w]
    return a, b, 1 / (np.bincount(z[others], minlength=k) + case.beta_vector.sum())


def bounds(a, b, c, order, visited, power, norm_c=None, slack=0.0):
    """S_l and Z_l by their definition, norms too long by `slack`."""
    a, b, c = a[order], b[order], c[order]
    if norm_c is None:
        norm_c = c.max() if power == 2 else (c**3).sum() ** (1 / 3)
    sums = np.array([(a * b * c)[:n].sum() for n in visited])

    def rest(x, n):
        return ((x[n:] ** power).sum() + slack * (x**power).sum()) ** (1 / power) if n < len(x) else 0.0

    tails = [rest(a, n) * rest(b, n) for n in visited]
    return sums, np.minimum.accumulate(sums + np.array(tails) * norm_c)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_bounds_are_those_of_the_paper(case, kernel):
    chain = Chain(case.corpus(), case.model(), kernel, seed=1).run(5)
    for i, document, position in tokens(case, chain):
        visit = chain.phases.sampler.visit(document, position)
        a, b, c = parts(case, chain, i)
        # descending n_dk; alpha has no part in it
        assert (np.diff(np.round((a - case.alpha_vector)[visit.order])) <= 0).all()
        sums, exact = bounds(a, b, c, visit.order, visit.visited, BOUNDS[kernel.bound])
        np.testing.assert_allclose(visit.sums, sums, rtol=1e-6)
        assert (visit.bounds >= exact * (1 - 1e-6)).all()
        _, near = bounds(a, b, c, visit.order, visit.visited, BOUNDS[kernel.bound], slack=1e-13)
        np.testing.assert_allclose(visit.bounds, near, rtol=1e-3)
        assert (np.diff(visit.bounds) <= 0).all() and visit.looks.min() >= 0
        assert visit.looks.sum() == pytest.approx(1)
        assert visit.tightness[-1] == 1


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_norms_do_not_drift(kernel):
    chain = Chain(random_corpus(), Model(30, 0.1, 0.01), kernel, seed=2).run(300)
    np.testing.assert_array_equal(chain.counts.topic_word, counts_of(chain))
    n = counts_of(chain).astype(float)
    sampler = chain.phases.sampler
    np.testing.assert_array_equal(sampler.squares, (n**2).sum(axis=0))
    np.testing.assert_array_equal(sampler.cubes, (n**3).sum(axis=0))


@pytest.mark.parametrize("bound", BOUNDS)
def test_norms_do_not_drift_within_a_document(bound):
    """One long document, uneven alpha: its sums are kept over all its tokens, |c|_3 over a block."""
    from plugsamp.corpus import Corpus

    rng = np.random.default_rng(3)
    corpus = Corpus.from_counts(rng.poisson(400, size=(1, 60)))
    model = Model(40, rng.uniform(1e-3, 2, 40), 0.01)
    chain = Chain(corpus, model, FastLDA(bound, 1), seed=3).run(20)
    state, sampler = chain.state, chain.phases.sampler
    # the last token as a sweep meets it: after all others of the block
    seen = sampler.visit(0, corpus.n_tokens - 1)
    assert np.isfinite(seen.bounds).all()
    a = np.bincount(chain.z[:-1], minlength=40) + model.alpha_vector()
    w = corpus.words[-1]
    b = np.bincount(chain.z[:-1][corpus.words[:-1] == w], minlength=40) + 0.01
    c = 1 / (np.bincount(chain.z[:-1], minlength=40) + state.beta_sum)
    _, exact = bounds(a, b, c, seen.order, seen.visited, BOUNDS[bound], slack=1e-13)
    np.testing.assert_allclose(seen.bounds, exact, rtol=1e-3)


def mutated(case, chain, i, visit, mistake):
    a, b, c = parts(case, chain, i)
    own = int(chain.z[i])
    norm_c = None
    if mistake == "min n_k with the token":
        n = np.bincount(chain.z, minlength=case.n_topics)
        norm_c = 1 / (n.min() + case.beta_vector.sum())
    sums, exact = bounds(a, b, c, visit.order, visit.visited, 2, norm_c)
    if mistake == "norm without the own topic":
        rest = [np.delete(visit.order[n:], np.flatnonzero(visit.order[n:] == own)) for n in visit.visited]
        tails = [np.linalg.norm(a[r]) * np.linalg.norm(b[r]) * c.max() for r in rest]
        exact = sums + np.array(tails)
    if mistake == "the slack to the last topic":
        exact = np.full_like(exact, sums[-1]) * np.linspace(0.5, 1.0, len(sums))
    return Visit(visit.order, visit.masses, visit.visited, sums, exact)


@pytest.mark.parametrize(
    "mistake", ["min n_k with the token", "norm without the own topic", "the slack to the last topic"]
)
def test_mistaken_bounds_show(mistake):
    """The distribution that `transition` gives follows the draw's own steps: a bound that fails is seen."""
    from plugsamp.testing import Case

    case = Case("mutant", ((0, 1, 2, 3), (0, 1), (2,)), 4, 3, (0.5, 0.4, 0.3), 0.1)
    worst = {"none": 0.0, mistake: 0.0}
    for seed in range(20):
        chain = Chain(case.corpus(), case.model(), FastLDA(batch=1), seed=seed)
        for i, document, position in tokens(case, chain):
            visit = chain.phases.sampler.visit(document, position)
            exact = conditional(case, chain, i)
            for name in worst:
                other = mutated(case, chain, i, visit, name)
                worst[name] = max(worst[name], np.abs(other.distribution() - exact).max())
    assert worst["none"] < 1e-6 and worst[mistake] > 1e-3, worst


def test_few_topics_are_visited_and_said():
    chain = Chain(random_corpus(rate=4.0), Model(100, 0.02, 0.01), FastLDA(batch=1), seed=4).run(30)
    expected = np.mean(
        [
            (v.looks * v.visited).sum()
            for d in range(3)
            for v in [chain.phases.sampler.visit(d, p) for p in range(5)]
        ]
    )
    assert expected < 60
    chain.phases.sampler.refresh(0, 0)
    report = chain.phases.sampler.sample(0, 60, 1)
    assert len(chain.z) < report.forms["visited"] < 60 * len(chain.z)


@pytest.mark.parametrize("options", [{"bound": "1-1-1"}, {"batch": 0}, {"batch": 1.5}])
def test_unknown_options(options):
    with pytest.raises((ValueError, TypeError)):
        FastLDA(**options)
