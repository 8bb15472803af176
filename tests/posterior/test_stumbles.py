"""What a newcomer stumbles on: mistaken keywords, no documents, calibration, keys of topics."""

from __future__ import annotations

import numpy as np
import pytest

import plugsamp as ps
from plugsamp.posterior.summary import rows_of


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(0)
    kind = np.arange(90) % 3
    counts = rng.poisson(np.where(np.arange(12)[None] // 4 == kind[:, None], 1.5, 0.3))
    return ps.Corpus.from_counts(counts, responses=np.array(["a", "b", "c"])[kind])


@pytest.fixture(scope="module")
def posterior(corpus):
    return ps.fit(corpus, ps.Model(4, loss="multinomial"), sweeps=20)


def test_a_mistaken_keyword_gets_the_names_that_are_near(corpus):
    with pytest.raises(TypeError, match="fit has no argument 'sweep': did you mean sweeps"):
        ps.fit(corpus, sweep=3)
    with pytest.raises(TypeError, match="Model has no argument 'n_topic': did you mean n_topics"):
        ps.Model(n_topic=3)
    with pytest.raises(TypeError, match="Model has no argument 'q': it has n_topics, alpha, "):
        ps.Model(3, q=2)


def test_no_documents(posterior):
    with pytest.raises(ps.InputError, match="there are no documents: the list is empty"):
        posterior.predict([])


def test_calibration(posterior, corpus):
    evaluation = posterior.evaluate(corpus)
    table = evaluation.calibration()
    assert sum(table["documents"]) == 90
    right = sum(n * share for n, share in zip(table["documents"], table["right"], strict=True))
    assert right / 90 == pytest.approx(evaluation.measures["accuracy"])
    assert all(low <= p <= high for low, high, _, p, _ in table.rows)
    hinge = ps.fit(corpus, ps.Model(3, loss="hinge"), sweeps=4)
    with pytest.raises(ValueError, match="the loss has no probabilities"):
        hinge.evaluate(corpus).calibration()


def test_calibration_is_drawn(posterior, corpus):
    pytest.importorskip("matplotlib")
    ax = posterior.plot("calibration", corpus=corpus)
    n = len(posterior.evaluate(corpus).calibration())
    assert len(ax.texts) == n and ax.get_ylabel() == "share that was right"


def test_a_wrong_key_of_several_chains_says_what_keys_are(corpus):
    chains = ps.fit(corpus, ps.Model(3), sweeps=4, chains=2)
    with pytest.raises(ps.InputError, match=r"topics are 0\.0 to 1\.2, each PART\.TOPIC"):
        chains.names = {5: "x"}


def test_former_classes_name_the_new_way(corpus):
    with pytest.raises(AttributeError, match=r"Predictor is gone: .* plugsamp\.Draws"):
        _ = ps.Predictor
    chains = ps.fit(corpus, ps.Model(3), sweeps=4, chains=2)
    with pytest.raises(AttributeError, match=r"each chain has 'phi' of its own: posterior\.parts\[0\]\.phi"):
        _ = chains.phi
    one = ps.fit(corpus, ps.Model(3), sweeps=4)
    assert one.predictor is one and one.phi is one.parts[0].phi and chains.members is chains.parts


def test_the_summary_of_binary_models_with_two_outputs_names_the_right_side(corpus):
    ovr = ps.fit(corpus, ps.Model(3, loss="probit"), sweeps=20, multiclass="ovr")
    table = ovr.topics(words=3)
    sides = {(row["task"], row["topic"]): (row["speaks_for"], row["weight"]) for row in table}
    for task, rows in rows_of(ovr, 3):
        for topic in rows:
            (found,) = topic.speaks_for
            assert found == (sides[task, topic.index][0], pytest.approx(sides[task, topic.index][1]))
