"""Geweke's tests of words, topics, weights and responses, in replicates that start at exact draws."""

from dataclasses import replace

import pytest

from plugsamp.chain import Chain
from plugsamp.losses.gaussian import Gaussian
from plugsamp.losses.hinge import Hinge
from plugsamp.priors import horseshoe
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

pytestmark = [
    pytest.mark.usefixtures("blas_limited"),
    pytest.mark.filterwarnings("ignore:the responses have mean"),  # hundreds, of draws of the prior
]
DOCUMENTS = ((0, 1, 2), (0, 1), (2,), ())
PLAIN = GewekeCase(Case("plain", DOCUMENTS, 3, 2, (0.5, 0.8), (0.4, 0.6, 0.3)))
SUPERVISED = geweke_case(Hinge(0.6))
LOSSES = {name: setup for name, loss in variants("losses").items() if (setup := geweke_case(loss))}
PRIORS = variants("priors")
#: Replicates of the tests that run by default, and of the slow ones.
SHORT, LONG = 200, 800


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


@pytest.mark.parametrize("mutant", [None, "inverted-test"])
def test_reference_passes_and_mutant_fails(mutant, chance):
    step = reference_step(mutant, **({"kernel": "composed"} if mutant else {}))
    judge = chance.fails if mutant else chance.holds
    replicates = 2 * SHORT if mutant else SHORT
    judge(lambda seed, scale: geweke(SUPERVISED, step, replicates=replicates * scale, seed=seed).p_value)


def p_value(setup, configuration, update, replicates, seed):
    name, options = configuration
    kernel, model = resolve("kernels", name, **options), setup.case.model()

    def make(case, z, seed):
        return Chain(case.corpus(), model, kernel, seed=seed, init=z, weight_update=update)

    step = chain_stepper(make, collapsed=not kernel.partial)
    return geweke(setup, step, replicates=replicates, seed=seed).p_value


def run(chance, setup, configuration, n, fails=False):
    """Updates of the weights in turn: block in the short tests, coordinate in the long ones."""
    update = "block" if n == SHORT else "coordinate"
    judge = chance.fails if fails else chance.holds
    judge(lambda seed, scale: p_value(setup, configuration, update, n * scale, seed))


def short(configuration, setup):
    """Composed kernels of one composition and presets of either collapse; `DENSE` is with losses and priors.

    Without responses the kernels that draw otherwise then.
    """
    name = label(configuration)
    if setup is not SUPERVISED:
        return name in ("fast", "sparse")
    return name in ("alias", "light_pc") or (name.startswith("composed") and name.endswith("-cycle-3"))


@pytest.mark.parametrize(
    "configuration, setup, n",
    [
        pytest.param(
            c, setup, n, id=f"{n}-{label(c)}-{setup.case.name}", marks=() if quick else (pytest.mark.slow,)
        )
        for c in kernel_configurations()
        for setup in (PLAIN, SUPERVISED)
        if not setup.case.n_outputs or resolve("kernels", c[0], **c[1]).responses
        for n, quick in ((SHORT, short(c, setup)), (LONG, False))
    ],
)
def test_kernel(configuration, setup, n, chance):
    run(chance, setup, configuration, n)


DENSE = {collapse: ("dense", {"collapse": collapse}) for collapse in ("full", "partial")}


#: A Gaussian of fixed variance is in `test_prior`; a larger cost has its draws in test_polya_gamma.
ELSEWHERE = {"gaussian-variance=0.8", "logistic-cost=2.5"}


@pytest.mark.parametrize("n", [SHORT, pytest.param(LONG, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "loss",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name in ELSEWHERE))
        for name in LOSSES
        if name not in ("none", "hinge")
    ],
)
def test_loss_that_is_a_likelihood(loss, n, chance):
    """What the loss draws itself, its parameters, is part of the joint."""
    run(chance, LOSSES[loss], DENSE["partial"], n)


#: With an exact posterior in test_hierarchical.
OTHERS = {name for name in PRIORS if name.startswith("hierarchical")}


@pytest.mark.slow
@pytest.mark.parametrize("prior", sorted(OTHERS))
def test_hinge_with_variances_drawn(prior, chance):
    run(chance, geweke_case(Hinge(0.6), PRIORS[prior]), DENSE["partial"], LONG)


@pytest.mark.parametrize("n", [SHORT, pytest.param(LONG, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "prior",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name in OTHERS)) for name in PRIORS if name != "normal"
    ],
)
def test_prior(prior, n, chance):
    """With a loss that is a likelihood, so that no draw is refused."""
    run(chance, geweke_case(Gaussian(0.8), PRIORS[prior]), DENSE["full"], n)


@pytest.mark.parametrize(
    "mistake, n",
    [
        ("a half forgotten", SHORT),
        pytest.param("shape too small", LONG, marks=pytest.mark.slow),
        pytest.param("shape too large", LONG, marks=pytest.mark.slow),
    ],
)
def test_mistakes_in_the_horseshoe_are_seen(mistake, n, chance, monkeypatch):
    draw, half = horseshoe.draw_global, horseshoe.half_square
    if mistake == "a half forgotten":
        monkeypatch.setattr(horseshoe, "half_square", lambda ratio: 2 * half(ratio))
    else:
        change = 1 if mistake == "shape too large" else -1
        monkeypatch.setattr(horseshoe, "draw_global", lambda n, *rest: draw(n + change, *rest))
    run(chance, geweke_case(Gaussian(0.8), PRIORS["horseshoe"]), DENSE["full"], n, fails=True)
