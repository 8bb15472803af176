"""The classifier that searches for its settings."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import plugsamp as ps
from plugsamp.tuning.settings import with_setting

COMMON = {"sweeps": 18, "weights": ps.priors.Normal(1.0), "random_state": 0}
OPTIONS = {"grid": {"cost": [1e-9, 10.0], "n_topics": [2, 3]}} | COMMON


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    late = np.arange(60) % 3 == 2
    X = rng.poisson(np.where(late[:, None], [0.1, 1, 1, 5], [5, 1, 1, 0.1]))
    return X, np.where(late, "late", "early")


def test_the_best_setting_is_fitted_to_all_documents(data):
    X, y = data
    model = ps.SupervisedTopicClassifierCV(2, **OPTIONS).fit(X, y)
    assert model.best_params_["cost"] == 10.0 and model.best_score_ > 0.8 and model.score(X, y) > 0.9
    assert len(model.search_.table) == 4
    assert model.transform(X).shape == (60, model.best_params_["n_topics"])
    assert len(model.get_feature_names_out()) == model.best_params_["n_topics"]
    best = with_setting(ps.Model(2, loss="hinge", weights=ps.priors.Normal(1.0)), model.best_params_)
    plain = ps.SupervisedTopicClassifier(best.n_topics, loss=best.loss, **COMMON).fit(X, y)
    assert plain.posterior_.digest == model.posterior_.digest


def test_parameters_are_those_of_both(data):
    model = ps.SupervisedTopicClassifierCV(2, cv=2, loss="logistic", sweeps=4, settings=2, random_state=0)
    assert clone(model).get_params() == model.get_params()
    assert {"cv", "grid", "loss", "n_topics", "thin"} <= set(model.get_params())
    assert "cv=2" in repr(model) and "loss='logistic'" in repr(model)
    assert len(model.fit(*data).search_.table) == 2
    assert model.predict_proba(data[0]).shape == (60, 2)
    with pytest.raises(TypeError, match="swepes"):
        ps.SupervisedTopicClassifierCV(swepes=3)


def test_a_chain_goes_on_with_its_setting(data):
    model = ps.SupervisedTopicClassifierCV(2, warm_start=True, **OPTIONS).fit(*data)
    best = dict(model.best_params_)
    assert model.fit(*data).best_params_ == best and model.n_iter_ == 36


@pytest.mark.parametrize(
    ("options", "message"),
    [({"cv": 1}, "cv must be None"), ({"validation_fraction": 0}, "validation_fraction must be a share")],
)
def test_mistakes_are_told_by_the_names_of_parameters(data, options, message):
    with pytest.raises(ValueError, match=message):
        ps.SupervisedTopicClassifierCV(2, **OPTIONS | options).fit(*data)
