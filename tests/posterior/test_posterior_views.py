"""Pictures, effects and data for other viewers, of one chain, of several, and of a model a class."""

import numpy as np
import pytest

import plugsamp as ps
from plugsamp.errors import InputError

pytest.importorskip("matplotlib")

WORDS = ("orbit", "rocket", "moon", "bread", "butter", "soup")


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(0)
    food = np.repeat([0, 1, 0, 1, 2, 2], 10)
    phi = np.array([[3, 3, 3, 0.2, 0.2, 0.2], [0.2, 0.2, 0.2, 3, 3, 3], [1, 1, 1, 1, 1, 1]])
    labels = np.array(["space", "food", "both"])[food]
    fields = {"kind": labels, "year": rng.integers(1990, 2000, 60)}
    return ps.Corpus.from_counts(rng.poisson(phi[food]), labels, WORDS, fields=fields)


@pytest.fixture(scope="module", params=["one", "chains", "ovr"])
def fitted(request, corpus):
    more = {"one": {}, "chains": {"chains": 2}, "ovr": {"multiclass": "ovr"}}[request.param]
    posterior = ps.fit(corpus, ps.Model(3, loss="logistic"), sweeps=20, thin=2, **more)
    return posterior, ({"part": "food"} if request.param == "ovr" else {})


@pytest.fixture
def ax():
    from matplotlib.figure import Figure

    return Figure().subplots()


@pytest.mark.parametrize(
    "kind, options, label",
    [
        ("topics", {}, "share of the tokens"),
        ("words", {"topic": 1}, "probability"),
        ("weights", {}, None),
        ("trace", {}, "sweep"),
        ("confusion", {}, "predicted"),
        ("effects", {"fields": ["kind", "year"], "term": "year"}, "effect of year on the topic's proportion"),
    ],
)
def test_every_picture(fitted, ax, kind, options, label):
    posterior, part = fitted
    options = options | ({} if kind in ("trace", "confusion") else part)
    assert posterior.plot(kind, ax=ax, **options) is ax
    assert label is None or ax.get_xlabel() == label
    ax.figure.canvas.draw()


def test_topics_are_called_by_name_or_words(fitted, ax):
    posterior, part = fitted
    key = posterior._one(part.get("part")).key(1)
    posterior.names = {key: "dinner"}
    labels = posterior.effects("year", **part)["label"]
    posterior.names = {}
    assert labels[2] == "dinner" and labels[0].startswith("0 ")
    assert set(labels[0].split()[1:]) <= set(WORDS)


def test_what_other_viewers_take(fitted, corpus):
    posterior, part = fitted
    found = posterior.to_pyldavis(**part)
    np.testing.assert_allclose(found["doc_topic_dists"].sum(axis=1), 1)
    assert found["topic_term_dists"].shape == (3, 6) and found["vocab"] == list(WORDS)
    found = posterior.topicwizard(corpus.take(range(5)), texts=list("abcde"), **part)
    assert found["document_topic_matrix"].shape == (5, 3) and found["corpus"] == list("abcde")
    np.testing.assert_allclose(found["document_topic_matrix"].sum(axis=1), 1)


def test_a_model_a_class_asks_which(fitted):
    posterior, part = fitted
    if not part:
        pytest.skip("the topics of one model, or of the first chain, are shown")
    for show in (posterior.to_pyldavis, posterior.topicwizard, lambda: posterior.effects("year")):
        with pytest.raises(InputError, match=r"each model has topics of its own: give part="):
            show()
