"""Whether several chains of one model agree, or the halves of one, from their traces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np

from plugsamp.diagnostics.convergence import LEAST, mixing

#: Columns of the trace that no numbering of the topics changes.
QUANTITIES = ("log_joint", "log_joint_words", "log_joint_responses", "loss")


def agreement(trace: Sequence[dict], burn_in: int) -> dict[str, dict[str, float]]:
    """R-hat, effective draws and inefficiency of the log joint, its parts and the loss.

    Parameters
    ----------
    trace : sequence of dict
        Rows of all chains, each with its ``chain`` (rows without one are of the same). The halves of one
        chain are compared as two.
    burn_in : int
        Sweeps to leave out.

    Returns
    -------
    dict
        By quantity what `plugsamp.diagnostics.convergence.Mixing` holds; of a constant ``constant`` says so,
        and what there is of draws that vary alone is None.

    Raises
    ------
    ValueError
        Fewer than four sweeps of each after the burn-in (eight of one chain), or chains that are the same.
    ImportError
        Where ArviZ is not installed.
    """
    by_chain: dict[object, list[dict]] = {}
    for row in trace:
        if row["sweep"] > burn_in:
            by_chain.setdefault(row.get("chain"), []).append(row)
    chains = list(by_chain.values())
    if not chains:
        raise ValueError(f"no sweep is after the burn-in of {burn_in}")
    n_draws, least = min(map(len, chains)), LEAST * (1 + (len(chains) == 1))
    if n_draws < least:
        each = "of each chain " if len(chains) > 1 else ""
        raise ValueError(
            f"{each}{n_draws} sweep{'s' * (n_draws > 1)} after the burn-in of {burn_in}, and {least} "
            "or more are needed"
        )
    found = {}
    for name in QUANTITIES:
        if chains[0][0].get(name) is None:
            continue
        draws = np.array([[row[name] for row in rows] for rows in chains], float)
        if len(chains) == 1:
            draws = draws[0, n_draws % 2 :].reshape(2, -1)
        mixed = mixing(draws)
        found[name] = asdict(mixed)
        if mixed.constant:
            found[name] = {key: None if value != value else value for key, value in found[name].items()}
            found[name]["constant"] = mixed.constant
    return found
