"""Labels and values of columns that look like nothing, or like others: joined, or told of."""

from __future__ import annotations

import json
import unicodedata
import warnings

import numpy as np
import pytest

import plugsamp as ps
from plugsamp import readers
from plugsamp.covariates import Covariates
from plugsamp.errors import InputError, InputWarning
from plugsamp.lookalikes import MISSING, matched, tidy
from plugsamp.prediction.evaluation import evaluate
from plugsamp.readers.base import Wanted
from plugsamp.registry import RegistryError, resolve

ABSENT = ["NA", "NaN", "nan", "NULL", "None", "N/A", "#N/A", "-", "?", "<NA>"]
SPACE, FOOD = "rocket orbit moon", "bread butter soup"


def corpus(responses, **more):
    return ps.Corpus.from_counts(
        np.tile([[2, 0], [0, 2]], (len(responses) // 2, 1)), responses=responses, **more
    )


def fitted(documents, loss="hinge"):
    return ps.fit(documents, ps.Model(2, loss=loss), sweeps=3)


def quietly(function, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return function(*arguments, **options)


@pytest.fixture
def table(tmp_path):
    def write(rows, head="text,label", name="a.csv", **options):
        path = tmp_path / name
        path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
        return readers.Table(path=str(path), min_df=1, **options)

    return write


@pytest.fixture
def lines(tmp_path):
    def write(documents, name="a.jsonl", **options):
        path = tmp_path / name
        path.write_text("".join(json.dumps(d) + "\n" for d in documents), encoding="utf-8")
        return readers.JsonLines(path=str(path), min_df=1, **options)

    return write


# -- missing by name -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ABSENT)
def test_a_label_that_looks_missing_is_told_of_and_can_be_missing(name, table, lines):
    rows = [f"{SPACE},space", f"{FOOD},food", f"{SPACE},{name}"] * 2
    with pytest.warns(InputWarning, match="looks like a missing value") as told:
        fitted(table(rows).read().train)
    advice = f"missing_as=[{json.dumps(name)}]"
    assert advice in str(told[0].message)
    documents = [{"text": t, "label": label} for t, _, label in (row.partition(",") for row in rows)]
    for reader in (table, lines):
        given = rows if reader is table else documents
        read = reader(given, missing_as=[name], missing_labels=True).read().train
        assert read.responses.tolist() == ["space", "food", None] * 2
        assert quietly(fitted, read).coding.classes.tolist() == ["food", "space"]
        with pytest.raises(InputError, match="2 documents"):
            reader(given, missing_as=[name]).read()


def test_names_that_are_values_beside_nothing_else_or_other_words_are_not_told_of():
    quietly(fitted, corpus(["NA", "-"] * 3))
    quietly(fitted, corpus(["none", "some"] * 3))
    assert "none" not in MISSING and {"", *ABSENT} <= MISSING


def test_a_label_of_documents_to_evaluate_that_looks_missing(table):
    predictor = fitted(corpus(["a", "b"] * 3))
    with pytest.warns(
        UserWarning, match=r"count as wrong: 'NA'; 'NA' may be no label: missing_as=\[\"NA\"\]"
    ):
        evaluate(predictor, corpus(["a", "NA"]))
    rows = [f"{SPACE},space", f"{FOOD},food"] * 3
    train = table(rows).read().train
    reader = table([*rows, f"{FOOD},NA", f"{SPACE},NA"], name="b.csv", missing_as=["NA"], missing_labels=True)
    measures = quietly(evaluate, fitted(train), reader.read(vocabulary=train.vocabulary).train).measures
    assert (measures["n_scored"], measures["n_missing"]) == (6, 2)


def test_several_labels_that_look_missing(table):
    rows = [f"{SPACE},a;b", f"{FOOD},b", f"{FOOD},N/A"] * 2
    with pytest.warns(InputWarning, match="'N/A' among the labels looks like a missing value"):
        fitted(table(rows, labels="label", response="labels").read().train)
    read = (
        table(rows, labels="label", response="labels", missing_as=["N/A"], missing_labels=True).read().train
    )
    assert read.response_names == ("a", "b") and np.isnan(read.responses[2]).all()


def test_values_of_columns_that_look_missing(table, lines):
    rows = [f"{SPACE},a,x,1.5", f"{FOOD},b,NULL,NA"] * 2
    wanted = Wanted("classes", ("year",), ("place",))
    with pytest.raises(
        InputError, match=r"year must be a finite number, found 'NA'; missing_as=\[\"NA\"\] reads"
    ):
        table(rows, "text,label,place,year").for_model(wanted).read()
    with pytest.raises(InputError, match=r"label must be a finite number, found 'NA'; missing_as=\[\"NA\"\]"):
        table([f"{SPACE},1", f"{FOOD},NA"]).for_model(Wanted("real")).read()
    both = ["NA", "NULL"]
    read = table(rows, "text,label,place,year", missing_as=both).for_model(wanted).read().train
    assert read.fields["place"].tolist() == ["x", None] * 2
    assert np.isnan(read.fields["year"]).tolist() == [False, True] * 2
    documents = [{"text": SPACE, "place": p, "label": "a"} for p in ("x", "NULL")]
    found = lines(documents, missing_as=both).for_model(Wanted("classes", (), ("place",))).read().train
    assert found.fields["place"].tolist() == ["x", None]
    column = corpus(["a", "b"] * 2, fields={"place": ["x", "NULL", "y", "NULL"]})
    with pytest.warns(
        InputWarning, match="'NULL' among the values of the column 'place' looks like a missing"
    ):
        Covariates(categorical="place").fit(column)


def test_a_new_value_of_a_column_that_looks_missing():
    column = Covariates(categorical="place").fit(corpus(["a", "b"], fields={"place": ["x", "y"]}))
    with pytest.warns(
        InputWarning, match=r"'NULL' in the column 'place', .* missing_as=\[\"NULL\"\] reads it"
    ):
        assert column.transform(corpus(["a", "b"], fields={"place": ["x", "NULL"]})).covariates.sum() == 1
    quietly(column.transform, corpus(["a", "b"], fields={"place": ["x", "z"]}))


def test_what_yaml_reads_as_no_text_is_refused():
    for value in ([float("nan")], [None, "NA"], [True], float("nan")):
        with pytest.raises(RegistryError, match=r"must be a list \(a string each\) or null, not"):
            resolve("readers", "csv", path="a.csv", missing_as=value)


# -- look-alikes ---------------------------------------------------------------------------------------------

SAME = [
    "New York",
    "New  York",
    "New\u00a0York",
    " New York",
    "New York ",
    "New\u200b York",
    "\ufeffNew York",
    "\u200eNew York\u202c",
    "New York\ufe0f",
]


def test_labels_that_look_the_same_are_the_same(table, lines):
    labels = [label for name in SAME for label in (name, "Bonn")]
    texts = [SPACE, FOOD] * len(SAME)
    for reader in (
        table([f"{t},{label}" for t, label in zip(texts, labels, strict=True)]),
        lines([{"text": t, "label": label} for t, label in zip(texts, labels, strict=True)]),
        lines([{"text": t, "labels": [label]} for t, label in zip(texts, labels, strict=True)]),
    ):
        read = reader.read().train
        found = read.response_names or tuple(read.responses.tolist())
        assert set(found) == {"New York", "Bonn"}
        quietly(fitted, read)


def test_unicode_forms_of_labels_are_one(table):
    rows = [f"{SPACE},{unicodedata.normalize(form, 'Köln')}" for form in ("NFC", "NFD")]
    read = table([*rows, f"{FOOD},Bonn"]).read().train
    assert read.responses.tolist() == ["Köln", "Köln", "Bonn"]
    selected = table([*rows, f"{FOOD},Bonn"], only=[unicodedata.normalize("NFD", "Köln")]).read().train
    assert selected.n_documents == 2


@pytest.mark.parametrize(
    "labels, said",
    [
        (["Bonn", "bonn"], "'Bonn', 'bonn' are different values, though they differ only in the case"),
        (["1", "1.0"], "'1', '1.0' are different values, though they are equal numbers"),
        (["1", "01"], "'01', '1' are different values, though they are equal numbers"),
        (["a", "a "], "'a', 'a ' are different values, though they differ only in blanks"),
        (["Ko\u0308ln", "Köln"], ".* differ only in blanks or in characters that look the same"),
        (["1,5", "1.50"], "'1,5', '1.50' are different values, though they are equal numbers"),
        (["\u0661", "1"], "'1', '\u0661' are different values, though they are equal numbers"),
        (["don\u2019t", "don't"], ".* are different values, though they look alike"),
        (["a-b", "a\u2013b"], ".* are different values, though they look alike"),
        (["A\u0441", "Ac"], ".* are different values, though they look alike"),
        (["ﬁn", "fin"], "'fin', 'ﬁn' are different values, though they look alike"),
        (["a-b", "a\u2013b"], "'a-b', 'a\u2013b' are different values, though they look alike"),
        (["d'or", "d\u2019or"], ".* are different values, though they look alike"),
    ],
)
def test_labels_that_a_person_would_doubt(labels, said):
    with pytest.warns(InputWarning, match=f"the labels {said}"):
        fitted(corpus([*labels, "other", "more"]))
    column = corpus(["a", "b"], fields={"place": [*labels]})
    if tidy(labels[0]) == tidy(labels[1]):
        assert len(quietly(Covariates(categorical="place").fit, column).names) == 1
    else:
        with pytest.warns(InputWarning, match=f"the values of the column 'place' {said}"):
            Covariates(categorical="place").fit(column)


def test_labels_that_nobody_doubts():
    quietly(fitted, corpus(["a", "b", "1", "10", "1e", "nano"]))
    quietly(fitted, corpus([1, 2, 1, 2]))
    quietly(fitted, corpus([True, False]))


def test_numbers_as_labels_in_json(lines):
    documents = [{"text": SPACE, "label": label} for label in (1, 1.0, 2, 2.5, 3.0)]
    assert lines(documents).read().train.responses.tolist() == ["1", "1", "2", "2.5", "3.0"]


def test_other_documents_are_matched_by_value(table):
    train = [f"{SPACE},1", f"{FOOD},2"] * 3
    test = table([f"{SPACE},1.0", f"{FOOD},2.0"], name="b.csv").path
    split = quietly(table(train, test_path=test).read)
    assert split.test.responses.tolist() == ["1", "2"]
    predictor = fitted(split.train)
    assert quietly(evaluate, predictor, split.test.with_responses(["1.0", "2.0"])).main == 1.0
    assert matched(["1.0", "2", "3.0", 4], ["1", "2"]) == {"1.0": "1"}
    assert matched(["1.0"], ["1", "1 "]) == {}


def test_categories_spelled_otherwise_are_the_same():
    encoder = Covariates(categorical="region").fit(corpus(["a", "b"], fields={"region": ["1", "2"]}))
    for values in (["1.0", "2.0"], [1, 2], [1.0, 2.0], [" 1", "2\u00a0"], np.array([1.0, 2.0])):
        new = corpus(["a", "b"], fields={"region": values})
        assert quietly(encoder.transform, new).covariates.tolist() == [[1, 0], [0, 1]]


def test_categories_that_training_never_had_are_told_of():
    encoder = Covariates(categorical="region").fit(corpus(["a", "b"], fields={"region": ["north", "south"]}))
    with pytest.warns(
        InputWarning, match="no document has a value of the column 'region' .* had: they have 'N'"
    ):
        encoder.transform(corpus(["a", "b"], fields={"region": ["N", "S"]}))
    quietly(encoder.transform, corpus(["a", "b"], fields={"region": ["north", "S"]}))
    quietly(encoder.transform, corpus(["a", "b"], fields={"region": [None, None]}))
