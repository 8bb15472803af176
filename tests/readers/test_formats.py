"""A file that another reader was asked to read is named by what it looks like."""

from __future__ import annotations

import json
import re
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import plugsamp as ps
from plugsamp.cli import main
from plugsamp.errors import InputError, InputWarning
from plugsamp.lookalikes import several_in_one
from plugsamp.readers.formats import FORMATS, WORDS, format_of
from plugsamp.registry import resolve

#: A file of each format.
TEXTS = {
    "jsonl": '{"text": "moon orbit", "label": "a"}\n{"text": "soup bread", "label": "b"}\n',
    "mm": "%%MatrixMarket matrix coordinate integer general\n2 3 3\n1 1 2\n1 2 1\n2 3 1\n",
    "uci": "2\n3\n3\n1 1 2\n1 2 1\n2 3 1\n",
    "ldac": "2 0:1 1:2\n1 2:1\n",
    "svmlight": "1 1:2 2:1 # a comment\n-1 qid:3 3:1\n",
    "csv": "text,label\nmoon orbit,a\nsoup bread,b\n",
    WORDS: "moon\norbit\nbread\n",
}


@pytest.fixture
def files(tmp_path):
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_formats_by_their_lines():
    assert {name: format_of(text.splitlines()) for name, text in TEXTS.items()} == {
        name: name for name in TEXTS
    }
    for text in (
        "",
        "\n",
        "moon orbit\nsoup bread",
        "1\n2\n3",
        "a b:1\nc d:2",
        '{"a\n',
        "x" * 10**5,
        "a,b\nc\n",
    ):
        assert format_of(text.splitlines()) in (None, "csv", WORDS)


@pytest.mark.parametrize("reader", [*FORMATS, "mallet", "npz"])
@pytest.mark.parametrize("name", TEXTS)
def test_what_another_reader_is_asked_to_read(reader, name, files):
    if name == reader or (name == "csv" and reader == "mallet"):
        return
    with warnings.catch_warnings(), pytest.raises(InputError) as refused:
        warnings.simplefilter("ignore")
        resolve("readers", reader, path=str(files / name)).read()
    said = str(refused.value)
    if name in FORMATS:
        assert said.endswith(f"; this looks like {FORMATS[name][0]}, which corpus={name} reads"), said
        assert said.count("this looks like") == 1
    elif reader in ("mm", "uci", "ldac", "svmlight", "npz"):
        assert "a list of words: are the files of counts and of words exchanged?" in said


def test_the_named_reader_reads_it(files, monkeypatch, capsys):
    monkeypatch.chdir(files)
    options = ["n_topics=2", "sweeps=1", "report=false", "loss=none", "corpus.test_size=0", "overwrite=true"]
    for reader, name in (("csv", "jsonl"), ("jsonl", "csv"), ("svmlight", "mm"), ("mm", "svmlight")):
        assert main(["fit", f"corpus={reader}", f"corpus.path={name}", "hydra.run.dir=run", *options]) == 2
        advice = re.search(r"which (corpus=\w+) reads", capsys.readouterr().err)[1]
        more = ["corpus.min_df=1"] if name in ("jsonl", "csv") else []
        assert main(["fit", advice, f"corpus.path={name}", "hydra.run.dir=run", *options, *more]) == 0


@pytest.mark.parametrize("name", ["jsonl", "mm", "uci", "ldac", "svmlight"])
def test_counts_in_place_of_words(name, files):
    sp.save_npz(files / "c.npz", sp.csr_array(np.eye(3, dtype=int)))
    for option in ("vocabulary_path", "labels_path"):
        with pytest.raises(InputError, match=r"and not like a list of .*; are the files exchanged"):
            resolve("readers", "npz", path=str(files / "c.npz"), **{option: str(files / name)}).read()
    with pytest.raises(InputError, match="and not like a list of words"):
        resolve("readers", "ldac", path=str(files / "ldac"), vocabulary_path=str(files / name)).read()


def test_lines_that_are_no_texts(files):
    with pytest.warns(InputWarning, match="this looks like JSON lines, which corpus=jsonl reads"):
        resolve("readers", "lines", path=str(files / "jsonl"), min_df=1).read()


# -- several labels in one -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "delimiter"),
    [
        (["a,b", "b", "a", "c"], ","),
        (["a; b", "b;c", "a;c"], ";"),
        (["a|b", "a", "b"], "|"),
        (["New York, NY", "Boston, MA", "Boston"], None),
        (["a", "b"], None),
        (["R&B", "a,", ",a", ","], None),
        ([], None),
    ],
)
def test_labels_that_look_like_several(labels, delimiter):
    found = several_in_one(labels)
    assert (found and found[1]) == delimiter


ROWS = [("moon orbit", "a,b"), ("soup bread", "b"), ("moon soup", "a"), ("orbit", "b,c")]


@pytest.mark.parametrize("option", ["label", "labels"])
def test_several_labels_in_a_cell(option, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,tags\n" + "".join(f'{text},"{tags}"\n' for text, tags in ROWS))
    reader = {"path": str(path), "min_df": 1}
    with pytest.warns(
        InputWarning, match="labels such as 'a,b' look like several, and each is taken as"
    ) as told:
        resolve("readers", "csv", **reader, **{option: "tags"}).read()
    (said,) = [str(one.message) for one in told]
    assert said.endswith(("labels=tags " if option == "label" else "") + 'label_delimiter="," reads several')
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        corpus = resolve("readers", "csv", **reader, labels="tags", label_delimiter=",").read().train
    assert corpus.response_names == ("a", "b", "c") and corpus.responses.tolist()[0] == [1, 1, 0]


@pytest.mark.parametrize("field", ["label", "labels"])
def test_several_labels_in_a_text_of_json(field, tmp_path):
    path = tmp_path / "a.jsonl"
    values = [(text, tags if field == "label" else [tags]) for text, tags in ROWS]
    path.write_text("".join(json.dumps({"text": text, field: tags}) + "\n" for text, tags in values))
    with pytest.warns(InputWarning, match="labels such as 'a,b' look like several.*; a list has several"):
        resolve("readers", "jsonl", path=str(path), min_df=1).read()


@pytest.mark.parametrize(
    ("label", "says"),
    [
        (["a,b", "b", "a", "c"], "labels such as 'a,b' look like several"),
        (["['a']", "['b', 'a']", "[]", "['a']"], "look like printed lists; a column of lists has several"),
    ],
)
def test_several_labels_in_a_cell_of_a_frame(label, says):
    frame = {"text": ["moon orbit"] * 4, "label": label}
    with pytest.warns(InputWarning, match=says):
        ps.Corpus.from_frame(frame, label="label", min_df=1)


@pytest.mark.parametrize("value", ["[null]", '["a", null]'])
def test_null_in_a_list_of_labels(value, tmp_path):
    (tmp_path / "a.jsonl").write_text(
        f'{{"text": "moon", "labels": ["b"]}}\n{{"text": "soup", "labels": {value}}}\n'
    )
    with pytest.raises(
        InputError, match="line 2: a label in the list of labels is null; leave it out, or write"
    ):
        resolve("readers", "jsonl", path=str(tmp_path / "a.jsonl"), min_df=1, missing_labels=True).read()


LISTS = [["a"], ["b", "a"], [], ["b"]]


@pytest.mark.parametrize("kind", [list, tuple, set])
def test_lists_of_labels_in_python(kind):
    pd = pytest.importorskip("pandas")
    given = list(map(kind, LISTS))
    for labels in (given, pd.Series(given)):
        for take in (
            lambda y: ps.Corpus.from_counts(np.eye(4, dtype=int), responses=y),
            lambda y: ps.SupervisedTopicClassifier(2, sweeps=1).fit(np.eye(4, dtype=int), y),
        ):
            with pytest.raises(ValueError, match="MultiLabelBinarizer of scikit-learn makes them"):
                take(labels)


DATES = ["2020-01-01", "2021-02-03 10:00", "2020/1/5", "3.4.2021"]


def test_dates_as_real_responses(tmp_path):
    counts, says = np.eye(4, dtype=int), "make numbers of dates and durations first, such as days since a day"
    corpus = ps.Corpus.from_counts(counts, responses=DATES, fields={"day": DATES})
    with pytest.raises(ValueError, match=says):
        ps.fit(corpus, ps.Model(2, loss="gaussian"), sweeps=1)
    with pytest.raises(ValueError, match=says):
        ps.SupervisedTopicRegressor(2, sweeps=1).fit(counts, DATES)
    with pytest.raises(ValueError, match=r"y holds 'x'$"):
        ps.SupervisedTopicRegressor(2, sweeps=1).fit(counts, ["1", "x", None, 2.5])
    with pytest.raises(ValueError, match=says):
        ps.Covariates(numeric=["day"]).fit(corpus)
    (tmp_path / "a.csv").write_text("text,y\n" + "".join(f"moon,{day}\n" for day in DATES))
    with pytest.raises(InputError, match=f"y must be a finite number, found '2020-01-01'; {says}"):
        resolve("readers", "csv", path=str(tmp_path / "a.csv"), min_df=1).read()


def test_the_model_of_a_run_folder(tmp_path):
    corpus = ps.Corpus.from_counts(np.eye(4, dtype=int) + 1, responses=["a", "b"] * 2)
    ps.save_model(tmp_path / "run/model", ps.fit(corpus, ps.Model(2, loss="hinge"), sweeps=1).predictor)
    with pytest.raises(
        ValueError, match=r"is a run folder: plugsamp\.load reads it, load_model reads .*/run/model$"
    ):
        ps.load_model(tmp_path / "run")
    assert ps.load_model(tmp_path / "run/model").vocabulary == corpus.vocabulary
