"""Every method of a posterior with every kind of fit."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import plugsamp as ps
from plugsamp.errors import InputError
from plugsamp.files.tables import Table

KINDS = (
    "one", "chains", "ovr", "ovo", "two_step", "linear_step", "no_responses", "real", "labels", "covariates",
)  # fmt: skip

#: Kinds with classes, one a document.
CLASSES = ("one", "chains", "ovr", "ovo", "two_step", "linear_step", "covariates")


def corpus(responses, **more) -> ps.Corpus:
    rng = np.random.default_rng(0)
    counts = rng.poisson(np.repeat(np.eye(3) * 4 + 0.2, 8, axis=0) @ np.kron(np.eye(3), np.ones(4)))
    words = [f"{kind}{i}" for kind in ("sea", "sky", "soil") for i in range(4)]
    ids = [f"d{i}" for i in range(24)]
    fields = {"year": np.arange(24) % 5, "place": ["here", "there"] * 12}
    return ps.Corpus.from_counts(counts, responses, vocabulary=words, ids=ids, fields=fields, **more)


def fitted(kind: str) -> ps.Posterior:
    classes = np.repeat(["sea", "sky", "soil"], 8)
    options = {"sweeps": 16, "thin": 2, "seed": 1}
    loss, documents = "hinge", corpus(classes)
    if kind == "chains":
        options["chains"], loss = 2, "probit"
    elif kind in ("ovr", "ovo"):
        options["multiclass"] = kind
    elif kind == "two_step":
        options["supervised"] = kind
    elif kind == "linear_step":
        from plugsamp.fitting.second_step import SecondStep

        options |= {"supervised": "two_step", "second_step": SecondStep(regression="logistic_regression")}
    elif kind == "no_responses":
        loss = "none"
    elif kind == "real":
        loss, documents = "gaussian", corpus(np.repeat([1.0, 2.0, 4.0], 8) + np.arange(24) / 100)
    elif kind == "labels":
        table = np.column_stack([classes == "sea", classes != "soil"]).astype(int)
        documents = corpus(table, response_names=["wet", "high"])
    elif kind == "covariates":
        options["covariates"] = ps.Covariates(numeric=["year"])
    return ps.fit(documents, ps.Model(3, loss=loss), **options)


@pytest.fixture(scope="session")
def fits():
    made: dict[str, ps.Posterior] = {}

    def find(kind: str) -> ps.Posterior:
        if kind not in made:
            made[kind] = fitted(kind)
        return made[kind]

    return find


def _or_says(what, match: str):
    with pytest.raises(ValueError, match=match) as caught:
        what()
    assert str(caught.value).count("\n") == 0


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_shown_in_a_few_lines(fits, kind):
    posterior = fits(kind)
    text = repr(posterior)
    assert len(text.splitlines()) <= 10 and max(map(len, text.splitlines())) <= 100
    assert "3 topics" in text and "array" not in text and "16 sweeps" in text
    assert "<table" in posterior._repr_html_()
    summary = posterior.summary(words=3)
    assert "16 sweeps in" in summary and "share" in summary


@pytest.mark.parametrize("kind", KINDS)
def test_topics(fits, kind):
    posterior = fits(kind)
    table = posterior.topics(words=4)
    n = 9 if kind in ("ovr", "ovo") else 3
    assert len(table) == n and {len(row) for row in table["words"]} == {4}
    share = np.asarray(table["share"])
    assert share.sum() == pytest.approx(n / 3) and ("task" in table) == (n == 9)
    assert (np.diff(share[:3]) <= 0).all()
    assert ("speaks_for" in table) == (kind != "no_responses")
    if "weight" in table:
        low, mean, high = (np.asarray(table[name]) for name in ("lower", "weight", "upper"))
        assert (low <= high).all() and (mean <= high + 1e-9).all()
    for by in ("probability", "frex"):
        assert len(posterior.topics(2, by)) == n
    assert len(posterior.topics(part="all")) == (6 if kind == "chains" else n)


@pytest.mark.parametrize("kind", KINDS)
def test_weights(fits, kind):
    posterior = fits(kind)
    if kind == "no_responses":
        return _or_says(posterior.weights, "no responses")
    table = posterior.weights()
    part = posterior.parts[0]
    rows = [row for row in table if row.get("task", part.name) == part.name]
    assert [row["mean"] for row in rows] == pytest.approx(part.eta.mean(axis=0).ravel().tolist())
    assert rows[0]["column"] == "topic 0"
    if kind == "covariates":
        assert "year" in table["column"]


@pytest.mark.parametrize("kind", KINDS)
def test_documents_of_topics(fits, kind):
    posterior = fits(kind)
    many = kind in ("ovr", "ovo")
    part = {"part": 1} if many else {}
    if many:
        _or_says(lambda: posterior.documents(0), "topics of its own")
        _or_says(posterior.documents, "topics of its own")
    table = posterior.documents(1, n=5, **part)
    assert len(table) == 5 and (np.diff(table["share"]) <= 0).all() and table["words"][0]
    one = posterior.parts[1 if many else 0]
    theta = posterior.predict().theta[:, one.columns]
    assert table["id"][0] == posterior.corpus.ids[int(np.argmax(theta[:, 1]))]
    every = posterior.documents(**part)
    assert len(every) == 24 and every["topic"].tolist() == theta.argmax(axis=1).tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_predictions_and_scores(fits, kind):
    posterior = fits(kind)
    prediction = posterior.predict()
    assert prediction is posterior.predict(posterior.corpus)
    again = posterior.predict(posterior.corpus, keep=False)
    assert np.array_equal(prediction.f, again.f)
    found = posterior.evaluate()
    if kind in CLASSES:
        assert found.by_class()["true"].tolist() == [8, 8, 8]
        table = found.confusion()
        counts = np.array([table[name] for name in table["true"]])
        assert counts.sum() == 24 and np.trace(counts) / 24 == found.measures["accuracy"]
        wrong = found.mistakes()
        assert len(wrong) == 24 - np.trace(counts) and not any(wrong["true"] == wrong["predicted"])
        assert "probability" not in wrong or (np.diff(wrong["probability"]) <= 0).all()
    elif kind == "labels":
        assert found.by_class()["true"].tolist() == [8, 16]
        _or_says(found.confusion, "several labels")
        _or_says(found.mistakes, "several labels")
    else:
        _or_says(found.by_class, "not classes")
        _or_says(found.mistakes, "not classes")
    assert len(list(posterior.predict_iter(posterior.corpus, batch=10))) == 3


@pytest.mark.parametrize("kind", KINDS)
def test_explanations_add_up(fits, kind):
    posterior = fits(kind)
    table = posterior.explain(documents=["d3", 20])
    assert list(dict.fromkeys(table["id"])) == ["d3", "d20"]
    if kind == "no_responses":
        assert "f" not in table
        return
    for one in ("d3", "d20"):
        for output in dict.fromkeys(table["output"]):
            rows = [row for row in table if (row["id"], row["output"]) == (one, output)]
            assert sum(row["f"] for row in rows[:-1]) == pytest.approx(sum(row["f"] for row in rows[-1:]))
    _or_says(lambda: posterior.explain(documents=["none"]), "no document 'none'")
    assert len(posterior.explain()) > 3


@pytest.mark.parametrize("kind", KINDS)
def test_trace_and_mixing(fits, kind):
    posterior = fits(kind)
    n = len(posterior.parts)
    assert posterior.n_sweeps == 16 and len(posterior.trace) == 16 * n
    assert posterior.trace.column("sweep")[-1] == 16 and "log_joint" in repr(posterior.trace)
    table = posterior.convergence()
    assert "log joint" in table["quantity"] and np.isfinite(np.array(table["r_hat"], float)).any()
    assert ("task" in table) == (kind in ("ovr", "ovo"))


@pytest.mark.parametrize("kind", KINDS)
def test_arviz(fits, kind):
    pytest.importorskip("xarray")
    posterior = fits(kind)
    if kind in ("ovr", "ovo"):
        return _or_says(posterior.to_arviz, "posteriors of their own")
    sizes = dict(posterior.to_arviz()["posterior"].sizes)
    assert sizes == {"chain": len(posterior.parts), "draw": 8}


@pytest.mark.parametrize("kind", KINDS)
def test_effects_of_fields(fits, kind):
    posterior = fits(kind)
    part = {}
    if kind in ("ovr", "ovo"):
        _or_says(lambda: posterior.effects("place"), "topics of its own")
        part = {"part": "sea" if kind == "ovr" else "sea | sky"}
    table = posterior.effects("place", topics=[0, 2], draws=4, **part)
    assert set(table["topic"]) == {0, 2} and isinstance(table, Table)


@pytest.mark.parametrize("kind", KINDS)
def test_plots(fits, kind):
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    posterior = fits(kind)
    part = {"part": 0} if kind in ("ovr", "ovo") else {}
    assert posterior.plot("topics", **part).get_figure()
    assert posterior.plot("words", topic=2, **part).get_figure()
    assert posterior.plot("trace", column="moved").get_figure()
    if kind == "no_responses":
        _or_says(lambda: posterior.plot("weights"), "no responses")
    else:
        assert posterior.plot("weights", **part).get_figure()
    if kind in CLASSES:
        _, ax = pyplot.subplots()
        assert posterior.plot("confusion", ax=ax) is ax
    _or_says(lambda: posterior.plot("tree"), "there is no plot 'tree'")
    pyplot.close("all")


@pytest.mark.parametrize("kind", KINDS)
def test_saved_and_loaded(fits, kind, tmp_path):
    posterior = fits(kind)
    posterior.save(tmp_path / "model")
    found = ps.load(tmp_path / "model")
    assert found.digest == posterior.digest == ps.load_model(tmp_path / "model").digest
    assert found.topics().rows == posterior.topics().rows and found.kept == posterior.kept
    assert [list(row) for row in found.trace] == [list(row) for row in posterior.trace]
    assert found.trace.column("log_joint").tolist() == posterior.trace.column("log_joint").tolist()
    assert found.convergence().rows == posterior.convergence().rows
    _or_says(found.predict, "needs documents")
    assert found.predict(posterior.corpus).f.tolist() == posterior.predict().f.tolist()
    posterior.save(tmp_path / "model.zip")
    small = ps.load(tmp_path / "model.zip")
    assert small.digest == posterior.digest and "share" not in small.topics()
    _or_says(small.convergence, "without a trace")
    assert pickle.loads(pickle.dumps(posterior)).topics().rows == posterior.topics().rows


@pytest.mark.parametrize("kind", ("one", "chains", "ovo", "no_responses", "real"))
def test_the_report(fits, kind, tmp_path):
    posterior = fits(kind)
    path = posterior.report(tmp_path / "page.html", test=posterior.corpus)
    text = path.read_text()
    assert "24 training documents" in text and "sea" in text
    page = posterior.report()
    assert len(repr(page)) < 60 and "iframe" in page._repr_html_()


def test_names_of_topics(fits, tmp_path):
    posterior = fits("one")
    try:
        posterior.rename({2: "the sea"})
        assert "the sea" in posterior.topics()["name"] and "the sea" in posterior.weights()["column"]
        assert posterior.documents("the sea").title.endswith("the sea")
        assert "the sea" in posterior.documents(corpus=posterior.corpus)["topic_name"]
        posterior.save(tmp_path / "named")
        assert ps.load(tmp_path / "named").names == {"2": "the sea"}
        posterior.save(tmp_path / "named.zip")
        assert ps.load(tmp_path / "named.zip").names == {"2": "the sea"}
        with pytest.raises(InputError, match="no topic '3'"):
            posterior.names = {3: "sky"}
    finally:
        posterior.names = {}
    chains = fits("chains")
    chains.names = {"1.0": "first"}
    assert chains.topics(part=1)["name"].count("first") == 1 and "first" not in chains.topics()["name"]
    chains.names = {}


def test_mistakes_are_told(fits, tmp_path):
    posterior = fits("chains")
    mistakes = {
        "no part 2": lambda: posterior.topics(part=2),
        "no part 'x'": lambda: posterior.topics(part="x"),
        "must be one of": lambda: posterior.topics(by="size"),
        "no topic 7": lambda: posterior.documents(7),
        "between 0 and 1": lambda: posterior.weights(level=2),
        "no column 'speed'": lambda: posterior.trace.column("speed"),
    }
    for match, wrong in mistakes.items():
        with pytest.raises((ValueError, KeyError), match=match):
            wrong()
    with pytest.raises(InputError, match="no such file or folder"):
        ps.load(tmp_path / "nothing")
    posterior.save(tmp_path / "model")
    with pytest.raises(InputError, match="run folders"):
        ps.load(tmp_path / "model", corpus=True)


def test_a_class_that_is_gone_names_the_new_one():
    with pytest.raises(AttributeError, match=r"fit returns a plugsamp\.Posterior"):
        _ = ps.Fit


def test_estimators_have_one(fits):
    documents = fits("one").corpus
    estimator = ps.SupervisedTopicClassifier(n_topics=3, sweeps=8, random_state=0)
    estimator.fit(documents.counts(), documents.responses)
    assert len(estimator.posterior_.topics()) == 3 and estimator.posterior_.trace == estimator.trace_
    again = pickle.loads(pickle.dumps(estimator))
    assert repr(again.posterior_) == repr(estimator.posterior_)


def test_texts_are_predicted():
    train = ps.Corpus.from_frame(
        {"text": ["sea wave tide", "soil root seed"] * 9, "label": ["wet", "dry"] * 9}, label="label"
    )
    posterior = ps.fit(train, ps.Model(2, loss="logistic"), sweeps=20, seed=1)
    texts = ["Wave, sea wave SEA.", None, "soil nothing"]
    found = posterior.predict(texts)
    assert found.n_known.tolist() == [4, 0, 1] and found.n_unknown.tolist() == [0, 0, 1]
    assert found.labels[0] == "wet" and found.labels[2] == "dry"
    frame = ps.Corpus.from_frame({"text": texts}, min_df=1, stop_words="none")
    np.testing.assert_array_equal(posterior.predict(frame).zbar, found.zbar)
    np.testing.assert_array_equal(posterior.predict(np.array(texts, dtype=object)).zbar, found.zbar)


@pytest.mark.parametrize("documents", ["sea0 sea1", 5, [["sea0"]], {"text": ["sea0"]}])
def test_what_is_no_document_is_refused(fits, documents):
    with pytest.raises(TypeError, match=r"\[text\]|from_frame"):
        fits("one").predict(documents)
