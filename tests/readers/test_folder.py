import gzip

import pytest

from plugsamp.errors import InputError
from plugsamp.readers.folder import Folder
from plugsamp.readers.lines import Lines

PLAIN = {"min_df": 1, "stop_words": "none"}


@pytest.fixture
def folder(tmp_path):
    for name, text in {
        "b/2.txt": "vote law",
        "a/1.txt": "ball goal",
        "a/deep/3.txt": "ball",
        ".git/x": "no",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (tmp_path / "b" / "4.txt.gz").write_bytes(gzip.compress("café".encode()))
    return tmp_path


def test_sub_folders_are_labels(folder):
    corpus = Folder(path=str(folder), **PLAIN).read().train
    assert corpus.ids == ("a/1.txt", "a/deep/3.txt", "b/2.txt", "b/4.txt.gz")
    assert corpus.responses.tolist() == ["a", "a", "b", "b"]
    assert corpus.vocabulary == ("ball", "café", "goal", "law", "vote")


def test_glob_and_no_labels(folder):
    corpus = Folder(path=str(folder), glob="a/*.txt", response="none", **PLAIN).read().train
    assert corpus.ids == ("a/1.txt",) and corpus.responses is None
    flat = Folder(path=str(folder / "b"), **PLAIN).read().train
    assert flat.responses is None and flat.n_documents == 2


def test_a_second_folder(folder):
    split = Folder(path=str(folder), test_path=str(folder), **PLAIN).read()
    assert split.train.digest() == split.test.digest()


def test_refusals(folder):
    with pytest.raises(InputError, match="no such folder"):
        Folder(path=str(folder / "c")).read()
    with pytest.raises(InputError, match="is a file"):
        Folder(path=str(folder / "a" / "1.txt")).read()
    with pytest.raises(InputError, match=r"no file matches '\*.md'"):
        Folder(path=str(folder), glob="*.md").read()
    (folder / "loose.txt").write_text("x")
    with pytest.raises(InputError, match=r"loose.txt: the file is in no sub-folder"):
        Folder(path=str(folder)).read()
    (folder / "loose.txt").unlink()
    (folder / "a" / "1.txt").write_bytes(b"one\ncaf\xe9")
    with pytest.raises(InputError, match=r"1.txt, line 2: not UTF-8 at byte 7 .* encoding=latin-1"):
        Folder(path=str(folder)).read()
    assert "café" in Folder(path=str(folder), encoding="latin-1", **PLAIN).read().train.vocabulary
    with pytest.raises(InputError, match="no encoding 'utf-9'"):
        Folder(path=str(folder), encoding="utf-9").read()


def test_lines_are_documents(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"ball goal\r\n\r\nvote")
    corpus = Lines(path=str(path), **PLAIN).read().train
    assert corpus.lengths.tolist() == [2, 0, 1] and corpus.ids == ("1", "2", "3")
    path.write_bytes(b"")
    with pytest.raises(InputError, match="no documents"):
        Lines(path=str(path)).read()
    with pytest.raises(InputError, match="no such file"):
        Lines(path=str(tmp_path / "b.txt")).read()
    with pytest.raises(InputError, match="is a folder"):
        Lines(path=str(tmp_path)).read()
