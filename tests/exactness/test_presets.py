"""The published samplers by name: exact in our form, biased in the form they were published in."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from plugsamp.chain import Chain
from plugsamp.errors import ApproximationWarning
from plugsamp.kernels import AliasLDA, ComposedMH, LightLDA, SparsePCLDA
from plugsamp.testing import Case, Enumeration, cases_for, check_invariance, check_token

pytestmark = pytest.mark.usefixtures("blas_limited")


def chain_for(case, kernel, sweeps=3, seed=4):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ApproximationWarning)
        chain = Chain(case.corpus(), case.model(), kernel, seed=seed)
    chain.run(sweeps)
    chain.augment()
    return chain


def case(documents, n_words, n_topics, alpha=0.3, beta=0.2):
    return Case("edge", documents, n_words, n_topics, alpha, beta)


@pytest.mark.parametrize("kernel", [LightLDA, AliasLDA])
def test_the_published_form_misses_the_posterior_and_ours_does_not(kernel, chance):
    exact = Enumeration(cases_for("none")[0])

    def p_value(seed, scale, stale, restarts):
        chain = chain_for(exact.case, kernel(stale=stale), seed=seed)
        return check_invariance(chain, exact, restarts=restarts * scale, sweeps=12, seed=seed).p_value

    chance.holds(lambda seed, scale: p_value(seed, scale, False, 400))
    chance.fails(lambda seed, scale: p_value(seed, scale, True, 2500))


@pytest.mark.parametrize("kernel", [LightLDA, AliasLDA])
def test_the_published_form_is_announced(kernel):
    tiny = cases_for("none")[0]
    with pytest.warns(ApproximationWarning, match="not the posterior"):
        Chain(tiny.corpus(), tiny.model(), kernel(stale=True))
    assert kernel().approximate is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Chain(tiny.corpus(), tiny.model(), kernel())


def test_sparse_pc_without_responses_is_gibbs():
    for tiny in cases_for("none"):
        chain = chain_for(tiny, SparsePCLDA())
        for i in range(tiny.n_tokens):
            report = check_token(chain, tiny, i, collapsed=False)
            assert report.gibbs_error < 1e-6, str(report)
        rates = {info.acceptance["sparse"] for info in chain.sweeps(50)}
        assert rates <= {0.0, 1.0}  # 0 where a sweep proposed no other topic at all
        assert 1.0 in rates


EDGES = [
    case(((0, 1), (0,), (), (2, 2)), 3, 1),
    case(((0, 1), (0,), (), (2, 2)), 3, 2, alpha=(0.01, 5.0), beta=(0.001, 2.0, 0.3)),
    case(((0,), (1,), (1,), (0,)), 2, 3),
    case(((0,) * 40, (), (1,)), 2, 40, alpha=1e-3),
    case((*((w,) for w in range(5)), tuple(range(5))), 5, 17, beta=1e-3),
]


@pytest.mark.parametrize("tiny", EDGES, ids=lambda c: f"K={c.n_topics}-D={c.n_documents}")
@pytest.mark.parametrize("proposal", ["sparse", "sparse_exp", "word"])
@pytest.mark.parametrize("collapse", ["full", "partial"])
def test_edges(tiny, proposal, collapse):
    chain = chain_for(tiny, ComposedMH([proposal], "cycle", 2, collapse))
    for i in range(min(tiny.n_tokens, 8)):
        report = check_token(chain, tiny, i, collapsed=collapse == "full")
        assert report.passes(), str(report)


@pytest.mark.parametrize("proposal", ["word", "sparse"])
def test_a_word_that_no_topic_has(proposal):
    """phi of a word can underflow in every topic: its tokens have no target, and stay where they are."""
    tiny = replace(EDGES[1], n_topics=3, alpha=0.5)
    chain = chain_for(tiny, ComposedMH([proposal], "cycle", 2, "partial"))
    chain.state.phi[0] = 0.0
    z, sampler = chain.z, chain.phases.sampler
    sampler.refresh_words(0, tiny.n_words)
    sampler.refresh(0, 1)
    sampler.sample(0, tiny.n_documents, 1)
    np.testing.assert_array_equal(chain.z[tiny.words == 0], z[tiny.words == 0])
