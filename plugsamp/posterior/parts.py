"""The models that a posterior is made of: one chain, several chains, or binary models of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from plugsamp.losses.coding import Coding
from plugsamp.posterior.names import Naming, topic_key
from plugsamp.posterior.trace import Trace
from plugsamp.prediction.ensembles import CHAINS, Ensemble
from plugsamp.prediction.inference import Predictor
from plugsamp.prediction.predictive import Predictive


@dataclass(frozen=True, eq=False, repr=False)
class Part:
    """One chain, with topics of its own.

    Attributes
    ----------
    predictor : Predictor
        The kept draws.
    coding : Coding
        With the user's classes.
    number : int or None
        Its place among several; None of one that is alone.
    name : str
        Of a chain "chain 1", of a binary model what it tells apart; "" of one that is alone.
    columns : slice
        Its topics among those of a prediction.
    chain : int or None
        Its place among several chains, of one that is shown for all.
    trace : Trace
        A row a sweep; empty where that is not known.
    kept : sequence of int
        The sweeps whose draws are kept; empty where that is not known.
    stats : dict of str to arrays (K,), or None
        What is known of its topics (`plugsamp.diagnostics.topic_table`).
    seconds : float
        Of the start and of sampling.
    n_tokens : int
        Sampled in a sweep.
    approximations : tuple of str
        What kept the chain from its posterior, a clause each.
    """

    predictor: Predictor
    coding: Coding
    number: int | None = None
    name: str = ""
    columns: slice = field(default_factory=lambda: slice(0, None))
    chain: int | None = None
    trace: Trace = field(default_factory=Trace)
    kept: Sequence[int] = ()
    stats: dict | None = None
    seconds: float = 0.0
    n_tokens: int = 0
    approximations: tuple[str, ...] = ()

    def __repr__(self) -> str:
        name = f"{self.name!r}, " if self.name else ""
        draws = len(self.predictor.eta)
        return f"Part({name}{self.n_topics} topics, {draws} kept draws, {len(self.trace)} sweeps)"

    def key(self, topic: int) -> str:
        """What a topic is called in files."""
        return topic_key(self.chain if self.number is None else self.number, topic)

    @property
    def n_topics(self) -> int:
        return self.predictor.n_topics

    @property
    def outputs(self) -> list[str]:
        """What a positive linear predictor of each output speaks for."""
        return [] if self.coding.task == "none" else self.coding.output_names

    @property
    def eta(self) -> np.ndarray:
        """Draws of the weights, float64 (S, C, J); of two classes with an output each the difference."""
        eta = self.predictor.eta
        if self.coding.task == "binary" and eta.shape[1] == 2:
            return eta[:, 1:] - eta[:, :1]
        return eta


def model_parts(predictor: Predictor | Ensemble) -> list[Part]:
    """The parts of a model, without traces."""
    if not isinstance(predictor, Ensemble):
        return [Part(predictor, predictor.coding, columns=slice(0, predictor.n_topics))]
    found, first = [], 0
    parts = zip(predictor.names, predictor.members, predictor.member_codings(), strict=True)
    for number, (name, member, coding) in enumerate(parts):
        found.append(Part(member, coding, number, name, slice(first, first + member.n_topics)))
        first += member.n_topics
    return found


def alone(part: Part) -> Part:
    """A chain that speaks for all, as a model that is alone but for what its topics are called in files."""
    if part.number is None:
        return part
    return replace(part, number=None, name="", chain=part.number, columns=slice(0, part.n_topics))


def naming(predictor: Predictor | Ensemble) -> Naming:
    """What the topics of a model are called in files of names.

    Files of names may be for the model, or for one of the models or chains that it is made of; those that do
    not say so are for the model, or for the first of several chains. Earlier ones had the digest of the
    weights too.
    """
    parts = model_parts(predictor)
    prefixes = {predictor.topics_digest: "", predictor.digest: ""}
    owners = {}
    for member in parts:
        if member.number is not None:
            prefix = owners[member.name] = topic_key(member.number, "")
            for digest in (member.predictor.topics_digest, member.predictor.digest):
                prefixes.setdefault(digest, prefix)
    return Naming(
        digest=predictor.topics_digest,
        keys=tuple(member.key(k) for member in parts for k in range(member.n_topics)),
        prefixes=prefixes,
        unsaid=topic_key(0, "") if isinstance(predictor, Ensemble) and predictor.scheme == CHAINS else "",
        owners=owners,
    )


def calibrated(predictor: Predictor | Ensemble) -> bool | None:
    """Whether probabilities or intervals are those of a likelihood; None where there are neither."""
    if isinstance(predictor, Ensemble):
        alone = [calibrated(member) for member in predictor.members]
        if predictor.scheme == "ovo" or any(found is None for found in alone):
            return None
        one_model = predictor.scheme == CHAINS or predictor.coding.one_model
        return one_model and all(alone)
    if predictor.coding.task == "none":
        return None
    n_covariates = len(predictor.covariate_names)
    return Predictive(
        predictor.loss, predictor.eta, predictor.parameters, predictor.coding,
        np.zeros((1, predictor.n_topics)), np.zeros((1, n_covariates)) if n_covariates else None,
        predictor.intercept, lambda first, last: np.zeros((1, last - first, predictor.n_topics)),
        predictor.source,
    ).calibrated  # fmt: skip
