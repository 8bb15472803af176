"""Geweke's tests: forward against successive-conditional simulation of words, topics, weights, responses."""

import numpy as np
import pytest

from plugsamp.chain import Chain
from plugsamp.losses.hinge import Hinge
from plugsamp.priors.normal import Normal
from plugsamp.registry import resolve
from plugsamp.testing import (
    Case,
    GewekeCase,
    ReferenceSampler,
    chain_stepper,
    geweke,
    kernel_configurations,
    label,
)

pytestmark = pytest.mark.usefixtures("blas_limited")
DOCUMENTS = ((0, 1, 2), (0, 1), (2,), ())
PLAIN = GewekeCase(Case("plain", DOCUMENTS, 3, 2, (0.5, 0.8), (0.4, 0.6, 0.3)))
SUPERVISED = GewekeCase(
    Case(
        "supervised",
        DOCUMENTS,
        3,
        2,
        (0.5, 0.8),
        (0.4, 0.6, 0.3),
        Hinge(0.6),
        np.array([[1, 0], [0, None], [1, 1], [None, 0]], dtype=object),
        covariates=np.array([[0.5], [-1.0], [1.2], [0.3]]),
        weights=Normal(variance=1.5, intercept_variance=0.8),
    )
)


def reference_step(mutant=None, **options):
    def step(case, z, eta, seed, rng):
        sampler = ReferenceSampler(case, seed=seed, mutant=mutant, **options)
        sampler.z, sampler.eta = z, eta.copy()
        sampler._draw_phi()
        sampler.sweep()
        _, topic_word = case.counts(sampler.z)
        phi = rng.standard_gamma(topic_word + case.beta_vector)
        return sampler.z, sampler.eta, phi / phi.sum(axis=1, keepdims=True)

    return step


def test_reference_passes_and_mutant_fails():
    assert geweke(SUPERVISED, reference_step(), n_forward=3000, n_chain=3000, seed=1).passes()
    wrong = reference_step("inverted-test", kernel="composed")
    assert not geweke(SUPERVISED, wrong, n_forward=3000, n_chain=3000, seed=1).passes()


def make_chain(configuration, weight_update):
    name, options = configuration

    kernel = resolve("kernels", name, **options)

    def make(case, z, seed):
        return Chain(case.corpus(), case.model(), kernel, seed=seed, init=z, weight_update=weight_update)

    return make


def short(configuration):
    name = label(configuration)
    return not name.startswith("composed") or "doc+exp+word-cycle-3" in name


@pytest.mark.parametrize("setup", [PLAIN, SUPERVISED], ids=["plain", "supervised"])
@pytest.mark.parametrize(
    "configuration",
    [
        pytest.param(c, id=label(c), marks=() if short(c) else (pytest.mark.slow,))
        for c in kernel_configurations()
    ],
)
@pytest.mark.parametrize("n", [1500, pytest.param(20_000, marks=pytest.mark.slow)])
def test_chain(configuration, setup, n):
    kernel = resolve("kernels", configuration[0], **configuration[1])
    if setup.case.n_outputs and not kernel.responses:
        pytest.skip("no responses")
    update = "coordinate" if n % 3 else "block"
    step = chain_stepper(make_chain(configuration, update), collapsed=not kernel.partial)
    result = geweke(setup, step, n_forward=2 * n, n_chain=n, seed=3)
    assert result.passes(), str(result)
