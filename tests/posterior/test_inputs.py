"""What a posterior says of inputs that are no documents, no output or another row."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import plugsamp as ps
from plugsamp.errors import InputError, InputWarning
from plugsamp.posterior import tabulate

WORDS = ["sea", "wave", "sky", "wind", "soil", "root"]


@pytest.fixture(scope="module")
def fitted() -> ps.Posterior:
    counts = np.random.default_rng(0).poisson(np.kron(np.eye(3), np.ones((6, 2))) * 4 + 0.2)
    classes = np.repeat(["water", "air", "earth"], 6)
    ids = [str((d + 5) % 18) for d in range(18)]  # rows of a data frame that was shuffled
    corpus = ps.Corpus.from_counts(counts, classes, vocabulary=WORDS, ids=ids)
    return ps.fit(corpus, ps.Model(3, loss="logistic"), sweeps=12, thin=2)


class Frame:
    """Has columns by attribute, as a data frame has."""


@pytest.mark.parametrize("method", ["predict", "evaluate", "explain", "documents"])
def test_a_data_frame_in_place_of_a_corpus_names_from_frame(fitted, method):
    with pytest.raises(TypeError, match=r"not Frame; ps\.Corpus\.from_frame"):
        getattr(fitted, method)(**{"corpus": Frame()})


def test_missing_texts_among_others_are_empty_documents(fitted):
    for missing in (None, np.nan):
        with pytest.warns(InputWarning, match="missing in 1 rows"):
            prediction = fitted.predict([missing, "sea and wave"])
        assert prediction.n_known.tolist() == [0, 2]


def test_weights_of_one_output_are_sorted(fitted):
    table = fitted.weights("water")
    whole = [row for row in fitted.weights() if row["output"] == "water"]
    assert [row["mean"] for row in table] == sorted((row["mean"] for row in whole), reverse=True)
    assert {tuple(row.values()) for row in table} == {tuple(row.values()) for row in whole}
    with pytest.raises(InputError, match="no output 'fire'; the outputs are air, earth, water"):
        fitted.weights("fire")


def test_the_class_without_weights_of_its_own_is_named(fitted):
    two = fitted.corpus.with_responses(np.repeat(["land", "other"], 9))
    with pytest.raises(InputError, match=r"'land'.*those of the other class with the sign changed"):
        ps.fit(two, ps.Model(2, loss="logistic"), sweeps=4).weights("land")
    posterior = ps.fit(fitted.corpus, ps.Model(2, loss="multinomial"), sweeps=4)
    last = set(fitted.weights()["output"]) - set(posterior.weights()["output"])
    with pytest.raises(InputError, match="has no weights of its own"):
        posterior.weights(last.pop())


def test_a_row_number_that_is_the_id_of_another_document_warns(fitted):
    with pytest.warns(InputWarning, match=r"3 is row 3, the document with id '8'"):
        assert set(fitted.explain(documents=np.int64(3))["id"]) == {"8"}
    assert set(fitted.explain(documents="3")["id"]) == {"3"}
    with pytest.raises(InputError, match="no document 18 in"):
        fitted.explain(documents=[np.int64(18)])


def test_an_id_that_is_too_large_for_a_row_is_told_to_be_text(fitted):
    few = fitted.corpus.take([12, 0])  # ids 17 and 5
    with pytest.raises(InputError, match=r"no document 17 in .*write '17'"):
        fitted.explain(few, documents=17)


def test_a_topic_that_speaks_for_no_class_shows_the_one_it_speaks_most_against(fitted):
    eta = np.array([[[-1.0, 2.0], [-3.0, 1.0], [-2.0, -4.0]]])
    part = SimpleNamespace(weights=eta, n_topics=2, user_coding=fitted.parts[0].coding)  # air, earth, water
    found = tabulate._strongest(part, 0.9, range(2))
    assert (found["speaks_for"], found["weight"]) == (["earth", "air"], [-3.0, 2.0])


def test_a_mistake_with_multinomial_shows_the_output_of_the_true_class(fitted):
    posterior = ps.fit(fitted.corpus, ps.Model(3, loss="multinomial"), sweeps=12)
    outputs = list(dict.fromkeys(posterior.weights()["output"]))  # in order, without that of the last class
    last = next(c for c in ("air", "earth", "water") if c not in outputs)
    predicted = posterior.predict().labels.tolist()
    for true in (*outputs, last):
        wrong = fitted.corpus.with_responses([true] * fitted.corpus.n_documents)
        for d in range(0, fitted.corpus.n_documents, 6):
            found = set(posterior.explain(wrong, documents=fitted.corpus.ids[d])["output"])
            assert {c if c in outputs else outputs[-1] for c in (true, predicted[d])} <= found


def test_a_response_that_is_the_same_for_all_documents_warns(fitted):
    same = fitted.corpus.with_responses(np.full(fitted.corpus.n_documents, 0.5))
    with pytest.warns(InputWarning, match=r"'y' is 0\.5 for all 18 documents"):
        ps.fit(same, ps.Model(2, loss="gaussian"), sweeps=3)


def test_documents_without_responses_say_so(fitted):
    scores = fitted.evaluate(fitted.corpus.with_responses(None))
    assert "without responses to compare with" in repr(scores)


def test_other_inputs_say_what_to_give(fitted):
    with pytest.raises(ValueError, match="words must be a whole number"):
        fitted.topics("water")
    with pytest.raises(InputError, match="no topic '9'; topics are 0 to 2"):
        fitted.rename({9: "x"})
    with pytest.raises(TypeError, match=r"model must be a Model, such as ps\.Model"):
        ps.fit(fitted.corpus, 20)
    with pytest.raises(TypeError, match=r"not list; Corpus\.from_frame takes"):
        ps.fit(["a text"], ps.Model(2))
    with pytest.raises(InputError, match="found list; a mapping of names to columns"):
        ps.Corpus.from_frame(["a text"])


def test_convergence_says_what_to_do_while_r_hat_is_large(fitted):
    pytest.importorskip("arviz_stats")
    posterior = ps.fit(fitted.corpus, ps.Model(3, loss="logistic"), sweeps=20, chains=2)
    table = posterior.convergence()
    assert ("run more sweeps" in table.title) == ("not yet" in table[""])
