import numpy as np
import pytest

from plugsamp import readers
from plugsamp.errors import InputError, InputWarning
from plugsamp.readers.text import TextOptions

TEXTS = ["The ball, the BALL don't x y2 café", "goal goal ball", "", "vote of law"]


def words_of(options, kind="text", contents=TEXTS):
    X, words = options.count(kind, contents)
    return [words[k] for k in options.choose(X)]


def test_default_words():
    options = TextOptions(min_df=1)
    assert words_of(options) == ["ball", "café", "goal", "law", "vote"]
    X, words = options.count("text", TEXTS)
    assert X.toarray()[0].tolist() == [2 if w == "ball" else int(w == "café") for w in words]
    assert X.shape[0] == 4


def test_blanks_drop_nothing():
    options = TextOptions(min_df=1, pattern="blanks", lowercase=False, stop_words="none")
    assert words_of(options, contents=["a\u00a0b\tC 1 \U0001f600 don't"]) == [
        "1",
        "C",
        "a",
        "b",
        "don't",
        "\U0001f600",
    ]


def test_a_pattern_of_ones_own_and_a_file_of_stop_words(tmp_path):
    file = tmp_path / "stop.txt"
    file.write_text("Ball\n\ngoal\n", encoding="utf-8")
    assert words_of(TextOptions(min_df=1, pattern="[a-z]{4}", stop_words=str(file))) == ["vote"]


def test_limits():
    texts = ["a a a b c d", "a b c", "a b", "a"]
    base = {"pattern": "blanks", "stop_words": "none"}
    assert words_of(TextOptions(min_df=2, **base), contents=texts) == ["a", "b", "c"]
    assert words_of(TextOptions(min_df=0.75, **base), contents=texts) == ["a", "b"]
    assert words_of(TextOptions(min_df=1, max_df=0.5, **base), contents=texts) == ["c", "d"]
    assert words_of(TextOptions(min_df=1, max_df=3, **base), contents=texts) == ["b", "c", "d"]
    assert words_of(TextOptions(min_df=1, min_count=3, **base), contents=texts) == ["a", "b"]


def test_words_are_chosen_by_tfidf_within_the_limits():
    # "x" is in every document; "y" and "z" tell documents apart, "z" more often.
    texts = ["x z z z", "x z z z", "x y", "x q"]
    base = {"pattern": "blanks", "stop_words": "none"}
    assert words_of(TextOptions(min_df=1, max_words=2, **base), contents=texts) == ["x", "z"]
    assert words_of(TextOptions(min_df=1, max_df=0.9, max_words=1, **base), contents=texts) == ["z"]
    assert words_of(TextOptions(min_df=1, max_words=99, **base), contents=texts) == ["q", "x", "y", "z"]


def test_tokens_and_counts_are_taken_as_they_are():
    options = TextOptions(min_df=1)
    assert words_of(options, "tokens", [["New York", "the"], []]) == ["New York", "the"]
    X, words = options.count("counts", [{"The": 3, "b": 0}, {}])
    assert words == ["The", "b"] and X.toarray().tolist() == [[3, 0], [0, 0]]


def test_no_words_at_all():
    X, words = TextOptions().count("text", ["the", ""])
    assert X.shape == (2, 0) and words == []


def test_invisible_characters_are_told_of():
    with pytest.warns(InputWarning, match="1 documents hold invisible"):
        TextOptions().count("text", ["goal\u200bball", "goal"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_df": -1}, "min_df"),
        ({"min_df": 2.5}, "min_df must be a whole number, or a share"),
        ({"min_df": float("nan")}, "min_df"),
        ({"max_words": 0.5}, "max_words must be a whole number, not"),
        ({"min_count": True}, "min_count"),
        ({"pattern": "("}, "not a regular expression"),
        ({"pattern": "(a)(b)"}, "2 groups"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(InputError, match=message):
        TextOptions(**options).check_text_options()


def test_no_such_stop_word_file():
    with pytest.raises(InputError, match="english, none or a file"):
        TextOptions(stop_words="french").stop_set()


def test_a_document_frequency_counts_documents_not_occurrences():
    X, words = TextOptions(min_df=2).count("text", ["ball ball ball", "goal", "goal"])
    assert [words[k] for k in TextOptions(min_df=2).choose(X)] == ["goal"]
    assert np.issubdtype(X.dtype, np.int64)


def test_texts_of_which_nothing_is_left(tmp_path):
    path = tmp_path / "numbers.txt"
    path.write_text("1 2 3\n4 5\n")
    with pytest.raises(InputError, match="no document has a word left with pattern=letters"):
        readers.Lines(path=path).read()
    assert readers.Lines(path=path, pattern="blanks", stop_words="none", min_df=1).read().train.n_words == 5
