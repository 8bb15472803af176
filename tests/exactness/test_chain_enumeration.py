"""Runs of the chain against enumerated posteriors: everything that one sweep does, together."""

from functools import lru_cache

import pytest

from plugsamp.chain import Chain
from plugsamp.registry import resolve
from plugsamp.testing import (
    Enumeration,
    cases_for,
    check_chain,
    check_invariance,
    kernel_configurations,
    label,
    registered,
)

pytestmark = pytest.mark.usefixtures("blas_limited")
CONFIGURATIONS = kernel_configurations()
#: Kernels without variants, and of the composed ones these, make up the default suite.
SHORT = {
    f"composed-{collapse}-{rest}"
    for collapse in ("full", "partial")
    for rest in ("exp-cycle-2", "doc+exp+word-mixture-3", "doc+exp+word-cycle-8")
}


@lru_cache
def exact_posterior(loss, index):
    return Enumeration(cases_for(loss)[index])


def chain_for(configuration, loss, index, weight_update, seed):
    name, options = configuration
    kernel = resolve("kernels", name, **options)
    exact = exact_posterior(loss, index)
    if exact.case.n_outputs and not kernel.responses:
        pytest.skip(f"{name} samples models without responses only")
    case = exact.case
    chain = Chain(case.corpus(), case.model(), kernel, seed=seed, weight_update=weight_update)
    return chain, exact


def is_short(configuration):
    """Whether a configuration belongs to the default suite: an unknown kernel always does."""
    return configuration[0] != "composed" or label(configuration) in SHORT


def grid():
    """Every configuration with every loss and weight update, the short ones unmarked."""
    result = []
    for number, configuration in enumerate(CONFIGURATIONS):
        name = label(configuration)
        short = is_short(configuration)
        for loss in registered("losses"):
            for update in ("block",) if loss == "none" else ("block", "coordinate"):
                marks = () if short else (pytest.mark.slow,)
                index = (number + (update == "block")) % 4
                id = f"{name}-{loss}-{update}"
                result.append(pytest.param(configuration, loss, index, update, marks=marks, id=id))
    return result


@pytest.mark.parametrize("configuration, loss, index, weight_update", grid())
def test_posterior_is_invariant(configuration, loss, index, weight_update):
    chain, exact = chain_for(configuration, loss, index, weight_update, seed=11)
    # The bins' covariance is estimated from the runs: where few of 200 leave their mode it can come out
    # far too small (p = 1e-8 for a cycle that had .80, .34 and .89 with 1,500), so the long ones take more.
    restarts = 200 if is_short(configuration) else 1000
    result = check_invariance(chain, exact, restarts=restarts, sweeps=10)
    assert result.passes(), f"{exact.case}\n{result}"


@pytest.mark.slow
@pytest.mark.parametrize("index", range(4))
@pytest.mark.parametrize("configuration, loss, _, weight_update", grid())
def test_posterior_is_invariant_long(configuration, loss, _, weight_update, index):
    chain, exact = chain_for(configuration, loss, index, weight_update, seed=12)
    result = check_invariance(chain, exact, restarts=2500, sweeps=12, seed=1)
    assert result.passes(), f"{exact.case}\n{result}"


@pytest.mark.parametrize("index", range(2))
@pytest.mark.parametrize(
    "configuration",
    [
        pytest.param(c, marks=() if is_short(c) else (pytest.mark.slow,), id=label(c))
        for c in CONFIGURATIONS
        if c[1].get("proposals") != ["exp"]  # uniform without responses, and slow
    ],
)
def test_free_run_matches_the_exact_posterior(configuration, index):
    """From a random start, so that a chain which cannot reach every state is seen."""
    chain, exact = chain_for(configuration, "none", index, "auto", seed=13)
    result = check_chain(chain, exact, 4000)
    assert result.passes(), f"{exact.case}\n{result}"
