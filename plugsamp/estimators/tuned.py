"""A classifier that searches for its own settings, in the manner of scikit-learn's LogisticRegressionCV."""

from __future__ import annotations

import inspect

from plugsamp.checks import is_number, share
from plugsamp.estimators.classifier import SupervisedTopicClassifier
from plugsamp.model import Model
from plugsamp.tuning.settings import with_setting
from plugsamp.tuning.tune import search_of
from plugsamp.tuning.tuned import Tuned


class SupervisedTopicClassifierCV(SupervisedTopicClassifier):
    """Supervised topics whose number, cost and variances are chosen on held-out training documents.

    `fit` compares settings as `plugsamp.tune` does, then fits all documents with the best.

    Parameters
    ----------
    n_topics : int
        Half and twice as many are tried too, unless `grid` says otherwise.
    grid : dict of str to list, optional
        Values to try: ``n_topics``, ``beta``, ``cost`` and other options of the loss, ``variance`` and other
        options of the weights. By default half and twice the topics, and values that the loss names.
    settings : int
        How many combinations are tried.
    cv : int, optional
        Folds, each held out in turn. By default one part is held out, of `validation_fraction`.
    validation_fraction : float
        Share of the documents that are held out where `cv` is None, of each class alike.
    scoring : str
        What is compared: the task's own measure ("main": accuracy, or micro-F1 of several labels),
        "f1_macro", "log_loss", ...
    **parameters
        Those of `SupervisedTopicClassifier`. `n_jobs` settings are sampled at once.

    Attributes
    ----------
    best_params_ : dict
        The best setting.
    best_score_ : float
        Its score on held-out documents, too good by a little, as it is the best of several.
    search_ : plugsamp.tuning.tuned.Tuned
        All settings: ``table``, ``plot()``.

    Others are those of `SupervisedTopicClassifier`.

    Examples
    --------
    >>> import numpy as np, plugsamp as ps
    >>> X, y = np.tile([[4, 1, 0, 0], [0, 0, 3, 2]], (15, 1)), ["a", "b"] * 15
    >>> model = ps.SupervisedTopicClassifierCV(2, grid={"cost": [1, 10]}, sweeps=9, random_state=0).fit(X, y)
    >>> sorted(model.best_params_), model.predict(X[:2]).tolist()
    (['cost'], ['a', 'b'])
    """

    def __init__(
        self,
        n_topics=50,
        *,
        grid=None,
        settings=9,
        cv=None,
        validation_fraction=0.2,
        scoring="main",
        **parameters,
    ):
        super().__init__(n_topics, **parameters)
        self.grid = grid
        self.settings = settings
        self.cv = cv
        self.validation_fraction = validation_fraction
        self.scoring = scoring

    def _chosen(self, corpus, model: Model) -> Model:
        """The model with the best setting; a chain that goes on has its own."""
        if self._goes_on():
            return with_setting(model, self.best_params_)
        kernel, jobs = self._where()
        if self.cv is None:
            share("validation_fraction", self.validation_fraction)
        elif not is_number(self.cv) or self.cv < 2:
            raise ValueError(f"cv must be None or a whole number of folds, 2 or more, not {self.cv!r}")
        search = search_of(
            corpus, model, self.grid, settings=self.settings, folds=self.cv, n_jobs=jobs, kernel=kernel,
            validation=self.validation_fraction, metric=self.scoring, sweeps=self.sweeps, thin=self.thin,
            seed=self._seed(), multiclass=self.multiclass, decide=self.decide, words=self.words,
        )  # fmt: skip
        self.search_ = Tuned(search, search.run())
        self.best_params_ = self.search_.best
        self.best_score_ = self.search_.table[search.measure][0]
        return self.search_.model


def _signature(init, parent) -> inspect.Signature:
    """The signature of a constructor with the parent's parameters in place of ``**parameters``."""
    own = list(inspect.signature(init).parameters.values())[:-1]
    known = {one.name for one in own}
    return inspect.Signature(
        [*own, *(p for p in inspect.signature(parent).parameters.values() if p.name not in known)]
    )


# scikit-learn reads the names of parameters there
SupervisedTopicClassifierCV.__init__.__signature__ = _signature(
    SupervisedTopicClassifierCV.__init__, SupervisedTopicClassifier.__init__
)
