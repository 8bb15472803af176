"""Make the golden models of the present layout: what later versions must still load.

    python tests/golden/make.py NAME ...

Models are made by hand (`plugsamp.testing.fuzz_targets`) and not sampled, so that they can be made again. A
golden model that is there stays as it is: when a layout changes, give its models new names, here and in
NAMES, and keep the old ones. What a model must be and say is kept in expected.json.
"""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from plugsamp.corpus import Corpus
from plugsamp.files import storage
from plugsamp.posterior.draws import Draws
from plugsamp.posterior.saved import export, load_model, save_model
from plugsamp.posterior.stored import KIND
from plugsamp.testing import fuzz_targets as made

HERE = Path(__file__).parent
EXPECTED = HERE / "expected.json"


def documents() -> Corpus:
    """Two documents of which every model here is sure, with the columns that one of them needs."""
    counts = np.zeros((2, len(made.WORDS)), int)
    counts[0, :2] = counts[1, 2:4] = 20
    fields = {"year": np.array([1.0, 4.0]), "country": np.array(["x", "z"], dtype=object)}
    return Corpus.from_counts(counts, vocabulary=made.WORDS, fields=fields)


def first(path: Path) -> None:
    """Schema version 1 as it first was: no restarts, no source, no encoder."""
    save_model(path, made.predictor())
    arrays, content = storage.read_folder(path, KIND)
    shutil.rmtree(path)
    for name in ("restarts", "source"):
        del content[name]
    storage.write_folder(path, KIND, arrays, content)


def with_variances() -> Draws:
    """Draws of a prior that draws the variances of the weights."""
    draws = made.predictor()
    return replace(draws, variances={"topics": np.arange(1.0, 7.0).reshape(draws.eta.shape[:2])})


#: What makes each; a name is never given to another layout.
NAMES = {
    "first": first,
    "folder-hinge": lambda path: save_model(path, made.predictor()),
    "folder-covariates": lambda path: save_model(path, made.with_covariates()),
    "folder-chains": lambda path: save_model(path, made.two_chains()),
    "folder-variances": lambda path: save_model(path, with_variances()),
    "file-hinge.zip": lambda path: export(made.predictor(), path),
    "file-covariates.zip": lambda path: export(made.with_covariates(), path),
    "file-chains.zip": lambda path: export(made.two_chains(), path),
}


def main(names: list[str]) -> None:
    expected = json.loads(EXPECTED.read_text()) if EXPECTED.exists() else {}
    for name in names or NAMES:
        if (HERE / name).exists():
            print(f"{name} is there and stays")
            continue
        NAMES[name](HERE / name)
        model = load_model(HERE / name)
        prediction = model.predict(documents())
        expected[name] = {
            "digest": model.digest,
            "labels": prediction.labels.reshape(-1).tolist(),
            "f": np.round(prediction.f, 3).tolist(),
        }
    EXPECTED.write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
