"""Draws of the weights against dense formulas and against each other."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from plugsamp.priors.columns import Columns
from plugsamp.priors.normal import Normal
from plugsamp.regression import weights
from plugsamp.regression.design import Design
from plugsamp.regression.precision import SMALLEST_PIVOT, Factor, WeightError, draw_orthogonal
from plugsamp.regression.weights import GROUP, choose_method, gram, groups, update_outputs

from ..chance import smallest
from .moments import moments_p_value

PRIOR = Normal(variance=2.0, intercept_variance=50.0)


def problem(n_documents=60, n_topics=4, n_outputs=3, n_covariates=0, intercept=False, seed=0):
    """A random design with empty and one-token documents, and missing responses."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.gamma(0.5, 3.0, size=(n_documents, n_topics)))
    counts[0] = 0
    counts[1] = 0
    counts[1, -1] = 1
    covariates = rng.normal(size=(n_documents, n_covariates)) if n_covariates else None
    rows = sparse.csr_array(counts)
    design = Design(rows.indptr, rows.indices, rows.data, counts.sum(1), n_topics, covariates, intercept)
    lengths = counts.sum(1, keepdims=True)
    u = [np.divide(counts, lengths, out=np.zeros(counts.shape), where=lengths > 0)]
    if covariates is not None:
        u.append(covariates)
    if intercept:
        u.append(np.ones((n_documents, 1)))
    kappa = rng.normal(size=(n_documents, n_outputs)) * 3
    omega = rng.gamma(1.0, 2.0, size=(n_documents, n_outputs))
    missing = rng.random(kappa.shape) < 0.2
    kappa[missing] = omega[missing] = 0.0
    return design, np.hstack(u), kappa, omega


def update(design, kappa, omega, eta, outputs, seed=0, sweep=0, **options):
    update_outputs(design, kappa, omega, eta, outputs, PRIOR, {}, columns(design), seed, sweep, **options)


def columns(design):
    intercept = bool(design.dense.shape[1]) and bool((design.dense[:, -1] == 1.0).all())
    return Columns(design.n_topics, design.n_features - design.n_topics - intercept, intercept)


SHAPES = [
    {},
    {"n_topics": 1, "n_outputs": 1},
    {"n_outputs": 11, "n_covariates": 2},
    {"n_outputs": 9, "intercept": True},
    {"n_covariates": 3, "intercept": True},
    {"n_documents": 2_500, "n_topics": 7},  # more than one slice of documents
]


@pytest.mark.parametrize("shape", SHAPES)
def test_gram_and_predictor_are_the_dense_ones(shape):
    design, u, kappa, omega = problem(**shape)
    for chosen in groups(kappa.shape[1]):
        precision, linear = gram(design, kappa, omega, chosen)
        for lane, c in enumerate(chosen):
            expected = np.triu(u.T @ (omega[:, [c]] * u))
            np.testing.assert_allclose(np.triu(precision[:, :, lane]), expected, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(linear[:, lane], u.T @ kappa[:, c], rtol=1e-11, atol=1e-11)
    eta = np.random.default_rng(1).normal(size=(kappa.shape[1], u.shape[1]))
    np.testing.assert_allclose(design.predictor(eta), u @ eta.T, rtol=1e-12, atol=1e-12)


def test_gaussian_draw_is_mean_plus_a_root_of_the_covariance():
    rng = np.random.default_rng(2)
    root = rng.normal(size=(5, 5))
    matrix, prior, linear = root @ root.T, rng.gamma(1.0, size=5), rng.normal(size=5)
    precision = matrix + np.diag(prior)
    factor = Factor(np.triu(matrix), prior)
    mean = factor.draw(linear, np.zeros(5))
    np.testing.assert_allclose(mean, np.linalg.solve(precision, linear), rtol=1e-10)
    half = np.array([factor.draw(linear, e) - mean for e in np.eye(5)]).T
    np.testing.assert_allclose(half @ half.T, np.linalg.inv(precision), rtol=1e-9)


@pytest.mark.parametrize("method, passes", [("block", 1), ("coordinate", 8)])
@pytest.mark.parametrize(
    "shape", [{}, {"n_covariates": 2, "intercept": True}, {"n_topics": 1, "n_outputs": 1}]
)
def test_draws_have_the_moments_of_the_conditional(shape, method, passes, chance):
    design, u, kappa, omega = problem(**shape)
    chance.holds(lambda seed, n: update_p_value(design, u, kappa, omega, seed, 3_000 * n, method, passes))


def update_p_value(design, u, kappa, omega, seed, n, method, passes):
    """Of updates that each start at an exact draw of the conditional, which they are to leave as it is."""
    rng, laws = np.random.default_rng([seed, 3]), []
    for c in range(kappa.shape[1]):
        precision = u.T @ (omega[:, [c]] * u) + np.diag(PRIOR.precision({}, c, columns(design)))
        laws.append((np.linalg.solve(precision, u.T @ kappa[:, c]), np.linalg.inv(precision)))
    drawn = np.stack([rng.multivariate_normal(*law, size=n) for law in laws], axis=1)
    for i, eta in enumerate(drawn):
        update(design, kappa, omega, eta, range(len(eta)), seed, i, method=method, passes=passes)
    return smallest([moments_p_value(drawn[:, c], *law) for c, law in enumerate(laws)])


def test_a_coordinate_pass_over_one_feature_is_the_joint_draw():
    design, _, kappa, omega = problem(n_topics=1, n_outputs=2)
    drawn = []
    for method in ("block", "coordinate"):
        eta = np.full((2, 1), 5.0)
        update(design, kappa, omega, eta, [0, 1], method=method)
        drawn.append(eta)
    np.testing.assert_allclose(drawn[0], drawn[1], rtol=1e-12)


@pytest.mark.parametrize("method", ["block", "coordinate"])
def test_bits_do_not_depend_on_the_grouping_or_on_threads(method):
    design, u, kappa, omega = problem(300, n_topics=90, n_outputs=GROUP + 5, n_covariates=1)
    start = np.random.default_rng(5).normal(size=(kappa.shape[1], u.shape[1]))
    partitions = (
        [list(range(13))],
        [[c] for c in range(13)],
        [[12, 0, 5], list(range(1, 5)), list(range(6, 12))],
    )
    results = []
    for partition in partitions:
        for threads in (1, 2):
            eta = start.copy()
            with threadpool_limits(threads, user_api="blas"):
                for outputs in partition:
                    update(design, kappa, omega, eta, outputs, sweep=4, method=method, passes=2)
            results.append(eta)
    for other in results[1:]:
        assert np.array_equal(results[0], other)


def test_streams_differ_by_seed_sweep_and_output():
    design, u, kappa, omega = problem(n_outputs=2)
    kappa[:, 1], omega[:, 1] = kappa[:, 0], omega[:, 0]
    seen = set()
    for seed, sweep in ((0, 0), (0, 1), (1, 0)):
        eta = np.zeros((2, u.shape[1]))
        update(design, kappa, omega, eta, [0, 1], seed, sweep)
        seen |= {eta[0].tobytes(), eta[1].tobytes()}
    assert len(seen) == 6


def test_only_the_outputs_asked_for_change():
    design, u, kappa, omega = problem(n_outputs=3)
    eta = np.full((3, u.shape[1]), 7.0)
    update(design, kappa, omega, eta, [1])
    assert (eta[[0, 2]] == 7.0).all() and (eta[1] != 7.0).all()


@pytest.mark.parametrize("method", ["block", "coordinate"])
def test_without_responses_or_without_tokens_the_prior_is_drawn(method):
    design, u, kappa, omega = problem(n_outputs=1)
    eta = np.zeros((1, u.shape[1]))
    update(design, 0 * kappa, 0 * omega, eta, [0], method=method)
    empty = Design(np.zeros(len(u) + 1, dtype=int), [], [], np.zeros(len(u)), 4)
    again = np.zeros((1, 4))
    update(empty, kappa, omega, again, [0], method=method)
    assert np.array_equal(eta, again) and np.isfinite(eta).all() and (eta != 0).all()


def test_topics_of_a_row_may_come_in_any_order():
    tidy = Design([0, 3, 5], [0, 2, 3, 1, 2], [1, 2, 3, 4, 5], [6, 9], 4)
    mixed = Design([0, 3, 5], [3, 0, 2, 2, 1], [3, 1, 2, 5, 4], [6, 9], 4)
    for name in ("columns", "values", "column_ptr", "column_documents", "column_positions", "column_values"):
        assert np.array_equal(getattr(tidy.topics, name), getattr(mixed.topics, name)), name


@pytest.mark.parametrize(
    "arguments, message",
    [
        (([0, 2], [1, 1], [1, 1], [2], 3), "twice"),
        (([0, 1], [3], [1], [1], 3), r"0\.\.2"),
        (([0, 2], [1], [1], [1], 3), "indptr"),
        (([0, 1], [1], [1, 2], [3], 3), "2 counts for 1"),
        (([0, 1], [1], [1], [1, 1], 3), "2 lengths for 1"),
        (([0, 1], [1], [1], [1], 3, np.ones((2, 1))), "covariates"),
    ],
)
def test_design_refuses_what_does_not_fit(arguments, message):
    with pytest.raises(ValueError, match=message):
        Design(*arguments)


@pytest.mark.parametrize("method", ["block", "coordinate"])
def test_huge_weights_and_unused_topics_stay_finite(method):
    design = Design([0, 1, 2, 3], [0, 0, 0], [3, 5, 2], [3, 5, 2], 3)
    omega = np.array([[1e18], [1e-18], [1.0]])
    eta = np.full((1, 3), 1e6)
    update(design, omega, omega, eta, [0], method=method, passes=3)
    assert np.isfinite(eta).all()
    assert abs(eta[0, 0] - 1.0) < 1e-6


def test_bad_numbers_are_named():
    design, u, kappa, omega = problem()
    eta = np.zeros((3, u.shape[1]))
    bad = omega.copy()
    bad[17, 2] = np.nan
    with pytest.raises(WeightError, match="output 2: omega of document 17 is nan"):
        update(design, kappa, bad, eta, [0, 2])
    with pytest.raises(WeightError, match=r"output 1: .*positive definite"):
        update(design, kappa, -1e3 * omega, eta, [1], method="block")
    assert (eta == 0).all()


def exactly(u, omega, kappa, prior):
    """Mean and covariance in rational numbers."""
    rational = np.vectorize(Fraction, otypes=[object])
    u, omega, kappa, prior = rational(u), rational(omega), rational(kappa), rational(prior)
    n = u.shape[1]
    precision = u.T @ (omega[:, None] * u) + rational(np.eye(n)) * prior
    rows = np.hstack([precision, (u.T @ kappa)[:, None], rational(np.eye(n))])
    for i in range(n):
        rows[i] /= rows[i, i]
        for k in range(n):
            if k != i:
                rows[k] -= rows[k, i] * rows[i]
    solved = rows[:, n:].astype(float)
    return solved[:, 0], solved[:, 1:]


SPREAD = 10.0 ** np.linspace(-16, 16, 6)


@pytest.mark.parametrize(
    "level, prior, orthogonal",
    [
        (1.0, np.ones(6), False),
        (1.0, SPREAD, False),
        (1e8, SPREAD[::-1], False),
        (1e4, np.full(6, 1e-2), False),
        (1e12, np.full(6, 1e-2), True),  # topics add up to the intercept: only the prior tells them apart
        (1e16, np.full(6, 1e-2), True),
        (1e6, np.full(6, 1e-12), True),
    ],
)
def test_draws_keep_the_digits_of_extreme_precisions(level, prior, orthogonal):
    rng = np.random.default_rng(8)
    counts = rng.multinomial(32, rng.dirichlet(np.ones(5)), size=25)
    u = np.hstack([counts / 32, np.ones((25, 1))])  # of powers of two, so that topics add up to 1 exactly
    omega = level * rng.gamma(1.0, size=25)
    omega[3] = 0.0
    kappa = omega * (u @ rng.normal(size=6)) + np.sqrt(omega) * rng.normal(size=25)
    kappa[3] = 2.0
    mean, covariance = exactly(u, omega, kappa, prior)
    deviation = np.sqrt(np.diag(covariance))
    factor = Factor(u.T @ (omega[:, None] * u), prior)
    assert (factor.pivot < SMALLEST_PIVOT) == orthogonal

    def draw(linear, noise):
        if orthogonal:
            pieces = [(u[:9], omega[:9], linear * kappa[:9]), (u[9:], omega[9:], linear * kappa[9:])]
            return draw_orthogonal(pieces, prior, noise)
        return factor.draw(linear * (u.T @ kappa), noise)

    assert (np.abs(draw(1.0, np.zeros(6)) - mean) < 1e-6 * deviation).all()
    root = np.array([draw(0.0, e) for e in np.eye(6)]).T
    assert (np.abs(root @ root.T - covariance) < 1e-6 * np.outer(deviation, deviation)).all()


@pytest.mark.parametrize("constant", [False, True])
def test_an_update_resolves_what_only_the_prior_determines(constant, chance):
    design, u, _, omega = problem(60, n_outputs=1, intercept=True)
    omega = np.full_like(omega, 1e14) if constant else 1e14 * omega
    omega[u[:, :4].sum(1) == 0] = 0.0  # without tokens, they would tell the intercept from the topics
    truth = np.random.default_rng(3).normal(size=u.shape[1])
    kappa = omega * (u @ truth)[:, None]
    prior = Normal(variance=4.0, intercept_variance=4.0)

    def p_value(seed, scale):
        eta, kept, n = np.zeros((1, 5)), [], 600 * scale
        for sweep in range(n):
            update_outputs(design, kappa, omega, eta, [0], prior, {}, columns(design), seed, sweep)
            kept.append(eta[0].copy())
        seen = u[omega[:, 0] > 0]
        np.testing.assert_allclose(seen @ np.array(kept).T, (seen @ truth)[:, None] + np.zeros(n), atol=1e-5)
        # The topics against the intercept: variance 4 on each of five weights, so 4 along the unit vector.
        along = np.array(kept) @ np.array([1, 1, 1, 1, -1]) / np.sqrt(5)
        return moments_p_value(along[:, None], np.zeros(1), np.full((1, 1), 4.0))

    chance.holds(p_value)


def test_methods():
    assert choose_method("auto", 20) == "block"
    assert choose_method("auto", 5_000) == "coordinate"
    assert choose_method("coordinate", 20) == "coordinate"
    with pytest.raises(ValueError, match="'gibbs'"):
        choose_method("gibbs", 3)
    design, _, kappa, omega = problem()
    with pytest.raises(ValueError, match="weight_passes"):
        update(design, kappa, omega, np.zeros((3, 4)), [0], passes=0)


def wide(n_documents=80, n_outputs=3, n_dense=1, n_sparse=5, seed=0, **options):
    """`problem` with sparse covariates after dense ones, all given as one sparse matrix."""
    _, _, kappa, omega = problem(n_documents, n_outputs=n_outputs, seed=seed)
    rng = np.random.default_rng(seed + 100)
    counts = rng.poisson(rng.gamma(0.5, 3.0, size=(n_documents, 4)))
    x = rng.normal(size=(n_documents, n_dense + n_sparse))
    x[:, ::2][rng.random(x[:, ::2].shape) < 0.8] = 0.0  # every second column is a rare one
    x[:, 1::2][rng.random(x[:, 1::2].shape) < 0.1] = 0.0
    rows = sparse.csr_array(counts)
    design = Design(
        rows.indptr, rows.indices, rows.data, counts.sum(1), 4, sparse.csr_array(x), intercept=True
    )
    lengths = counts.sum(1, keepdims=True)
    z = np.divide(counts, lengths, out=np.zeros(counts.shape), where=lengths > 0)
    return design, np.hstack([z, x, np.ones((n_documents, 1))]), kappa, omega


def test_sparse_covariates_keep_their_place_among_the_columns():
    design, u, kappa, omega = wide()
    assert design.single.tolist() == [4, 6, 8]
    assert design.joint.tolist() == [0, 1, 2, 3, 5, 7, 9, 10]
    eta = np.random.default_rng(1).normal(size=(11, u.shape[1]))
    np.testing.assert_allclose(design.predictor(eta), u @ eta.T, rtol=1e-12, atol=1e-12)
    joined = design.joined()
    np.testing.assert_allclose(joined.predictor(eta), u @ eta.T, rtol=1e-12, atol=1e-12)
    precision, _ = gram(joined, kappa, omega, [0])
    expected = (u.T @ (omega[:, [0]] * u))[np.ix_(joined.joint, joined.joint)]
    np.testing.assert_allclose(np.triu(precision[:, :, 0]), np.triu(expected), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("covariates", [sparse.csc_array, sparse.coo_matrix, np.asarray])
def test_covariates_of_any_kind_give_the_same_predictor(covariates):
    x = np.array([[0.0, 2.0], [1.0, 3.0], [0.0, -1.0]])
    design = Design([0, 1, 2, 3], [0, 1, 0], [1, 1, 1], [1, 1, 1], 2, covariates(x), intercept=True)
    eta = np.array([[1.0, 2.0, 10.0, 100.0, 1000.0]])
    assert design.predictor(eta).ravel().tolist() == [1201.0, 1312.0, 901.0]


def test_covariates_that_are_not_finite_are_refused():
    for kind in (np.asarray, sparse.csr_array):
        with pytest.raises(ValueError, match="finite"):
            Design([0, 1], [0], [1], [1], 1, kind(np.array([[np.nan]])))


@pytest.mark.parametrize("method, passes", [("block", 1), ("mixed", 3), ("coordinate", 8)])
@pytest.mark.parametrize("constant", [False, True])
def test_draws_with_sparse_covariates_have_the_moments_of_the_conditional(method, passes, constant, chance):
    design, u, kappa, omega = wide(n_outputs=2)
    if constant:
        omega = np.where(omega > 0, [0.7, 2.0], 0.0)
    chance.holds(lambda seed, n: update_p_value(design, u, kappa, omega, seed, 2_400 * n, method, passes))


@pytest.mark.parametrize("method", ["block", "mixed", "coordinate"])
def test_bits_do_not_depend_on_the_grouping_with_sparse_covariates_and_shared_matrices(method):
    design, u, kappa, omega = wide(200, n_outputs=13, n_sparse=20)
    omega[:, 2:9] = np.where(omega[:, 2:9] > 0, 0.3, 0.0)
    omega[:, 5:8] = 1.7
    start = np.random.default_rng(5).normal(size=(13, u.shape[1]))
    results = []
    for partition in ([list(range(13))], [[c] for c in range(13)], [[12, 0, 5], [1, 2, 3, 4], range(6, 12)]):
        design, *_ = wide(200, n_outputs=13, n_sparse=20)  # nothing kept from before
        eta = start.copy()
        for outputs in partition:
            update(design, kappa, omega, eta, list(outputs), sweep=4, method=method, passes=2)
        results.append(eta)
    assert np.array_equal(results[0], results[1]) and np.array_equal(results[0], results[2])


def test_outputs_observed_on_the_same_documents_share_a_gram_matrix_and_a_factor(monkeypatch):
    calls = {"gram": 0, "factor": 0}
    gram_of, factor_of = weights._gram, weights.Factor

    def count(name, function):
        def counted(*arguments):
            calls[name] += 1
            return function(*arguments)

        return counted

    monkeypatch.setattr(weights, "_gram", count("gram", gram_of))
    monkeypatch.setattr(weights, "Factor", count("factor", factor_of))
    design, u, kappa, omega = problem(n_outputs=20)
    for level, expected in ((np.ones(20), 1), (np.linspace(1.1, 2, 20), 20)):
        calls["factor"] = 0
        eta = np.zeros((20, u.shape[1]))
        update(design, kappa, np.broadcast_to(level, omega.shape), eta, range(20))
        assert calls == {"gram": 1, "factor": expected}  # the design has kept the matrix
    eta, pattern = np.zeros((20, u.shape[1])), omega > 0
    update(design, kappa, np.where(pattern, 1.0, 0.0), eta, range(20))
    assert calls["gram"] == 4  # a pattern an output
    update(design, kappa, omega, eta, range(20))
    assert calls["gram"] == 7


def test_auto_draws_the_rest_jointly_beside_many_sparse_covariates():
    assert choose_method("auto", 120, 280) == "block"
    assert choose_method("auto", 120, 281) == "mixed"
    assert choose_method("auto", 401, 50_000) == "coordinate"
    design, u, kappa, omega = wide(60, n_outputs=1, n_sparse=900)
    drawn = []
    for method in ("auto", "mixed"):
        eta = np.zeros((1, u.shape[1]))
        update(design, kappa, omega, eta, [0], method=method)
        drawn.append(eta)
    # 450 of the columns are dense, so all are passed over one by one
    update(design, kappa, omega, drawn[1], [0], method="coordinate")
    assert np.isfinite(drawn).all() and choose_method("auto", len(design.joint), 450) == "coordinate"


def test_a_joint_draw_beyond_the_memory_is_refused(monkeypatch):
    design, _, kappa, omega = problem()
    monkeypatch.setattr(weights, "available_bytes", lambda: 1000)
    update(design, kappa, omega, np.zeros((3, 4)), [0], method="block")  # so little is not asked after
    monkeypatch.setattr(weights, "LITTLE", 0)
    with pytest.raises(ValueError, match=r'a joint draw of 4 weights takes .* take "coordinate" or "auto"'):
        update(design, kappa, omega, np.zeros((3, 4)), [0], method="block")
