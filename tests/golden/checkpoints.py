"""Make the golden checkpoints of the present layout: what later versions must still resume.

    python tests/golden/checkpoints.py NAME ...

A golden checkpoint that is there stays as it is. When the layout changes, add one with a new name.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from plugsamp.checkpoint.options import Checkpoints
from plugsamp.corpus import Corpus
from plugsamp.covariates.options import Covariates
from plugsamp.fitting.fit import fit
from plugsamp.fitting.second_step import SecondStep
from plugsamp.model import Model

HERE = Path(__file__).parent / "checkpoints"

#: Sweeps of the golden checkpoints, and of the runs that go on from them.
STOPPED, SWEEPS = 4, 8


def documents(real: bool = False) -> Corpus:
    """Forty documents that depend on no generator of random numbers."""
    d, w = np.indices((40, 25))
    counts = (d * 7 + w * w * 3 + d * w) % 11 < 3
    responses = np.sin(np.arange(40.0)) if real else np.array(["x", "y", "z"], dtype=object)[d[:, 0] % 3]
    fields = {"year": np.cos(np.arange(40.0)), "land": ["a", "b"] * 20}
    return Corpus.from_counts(counts.astype(int), responses=responses, fields=fields)


_PROPOSALS = ["word", "doc", "sparse_exp"]
_COMPOSED = {"name": "composed", "proposals": _PROPOSALS, "steps": 2, "collapse": "partial"}
_SEEDED = {"name": "seeded", "words": {0: ["w1", "w2"]}}
_LEARNT = {"learn_alpha": "slice", "learn_beta": "slice"}

#: Defaults when the checkpoints were made.
_NORMAL = {"name": "normal", "variance": 1.0}
_HINGE = {"name": "hinge", "cost": 102.4}

#: Of each checkpoint the kernel, the options of the model, and those of the fit.
NAMES = {
    "normal": ("light_pc", {"loss": _HINGE}, {}),
    "horseshoe": ("dense", {"loss": "logistic", "weights": "horseshoe"} | _LEARNT, {}),
    "hierarchical": ("dense", {"loss": "probit", "weights": "hierarchical"}, {}),
    "spike_slab": (_COMPOSED, {"loss": "probit", "topics": "spike_slab"}, {}),
    "seeded": (
        "auto", {"loss": _HINGE, "topics": _SEEDED, "class_weight": "balanced"}, {},
    ),
    "covariates": (
        "sparse_pc", {"loss": "gaussian"},
        {"covariates": Covariates(numeric=["year"], categorical=["land"], words="tfidf")},
    ),
    "two_step": (
        "sparse", {"loss": _HINGE}, {"supervised": "two_step", "second_step": SecondStep(sweeps=8)},
    ),
    "unsupervised": ("fast", {"loss": "none"} | _LEARNT, {}),
    "epsilon_insensitive": ("light", {"loss": "epsilon_insensitive"}, {}),
}  # fmt: skip


def run(name: str, folder=None, sweeps: int = SWEEPS, **options):
    """The run of a golden checkpoint, as it is made and resumed."""
    kernel, model, more = NAMES[name]
    if folder is not None:
        options["checkpoint"] = Checkpoints(folder, sweeps=STOPPED, minutes=None)
    corpus = documents(real=name in ("covariates", "epsilon_insensitive"))
    model = Model(3, alpha=0.3, beta=0.1, **({"weights": _NORMAL} | model))
    return fit(corpus, model, kernel, sweeps=sweeps, burn_in=2, thin=1, seed=3, **more, **options)


if __name__ == "__main__":
    for each in sys.argv[1:] or NAMES:
        if (HERE / each).exists():
            print(f"{each} is there and stays")
        else:
            run(each, HERE / each, STOPPED)
