"""Topics for pyLDAvis and topicwizard: what they take, and that they take it."""

import numpy as np
import pytest

from plugsamp.errors import InputError
from plugsamp.posterior.viewers import pyldavis_data, topicwizard_data

WORDS = [f"w{i}" for i in range(40)]


@pytest.fixture
def parts():
    rng = np.random.default_rng(0)
    phi, theta = rng.dirichlet(np.full(40, 0.1), 5), rng.dirichlet(np.full(5, 0.5), 30)
    counts = np.array([rng.multinomial(50, t @ phi) for t in theta])
    counts[3], counts[:, 7] = 0, 0
    return phi, theta, counts


def test_what_pyldavis_is_given(parts):
    phi, theta, counts = parts
    found = pyldavis_data(phi, theta, counts, WORDS)
    used = np.flatnonzero(counts.sum(axis=0))
    assert found["vocab"] == [WORDS[w] for w in used] and "w7" not in found["vocab"]
    np.testing.assert_array_equal(found["term_frequency"], counts.sum(axis=0)[used])
    np.testing.assert_array_equal(found["doc_lengths"], np.delete(counts.sum(axis=1), 3))
    np.testing.assert_allclose(found["topic_term_dists"].sum(axis=1), 1)
    assert found["doc_topic_dists"].shape == (29, 5)
    with pytest.raises(InputError, match="no document has a word"):
        pyldavis_data(phi, theta, 0 * counts, WORDS)


def test_pyldavis_takes_it(parts):
    pyldavis = pytest.importorskip("pyLDAvis", reason="pyLDAvis is not installed")
    prepared = pyldavis.prepare(**pyldavis_data(*parts, WORDS), n_jobs=1)
    assert prepared.topic_coordinates.topics.tolist() == [0, 1, 2, 3, 4]  # our numbers
    shares = parts[2].sum(axis=1) @ parts[1]
    np.testing.assert_allclose(prepared.topic_coordinates.Freq, 100 * shares / shares.sum())
    assert "ldavis" in pyldavis.prepared_data_to_html(prepared)


def test_what_topicwizard_is_given(parts):
    found = topicwizard_data(*parts, WORDS, list("abcde"))
    assert found["corpus"][3] == "" and found["topic_names"] == list("abcde")
    words, times = np.unique(found["corpus"][0].split(), return_counts=True)
    assert dict(zip(words, times, strict=True)) == {
        WORDS[w]: n for w, n in enumerate(parts[2][0]) if n
    }  # fmt: skip
    assert topicwizard_data(*parts, WORDS, list("abcde"), ["x"] * 30)["corpus"][0] == "x"
    with pytest.raises(InputError, match="29 texts were given for 30 documents"):
        topicwizard_data(*parts, WORDS, list("abcde"), ["x"] * 29)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning", "ignore::FutureWarning")
def test_topicwizard_takes_it(parts):
    data = pytest.importorskip(
        "topicwizard.data", reason="topic-wizard is not installed", exc_type=ImportError
    )
    figures = pytest.importorskip("topicwizard.figures")
    found = topicwizard_data(*parts, WORDS, list("abcde"))
    asked = set(data.TopicData.__annotations__)
    assert set(found) <= asked and asked - set(found) <= {
        "topic_positions", "word_positions", "document_positions",
    }  # fmt: skip
    shown = figures.topic_barcharts(found).to_dict()["data"]
    assert {word for bar in shown for word in bar["y"]} <= set(WORDS)
