"""The report of every kind of run: there is a page, it says what it must, and nothing in it runs."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import plugsamp as ps
from plugsamp import report
from plugsamp.cli import main
from plugsamp.errors import InputError
from plugsamp.report import chains, explain, folder, names, texts, topics
from plugsamp.report.members import members_of, naming

HOSTILE = "</script><img/src=x/onerror=boom()>"
THEMES = {"space": ["orbit", "rocket", "moon", "launch"], "food": ["bread", "soup", "salt", "butter"],
          "music": ["song", "drum", "opera", "violin"]}  # fmt: skip
VOID = {"meta", "link", "br", "img", "input"}


class Reading(HTMLParser):
    """Tags that fit into each other, their attributes, and the text between."""

    def __init__(self, page: str):
        super().__init__(convert_charrefs=True)
        self.open, self.seen, self.ids, self.text = [], [], [], []
        self.feed(page)
        self.close()
        assert self.open == []
        assert len(set(self.ids)) == len(self.ids)

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))
        self.ids += [value for name, value in attributes if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.text.append(data)


def read(path) -> Reading:
    """The page, held to what every page must be."""
    page = path.read_text(encoding="utf-8")
    found = Reading(page)
    # Nothing is loaded: no source, no address but places on the page and the empty icon, no import in styles.
    for tag, attributes in found.seen:
        assert tag not in ("img", "iframe", "object", "embed", "base")
        assert "src" not in attributes and not any(name.startswith("on") for name in attributes)
        assert attributes.get("href", "#")[0] == "#" or attributes["href"] == "data:,"
        if tag == "th":
            assert attributes["scope"] in ("col", "row")
        if tag == "svg":
            assert attributes["role"] == "img"
    assert sum(tag == "script" for tag, _ in found.seen) == 2
    assert not re.search(r"@import|url\(|https?://", page)
    assert "undefined" not in page.split("<script>")[0] and "nan" not in "".join(found.text).lower().split()
    return found


def documents(path, n=18, labels=tuple(THEMES), word=None, empty=False, split=True, **more):
    """JSON lines with some documents a label."""
    rng = np.random.default_rng(5)
    with open(path, "w") as out:
        for i in range(n):
            for c, label in enumerate(labels):
                words = rng.choice(list(THEMES.values())[c % len(THEMES)], 9).tolist() + [word] * (
                    word is not None
                )
                row = {
                    "id": f"{label}-{i}",
                    "label": label,
                    "tokens": words,
                    "place": f"p{i % 3}",
                    "size": float(c),
                }
                row |= {"split": "test" if i % 3 == 2 else "train"} if split else {}
                row |= {name: make(i, c) for name, make in more.items()}
                if empty and i in (2, 3) and c == 0:
                    row["tokens"] = []
                out.write(json.dumps(row) + "\n")
    return path


@pytest.fixture
def at(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PLUGSAMP_TRACEBACK", raising=False)
    return tmp_path


def fit(*arguments, path="d.jsonl", to="run") -> int:
    options = ["corpus=jsonl", f"corpus.path={path}", "corpus.min_df=1", "n_topics=3", "sweeps=20", "thin=2"]
    return main(["fit", *options, *arguments, f"hydra.run.dir={to}"])


def many(i, c):
    return f"kind {(3 * i + c) % 90:02d}"


RUNS = {
    "classes": ({}, [], ["Confusion matrix", "Why were they predicted so?", "Classes"]),
    "no responses": ({}, ["loss=none"], ["without responses", "topics explain the words alone"]),
    "two classes": ({"labels": ("food", "space")}, ["loss=logistic"],
                    ["Probabilities and intervals are those of a likelihood"]),
    "probit": ({}, ["loss=probit", "weights=horseshoe"],
               ["Probabilities and intervals are those of a likelihood"]),
    "one topic": ({}, ["n_topics=1"], ["Confusion matrix"]),
    "many topics": ({"n": 6}, ["n_topics=400", "sweeps=4"],
                    ["Outputs and topics", "120 of 400 topics are shown"]),
    "90 classes": ({"n": 60, "label": many, "split": False}, ["corpus.test_size=0.5", "sweeps=6"],
                   ["29 most frequent of 90 classes", "24 of 90 outputs are shown"]),
    "several labels": ({"labels": ("food", "space"), "label": lambda i, c: None,
                        "tags": lambda i, c: ["odd"] * (i % 2) + ["space"] * c}, ["corpus.labels=tags"],
                       ["Labels", "Precision"]),
    "numbers": ({"y": lambda i, c: 3.0 * c + i % 2}, ["loss=gaussian"],
                ["predicted (upwards) against observed", "90 % predictive intervals"]),
    "numbers, estimated": ({"y": lambda i, c: 3.0 * c + i % 2},
                           ["loss=gaussian", "supervised=two_step", "second_step.regression=ridge"],
                           ["The weights are an estimate", "their intervals are empty"]),
    "covariates": ({}, ["covariates.numeric=[size]", "covariates.categorical=[place]"],
                   ["Covariates", "place=p1", "intercept"]),
    "words as covariates": ({}, ["covariates.words=tfidf"], ["word:soup"]),
    "one against the rest": ({}, ["multiclass=ovr", "loss=logistic"],
                             ["3 separate models (ovr)", "Model: food"]),
    "one against one": ({}, ["multiclass=ovo"], ["3 separate models (ovo)", "food | music"]),
    "two steps": ({}, ["supervised=two_step"], ["Confusion matrix"]),
    "no test documents": ({"split": False}, [], ["No test documents were kept out", "(training)"]),
    "empty documents": ({"empty": True}, [], ["It knows no word of the document"]),
    "missing labels": ({"label": lambda i, c: None if i % 5 == 2 else "ab"[c % 2]},
                       ["corpus.missing_labels=true"], ["not known and left out"]),
    "no model kept": ({}, ["save_model=false"], ["Confusion matrix"]),
    "one sweep": ({}, ["sweeps=1", "thin=1"], ["Too few sweeps after the burn-in"]),
    "composed": ({}, ["kernel=composed", "learn_alpha.method=slice"],
                 ["share accepted, by proposal", "sum of α"]),
}  # fmt: skip


@pytest.mark.parametrize("kind", RUNS)
def test_every_run_has_a_sensible_page(at, kind, capsys):
    written, options, wanted = RUNS[kind]
    documents("d.jsonl", **written)
    assert fit(*options) == 0, capsys.readouterr().err
    page = at / "run" / "report.html"
    found = read(page)
    text = " ".join(" ".join(found.text).split())
    for phrase in wanted:
        assert phrase in text
    assert "What is approximate" in text and "plugsamp fit" in text
    if kind == "no model kept":
        return
    # The command makes the same page again of the folder and the corpus.
    before = page.read_text()
    assert main(["report", "run=run"]) == 0
    assert page.read_text() == before


def test_it_can_be_left_out(at):
    documents("d.jsonl")
    assert fit("report=false", "sweeps=2") == 0
    assert not (at / "run" / "report.html").exists()


def test_nothing_of_the_corpus_is_markup(at, capsys):
    documents(
        "d.jsonl", labels=(HOSTILE, "b\x00\u202e"), word=HOSTILE, place=lambda i, c: HOSTILE + str(i % 2)
    )
    assert fit("covariates.categorical=[place]") == 0, capsys.readouterr().err
    keys = {f"{k}": HOSTILE for k in range(3)}
    (at / "run" / "topic_names.json").write_text(json.dumps({"names": keys}))
    assert main(["report", "run=run", "out=again.html"]) == 0
    for page in (at / "run" / "report.html", at / "again.html"):
        found = read(page)  # two scripts, no image, no handler
        text = "".join(found.text)
        assert HOSTILE in text and "\x00" not in text and "\u202e" not in text
        assert "b\\x00\\u202e" in text
    data = re.search(r'id="data">(.*?)</script>', (at / "again.html").read_text())[1]
    assert "<" not in data and json.loads(data)["names"]["0"] == texts.shown(HOSTILE, names.LONGEST)


def test_a_run_without_its_corpus_keeps_what_it_has(at, capsys):
    documents("d.jsonl")
    assert fit() == 0
    (at / "d.jsonl").rename(at / "moved.jsonl")
    assert main(["report", "run=run", "out=less.html"]) == 0
    assert "its documents are left out" in capsys.readouterr().err
    text = "".join(read(at / "less.html").text)
    assert "Confusion matrix" in text and "documents were not at hand" in " ".join(text.split())
    assert main(["report", "run=run", "documents=[food-2]"]) == 2
    assert "corpus=FORMAT" in capsys.readouterr().err
    for out, says in (
        ("less.html", "less.html: the file is there already"),
        ("none/x", "none: there is no such"),
    ):
        assert main(["report", "run=run", f"out={out}"]) == 2
        assert says in capsys.readouterr().err
    assert main(["report", "run=run", "out=less.html", "overwrite=true"]) == 0
    assert main(["report", "run=run", "out=run/report.html"]) == 0  # its own
    options = ["corpus=jsonl", "corpus.path=moved.jsonl", "corpus.min_df=1"]
    assert main(["report", "run=run", *options, "documents=[food-2,space-0]"]) == 0
    text = "".join(read(at / "run" / "report.html").text)
    assert "food-2" in text and "space-0 (training)" in text
    assert "(new)" not in text
    new = [o.replace("moved.jsonl", "new.jsonl") for o in options]
    (at / "new.jsonl").write_text('{"id": "n1", "text": "bread soup butter"}\n')
    assert main(["report", "run=run", *new, "documents=[n1]", "out=why.html"]) == 0
    page = (at / "why.html").read_text()
    assert "n1 (new)" in page and "(training)" not in page and "<b>New documents that have most" in page
    assert "not those that the run was fitted to" in page
    assert main(["report", "run=run", *options, "documents=[nobody]"]) == 2
    assert "no document 'nobody'" in capsys.readouterr().err


def test_mistakes_are_said(at, capsys):
    assert main(["report"]) == 2 and "run=... is needed" in capsys.readouterr().err
    assert main(["report", "run=none"]) == 2 and "there is no such folder" in capsys.readouterr().err
    (at / "empty").mkdir()
    assert main(["report", "run=empty"]) == 2 and "holds no finished run" in capsys.readouterr().err
    documents("d.jsonl")
    assert fit("sweeps=2") == 0
    (at / "n.json").write_text('{"names": {"7": "x"}}')
    assert main(["report", "run=run", "names=n.json"]) == 2 and "no topic '7'" in capsys.readouterr().err
    (at / "run" / "metrics.json").write_text("[")
    assert main(["report", "run=run"]) == 2 and "no metrics.json" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.json", "{", "no JSON"),
        ("a.json", '{"names": 3}', "names are written"),
        ("a.json", '{"names": {"0": 3}}', "must be text"),
        ("a.json", '{"names": {"0": "a", "0": "b"}}', "named twice"),
        ("a.json", '{"model": "other", "names": {"0": "a"}}', "another model"),
        ("a.json", json.dumps({"names": {"0": "x" * 81}}), "over the limit"),
        ("a.json", "[" * 100_000, "no"),
        ("a.csv", "number,name\n0,a\n", "columns topic and name"),
        ("a.csv", "topic,name\n0,a\n0,b\n", "named twice"),
        ("a.csv", "topic,name\n0\n", "line 2: 1 cells"),
        ("a.csv", "chain,topic,name\nchain 3,0,a\n", "line 2: the model has no chain 'chain 3'"),
        ("a.json", '{"names": {"0": "a\\u0000"}}', "no character to be written"),
        ("a.json", '{"names": {"0": "\\ud83d"}}', "no character to be written"),
        ("missing.json", None, "no such file"),
    ],
)
def test_files_of_names_that_are_refused(tmp_path, name, text, said):
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=said):
        names.read(tmp_path / name, names.Naming("model", ("0", "1"), {"model": ""}))


def test_files_of_names_that_are_taken(tmp_path):
    for name, text in (
        ("a.json", '{"model": "m", "names": {"0": " the  first ", "1": ""}}'),
        ("a.csv", 'topic,name\n0,"the first"\n1,\n'),
    ):
        (tmp_path / name).write_text(text)
        assert names.read(tmp_path / name, names.Naming("m", ("0", "1"), {"m": ""})) == {"0": "the first"}


def test_names_are_taken_wherever_the_topics_are_the_same(at, capsys):
    documents("d.jsonl")
    assert fit("chains=2", "loss=logistic") == 0
    assert main(["export", "run=run", "to=model", "eta=mean", "out=mean.zip"]) == 0
    together, mean = ps.load_model("run/model"), ps.load_model("mean.zip")
    one = together.members[0]
    assert together.digest != mean.digest and together.topics_digest == mean.topics_digest
    page = json.loads(re.search(r'id="data">(.*?)</script>', (at / "run" / "report.html").read_text())[1])
    assert page["topics"] == [f"{c}.{k}" for c in range(2) for k in range(3)]
    assert 'data-t="0.1"' in (at / "run" / "report.html").read_text()
    files = {
        "page": {"model": page["model"], "names": {"0.1": "salt", "1.2": "sea"}},
        "no model": {"names": {"0.1": "salt", "1.2": "sea"}},
        "earlier": {"model": together.digest, "names": {"0.1": "salt", "1.2": "sea"}},
        "earlier page": {"model": one.digest, "names": {"1": "salt"}},
        "one chain": {"model": one.topics_digest, "names": {"1": "salt"}},
        "plain": {"names": {"1": "salt"}},
    }
    for kind, written in files.items():
        (at / "names.json").write_text(json.dumps(written))
        for model in ("run", *(["mean.zip"] if "earlier" not in kind else [])):
            options = ["corpus=jsonl", "corpus.path=d.jsonl", "proportions=true", "names=names.json", "out=-"]
            capsys.readouterr()
            assert main(["predict", f"model={model}", *options]) == 0, kind
            columns = capsys.readouterr().out.partition("\n")[0].split(",")
            second = "sea" if len(written["names"]) == 2 else "topic_5"
            assert columns[-8:-2] == ["topic_0", "salt", "topic_2", "topic_3", "topic_4", second], kind
        assert main(["report", "run=run", "names=names.json", "out=again.html", "overwrite=true"]) == 0
        text = (at / "again.html").read_text()
        found = json.loads(re.search(r'id="data">(.*?)</script>', text)[1])["names"]
        assert found == {"0.1": "salt", **({"1.2": "sea"} if second == "sea" else {})}, kind
        assert 'data-t="0.1" dir="auto">salt<' in text
    # Names for what the run was before are left out of the page of what it is now.
    (at / "run" / "topic_names.json").write_text(json.dumps({**files["page"], "model": "was"}))
    assert main(["resume", "run=run", "sweeps=24"]) == 0
    assert "topic_names.json: these names are for the topics of another model" in capsys.readouterr().err
    assert 'data-t="0.1" dir="auto"></span>' in (at / "run" / "report.html").read_text()
    # topics.csv with a column of names
    first, *rows = (at / "run" / "topics.csv").read_text().splitlines()
    table = [f"{first},name", *(f"{row},{'sea' if row.startswith('chain 2,1,') else ''}" for row in rows)]
    (at / "names.csv").write_text("\n".join(table))
    assert names.read(at / "names.csv", naming(together)) == {"1.1": "sea"}


# -- what is shown is right ---------------------------------------------------------------------------------


def corpus_of(n=24, real=False, covariates=False):
    rng = np.random.default_rng(2)
    kinds = np.arange(n) % 3
    counts = rng.poisson(0.2 + 3.0 * (np.arange(12)[None, :] // 4 == kinds[:, None]))
    counts[4] = 0
    responses = kinds * 2.0 + 10.0 if real else np.array(["a", "b", "c"])[kinds]
    x = rng.normal(size=(n, 2)) if covariates else None
    return ps.Corpus.from_counts(counts, responses=responses, covariates=x)


@pytest.mark.parametrize(
    ("multiclass", "loss"), [("multitask", "hinge"), ("ovr", "probit"), ("ovr", "hinge"), ("ovo", "hinge")]
)
@pytest.mark.parametrize("covariates", [False, True])
def test_terms_sum_to_the_prediction(multiclass, loss, covariates):
    corpus = corpus_of(covariates=covariates)
    fitted = ps.fit(corpus, ps.Model(3, loss=loss), sweeps=12, multiclass=multiclass).predictor
    members = members_of(fitted)
    prediction = fitted.predict(corpus)
    rows = [0, 4, 7]
    for d, found in zip(rows, explain.explain(members, fitted, corpus, rows), strict=True):
        assert found.predicted == prediction.labels[d] and found.true == corpus.responses[d]
        assert found.right == (found.predicted == found.true)
        for block in found.blocks:
            sums = np.sum([term.contributions for term in block.terms], axis=0)
            np.testing.assert_allclose(sums, block.totals, atol=1e-9)
            if multiclass != "ovo":
                place = {str(c): i for i, c in enumerate(fitted.coding.classes)}
                outputs = [place[o] for o in block.outputs]
                np.testing.assert_allclose(block.totals, prediction.f[d, outputs], atol=1e-9)
            shares = [t.value for t in block.terms if t.key is not None or "other topic" in t.name]
            assert sum(shares) == pytest.approx(1.0)


def test_real_responses_are_center_plus_scale_times_the_sum():
    corpus = corpus_of(real=True)
    fitted = ps.fit(corpus, ps.Model(3, loss="gaussian", standardise=True), sweeps=12).predictor
    (found,) = explain.explain(members_of(fitted), fitted, corpus, [1])
    value = fitted.coding.center[0] + fitted.coding.scale[0] * found.blocks[0].totals[0]
    assert value == pytest.approx(fitted.predict(corpus).labels[1, 0])


def test_words_are_given_to_topics_in_full():
    corpus = corpus_of()
    fitted = ps.fit(corpus, ps.Model(2, loss="hinge"), sweeps=12).predictor
    (found,) = explain.explain(members_of(fitted), fitted, corpus, [0])
    parts: dict[str, float] = {}
    for term in found.blocks[0].terms:
        for word in term.words:
            parts[word.word] = parts.get(word.word, 0.0) + word.part
    assert parts and all(part <= 1 + 1e-9 for part in parts.values())
    # p(k | w, d) is in proportion to phi_kw theta_dk
    prediction = fitted.predict(corpus)
    theta, phi = prediction.theta[0], fitted.phi.astype(float)
    for term in found.blocks[0].terms:
        for word in term.words:
            w = fitted.vocabulary.index(word.word)
            expected = theta[int(term.key)] * phi[int(term.key), w] / (theta @ phi[:, w])
            assert word.part == pytest.approx(expected, rel=1e-6)


def test_mistakes_come_first():
    coding = ps.fit(corpus_of(), ps.Model(2, loss="hinge"), sweeps=2).predictor.coding
    table = folder.Table(
        ["id", "true", "predicted", "score_a", "score_b", "score_c", "n_known"],
        [
            ["0", "a", "a", "1", "0", "0", "5"],
            ["1", "a", "b", "0", "1", "0", "5"],
            ["2", "c", "b", "0", "9", "1", "5"],
            ["3", "c", "b", "0", "9", "1", "0"],
            ["4", "", "b", "0", "9", "1", "5"],
        ],
    )
    corpus = corpus_of(5)
    assert explain.choose(corpus, coding, table) == [2, 1, 0, 4, 3]


def test_scores_of_classes_are_scikit_learn_s(at):
    from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

    from plugsamp.report.outcome import outcome_of

    rng = np.random.default_rng(0)
    names_ = np.array(["a", "b", "c"])
    true, predicted = names_[rng.integers(0, 3, 60)], names_[rng.integers(0, 3, 60)]
    table = folder.Table(
        ["true", "predicted"], [list(map(str, row)) for row in zip(true, predicted, strict=True)]
    )
    coding = ps.fit(corpus_of(), ps.Model(2, loss="hinge"), sweeps=2).predictor.coding
    found = outcome_of(table, coding)
    assert [[cell.n for cell in row] for row in found.confusion] == confusion_matrix(true, predicted).tolist()
    expected = np.array(precision_recall_fscore_support(true, predicted)[:3]).T
    np.testing.assert_allclose([[s.precision, s.recall, s.f1] for s in found.scores], expected)


def test_topics_of_the_chain_and_of_predictions_have_the_same_words():
    corpus = corpus_of()
    result = ps.fit(corpus, ps.Model(3, loss="hinge"), sweeps=20)
    (model,) = topics.models(members_of(result.predictor), corpus, result.predictor.predict(corpus), None)
    assert sorted(t.number for t in model.topics) == [0, 1, 2]
    assert sum(t.share for t in model.topics) == pytest.approx(1.0)
    eta = result.predictor.eta
    for topic in model.topics:
        for weight in topic.weights:
            c = list(result.predictor.coding.classes).index(weight.output)
            assert weight.mean == pytest.approx(np.mean(eta[:, c, topic.number]))
            assert weight.low <= weight.mean <= weight.high
        assert len(topic.documents) == 3
        assert topic.documents[0].share >= topic.documents[-1].share


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [(0.0, 3, "0.00"), (0.721, 3, "0.721"), (-12.345, 3, "−12.3"), (1234.5, 3, "1,234"), (None, 3, "–"),
     (float("nan"), 3, "–"), (1.5e-7, 3, "1.50e−07"), (-2.5e8, 3, "−2.50e+08"), (1234567, 3, "1,234,567")],
)  # fmt: skip
def test_numbers(value, digits, text):
    assert texts.number(value, digits) == text


def test_the_first_sweeps_do_not_set_the_scale():
    sweeps, values = np.arange(1, 101.0), np.r_[np.full(5, -90e3), np.linspace(-15e3, -14e3, 95)]
    chart = chains._chart("log joint", [("s0", sweeps, values)], 50, 100)
    assert chart.drawn_from == 11 and "−90" not in chart.drawn and "−14.0k" in chart.drawn
    path = chart.drawn.partition('class="line s0"')[0].rpartition(' d="')[2]
    assert path.count("M") == 1 and path.count("L") > 90  # from where they come into sight
    flat = chains._chart("beta", [("s0", sweeps, np.sin(sweeps))], 50, 100)
    assert flat.drawn_from is None


def test_ticks_are_told_apart():
    assert texts.compact([-20e3, -10e3, 0.0]) == ["−20k", "−10k", "0"]
    from plugsamp.report.svg import extent, ticks

    for low, high in ((-1.32e6, -1.29e6), (0.0, 1e-5), (0.51, 0.52), (-3.0, 8e9), (5.0, 5.0), (0.0, 0.0)):
        values = ticks(*extent([low, high]))
        written = texts.compact(values)
        assert 2 <= len(values) <= 8 and len(set(written)) == len(written), (values, written)


def test_a_page_is_written_at_once(at):
    documents("d.jsonl")
    assert fit("sweeps=2") == 0
    before = sorted(p.name for p in (at / "run").iterdir())
    assert report.write("run") == (at / "run" / "report.html").relative_to(at)
    assert sorted(p.name for p in (at / "run").iterdir()) == before
