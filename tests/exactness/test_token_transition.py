"""The exact transition matrix of one token's update: pi T = pi (DESIGN, "Exact unless said").

The bound is 1e-6 in each component. Masses are float32 (relative rounding 6e-8) and products of a few, so
that rounding alone stays some times below it; scores of hundreds are themselves rounded in float32, which
shifts the log of a mass by up to |score| 6e-8: there the bound is widened by just that.
"""

from dataclasses import replace

import numpy as np
import pytest

from plugsamp.chain import Chain
from plugsamp.losses.hinge import Hinge
from plugsamp.losses.none import NoLoss
from plugsamp.priors.normal import Normal
from plugsamp.registry import resolve
from plugsamp.testing import (
    Case,
    battery,
    cases_for,
    check_token,
    kernel_configurations,
    label,
    registered,
)

pytestmark = pytest.mark.usefixtures("blas_limited")
CONFIGURATIONS = kernel_configurations()
COLLAPSED = [c for c in CONFIGURATIONS if not resolve("kernels", c[0], **c[1]).partial]
TOLERANCE = 1e-6


def chain_for(case, configuration, seed=5, sweeps=4):
    name, options = configuration
    chain = Chain(case.corpus(), case.model(), resolve("kernels", name, **options), seed=seed)
    chain.run(sweeps)
    chain.augment()
    return chain


def grid(chosen):
    """The battery for some configurations; what is not short is slow."""
    return [
        pytest.param(configuration, loss, marks=() if short else (pytest.mark.slow,), id=id)
        for id, configuration, loss, short in battery()
        if configuration in chosen
    ]


@pytest.mark.parametrize("configuration, loss", grid(CONFIGURATIONS))
def test_conditional_is_stationary(configuration, loss):
    for case in cases_for(loss):
        chain = chain_for(case, configuration)
        partial = chain.kernel.partial
        before = chain.z, chain.counts.topic_word
        for i in range(case.n_tokens):
            report = check_token(chain, case, i, collapsed=not partial)
            assert report.passes(TOLERANCE), f"{case}, {report}"
            if configuration[0] == "dense":
                assert report.gibbs_error < TOLERANCE, str(report)
        np.testing.assert_array_equal(chain.z, before[0])
        np.testing.assert_array_equal(chain.counts.topic_word, before[1])


@pytest.mark.parametrize("configuration, loss", grid(COLLAPSED))
def test_transition_does_not_know_the_tokens_own_topic(configuration, loss):
    for case in cases_for(loss)[:3]:
        chain = chain_for(case, configuration)
        for i in range(case.n_tokens):
            report = check_token(chain, case, i, collapsed=True, blind=True)
            assert report.passes(TOLERANCE), f"{case}, {report}"


@pytest.mark.parametrize("collapse", ["full", "partial"])
@pytest.mark.parametrize("proposal", registered("proposals"))
def test_every_proposal_reaches_every_topic(proposal, collapse):
    """Each proposal alone, with enough steps, forgets where it began: T^n has equal rows."""
    for case in cases_for("none"):
        options = {"proposals": [proposal], "composition": "cycle", "steps": 1, "collapse": collapse}
        chain = chain_for(case, ("composed", options))
        for i in range(case.n_tokens):
            report = check_token(chain, case, i, collapsed=collapse == "full")
            far = np.linalg.matrix_power(report.matrix, 1 << 16)
            assert np.abs(far - report.pi).max() < 1e-3, str(report)


# -- extremes ------------------------------------------------------------------------------------------


def extreme(name, k, v, lengths, cost=None, seed=0, alpha=0.1, beta=0.01, scale=1.0):
    """A corpus of random words; with a cost, two labels."""
    rng = np.random.default_rng(seed)
    documents = tuple(tuple(sorted(rng.integers(v, size=n).tolist())) for n in lengths)
    labels = np.resize(np.array(["a", "b"], dtype=object), len(lengths)) if cost else None
    loss = Hinge(cost) if cost else NoLoss()
    return Case(name, documents, v, k, alpha, beta, loss, labels, weights=Normal(scale))


def many_classes(k, n_classes):
    """More outputs than topics: rows of outputs are then longer than rows of topics."""
    case = extreme(f"K={k}, {n_classes} classes", k, 4, [2] * n_classes, cost=2.0)
    return replace(case, responses=np.array([f"c{i}" for i in range(n_classes)], dtype=object))


EXTREMES = [
    *(extreme(f"K={k}", k, 30, (40, 7, 1), cost=c) for k in (15, 16, 17, 33, 100) for c in (None, 3.0)),
    extreme("K=1", 1, 5, (6, 2, 1), cost=2.0),
    extreme("V=1", 3, 1, (6, 2, 1), cost=2.0),
    extreme("one token", 2, 2, (1,)),
    extreme("long", 5, 50, (2000, 3), cost=102.4),
    extreme("long, no responses", 17, 50, (2000, 3)),
    extreme("large cost", 4, 6, (3, 2, 1, 5), cost=1024.0, scale=4.0),
    extreme("large cost, K=17", 17, 6, (3, 2, 1, 5), cost=1024.0, scale=4.0),
    extreme("tiny priors", 3, 4, (5, 4), cost=2.0, alpha=1e-3, beta=1e-3),
    *(many_classes(k, c) for k, c in ((3, 40), (5, 20), (2, 200))),
    extreme("large priors", 3, 4, (5, 4), cost=2.0, alpha=200.0, beta=50.0),
]


def extremes():
    """Composed kernels meet half of the cases, sizes with and without responses in turn; the rest is slow."""
    result = []
    for i, configuration in enumerate(CONFIGURATIONS[:: max(1, len(CONFIGURATIONS) // 12)]):
        name, options = configuration
        for j, case in enumerate(EXTREMES):
            if case.n_outputs and not resolve("kernels", name, **options).responses:
                continue
            short = name != "composed" or (i + j + j // 2) % 2 == 0
            marks = () if short else (pytest.mark.slow,)
            result.append(pytest.param(configuration, case, id=f"{label(configuration)}-{case}", marks=marks))
    return result


@pytest.mark.parametrize("configuration, case", extremes())
def test_extremes(configuration, case):
    chain = chain_for(case, configuration, sweeps=3)
    rng = np.random.default_rng(1)
    if case.n_outputs:  # weights that nobody would draw, so that scores differ by hundreds
        eta = chain.eta
        chain.set_state(eta=eta + rng.standard_normal(eta.shape))
        chain.augment()
    largest = 0.0
    if case.n_outputs:
        length = np.maximum(case.lengths, 1)[:, None, None]
        h = chain.eta[None, :, : case.n_topics] / length
        f = chain.f()[:, :, None]
        s = h * (chain.kappa[:, :, None] - chain.omega[:, :, None] * f) - 0.5 * chain.omega[:, :, None] * h**2
        largest = float(np.abs(s).sum(axis=1).max())
    tokens = range(case.n_tokens) if case.n_tokens <= 20 else rng.choice(case.n_tokens, 6, replace=False)
    for i in tokens:
        report = check_token(chain, case, int(i), collapsed=not chain.kernel.partial)
        assert report.passes(TOLERANCE + 6e-8 * largest), f"{report}, scores to {largest:.3g}"
