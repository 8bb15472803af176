"""Columns, weights and real responses beside the text, and what a model asks of a reader."""

from __future__ import annotations

import json

import numpy as np
import pytest

from plugsamp.errors import InputError, InputWarning
from plugsamp.readers.base import Wanted
from plugsamp.readers.csv import Table
from plugsamp.readers.folder import Folder
from plugsamp.readers.jsonl import JsonLines
from plugsamp.readers.lines import Lines

OPEN = {"min_df": 1, "stop_words": "none"}


@pytest.fixture
def table(tmp_path):
    def make(source, name="a.csv", **options):
        path = tmp_path / name
        path.write_text(source)
        return Table(path=str(path), **OPEN | options)

    return make


@pytest.fixture
def lines(tmp_path):
    def make(*documents, name="a.jsonl", **options):
        path = tmp_path / name
        path.write_text("".join(json.dumps({"text": "ball"} | d) + "\n" for d in documents))
        return JsonLines(path=str(path), **OPEN | options)

    return make


# -- columns ---------------------------------------------------------------------------------------------


def test_columns_of_a_table(table):
    source = "text,year,kind\nball,1999,x\ngoal,,\n"
    fields = table(source, fields=["kind", "year"]).read().train.fields
    assert {name: values.tolist() for name, values in fields.items()} == {
        "kind": ["x", None],
        "year": ["1999", None],
    }
    told = table(source).for_model(Wanted(numeric=("year",), categorical=("kind",))).read().train.fields
    assert told["year"].dtype == float and told["year"][0] == 1999 and np.isnan(told["year"][1])
    assert told["kind"].tolist() == ["x", None]
    assert not table(source).read().train.fields


def test_columns_of_json_lines(lines):
    documents = {"year": 1999, "kind": ["x", "y"]}, {"year": "2000", "kind": True}, {"year": None}
    told = lines(*documents).for_model(Wanted(numeric=("year",), categorical=("kind",)))
    fields = told.read().train.fields
    assert fields["year"][:2].tolist() == [1999.0, 2000.0] and np.isnan(fields["year"][2])
    assert fields["kind"].tolist() == [("x", "y"), True, None]
    assert lines(*documents, fields=["year"]).read().train.fields["year"].tolist() == [1999, "2000", None]


def test_columns_follow_their_documents(table):
    source = "text,label,n,split\nball,a,1,train\nball,b,2,test\nball,a,3,train\nball,b,4,train\n"
    split = table(source, fields=["n"]).read()
    assert split.train.fields["n"].tolist() == ["1", "3", "4"]
    assert split.test.fields["n"].tolist() == ["2"]
    only = table(source, fields=["n"], only=["b"], split="none").read().train
    assert only.fields["n"].tolist() == ["2", "4"]


def test_a_column_that_is_not_there(table, lines, tmp_path):
    told = table("text,year\nball,1\n").for_model(Wanted(numeric=("yaer",)))
    with pytest.raises(InputError, match=r"a\.csv, line 1: there is no field 'yaer'; fields are text, year"):
        told.read()
    with pytest.raises(InputError, match=r"no document has a field 'yaer'; fields of the first are text, y"):
        lines({"y": 1}, fields=["yaer"]).read()
    (tmp_path / "b.csv").write_text("text\nball\n")
    second = table("text,year\nball,1\n", test_path=str(tmp_path / "b.csv"), fields=["year"])
    with pytest.raises(InputError, match=r"b\.csv, line 1: there is no field 'year'"):
        second.read()


def test_a_value_that_is_no_number(table, lines):
    wanted = Wanted(numeric=("n",))
    with pytest.raises(InputError, match=r"line 3: n must be a finite number, found 'NA'; .*missing_as"):
        table("text,n\nball,1\nball,NA\n").for_model(wanted).read()
    values = table("text,n\nball,1\nball,NA\n", missing_as=["NA"]).for_model(wanted).read().train.fields["n"]
    assert np.isnan(values[1])
    with pytest.raises(InputError, match=r"line 2: n must be a finite number, found \['x'\]"):
        lines({"n": 1}, {"n": ["x"]}).for_model(wanted).read()
    with pytest.raises(InputError, match=r"line 1: n must be a string, a number or a list of strings, found"):
        lines({"n": {"a": 1}}, fields=["n"]).read()


def test_formats_without_columns_say_so(tmp_path):
    (tmp_path / "a.txt").write_text("ball\n")
    with pytest.raises(InputError, match=r"the column 'year', and Lines reads no columns; corpus=csv and"):
        Lines(path=str(tmp_path / "a.txt")).for_model(Wanted(numeric=("year",)))


def test_being_told_changes_no_reader(table):
    reader = table("text,year\nball,1\n")
    reader.for_model(Wanted(numeric=("year",)))
    assert not reader.read().train.fields


# -- weights ---------------------------------------------------------------------------------------------


def test_weights_of_documents(table, lines):
    assert table("text,w\nball,2\nball,0\n", weight="w").read().train.weights.tolist() == [2.0, 0.0]
    assert lines({"w": 0.5}, {"w": 1}, weight="w").read().train.weights.tolist() == [0.5, 1.0]
    assert table("text,w\nball,2\n").read().train.weights is None
    for bad in ("", "-1", "x", "1e-20"):
        with pytest.raises(InputError, match=r"line 3: the weight in 'w' must be a number, 0 or from 1e-12"):
            table(f"text,w\nball,1\nball,{bad}\n", weight="w").read()
    with pytest.raises(InputError, match="line 1: there is no field 'w'"):
        table("text\nball\n", weight="w").read()


# -- responses -------------------------------------------------------------------------------------------


def test_several_real_responses(table, lines):
    train = table("text,a,b\nball,1,2\ngoal,3,\n", y=["a", "b"], missing_labels=True).read().train
    assert train.response_names == ("a", "b")
    assert train.responses[0].tolist() == [1, 2] and np.isnan(train.responses[1, 1])
    train = lines({"a": 1, "b": None}, {"a": 2, "b": 3.5}, y=["a", "b"], missing_labels=True).read().train
    assert train.responses[1].tolist() == [2, 3.5] and np.isnan(train.responses[0, 1])
    with pytest.raises(InputError, match=r"line 3: 1 document without a b"):
        table("text,a,b\nball,1,2\ngoal,3,\n", y=["a", "b"]).read()
    with pytest.raises(InputError, match=r"line 1: 1 document has no b"):
        lines({"a": 1, "b": None}, y=["a", "b"]).read()
    with pytest.raises(InputError, match="there is no field 'c'; fields are text, a, b"):
        table("text,a,b\nball,1,2\n", y=["a", "c"]).read()


def test_a_response_that_was_named_is_taken_before_others(table):
    source = "text,label,y,score\nball,x,1,2.5\n"
    assert table(source).read().train.responses.tolist() == ["x"]
    assert table(source, y="score").read().train.responses.tolist() == [2.5]
    with pytest.raises(InputError, match="there is no field 'scoer'"):
        table(source, y="scoer").read()


def test_numbers_for_a_real_loss_and_classes_as_written_for_a_classifier(table, lines):
    real, classes = Wanted("real"), Wanted("classes")
    source = "text,label\nball,01\ngoal,2.50\n"
    assert table(source).for_model(real).read().train.responses.tolist() == [1.0, 2.5]
    assert table(source).for_model(classes).read().train.responses.tolist() == ["01", "2.50"]
    both = {"label": "x", "y": 0.5}
    assert lines(both).for_model(real).read().train.responses.tolist() == [0.5]
    assert lines(both).for_model(classes).read().train.responses.tolist() == ["x"]
    with pytest.raises(InputError, match="line 2: label must be a finite number, found 'x'"):
        table("text,label\nball,x\n").for_model(real).read()


def test_a_model_without_responses_needs_no_labels(table, lines, tmp_path):
    source = "text,label\nball,a\ngoal,\n"
    with pytest.raises(InputError, match="1 document without a label"):
        table(source).read()
    assert table(source).for_model(Wanted("none")).read().train.responses.tolist() == ["a", None]
    told = lines({"label": "a"}, {}).for_model(Wanted("none"))
    assert told.read().train.responses.tolist() == ["a", None]
    (tmp_path / "texts" / "a").mkdir(parents=True)
    for name in ("loose.txt", "a/b.txt"):
        (tmp_path / "texts" / name).write_text("ball")
    folder = Folder(path=str(tmp_path / "texts"), **OPEN)
    assert folder.for_model(Wanted("none")).read().train.responses is None
    with pytest.raises(InputError, match="no sub-folder"):
        folder.read()


def test_test_documents_may_lack_the_field_of_the_response(table, tmp_path):
    second = str(tmp_path / "b.csv")
    (tmp_path / "b.csv").write_text("text\nball\n")
    for source, options, missing in (
        ("text,label\nball,a\ngoal,b\n", {}, [None]),
        ("text,team\nball,a\ngoal,b\n", {"label": "team"}, [None]),
        ("text,team\nball,a\ngoal,b\n", {"label": "team", "response": "label", "only": ["a"]}, [None]),
    ):
        with pytest.warns(InputWarning, match=r"b\.csv: the test documents have no '(label|team)', so they"):
            split = table(source, test_path=second, **options).read()
        assert split.test.responses.tolist() == missing
    with pytest.warns(InputWarning, match="no 'u', 'v'"):
        split = table("text,u,v\nball,1,2\n", test_path=second, y=["u", "v"]).read()
    assert split.test.responses.shape == (1, 2) and np.isnan(split.test.responses).all()
    with pytest.warns(InputWarning, match="no 'labels'"):
        split = table("text,labels\nball,a;b\n", test_path=second).read()
    assert np.isnan(split.test.responses).all() and split.test.response_names == ("a", "b")
