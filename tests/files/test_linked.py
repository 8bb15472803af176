"""Equal arrays of a model and a checkpoint are one file."""

import numpy as np

from plugsamp.files import linked
from plugsamp.files.linked import link_equal
from plugsamp.files.storage import read_folder, write_folder


def test_equal_arrays_are_one_file(tmp_path, monkeypatch):
    large, other = np.arange(200_000.0), np.ones(200_000)
    write_folder(tmp_path / "a", "model", {"eta": large, "phi": np.zeros(3)}, {})
    write_folder(tmp_path / "b", "checkpoint", {"etas": large, "sums": other, "small": np.zeros(3)}, {"n": 1})
    link_equal(tmp_path / "a", "model", [tmp_path / "b", tmp_path / "gone"], "checkpoint")
    links = {p.name: p.stat().st_nlink for p in (tmp_path / "b").glob("*.npy")}
    assert links == {"etas.npy": 2, "sums.npy": 1, "small.npy": 1}
    arrays, content = read_folder(tmp_path / "b", "checkpoint")
    assert np.array_equal(arrays["etas"], large) and content == {"n": 1}
    write_folder(tmp_path / "a", "model", {"eta": other}, {}, overwrite=True)
    assert np.array_equal(read_folder(tmp_path / "b", "checkpoint")[0]["etas"], large)


def test_files_stay_where_links_cannot_be_made(tmp_path, monkeypatch):
    def refused(*_):
        raise PermissionError("no links here")

    monkeypatch.setattr(linked.os, "link", refused)
    for name in "ab":
        write_folder(tmp_path / name, "model", {"eta": np.arange(200_000.0)}, {})
    link_equal(tmp_path / "a", "model", [tmp_path / "b"], "model")
    assert (tmp_path / "b" / "eta.npy").stat().st_nlink == 1
    assert len(list((tmp_path / "b").iterdir())) == 2
