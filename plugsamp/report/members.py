"""A fitted model as the models that it is made of: itself, or those of separate chains."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from plugsamp.losses.coding import Coding
from plugsamp.prediction.ensembles import CHAINS, Ensemble
from plugsamp.prediction.inference import Predictor
from plugsamp.prediction.predictive import Predictive
from plugsamp.report.names import Naming, topic_key


@dataclass(frozen=True, eq=False)
class Member:
    """One model with topics of its own.

    Attributes
    ----------
    number : int or None
        None of a model that is alone.
    name : str
        What it tells apart, "" of a model that is alone.
    predictor : Predictor
    coding : Coding
        With the user's classes.
    columns : slice
        Its topics among those of a prediction.
    chain : int or None
        Which of several chains it is, of one that is shown alone.
    """

    number: int | None
    name: str
    predictor: Predictor
    coding: Coding
    columns: slice
    chain: int | None = None

    def key(self, topic: int) -> str:
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


def members_of(predictor: Predictor | Ensemble) -> list[Member]:
    if not isinstance(predictor, Ensemble):
        return [Member(None, "", predictor, predictor.coding, slice(0, predictor.n_topics))]
    found, first = [], 0
    parts = zip(predictor.names, predictor.members, predictor.member_codings(), strict=True)
    for number, (name, member, coding) in enumerate(parts):
        found.append(Member(number, name, member, coding, slice(first, first + member.n_topics)))
        first += member.n_topics
    return found


def first_chain(ensemble: Ensemble) -> Member:
    """The chain that speaks for all, as a model that is alone but for what its topics are called in files."""
    return replace(members_of(ensemble.members[0])[0], chain=0)


def naming(predictor: Predictor | Ensemble) -> Naming:
    """What the topics of a model are called in files of names.

    Files of names may be for the model, or for one of the models or chains that it is made of; those that do
    not say so are for the model, or for the first of several chains. Earlier ones had the digest of the
    weights too.
    """
    members = members_of(predictor)
    prefixes = {predictor.topics_digest: "", predictor.digest: ""}
    owners = {}
    for member in members:
        if member.number is not None:
            prefix = owners[member.name] = topic_key(member.number, "")
            for digest in (member.predictor.topics_digest, member.predictor.digest):
                prefixes.setdefault(digest, prefix)
    return Naming(
        digest=predictor.topics_digest,
        keys=tuple(member.key(k) for member in members for k in range(member.n_topics)),
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
        return all(alone)
    if predictor.coding.task == "none":
        return None
    n_covariates = len(predictor.covariate_names)
    return Predictive(
        predictor.loss, predictor.eta, predictor.parameters, predictor.coding,
        np.zeros((1, predictor.n_topics)), np.zeros((1, n_covariates)) if n_covariates else None,
        predictor.intercept, lambda first, last: np.zeros((1, last - first, predictor.n_topics)),
        predictor.source,
    ).calibrated  # fmt: skip
