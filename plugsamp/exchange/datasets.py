"""Chains as xarray data sets, a group each, with dimensions and places by name."""

from __future__ import annotations

import platform
from importlib.metadata import version

import numpy as np

from plugsamp.diagnostics.convergence import align
from plugsamp.exchange.predictive import responses_again
from plugsamp.losses.coding import is_missing
from plugsamp.posterior.draws import Draws

#: Columns of a trace that no numbering of the topics changes, which are draws of the posterior.
INVARIANT = ("log_joint", "loss", "alpha_sum", "beta")

#: Columns that are of no use beside the others.
_PLACE = ("sweep", "chain", "task", "elapsed", "loss", "alpha_sum", "beta")

NO_COMMON_NUMBERS = (
    "chains have no common numbers of topics, and may exchange them; aligned=True brings the topics of all "
    "chains into the order of the first's"
)


def datasets(
    posterior, traces: list[dict], about: dict, draws: str | None = None, aligned: bool = False
) -> tuple[dict, dict]:
    """Return xarray data sets by group, and the attributes of the whole (see `to_arviz`).

    Parameters
    ----------
    posterior : Posterior or None
        Without one there are no kept draws.
    traces : list of dict of str to float arrays (sweeps,)
        By chain.
    about : dict
        Attributes, among them ``burn_in``.
    draws, aligned
        See `to_arviz`.
    """
    import xarray

    draws = draws or ("kept" if aligned else "sweeps")
    if draws not in ("sweeps", "kept"):
        raise ValueError(f"draws must be sweeps or kept, not {draws!r}")
    if aligned and draws == "sweeps":
        raise ValueError("weights are there of the draws that were kept alone: aligned=True takes draws=kept")
    if draws == "kept" and not _has_draws(posterior):
        raise ValueError(
            "the kept draws of weights are not those of known sweeps, the same in all chains (no model was "
            "saved, its weights are of a second step, or sweeps were changed on the way)"
        )
    sweeps = traces[0]["sweep"].astype(np.int64)
    wanted = np.sort(posterior.parts[0].kept) if draws == "kept" else sweeps[sweeps > about["burn_in"]]
    if not len(wanted):
        raise ValueError(f"no sweep is after the burn-in of {about['burn_in']}")
    rows = np.searchsorted(sweeps, wanted)
    if any(len(t["sweep"]) != len(sweeps) for t in traces):
        raise ValueError("the chains have different numbers of sweeps")
    traced = {name: np.array([t[name][rows] for t in traces]) for name in traces[0]}
    parts, corpus = ((), None) if posterior is None else (posterior.parts, posterior.corpus)
    coords = {"chain": np.arange(len(traces)), "draw": wanted}
    groups = {
        "posterior": xarray.Dataset(_posterior(parts, traced, draws, aligned), coords),
        "sample_stats": xarray.Dataset(_statistics(traced), coords),
    }
    groups["observed_data"], groups["constant_data"] = (
        xarray.Dataset(values) for values in (_observed(parts, corpus), _constant(parts, corpus, aligned))
    )
    if draws == "kept":
        _add_responses(groups, posterior)
    groups = {name: group for name, group in groups.items() if group.variables}
    for name, places in _coordinates(parts, corpus, traced).items():
        for group in groups:
            if name in groups[group].dims and name not in groups[group].coords:
                groups[group] = groups[group].assign_coords({name: places})
    seconds = float(sum(t["seconds"].sum() for t in traces))
    attributes = _attributes(parts, seconds, draws, aligned) | about
    for name, group in groups.items():
        group.attrs.update(attributes if name == "posterior" else {})
    return groups, attributes


def _has_draws(posterior) -> bool:
    """Whether the kept draws are known to be those of certain sweeps, the same in all chains."""
    if posterior is None or not posterior.joint:
        return False
    first = list(posterior.parts[0].kept)
    return bool(first) and all(list(p.kept) == first and len(p.eta) == len(first) for p in posterior.parts)


def _add_responses(groups: dict, posterior) -> None:
    """Add what the kept draws say of the responses, where the loss is a likelihood."""
    import xarray

    if not groups["observed_data"].variables:
        return
    found = responses_again(posterior, _output(posterior.parts[0]))
    if found is None:
        return
    ids = np.array(posterior.corpus.ids, dtype=str)[found[1]]
    sweeps = groups["posterior"].coords
    for name, variables in found[0].items():
        coords = {"document": ids}
        if name != "observed_data":
            coords |= {axis: sweeps[axis].values for axis in ("chain", "draw")}
        groups[name] = xarray.Dataset(variables, coords)


def _posterior(parts, traced: dict, draws: str, aligned: bool) -> dict:
    found = {
        name: (("chain", "draw"), traced[name])
        for name in INVARIANT
        if name in traced and not np.isnan(traced[name]).all()
    }
    if draws == "sweeps":
        return found
    first = parts[0]
    if not first.coding.n_outputs:
        return found
    # The chain's draws are kept in the order of the sweeps.
    eta = np.array([p.eta for p in parts])
    output, n_topics, n_covariates = _output(first), first.n_topics, len(first.covariate_names)
    if n_covariates:
        covariates = eta[..., n_topics : n_topics + n_covariates]
        found["eta_covariates"] = (("chain", "draw", output, "covariate"), covariates)
    if first.intercept:
        found["intercept"] = (("chain", "draw", output), eta[..., -1])
    drawn = {name: np.array([p.parameters[name] for p in parts]) for name in first.parameters}
    for name in first.variances:
        drawn[f"variance_{name}"] = np.array([p.variances[name] for p in parts])
    for name, values in drawn.items():
        more = [
            output if size == eta.shape[2] else f"{name}_dim_{i}" for i, size in enumerate(values.shape[2:])
        ]
        found[name] = (("chain", "draw", *more), values)
    if aligned:
        topics = np.array([chain[..., order] for chain, order in zip(eta, _orders(parts), strict=True)])
        found["eta"] = (("chain", "draw", output, "topic"), topics)
    return found


def _orders(parts) -> list[np.ndarray]:
    """By chain its topics in the order of the first's."""
    first = parts[0].phi
    return [np.arange(len(first)), *(align(p.phi, first) for p in parts[1:])]


def _output(part: Draws) -> str:
    return "response" if part.coding.task in ("real", "count") else "class"


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


def _observed(parts, corpus) -> dict:
    if corpus is None or corpus.responses is None or not parts:
        return {}
    coding, responses = parts[0].coding, corpus.responses
    if coding.task == "none":
        return {}
    missing = is_missing(responses)
    if coding.task in ("binary", "multiclass"):
        values, missing = responses.reshape(-1), missing.reshape(-1)
        labels = ["" if gone else str(value) for value, gone in zip(values.tolist(), missing, strict=True)]
        return {"y": ("document", np.array(labels, dtype=str))}
    values = np.where(missing, np.nan, np.where(missing, 0, responses).astype(float))
    return {"y": (("document", _output(parts[0])), values.reshape(len(values), -1))}


def _constant(parts, corpus, aligned: bool) -> dict:
    found = {}
    if corpus is not None:
        found["n_tokens"] = ("document", corpus.lengths)
    if aligned:
        phi = np.array([p.phi[order] for p, order in zip(parts, _orders(parts), strict=True)])
        found["phi_mean"] = (("chain", "topic", "word"), phi)
    return found


def _coordinates(parts, corpus, traced: dict) -> dict:
    """What the places of every dimension are called."""
    rates = [name.removeprefix("acceptance_") for name in traced if name.startswith("acceptance_")]
    found = {"proposal": np.array(rates, dtype=str)}
    if corpus is not None:
        found["document"] = np.array(corpus.ids, dtype=str)
    if parts:
        first = parts[0]
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


def _attributes(parts, seconds: float, draws: str, aligned: bool) -> dict:
    left_out = []
    if parts and parts[0].coding.n_outputs:
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
        "sampling_time": seconds,
        "topics": "aligned with those of chain 0 by mean topics" if aligned else "not aligned",
        "left_out": "; ".join(left_out),
    }
    if parts:
        found["seeds"] = np.array([p.seed for p in parts], dtype=np.int64)
        found["loss"] = repr(parts[0].loss)
    return found
