import gzip

import numpy as np
import pytest

from plugsamp.errors import InputError
from plugsamp.readers.jsonl import JsonLines


@pytest.fixture
def read(tmp_path):
    def read(text, **options):
        path = tmp_path / "a.jsonl.gz"
        path.write_bytes(gzip.compress(text.encode()))
        return JsonLines(path=str(path), **{"min_df": 1, "stop_words": "none", **options}).read().train

    return read


def test_counts_real_responses_and_fields_of_ones_own(read):
    corpus = read(
        '{"c": {"New York": 2, "b": 1.0}, "score": 3}\n{"c": {}, "score": -0.5}\n', counts="c", y="score"
    )
    assert corpus.vocabulary == ("New York", "b")
    assert corpus.words.tolist() == [0, 0, 1]
    assert corpus.responses.tolist() == [3.0, -0.5]
    assert corpus.ids == ("1", "2")  # the lines


def test_missing_responses(read):
    text = '{"text": "ball", "label": null, "y": 1}\n{"text": "ball", "label": "a"}\n'
    assert read(text, missing_labels=True).responses.tolist() == [None, "a"]
    values = read(text, missing_labels=True, response="y").responses
    assert values[0] == 1.0 and np.isnan(values[1])
    with pytest.raises(InputError, match=r"a.jsonl.gz, line 1: 1 document has no label"):
        read(text)


def test_labels_compare_as_text(read):
    assert read('{"text": "ball", "label": 1}\n{"text": "ball", "label": 10}').responses.tolist() == [
        "1",
        "10",
    ]
    assert read('{"text": "ball", "label": true}').responses.tolist() == ["true"]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ('{"text": "a", "label": "x"}\n{"text": "a", "label": 1}', {}, "line 2: labels must be of one type"),
        ('{"txt": "a"}', {}, "line 1: there is no field 'text', 'tokens', 'counts'; fields are txt"),
        ('{"text": "a"}\n{"txt": "a"}', {}, "line 2: there is no field 'text'"),
        ('{"text": "a"}', {"label": "class"}, "line 1: there is no field 'class'"),
        ('{"text": "a"}', {"response": "label"}, "there is no field 'label'"),
        ('{"text": "a"}', {"response": "kind"}, "response must be auto"),
        ('{"text": "a", "label": ["x"]}', {}, "label must be one label, found a list"),
        ('{"text": "a", "label": " "}', {}, "label is empty"),
        ('{"text": "a", "labels": "x"}', {}, "labels must be a list of labels, found a string"),
        ('{"text": "a", "y": "3"}', {}, "y must be a number, found a string"),
        ('{"text": "a", "y": 1e999}', {}, "too large"),
        ('{"text": "a", "id": {}}', {}, "an id must be a string or a number, found an object"),
        ('{"text": "a", "id": 1}\n{"text": "a", "id": "1"}', {}, "id 1 is on lines 1 and 2"),
        ('{"counts": {"a": 0.5}}', {}, 'count of "a" must be a whole number, found 0.5'),
        ('{"counts": {"a": -1}}', {}, "outside"),
        ('{"counts": {"a": true}}', {}, "whole number"),
        ('{"counts": {"a": 3000000000}}', {}, "outside 0..2147483647"),
        ('{"counts": {"a": 1e999}}', {}, "count of"),
        ('{"tokens": [""]}', {}, "token 1 is empty"),
        ('"text"', {}, "must be a JSON object, found a string"),
        ("[" * 100_000, {}, "JSON array"),
        ('{"a":' * 100_000, {}, "nested too deeply"),
        ('{"counts":{"a":' + "9" * 5000 + "}}", {}, "a number has thousands of digits"),
        ('{"text": "a"}\r{"text": "b"}', {}, "line 1, column 14: carriage return"),
    ],
)
def test_refusals(read, text, options, message):
    with pytest.raises(InputError, match=message):
        read(text, **options)
