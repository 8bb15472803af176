"""`plugsamp.tune`: a search for the settings of a model, then the fit with the best."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from plugsamp.checks import n_jobs_of, share, whole
from plugsamp.corpus import Corpus
from plugsamp.fitting.fit import fit, with_words
from plugsamp.model import Model
from plugsamp.prediction.thresholds import check_decide
from plugsamp.random.draws import Purpose, stream
from plugsamp.readers.split import class_labels, seeded_split
from plugsamp.sampling.identity import plain, run_identity
from plugsamp.tuning.checks import check_metric, check_parts, checked_grid
from plugsamp.tuning.search import Search
from plugsamp.tuning.settings import chosen, default_grid, with_setting
from plugsamp.tuning.tuned import Tuned


def tune(
    corpus: Corpus,
    model: Model | None = None,
    grid: Mapping[str, Sequence] | None = None,
    *,
    settings: int = 9,
    validation: float | Corpus = 0.2,
    folds: int | None = None,
    metric: str = "main",
    sweeps: int = 100,
    burn_in: int | None = None,
    seed: int = 0,
    n_jobs: int = 1,
    folder: str | Path | None = None,
    **options,
) -> Tuned:
    """Search for the settings of a model on held-out training documents, then fit all of them with the best.

    Settings are compared by successive halving: all are sampled for a ninth of the sweeps, the best third
    of them goes on to a third of the sweeps, the best two to all. With 9 settings and one validation part
    this takes about the time of four fits.

    Parameters
    ----------
    corpus : Corpus
        The training documents.
    model : Model, optional
        What is not searched for is as here; by default 50 topics, with the hinge loss where there are
        responses. Its own values are tried first, where `grid` has them.
    grid : mapping of str to list, optional
        Values to try: of fields of the model (``n_topics``, ``beta``), options of its weights (``variance``,
        ``covariate_variance``) and of its loss (``cost``). By default those that the loss names (``search``),
        and half and twice the topics.
    settings : int
        How many settings of the grid are tried.
    validation : float or Corpus
        The share of the training documents that are held out, of each class alike; or other documents.
    folds : int, optional
        Hold out each of so many parts in turn instead, which takes so many times the time.
    metric : str
        What is compared: the task's own measure ("main"), or "f1_macro", "log_loss", ...
    sweeps, burn_in, seed, options
        As `plugsamp.fit` takes them. The search leaves out the first half of the sweeps as burn-in.
    n_jobs : int
        Settings that are sampled at once, each in a process. The outcome does not depend on it.
    folder : path-like, optional
        Keep scores and chains here: the same call goes on where a killed one was.

    Returns
    -------
    Tuned
        ``best``, ``table``, ``plot()``, ``posterior``.

    Raises
    ------
    ValueError
        An argument outside its range, or a folder with another search.

    Examples
    --------
    >>> import numpy as np, plugsamp as ps
    >>> counts = np.tile([[4, 1, 0, 0], [0, 0, 3, 2]], (15, 1))
    >>> corpus = ps.Corpus.from_counts(counts, responses=["a", "b"] * 15)
    >>> tuned = ps.tune(corpus, ps.Model(2, loss="hinge"), {"cost": [1.0, 10.0]}, sweeps=9)
    >>> len(tuned.table), tuned.posterior.predict(corpus).labels[:2].tolist()
    (2, ['a', 'b'])
    """
    if model is None:
        model = Model(50, loss="none" if corpus.responses is None else "hinge")
    chains, place = None, {}
    if folder is not None:
        chains, place = Path(folder) / "search", {"checkpoint": Path(folder) / "checkpoint", "resume": True}
    search = search_of(
        corpus, model, grid, settings=settings, validation=validation, folds=folds, metric=metric,
        sweeps=sweeps, seed=seed, n_jobs=n_jobs, folder=chains, **options,
    )  # fmt: skip
    tuned = Tuned(search, search.run())
    tuned.posterior = fit(
        corpus, tuned.model, sweeps=sweeps, burn_in=burn_in, seed=seed, n_jobs=n_jobs, **options, **place
    )
    return tuned


def search_of(
    corpus: Corpus,
    model: Model,
    grid=None,
    *,
    settings: int = 9,
    validation=0.2,
    folds: int | None = None,
    metric: str = "main",
    sweeps: int = 100,
    seed: int = 0,
    n_jobs: int = 1,
    folder: Path | None = None,
    **options,
) -> Search:
    """Return the search that `tune` does, with its arguments, before it has begun."""
    if options.pop("words", False):
        model, options["covariates"] = model.with_words(), with_words(options.get("covariates"))
    covariates = bool(options.get("covariates")) or corpus.covariates is not None
    grid = default_grid(model, covariates) if grid is None else checked_grid(grid, model, covariates)
    tried = chosen(grid, model, settings)
    for setting in tried:
        with_setting(model, setting)  # refuses what cannot be before anything is sampled
    check_metric(metric, corpus, model)
    check_decide(options.get("decide", "auto"))
    parts = parts_of(corpus, validation, folds, seed)
    check_parts(corpus, parts, model, "validation" if folds is None else f"folds={folds}")
    held = (validation.digest() if isinstance(validation, Corpus) else validation) if folds is None else folds
    told = {name: value for name, value in options.items() if name not in ("kernel", "backend")}
    told |= {"held": held, "metric": metric, "sweeps": whole("sweeps", sweeps, 1), "seed": seed}
    identity = run_identity(corpus, model, options.get("kernel", "auto"), **told)
    return Search(
        model, tried, parts, options | {"seed": seed}, sweeps, metric,
        n_jobs_of(n_jobs), folder, identity | {"settings": plain([list(one.items()) for one in tried])},
    )  # fmt: skip


def parts_of(corpus: Corpus, validation=0.2, folds: int | None = None, seed: int = 0) -> list[tuple]:
    """Return pairs of documents to fit and documents to score, which keep the shares of classes.

    Raises
    ------
    ValueError
        A share that is none, fewer than two folds, or more than documents.
    """
    if folds is None and isinstance(validation, Corpus):
        return [(corpus, validation)]
    classes = class_labels(corpus.responses)
    if folds is None:
        held = [seeded_split(corpus.n_documents, share("validation", validation), seed, classes)]
    else:
        from sklearn.model_selection import KFold, StratifiedKFold  # here, as it takes a second to import

        folds = whole("folds", folds, 2, corpus.n_documents)
        most = folds if classes is None else int(np.unique(classes, return_counts=True)[1].max())
        if folds > most:
            raise ValueError(f"folds={folds} is more than any class has documents: give {most} or fewer")
        state = int(stream(seed, Purpose.SPLIT).integers(2**32))
        divide = (KFold if classes is None else StratifiedKFold)(folds, shuffle=True, random_state=state)
        held = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # classes with fewer documents than folds
            for _, rows in divide.split(np.zeros(corpus.n_documents), classes):
                held.append(np.isin(np.arange(corpus.n_documents), rows))
    return [(corpus.take(~rows), corpus.take(rows)) for rows in held]
