"""Topics without responses, then a regression of the responses on them: the baseline of joint models."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace

import numpy as np

from plugsamp import regression
from plugsamp.chain import Chain
from plugsamp.inference import Predictor
from plugsamp.losses.none import NoLoss
from plugsamp.model import Model
from plugsamp.response_weights import response_weights

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SecondStep:
    """What the second step is.

    Parameters
    ----------
    regression : {"same", "linear_svc", "logistic_regression", "ridge"}
        The loss and weight prior of the model, or a linear model of scikit-learn (one an output).
    cost : float
        C of scikit-learn's models.
    sweeps : int
        Gibbs sweeps of "same", of which the second half is kept.

    Raises
    ------
    ValueError
    """

    regression: str = "same"
    cost: float = 1.0
    sweeps: int = 200

    def __post_init__(self):
        if self.regression not in regression.REGRESSIONS:
            choices = ", ".join(regression.REGRESSIONS)
            raise ValueError(f"regression must be one of {choices}, not {self.regression!r}")
        if not 0 < self.cost < 1e30:
            raise ValueError(f"the regression's cost must be a number above 0, not {self.cost!r}")
        if self.sweeps < 2:
            raise ValueError(f"the regression needs 2 sweeps or more, not {self.sweeps!r}")


def without_responses(model: Model) -> Model:
    """The model of the first step: the words alone."""
    return replace(model, loss=NoLoss(), weights=None, class_weight=None)


class Proportions:
    """The mean over kept sweeps of the topic proportions of the training documents."""

    def __init__(self, chain: Chain):
        self.chain = chain
        self.total = np.zeros((chain.state.n_documents, chain.state.n_topics))
        self.n_kept = 0

    def keep(self) -> None:
        """Add those of the chain's present state."""
        counts = self.chain.counts.doc_topic
        rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        lengths = np.diff(self.chain.state.offsets)
        self.total[rows, counts.indices] += counts.data / lengths[rows]
        self.n_kept += 1

    def mean(self) -> np.ndarray:
        return self.total / self.n_kept


def second_step(
    predictor: Predictor, zbar, corpus, model: Model, step: SecondStep, seed: int, method="auto", passes=1
) -> Predictor:
    """The predictor of the first step with weights learnt on its topic proportions.

    Parameters
    ----------
    predictor : Predictor
        Of the model without responses.
    zbar : float64 (D, K)
        Topic proportions of the documents of `corpus`.
    corpus : Corpus
    model : Model
        With the loss and the weight prior of the regression.
    step : SecondStep
    seed : int
    method, passes
        Of the weight update.
    """
    coding = model.coding(corpus)
    same = step.regression == "same"
    covariates = corpus.covariates if corpus.covariates is not None and corpus.covariates.shape[1] else None
    intercept = model.has_intercept(covariates is not None) if same else True
    features = regression.Features(zbar, covariates, intercept)
    weight = response_weights(corpus.weights, model.class_weight, coding)
    parameters = {}
    if same:
        model.check_weighted(weight)
        kept = frozenset(range(step.sweeps, step.sweeps // 2, -1))
        eta, drawn = regression.sample(
            features, coding, model.loss, model.weights, weight,
            sweeps=step.sweeps, kept=kept, seed=seed, method=method, passes=passes,
        )  # fmt: skip
        parameters = {name: np.array([p[name] for p in drawn]) for name in drawn[0]}
    else:
        eta = regression.fit_linear(features, coding, step.regression, step.cost, weight, seed)
    return replace(
        predictor,
        eta=eta,
        loss=model.loss,
        coding=replace(coding, y=np.empty((0, coding.n_outputs))),
        covariate_names=() if covariates is None else tuple(corpus.covariate_names),
        intercept=intercept,
        **({"parameters": parameters} if parameters else {}),
    )
