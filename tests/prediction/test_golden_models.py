"""Models of all layouts that there have been are still loaded, and say what they said."""

import json
from pathlib import Path

import numpy as np
import pytest

import plugsamp as ps
from plugsamp.files import archive, storage

GOLDEN = Path(__file__).parents[1] / "golden"
EXPECTED = json.loads((GOLDEN / "expected.json").read_text())


@pytest.fixture(scope="module")
def make(golden):
    return golden("make")


@pytest.mark.parametrize("name", EXPECTED)
def test_an_old_model_is_loaded(name, make):
    model, expected = ps.load_model(GOLDEN / name), EXPECTED[name]
    assert model.digest == expected["digest"]
    prediction = model.predict(make.documents())
    np.testing.assert_allclose(prediction.f, expected["f"], atol=0.01)
    labels = prediction.labels.reshape(-1).tolist()
    if isinstance(labels[0], str):
        assert labels == expected["labels"] == ["a", "c"]
    else:
        np.testing.assert_allclose(labels, expected["labels"], rtol=1e-3)


def test_none_is_forgotten(make):
    others = ("__pycache__", "checkpoints")
    there = {p.name for p in GOLDEN.iterdir() if p.suffix in ("", ".zip") and p.name not in others}
    assert there == set(EXPECTED) and set(make.NAMES) <= there


@pytest.mark.parametrize("name", ["folder-hinge", "folder-covariates", "folder-chains", "file-hinge.zip"])
def test_the_present_layout_is_what_golden_models_have(name, make, tmp_path):
    """A layout that changes needs golden models of its own, and a note on what it reads of the old."""
    make.NAMES[name](tmp_path / name)
    now, then = (layout(path / name) for path in (tmp_path, GOLDEN))
    assert now == then


def layout(path):
    """Names, types and shapes of arrays, and what else is said; not the numbers, which may be rounded."""
    if path.is_file():
        arrays, content = archive.read_archive(path, "model")
    else:
        arrays, content = storage.read_folder(path, "model")
    described = {name: (array.dtype.str, array.shape) for name, array in arrays.items()}
    return described, sorted(content), [sorted(part) for part in content.get("members", [])]
