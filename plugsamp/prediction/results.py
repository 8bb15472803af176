"""What is predicted of documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plugsamp.losses.coding import Coding
from plugsamp.prediction.predictive import Predictive


@dataclass(frozen=True, eq=False, repr=False)
class Prediction:
    """What is predicted of D documents; row i is document i.

    Attributes
    ----------
    zbar : float64 (D, K)
        Topic proportions, the mean over kept passes; 0 for a document without known words.
    theta : float64 (D, K)
        The posterior mean of the topic distribution, (N_d zbar + alpha) / (N_d + sum of alpha): the
        prior's mean for a document without known words.
    f : float64 (D, C)
        Linear predictors, averaged over kept draws; of the prior's mean for such a document.
    labels : ndarray (D,) or (D, C), or None
        Decisions, in the type of the labels that the model was fitted with: the class of the largest
        probability where there are some; the mean of a real response, in the user's units.
    probabilities : float64 (D, classes), or None
        Where the loss has them, averaged over kept draws; one a class, or a label. They are scores, not
        probabilities to rely on, where `calibrated` is not True.
    calibrated : bool or None
        Whether probabilities and intervals are those of a likelihood; None where there are none.
    n_known, n_unknown : int64 (D,)
        Tokens used, and tokens left out. Where `n_known` is 0 the prior speaks, not the document.
    ids : tuple of str
    coding : Coding
        Task and classes.
    predictive : Predictive, or None
        The distribution behind the labels.
    likelihood : bool
        Whether the probabilities are made of those of likelihoods, so that they have a log loss: True for a
        likelihood a class, whose sum they are divided by, where `calibrated` is False.
    topic_names : tuple of K str
        Names that topics were given, "" of those without one; () where none has a name.
    """

    zbar: np.ndarray
    theta: np.ndarray
    f: np.ndarray
    labels: np.ndarray | None
    probabilities: np.ndarray | None
    calibrated: bool | None
    n_known: np.ndarray
    n_unknown: np.ndarray
    ids: tuple[str, ...]
    coding: Coding
    predictive: Predictive | None = None
    likelihood: bool = False
    topic_names: tuple[str, ...] = ()

    def to_frame(self, topics: bool = True):
        """Return the predictions as a pandas.DataFrame, a row each document in their order.

        Parameters
        ----------
        topics : bool
            Whether there is a column for each topic's proportion.

        Returns
        -------
        pandas.DataFrame
            The columns of predictions.csv without the true responses
            (`plugsamp.prediction.table.prediction_table`).

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        from plugsamp.prediction.table import prediction_table

        return prediction_table(self, topics=topics).to_frame()

    def __repr__(self) -> str:
        from plugsamp.prediction.table import short_prediction_table

        return short_prediction_table(self, 5).text()

    def _repr_html_(self) -> str:
        from plugsamp.prediction.table import ROWS, short_prediction_table

        return short_prediction_table(self, ROWS).html(ROWS)

    def interval(self, level: float = 0.9) -> np.ndarray:
        """Equal-tailed predictive intervals of real responses, float64 (D, C, 2), in the user's units.

        Parameters
        ----------
        level : float
            The probability inside, between 0 and 1.

        Returns
        -------
        ndarray
            Lower and upper ends: quantiles of the mixture of the loss's distribution over kept draws of
            weights and parameters, and over draws of the document's topics. The topics themselves are
            taken as known (their mean), and so are the covariates.

        Raises
        ------
        ValueError
            Where the responses are classes, or the loss is no likelihood.
        """
        if self.predictive is None:
            raise ValueError("these predictions have no intervals: no single model stands behind them")
        return self.predictive.interval(level)
