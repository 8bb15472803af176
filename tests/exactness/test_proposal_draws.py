"""Compiled proposals draw what they say they draw: masses and draws are written apart from each other."""

import numpy as np
import pytest

from plugsamp.chain import Chain
from plugsamp.kernels.composed import ComposedMH
from plugsamp.testing import cases_for, check_draws, registered, variants

from ..chance import smallest

pytestmark = pytest.mark.usefixtures("blas_limited")
LOSSES = variants("losses")
SHORT = ["none", "hinge"]
OTHERS = [name for name in LOSSES if name not in SHORT]


def chain_for(case, proposal, collapse):
    kernel = ComposedMH([proposal], "cycle", 1, collapse)
    chain = Chain(case.corpus(), case.model(), kernel, seed=3)
    chain.run(3)
    chain.augment()
    return chain


@pytest.mark.parametrize("collapse", ["full", "partial"])
@pytest.mark.parametrize("loss", SHORT + [pytest.param(name, marks=pytest.mark.slow) for name in OTHERS])
@pytest.mark.parametrize("proposal", registered("proposals"))
def test_draws_follow_the_stated_masses(proposal, loss, collapse, chance):
    def p_value(seed, scale):
        p = []
        for number, case in enumerate(cases_for(LOSSES[loss])):
            chain = chain_for(case, proposal, collapse)
            before = chain.z
            key = 100 * seed + number  # tokens of two cases must not have the same draws
            tokens = range(case.n_tokens)
            p += [check_draws(chain, i, draws=10_000 * scale, seed=key).p_value for i in tokens]
            np.testing.assert_array_equal(chain.z, before)
        return smallest(p)

    chance.holds(p_value)


@pytest.fixture
def check_with(monkeypatch):
    """The check of a sound proposal whose stated masses pass through a function (topic, masses) -> masses."""

    def check(change):
        chain = chain_for(cases_for("none")[1], "doc", "full")
        sampler = chain.phases.sampler
        true = sampler.probe

        def probe(document, position, topic, *rest):
            target, mass, drawn = true(document, position, topic, *rest)
            return target, change(topic, mass), drawn

        monkeypatch.setattr(sampler, "probe", probe)
        return lambda seed, scale: check_draws(chain, 0, draws=20_000 * scale, seed=seed).p_value

    return check


WRONG = {
    "a topic that has no mass": lambda topic, mass: mass * [0.0, 1.0, 1.0],
    "a topic that has too little": lambda topic, mass: mass * [0.8, 1.0, 1.0],
    "a scale that depends on the topic": lambda topic, mass: mass * (1.0 + 0.1 * (topic == 1)),
}


def test_unchanged_masses_pass(check_with, chance):
    chance.holds(check_with(lambda topic, mass: mass))


@pytest.mark.parametrize("mistake", WRONG)
def test_wrong_masses_are_seen(mistake, check_with, chance):
    chance.fails(check_with(WRONG[mistake]))
