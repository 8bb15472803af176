"""The shared messy inputs, a row of EXPECT.tsv a test: what is taken, what is refused, and where."""

import csv
import os
import re
import warnings
from pathlib import Path

import pytest

from plugsamp.errors import InputError
from plugsamp.losses.coding import code_classes
from plugsamp.readers.csv import Table
from plugsamp.readers.jsonl import JsonLines
from plugsamp.readers.lines import Lines
from plugsamp.readers.mallet import MalletText
from plugsamp.readers.matrix_market import MatrixMarket
from plugsamp.readers.npz import Matrix
from plugsamp.readers.svmlight import SvmLight
from plugsamp.readers.uci import BagOfWords

INPUTS = (
    Path(os.environ.get("PLUGSAMP_SHARED", Path(__file__).parents[2] / ".." / "shared")) / "cases" / "inputs"
)
FORMATS = {
    "svmlight": SvmLight, "csv": Table, "jsonl": JsonLines, "text": Lines, "npz": Matrix, "npy": Matrix,
    "uci": BagOfWords, "uci-vocab": BagOfWords, "mm": MatrixMarket, "mallet": MalletText,
}  # fmt: skip
PLAIN = {"lowercase": False, "pattern": "blanks", "stop_words": "none", "min_df": 1}
OPTIONS = {"labels=none": ("response", "none")}
#: Options that name a file, and ours for them.
FILES = {"docword": "path", "labels_file": "labels_path"}

#: Words of the message that each refusal must have, beside its place.
SAYS = {
    "svm/zero_based.svm": "index_base=0",
    "svm/float_fraction.svm": "0.5 is not a whole count",
    "svm/negative_count.svm": "negative count",
    "svm/nan_count.svm": "nan",
    "svm/missing_label.svm": "no label",
    "svm/multilabel.svm": "several labels",
    "svm/id_over_int32.svm": "5000000000 is over the limit 2147483647",
    "svm/count_over_int32.svm": "3000000000 is over the limit 2147483647",
    "svm/bad_token.svm": "'foo' as id:count",
    "svm/space_after_colon.svm": "count missing after 1:",
    "svm/negative_id.svm": "feature id -3 is negative",
    "svm/underscore.svm": "cannot read count '1_000'",
    "svm/fullwidth_digits.svm": "digits 0 to 9",
    "svm/only_comments.svm": "no documents",
    "svm/truncated.svm.gz": "ends early; no part",
    "svm/not_gzip.svm.gz": "not gzip",
    "text/binary.txt": "NUL byte at byte 0",
    "text/invalid_utf8_middle.txt": "not UTF-8 at byte 15",
    "csv/missing_column.csv": "3 fields expected, 2 found",
    "csv/extra_column.csv": "3 fields expected, 4 found",
    "csv/latin1.csv": "encoding=latin-1",
    "csv/utf16.csv": "encoding=utf-16",
    "csv/missing_label.csv": "2 documents without a label",
    "csv/unclosed_quote.csv": "never closed",
    "csv/duplicate_id.csv": "id 1 is on lines 2 and 4",
    "csv/header_only.csv": "no documents",
    "jsonl/invalid_middle.jsonl": "not valid JSON",
    "jsonl/nan_label.jsonl": "NaN is not JSON",
    "jsonl/null_label.jsonl": "no label",
    "jsonl/text_is_number.jsonl": "text must be a string, found a number",
    "jsonl/tokens_not_strings.jsonl": "token 2 is not a string",
    "jsonl/duplicate_key.jsonl": '"text" appears twice',
    "jsonl/lone_surrogate.jsonl": "half of a surrogate pair",
    "jsonl/json_array.jsonl": "JSON array",
    "jsonl/empty.jsonl": "no documents",
    "npz/nan.npz": "NaN at row 1, column 1",
    "npz/uint64_over.npz": "row 1, column 1 is over the limit",
    "npz/indptr_last_wrong.npz": "indptr ends at 9, there are 5 entries",
    "npz/indptr_decreasing.npz": "indptr decreases at row 1",
    "npz/index_over.npz": "column 40000000 at row 2 is outside 0..3",
    "npz/index_negative.npz": "column -1 at row 1 is outside 0..3",
    "npz/no_rows.npz": "no documents",
    "npz/no_format.npz": 'no member "format"; members are data, indices, indptr, shape',
    "npz/object_array.npz": 'member "data" holds Python objects and is not loaded',
    "npz/ragged_object.npy": "holds Python objects and is not loaded",
    "npz/one_d.npy": "2 dimensions",
    "uci/docword.nnz_high.txt": "header promises 6 entries, file has 5",
    "uci/docword.doc_over.txt": "document id 4 is over the header D=3",
    "uci/docword.word_over.txt": "word id 5 is over the header W=4",
    "uci/docword.doc_zero.txt": "document id 0; ids start at 1",
    "uci/docword.truncated.txt.gz": "ends early; no part",
    "uci/docword.header_text.txt": "header line 1 must be a number, found docs=3",
    "uci/docword.two_columns.txt": "3 numbers expected, 2 found",
    "uci/docword.float_count.txt": "1.5 is not a whole count",
    "uci/docword.negative.txt": "negative count",
    "uci/docword.no_tokens.txt": "no tokens",
    "uci/docword.huge_header.txt": "D=3000000000 is over the limit",
    "uci/vocab.blank_middle.txt": "line is empty; skipping it would move every later word by one",
    "uci/vocab.long.txt": "vocabulary has 6 words, docword header says 4",
    "uci/vocab.space_makes_duplicate.txt": 'word "apple" is on lines 1 and 4',
    "uci/vocab.latin1.txt": "not UTF-8 at byte 3",
    "uci/vocab.duplicate.txt": 'word "ball" is on lines 2 and 4',
    "mallet/empty_label.txt": "label is empty",
    "mallet/nul.txt": "NUL byte",
    "mallet/duplicate_name.txt": "id d1 is on lines 1 and 3",
    "mallet/commas.txt": "3 fields expected (name, label, text), 2 found; commas do not separate",
    "mallet/latin1.txt": "encoding=latin-1",
    "mallet/state_file.txt": "this is a Mallet state file",
    "mm/real_fraction.mtx": "0.25 is not a whole count",
    "mm/complex.mtx": "complex values are not counts",
    "mm/symmetric.mtx": "symmetric form is not a document by word matrix",
    "mm/nnz_high.mtx": "header promises 4 entries, file has 3",
    "mm/column_over.mtx": "column 4 is over the header 3",
    "mm/row_zero.mtx": "row 0; rows start at 1",
    "mm/terms_by_docs.mtx": "2 labels for 4 rows; the matrix has 2 columns, so it looks transposed: "
    "pass transpose=true",
}

#: What is to be said of inputs that are taken; all others are to be taken in silence.
WARNS = {
    "svm/qid.svm": ["qid"],
    "svm/duplicate_feature.svm": ["line 1, feature 2"],
    "text/zero_width.txt": ["invisible characters"],
    "csv/label_forms.csv": ["'01', '1', '1.0'"],
    "npz/unsorted_duplicates.npz": ["row 0, column 0"],
    "npz/uint8_duplicates.npz": ["row 0, column"],
    "uci/docword.duplicate_pair.txt": ["line 5"],
    "mm/duplicate.mtx": ["line 4"],
    "mm/pattern.mtx": ["no counts"],
}


def rows():
    table = INPUTS / "EXPECT.tsv"
    if not table.is_file():
        return [
            pytest.param(
                None, marks=pytest.mark.skip(reason=f"no shared cases at {INPUTS} (set PLUGSAMP_SHARED)")
            )
        ]
    with table.open(encoding="utf-8") as file:
        found = [row for row in csv.DictReader(file, delimiter="\t") if row["format"] in FORMATS]
    return [pytest.param(row, id=f"{row['file']}-{row['options'] or 'default'}") for row in found]


#: Files whose warning is about their labels, which a fit gives.
LABELS_ALIKE = {"csv/label_forms.csv"}


def read(row):
    reader = FORMATS[row["format"]]
    options = dict(PLAIN) if hasattr(reader, "lowercase") else {}
    options["path"] = str(INPUTS / row["file"])
    for option in filter(None, (row["options"] or "").split(";")):
        name, value = OPTIONS.get(option, option.split("="))
        if name == "docword":
            options["vocabulary_path"] = options["path"]
        if name in FILES:
            name, value = FILES[name], str(INPUTS / value)
        options[name] = int(value) if value.isdigit() else {"true": True}.get(value, value)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        corpus = reader(**options).read().train
        if row["file"] in LABELS_ALIKE:  # labels are compared when a loss codes them
            code_classes(corpus.responses, corpus.response_names)
    return corpus, [str(w.message) for w in caught]


@pytest.mark.parametrize("row", rows())
def test_expected_input(row, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if row["verdict"] == "reject":
        with pytest.raises(InputError) as caught:
            read(row)
        error = caught.value
        assert SAYS[row["file"]] in str(error)
        # labels that do not fit are to blame on the file of labels
        named = dict(o.split("=") for o in filter(None, (row["options"] or "").split(";"))).get("labels_file")
        assert error.file == str(INPUTS / (named or row["file"]))
        if row["line"]:
            assert error.line == int(row["line"])
        if row["column"]:
            assert error.column == int(row["column"])
    else:
        corpus, said = read(row)
        assert (corpus.n_documents, corpus.n_words, corpus.n_tokens) == tuple(int(row[c]) for c in "DVN")
        expected = WARNS.get(row["file"], [])
        assert len(said) == len(expected)
        for text, message in zip(expected, said, strict=True):
            assert re.search(re.escape(text), message)
    assert not list(tmp_path.iterdir())  # nothing was unpickled
