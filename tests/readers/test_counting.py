"""Counting words in one pass: the same counts as scikit-learn's vectorizer."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from plugsamp.readers.counting import WordCounter
from plugsamp.readers.text import TextOptions

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
