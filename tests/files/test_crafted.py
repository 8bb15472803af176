"""Models and archives that were made to do harm are refused by name, at once and with little memory."""

from __future__ import annotations

import copy
import io
import json
import os
import shutil
import time
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

import plugsamp as ps
from plugsamp.cli import main
from plugsamp.errors import InputError
from plugsamp.files import archive, storage
from plugsamp.files.regular import open_regular
from plugsamp.files.storage import StorageError
from plugsamp.readers.npz import Matrix
from plugsamp.readers.svmlight import SvmLight

pytestmark = pytest.mark.usefixtures("little")
COUNTS = np.array([[3, 0, 1], [0, 2, 2], [1, 1, 0], [0, 0, 4]])


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("crafted") / "model"
    corpus = ps.Corpus.from_counts(COUNTS, responses=["a", "b"] * 2)
    return ps.save_model(folder, ps.fit(corpus, ps.Model(2, loss="hinge"), sweeps=2))


@pytest.fixture
def crafted(model, tmp_path):
    """A copy of a model with another manifest, its digest right, or other files."""

    def craft(change=lambda manifest: None, files=lambda folder: None):
        folder = tmp_path / "crafted"
        shutil.copytree(model, folder)
        manifest = json.loads((folder / "manifest.json").read_text())
        del manifest["sha256"]
        change(manifest)
        (folder / "manifest.json").write_text(json.dumps(storage.with_digest(manifest)))
        files(folder)
        return folder

    return craft


def pipe(name):
    def files(folder):
        (folder / name).unlink()
        os.mkfifo(folder / name)

    return files


def device(name, which):
    def files(folder):
        (folder / name).unlink()
        (folder / name).symlink_to(which)

    return files


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes in folders")
@pytest.mark.parametrize(
    ("files", "says"),
    [
        (pipe("phi.npy"), r"phi\.npy cannot be read: it is a pipe, and no file"),
        (pipe("manifest.json"), r"manifest\.json cannot be read: it is a pipe, and no file"),
        (device("phi.npy", "/dev/zero"), r"phi\.npy cannot be read: it is a device, and no file"),
        (device("manifest.json", "/dev/zero"), r"manifest\.json cannot be read: it is a device"),
    ],
)
def test_what_is_no_file(files, says, crafted):
    with pytest.raises(StorageError, match=says):
        ps.load_model(crafted(files=files))


def test_pipes_and_folders_as_matrices(tmp_path):
    os.mkfifo(tmp_path / "a.npz")
    with pytest.raises(InputError, match=r"a\.npz: cannot be read: it is a pipe, and no file"):
        Matrix(path=str(tmp_path / "a.npz")).read()
    with pytest.raises(IsADirectoryError), open_regular(tmp_path):
        pass


def put(*where, value):
    def change(manifest):
        for key in where[:-1]:
            manifest = manifest[key]
        manifest[where[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (put("content", "passes", value=10**9), "passes=1000000000 times restarts=16 are over 1,000,000"),
        (put("content", "restarts", value=10**9), "passes=6 times restarts=1000000000 are over"),
        (put("arrays", "eta", "shape", value=[True, True, 2]), "the manifest says otherwise"),
        (
            put("content", "classes", value={"type": "str", "values": ["a"]}),
            "1 classes for 1 outputs of binary",
        ),
        (
            put("content", "classes", value={"type": "str", "values": ["a", "b", "c"]}),
            "3 classes for 1 outputs",
        ),
        (put("content", "task", value="multiclass"), "2 classes for 1 outputs of multiclass"),
    ],
)
def test_contents_that_cannot_be(change, says, crafted):
    with pytest.raises(StorageError, match=says):
        ps.load_model(crafted(change))


TEXTS = ['{"seed": ' + "9" * 5000 + "}", '{"seed": ' + "9" * 400 + "}", "[" * 100_000, '{"a":' * 50_000]


@pytest.mark.parametrize("text", TEXTS)
def test_manifests_that_no_parser_likes(text, crafted):
    with pytest.raises(StorageError, match=r"manifest\.json is damaged"):
        ps.load_model(crafted(files=lambda folder: (folder / "manifest.json").write_text(text)))


def leaves(node, path=()):
    """The paths of all values in a manifest."""
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else None
    if items is None:
        yield path
    for key, value in items or ():
        yield from leaves(value, (*path, key))


@pytest.mark.parametrize("digits", ["9" * 5000, "-" + "9" * 4000, "9" * 301])
def test_a_long_number_anywhere_in_a_manifest(digits, model, crafted):
    manifest = json.loads((model / "manifest.json").read_text())
    folder = crafted()
    begun = time.process_time()
    paths = list(leaves(manifest))
    for path in paths:
        changed = copy.deepcopy(manifest)
        node = changed
        for key in path[:-1]:
            node = node[key]
        node[path[-1]] = "NUMBER"
        (folder / "manifest.json").write_text(json.dumps(changed).replace('"NUMBER"', digits))
        with pytest.raises(StorageError, match=r"manifest\.json is damaged: ") as refused:
            ps.load_model(folder)
        assert len(str(refused.value)) < 400
    assert time.process_time() - begun < 0.1 * len(paths)


@pytest.mark.parametrize("text", [TEXTS[0], TEXTS[3]])
@pytest.mark.parametrize("file", ["metrics.json", "status.json"])
def test_files_of_a_run_that_no_parser_likes(file, text, tmp_path, capsys):
    run = tmp_path / "run"
    run.mkdir()
    (run / "config.yaml").write_text("seed: 1\n")
    (run / file).write_text(text)
    for command, option in (("sweep", "folder"), ("report", "run"), ("resume", "run"), ("cite", "run")):
        assert main([command, f"{option}={run}"]) == 2
        printed = capsys.readouterr()
        assert printed.err.startswith(f"plugsamp {command}: ") and len(printed.err) < 600
        if file == "metrics.json" and command != "resume":
            assert "metrics.json" in printed.err


def test_a_manifest_without_end(crafted, monkeypatch):
    folder = crafted()
    monkeypatch.setattr(storage, "LONGEST", 100)
    with pytest.raises(StorageError, match="is over 100 bytes, which no manifest has"):
        ps.load_model(folder)


def zipped(path, members) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name, data)


@pytest.mark.parametrize("name", ["../x.npy", "/etc/x", "a/b.npy", "a\nb", "\x1b[2J", "ü.npy", "x" * 300])
def test_odd_names_in_an_archive(name, tmp_path):
    zipped(tmp_path / "a.zip", {"manifest.json": b"{}", name: b""})
    with pytest.raises(StorageError, match="it has a member called ") as refused:
        ps.load_model(tmp_path / "a.zip")
    assert str(refused.value).isprintable() and str(refused.value).isascii()


def test_a_bomb_is_refused_on_any_machine(tmp_path, monkeypatch):
    monkeypatch.setattr(archive.memory, "available_bytes", lambda: 1 << 60)
    monkeypatch.setattr(archive, "PLENTY", 1 << 20)
    data = io.BytesIO()
    np.save(data, np.zeros(1 << 18))
    zipped(tmp_path / "a.npz", {"data.npy": data.getvalue()})
    says = r"its \d+ bytes claim to hold 2097280"
    with pytest.raises(InputError, match=says):
        Matrix(path=str(tmp_path / "a.npz")).read()
    with pytest.raises(StorageError, match=says):
        ps.load_model(tmp_path / "a.npz")


def test_a_table_that_few_bytes_claim(monkeypatch):
    monkeypatch.setattr(archive.memory, "available_bytes", lambda: None)
    archive.require_memory(1 << 30, "model", 10)
    with pytest.raises(StorageError, match="model is damaged: 10 bytes of arrays would make 2147483648"):
        archive.require_memory(1 << 31, "model", 10)


def test_the_other_order_of_bytes(tmp_path):
    X = sp.csr_array(COUNTS)
    parts = {
        "data": X.data.astype(">f8"),
        "indices": X.indices.astype(">i4"),
        "indptr": X.indptr.astype(">i8"),
    }
    np.savez(tmp_path / "a.npz", shape=np.array(X.shape, ">i8"), format=np.array(b"csr"), **parts)
    np.save(tmp_path / "a.npy", COUNTS.astype(">i2"))
    for name in ("a.npz", "a.npy"):
        found = Matrix(path=str(tmp_path / name)).read().train
        assert np.array_equal(found.counts().toarray(), COUNTS)


def test_labels_of_thousands_of_digits(tmp_path):
    (tmp_path / "a.svm").write_text("1 1:1\n" + "9" * 5000 + " 1:1\n")
    with pytest.raises(InputError, match=r"a\.svm, line 2, column 1: label 9{40} is beyond all numbers"):
        SvmLight(path=str(tmp_path / "a.svm")).read()
