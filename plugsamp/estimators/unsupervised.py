"""Topics without responses, as a scikit-learn transformer."""

from __future__ import annotations

from sklearn.utils.validation import check_is_fitted

from plugsamp.estimators.base import TopicEstimator
from plugsamp.losses.none import NoLoss
from plugsamp.model import BETA
from plugsamp.prediction.perplexity import document_completion


class TopicModel(TopicEstimator):
    """Latent Dirichlet allocation by Gibbs sampling, a transformer from counts of words to topics.

    Parameters
    ----------
    n_topics : int
        K.
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
        Keep every so manyth draw.
    covariate_columns : None
        For the supervised estimators.
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
    >>> texts = ["moon rocket moon", "soup bread", "rocket orbit moon", "bread soup soup"]
    >>> topics = make_pipeline(CountVectorizer(), TopicModel(n_topics=2, sweeps=20, random_state=0))
    >>> topics.fit_transform(texts).shape
    (4, 2)
    """

    def __init__(
        self,
        n_topics=50,
        *,
        alpha=0.1,
        beta=BETA,
        topics="dirichlet",
        learn_alpha="none",
        learn_beta="none",
        kernel="auto",
        sweeps=100,
        burn_in=None,
        thin=5,
        covariate_columns=None,
        counts="strict",
        warm_start=False,
        n_jobs=None,
        random_state=None,
        verbose=False,
    ):
        self.n_topics = n_topics
        self.alpha = alpha
        self.beta = beta
        self.topics = topics
        self.learn_alpha = learn_alpha
        self.learn_beta = learn_beta
        self.kernel = kernel
        self.sweeps = sweeps
        self.burn_in = burn_in
        self.thin = thin
        self.covariate_columns = covariate_columns
        self.counts = counts
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X, y=None) -> TopicModel:
        """Sample topics.

        Parameters
        ----------
        X : array or sparse matrix (n_documents, n_features)
            Counts of words.
        y : ignored
        """
        with self._as_it_was():
            return self._fit(self._corpus(X, reset=not self._goes_on()), self._model(NoLoss()))

    def score(self, X, y=None) -> float:
        """The held-out log-likelihood of a token, by document completion: higher is better.

        Parameters
        ----------
        X : array or sparse matrix (n_documents, n_features)
        y : ignored
        """
        check_is_fitted(self, "predictor_")
        return float(document_completion(self.posterior_, self._corpus(X, reset=False)).log_likelihood)
