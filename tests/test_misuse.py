"""What Python callers can get wrong: an exact error, and nothing changed."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import plugsamp as ps
import plugsamp.errors
from plugsamp.checks import whole
from plugsamp.losses.coding import code_classes
from plugsamp.prediction.perplexity import left_to_right

NAN, INF = float("nan"), float("inf")
X = np.array([[3, 0, 1], [0, 2, 2], [1, 1, 0], [0, 3, 1]])


@pytest.fixture
def corpus():
    return ps.Corpus.from_counts(X, responses=["a", "b", "a", "b"])


@pytest.fixture
def chain(corpus):
    return ps.Chain(corpus, ps.Model(2, loss="hinge"), seed=0).run(1)


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3), 3.0, np.float32(3)])
def test_whole_numbers_of_any_type(value):
    assert whole("n", value) == 3 and type(whole("n", value)) is int


def test_a_seed_has_no_size(corpus):
    assert whole("seed", 2**2000, most=None) == 2**2000
    assert ps.Chain(corpus, ps.Model(2, loss="none"), seed=2**2000).seed == 2**2000


@pytest.mark.parametrize("value", [2**31, 2**40, 10**5000], ids=["31", "40", "longer"])
def test_what_no_c_integer_holds(corpus, value):
    predictor = ps.fit(corpus, ps.Model(2, loss="hinge"), sweeps=2)
    for name, call in {
        "batch": lambda: ps.kernels.FastLDA(batch=value),
        "steps": lambda: ps.kernels.ComposedMH(steps=value),
        "workers": lambda: ps.backends.Processes(workers=value),
        "sweeps": lambda: ps.fit(corpus, sweeps=value),
        "thin": lambda: ps.fit(corpus, thin=value),
        "weight_passes": lambda: ps.Chain(corpus, ps.Model(2, loss="none"), weight_passes=value),
        "passes": lambda: predictor.with_options(passes=value),
        "restarts": lambda: predictor.with_options(restarts=value),
        "particles": lambda: left_to_right(predictor, corpus, value // 4),
    }.items():
        with pytest.raises(
            ValueError, match=rf"{name} must be from [01] to [\d,]+, not (a number of )?[\d.]+( bits)?$"
        ):
            call()


@pytest.mark.parametrize("value", ["3", None, NAN, INF, -INF, 2.5, True, np.True_, [3], 1j, -1])
def test_what_is_no_whole_number(corpus, value):
    with pytest.raises(ValueError, match="n must be a whole number, 0 or more, not"):
        whole("n", value)
    with pytest.raises(ValueError, match="n_topics must be"):
        ps.Model(value)
    with pytest.raises(ValueError, match="seed must be a whole number"):
        ps.Chain(corpus, ps.Model(2), seed=value)
    with pytest.raises(ValueError, match="sweeps must be a whole number"):
        ps.fit(corpus, ps.Model(2), sweeps=value)
    with pytest.raises(ValueError, match="weight_passes must be a whole number"):
        ps.Chain(corpus, ps.Model(2), weight_passes=value)


@pytest.mark.parametrize("name", ["intercept", "standardise"])
def test_switches_are_true_or_false(name):
    for value in ("no", 1, 0.0):
        with pytest.raises(TypeError, match=f"{name} must be True"):
            ps.Model(2, **{name: value})


@pytest.mark.parametrize("name", ["alpha", "beta"])
@pytest.mark.parametrize("value", ["0.1", None, [1, "a"], 1j, True, [[1], [1, 2]]])
def test_priors_that_are_no_numbers(name, value):
    with pytest.raises(TypeError, match=f"{name} must be a number or a vector of numbers"):
        ps.Model(2, **{name: value})


@pytest.mark.parametrize("value", [1e-7, 0, -1, NAN, INF, 1e10, [1, NAN], [1, 1e300]])
def test_priors_out_of_range(value):
    with pytest.raises(ValueError, match=r"alpha must be 1e.* everywhere, found"):
        ps.Model(2, alpha=value)


@pytest.mark.parametrize("kernel", ["dense", "composed"])
@pytest.mark.parametrize("collapse", ["full", "partial"])
@pytest.mark.parametrize("alpha", [1e-6, 1e9])
@pytest.mark.parametrize("beta", [1e-6, 1e9])
def test_priors_at_the_ends_of_their_range(corpus, kernel, collapse, alpha, beta):
    made = ps.registry.resolve("kernels", kernel, collapse=collapse)
    chain = ps.Chain(corpus, ps.Model(2, alpha, beta, loss="hinge"), made).run(20)
    assert all(np.isfinite(v) for v in chain.log_joint().values())
    if alpha == beta == 1e9:  # the prior alone speaks: topics are tossed anew, none is stuck
        drawn = [chain.run(1).z.sum() for _ in range(60)]
        assert 0.4 < np.mean(drawn) / corpus.n_tokens < 0.6


@pytest.mark.parametrize(
    "name, value",
    [
        ("loss", 3),
        ("loss", ps.losses.Hinge),
        ("loss", ps.priors.Normal()),
        ("weights", ps.losses.Hinge()),
        ("intercept", "yes"),
        ("intercept", 1),
    ],
    ids=lambda v: v if v in ("loss", "weights", "intercept") else type(v).__name__,
)
def test_parts_of_a_model_of_another_kind(name, value):
    with pytest.raises(TypeError, match=f"{name} must be") as caught:
        ps.Model(2, **{name: value})
    if name != "intercept":
        base = {"loss": "losses.Loss", "weights": "priors.WeightPrior"}[name]
        assert f"must be a plugsamp.{base} or a name, not" in str(caught.value)
        kind = value if isinstance(value, type) else type(value)
        assert str(caught.value).partition(", which does")[0].find(kind.__name__) > 0


def test_arguments_of_another_kind(corpus, tmp_path):
    model = ps.Model(2, loss="hinge")
    for wrong in (X, "corpus.jsonl", ["a b"], None):
        with pytest.raises(TypeError, match="corpus must be a Corpus"):
            ps.Chain(wrong, model)
        with pytest.raises(TypeError, match="corpus must be a Corpus"):
            ps.fit(wrong)
    with pytest.raises(TypeError, match="model must be a Model, not int"):
        ps.Chain(corpus, 2)
    for wrong in (3, None, ps.kernels.Dense):
        with pytest.raises(
            TypeError,
            match=r"kernel must be a plugsamp\.kernels\.Kernel or a name, not .*(int|NoneType|dense\.Dense)$",
        ):
            ps.Chain(corpus, model, wrong)
    with pytest.raises(TypeError, match=r"backend must be a plugsamp\.backends\.Backend or a name, not int"):
        ps.Chain(corpus, model, backend=3)
    result = ps.fit(corpus, model, sweeps=2)
    for wrong in (X, None, ["a"]):
        with pytest.raises(TypeError, match=r"must be a plugsamp\.Corpus"):
            result.parts[0].predict(wrong)
    with pytest.raises(TypeError, match="Posterior is saved"):
        ps.save_model(tmp_path / "m", corpus)
    with pytest.raises(ps.InputError, match="not one string"):
        corpus.with_vocabulary("w0")


@pytest.mark.parametrize(
    "z",
    [[0], [0.5] * 14, [NAN] * 14, [True] * 14, ["a"] * 14, [None] * 14, [2] * 14, [-1] * 14, [2**40] * 14, 0,
     [[0], [1, 1]], [INF] * 14],
    ids=lambda z: str(z)[:12],
)  # fmt: skip
def test_topics_that_are_none_change_nothing(corpus, chain, z):
    before = chain.z
    with pytest.raises(ValueError, match=r"\bz must"):
        chain.set_state(z=z)
    assert (chain.z == before).all()
    with pytest.raises(ValueError, match=r"\bz must"):
        ps.Chain(corpus, ps.Model(2, loss="hinge"), init=z)


@pytest.mark.parametrize("eta", [[1], [[NAN, 1]], [[INF, 1]], [[1e300, 1]], [["a", "b"]], [[1j, 2]]], ids=str)
def test_weights_that_are_none_change_nothing(chain, eta):
    z, before = chain.z, chain.eta
    with pytest.raises(ValueError, match="eta must"):
        chain.set_state(z=1 - z, eta=eta)
    assert (chain.eta == before).all() and (chain.z == z).all()


def test_whole_numbers_as_floats_are_topics(chain):
    chain.set_state(z=np.arange(14) % 2 * 1.0)
    assert chain.z.tolist() == [0, 1] * 7


@pytest.mark.parametrize("labels", [[True, 1, False, 0], [1, True, 2, 2], [True, "True", False, False]])
def test_labels_of_two_types_are_not_made_one(labels):
    # True == 1: sorting alone would merge the classes.
    values = np.empty(4, dtype=object)
    values[:] = labels
    with pytest.raises(ValueError, match="labels must be of one type, found bool and"):
        code_classes(values)


def test_labels_that_a_model_cannot_keep_are_refused_before_sampling():
    pd = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match=r"of type Interval; .* makes texts of them"):
        code_classes(pd.cut(np.arange(4), 2))
    assert len(code_classes(pd.cut(np.arange(4), 2).astype(str)).classes) == 2


def test_real_numbers_taken_as_classes_are_told():
    with pytest.warns(ps.errors.InputWarning, match=r"3 different real numbers, such as 0\.5, .* a class"):
        assert code_classes(np.array([0.5, 1.5, NAN, 2.0])).classes.tolist() == [0.5, 1.5, 2.0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert code_classes(np.array([1.0, 2.0, NAN, 2.0])).classes.tolist() == [1.0, 2.0]
        assert len(code_classes(["1.0", "2.0"]).classes) == 2
        assert len(code_classes(["1.0", "2.0", "good"]).classes) == 3


def test_ratings_taken_as_classes_are_told(caplog):
    with pytest.warns(ps.errors.InputWarning, match=r"3 .* such as '3.0', .*; loss=gaussian takes them"):
        code_classes(["4.0", "5.0", "3.0", None])
    with caplog.at_level("INFO"):
        code_classes(np.array([4, 5, 3]))
        code_classes(["4", "5", "3"])
    [record] = caplog.records
    assert record.getMessage().startswith("the responses are 3 different numbers, such as '3'")


def test_indicators_that_are_text():
    with pytest.raises(ValueError, match=r"multi-label .* row 0, column 1 holds '1'"):
        code_classes(np.array([[0, "1"], [1, 0]], dtype=object))
    with pytest.raises(ValueError, match="row 0, column 0 holds 'a'"):
        code_classes(np.array([["a", "b"], ["a", "b"]]))
    table = np.array([[0, None], [1, NAN], [True, 1.0]], dtype=object)
    np.testing.assert_array_equal(code_classes(table).y, [[-1, NAN], [1, NAN], [1, 1]])


def test_responses_left_aside_are_said_unless_that_was_asked_for(corpus):
    with pytest.warns(plugsamp.errors.InputWarning, match='pass loss="hinge"'):
        ps.Chain(corpus, ps.Model(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ps.Chain(corpus, ps.Model(2, loss="none"))
        ps.Chain(corpus, ps.Model(2, loss="hinge"))
        ps.Chain(ps.Corpus.from_counts(X), ps.Model(2))
