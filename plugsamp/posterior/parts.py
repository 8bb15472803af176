"""Draws as the parts of one posterior: their numbers and names, and what their topics are called."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from plugsamp.losses.coding import Coding
from plugsamp.posterior.draws import Draws
from plugsamp.posterior.names import Naming, topic_key
from plugsamp.prediction.predictive import Predictive


def numbered(
    parts: Sequence[Draws], combine: str = "mean", coding: Coding | None = None, names: Sequence[str] = ()
) -> tuple[Draws, ...]:
    """Return draws with numbers and names, as the parts of one posterior.

    Parameters
    ----------
    parts : sequence of Draws
    combine : {"mean", "ovr", "ovo"}
        Chains of one model; or binary models, one against the rest or one against one.
    coding : Coding
        Of all classes.
    names : sequence of str
        Of several parts; by default those that they have.

    Raises
    ------
    ValueError
        Another number of parts than the classes need.
    """
    if combine == "mean" and len(parts) == 1:
        (part,) = parts
        n = part.n_topics
        return (part.with_record(number=None, name="", columns=slice(0, n), user_coding=part.coding),)
    names = list(names) or [part.name for part in parts]
    codings = [part.coding for part in parts]
    if combine != "mean":
        sides = _sides([str(c) for c in coding.classes], combine)
        codings = [Coding(np.empty((0, 1)), "binary", np.array(pair, dtype=object)) for pair in sides]
    if not len(parts) == len(names) == len(codings) > 0:
        raise ValueError(f"{len(parts)} models with {len(names)} names, and {len(codings)} are needed")
    ends = np.cumsum([part.n_topics for part in parts]).tolist()
    return tuple(
        part.with_record(number=i, name=name, columns=slice(end - part.n_topics, end), user_coding=sides)
        for i, (part, name, end, sides) in enumerate(zip(parts, names, ends, codings, strict=True))
    )


def _sides(classes: list[str], combine: str) -> list[tuple[str, str]]:
    """What the two sides of each binary model are called."""
    if combine == "ovr":
        return [(f"not {name}", name) for name in classes]
    return list(combinations(classes, 2))


def alone(part: Draws) -> Draws:
    """Return a chain that stands for all, with the keys that its topics have among all chains."""
    if part.number is None:
        return part
    columns = slice(0, part.n_topics)
    return part.with_record(number=None, name="", chain=part.number, columns=columns)


def naming(posterior) -> Naming:
    """Return what the topics of a posterior are called in files of names.

    Files of names may be for the posterior, or for one of its parts. Those that do not say so are for the
    posterior, or for the first of several chains. Earlier ones had the digest of the weights too.
    """
    prefixes = {posterior.topics_digest: "", posterior.digest: ""}
    owners = {}
    for part in posterior.parts:
        if part.number is not None:
            prefix = owners[part.name] = topic_key(part.number, "")
            for digest in (part.topics_digest, part.digest):
                prefixes.setdefault(digest, prefix)
    return Naming(
        digest=posterior.topics_digest,
        keys=tuple(part.key(k) for part in posterior.parts for k in range(part.n_topics)),
        prefixes=prefixes,
        unsaid=topic_key(0, "") if posterior.owner == "chain" else "",
        owners=owners,
    )


def calibrated(parts: Sequence[Draws], combine: str, coding: Coding) -> bool | None:
    """Return whether probabilities or intervals are those of a likelihood; None where there are neither."""
    found = [_calibrated(part) for part in parts]
    if combine == "ovo" or any(one is None for one in found):
        return None
    return (combine == "mean" or coding.one_model) and all(found)


def _calibrated(draws: Draws) -> bool | None:
    if draws.coding.task == "none":
        return None
    n_covariates = len(draws.covariate_names)
    return Predictive(
        draws.loss, draws.eta, draws.parameters, draws.coding,
        np.zeros((1, draws.n_topics)), np.zeros((1, n_covariates)) if n_covariates else None,
        draws.intercept, lambda first, last: np.zeros((1, last - first, draws.n_topics)),
        draws.source,
    ).calibrated  # fmt: skip
