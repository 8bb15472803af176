"""Data frames as corpora: rows stay aligned, and messages name columns and rows."""

import numpy as np
import pytest

import plugsamp as ps
from plugsamp.errors import InputError, InputWarning

pandas = pytest.importorskip("pandas")

ROWS = {
    "body": ["Moon and orbit", "bread, butter", None, "moon bread"],
    "words": [["moon", "orbit"], ["bread", "butter"], None, ["moon", "bread"]],
    "kind": ["space", "food ", None, "NA"],
    "n": [1, None, 3, 4],
    "rate": [0.5, 1.5, None, 2.0],
    "tags": [["b", "a"], ["b"], [], None],
    "page": [1, 2, 3, 4],
}


@pytest.fixture
def frame():
    return pandas.DataFrame(ROWS, index=[10, 11, 12, 17])


@pytest.fixture
def read(frame):
    def read(frame=frame, text="body", **options):
        return ps.Corpus.from_frame(frame, text=text, **{"min_df": 1, **options})

    return read


def test_rows_are_documents_and_the_index_their_ids(read):
    with pytest.warns(InputWarning, match=r"the column 'body' is missing in 1 rows \(the first is 12\)"):
        corpus = read()
    assert corpus.ids == ("10", "11", "12", "17") and corpus.lengths.tolist() == [2, 2, 0, 2]
    assert corpus.vocabulary == ("bread", "butter", "moon", "orbit")
    assert (corpus.take(corpus.lengths > 0)).ids == ("10", "11", "17")


@pytest.mark.filterwarnings("ignore::plugsamp.errors.InputWarning")
def test_texts_tokens_and_counts_are_the_same_documents(read, frame):
    texts, tokens = read(), read(text="words")
    frame["counts"] = [{"moon": 1, "orbit": 1}, {"bread": 1, "butter": 1}, {}, {"moon": 1, "bread": 1}]
    assert texts.digest() == tokens.digest() == read(text="counts").digest()


@pytest.mark.filterwarnings("ignore::plugsamp.errors.InputWarning")
@pytest.mark.parametrize(
    "label, found",
    [
        ("kind", ["space", "food", None, "NA"]),
        ("n", [1, None, 3, 4]),
        ("rate", [0.5, 1.5, np.nan, 2.0]),
        ("tags", [[1, 1], [0, 1], [0, 0], [np.nan, np.nan]]),
        (["n", "rate"], [[1, 0.5], [np.nan, 1.5], [3, np.nan], [4, 2]]),
    ],
)
def test_every_kind_of_response_from_every_kind_of_frame(read, frame, label, found):
    frames = [frame, ROWS]
    for name in ("polars", "pyarrow"):
        try:
            module = __import__(name)
        except ImportError:
            continue
        frames.append(module.DataFrame(ROWS) if name == "polars" else module.table(ROWS))
    for one in frames:
        responses = read(one, label=label).responses
        if responses.dtype == object:
            assert responses.tolist() == found
        else:
            np.testing.assert_array_equal(responses, found)


@pytest.mark.filterwarnings("ignore::plugsamp.errors.InputWarning")
def test_what_is_missing_by_name(read, frame):
    corpus = read(label="kind", fields=["kind", "n"], missing_as=["NA"])
    assert corpus.responses.tolist() == ["space", "food", None, None]
    assert corpus.fields["kind"].tolist() == ["space", "food ", None, None]
    assert corpus.fields["n"].tolist() == [1, None, 3, 4]
    frame["nullable"] = pandas.array([True, None, False, True], dtype="boolean")
    assert read(frame, label="nullable").responses.tolist() == [True, None, False, True]


@pytest.mark.filterwarnings("ignore::plugsamp.errors.InputWarning")
def test_new_documents_in_the_words_of_a_model(read, frame):
    corpus = read(vocabulary=("moon", "sun"), id="page", weight="page")
    assert corpus.vocabulary == ("moon", "sun") and corpus.n_unknown.tolist() == [1, 2, 0, 1]
    assert corpus.ids == ("1", "2", "3", "4") and corpus.weights.tolist() == [1, 2, 3, 4]


@pytest.mark.filterwarnings("ignore::plugsamp.errors.InputWarning")
@pytest.mark.parametrize(
    "options, message",
    [
        ({"text": "bdy"}, r"no column 'bdy'; its columns are body, .*; text= names the right one"),
        ({"text": "page"}, r"the column 'page' of row 10 holds 1 of type int, where text is needed"),
        ({"fields": ["nope"]}, r"no column 'nope'.*fields= names"),
        ({"label": "label"}, r"no column 'label'.*label= names"),
        ({"id": "kind"}, r"the column 'kind' has no value in row 2"),
        ({"weight": "n"}, r"weights must be numbers, and the column 'n' of row 11 holds nothing"),
        ({"label": ["n", "kind"]}, r"numbers or booleans, and the column 'kind' of row 10 holds 'space'"),
        ({"fields": ["day"]}, r"the column 'day' holds times.*frame\['day'\].dt.year"),
        ({"label": "endless"}, r"responses must be finite, and the column 'endless' of row 11 holds inf"),
    ],
)
def test_refusals_name_the_column(read, frame, options, message):
    frame["day"] = pandas.Timestamp("2026-01-31")
    frame["endless"] = [1.0, float("inf"), 2.0, 3.0]
    with pytest.raises(InputError, match=message):
        read(frame, **options)


def test_other_refusals(frame):
    with pytest.raises(InputError, match="a data frame is needed, found list"):
        ps.Corpus.from_frame(["moon", "bread"])
    with pytest.raises(InputError, match="the data frame has no rows"):
        ps.Corpus.from_frame(frame.iloc[:0], text="body")
    with pytest.raises(TypeError, match=r"no option 'txt'; its options are .*text, label, fields"):
        ps.Corpus.from_frame(frame, txt="body")
    frame.columns = ["body", "body", *frame.columns[2:]]
    with pytest.raises(InputError, match="2 columns called 'body'"):
        ps.Corpus.from_frame(frame, text="body")


@pytest.mark.filterwarnings("ignore:the column")
def test_an_index_with_repeats(read, frame):
    frame.index = [1, 1, 2, 3]
    with pytest.warns(InputWarning, match="has '1' 2 times, so documents are called by their rows"):
        assert read(frame).ids == ("0", "1", "2", "3")


def test_the_reader_divides_as_others_do(frame):
    many = pandas.concat([frame.iloc[[0, 1]]] * 10, ignore_index=True)
    train, test = ps.readers.Frame(frame=many, text="body", label="kind", test_size=0.2).read()
    assert (train.n_documents, test.n_documents) == (16, 4) and train.vocabulary == test.vocabulary
