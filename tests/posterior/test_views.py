"""Tables, rankings of words and quality of topics, against values worked out by hand."""

import csv
import io
from math import log

import numpy as np
import pytest

from plugsamp.files.tables import Table
from plugsamp.posterior.quality import coherence, diversity, exclusivity, means, npmi, quality
from plugsamp.posterior.rankings import frex, relevance, top_words, word_marginal
from plugsamp.sweeps import metric

PHI = np.array([[0.5, 0.4, 0.1, 0.0], [0.0, 0.1, 0.4, 0.5]])
COUNTS = np.array([[1, 2, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 3, 0]])


def test_a_table_is_written_as_topics_csv_is(tmp_path):
    columns = {"tokens": np.array([3, 1]), "coherence": np.array([-1.25, 0.1 + 0.2])}
    words = [["a,b", 'say "x"'], ["é\r", "d"]]
    table = Table({"topic": range(2), **columns, "top_words": words})
    table.to_csv(tmp_path / "new.csv")
    lines = (tmp_path / "new.csv").read_bytes().decode().splitlines()
    assert lines[:2] == ["topic,tokens,coherence,top_words", '0,3,-1.25,"a,b say ""x"""']
    assert list(csv.reader(io.StringIO(table.to_csv(), newline="")))[2] == [
        "1", "1", "0.30000000000000004", "é\r d",
    ]  # fmt: skip


def test_a_table_is_shown_short_and_escaped():
    table = Table({"name": ["<b>"] * 30, "share": np.linspace(0, 1, 30)}, formats={"share": ".1%"})
    assert len(repr(table).splitlines()) <= 10 and "22 more rows" in repr(table)
    assert "<b>" not in table._repr_html_() and "&lt;b&gt;" in table._repr_html_()
    assert "100.0%" in str(table) and max(map(len, str(table).splitlines())) <= 100
    assert table.row(29) == {"name": "<b>", "share": 1.0}
    assert table.take([29])["share"].tolist() == [1.0]
    pandas = pytest.importorskip("pandas")
    assert isinstance(table.to_frame(), pandas.DataFrame) and len(table.to_frame()) == 30
    with pytest.raises(KeyError, match="the columns are name, share"):
        table["shares"]
    with pytest.raises(ValueError, match="a has 1, b has 2"):
        Table({"a": [1], "b": [1, 2]})


def test_repeated_values_are_shown_once():
    table = Table({"id": ["a", "a", "a", "b"], "true": [1, 1, 2, 2], "f": [1.0] * 4}, once=["id", "true"])
    assert [line.split() for line in str(table).splitlines()[1:]] == [
        ["a", "1", "1.000"], ["1.000"], ["2", "1.000"], ["b", "2", "1.000"],
    ]  # fmt: skip
    assert table.to_csv().count("a,") == 3 and len(table.html(2).split("<tr>")) == 4
    assert str(table.take([1, 2])).splitlines()[1].split() == ["a", "1", "1.000"]


def test_relevance_is_its_formula():
    marginal = word_marginal(PHI, [3, 1])
    np.testing.assert_allclose(marginal, [0.375, 0.325, 0.175, 0.125])
    found = relevance(PHI, marginal, 0.6)
    assert found[0, 1] == pytest.approx(0.6 * log(0.4) + 0.4 * log(0.4 / 0.325))
    assert found[0, 3] == -np.inf
    np.testing.assert_array_equal(top_words(PHI, 4, "relevance", marginal, 1.0), top_words(PHI, 4))


@pytest.mark.parametrize("seed", range(40))
def test_the_first_words_by_frex_are_those_of_all_scores(seed):
    rng = np.random.default_rng(seed)
    n_words, n = int(rng.integers(1, 400)), int(rng.integers(0, 30))
    phi = rng.dirichlet(np.full(n_words, rng.choice([0.01, 0.1, 1.0])), int(rng.integers(1, 8)))
    phi = np.round(phi, 3) if seed % 3 == 0 else phi.astype(np.float32)  # rounded: words of equal rank
    weight = float(rng.choice([0.0, 0.2, 0.5, 0.9, 1.0]))
    expected = np.argsort(-frex(phi, weight), axis=1, kind="stable")[:, : min(n, n_words)]
    np.testing.assert_array_equal(top_words(phi, n, "frex", weight=weight), expected)


def test_frex_is_a_harmonic_mean_of_ranks():
    found = frex(PHI, 0.5)
    # word 1 in topic 0: rank 3/4 by frequency (0.4), 3/4 by exclusivity (0.8)
    assert found[0, 1] == pytest.approx(0.75)
    # word 0: first by both; word 2: rank 2/4 by both
    assert found[0].tolist() == pytest.approx([1.0, 0.75, 0.5, 0.25])
    np.testing.assert_array_equal(top_words(PHI, 2, "frex"), [[0, 1], [3, 2]])


@pytest.mark.parametrize("by", ["probability", "relevance", "frex"])
def test_equal_words_are_in_the_order_of_the_vocabulary(by):
    assert top_words(np.full((3, 7), 1 / 7), 4, by).tolist() == [[0, 1, 2, 3]] * 3
    with pytest.raises(ValueError, match="by must be one of"):
        top_words(PHI, 2, "lift")


def test_quality_by_hand():
    # Topic 0: words 0 and 1, in the same 2 of 4 documents. Topic 1: words 3 and 2, in 1 and 2 documents.
    np.testing.assert_allclose(coherence(PHI, COUNTS, 2), [log(3 / 2), log(2 / 1)])
    np.testing.assert_allclose(npmi(PHI, COUNTS, 2), [1.0, log((1 / 4) / (1 / 4 * 2 / 4)) / -log(1 / 4)])
    np.testing.assert_allclose(exclusivity(PHI, 2), [(1 + 0.8) / 2] * 2)
    phi = np.array([[0.6, 0.4, 0, 0], [0.6, 0, 0.4, 0]])
    np.testing.assert_allclose(diversity(phi, 2), [0.75, 0.75])  # 3 of 4 are distinct
    apart = np.array([[1, 0, 0, 0], [0, 1, 0, 0]])
    assert npmi(PHI[:1], apart, 2).tolist() == [-1.0]
    assert np.isnan(npmi(PHI[1:], apart, 2)).all()
    assert means([quality(PHI, COUNTS, 2)])["npmi"] == pytest.approx(0.75)


def test_a_search_can_go_by_the_quality_of_topics():
    metrics = {"main": 0.5, "main_name": "test_accuracy", "topic_quality": {"coherence": -80.5, "npmi": 0.2}}
    assert metric.value(metrics, metric.check("coherence")) == -80.5
    assert metric.higher_is_better("coherence") and metric.measures(metrics)["npmi"] == 0.2
    assert metric.value({"main": 0.5}, "npmi") is None


def test_npmi_over_a_reference_corpus():
    words = ["w0", "w1", "w2", "w3"]
    reference = COUNTS[:, ::-1]
    again = npmi(PHI, reference, 2, words, words[::-1])
    np.testing.assert_allclose(again, npmi(PHI, COUNTS, 2))
    lacking = npmi(PHI, reference[:, 1:], 2, words, words[::-1][1:])
    assert lacking[0] == 1.0 and np.isnan(lacking[1])
