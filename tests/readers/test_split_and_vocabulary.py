"""What every reader of text does alike, shown on JSON lines."""

import json

import numpy as np
import pytest

from plugsamp.errors import InputError, InputWarning
from plugsamp.readers.jsonl import JsonLines


@pytest.fixture
def write(tmp_path):
    def write(documents, name="a.jsonl"):
        path = tmp_path / name
        path.write_text("".join(json.dumps(d) + "\n" for d in documents), encoding="utf-8")
        return str(path)

    return write


def documents(n=20):
    return [{"text": f"ball goal word{'abcdefghij'[i % 10]}", "label": "ab"[i % 2]} for i in range(n)]


def test_the_vocabulary_is_that_of_training_documents(write):
    path = write(
        [
            {"id": "1", "split": "train", "label": "a", "text": "ball goal"},
            {"id": "2", "split": "test", "label": "b", "text": "vote vote ball"},
            {"id": "3", "split": "train", "label": "b", "text": "goal law"},
        ]
    )
    train, test = JsonLines(path=path, min_df=1).read()
    assert train.vocabulary == test.vocabulary == ("ball", "goal", "law")
    assert train.ids == ("1", "3") and test.ids == ("2",)
    assert test.n_unknown.tolist() == [2]
    assert test.counts().toarray().tolist() == [[1, 0, 0]]


def test_a_second_file(write):
    train = write([{"label": "a", "text": "ball goal"}, {"label": "b", "text": "vote law"}])
    test = write([{"label": "c", "text": "vote net"}], "b.jsonl")
    with pytest.warns(InputWarning, match=r"1 labels of test documents .* c"):
        split = JsonLines(path=train, test_path=test, min_df=1).read()
    assert split.test.n_unknown.tolist() == [1]
    other = write([{"text": "vote net"}], "c.jsonl")
    with pytest.warns(InputWarning, match=r"c\.jsonl: the test documents have no 'label'"):
        split = JsonLines(path=train, test_path=other, min_df=1).read()
    assert split.test.responses.tolist() == [None] and split.train.responses.tolist() == ["a", "b"]
    counted = write([{"counts": {"vote": 1}}], "d.jsonl")
    with (
        pytest.warns(InputWarning, match="no 'label'"),
        pytest.raises(InputError, match=r"test file has counts and label, the training file text and label"),
    ):
        JsonLines(path=train, test_path=counted).read()


def test_a_seeded_split_is_stratified_and_repeats(write):
    path = write(documents())
    first, again, other = (JsonLines(path=path, test_size=0.2, split_seed=s).read() for s in (0, 0, 1))
    assert first.test.ids == again.test.ids != other.test.ids
    assert sorted(first.test.responses) == ["a", "a", "b", "b"]
    assert first.train.n_documents == 16
    assert not set(first.train.ids) & set(first.test.ids)


def test_two_ways_to_say_what_tests_is_an_error(write):
    path = write([{"text": "ball", "label": "a", "split": "train"}])
    with pytest.raises(InputError, match="give one"):
        JsonLines(path=path, test_path=path, test_size=0.5).read()
    with pytest.raises(InputError, match="split=split and test_size"):
        JsonLines(path=path, test_size=0.5, split="split").read()


def test_split_values(write):
    path = write([{"text": "ball", "fold": i % 3, "split": "dev"} for i in range(6)])
    split = JsonLines(path=path, split="fold", test_value=2, min_df=1).read()
    assert (split.train.n_documents, split.test.n_documents) == (4, 2)
    with pytest.raises(InputError, match=r"line 1: the split field must be train or test, found 'dev'"):
        JsonLines(path=path).read()
    with pytest.raises(InputError, match="no field 'part'; fields are text, fold, split"):
        JsonLines(path=path, split="part").read()
    assert JsonLines(path=path, split="none", min_df=1).read().test is None


def test_emptied_documents_stay_with_their_labels(write):
    path = write(
        [{"label": "a", "text": "ball"}, {"label": "b", "text": "of the"}, {"label": "c", "text": ""}]
    )
    with pytest.warns(
        InputWarning, match=r"1 of 3 documents have no word of the vocabulary .* '2'"
    ) as caught:
        corpus = JsonLines(path=path, min_df=1).read().train
    assert len(caught) == 1
    assert corpus.lengths.tolist() == [1, 0, 0]
    assert corpus.responses.tolist() == ["a", "b", "c"]


def test_the_vocabulary_of_a_model(write):
    path = write([{"text": "vote ball ball zebra"}])
    with pytest.warns(InputWarning, match="no word of the vocabulary"):
        nothing = JsonLines(path=path).read(vocabulary=("law",)).train
    assert nothing.n_unknown.tolist() == [4]
    corpus = JsonLines(path=path).read(vocabulary=("law", "ball", "vote")).train  # min_df plays no part
    assert corpus.vocabulary == ("law", "ball", "vote")
    assert corpus.counts().toarray().tolist() == [[0, 2, 1]]
    assert corpus.n_unknown.tolist() == [1]


def test_only_some_classes(write):
    path = write([{"label": c, "text": f"ball {c * 3}"} for c in "abc"])
    corpus = JsonLines(path=path, only=["a", "c"], min_df=1).read().train
    assert corpus.responses.tolist() == ["a", "c"]
    assert corpus.vocabulary == ("aaa", "ball", "ccc")
    assert JsonLines(path=path, only="b", min_df=1).read().train.ids == ("2",)
    with pytest.raises(InputError, match="'d', which is no label here; labels are a, b, c"):
        JsonLines(path=path, only=["d"]).read()


def test_several_labels_and_missing_ones(write):
    path = write(
        [
            {"labels": ["x", "y"], "text": "ball", "split": "train"},
            {"labels": [], "text": "ball", "split": "train"},
            {"labels": ["z"], "text": "ball", "split": "test"},
        ]
    )
    with pytest.warns(InputWarning, match="z"):
        train, test = JsonLines(path=path).read()
    assert train.response_names == test.response_names == ("x", "y", "z")
    assert train.responses.tolist() == [[1, 1, 0], [0, 0, 0]] and test.responses.tolist() == [[0, 0, 1]]
    path = write([{"labels": ["x"], "text": "ball"}, {"labels": None, "text": "ball"}])
    corpus = JsonLines(path=path, missing_labels=True).read().train
    assert corpus.responses[0].tolist() == [1.0] and np.isnan(corpus.responses[1, 0])


def test_limits_that_leave_nothing(write):
    path = write([{"text": "ball"}, {"text": "goal"}])
    with pytest.raises(InputError, match=r"none of the 2 words .* min_df=2"):
        JsonLines(path=path).read()
    with pytest.raises(InputError, match="no tokens"):
        JsonLines(path=write([{"text": "the"}, {"text": ""}])).read()


def test_a_share_of_the_documents_counts_as_it_is_written(write):
    texts = ["ball"] * 7 + ["vote"] * 6 + ["law"] * 87
    path = write([{"text": text, "label": "a"} for text in texts])
    assert JsonLines(path=path, min_df=0.07).read().train.vocabulary == ("ball", "law")  # .07 * 100 > 7
