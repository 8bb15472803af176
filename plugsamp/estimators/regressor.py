"""Supervised topics for real responses, as a scikit-learn regressor and transformer."""

from __future__ import annotations

import math

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_consistent_length

from plugsamp.checks import DATES, date_hint, number_of
from plugsamp.documents.columns import without_na
from plugsamp.estimators.base import TopicEstimator, dense
from plugsamp.losses.coding import is_missing
from plugsamp.losses.gaussian import Gaussian
from plugsamp.model import BETA
from plugsamp.naming import check_rows


class SupervisedTopicRegressor(RegressorMixin, TopicEstimator):
    """Topics that explain the words of documents and predict numbers.

    Parameters
    ----------
    n_topics : int
        K.
    loss : str or Loss, optional
        By default a Gaussian of sampled variance; "epsilon_insensitive" is a support vector regression,
        "student_t" is for responses of which a few are far off, "heteroscedastic" has a variance that
        depends on the prediction.
    weights : str or WeightPrior
        The prior of the weights on topics: "normal", "horseshoe" or "hierarchical".
    standardise : bool
        Bring y to mean 0 and variance 1 for the loss and the prior; predictions are in the units of y.
    alpha, beta : float or array
        Prior mass of each topic in a document, and of each word in a topic.
    topics : str or TopicPrior
        Of the topics' words: "dirichlet", seed words, spike and slab.
    learn_alpha, learn_beta : str or Concentration
        "none", "slice" or "fixed_point".
    kernel : str or Kernel
        "auto" takes the quickest exact one.
    sweeps : int
    burn_in : int, optional
        Sweeps before draws are kept; by default half of them.
    thin : int
        Keep every `thin`-th draw.
    keep_draws : {"auto", "all"} or int
        How many of these draws of the weights are kept whole; see `plugsamp.fit`.
    covariate_columns : list of int or str, optional
        Columns of X that are covariates of the documents, not counts of words.
    counts : {"strict", "ceil"}
        Refuse numbers that are not whole, or round them up, alike in `fit` and everything else.
    warm_start : bool
        Go on with the chain of the last `fit` (of the same documents and model) by `sweeps` more sweeps,
        with the outcome of so many in all; False starts anew.
    n_jobs : int, optional
        Worker processes, among which documents are divided; -1: one a core. None
        is 1, or what joblib's context says. Where more than 1 are asked for, kernel="auto" keeps the topics
        as a variable (collapse="partial"): that chain is the same with any number. Inside a job of joblib,
        as of GridSearchCV(n_jobs=2), it is 1.
    random_state : int, RandomState or None
    verbose : bool
        Show progress: a bar on a terminal, and elsewhere a line now and then on standard error.

    Attributes
    ----------
    components_ : float32 (K, V)
        The words' probabilities in each topic, the mean over kept draws.
    coef_ : ndarray (n_responses, K + n_covariates)
        Weights, the mean over kept draws, on the scale of the loss.
    intercept_ : ndarray (n_responses,)
    n_iter_ : int
        Sweeps in all.
    trace_ : list of dict
        A row a sweep, with ``log_joint``.
    posterior_ : Posterior
        What was fitted, also as `predictor_`: topics, weights, predictions; its method `save` keeps it.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> texts = ["good film", "bad film", "good good plot", "bad plot bad"] * 5
    >>> model = make_pipeline(
    ...     CountVectorizer(), SupervisedTopicRegressor(n_topics=2, sweeps=40, random_state=0)
    ... )
    >>> low, high = model.fit(texts, [4.0, 2.0, 5.0, 1.0] * 5).predict(["bad bad", "good good"])
    >>> bool(low < high)
    True
    """

    def __init__(
        self,
        n_topics=50,
        *,
        loss=None,
        weights="normal",
        standardise=True,
        alpha=0.1,
        beta=BETA,
        topics="dirichlet",
        learn_alpha="none",
        learn_beta="none",
        kernel="auto",
        sweeps=100,
        burn_in=None,
        thin=5,
        keep_draws="auto",
        covariate_columns=None,
        counts="strict",
        warm_start=False,
        n_jobs=None,
        random_state=None,
        verbose=False,
    ):
        self.n_topics = n_topics
        self.loss = loss
        self.weights = weights
        self.standardise = standardise
        self.alpha = alpha
        self.beta = beta
        self.topics = topics
        self.learn_alpha = learn_alpha
        self.learn_beta = learn_beta
        self.kernel = kernel
        self.sweeps = sweeps
        self.burn_in = burn_in
        self.thin = thin
        self.keep_draws = keep_draws
        self.covariate_columns = covariate_columns
        self.counts = counts
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X, y, sample_weight=None) -> SupervisedTopicRegressor:
        """Sample topics and weights.

        Parameters
        ----------
        X : array or sparse matrix (n_documents, n_features)
            Counts of words, and covariates where `covariate_columns` names some.
        y : array (n_documents,) or (n_documents, n_responses)
            Numbers; NaN is missing.
        sample_weight : array (n_documents,), optional
            How much the response of each document counts.
        """
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        check_rows(X=X, y=y, sample_weight=sample_weight)
        y = without_na(dense(y))
        if y.dtype.kind == "c":
            raise ValueError("Complex data not supported: responses are real numbers")
        _refuse_others(y)
        if y.dtype.kind not in "biuf":
            y = y.astype(float)  # None is NaN; text is refused
        if np.isinf(y.astype(float)).any():
            raise ValueError("Input y contains infinity; responses are finite numbers, NaN where missing")
        if y.ndim == 2 and y.shape[1] == 1:
            y = y[:, 0]
        loss = Gaussian(variance="sample") if self.loss is None else self.loss
        with self._as_it_was():
            corpus = self._corpus(X, not self._goes_on(), y.astype(float), sample_weight)
            self._fit(corpus, self._model(loss, weights=self.weights, standardise=self.standardise))
        self._show_weights()
        return self

    def predict(self, X) -> np.ndarray:
        """The mean of each response, (n_documents,) or (n_documents, n_responses)."""
        values = np.asarray(self._predicted(X).labels, dtype=float)
        return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values

    def score(self, X, y, sample_weight=None) -> float:
        """R², of several responses their mean. Missing responses are left out.

        Parameters
        ----------
        X : array or sparse matrix (n_documents, n_features)
        y : as for `fit`
        sample_weight : array (n_documents,), optional

        Raises
        ------
        ValueError
            None is left.
        """
        check_rows(X=X, y=y, sample_weight=sample_weight)
        y = without_na(dense(y))
        missing = is_missing(y)
        if not missing.any():
            return super().score(X, y, sample_weight)
        if missing.all():
            raise ValueError("y has no response to score: all are missing")
        check_consistent_length(X, y, sample_weight)
        known = ~missing.reshape(len(y), -1)
        true, found = (np.asarray(v, dtype=float).reshape(known.shape) for v in (y, self.predict(X)))
        weight = None if sample_weight is None else np.asarray(sample_weight)
        scores = [
            r2_score(true[rows, c], found[rows, c], sample_weight=None if weight is None else weight[rows])
            for c, rows in enumerate(known.T)
            if rows.any()
        ]
        return float(np.mean(scores))

    def predict_interval(self, X, level: float = 0.9) -> np.ndarray:
        """Equal-tailed predictive intervals, (n_documents, n_responses, 2).

        Raises
        ------
        ValueError
            Where the loss is no likelihood.
        """
        return self._predicted(X).interval(level)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        tags.regressor_tags.poor_score = True
        return tags


def _refuse_others(y) -> None:
    """Refuse what is no number: of dates NumPy would make some, in whatever unit they are in."""
    if y.dtype.kind in "biuf":
        return
    values = y.ravel()[:1] if y.dtype.kind in "mM" else [v for v in y.ravel().tolist() if v is not None]
    for value in values:
        if isinstance(value, str):
            if math.isinf(number_of(value)):
                raise ValueError(f"responses are real numbers, and y holds {value!r}{date_hint(value)}")
        elif isinstance(value, np.datetime64 | np.timedelta64) or not hasattr(value, "__float__"):
            raise ValueError(f"responses are real numbers, and y holds {value!r}{DATES}")
