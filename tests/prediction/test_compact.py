"""A model as one small file: the same predictions to the bit, refused by name where it is damaged."""

import io
import json
import zipfile

import numpy as np
import pytest

import plugsamp as ps
from plugsamp.cli import main
from plugsamp.files import archive, storage
from plugsamp.files.plain_arrays import HoldsObjects, NotPlain, array_of
from plugsamp.files.storage import NewerError, StorageError
from plugsamp.posterior.topic_table import packed, unpacked
from plugsamp.testing import fuzz, fuzz_targets


@pytest.fixture(scope="module")
def documents():
    rng = np.random.default_rng(0)
    kind = np.arange(60) % 3
    counts = rng.poisson(np.where(np.arange(90)[None] // 30 == kind[:, None], 0.5, 0.02))
    return ps.Corpus.from_counts(counts, responses=np.array(["a", "b", "c"])[kind])


def fitted(documents, loss="logistic", **more):
    return ps.fit(documents, ps.Model(4, loss=loss), sweeps=12, thin=2, **more)


@pytest.mark.parametrize(
    "more",
    [{}, {"loss": "none"}, {"chains": 2}, {"multiclass": "ovr"}, {"kernel": ps.kernels.Dense("partial")}],
    ids=["plain", "none", "chains", "ovr", "partial"],
)
def test_predictions_are_the_same_to_the_bit(documents, tmp_path, more):
    fit = fitted(documents, **more)
    path = ps.export(fit, tmp_path / "model.zip")
    full = ps.save_model(tmp_path / "model", fit)
    loaded, before = ps.load_model(path), fit.predict(documents)
    assert loaded.digest == fit.digest
    found = loaded.predict(documents)
    assert found.f.tobytes() == before.f.tobytes() and found.zbar.tobytes() == before.zbar.tobytes()
    if before.probabilities is not None:
        assert found.probabilities.tobytes() == before.probabilities.tobytes()
    assert path.stat().st_size < sum(f.stat().st_size for f in full.iterdir())
    again = ps.export(full, tmp_path / "again.zip")
    assert again.read_bytes() == path.read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["again.zip", "model", "model.zip"]


def test_encoders_and_parameters_come_along(tmp_path):
    model = fuzz_targets.with_covariates()
    assert ps.load_model(ps.export(model, tmp_path / "m.zip")).digest == model.digest


def test_the_mean_of_the_weights(documents, tmp_path):
    fit = fitted(documents)
    small = ps.load_model(ps.export(fit, tmp_path / "m.zip", eta="mean"))
    np.testing.assert_array_equal(small.eta[0], fit.eta.mean(axis=0))
    found = small.predict(documents)
    assert found.probabilities is None
    np.testing.assert_allclose(found.f, found.zbar @ small.eta[0].T, rtol=1e-12)
    assert found.labels.tolist() == found.coding.classes[found.f.argmax(axis=1)].tolist()
    with pytest.raises(ValueError, match="eta must be draws or mean"):
        ps.export(fit, tmp_path / "x.zip", eta="none")


@pytest.mark.parametrize(
    "phi",
    [
        np.array([[0.5, 0.5, 0.25], [0.0, -0.0, 0.0]]),  # -0.0 is another number than 0.0 to the bit
        np.arange(12.0).reshape(3, 4),
        np.full((2, 5), 0.2),
        np.ones((1, 1)),
        np.random.default_rng(0).choice([0.1, 0.1, 0.1, 0.3], (70, 33)),
    ],
    ids=str,
)
def test_topics_are_packed_without_a_loss(phi):
    phi = phi.astype(np.float32)
    arrays = packed(phi)
    assert unpacked(arrays).tobytes() == phi.tobytes()
    assert ("phi" in arrays) == (phi.shape == (3, 4))


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"phi_ends": np.array([3, 1, 2])}, ValueError),
        ({"phi_topics": np.array([9, 0], np.uint16)}, IndexError),
        ({"phi_topics": np.array([0], np.uint16)}, ValueError),
        ({"phi_common": np.array([1, 1])}, ValueError),
    ],
    ids=str,
)
def test_packed_topics_that_are_none(change, error):
    arrays = packed(np.array([[0.1, 0.1, 0.5], [0.2, 0.7, 0.2]], np.float32))
    assert arrays["phi_topics"].tolist() == [1, 0]
    with pytest.raises(error):
        unpacked(arrays | change)


def rewritten(path, change):
    """The archive with its members changed, and digests that fit."""
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    change(members)
    path.write_bytes(fuzz_targets.fitting_archive({"m": fuzz.archive_of(members.items())})["m"])


def _manifest(**more):
    def change(members):
        members["manifest.json"] = json.dumps(json.loads(members["manifest.json"]) | more).encode()

    return change


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (_manifest(schema_version=99), "has schema version 99; this plugsamp reads up to 1: update it"),
        (_manifest(kind="corpus"), "holds a corpus, not a model"),
        (_manifest(format="other"), "was not written by plugsamp"),
        (lambda members: members.pop("eta.npy"), r"is incomplete: eta\.npy is missing"),
        (lambda members: members.pop("manifest.json"), "it has no manifest.json"),
        (lambda members: members.update({"eta.npy": b"\x93NUMPY"}), "eta.npy is not a plain array"),
        (lambda members: members.update({"eta.npy": members["alpha.npy"]}), "the manifest says otherwise"),
    ],
    ids=[0, 1, 2, 3, 4, 5, 6],
)
def test_what_is_wrong_is_named(tmp_path, change, says):
    path = ps.export(fuzz_targets.predictor(), tmp_path / "m.zip")
    rewritten(path, change)
    with pytest.raises(StorageError, match=says) as refused:
        ps.load_model(path)
    assert "m.zip" in str(refused.value)
    assert isinstance(refused.value, NewerError) == ("update" in says)


def test_what_claims_too_much_is_not_unpacked(tmp_path):
    path = tmp_path / "m.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("manifest.json", b"0" * 5000)
    data = bytearray(path.read_bytes())
    for at in (22, data.rfind(b"PK\x01\x02") + 24):  # the size, in both headers
        data[at : at + 4] = (2**31).to_bytes(4, "little")
    path.write_bytes(data)
    with pytest.raises(StorageError, match=r"manifest\.json claims 2147483648 bytes"):
        ps.load_model(path)
    arrays = {"phi_common": np.zeros(2**20, np.float32), "phi_ends": np.zeros(2**24, np.int64)}
    from plugsamp.posterior import topic_table

    there = sum(array.nbytes for array in arrays.values())
    with pytest.raises(StorageError, match=f"{there} bytes of arrays would make"):
        archive.require_memory(topic_table.size(arrays), "x", there)
    with pytest.raises(StorageError, match="bytes of memory, and"):
        archive.require_memory(1 << 50, "x", 1 << 50)


def altered(path, name, old, new):
    """A model folder, other bytes in one of its files, and digests that fit."""
    folder = ps.save_model(path, fuzz_targets.predictor())
    files = {p.name: p.read_bytes() for p in folder.iterdir()}
    files[name] = files[name].replace(old, new)
    for name, data in fuzz_targets.fitting(files).items():
        (folder / name).write_bytes(data)
    return folder


def test_folders_with_other_sizes_than_stated(tmp_path):
    folder = altered(tmp_path / "m", "eta.npy", b"(2, 3, 2)", b"(2, 3,99)")
    with pytest.raises(StorageError, match=r"eta\.npy is not a plain array: its header states 4752 bytes"):
        ps.load_model(folder)


def test_labels_of_no_type_name_the_folder(tmp_path):
    """Found by fuzzing: a manifest whose digests fit, and whose classes are of no type."""
    folder = altered(tmp_path / "m", "manifest.json", b'"type": "str"', b'"type": "__proto__str"')
    with pytest.raises(StorageError, match="m is damaged: class labels of type '__proto__str'"):
        ps.load_model(folder)


def test_files_and_what_is_there(tmp_path):
    model = fuzz_targets.predictor()
    path = ps.export(model, tmp_path / "m.zip")
    before = path.read_bytes()
    with pytest.raises(StorageError, match="exists"):
        ps.export(model, path)
    with pytest.raises(StorageError, match="exists"):
        ps.export(model, tmp_path, overwrite=True)  # a folder
    assert ps.export(fuzz_targets.two_chains(), path, overwrite=True).read_bytes() != before
    (tmp_path / "text").write_text("hello")
    with pytest.raises(StorageError, match="no archive"):
        ps.load_model(tmp_path / "text")
    with pytest.raises(StorageError, match="there is no folder"):
        ps.load_model(tmp_path / "nothing")
    with pytest.raises(StorageError, match="cannot be the name"):
        archive.write_archive(tmp_path / "x", "model", {"../x": np.zeros(1)}, {})
    assert not (tmp_path / "x").exists()


def npy(array, **options):
    data = io.BytesIO()
    np.save(data, array, **options)
    return data.getvalue()


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6).reshape(2, 3),
        np.asfortranarray(np.ones((2, 3))),
        np.zeros((0, 4)),
        np.array(3.5),
        np.array("é"),
    ],
    ids=["whole", "by column", "empty", "scalar", "text"],
)
def test_plain_arrays_come_back(array):
    found = array_of(npy(array))
    np.testing.assert_array_equal(found, array)
    assert found.dtype == array.dtype and not found.flags.writeable


def test_what_is_no_plain_array():
    whole = npy(np.arange(6))
    with pytest.raises(HoldsObjects):
        array_of(npy(np.array([{}], dtype=object), allow_pickle=True))
    for data, says in [
        (whole[:-1], "states 48 bytes of numbers, and there are 47"),
        (whole + b"x", "states 48 bytes of numbers, and there are 49"),
        (whole.replace(b"(6,)", b"(6**"), "header cannot be read"),
        (whole.replace(b"(6,), ", b"(-6,),"), "the shape"),
        (whole[:6] + b"\x09" + whole[7:], "header cannot be read|version 9"),
        (npy(np.zeros(2, "M8[s]")), "not plain numbers"),
        (npy(np.zeros(2, [("a", "i4")])), "not plain numbers"),
        (b"", "header cannot be read"),
        (
            b"\x93NUMPY\x02\x00" + (662372470).to_bytes(4, "little") + b"{'descr",
            "a length of 662372470 bytes",
        ),
    ]:
        with pytest.raises(NotPlain, match=says):
            array_of(data)


def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    words = {"x": ["moon", "orbit", "rocket"], "y": ["soup", "bread", "salt"]}
    lines = [f"{' '.join(rng.choice(words[c], 9))},{c}" for c in "xy" * 12]
    (tmp_path / "a.csv").write_text("\n".join(["text,label", *lines]))
    corpus = ["corpus=csv", "corpus.path=a.csv", "corpus.min_df=1"]
    fast = ["fit", "n_topics=2", "sweeps=12", "report=false", *corpus, "corpus.test_size=0.25"]
    assert main([*fast, "hydra.run.dir=run"]) == 0
    assert main(["export", "run=run", "to=model", "out=model.zip"]) == 0
    assert f"model.zip: {(tmp_path / 'model.zip').stat().st_size:,} bytes" in capsys.readouterr().out
    predict = ["predict", "model=model.zip", *corpus, "corpus.test_size=0.25", "part=test", "out=p.csv"]
    assert main(predict) == 0
    assert (tmp_path / "p.csv").read_bytes() == (tmp_path / "run" / "predictions.csv").read_bytes()
    assert main(["export", "run=run", "to=model", "eta=mean", "out=mean.zip"]) == 0
    (tmp_path / "model.zip").write_bytes(b"PK")
    assert main(["predict", "model=model.zip", *corpus, "out=q.csv"]) == 2
    assert "model.zip is damaged, cut short or no archive" in capsys.readouterr().err
    assert storage.SCHEMA_VERSION == 1
