"""Options, responses and features at the ends of their ranges: refused by name, or finite."""

import json

import numpy as np
import pytest

import plugsamp as ps
from plugsamp import state
from plugsamp.covariates.options import Covariates
from plugsamp.files import storage
from plugsamp.files.storage import StorageError
from plugsamp.fitting.second_step import SecondStep
from plugsamp.losses import EpsilonInsensitive, Gaussian, Hinge, Logistic, Probit
from plugsamp.losses.base import BoundLoss
from plugsamp.losses.coding import Coding, code_real
from plugsamp.posterior.saved import load_model, save_model
from plugsamp.prediction.combine import _normalised
from plugsamp.prediction.predictive import _quantile
from plugsamp.priors import Horseshoe, Normal
from plugsamp.regression.response_weights import response_weights
from plugsamp.system.arena import Arena
from plugsamp.units import mean_and_deviation

COUNTS = np.array([[3, 0, 1], [0, 2, 2], [1, 1, 0], [0, 1, 3]])


@pytest.mark.parametrize("value", ["x", None, [1.0], True, np.nan, 1j])
@pytest.mark.parametrize(
    ("cls", "option"),
    [
        (Hinge, "cost"), (Hinge, "margin"), (EpsilonInsensitive, "cost"), (EpsilonInsensitive, "epsilon"),
        (Logistic, "cost"), (Gaussian, "variance"), (Gaussian, "shape"), (Gaussian, "rate"),
        (Normal, "intercept_variance"), (Horseshoe, "global_scale"),
        (Horseshoe, "intercept_variance"), (SecondStep, "cost"), (SecondStep, "sweeps"),
    ],
)  # fmt: skip
def test_an_option_that_is_no_number_is_refused_by_its_name(cls, option, value):
    with pytest.raises(ValueError, match=f"{option} must be "):
        cls(**{option: value})


@pytest.mark.parametrize("value", ["x", None, True, np.nan])
def test_a_class_weight_that_is_no_number_is_refused_by_its_class(value):
    coding = Hinge().code(np.array(["a", "b"]))
    with pytest.raises(ValueError, match="class_weight of 'a' must be 0 or from"):
        response_weights(None, {"a": value}, coding)


@pytest.mark.parametrize("value", [1e300, -1.7e308, 10**400, 10**9000], ids=["e300", "max", "int", "longer"])
def test_responses_too_large_for_their_squares_are_refused(value):
    with pytest.raises(ValueError, match=r"size 1e\+30 at most, and document 1 has [-1a]") as caught:
        code_real(np.array([1.0, value], dtype=object))
    assert len(str(caught.value)) < 200


def test_a_complex_response_does_not_lose_its_imaginary_part():
    with pytest.raises(ValueError, match=r"document 0 has \(1\+2j\)"):
        code_real(np.array([1 + 2j, 3]))


def test_the_spread_of_equal_numbers_is_not_their_rounding_error():
    assert mean_and_deviation([0.1] * 12) == (0.1, 1.0)
    assert mean_and_deviation([1e12 / 3] * 7) == (1e12 / 3, 1.0)
    coding = code_real(np.full(12, 0.1)).standardised()
    assert (coding.y == 0).all() and (coding.scale == 1).all()


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e200, 1e307])
def test_the_spread_of_numbers_whose_squares_leave_the_range(size):
    mean, deviation = mean_and_deviation(np.array([-1.0, 3.0]) * size)
    assert mean == pytest.approx(size) and deviation == pytest.approx(2 * size)


@pytest.mark.parametrize("dense", [True, False])
def test_a_covariate_too_large_for_its_square_is_refused(dense):
    from scipy import sparse

    x = np.array([[1.0], [1e200], [0.0], [2.0]])
    with pytest.raises(ValueError, match=r"covariate 1e\+200 at row 1, column 0 is larger than 1e\+30"):
        ps.Corpus.from_counts(COUNTS, covariates=x if dense else sparse.csr_array(x))


@pytest.mark.parametrize("values", [[1, 1e31, 2, 3], np.array([1, 1e31, 2, 3]), ["1", "1e31", "2", "3"]])
def test_a_number_too_large_in_a_column_is_refused(values):
    corpus = ps.Corpus.from_counts(COUNTS, fields={"size": values})
    with pytest.raises(ValueError, match=r"column 'size' of document '1' holds .*larger than 1e\+30"):
        Covariates(numeric="size").fit(corpus)


@pytest.mark.parametrize("f", [[1e200, 1e300, -1e300], [-1e200, -1e300, -1e160], [1e200, 1e300, 1e160]])
def test_probit_probabilities_far_out(f):
    coding = Probit().code(np.array(["a", "b", "c"]))
    p = Probit().probabilities(np.array([f]), coding)
    assert np.isfinite(p).all() and p.sum() == pytest.approx(1)


def test_probabilities_of_models_that_all_refuse_a_document():
    coding = Coding(np.empty((0, 3)), "multiclass", np.array(["a", "b", "c"], dtype=object))
    member = Logistic().code(np.array([False, True]))
    f = [-900.0, -901.0, -2000.0]
    parts = [_Part(np.array([[v]]), Logistic().probabilities(np.array([[v]]), member)) for v in f]
    p = _normalised(parts, coding)
    assert p[0] == pytest.approx([1 / (1 + np.exp(-1)), 1 / (1 + np.exp(1)), 0])


class _Part:
    def __init__(self, f, probabilities):
        self.f, self.probabilities = f, probabilities


@pytest.mark.parametrize(("center", "deviation"), [(1e12, 1.0), (1e16, 1.0), (0.0, 1e-13), (5.0, 1e12)])
def test_a_quantile_is_found_at_any_scale(center, deviation):
    bound = BoundLoss(Gaussian(variance=deviation**2))
    f = np.full((4, 1, 1), center)
    found = _quantile([(bound, f)], 0.95, count=False)[0, 0]
    expected = center + 1.6448536269514722 * deviation
    assert found == pytest.approx(expected, rel=1e-15, abs=1e-8 * deviation)


def test_a_quantile_does_not_depend_on_the_rest_of_the_batch():
    bound = BoundLoss(Gaussian(variance=2.0))
    f = np.array([0.3, 1e9, -4.0]).reshape(1, 3, 1)
    together = _quantile([(bound, f)], 0.9, count=False)
    for i in range(3):
        assert _quantile([(bound, f[:, i : i + 1])], 0.9, count=False)[0, 0] == together[i, 0]


@pytest.mark.parametrize("level", ["x", None, True, [0.5], np.nan, 0, 1])
def test_a_level_that_is_none(level):
    corpus = ps.Corpus.from_counts(COUNTS, responses=[1.0, 2.0, 3.0, 4.0])
    predictor = ps.fit(corpus, ps.Model(2, loss="gaussian"), sweeps=2)
    with pytest.raises(ValueError, match="level must lie between 0 and 1"):
        predictor.predict(corpus).interval(level)


@pytest.mark.parametrize("scheme", ["ovr", "ovo"])
def test_separate_models_of_real_responses_are_refused(scheme):
    corpus = ps.Corpus.from_counts(COUNTS, responses=[1.5, 2.5, 3.5, 4.5])
    with pytest.raises(ValueError, match=f"multiclass={scheme} is for classes, and Gaussian"):
        ps.fit(corpus, ps.Model(2, loss="gaussian"), sweeps=2, multiclass=scheme)


@pytest.mark.parametrize(
    ("loss", "regression", "weights", "message"),
    [
        ("hinge", "ridge", None, "regression=ridge does not fit binary"),
        ("gaussian", "linear_svc", None, "regression=linear_svc does not fit real"),
        ("probit", "same", [2, 1, 1, 1], "takes no weights"),
    ],
)
def test_a_second_step_that_cannot_be_is_refused_before_the_first(loss, regression, weights, message):
    corpus = ps.Corpus.from_counts(COUNTS, responses=[1.0, 2.0, 1.0, 2.0], weights=weights)
    swept = []
    with pytest.raises(ValueError, match=message):
        ps.fit(
            corpus, ps.Model(2, loss=loss), sweeps=2, supervised="two_step",
            second_step=SecondStep(regression), observers=[swept.append],
        )  # fmt: skip
    assert not swept


@pytest.mark.parametrize(
    ("regression", "loss"), [("linear_svc", "hinge"), ("logistic_regression", "hinge"), ("ridge", "gaussian")]
)
@pytest.mark.parametrize("weights", [[0, 0, 1, 0], [0, 1, 1, 1]])
def test_responses_of_weight_zero_are_left_aside_in_the_second_step(regression, loss, weights, capfd):
    labels = [1.0, 2.0, 1.0, 2.0]
    step = {"supervised": "two_step", "second_step": SecondStep(regression), "sweeps": 2}
    corpus = ps.Corpus.from_counts(COUNTS, responses=labels, weights=weights)
    predictor = ps.fit(corpus, ps.Model(2, loss=loss), **step)
    assert np.isfinite(predictor.eta).all()
    assert "WARNING" not in "".join(capfd.readouterr())
    if sum(weights) == 3:
        missing = corpus.with_responses([None, *labels[1:]]).with_weights(None)
        assert np.array_equal(ps.fit(missing, ps.Model(2, loss=loss), **step).eta, predictor.eta)


def _nodes(value, path=()):
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(min(2, len(value))):
            yield (*path, key)
            yield from _nodes(value[key], (*path, key))


@pytest.mark.parametrize("wrong", ["absent", None, "x", -1, [], {}], ids=repr)
@pytest.mark.parametrize("scheme", ["multitask", "ovr"])
def test_a_foreign_manifest_with_right_digests_is_refused_or_makes_the_same_model(tmp_path, scheme, wrong):
    corpus = ps.Corpus.from_counts(COUNTS, responses=["a", "b", "c", "a"])
    predictor = ps.fit(corpus, ps.Model(2, loss="logistic"), sweeps=2, multiclass=scheme)
    file = save_model(tmp_path / "model", predictor) / "manifest.json"
    text = file.read_text()
    refused = 0
    for path in [p for p in _nodes(json.loads(text)) if p[0] == "content"]:
        manifest = json.loads(text)
        *inner, last = path
        place = manifest
        for key in inner:
            place = place[key]
        if wrong == "absent":
            del place[last]
        else:
            place[last] = wrong
        del manifest["sha256"]
        manifest["sha256"] = storage._digest_of(manifest)
        file.write_text(json.dumps(manifest))
        try:
            loaded = load_model(file.parent)
        except StorageError as error:
            refused += 1
            assert "\n" not in str(error)
        else:
            assert loaded.digest == predictor.digest
    assert refused > 10


def test_memory_that_cannot_be_had_is_named_with_its_size():
    with pytest.raises(
        MemoryError, match=r"may not take the [\d.]+ GB of topic_word \(1,125,899,906,842,624 x 16\)"
    ):
        Arena().array("topic_word", (1 << 50, 16), np.int32)


def test_large_tables_are_said_before_they_are_made(monkeypatch, caplog):
    monkeypatch.setattr(state, "LARGE", 1000)
    caplog.set_level("INFO", "plugsamp")
    corpus = ps.Corpus.from_counts(np.ones((2, 50), int))
    ps.Chain(corpus, ps.Model(20, loss="none"), "sparse_pc")
    (line,) = (record.message for record in caplog.records if "words x" in record.message)
    assert line.startswith("50 words x 20 topics") and "and the topics" in line
