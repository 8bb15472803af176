"""Geweke's tests: forward against successive-conditional simulation of words, topics, weights, responses."""

from dataclasses import replace

import pytest

from plugsamp.chain import Chain
from plugsamp.losses.gaussian import Gaussian
from plugsamp.losses.hinge import Hinge
from plugsamp.registry import resolve
from plugsamp.testing import (
    Case,
    GewekeCase,
    ReferenceSampler,
    chain_stepper,
    geweke,
    geweke_case,
    kernel_configurations,
    label,
    variants,
)

pytestmark = pytest.mark.usefixtures("blas_limited")
DOCUMENTS = ((0, 1, 2), (0, 1), (2,), ())
PLAIN = GewekeCase(Case("plain", DOCUMENTS, 3, 2, (0.5, 0.8), (0.4, 0.6, 0.3)))
SUPERVISED = geweke_case(Hinge(0.6))
LOSSES = {name: setup for name, loss in variants("losses").items() if (setup := geweke_case(loss))}
PRIORS = variants("priors")


def reference_step(mutant=None, **options):
    def step(case, state, seed, rng):
        sampler = ReferenceSampler(case, seed=seed, mutant=mutant, **options)
        sampler.z, sampler.eta = state.z, state.eta.copy()
        sampler._draw_phi()
        sampler.sweep()
        _, topic_word = case.counts(sampler.z)
        phi = rng.standard_gamma(topic_word + case.beta_vector)
        after = replace(state, z=sampler.z, eta=sampler.eta)
        return after, phi / phi.sum(axis=1, keepdims=True)

    return step


def test_reference_passes_and_mutant_fails():
    """With the draws that the short tests have, by far."""
    assert geweke(SUPERVISED, reference_step(), n_forward=3000, n_chain=1500, seed=1).passes()
    wrong = reference_step("inverted-test", kernel="composed")
    assert not geweke(SUPERVISED, wrong, n_forward=3000, n_chain=1500, seed=1).passes()


def run(setup, configuration, update, n, seed=3):
    name, options = configuration
    kernel = resolve("kernels", name, **options)

    def make(case, z, seed):
        return Chain(case.corpus(), case.model(), kernel, seed=seed, init=z, weight_update=update)

    step = chain_stepper(make, collapsed=not kernel.partial)
    result = geweke(setup, step, n_forward=2 * n, n_chain=n, seed=seed)
    assert result.passes(), str(result)


def short(configuration, setup):
    """Composed kernels of one composition; with responses, and without if a kernel then draws otherwise."""
    name = label(configuration)
    if name.startswith("composed") and not name.endswith("-cycle-3"):
        return False
    return setup is SUPERVISED or configuration[0] in ("dense", "fast", "sparse", "sparse_pc")


@pytest.mark.parametrize(
    "configuration, setup, n",
    [
        pytest.param(
            c, setup, n, id=f"{n}-{label(c)}-{setup.case.name}", marks=() if quick else (pytest.mark.slow,)
        )
        for c in kernel_configurations()
        for setup in (PLAIN, SUPERVISED)
        if not setup.case.n_outputs or resolve("kernels", c[0], **c[1]).responses
        for n, quick in ((1500, short(c, setup)), (20_000, False))
    ],
)
def test_kernel(configuration, setup, n):
    run(setup, configuration, "coordinate" if n % 3 else "block", n)


DENSE = {collapse: ("dense", {"collapse": collapse}) for collapse in ("full", "partial")}


#: A Gaussian of fixed variance is in `test_prior`; a larger cost has its draws in test_polya_gamma.
ELSEWHERE = {"gaussian-variance=0.8", "logistic-cost=2.5"}


@pytest.mark.parametrize("n", [1500, pytest.param(20_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "loss",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name in ELSEWHERE))
        for name in LOSSES
        if name not in ("none", "hinge")
    ],
)
def test_loss_that_is_a_likelihood(loss, n):
    """What the loss draws itself, its parameters, is part of the joint."""
    run(LOSSES[loss], DENSE["partial"], "block", n)


@pytest.mark.parametrize("n", [1500, pytest.param(20_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("prior", [name for name in PRIORS if name != "normal"])
def test_prior(prior, n):
    """With a loss that is a likelihood, so that no draw is refused."""
    setup = geweke_case(Gaussian(0.8), PRIORS[prior])
    run(setup, DENSE["full"], "coordinate" if n % 3 else "block", n)
