import csv

import numpy as np
import pytest

import plugsamp as ps
from plugsamp.errors import InputError, InputWarning
from plugsamp.readers.csv import Table


@pytest.fixture
def read(tmp_path):
    def read(source, name="a.csv", **options):
        path = tmp_path / name
        path.write_bytes(source.encode())
        return Table(path=str(path), **{"min_df": 1, "stop_words": "none", **options}).read()

    return read


def test_tabs_and_other_delimiters(read):
    expected = read("text,label\nball goal,a\nvote,b\n").train.digest()
    assert read("text\tlabel\r\nball goal\ta\r\nvote\tb\r\n", "a.tsv").train.digest() == expected
    assert read("text\tlabel\nball goal\ta\nvote\tb\n", delimiter="tab").train.digest() == expected
    assert read("text;label\nball goal;a\nvote;b\n", delimiter=";").train.digest() == expected
    with pytest.raises(
        InputError, match=r"""no field 'text', but one .* delimiter\? delimiter=";" says so"""
    ):
        read("text;label\nball goal;a\n")
    with pytest.raises(InputError, match="delimiter must be"):
        read("text\nball\n", delimiter="::")


def test_without_a_header(read):
    corpus = read("a,ball\nb,vote\n", header=False, text="2", label="1").train
    assert corpus.responses.tolist() == ["a", "b"] and corpus.ids == ("1", "2")


def test_several_labels_and_real_responses(read):
    corpus = read("text,labels\nball,x; y\ngoal,y\n").train
    assert corpus.response_names == ("x", "y") and corpus.responses.tolist() == [[1, 1], [0, 1]]
    values = read("text,y\nball,1.5\ngoal,\n", missing_labels=True).train.responses
    assert values[0] == 1.5 and np.isnan(values[1])
    for bad in ("1_0", "x", "nan", "inf", "１"):
        with pytest.raises(InputError, match=r"line 2: y must be a finite number"):
            read(f"text,y\nball,{bad}\n")


def test_missing_labels(read):
    text = "text,label\nball,a\ngoal,NaN\nvote,\n"
    assert read(text, missing_labels=True).train.responses.tolist() == ["a", "NaN", None]
    assert read(text, missing_labels=True, missing_as=["NaN"]).train.responses.tolist() == ["a", None, None]
    with pytest.raises(InputError, match=r"line 4: 2 documents without a label .* 1 of them 'NaN'"):
        read(text)


def test_a_split_column(read):
    train, test = read("text,label,split\nball,a,train\ngoal ball,b,test\nball,b,train\n")
    assert train.responses.tolist() == ["a", "b"] and test.n_unknown.tolist() == [1]


def test_the_quote_that_is_never_closed_is_found(read):
    with pytest.raises(InputError, match=r"line 4, column 3: the quote opened here is never closed"):
        read('id,text\n1,"a ""b""\nc"\n2,"vote\n3,net\n')
    with pytest.raises(InputError, match=r"line 2: not a table: .* every quote opened is closed"):
        read('id,text\n1,"vote\n2,"net"\n')


def test_the_csv_module_keeps_its_limit(read):
    before = csv.field_size_limit()
    read("text\n" + "ball " * 100_000)
    assert csv.field_size_limit() == before


def test_refusals(read):
    with pytest.raises(InputError, match="two columns are called 'text'"):
        read("text,text\na,b\n")
    with pytest.raises(InputError, match="there is no field 'body'; fields are text, label"):
        read("text,label\na,b\n", text="body")
    with pytest.raises(InputError, match="no documents"):
        read("")
    with pytest.warns(InputWarning, match="labels '01', '1' are different values"):
        ps.fit(read("text,label\nball,1\nball,01\n").train, ps.Model(2, loss="hinge"), sweeps=1)
