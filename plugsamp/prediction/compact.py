"""A fitted model as one small file: what prediction needs, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from plugsamp.files.archive import write_archive
from plugsamp.prediction.ensembles import Ensemble
from plugsamp.prediction.inference import Predictor
from plugsamp.prediction.models import KIND, load_model, model_data
from plugsamp.prediction.topic_table import packed


def export(predictor, path, eta: str = "draws", overwrite: bool = False, more: dict | None = None) -> Path:
    """Write a model's inference-only form, which `load_model` and ``plugsamp predict`` take.

    Topics, weights, vocabulary and whatever else prediction needs, compressed without a loss: no priors, no
    chain, no trace, no configuration. Predictions from it are the same to the bit (unless weights are
    averaged, which also makes it another model with random streams of its own).

    Parameters
    ----------
    predictor : Posterior, Predictor, Ensemble or path-like
        Or the folder of a run or model.
    path : path-like
        One file, to be called what you like.
    eta : {"draws", "mean"}
        Every kept draw of the weights; or their mean, where there are many weights: labels and linear
        predictors are those of the mean, and there are no probabilities and intervals, which draws are for.
    overwrite : bool
        Replace a file that is there.
    more : dict, optional
        Plain values that are written beside the model.

    Raises
    ------
    StorageError
        The file exists, or the model cannot be saved (`plugsamp.save_model`).

    Examples
    --------
    >>> import numpy as np, tempfile, plugsamp as ps
    >>> corpus = ps.Corpus.from_counts(np.array([[3, 0, 1], [0, 2, 2]]), responses=["a", "b"])
    >>> fit = ps.fit(corpus, ps.Model(2, loss="hinge"), sweeps=4)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ps.load_model(ps.export(fit, folder + "/model.zip")).digest == fit.predictor.digest
    True
    """
    if eta not in ("draws", "mean"):
        raise ValueError(f"eta must be draws or mean, not {eta!r}")
    if isinstance(predictor, str | Path):
        folder = Path(predictor)
        predictor = load_model(folder / "model" if (folder / "model").is_dir() else folder)
    predictor = getattr(predictor, "predictor", predictor)
    if eta == "mean":
        predictor = averaged(predictor)
    arrays, content = model_data(predictor)
    small = {}
    for name, array in arrays.items():
        owner, _, part = name.rpartition("phi")
        if name == f"{owner}phi" and part == "" and array.ndim == 2:
            small |= {owner + name: values for name, values in packed(array).items()}
        else:
            small[name] = array
    content |= {"plugsamp": version("plugsamp")} | (more or {})
    return write_archive(path, KIND, small, content, overwrite)


def averaged(predictor: Predictor | Ensemble) -> Predictor | Ensemble:
    """The same topics with the mean of the weights for draws; an estimate, which knows labels alone."""
    if isinstance(predictor, Ensemble):
        return replace(predictor, members=tuple(averaged(member) for member in predictor.members))
    eta = predictor.eta.mean(axis=0, keepdims=True)
    if not predictor.coding.n_outputs:
        return replace(predictor, eta=eta)
    return replace(predictor, eta=eta, parameters={}, source="estimate")
