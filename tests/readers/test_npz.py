import numpy as np
import pytest
import scipy.sparse as sp

from plugsamp.errors import InputError
from plugsamp.readers.npz import Matrix

X = np.array([[0, 2, 1], [1, 0, 3]])


def test_labels_vocabulary_and_transposition(tmp_path):
    sp.save_npz(tmp_path / "a.npz", sp.csc_array(X.T))
    (tmp_path / "labels").write_text("a\nb\n")
    (tmp_path / "words").write_text("x\ny\nz\n")
    options = {"labels_path": str(tmp_path / "labels"), "vocabulary_path": str(tmp_path / "words")}
    with pytest.raises(InputError, match=r"labels: 2 labels for 3 rows; .* pass transpose=true"):
        Matrix(path=str(tmp_path / "a.npz"), **options).read()
    corpus = Matrix(path=str(tmp_path / "a.npz"), transpose=True, **options).read().train
    assert (corpus.counts().toarray() == X).all()
    assert corpus.vocabulary == ("x", "y", "z") and corpus.responses.tolist() == ["a", "b"]
    np.save(tmp_path / "a.npy", X)
    assert Matrix(path=str(tmp_path / "a.npy"), **options).read().train.digest() == corpus.digest()


def test_a_second_file(tmp_path):
    np.save(tmp_path / "a.npy", X)
    np.save(tmp_path / "b.npy", np.array([[1, 0, 0, 4]]))
    test = Matrix(path=str(tmp_path / "a.npy"), test_path=str(tmp_path / "b.npy")).read().test
    assert test.counts().toarray().tolist() == [[1, 0, 0]] and test.n_unknown.tolist() == [4]


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"format": np.array(b"dia"), "data": X}, "must be csr, csc, coo, found 'dia'"),
        ({"format": np.array(b"csr"), "data": X[0]}, 'no member "indices"'),
        (
            {
                "format": np.array(b"coo"),
                "data": X[0],
                "row": X[0],
                "col": X[0][:2],
                "shape": np.array([3, 3]),
            },
            "numbers of entries differ: 3 in data, 3 in row, 2 in col",
        ),
        (
            {
                "format": np.array(b"coo"),
                "data": X[0],
                "row": X[0] * 9,
                "col": X[0],
                "shape": np.array([3, 3]),
            },
            r"row 18 at column 2 is outside 0\.\.2",
        ),
        (
            {"format": np.array(b"coo"), "data": X, "row": X[0], "col": X[0], "shape": np.array([3, 3])},
            "must be a vector",
        ),
        (
            {"format": np.array(b"coo"), "data": X[0], "row": X[0], "col": X[0], "shape": np.array([-3, 3])},
            "shape must be two whole numbers",
        ),
        (
            {
                "format": np.array(b"coo"),
                "data": X[0],
                "row": X[0],
                "col": X[0],
                "shape": np.array([2**40, 3]),
            },
            "over the limit",
        ),
    ],
)
def test_damaged_archives(tmp_path, members, message):
    np.savez(tmp_path / "a.npz", **members)
    with pytest.raises(InputError, match=r"a.npz: .*" + message):
        Matrix(path=str(tmp_path / "a.npz")).read()


def test_what_is_no_archive(tmp_path):
    path = tmp_path / "a.npz"
    with pytest.raises(InputError, match="no such file"):
        Matrix(path=str(path)).read()
    sp.save_npz(path, sp.csr_array(X))
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(InputError, match=r"not a whole .npy or .npz"):
        Matrix(path=str(path)).read()
    path.write_bytes(b"hello")
    with pytest.raises(InputError, match=r"a.npz: "):
        Matrix(path=str(path)).read()


def test_what_is_no_array_file_is_said_without_advice_to_unpickle(tmp_path):
    (tmp_path / "d.csv").write_text("text,label\n")
    with pytest.raises(InputError, match=r"d\.csv: not a \.npy or \.npz file$"):
        Matrix(path=str(tmp_path / "d.csv")).read()
    with pytest.raises(InputError, match="this is a folder, a file is needed"):
        Matrix(path=str(tmp_path)).read()
