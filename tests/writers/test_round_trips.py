"""What is written is read back as it was, in every format."""

import numpy as np
import pytest

import plugsamp as ps
from plugsamp import registry, writers
from plugsamp.errors import InputError

SUFFIX = {"npz": ".npz", "uci": ".txt.gz"}


def corpus(seed=0, responses=True, **more):
    rng = np.random.default_rng(seed)
    n, v = 30, 17
    counts = rng.poisson(0.4, (n, v))
    counts[3] = 0  # an empty document
    words = [f"w{i}" if i % 3 else f"Ünï{i}" for i in range(v)]
    labels = [f"class {i % 3}" for i in range(n)] if responses is True else responses
    return ps.Corpus.from_counts(counts, responses=labels, vocabulary=words, **more)


def read_back(format, written, path):
    options = dict(written.options)
    for name, value in options.items():
        if isinstance(value, str) and value.startswith("["):
            options[name] = value[1:-1].split(",")
        if value == "true":
            options[name] = True
    return registry.resolve("readers", format, path=str(path), **options).read().train


def table(corpus):
    """Counts by word, whatever the order of the vocabulary."""
    order = np.argsort(np.array(corpus.vocabulary, dtype=object))
    used = [i for i in order if corpus.counts()[:, [i]].sum()]
    return [corpus.vocabulary[i] for i in used], corpus.counts().toarray()[:, used].tolist()


@pytest.mark.parametrize("format", writers.FORMATS)
@pytest.mark.parametrize("kind", ["labels", "numbers like text", "real", "none"])
def test_round_trip(format, kind, tmp_path):
    rng = np.random.default_rng(1)
    responses = {
        "labels": True,
        "numbers like text": [str(i % 2) for i in range(30)],
        "real": rng.normal(size=30),
        "none": None,
    }[kind]
    given = corpus(responses=responses)
    path = tmp_path / f"some docs{SUFFIX.get(format, '.dat')}"
    written = writers.write(given, path, to=format)
    assert sorted(written.files) == sorted(tmp_path.iterdir())
    found = read_back(format, written, path)
    assert table(found) == table(given)
    if kind == "none":
        assert found.responses is None
    elif kind == "real" and format in ("jsonl", "mallet", "svmlight"):
        assert found.responses.tolist() == given.responses.tolist()
    else:
        assert list(map(str, found.responses.tolist())) == list(map(str, given.responses.tolist()))
    if format in ("jsonl", "mallet"):
        assert found.ids == given.ids
    else:
        assert found.vocabulary == given.vocabulary


@pytest.mark.parametrize("format", ["jsonl", "svmlight"])
def test_several_labels(format, tmp_path):
    table = np.random.default_rng(0).integers(0, 2, (30, 4)).astype(np.int8)
    table[:4] = np.eye(4)  # each label somewhere
    given = corpus(responses=table, response_names=["a b", "c", "d", "e"])
    found = read_back(format, writers.write(given, tmp_path / "x", to=format), tmp_path / "x")
    assert found.response_names == given.response_names
    assert found.responses.tolist() == given.responses.tolist()


def test_json_keeps_what_is_missing_and_what_is_beside(tmp_path):
    labels = [None if i % 5 == 0 else "ab"[i % 2] for i in range(30)]
    given = corpus(
        responses=labels, weights=np.arange(30) / 7, ids=[f"doc {i}" for i in range(30)],
        fields={"year": np.arange(30.0), "maker": ["x", None, "y"] * 10},
    )  # fmt: skip
    written = writers.write(given, tmp_path / "x.jsonl.gz", to="jsonl")
    found = read_back("jsonl", written, tmp_path / "x.jsonl.gz")
    assert found.responses.tolist() == labels
    assert found.weights.tolist() == given.weights.tolist()
    assert found.ids == given.ids
    assert list(found.fields["maker"]) == list(given.fields["maker"])
    assert [float(v) for v in found.fields["year"]] == list(range(30))


def test_equal_corpora_make_equal_files(tmp_path):
    for name in "ab":
        (tmp_path / name).mkdir()
        writers.write(corpus(), tmp_path / name / "docword.txt.gz", to="uci")
    one, other = ((tmp_path / name / "docword.txt.gz").read_bytes() for name in "ab")
    assert one == other


@pytest.mark.parametrize(
    ("given", "to", "says"),
    [
        (lambda: corpus(), "xml", "no writer 'xml'; formats are jsonl"),
        (lambda: corpus(), "npz", "ends in .npz"),
        (lambda: corpus(responses=[None, "a"] * 15), "svmlight", "document '0' has no response"),
        (lambda: corpus(responses=np.ones((30, 2))), "uci", "several responses"),
        (lambda: ps.Corpus.from_counts([[1, 1]], vocabulary=["a b", "c"]), "mallet", "'a b' holds blanks"),
        (lambda: ps.Corpus.from_counts([[1, 1]], vocabulary=["a\nb", "c"]), "uci", "on a line of its own"),
        (lambda: corpus(ids=[f"a\t{i}" for i in range(30)]), "mallet", "holds a tab"),
    ],
)
def test_what_a_format_cannot_hold_is_refused_and_nothing_written(given, to, says, tmp_path):
    with pytest.raises(InputError, match="(?s).*" + says.replace(".", r"\.")):
        writers.write(given(), tmp_path / "x", to=to)
    assert not list(tmp_path.iterdir())


def test_no_file_is_replaced_unasked(tmp_path):
    (tmp_path / "x.vocab.txt").write_text("mine")
    with pytest.raises(InputError, match="there already"):
        writers.write(corpus(), tmp_path / "x.txt", to="uci")
    assert (tmp_path / "x.vocab.txt").read_text() == "mine"
    assert len(list(tmp_path.iterdir())) == 1
    writers.write(corpus(), tmp_path / "x.txt", to="uci", overwrite=True)
    assert (tmp_path / "x.vocab.txt").read_text() != "mine"
