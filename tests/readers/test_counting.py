"""Counting words in one pass: the same counts as scikit-learn's vectorizer."""

import gzip
import json

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from plugsamp.readers import JsonLines, batches
from plugsamp.readers.counting import WordCounter
from plugsamp.readers.text import TextOptions
from plugsamp.system import cores

PIECES = [
    "Goal",
    "goal",
    "don't",
    "x",
    "x2y",
    "straße",
    "Éa",
    "naïve",
    "the",
    "\n",
    "ab_cd",
    "\x1c",
    "ǅab",
    "-",
    "z3",
]


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("stop_words", ["english", "none"])
@pytest.mark.parametrize("pattern", ["letters", r"\w+"])
def test_counts_are_those_of_a_vectorizer(lowercase, stop_words, pattern):
    rng = np.random.default_rng(5)
    texts = [" ".join(rng.choice(PIECES, rng.integers(12))) for _ in range(200)]
    options = TextOptions(lowercase=lowercase, stop_words=stop_words, pattern=pattern)
    stop = options.stop_set()
    regex = r"[^\W\d_]{2,}" if pattern == "letters" else pattern

    def words(text):
        found = CountVectorizer(token_pattern=regex, lowercase=lowercase).build_analyzer()(text)
        return [word for word in found if word.lower() not in stop]

    vectorizer = CountVectorizer(analyzer=words)
    expected = vectorizer.fit_transform(texts)
    X, vocabulary = options.count("text", texts)
    assert vocabulary == list(vectorizer.get_feature_names_out())
    assert (X.toarray() == expected.toarray()).all()
    assert X.has_canonical_format and X.dtype == np.int64


def test_documents_without_words_keep_their_place():
    X, words = WordCounter(str.split).extend(["b a b", "", "a"]).counts()
    assert words == ["a", "b"]
    assert X.toarray().tolist() == [[1, 2], [0, 0], [1, 0]]


def test_every_ascii_character_is_divided_as_the_pattern_does():
    text = "ab".join(map(chr, range(128)))
    fast, slow = (TextOptions(stop_words="none").count("text", [text + end]) for end in ("", " é"))
    assert fast[1] == slow[1] and (fast[0].toarray() == slow[0].toarray()).all()


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_documents_are_read_alike_in_batches_and_at_once(n_jobs, tmp_path, monkeypatch):
    rng = np.random.default_rng(2)
    lines = [
        {
            "id": f"d{i}",
            "text": " ".join(rng.choice(PIECES, rng.integers(12))),
            "label": "ab"[i % 2],
            "split": "test" if i % 5 == 0 else "train",
            "year": i,
        }
        for i in range(60)
    ]
    path = tmp_path / "a.jsonl.gz"
    members = ["\n".join(map(json.dumps, part)) + "\n" for part in (lines[:20], lines[20:])]
    path.write_bytes(b"".join(gzip.compress(member.encode()) for member in members) + bytes(9))
    monkeypatch.setattr(batches, "BATCH", 7)
    reader = JsonLines(path=str(path), min_df=1, fields=["year"])
    with cores.threads(n_jobs):
        found = reader.read()
    records = reader.records(str(path))
    is_test = np.array(records.is_test)
    for corpus, rows in zip(found, (~is_test, is_test), strict=True):
        part = records.take(np.flatnonzero(rows))
        X, words = reader.count("text", part.contents)
        known = [w for w in words if w in found.train.vocabulary]
        expected = X[:, [words.index(w) for w in known]].toarray()
        columns = [found.train.vocabulary.index(w) for w in known]
        assert (corpus.counts().toarray()[:, columns] == expected).all()
        assert corpus.n_tokens == expected.sum()
        assert list(corpus.n_unknown) == list(X.sum(axis=1) - expected.sum(axis=1))
        assert list(corpus.ids) == part.ids and corpus.responses.tolist() == part.responses
        assert corpus.fields["year"].tolist() == part.fields["year"]


def test_a_lone_surrogate_is_counted_once():
    X, words = WordCounter(str.split).extend(["b \ud800 b", "a"]).counts()
    assert words == ["a", "b", "\ud800"] and X.toarray().tolist() == [[0, 2, 1], [1, 0, 0]]
