"""Chains as ArviZ has them: InferenceData before its version 1, an xarray DataTree since; netCDF files.

Both are named groups of the same xarray data sets, so these are made here, and put into whichever there is.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

import numpy as np

from plugsamp.convergence import align
from plugsamp.corpus import Corpus
from plugsamp.ensembles import CHAINS, Ensemble
from plugsamp.errors import InputError
from plugsamp.inference import Predictor
from plugsamp.losses.coding import is_missing

#: The file of a run folder.
FILE = "trace.nc"

#: Columns of a trace that no numbering of the topics changes, which are draws of the posterior.
INVARIANT = ("log_joint", "loss", "alpha_sum", "beta")

#: Columns that are of no use beside the others.
_PLACE = ("sweep", "chain", "task", "elapsed", "loss", "alpha_sum", "beta")

NO_COMMON_NUMBERS = (
    "chains have no common numbers of topics, and may exchange them; aligned=True brings the topics of all "
    "chains into the order of the first's"
)


@dataclass(frozen=True)
class Chains:
    """What a fit, or a run folder, has of the chains of one posterior.

    Attributes
    ----------
    traces : list of dict of str to float arrays (sweeps,)
        By chain.
    burn_in : int
    kept : list of sequences of int
        By chain the sweeps whose draws its predictor holds; empty where that is not known.
    predictors : list of Predictor
        By chain; empty where there is no model.
    joint : bool
        Whether the predictors' weights are draws of the chain (and not of a second step).
    corpus : Corpus, optional
        The training documents.
    about : dict of str to str or numbers
        What the attributes are to say.
    """

    traces: list[dict[str, np.ndarray]]
    burn_in: int
    kept: list[Sequence[int]]
    predictors: list[Predictor]
    joint: bool = True
    corpus: Corpus | None = None
    about: dict = field(default_factory=dict)

    @property
    def has_draws(self) -> bool:
        """Whether the kept draws are known to be those of certain sweeps, the same in all chains."""
        first = list(self.kept[0]) if self.kept else []
        return (
            self.joint
            and bool(first) and bool(self.predictors)
            and all(list(kept) == first for kept in self.kept)
            and all(len(p.eta) == len(first) for p in self.predictors)
        )  # fmt: skip


def to_arviz(fitted, *, draws: str | None = None, aligned: bool = False):
    """A fit's chains for ArviZ.

    Parameters
    ----------
    fitted : Fit, SeparateFit of several chains, or path-like
        Or the folder of a run.
    draws : {"sweeps", "kept"}, optional
        Every sweep after the burn-in, with what is traced of it; or those whose draws were kept, with the
        weights of covariates, intercepts and the loss's parameters too. By default the first, and with
        `aligned` the second.
    aligned : bool
        Bring the topics of every chain into the order that fits the first's best
        (`plugsamp.convergence.align`, by mean topics), and have the topics' weights ``eta`` among the draws.
        Topics that change places *within* a chain are not seen by this.

    Returns
    -------
    arviz.InferenceData, or xarray.DataTree where ArviZ is 1 or newer, or not installed
        Groups ``posterior``; ``sample_stats`` (``lp``, parts of the log joint, share of tokens moved,
        acceptance by proposal, seconds); ``observed_data`` with the responses, where the documents are at
        hand; ``constant_data`` with the documents' lengths and, aligned, each chain's mean topics. Draws are
        called by their sweeps.

    Raises
    ------
    ValueError
        Models of several posteriors (multiclass=ovr, ovo), no sweep after the burn-in, or draws that were not
        kept.
    ImportError
        Where xarray is not installed; the message says how to.
    """
    data = _of_folder(fitted) if isinstance(fitted, str | Path) else _of_fit(fitted)
    groups, attributes = datasets(data, draws, aligned)
    inference_data = _inference_data()
    if inference_data is not None:
        return inference_data(attrs=attributes, **groups)
    import xarray

    tree = xarray.DataTree.from_dict(groups)
    tree.attrs.update(attributes)
    return tree


def write_netcdf(fitted, path, **options) -> Path:
    """Write `to_arviz` as netCDF, which ``arviz.from_netcdf`` and ``xarray.open_datatree`` read.

    Parameters
    ----------
    fitted, options
        Of `to_arviz`.
    path : path-like
        There complete or not at all; replaced if it is there.
    """
    path, data = Path(path), to_arviz(fitted, **options)
    check_netcdf()
    temporary = path.with_name(f".{path.name}.part")
    try:
        data.to_netcdf(str(temporary), engine="h5netcdf")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path


def check_netcdf() -> None:
    """Refuse (ImportError) where netCDF cannot be written, before a long run."""
    _xarray()
    try:
        import h5netcdf  # noqa: F401
    except ImportError:
        raise ImportError("netCDF files are written by h5netcdf: pip install 'plugsamp[arviz]'") from None


def _xarray():
    try:
        import xarray
    except ImportError:
        raise ImportError("chains are handed to ArviZ by xarray: pip install 'plugsamp[arviz]'") from None
    if not hasattr(xarray, "DataTree") and _inference_data() is None:
        raise ImportError(f"xarray {xarray.__version__} is too old: pip install 'plugsamp[arviz]'")
    return xarray


def _inference_data():
    """The class of ArviZ before 1; None where it is newer or not installed."""
    try:
        import arviz
    except ImportError:
        return None
    return getattr(arviz, "InferenceData", None)


# -- where chains come from --------------------------------------------------------------------------


def _of_fit(fitted) -> Chains:
    predictor = fitted.predictor
    if isinstance(predictor, Ensemble):
        _check_one_posterior(predictor.scheme)
        traces = [_columns([row for row in fitted.trace if row["chain"] == name]) for name in predictor.names]
        corpus, kept, members = fitted.corpus, fitted.kept, list(predictor.members)
        joint = fitted.joint
        approximations = fitted.approximations
    else:
        traces, kept, members = [_columns(fitted.trace)], [fitted.kept], [predictor]
        corpus, joint = fitted.chain.corpus, fitted.chain.coding.n_outputs == predictor.coding.n_outputs
        approximations = fitted.chain.approximations
    about = {"config": json.dumps(fitted.options), "approximations": "; ".join(approximations)}
    return Chains(traces, fitted.burn_in, kept, members, joint, corpus, about)


def _of_folder(path) -> Chains:
    from plugsamp.models import load_model
    from plugsamp.report import folder

    run = folder.read(Path(path))
    if len(run.trace.chains) > 1 and not run.trace.same_posterior:
        _check_one_posterior(str(run.config.get("multiclass", "ovr")))
    if not run.trace.chains:
        raise InputError("the run has no trace", file=Path(path) / "trace.csv")
    traces = list(run.trace.chains.values())
    predictors, kept = [], []
    if (Path(path) / "model").is_dir():
        predictor = load_model(Path(path) / "model")
        predictors = list(predictor.members) if isinstance(predictor, Ensemble) else [predictor]
        kept = run.metrics.get("kept_sweeps", [])
    given = run.config.get("burn_in")
    burn_in = int(traces[0]["sweep"][-1]) // 2 if given is None else int(given)
    about = {
        "config": run.config_text,
        "approximations": "; ".join(run.metrics.get("approximations", [])),
        "corpus_digest": run.metrics.get("corpus_digest", ""),
    }
    joint = run.config.get("supervised", "joint") == "joint"
    return Chains(traces, burn_in, kept, predictors, joint, None, about)


def _check_one_posterior(scheme: str) -> None:
    if scheme != CHAINS:
        raise ValueError(
            f"the models of multiclass={scheme} have posteriors of their own: they are no chains of one, and "
            "ArviZ has no place for them"
        )


def _columns(rows: Sequence[dict]) -> dict[str, np.ndarray]:
    names = [name for name in rows[0] if name not in ("chain", "task")]
    return {
        name: np.array([np.nan if row[name] is None else row[name] for row in rows], float) for name in names
    }


# -- the data sets -----------------------------------------------------------------------------------


def datasets(data: Chains, draws: str | None = None, aligned: bool = False) -> tuple[dict, dict]:
    """xarray data sets by group, and the attributes of the whole (see `to_arviz`)."""
    xarray = _xarray()
    draws = draws or ("kept" if aligned else "sweeps")
    if draws not in ("sweeps", "kept"):
        raise ValueError(f"draws must be sweeps or kept, not {draws!r}")
    if aligned and draws == "sweeps":
        raise ValueError("weights are there of the draws that were kept alone: aligned=True takes draws=kept")
    if draws == "kept" and not data.has_draws:
        raise ValueError(
            "the kept draws of weights are not those of known sweeps, the same in all chains (no model was "
            "saved, its weights are of a second step, or sweeps were changed on the way)"
        )
    sweeps = data.traces[0]["sweep"].astype(np.int64)
    wanted = np.sort(data.kept[0]) if draws == "kept" else sweeps[sweeps > data.burn_in]
    if not len(wanted):
        raise ValueError(f"no sweep is after the burn-in of {data.burn_in}")
    rows = np.searchsorted(sweeps, wanted)
    if any(len(t["sweep"]) != len(sweeps) for t in data.traces):
        raise ValueError("the chains have different numbers of sweeps")
    traced = {name: np.array([t[name][rows] for t in data.traces]) for name in data.traces[0]}
    coords = {"chain": np.arange(len(data.traces)), "draw": wanted}
    groups = {
        "posterior": xarray.Dataset(_posterior(data, traced, draws, aligned), coords),
        "sample_stats": xarray.Dataset(_statistics(traced), coords),
    }
    groups["observed_data"], groups["constant_data"] = (
        xarray.Dataset(values) for values in (_observed(data), _constant(data, aligned))
    )
    groups = {name: group for name, group in groups.items() if group.variables}
    for name, places in _coordinates(data, traced).items():
        for group in groups:
            if name in groups[group].dims:
                groups[group] = groups[group].assign_coords({name: places})
    attributes = _attributes(data, draws, aligned)
    for name, group in groups.items():
        group.attrs.update(attributes if name == "posterior" else {})
    return groups, attributes


def _posterior(data: Chains, traced: dict, draws: str, aligned: bool) -> dict:
    found = {
        name: (("chain", "draw"), traced[name])
        for name in INVARIANT
        if name in traced and not np.isnan(traced[name]).all()
    }
    if draws == "sweeps":
        return found
    first = data.predictors[0]
    if not first.coding.n_outputs:
        return found
    # The chain's draws are kept in the order of the sweeps.
    eta = np.array([p.eta for p in data.predictors])
    output, n_topics, n_covariates = _output(first), first.n_topics, len(first.covariate_names)
    if n_covariates:
        covariates = eta[..., n_topics : n_topics + n_covariates]
        found["eta_covariates"] = (("chain", "draw", output, "covariate"), covariates)
    if first.intercept:
        found["intercept"] = (("chain", "draw", output), eta[..., -1])
    for name in first.parameters:
        values = np.array([p.parameters[name] for p in data.predictors])
        more = [
            output if size == eta.shape[2] else f"{name}_dim_{i}" for i, size in enumerate(values.shape[2:])
        ]
        found[name] = (("chain", "draw", *more), values)
    if aligned:
        topics = np.array([chain[..., order] for chain, order in zip(eta, _orders(data), strict=True)])
        found["eta"] = (("chain", "draw", output, "topic"), topics)
    return found


def _orders(data: Chains) -> list[np.ndarray]:
    """By chain its topics in the order of the first's."""
    first = data.predictors[0].phi
    return [np.arange(len(first)), *(align(p.phi, first) for p in data.predictors[1:])]


def _output(predictor: Predictor) -> str:
    return "response" if predictor.coding.task in ("real", "count") else "class"


def _statistics(traced: dict) -> dict:
    rates = [name for name in traced if name.startswith("acceptance_")]
    found = {
        "lp" if name == "log_joint" else name: (("chain", "draw"), values)
        for name, values in traced.items()
        if name not in _PLACE and name not in rates
    }
    if rates:
        values = np.stack([traced[name] for name in rates], axis=-1)
        found["acceptance"] = (("chain", "draw", "proposal"), values)
    return found


def _observed(data: Chains) -> dict:
    corpus = data.corpus
    if corpus is None or corpus.responses is None or not data.predictors:
        return {}
    coding, responses = data.predictors[0].coding, corpus.responses
    if coding.task == "none":
        return {}
    missing = is_missing(responses)
    if coding.task in ("binary", "multiclass"):
        values, missing = responses.reshape(-1), missing.reshape(-1)
        labels = ["" if gone else str(value) for value, gone in zip(values.tolist(), missing, strict=True)]
        return {"y": ("document", np.array(labels, dtype=str))}
    values = np.where(missing, np.nan, np.where(missing, 0, responses).astype(float))
    return {"y": (("document", _output(data.predictors[0])), values.reshape(len(values), -1))}


def _constant(data: Chains, aligned: bool) -> dict:
    found = {}
    if data.corpus is not None:
        found["n_tokens"] = ("document", data.corpus.lengths)
    if aligned:
        phi = np.array([p.phi[order] for p, order in zip(data.predictors, _orders(data), strict=True)])
        found["phi_mean"] = (("chain", "topic", "word"), phi)
    return found


def _coordinates(data: Chains, traced: dict) -> dict:
    """What the places of every dimension are called."""
    rates = [name.removeprefix("acceptance_") for name in traced if name.startswith("acceptance_")]
    found = {"chain": np.arange(len(data.traces)), "proposal": np.array(rates, dtype=str)}
    if data.corpus is not None:
        found["document"] = np.array(data.corpus.ids, dtype=str)
    if data.predictors:
        first = data.predictors[0]
        found |= {
            "topic": np.arange(first.n_topics),
            "word": np.array(first.vocabulary, dtype=str),
            "covariate": np.array(first.covariate_names, dtype=str),
        }
        if first.coding.n_outputs:
            classes = [str(c) for c in first.coding.classes]
            one_each = first.coding.n_outputs == len(classes)
            found[_output(first)] = np.array(classes if one_each else first.coding.output_names, dtype=str)
    return found


def _attributes(data: Chains, draws: str, aligned: bool) -> dict:
    left_out = []
    if data.predictors and data.predictors[0].coding.n_outputs:
        if draws == "sweeps":
            left_out.append("weights and parameters of the loss: they are kept of some draws (draws=kept)")
        if not aligned:
            left_out.append(f"eta and phi: {NO_COMMON_NUMBERS}")
    elif not aligned:
        left_out.append(f"phi: {NO_COMMON_NUMBERS}")
    found = {
        "inference_library": "plugsamp",
        "inference_library_version": version("plugsamp"),
        "python_version": platform.python_version(),
        "numpy_version": np.__version__,
        "sampling_time": float(sum(t["seconds"].sum() for t in data.traces)),
        "burn_in": data.burn_in,
        "topics": "aligned with those of chain 0 by mean topics" if aligned else "not aligned",
        "left_out": "; ".join(left_out),
    }
    if data.predictors:
        found["seeds"] = np.array([p.seed for p in data.predictors], dtype=np.int64)
        found["loss"] = repr(data.predictors[0].loss)
    return found | data.about
