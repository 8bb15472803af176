import gzip

import numpy as np
import pytest

from plugsamp.errors import InputError
from plugsamp.readers.base import Wanted
from plugsamp.readers.svmlight import SvmLight


@pytest.fixture
def files(tmp_path):
    def files(**texts):
        for name, text in texts.items():
            (tmp_path / name).write_bytes(text.encode())
        return {name: str(tmp_path / name) for name in texts}

    return files


def test_names_and_a_second_file(files):
    f = files(
        train="0 1:2 3:1\n1 2:4\n",
        test="1 3:1 4:5\n0\n",
        words="ball\ngoal\nvote\nlaw\n\n",
        labels="a b\nc\n",
    )
    options = {"vocabulary_path": f["words"], "labels_path": f["labels"]}
    train, test = SvmLight(path=f["train"], test_path=f["test"], **options).read()
    assert train.vocabulary == test.vocabulary == ("ball", "goal", "vote", "law")
    assert train.responses.tolist() == ["a b", "c"] and test.responses.tolist() == ["c", "a b"]
    assert test.counts().toarray().tolist() == [[0, 0, 1, 5], [0, 0, 0, 0]]
    train, test = SvmLight(path=f["train"], test_path=f["test"]).read()
    assert train.vocabulary == ("w1", "w2", "w3") and test.n_unknown.tolist() == [5, 0]


def test_fast_and_slow_lines_agree(files):
    rng = np.random.default_rng(0)
    rows = [[(int(w), int(rng.integers(0, 9))) for w in rng.permutation(30)[:8] + 1] for _ in range(40)]
    fast = "".join(f"{i % 3} " + " ".join(f"{w}:{n}" for w, n in row) + "\n" for i, row in enumerate(rows))
    slow = "# note\n" + "".join(
        f"{i % 3}.0\t" + "  ".join(f"{w}:{n}.0e0" for w, n in row) + " # x\r\n\n"
        for i, row in enumerate(rows)
    )
    f = files(fast=fast, slow=slow)
    assert SvmLight(path=f["fast"]).read().train.digest() == SvmLight(path=f["slow"]).read().train.digest()


@pytest.mark.parametrize(
    ("labels", "expected", "dtype"),
    [
        (["1", "+1", "1.0"], [1, 1, 1], np.int64),
        (["1", "0.5", "-2e1"], [1, 0.5, -20], np.float64),
        (["1", "01", "x"], ["1", "01", "x"], object),
        (["1_0", "1", "2"], ["1_0", "1", "2"], object),
    ],
)
def test_labels(files, labels, expected, dtype):
    f = files(a="".join(f"{label} 1:1\n" for label in labels))
    responses = SvmLight(path=f["a"]).read().train.responses
    assert responses.tolist() == expected and responses.dtype == dtype


def test_kinds_of_response(files):
    f = files(a="1,3 1:1\n 2:1\n3 1:1\n")
    corpus = SvmLight(path=f["a"], response="labels").read().train
    assert corpus.response_names == ("1", "3") and corpus.responses.tolist() == [[1, 1], [0, 0], [0, 1]]
    f = files(a="3 1:1\n4 2:1\n")
    assert SvmLight(path=f["a"], response="y").read().train.responses.dtype == np.float64
    assert SvmLight(path=f["a"], response="none").read().train.responses is None


def test_selection_and_seeded_split(files):
    f = files(a="".join(f"{i % 4} 1:{i + 1}\n" for i in range(40)))
    train, test = SvmLight(path=f["a"], only=["1", "2"], test_size=0.25).read()
    assert sorted(test.responses) == [1, 1, 1, 2, 2] or sorted(test.responses) == [1, 1, 2, 2, 2]
    assert train.n_documents == 15


def test_model_vocabulary(files):
    f = files(a="1 1:2 2:1\n")
    corpus = SvmLight(path=f["a"]).read(vocabulary=("w2", "w9")).train
    assert corpus.counts().toarray().tolist() == [[1, 0]] and corpus.n_unknown.tolist() == [2]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (
            "0 1:1\n0 4:1\n",
            {},
            r"a, line 2, column 3: feature id 4 is over 3, the last of .*words \(3 words\)",
        ),
        ("0 1:1\n7 1:1\n", {}, "a, line 2, column 1: label '7' is none of the 2 lines"),
        ("x 1:1\n", {}, "label 'x' is none of"),
        ("nan 1:1\n", {"labels_path": None}, "line 1, column 1: label 'nan' is neither"),
        ("x 1:1\n", {"labels_path": None, "response": "y"}, "line 1, column 1: response 'x' is not a number"),
        ("0 1:1 2:9999999999\n", {}, "line 1, column 7: count 9999999999 is over the limit"),
        ("0 " + "9" * 5000 + ":1\n", {}, "over the limit"),
        ("0 1:1e400\n", {}, "over the limit"),
        ("0 1:-inf\n", {}, "not a whole number"),
        ("0 1:0x1\n", {}, "cannot read count '0x1'"),
        ("0 property:1\n", {}, "cannot read 'property' as a feature id"),
        ("0 1:1\x002:1\n", {}, "NUL byte"),
        ("0\n1\n", {}, "no tokens"),
        ("0 1:1\n", {"index_base": 2}, "index_base"),
        ("0 1:1\n", {"response": "kind"}, "response must be"),
    ],
)
def test_refusals(files, text, options, message):
    f = files(a=text, words="x\ny\nz\n", labels="p\nq\n")
    with pytest.raises(InputError, match=message):
        SvmLight(path=f["a"], **{"vocabulary_path": f["words"], "labels_path": f["labels"], **options}).read()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("a\n\nb\n", "words, line 2: line is empty"),
        ("a\nb\n a\n", 'word "a" is on lines 1 and 3'),
        ("\n", "no words"),
    ],
)
def test_bad_vocabulary_files(files, words, message):
    f = files(a="0 1:1\n", words=words)
    with pytest.raises(InputError, match=message):
        SvmLight(path=f["a"], vocabulary_path=f["words"]).read()


def test_a_large_file_is_read_whole(tmp_path):
    path = tmp_path / "a.svm.gz"
    path.write_bytes(gzip.compress(b"1 1:1 2:2 3:3\n" * 50_000))
    corpus = SvmLight(path=str(path)).read().train
    assert (corpus.n_documents, corpus.n_tokens) == (50_000, 300_000)


def test_without_responses_labels_need_not_be_there(tmp_path):
    path = tmp_path / "d.svm"
    path.write_text("1:2 3:1\n+1 2:4\nspam 1:1\n")
    for reader in (
        SvmLight(path=str(path), response="none"),
        SvmLight(path=str(path)).for_model(Wanted("none")),
    ):
        train = reader.read().train
        assert train.responses is None
        assert train.counts().toarray().tolist() == [[2, 0, 1], [0, 4, 0], [1, 0, 0]]
