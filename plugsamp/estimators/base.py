"""What the three estimators share: counts in, topic proportions out."""

from __future__ import annotations

import copy
import numbers
import sys
import warnings
from contextlib import contextmanager

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from joblib.parallel import get_active_backend
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from plugsamp.backends.processes import Processes
from plugsamp.bags import Counted
from plugsamp.checkpoint.options import Checkpoints
from plugsamp.checks import flag, n_jobs_of, whole
from plugsamp.corpus import Corpus
from plugsamp.counts import LIMIT, canonical
from plugsamp.errors import InputWarning
from plugsamp.files.storage import StorageError
from plugsamp.fitting.fit import fit
from plugsamp.kernels.auto import Auto
from plugsamp.model import Model
from plugsamp.naming import names_of_columns
from plugsamp.prediction.combine import SCHEMES
from plugsamp.system import cores

#: Parameters that are one of some words, where an estimator has them.
CHOICES = {"counts": ("strict", "ceil"), "multiclass": SCHEMES}


class TopicEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Counts of words, and perhaps covariates, to topic proportions."""

    # -- input ---------------------------------------------------------------------------------------

    def _validated(self, X, reset: bool):
        """X as numbers, its shape and names checked; CSR where it is sparse."""
        name = type(self).__name__
        if _holds_text(X):
            raise ValueError(
                f"{name} takes counts of words, and X holds text; "
                "make_pipeline(CountVectorizer(), ...) counts the words of texts"
            )
        names_of_columns(X, None, "X")  # refuses what is no name, by which columns cannot be told apart
        X = validate_data(self, X, accept_sparse="csr", dtype="numeric", reset=reset)
        if sp.issparse(X):
            X = sp.csr_array(X)
        return X

    def _corpus(self, X, reset: bool, responses=None, sample_weight=None) -> Corpus:
        """The documents of X, with what is known of their responses, in one look at X."""
        X = self._validated(X, reset)
        if responses is not None:
            check_consistent_length(X, responses)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        names = getattr(self, "feature_names_in_", None)
        names = [f"w{i}" for i in range(X.shape[1])] if names is None else [str(n) for n in names]
        columns = self._covariate_places(names)
        words = np.setdiff1d(np.arange(X.shape[1]), columns)
        covariates = covariate_names = None
        if len(columns):
            covariates = X[:, columns]
            covariate_names = [names[i] for i in columns]
            X, names = X[:, words], [names[i] for i in words]
        *parts, _ = canonical(self._counts(X))
        return Corpus.from_bag(  # a column of X is a word, whatever it is called
            Counted(*parts), responses=responses, vocabulary=names, covariates=covariates,
            covariate_names=covariate_names, weights=sample_weight, require_tokens=False,
        )  # fmt: skip

    def _covariate_places(self, names) -> np.ndarray:
        given = self.covariate_columns
        if given is None:
            return np.empty(0, np.int64)
        if isinstance(given, str | numbers.Integral) and not isinstance(given, bool):
            given = [given]
        if not isinstance(given, list | tuple | np.ndarray):
            raise ValueError(f"covariate_columns must be a list of names or numbers, not {given!r}")
        places = []
        for column in given:
            if isinstance(column, str):
                if column not in names:
                    raise ValueError(f"covariate_columns names {column!r}, which X has no column of")
                places.append(names.index(column))
            elif isinstance(column, numbers.Integral) and -len(names) <= column < len(names):
                places.append(int(column) % len(names))
            else:
                raise ValueError(
                    f"covariate_columns must hold names or numbers of columns of X, which has {len(names)}, "
                    f"not {column!r}"
                )
        if len(set(places)) < len(places):
            raise ValueError("covariate_columns names a column twice")
        return np.array(places, np.int64)

    def _counts(self, X):
        """X as counts: whole numbers, or rounded up to them where that was asked for."""
        values = X.data if sp.issparse(X) else X
        if values.size and values.min() < 0:
            raise ValueError(f"Negative values in data passed to {type(self).__name__}: counts are 0 or more")
        if values.dtype.kind != "f" or (values == np.floor(values)).all():
            return X
        if self.counts == "strict":
            first = float(values.ravel()[np.argmax(values.ravel() != np.floor(values.ravel()))])
            raise ValueError(
                f"{first:.6g} is not a whole count; {type(self).__name__} takes counts of words, as "
                "CountVectorizer makes them (TfidfVectorizer and scalers do not); "
                'counts="ceil" rounds up instead'
            )
        warnings.warn(
            "counts that are not whole are rounded up; TfidfVectorizer's values say little about how often a "
            "word occurs, CountVectorizer's do",
            InputWarning,
            stacklevel=4,
        )
        if sp.issparse(X):
            X = X.copy()
            X.data = np.minimum(np.ceil(X.data), LIMIT)
            return X
        return np.minimum(np.ceil(X), LIMIT)

    def _seed(self) -> int:
        given = self.random_state
        if self._goes_on() and not isinstance(given, numbers.Integral):
            return self._first_seed  # that of the chain
        if isinstance(given, numbers.Integral) and not isinstance(given, bool):
            check_random_state(int(given) % 2**32)  # its message for what is no seed
            return int(given)
        return int(check_random_state(given).randint(2**31 - 1))

    # -- fitting -------------------------------------------------------------------------------------

    def _model(self, loss, **more) -> Model:
        return Model(
            self.n_topics, alpha=self.alpha, beta=self.beta, loss=loss, topics=self.topics,
            learn_alpha=self.learn_alpha, learn_beta=self.learn_beta, **more,
        )  # fmt: skip

    def _check_parameters(self) -> None:
        """Those that nothing else checks: a model, a chain and their parts know their own."""
        flag("warm_start", self.warm_start)
        whole("verbose", self.verbose if not isinstance(self.verbose, bool | np.bool_) else 0)
        n_jobs_of(self.n_jobs)
        for name, known in CHOICES.items():
            given = getattr(self, name, known[0])
            if not isinstance(given, str) or given not in known:
                raise ValueError(f"{name} must be {', '.join(map(repr, known))}, not {given!r}")

    def _goes_on(self) -> bool:
        """Whether `fit` goes on with the chain of the last one."""
        return self.warm_start and getattr(self, "_memory", None) is not None

    @contextmanager
    def _as_it_was(self):
        """A fit that does not come about changes nothing of one that there is."""
        self._check_parameters()
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            if "predictor_" in before:
                self.__dict__.clear()
                self.__dict__.update(before)
            raise

    def _fit(self, corpus: Corpus, model: Model, **more):
        if not corpus.n_tokens:
            raise ValueError(f"{type(self).__name__}: no document of X has a word")
        goes_on = self._goes_on()
        if self.warm_start and not goes_on and hasattr(self, "predictor_"):
            warnings.warn(
                "the last fit had warm_start=False and did not keep its chain: this one starts anew",
                InputWarning,
                stacklevel=3,
            )
        sweeps = self.sweeps
        if goes_on and isinstance(sweeps, numbers.Integral) and not isinstance(sweeps, bool):
            sweeps = self.n_iter_ + sweeps
        memory = None
        if self.warm_start:  # a copy, so that a fit that fails leaves the chain where it was
            memory = copy.deepcopy(self._memory) if goes_on else Checkpoints(None)
        seed = self._seed()
        options = {"seed": seed, "sweeps": sweeps, "checkpoint": memory, "resume": goes_on, **more}
        try:
            with self._told(sweeps, corpus.n_tokens) as observers:
                result = self._run(corpus, model, observers=observers, **options)
        except StorageError as error:
            raise ValueError(
                f"warm_start=True goes on with the same documents and the same model, and {error}; "
                "warm_start=False starts anew"
            ) from None
        self._memory, self._first_seed = memory, seed
        self.posterior_ = self.predictor_ = result.detached()
        self.trace_ = result.trace
        self.n_iter_ = self.n_sweeps_ = result.n_sweeps
        parts = result.parts
        self.components_ = parts[0].phi if len(parts) == 1 else np.stack([part.phi for part in parts])
        self._n_features_out = model.n_topics * len(parts)  # models of their own stand side by side
        return self

    @contextmanager
    def _told(self, sweeps: int, n_tokens: int):
        """The observers of a fit: with `verbose` a bar on a terminal, elsewhere lines on standard error."""
        if not self.verbose:
            yield ()
            return
        whole("sweeps", sweeps, 1)
        from plugsamp.fitting.progress import Members, Progress

        def say(line: str) -> None:  # whatever the log may show
            print(line, file=sys.stderr, flush=True)

        if getattr(self, "multiclass", "multitask") != "multitask":
            yield (Members(sweeps, say),)
            return
        with Progress(sweeps, n_tokens, say=say) as progress:
            yield (progress,)

    def _run(self, corpus, model, **options):
        kernel, jobs = self._where()
        if options.get("multiclass", "multitask") == "multitask":
            options["backend"] = Processes(workers=jobs) if jobs > 1 else None
        else:
            options["n_jobs"] = jobs
        with warnings.catch_warnings():
            # a first fit is no place to speak of documents that scikit-learn's splits have left empty
            warnings.filterwarnings("ignore", "the corpus has (responses|covariates)", InputWarning)
            options["keep_draws"] = getattr(self, "keep_draws", "auto")  # topics alone have no weights
            return fit(corpus, model, kernel, burn_in=self.burn_in, thin=self.thin, **options)

    def _where(self):
        """The kernel and the number of processes.

        Where processes are asked for, "auto" takes a kernel whose chain does not depend on how many they
        are. Inside another job of joblib (of a grid search, say) it is one: its jobs have the cores.
        """
        asked = effective_n_jobs(n_jobs_of(self.n_jobs))
        kernel, jobs = self.kernel, 1
        if asked > 1 or self.n_jobs not in (None, 1):
            kernel = Auto("partial") if self.kernel == "auto" else self.kernel
            inside = getattr(get_active_backend()[0], "nesting_level", 0) or 0
            jobs = 1 if inside else asked
        return kernel, jobs

    def _show_weights(self) -> None:
        """`coef_` and `intercept_`, means over kept draws; models of their own have weights of their own."""
        if self.posterior_.owner:
            return
        (part,) = self.posterior_.parts
        eta, intercept = part.eta.mean(axis=0), part.intercept
        self.coef_ = eta[:, :-1] if intercept else eta
        self.intercept_ = eta[:, -1] if intercept else np.zeros(len(eta))

    # -- what it gives -------------------------------------------------------------------------------

    def _predicted(self, X):
        check_is_fitted(self, "predictor_")
        with cores.threads(self._where()[1]):
            return self.posterior_.predict(self._corpus(X, reset=False), keep=False)

    def transform(self, X) -> np.ndarray:
        """The topic proportions of documents.

        Parameters
        ----------
        X : array or sparse matrix (n_documents, n_features)

        Returns
        -------
        ndarray (n_documents, n_topics)
            Posterior means, summing to 1; the prior's mean for a document without known words. A document's
            proportions do not depend on the others.
        """
        return self._predicted(X).theta

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "predictor_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self.covariate_columns is None
        tags.non_deterministic = False
        return tags


def dense(y):
    """Responses as an array, where they are a sparse matrix."""
    return y.toarray() if sp.issparse(y) else y


def _holds_text(X) -> bool:
    """Whether X holds texts, and no numbers written as text, in a list, a series, an array or a frame."""
    if isinstance(X, str | bytes):
        return True
    if hasattr(X, "to_pylist"):  # of pyarrow: an array, or a table with a mapping for each row
        head = X.slice(0, 20).to_pylist()
        return any(_is_text(v) for row in head for v in (row.values() if isinstance(row, dict) else [row]))
    if isinstance(X, list | tuple):
        first = X[0] if X else None
        first = first[0] if isinstance(first, list | tuple) and first else first
        return (isinstance(first, np.ndarray) and _holds_text(first)) or _is_text(first)
    dtypes = list(X.dtypes) if hasattr(X, "columns") and hasattr(X, "dtypes") else [getattr(X, "dtype", None)]
    if sp.issparse(X) or all(getattr(dtype, "kind", "f") in "biufcmM" for dtype in dtypes):
        return False
    try:
        head = np.asarray(X[:20], dtype=object).ravel().tolist()
    except (TypeError, ValueError, KeyError, IndexError):
        return False
    return any(map(_is_text, head))


def _is_text(value) -> bool:
    if not isinstance(value, str):
        return False
    try:
        float(value)
    except ValueError:
        return True
    return False
