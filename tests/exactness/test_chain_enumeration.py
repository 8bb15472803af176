"""Long runs of the chain against enumerated posteriors: everything that one sweep does, together."""

from functools import lru_cache

import pytest

from plugsamp.chain import Chain
from plugsamp.registry import resolve
from plugsamp.testing import Enumeration, cases_for, check_chain, kernel_configurations, label, registered

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


def compare(configuration, loss, index, weight_update, n, seed):
    name, options = configuration
    kernel = resolve("kernels", name, **options)
    exact = exact_posterior(loss, index)
    if exact.case.n_outputs and not kernel.responses:
        pytest.skip(f"{name} samples models without responses only")
    case = exact.case
    chain = Chain(case.corpus(), case.model(), kernel, seed=seed, weight_update=weight_update)
    result = check_chain(chain, exact, n)
    assert result.passes(), f"{case}\n{result}"


def grid():
    """Every configuration with every loss and weight update, the short ones unmarked."""
    for number, configuration in enumerate(CONFIGURATIONS):
        name = label(configuration)
        short = not name.startswith("composed") or name in SHORT
        for loss in registered("losses"):
            updates = ("block",) if loss == "none" else ("block", "coordinate")
            for update in updates:
                marks = () if short else (pytest.mark.slow,)
                index = (number + (update == "block")) % 4
                yield pytest.param(configuration, loss, index, update, marks=marks, id=f"{name}-{loss}-{update}")


@pytest.mark.parametrize("configuration, loss, index, weight_update", grid())
def test_run_matches_the_exact_posterior(configuration, loss, index, weight_update):
    compare(configuration, loss, index, weight_update, n=3000, seed=11)


@pytest.mark.slow
@pytest.mark.parametrize("index", range(4))
@pytest.mark.parametrize("configuration, loss, _, weight_update", grid())
def test_long_run_matches_the_exact_posterior(configuration, loss, _, weight_update, index):
    compare(configuration, loss, index, weight_update, n=30_000, seed=12)
