"""Supervised topics for classes and labels, as a scikit-learn classifier and transformer."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from plugsamp.checks import listed
from plugsamp.documents.columns import without_na
from plugsamp.errors import InputWarning
from plugsamp.estimators.base import TopicEstimator, dense
from plugsamp.losses.base import Loss
from plugsamp.losses.coding import is_missing
from plugsamp.model import BETA
from plugsamp.naming import check_rows
from plugsamp.registry import resolve


def _has_probabilities(self) -> bool:
    loss = resolve("losses", self.loss)
    if type(loss).probabilities is Loss.probabilities:
        raise AttributeError(
            f'{loss!r} gives no probabilities: its scores are decision_function\'s; loss="logistic", '
            '"multinomial" and "probit" give some'
        )
    if isinstance(self.multiclass, str) and self.multiclass == "ovo":
        raise AttributeError(
            'multiclass="ovo" gives no probabilities: votes of pairs decide; "multitask" and "ovr" give some'
        )
    return True


def _log(p) -> np.ndarray:
    """Logarithms of probabilities, finite where those are 0."""
    return np.log(np.maximum(p, np.finfo(float).tiny))


class SupervisedTopicClassifier(ClassifierMixin, TopicEstimator):
    """Topics that explain the words of documents and predict their classes or labels.

    Parameters
    ----------
    n_topics : int
        K.
    loss : str or Loss
        "hinge" (max-margin, MedLDA), "logistic", "probit" or "multinomial".
    weights : str or WeightPrior
        The prior of the classes' weights on topics: "normal", "horseshoe" or "hierarchical".
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
    multiclass : {"multitask", "ovr", "ovo"}
        Classes share the topics of one model, or each has a model of its own.
    class_weight : dict, "balanced" or None
        How much the responses of a class count.
    decide : {"auto", "zero", "prevalence", "validated"} or float
        The score above which a document has a label, where it may have several; see `plugsamp.fit`.
    words : bool
        Take tf-idf of the words as covariates too; see `plugsamp.fit`.
    covariate_columns : list of int or str, optional
        Columns of X that are covariates of the documents, not counts of words.
    counts : {"strict", "ceil"}
        Refuse numbers that are not whole, or round them up, alike in `fit` and everything else.
    warm_start : bool
        Go on with the chain of the last `fit` (of the same documents and model) by `sweeps` more sweeps,
        with the outcome of so many in all; False starts anew.
    n_jobs : int, optional
        Worker processes, or those of the models of multiclass="ovr" and "ovo"; -1: one a core. None
        is 1, or what joblib's context says. Where more than 1 are asked for, kernel="auto" keeps the topics
        as a variable (collapse="partial"): that chain is the same with any number. Inside a job of joblib,
        as of GridSearchCV(n_jobs=2), it is 1.
    random_state : int, RandomState or None
    verbose : bool
        Show progress: a bar on a terminal, and elsewhere a line now and then on standard error.

    Attributes
    ----------
    classes_ : ndarray (n_classes,)
        Of several labels a document the numbers of their columns.
    components_ : float32 (K, V)
        The words' probabilities in each topic, the mean over kept draws.
    coef_ : ndarray (n_outputs, K + n_covariates)
        Weights, the mean over kept draws; of two classes one row, for the later one. Not of
        multiclass="ovr" and "ovo".
    intercept_ : ndarray (n_outputs,)
    n_iter_ : int
        Sweeps in all.
    trace_ : list of dict
        A row a sweep, with ``log_joint``.
    posterior_ : Posterior
        What was fitted, also as `predictor_`: topics, weights, predictions; its method `save` keeps it.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Notes
    -----
    Weights of documents and classes count responses; the words of every document count 1. Documents whose
    response is missing (None, NaN) inform the topics.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> texts = ["moon rocket moon", "soup bread", "rocket orbit moon", "bread soup soup"]
    >>> labels = ["space", "food", "space", "food"]
    >>> model = make_pipeline(
    ...     CountVectorizer(), SupervisedTopicClassifier(n_topics=2, sweeps=20, random_state=0)
    ... )
    >>> model.fit(texts, labels).predict(["soup and bread", "moon"]).tolist()
    ['food', 'space']
    """

    def __init__(
        self,
        n_topics=50,
        *,
        loss="hinge",
        weights="normal",
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
        multiclass="multitask",
        class_weight=None,
        decide="auto",
        words=False,
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
        self.multiclass = multiclass
        self.class_weight = class_weight
        self.decide = decide
        self.words = words
        self.covariate_columns = covariate_columns
        self.counts = counts
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X, y, sample_weight=None) -> SupervisedTopicClassifier:
        """Sample topics and weights.

        Parameters
        ----------
        X : array or sparse matrix (n_documents, n_features)
            Counts of words, and covariates where `covariate_columns` names some.
        y : array (n_documents,) or 0/1 array (n_documents, n_labels)
            Classes or labels; None and NaN are missing. Labels may be a sparse matrix. With
            multiclass="ovr" a label that all documents have alike, as in a fold, is predicted so.
        sample_weight : array (n_documents,), optional
            How much the response of each document counts.
        """
        check_rows(X=X, y=y, sample_weight=sample_weight)
        with self._as_it_was():
            corpus = self._corpus(X, not self._goes_on(), self._responses(y), sample_weight)
            model = self._model(self.loss, weights=self.weights, class_weight=self.class_weight)
            model = self._chosen(corpus, model)
            self._fit(corpus, model, multiclass=self.multiclass, decide=self.decide, words=self.words)
        self._show_weights()
        return self

    def _chosen(self, corpus, model):
        """The model that is fitted; `SupervisedTopicClassifierCV` searches for its settings here."""
        return model

    def _responses(self, y):
        """The responses of the corpus; sets `classes_`."""
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        values = without_na(dense(y))
        self._several = values.ndim == 2 and values.shape[1] > 1
        if not self._several:
            values = column_or_1d(values, dtype=None, warn=True)
        missing = is_missing(values)
        observed = values[~missing] if values.ndim == 1 else values[~missing.any(axis=1)]
        if missing.any() and values.dtype.kind == "O":
            observed = np.array(observed.tolist())
        if not len(observed):
            raise ValueError("y has no label: all are missing")
        check_classification_targets(observed)
        self._constant = {}
        if self._several:
            self.classes_ = np.arange(values.shape[1])
            return self._varying(values) if self.multiclass == "ovr" else values
        self.classes_ = np.unique(observed)
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs documents of 2 classes or more, and y has one class, "
                f"{self.classes_.tolist()[0]!r}"
            )
        return values

    def _varying(self, values) -> np.ndarray:
        """The labels that have a model of their own; `_constant` keeps those that are the same everywhere."""
        for label, column in enumerate(values.T):
            known = {v for v, missing in zip(column.tolist(), is_missing(column), strict=True) if not missing}
            if len(known) == 1 and known <= {0, 1}:
                self._constant[label] = int(known.pop())
        if len(self._constant) == values.shape[1]:
            raise ValueError("y has the same labels in all documents, so there is nothing to learn")
        if self._constant:
            which = listed(list(map(str, self._constant)), 5)
            warnings.warn(
                f"labels that are the same in all documents are predicted so: {which}",
                InputWarning,
                stacklevel=4,
            )
        return np.delete(values, list(self._constant), axis=1)

    def _with_constant(self, columns: np.ndarray, value) -> np.ndarray:
        """Columns of all labels, where those of `_constant` have ``value(0)`` or ``value(1)``."""
        if not self._constant:
            return columns
        found = np.empty((len(columns), len(self.classes_)), columns.dtype)
        others = np.delete(self.classes_, list(self._constant))
        columns = columns.reshape(len(columns), -1)
        found[:, others] = columns[:, -1:] if len(others) == 1 else columns  # one label alone: its 0 and 1
        for label, constant in self._constant.items():
            found[:, label] = value(constant)
        return found

    def _labels(self, prediction) -> np.ndarray:
        if self._several:
            return self._with_constant(np.asarray(prediction.labels).astype(int), int)
        return np.array(np.asarray(prediction.labels).tolist(), dtype=self.classes_.dtype)

    def predict(self, X) -> np.ndarray:
        """The class of each document, (n_documents,), or its labels, 0/1 (n_documents, n_labels)."""
        return self._labels(self._predicted(X))

    def score(self, X, y, sample_weight=None) -> float:
        """The mean accuracy; of several labels, the share of documents with all of them right.

        Documents without a label, or of several with not all of them known, are left out.

        Parameters
        ----------
        X : array or sparse matrix (n_documents, n_features)
        y : as for `fit`
        sample_weight : array (n_documents,), optional

        Raises
        ------
        ValueError
            No document is left.
        """
        check_rows(X=X, y=y, sample_weight=sample_weight)
        y = without_na(dense(y))
        missing = is_missing(y)
        rows = np.flatnonzero(~(missing.any(axis=1) if missing.ndim == 2 else missing))
        if len(rows) < len(y):
            if not len(rows):
                raise ValueError("y has no document to score: of each a label is missing")
            check_consistent_length(X, y, sample_weight)
            known = np.array(y[rows].tolist())
            sample_weight = None if sample_weight is None else np.asarray(sample_weight)[rows]
            return float(accuracy_score(known, self.predict(X)[rows], sample_weight=sample_weight))
        return super().score(X, y, sample_weight)

    def decision_function(self, X) -> np.ndarray:
        """Return the scores that decide the labels.

        Of a loss with probabilities these are their log odds (of two classes, or of each label) or their
        logarithms (of more classes), so that `predict`, `predict_proba` and these scores agree. Of other
        losses they are the linear predictors, averaged over kept draws.

        Returns
        -------
        ndarray (n_documents,) of two classes, positive for the later one; (n_documents, n_classes) of more,
        (n_documents, n_labels) of labels
        """
        prediction = self._predicted(X)
        p, f = prediction.probabilities, prediction.f
        if p is None and self._several:
            if len(self.classes_) - len(self._constant) == 1 and f.shape[1] == 2:
                f = f[:, 1:] - f[:, :1]  # a model of the label, and one of its absence
            return self._with_constant(f, lambda label: 2.0 * label - 1.0)
        if p is None:
            return f[:, 0] if f.shape[1] == 1 else self._two_sided(f)
        if self._several:
            p = self._with_constant(p, float)
            return _log(p) - _log(1.0 - p)
        log_p = _log(p)
        return log_p[:, 1] - log_p[:, 0] if len(self.classes_) == 2 else log_p

    def _two_sided(self, f):
        # a loss with an output a class (probit) has two for two classes
        if not self._several and len(self.classes_) == 2:
            return f[:, 1] - f[:, 0]
        return f

    @available_if(_has_probabilities)
    def predict_proba(self, X) -> np.ndarray:
        """Probabilities of the classes (n_documents, n_classes), or of each label (n_documents, n_labels).

        Those of the model's likelihood, averaged over kept draws of the weights; with `class_weight` or
        weights of documents, or a cost other than 1, they are scores that sum to 1 and no more.
        """
        probabilities = self._predicted(X).probabilities
        return self._with_constant(probabilities, float) if self._several else probabilities

    @available_if(_has_probabilities)
    def predict_log_proba(self, X) -> np.ndarray:
        """Logarithms of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.poor_score = True
        return tags
