"""Every reader and the model loader, with valid files to damage (`plugsamp.testing.fuzz`)."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from plugsamp import readers, writers
from plugsamp.corpus import Corpus
from plugsamp.covariates.options import Covariates
from plugsamp.files import archive, storage
from plugsamp.files.storage import StorageError
from plugsamp.losses.coding import Coding
from plugsamp.losses.gaussian import Gaussian
from plugsamp.losses.hinge import Hinge
from plugsamp.posterior.draws import Draws
from plugsamp.posterior.posterior import Posterior
from plugsamp.posterior.saved import export, load_model, save_model
from plugsamp.readers.mallet_state import MalletState
from plugsamp.testing.fuzz import Target, archive_of

WORDS = ("moon", "orbit", "soup", "bread", "salt", "über")


def targets() -> list[Target]:
    """All of them, by name in a fixed order."""
    return [*reader_targets(), *model_targets()]


def corpus() -> Corpus:
    """Six documents with labels, an empty one among them."""
    counts = np.random.default_rng(0).poisson(1.2, (6, len(WORDS)))
    counts[4] = 0
    return Corpus.from_counts(
        counts, responses=["space", "food"] * 3, vocabulary=WORDS, ids=[f"d{i}" for i in range(6)]
    )


def reader_targets() -> list[Target]:
    made = [*map(_written, writers.FORMATS), *_texts(), _state(), *_arrays()]
    binary = ("npz", "npy", "store", "folder", "mallet_state")
    packed = [_packed(target) for target in made if not target.name.startswith(binary)]
    return sorted([*made, *packed], key=lambda target: target.name)


def _read(kind: str, options: dict, vocabulary, folder: Path):
    """Read with a reader, its files in the folder; options that end in path are below it."""
    placed = {k: str(folder / v) if k.endswith("path") else v for k, v in options.items()}
    return getattr(readers, kind)(**placed).read(vocabulary)


def _target(name: str, kind: str, files: dict[str, bytes], options: dict, vocabulary=None) -> Target:
    repair = fitting if name == "store" else None
    textual = not name.startswith(("npz", "npy", "store"))
    return Target(name, files, partial(_read, kind, options, vocabulary), repair=repair, textual=textual)


def fitting(files: dict[str, bytes]) -> dict[str, bytes]:
    """Files of a folder of `plugsamp.files.storage` with digests that fit them, whoever has changed them."""
    found = dict(files)
    for name in files:
        folder, _, last = name.rpartition("/")
        if last == storage.MANIFEST:
            beside = {
                other.rpartition("/")[2]: data
                for other, data in files.items()
                if other.rpartition("/")[0] == folder
            }
            found[name] = _manifest(files[name], beside)
    return found


def fitting_archive(files: dict[str, bytes]) -> dict[str, bytes]:
    """The same of an archive, where it can still be read."""
    found = {}
    for name, data in files.items():
        try:
            inside = archive.members(io.BytesIO(data))
        except archive.NotWhole:
            found[name] = data
            continue
        found[name] = archive_of(fitting(inside).items())
    return found


def _manifest(text: bytes, beside: dict[str, bytes]) -> bytes:
    try:
        about = json.loads(text)
        for name, entry in about["arrays"].items():
            if f"{name}.npy" in beside:
                entry["sha256"] = hashlib.sha256(beside[f"{name}.npy"]).hexdigest()
        about.pop("sha256", None)
        return json.dumps(storage.with_digest(about)).encode()
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return text  # no longer a manifest at all


#: What reads the formats that are written.
KINDS = {
    "jsonl": "JsonLines", "ldac": "LdaC", "mallet": "MalletText", "mm": "MatrixMarket", "npz": "Matrix",
    "store": "Store", "svmlight": "SvmLight", "uci": "BagOfWords",
}  # fmt: skip


def _written(name: str) -> Target:
    """A format as `plugsamp.writers` writes it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"c.{'npz' if name == 'npz' else name}"
        options = writers.write(corpus(), path, name).options
        options = {
            k: str(v).removeprefix(f"{folder}/") if k.endswith("path") else v for k, v in options.items()
        }
        files = _files(Path(folder))
    return _target(name, KINDS[name], files, {"path": path.name, **options})


def _files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


PLAIN = {"min_df": 1, "stop_words": "none"}

#: A table with several labels, a weight, a quoted cell of several lines.
CSV = '''id,text,label,year,split
1,"moon, orbit ""moon""",space,1969,train
2,"soup
bread",food,2001.5,train
3,salt soup,food,,test
4,orbit über,space,1970,train
'''


def _texts() -> list[Target]:
    table, tabs = CSV.encode(), CSV.replace(",", "\t").encode()
    full = {"path": "a.csv", "fields": ["year"], **PLAIN}
    json_lines = (
        b'{"id": "a", "text": "moon orbit moon", "labels": ["space", "old"], "year": 1969, "weight": 2}\n'
        b'{"id": "b", "text": "soup \\u00fcber", "labels": [], "year": 1.5, "split": "test", "weight": 1}\n'
        b'{"id": "c", "text": "salt soup", "labels": ["food"], "weight": 0.5, "year": null}\n'
    )
    numbers = b'{"text": "moon orbit", "y": 1.5}\n{"text": "soup moon", "y": -2e3}\n'
    tokens = b'{"tokens": ["moon", "moon"], "label": 1}\n{"tokens": ["soup"], "label": 0, "split": "test"}\n'
    pages = {"space/a.txt": "moon orbit\n", "food/b.txt": "soup über\n", "food/c.txt": ""}
    folder = {f"pages/{name}": text.encode() for name, text in pages.items()}
    return [
        _target("csv", "Table", {"a.csv": table}, full),
        _target("tsv", "Table", {"a.tsv": tabs}, {"path": "a.tsv", "missing_labels": True, **PLAIN}),
        _target("csv, new", "Table", {"a.csv": table}, {"path": "a.csv", **PLAIN}, WORDS),
        _target(
            "jsonl, labels", "JsonLines", {"a.jsonl": json_lines},
            {"path": "a.jsonl", "fields": ["year"], "weight": "weight", **PLAIN},
        ),
        _target(
            "jsonl, numbers", "JsonLines", {"a.jsonl": numbers}, {"path": "a.jsonl", "y": ["y"], **PLAIN}
        ),
        _target("jsonl, tokens", "JsonLines", {"a.jsonl": tokens}, {"path": "a.jsonl", **PLAIN}),
        _target("lines", "Lines", {"a.txt": b"moon orbit\nsoup bread\n\nsalt\n"}, {"path": "a.txt", **PLAIN}),
        _target("folder", "Folder", folder, {"path": "pages", **PLAIN}),
    ]  # fmt: skip


def _state() -> Target:
    text = (
        "#doc source pos typeindex type topic\n#alpha : 0.5 0.25\n#beta : 0.01\n0 my file 0 0 moon 1\n"
        "0 my file 1 1 orbit 0\n1 b 0 2 soup 0\n3 c 0 0 moon 1\n"
    )
    files = {"state.gz": gzip.compress(text.encode(), mtime=0)}
    return Target("mallet_state.gz", files, lambda folder: MalletState(path=str(folder / "state.gz")).state())


def _arrays() -> list[Target]:
    import scipy.sparse as sp

    dense = io.BytesIO()
    np.save(dense, corpus().counts().toarray())
    made = [_target("npy", "Matrix", {"c.npy": dense.getvalue()}, {"path": "c.npy"})]
    for kind in ("csc", "coo"):
        data = io.BytesIO()
        sp.save_npz(data, getattr(sp, f"{kind}_array")(corpus().counts()), compressed=kind == "csc")
        made.append(_target(f"npz, {kind}", "Matrix", {"c.npz": data.getvalue()}, {"path": "c.npz"}))
    return made


def _packed(target: Target) -> Target:
    """The same, what is read first in a .gz file."""
    kind, options, vocabulary = target.read.args
    path = options["path"]
    files = {name: data for name, data in target.files.items() if name != path}
    files[f"{path}.gz"] = gzip.compress(target.files[path], mtime=0)
    return _target(f"{target.name}.gz", kind, files, options | {"path": f"{path}.gz"}, vocabulary)


# -- models ------------------------------------------------------------------------------------------


def predictor(scale: float = 1.0) -> Draws:
    """A model of three classes, made by hand."""
    phi = np.full((2, len(WORDS)), 0.01, np.float32)
    phi[0, :2], phi[1, 2:4] = 0.48, 0.4
    coding = Coding(np.empty((0, 3)), "multiclass", np.array(["a", "b", "c"], dtype=object))
    eta = scale * np.array([[[3.0, -1.0], [0.5, 0.0], [-2.0, 4.0]], [[2.0, -1.5], [0.0, 1.0], [-1.0, 3.0]]])
    return Draws(phi, eta, np.array([0.5, 0.5]), Hinge(cost=2.0), coding, WORDS, seed=3)


def with_covariates() -> Draws:
    """A model of a real response with an encoder and a parameter of its loss."""
    documents = Corpus.from_counts(
        corpus().counts(), vocabulary=WORDS,
        fields={"year": np.arange(6.0), "country": np.array(["x", "y", "z"] * 2, dtype=object)},
    )  # fmt: skip
    encoder = Covariates(
        numeric=["year"], categorical=["country"], words="tfidf", words_min_df=1
    ).fit(documents)  # fmt: skip
    width = 2 + len(encoder.names) + 1
    base = predictor()
    return Draws(
        base.phi, np.arange(2.0 * width).reshape(2, 1, width), base.alpha, Gaussian(variance="sample"),
        Coding(np.empty((0, 1)), "real", np.array(["y"], dtype=object), np.array([1.5]), np.array([2.0])),
        WORDS, encoder.names, True, encoder=encoder, parameters={"variance": np.ones((2, 1))},
    )  # fmt: skip


def two_chains() -> Posterior:
    chains = (predictor(), predictor(2.0))
    return Posterior([part.with_record(name=f"chain {i + 1}") for i, part in enumerate(chains)])


def model_targets() -> list[Target]:
    made = []
    for name, model in (("hinge", predictor()), ("covariates", with_covariates()), ("chains", two_chains())):
        with tempfile.TemporaryDirectory() as folder:
            save_model(Path(folder) / "model", model)
            export(model, Path(folder) / "model.zip")
            files = _files(Path(folder))
        packed = {"model.zip": files.pop("model.zip")}
        for kind, part, path in (("folder", files, "model"), ("file", packed, "model.zip")):
            repair = fitting if kind == "folder" else fitting_archive
            made.append(Target(f"model {kind}, {name}", part, partial(_load, path), (StorageError,), repair))
    return made


def _load(path: str, folder: Path):
    return load_model(folder / path)
