"""Topics without responses, then a regression of the responses on them: the baseline of joint models."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from plugsamp.fitting import fixed_features
from plugsamp.fitting.keeping import most_draws
from plugsamp.fitting.second_step import SecondStep
from plugsamp.losses.none import NoLoss
from plugsamp.model import Model
from plugsamp.posterior.draws import Draws
from plugsamp.regression.response_weights import response_weights


def without_responses(model: Model) -> Model:
    """The model of the first step: the words alone."""
    return replace(model, loss=NoLoss(), weights=None, class_weight=None)


def check_second_step(corpus, model: Model, step: SecondStep) -> None:
    """Refuse before the first step what the second could not do.

    Raises
    ------
    ValueError
        Responses or weights that do not fit the loss, or the regression.
    """
    coding = model.coding(corpus)
    weight = response_weights(corpus.weights, model.class_weight, coding)
    if step.regression == "same":
        model.check_weighted(weight)
    else:
        fixed_features.check_linear(coding, step.regression)


def second_step(
    draws: Draws,
    zbar,
    corpus,
    model: Model,
    step: SecondStep,
    seed: int,
    method="auto",
    passes=1,
    keep="auto",
) -> Draws:
    """Return the draws of the first step with weights learnt on its topic proportions.

    Parameters
    ----------
    draws : Draws
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
    keep : {"auto", "all"} or int
        How many draws of the weights are kept whole (`plugsamp.fitting.keeping`).
    """
    coding = model.coding(corpus)
    same = step.regression == "same"
    covariates = corpus.covariates if corpus.covariates is not None and corpus.covariates.shape[1] else None
    intercept = model.has_intercept(covariates is not None) if same else True
    features = fixed_features.Features(zbar, covariates, intercept)
    weight = response_weights(corpus.weights, model.class_weight, coding)
    parameters, variances, source = {}, {}, "estimate"
    if same:
        model.check_weighted(weight)
        kept = frozenset(range(step.sweeps, step.sweeps // 2, -1))
        eta, parameters, variances = fixed_features.sample(
            features, coding, model.loss, model.weights, weight,
            sweeps=step.sweeps, kept=kept, most=most_draws(keep, coding.n_outputs, len(features.columns)),
            seed=seed, method=method, passes=passes,
        )  # fmt: skip
        source = "posterior" if weight is None else "weighted"
    else:
        eta = fixed_features.fit_linear(features, coding, step.regression, step.cost, weight, seed)
    return replace(
        draws,
        eta=eta,
        loss=model.loss,
        coding=replace(coding, y=np.empty((0, coding.n_outputs))),
        covariate_names=() if covariates is None else tuple(corpus.covariate_names),
        intercept=intercept,
        parameters=parameters,
        variances=variances,
        source=source,
    )
