"""Folders of arrays and a manifest: exact round trips, and refusals that say why."""

from __future__ import annotations

import json
import os
import stat
from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np
import pytest

from plugsamp.files import storage, stored_labels
from plugsamp.files.storage import StorageError, read_folder, write_folder

ARRAYS = {
    "phi": np.random.default_rng(1).random((3, 4)),
    "counts": np.arange(6, dtype=np.int32).reshape(2, 3),
    "flags": np.array([True, False]),
    "empty": np.empty((0, 5), dtype=np.float32),
    "scalar": np.array(2.5),
}
WORDS = [
    "plain",
    "new york",
    "a\u00a0b",
    "tab\there",
    "line\nbreak",
    "",
    '"quoted"',
    "\ud800",
    "𝔘nicode",
    "\x00",
]


@pytest.fixture
def folder(tmp_path):
    return write_folder(tmp_path / "model", "model", ARRAYS, {"vocabulary": WORDS, "alpha": 0.1})


def edit_manifest(folder, change, sign=False):
    file = folder / "manifest.json"
    manifest = json.loads(file.read_text())
    change(manifest)
    if sign:
        manifest.pop("sha256")
        manifest["sha256"] = storage._digest_of(manifest)
    file.write_text(json.dumps(manifest))


def test_round_trip_is_exact(folder):
    arrays, content = read_folder(folder, "model")
    assert set(arrays) == set(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype and arrays[name].shape == array.shape
        assert arrays[name].tobytes() == array.tobytes()
        assert not arrays[name].flags.writeable
    assert content == {"vocabulary": WORDS, "alpha": 0.1}


def test_other_byte_orders_are_written_little_endian(tmp_path):
    big = np.array([1, 2, 3], dtype=">i4")
    arrays, _ = read_folder(write_folder(tmp_path / "m", "model", {"a": big}, {}), "model")
    assert arrays["a"].dtype.str == "<i4" and arrays["a"].tolist() == [1, 2, 3]


def test_the_folder_can_be_moved_and_is_readable_as_any_other(folder, tmp_path):
    plain = tmp_path / "plain"
    plain.mkdir()
    assert stat.S_IMODE(os.stat(folder).st_mode) == stat.S_IMODE(os.stat(plain).st_mode)
    folder.rename(tmp_path / "elsewhere")
    read_folder(tmp_path / "elsewhere", "model")


@pytest.mark.parametrize(
    "bad", [np.array([None]), np.array(["text"]), np.array([1j]), np.array([(1, 2)], "i4,i4")]
)
def test_only_numbers_are_kept(tmp_path, bad):
    with pytest.raises(StorageError, match="only booleans, integers and floats"):
        write_folder(tmp_path / "m", "model", {"a": bad}, {})
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_left_of_a_write_that_fails(tmp_path):
    with pytest.raises(StorageError, match=r"^content\.of\[1\]\.bad = nan cannot be kept"):
        write_folder(tmp_path / "m", "model", ARRAYS, {"of": [1, {"bad": float("nan")}]})
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_names_the_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(storage, "_write_array", lambda *_: os.write(os.open("/dev/full", os.O_WRONLY), b"x"))
    with pytest.raises(OSError, match="No space") as full:
        storage.write_folder(tmp_path / "a", "kind", {"x": np.zeros(2)}, {})
    assert full.value.filename == str(tmp_path / "a")


def test_overwriting_is_asked_for_and_only_of_such_folders(folder, tmp_path):
    with pytest.raises(StorageError, match="exists; overwrite=True"):
        write_folder(folder, "model", ARRAYS, {})
    write_folder(folder, "model", {}, {"new": 1}, overwrite=True)
    assert read_folder(folder, "model") == ({}, {"new": 1})
    assert [p.name for p in tmp_path.iterdir()] == ["model"]
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.tex").write_text("years of work")
    with pytest.raises(StorageError, match="not a plugsamp folder"):
        write_folder(other, "model", {}, {}, overwrite=True)
    assert (other / "thesis.tex").exists()


@pytest.mark.parametrize("keep", [0, 10, 100, -1])
def test_a_truncated_array_is_refused(folder, keep):
    file = folder / "phi.npy"
    file.write_bytes(file.read_bytes()[:keep])
    with pytest.raises(StorageError, match=r"phi\.npy is damaged or cut short"):
        read_folder(folder, "model")


def test_one_flipped_bit_is_refused(folder):
    file = folder / "counts.npy"
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    with pytest.raises(StorageError, match=r"counts\.npy is damaged"):
        read_folder(folder, "model")


def test_a_pickle_in_place_of_an_array_is_never_loaded(folder, tmp_path):
    canary = tmp_path / "canary"

    class Bomb:
        def __reduce__(self):
            return (canary.write_text, ("boom",))

    file = folder / "phi.npy"
    with open(file, "wb") as out:
        np.save(out, np.array([Bomb()], dtype=object), allow_pickle=True)
    import hashlib

    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    edit_manifest(folder, lambda m: m["arrays"]["phi"].update(sha256=digest), sign=True)
    with pytest.raises(StorageError, match=r"phi\.npy"):
        read_folder(folder, "model")
    assert not canary.exists()


@pytest.mark.parametrize(
    "spoil, said",
    [
        (lambda f: (f / "phi.npy").unlink(), "phi.npy is missing"),
        (lambda f: (f / "manifest.json").unlink(), "not a plugsamp folder"),
        (lambda f: (f / "manifest.json").write_text('{"format": "plug'), "manifest.json is damaged"),
        (lambda f: (f / "manifest.json").write_text("[]"), "not written by plugsamp"),
        (lambda f: (f / "manifest.json").write_text('{"kind": Infinity}'), "Infinity is no number"),
        (lambda f: (f / "manifest.json").write_text('{"kind": NaN}'), "NaN is no number"),
        (lambda f: (f / "manifest.json").write_bytes(b"\xff\xfe\x00"), "manifest.json is damaged"),
        (lambda f: edit_manifest(f, lambda m: m.update(format="other")), "not written by plugsamp"),
        (lambda f: edit_manifest(f, lambda m: m.update(schema_version=99), sign=True), "schema version 99"),
        (lambda f: edit_manifest(f, lambda m: m.update(schema_version="1")), "schema version"),
        (lambda f: edit_manifest(f, lambda m: m["content"].update(alpha=0.2)), "digest does not fit"),
        (lambda f: edit_manifest(f, lambda m: m.pop("sha256")), "digest does not fit"),
        (lambda f: edit_manifest(f, lambda m: m["arrays"].update({"../x": {}}), sign=True), "names an array"),
    ],
)
def test_a_spoilt_folder_is_refused_with_what_is_wrong(folder, spoil, said):
    spoil(folder)
    with pytest.raises(StorageError) as caught:
        read_folder(folder, "model")
    assert said in str(caught.value)


def test_the_wrong_kind_and_no_folder(folder, tmp_path):
    with pytest.raises(StorageError, match="holds a model, not a checkpoint"):
        read_folder(folder, "checkpoint")
    with pytest.raises(StorageError, match="there is no folder"):
        read_folder(tmp_path / "absent", "model")
    with pytest.raises(StorageError, match="not a folder"):
        read_folder(folder / "phi.npy", "model")


@pytest.mark.parametrize(
    "labels",
    [
        ["a", "b"],
        [0, 1, 2**60],
        [False, True],
        [0.1, 1e300],
        [np.int64(3), np.int64(4)],
        [np.True_],
        [],
        [b"\x00\xff", b""],
        [date(2020, 2, 29), date(1, 1, 1)],
        [Decimal("1.10"), Decimal("-1E+50")],
        [datetime(2020, 1, 2, 3, 4, 5, 6), datetime(2020, 1, 2, tzinfo=UTC)],
    ],
)
def test_labels_come_back_as_they_were(labels):
    back = stored_labels.decode_labels(json.loads(json.dumps(stored_labels.encode_labels(labels))))
    plain = [v.item() if isinstance(v, np.generic) else v for v in labels]
    assert back.tolist() == plain
    assert [type(v) for v in back.tolist()] == [type(v) for v in plain]


@pytest.mark.parametrize("labels", [["a", 1], [None], [(1,)], [1j], [date(2020, 1, 1), datetime(2020, 1, 1)]])
def test_other_labels_are_refused(labels):
    with pytest.raises(StorageError, match="can be kept"):
        stored_labels.encode_labels(labels)


@pytest.mark.parametrize("name", [storage.MANIFEST, "phi.npy"])
def test_a_folder_in_the_place_of_a_file(folder, name):
    (folder / name).unlink()
    (folder / name).mkdir()
    with pytest.raises(StorageError, match=f"{name} cannot be read"):
        read_folder(folder, "model")


@pytest.mark.parametrize(
    "encoded",
    [{"type": "date", "values": ["2020-13-01"]}, {"type": "bytes", "values": ["0g"]},
     {"type": "Decimal", "values": ["1.x"]}, {"type": "Decimal", "values": [1]},
     {"type": "set", "values": []}],
)  # fmt: skip
def test_damaged_labels_are_refused(encoded):
    with pytest.raises(StorageError, match="cannot be read"):
        stored_labels.decode_labels(encoded)
