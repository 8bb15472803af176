"""The checks see what they are for: the correct plain sampler passes, every named mutant fails."""

import numpy as np
import pytest

from plugsamp.testing import MUTANTS, Enumeration, ReferenceSampler, cases_for, compare_with_enumeration
from plugsamp.testing.reference import fast_topic

SWEEPS = 6000


def run(case, seed=1, sweeps=SWEEPS, **options):
    sampler = ReferenceSampler(case, seed=seed, **options)
    sampler.run(100)
    z, eta = sampler.run(sweeps)
    return compare_with_enumeration(Enumeration(case), z, eta)


CORRECT = [
    ("hinge", 0, dict(kernel="dense", collapse="full", weight_update="block")),
    ("hinge", 0, dict(kernel="dense", collapse="partial", weight_update="coordinate")),
    ("hinge", 0, dict(kernel="composed", collapse="full", composition="mixture", steps=3)),
    ("hinge", 1, dict(kernel="composed", collapse="partial", composition="cycle", steps=3)),
    ("hinge", 2, dict(kernel="composed", collapse="partial", composition="mixture", steps=2)),
    ("none", 1, dict(kernel="fastlda")),
    ("none", 0, dict(kernel="composed", proposals=("doc", "word"), composition="cycle", steps=1)),
]


@pytest.mark.parametrize("loss, index, options", CORRECT)
def test_correct_reference_passes(loss, index, options):
    result = run(cases_for(loss)[index], **options)
    assert result.passes(), str(result)


WRONG = {
    "doc-counts-with-token": ("none", 0, dict(kernel="composed", proposals=("doc",), steps=1)),
    "word-counts-with-token": ("none", 0, dict(kernel="dense")),
    "exp-own-scores": ("hinge", 1, dict(kernel="composed", proposals=("exp",), steps=2)),
    "fastlda-min-with-token": ("none", 1, dict(kernel="fastlda")),
    "inverted-test": ("none", 0, dict(kernel="composed", proposals=("doc", "word"), steps=2)),
    "stale-response": ("hinge", 0, dict(kernel="dense")),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_mutant_fails(mutant):
    loss, index, options = WRONG[mutant]
    case = cases_for(loss)[index]
    assert run(case, **options).passes()
    assert not run(case, mutant=mutant, **options).passes()


def test_fast_topic_draws_from_the_product():
    """Over an even grid of u each topic gets its share; with too small a norm it does not."""
    rng = np.random.default_rng(5)
    u = (np.arange(20_000) + 0.5) / 20_000
    worst = 0.0
    for _ in range(3):
        a, b, c = rng.random(4) + 0.1, rng.random(4) + 0.1, rng.random(4) + 0.1
        p = a * b * c / (a * b * c).sum()
        lists = [v.tolist() for v in (a, b, c)]

        def share(norm, lists=lists):
            return np.bincount([fast_topic(*lists, norm, x) for x in u], minlength=4) / len(u)

        np.testing.assert_allclose(share(c.max()), p, atol=4e-4)
        worst = max(worst, np.abs(share(0.4 * c.max()) - p).max())
    assert worst > 1e-2
