"""What is measured of a sweep."""

from __future__ import annotations

import math

import numpy as np

from plugsamp.chain import Chain
from plugsamp.errors import NonFinite


def _whose(part: str, model) -> str:
    """The plugin that a part of the log joint comes from, and the method, where there is one."""
    if part == "responses":
        return f", by log_psi of {model.loss!r}"
    return f", by log_density of {model.weights!r}" if part == "weights" else ""


def trace_row(chain: Chain, info, elapsed: float) -> dict:
    """One row of the trace.

    ``sweep``, ``seconds`` (of the sweep), ``elapsed`` (with everything), ``log_joint`` and its parts as
    ``log_joint_words`` and so on, ``loss`` (-log psi a document, None without responses), ``moved``
    (share of tokens that changed topic), ``variance_topics`` and ``variance_covariates`` where the prior of
    the weights draws them (the geometric mean over outputs), ``acceptance_doc`` and
    ``moves_doc`` (accepted candidates a token) and so on.

    Raises
    ------
    NonFinite
        A part of the log joint is NaN or infinite.
    """
    parts = chain.log_joint()
    for name, value in parts.items():
        if not math.isfinite(value):
            raise NonFinite(
                f"sweep {info.sweep}: the {name} part of the log joint is {value}{_whose(name, chain.model)}"
            )
    row = {
        "sweep": info.sweep,
        "seconds": info.seconds,
        "elapsed": elapsed,
        "log_joint": float(sum(parts.values())),
        **{f"log_joint_{name}": float(value) for name, value in parts.items()},
        "loss": None,
        "moved": float(info.moved),
    }
    if chain.coding.n_outputs:
        row["loss"] = -float(parts["responses"]) / chain.corpus.n_documents
        for name, values in chain.weight_variances().items():
            row[f"variance_{name}"] = float(np.exp(np.log(values).mean()))
    if chain.model.learn_alpha.method != "none":
        row["alpha_sum"] = float(chain.alpha.sum())
    if chain.model.learn_beta.method != "none":
        row["beta"] = float(chain.beta[0])
    row.update({f"acceptance_{name}": float(rate) for name, rate in info.acceptance.items()})
    row.update({f"moves_{name}": float(rate) for name, rate in info.moves.items()})
    return row
