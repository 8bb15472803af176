"""Fits with checkpoints, what breaks them off, and whether two are the same."""

from __future__ import annotations

import os

import numpy as np
import pytest

from plugsamp.checkpoint.options import Checkpoints
from plugsamp.corpus import Corpus
from plugsamp.covariates.options import Covariates
from plugsamp.fitting.fit import fit
from plugsamp.fitting.second_step import SecondStep
from plugsamp.model import Model


def corpus() -> Corpus:
    rng = np.random.default_rng(5)
    counts = rng.poisson(0.5, size=(90, 30))
    classes = np.array(["x", "y", "z"], dtype=object)[rng.integers(3, size=90)]
    fields = {"year": rng.standard_normal(90), "land": list(np.array(["a", "b"])[rng.integers(2, size=90)])}
    return Corpus.from_counts(counts, responses=classes, fields=fields)


CORPUS = corpus()
MODEL = {"alpha": 0.3, "beta": 0.1, "loss": "hinge"}


def run(folder=None, sweeps=20, every=4, kernel="light_pc", model=MODEL, corpus=CORPUS, keep=True, **options):
    """A fit with a checkpoint every few sweeps."""
    if folder is not None:
        options["checkpoint"] = Checkpoints(folder, sweeps=every, minutes=None, keep=keep)
    return fit(corpus, Model(5, **model), kernel, sweeps=sweeps, **options)


class Stopped(Exception):
    """The end of a process, as far as the fit can tell."""


def stop_after(sweep):
    def observe(row):
        if row["sweep"] == sweep:
            raise Stopped

    return observe


def broken_off(folder, after, **options) -> None:
    with pytest.raises(Stopped):
        run(folder, observers=[stop_after(after)], **options)


def timeless(trace):
    return [{k: v for k, v in row.items() if k not in ("seconds", "elapsed")} for row in trace]


def assert_same(one, two) -> None:
    assert one.digest == two.digest
    assert np.array_equal(one.chain.z, two.chain.z) and np.array_equal(one.chain.eta, two.chain.eta)
    assert _variances(one) == _variances(two)
    assert timeless(one.trace) == timeless(two.trace) and one.start == two.start


def _variances(posterior):
    return [{k: v.tolist() for k, v in part.variances.items()} for part in posterior.parts]


def names(folder):
    return sorted(path.name for path in folder.iterdir())


KINDS = {
    "partial, warm start": {},
    "full": {"kernel": "dense"},
    "horseshoe and learnt priors": {
        "model": MODEL | {"weights": "horseshoe", "learn_alpha": "slice", "learn_beta": "slice"}
    },
    "spike and slab": {"model": MODEL | {"topics": "spike_slab"}},
    "two steps": {"supervised": "two_step", "second_step": SecondStep(sweeps=8)},
    "covariates": {
        "covariates": Covariates(numeric=["year"], categorical=["land"], words="tfidf"),
        "model": MODEL | {"weights": "hierarchical"},
    },
    "a variance": {
        "corpus": CORPUS.with_responses(np.arange(90.0)),
        "model": MODEL | {"loss": {"name": "gaussian", "variance": "sample"}, "standardise": True},
    },
    "no responses": {"model": MODEL | {"loss": "none"}, "kernel": "sparse"},
    "topics given": {"init": np.arange(CORPUS.n_tokens) % 5},
}


def send(number, *sweeps):
    def observe(row):
        if row["sweep"] in sweeps:
            os.kill(os.getpid(), number)

    return observe
