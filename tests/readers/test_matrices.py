"""UCI bag of words, Matrix Market, LDA-C: what the shared cases do not say."""

import gzip

import numpy as np
import pytest

from plugsamp.errors import InputError
from plugsamp.readers.base import Wanted
from plugsamp.readers.ldac import LdaC
from plugsamp.readers.matrix_market import MatrixMarket
from plugsamp.readers.uci import BagOfWords


@pytest.fixture
def file(tmp_path):
    def file(text, name="a.txt"):
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return str(path)

    return file


def test_quick_and_careful_lines_agree(file):
    rng = np.random.default_rng(0)
    rows = np.unique(rng.integers(1, 9, (40, 2)), axis=0)
    quick = "".join(f"{d} {w} {d + w}\n" for d, w in rows)
    careful = "".join(f"{d}\t {w}  {d + w}.0e0\r\n" for d, w in rows)
    head = f"8\n8\n{len(rows)}\n"
    one = BagOfWords(path=file(head + quick)).read().train
    other = BagOfWords(path=file(head + careful, "b.txt.gz")).read().train
    assert one.digest() == other.digest() and one.n_tokens == rows.sum()
    assert one.vocabulary[:2] == ("w1", "w2")
    market = f"%%MatrixMarket matrix coordinate integer general\n%\n8 8 {len(rows)}\n"
    assert MatrixMarket(path=file(market + quick)).read().train.digest() == one.digest()


@pytest.mark.parametrize(
    ("text", "line", "column", "says"),
    [
        ("", 1, 1, "header line 1 must be a number"),
        ("3\n4\n", 3, 1, "header line 3"),
        ("3\n4", None, None, "ends in its header"),
        ("3\n4\n1\n1 1 2\n\n1 2 1\n", 5, None, "3 numbers expected, 0 found"),
        ("3\n4\n1\n1 1 99999999999\n", 4, 5, "over the limit"),
        ("3\n4\n1\n1 99999999999 1\n", 4, 3, "over the limit"),
        ("3\n4\n1\n1 -1 1\n", 4, 3, "word id -1 is negative; ids start at 1"),
        ("3\n4\n1\n1 x 1\n", 4, 3, "cannot read 'x' as a word id"),
        ("3\n4\n1\n1 \u0664 1\n", 4, 3, "is not a digit"),
        ("3\n4\n0\n1 1 1\n", 4, None, "header promises 0 entries, file has 1"),
    ],
)
def test_refusals_of_bags_of_words(text, line, column, says, file):
    with pytest.raises(InputError) as caught:
        BagOfWords(path=file(text)).read()
    assert says in str(caught.value)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert caught.value.file.endswith("a.txt")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1 1 1\n", "does not begin with %%MatrixMarket"),
        ("%%MatrixMarket matrix array real general\n2 2\n", "coordinate form"),
        ("%%MatrixMarket vector coordinate real general\n2 2\n", "the first line must be"),
        ("%%MatrixMarket matrix coordinate real general\n%x\n", "ends before its line of sizes"),
        ("%%MatrixMarket matrix coordinate real general\n2 2\n", "3 sizes expected"),
        ("%%MatrixMarket matrix coordinate real general\n9999999999 2 1\n", "rows=9999999999 is over"),
    ],
)
def test_refusals_of_matrix_market(text, says, file):
    with pytest.raises(InputError, match="(?s).*" + says):
        MatrixMarket(path=file(text, "a.mtx")).read()


def test_lda_c(file):
    corpus = LdaC(path=file("2 0:1 3:2\n0\n1 1:4.0\n")).read().train
    assert corpus.counts().toarray().tolist() == [[1, 0, 0, 2], [0, 0, 0, 0], [0, 4, 0, 0]]
    assert LdaC(path=file("1 1:4\n"), index_base=1).read().train.n_words == 1


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("2 0:1 3:2\n\n1 1:1\n", 2, "a document without words is 0"),
        ("0:1 3:2\n", 1, "corpus=svmlight"),
        ("3 0:1 3:2\n", 1, "3 different words promised, 2 found"),
        ("1 -2:1\n", 1, "feature id -2 is negative"),
    ],
)
def test_refusals_of_lda_c(text, line, says, file):
    with pytest.raises(InputError) as caught:
        LdaC(path=file(text)).read()
    assert says in str(caught.value) and caught.value.line == line


def test_labels_and_test_documents(file):
    head = "2\n3\n2\n"
    options = {
        "path": file(head + "1 1 2\n2 3 1\n"), "labels_path": file("1.5\n-2\n", "l.txt"),
        "test_path": file(head + "1 2 1\n2 2 2\n", "t.txt"), "test_labels_path": file("0\n1\n", "tl.txt"),
    }  # fmt: skip
    split = BagOfWords(**options).for_model(Wanted("real")).read()
    assert split.train.responses.tolist() == [1.5, -2] and split.test.responses.tolist() == [0, 1]
    assert split.test.vocabulary == split.train.vocabulary
    assert BagOfWords(**options).read().train.responses.tolist() == ["1.5", "-2"]
    options["labels_path"] = file("a\nb\n", "l.txt")
    with pytest.raises(InputError, match="response 'a' is not a number"):
        BagOfWords(**options).for_model(Wanted("real")).read()
