"""Compiled proposals draw what they say they draw: masses and draws are written apart from each other."""

import numpy as np
import pytest

from plugsamp.chain import Chain
from plugsamp.kernels.composed import ComposedMH
from plugsamp.testing import cases_for, check_draws, registered

pytestmark = pytest.mark.usefixtures("blas_limited")


def chain_for(case, proposal, collapse):
    kernel = ComposedMH([proposal], "cycle", 1, collapse)
    chain = Chain(case.corpus(), case.model(), kernel, seed=3)
    chain.run(3)
    chain.augment()
    return chain


@pytest.mark.parametrize("collapse", ["full", "partial"])
@pytest.mark.parametrize("loss", registered("losses"))
@pytest.mark.parametrize("proposal", registered("proposals"))
def test_draws_follow_the_stated_masses(proposal, loss, collapse):
    for case in cases_for(loss):
        chain = chain_for(case, proposal, collapse)
        before = chain.z
        for i in range(case.n_tokens):
            report = check_draws(chain, i)
            assert report.passes(), f"{case}, token {i}: {report}"
        np.testing.assert_array_equal(chain.z, before)


@pytest.mark.parametrize("factor", [0.0, 0.8])
def test_a_wrong_mass_is_seen(factor, monkeypatch):
    case = cases_for("none")[1]
    chain = chain_for(case, "doc", "full")
    sampler = chain.phases.sampler
    true = sampler.probe

    def wrong(document, position, topic, *rest):
        target, mass, drawn = true(document, position, topic, *rest)
        mass[0] *= factor
        return target, mass, drawn

    monkeypatch.setattr(sampler, "probe", wrong)
    assert not check_draws(chain, 0).passes()


def test_a_constant_that_depends_on_the_topic_is_seen(monkeypatch):
    case = cases_for("none")[1]
    chain = chain_for(case, "doc", "full")
    sampler = chain.phases.sampler
    true = sampler.probe

    def wrong(document, position, topic, *rest):
        target, mass, drawn = true(document, position, topic, *rest)
        return target, mass * (1.0 + 0.1 * (topic == 1)), drawn

    monkeypatch.setattr(sampler, "probe", wrong)
    assert not check_draws(chain, 0).passes()
