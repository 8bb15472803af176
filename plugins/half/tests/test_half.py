"""The proposal is exact: it draws what it states, and leaves each token's conditional as it is."""

import numpy as np
import pytest

import plugsamp as ps
from plugsamp.testing import Enumeration, cases_for, check_draws, check_invariance, check_token, registered

COLLAPSES = ("full", "partial")


def chain_for(case, collapse, proposals=("half",), seed=5):
    kernel = ps.kernels.ComposedMH(list(proposals), "cycle", len(proposals), collapse)
    chain = ps.Chain(case.corpus(), case.model(), kernel, seed=seed)
    chain.run(4)
    chain.augment()
    return chain


def test_it_is_registered_by_this_package():
    plugin = {p.name: p for p in ps.registry.plugins("proposals")}["half"]
    assert plugin.package == "plugsamp-half"


@pytest.mark.parametrize("collapse", COLLAPSES)
@pytest.mark.parametrize("loss", registered("losses"))
def test_draws_follow_the_stated_masses(loss, collapse):
    for case in cases_for(loss):
        chain = chain_for(case, collapse)
        for i in range(case.n_tokens):
            report = check_draws(chain, i)
            assert report.passes(), f"{case}, {report}"


@pytest.mark.parametrize("collapse", COLLAPSES)
@pytest.mark.parametrize("loss", registered("losses"))
def test_conditional_is_stationary(loss, collapse):
    for case in cases_for(loss):
        chain = chain_for(case, collapse)
        collapsed = collapse == "full"
        for i in range(case.n_tokens):
            # blind: the table may not know the token's own topic
            report = check_token(chain, case, i, collapsed=collapsed, blind=collapsed)
            assert report.passes(1e-6), f"{case}, {report}"
            # every topic can be reached
            far = np.linalg.matrix_power(report.matrix, 1 << 16)
            assert np.abs(far - report.pi).max() < 1e-3, str(report)


@pytest.mark.parametrize("collapse", COLLAPSES)
def test_posterior_is_invariant_among_other_proposals(collapse):
    case = cases_for("hinge")[0]
    chain = chain_for(case, collapse, ("word", "doc", "half"))
    result = check_invariance(chain, Enumeration(case), restarts=200, sweeps=10)
    assert result.passes(), str(result)


def test_documents_of_one_token_and_none():
    X = np.array([[1, 0, 0], [0, 0, 0], [0, 2, 0], [3, 1, 2]])
    for collapse in COLLAPSES:
        kernel = ps.kernels.ComposedMH(["half"], steps=3, collapse=collapse)
        chain = ps.Chain(ps.Corpus.from_counts(X), ps.Model(n_topics=20), kernel).run(50)
        assert len(set(chain.z.tolist())) > 1
        assert chain.counts.topic_word.sum() == 9
