"""Successive halving of settings, with sweeps as the resource (Jamieson and Talwalkar 2016).

All settings are sampled for a few sweeps and scored on held-out documents. The best third goes on from where
its chains are to three times the sweeps, and so on.
"""

from __future__ import annotations

import logging
import math
import shutil
import time
import warnings
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from plugsamp.checkpoint.options import Checkpoints
from plugsamp.checkpoint.signals import Stop
from plugsamp.errors import ApproximationWarning, InputWarning
from plugsamp.files.lock import Lock
from plugsamp.files.whole import read_object, write_json
from plugsamp.fitting.deciding import decided
from plugsamp.fitting.fit import fit
from plugsamp.fitting.parallel import in_parallel
from plugsamp.model import Model
from plugsamp.prediction.evaluation import evaluate
from plugsamp.sampling.identity import differences
from plugsamp.sweeps import metric as metrics_by_name
from plugsamp.tuning.settings import described, with_setting

log = logging.getLogger(__name__)

#: Of the settings of a rung one in so many goes on, to so many times the sweeps; the last has two.
FACTOR, RUNGS, LAST = 3, 3, 2

FILE = "search.json"

#: Of what a search is a function of, values that are too long to show.
LONG = {"corpus": "documents", "settings": "settings to try"}


def rungs(n: int, sweeps: int) -> list[tuple[int, int]]:
    """Return the rungs of a search: how many settings, to how many sweeps.

    Examples
    --------
    >>> rungs(9, 100)
    [(9, 11), (3, 33), (2, 100)]
    """
    sizes = [n]
    while len(sizes) < RUNGS and sizes[-1] > LAST:
        sizes.append(max(math.ceil(sizes[-1] / FACTOR), LAST))
    after = len(sizes) - 1
    return [(size, max(sweeps // FACTOR ** (after - i), 1)) for i, size in enumerate(sizes)]


@dataclass
class Search:
    """Settings of a model and what is known of them.

    Parameters
    ----------
    model : Model
    settings : list of dict
    parts : list of (Corpus, Corpus)
        Documents to fit and held-out documents, one pair or one a fold.
    options : mapping
        Arguments of `plugsamp.fit`.
    sweeps : int
        Of the last rung.
    metric : str
        As `plugsamp.sweeps.metric` names measures.
    n_jobs : int
    folder : Path, optional
        Where scores and chains are kept, so that the same search goes on there.
    identity : mapping
        What the search is a function of.

    Attributes
    ----------
    rows : list of dict
        ``setting`` (its number), ``fold``, ``sweeps``, ``score``, ``error``, ``seconds`` of each step.
    measure : str
        The name of the score.
    """

    model: Model
    settings: Sequence[Mapping]
    parts: Sequence[tuple]
    options: Mapping
    sweeps: int
    metric: str = metrics_by_name.MAIN
    n_jobs: int = 1
    folder: Path | None = None
    identity: Mapping = field(default_factory=dict)
    rows: list[dict] = field(default_factory=list)
    measure: str = ""

    def run(self) -> int:
        """Compare the settings; returns the number of the best.

        Raises
        ------
        ValueError
            The folder holds another search, or no setting has the metric.
        """
        metrics_by_name.check(self.metric)
        with ExitStack() as stack:
            if self.folder is not None:
                stack.enter_context(Lock(self.folder))
                if self.n_jobs != 1:
                    stack.enter_context(
                        Stop()
                    )  # to whom SIGTERM is an error like any: joblib ends its processes
                self._take_up()
            left, places = list(range(len(self.settings))), {}
            for number, (size, sweeps) in enumerate(ladder := self.ladder()):
                for dropped in set(left) - set(kept := left[:size]):
                    self._forget(places, dropped)
                self._advance(kept, sweeps, places)
                left = sorted(kept, key=lambda i, sweeps=sweeps: -self.score(i, sweeps)[0])
                log.info(
                    "rung %d of %d: %d settings, %d sweeps; best %s %.4f, %s", number + 1, len(ladder), size,
                    sweeps, self.measure, self.shown(left[0], sweeps), described(self.settings[left[0]]),
                )  # fmt: skip
            for one in left:
                self._forget(places, one)
        return left[0]

    def ladder(self) -> list[tuple[int, int]]:
        """Return how many settings are compared, after how many sweeps."""
        return rungs(len(self.settings), self.sweeps)

    def score(self, setting: int, sweeps: int) -> tuple[float, float | None]:
        """Return how good a setting was after so many sweeps, larger is better, and its standard error."""
        rows = [r for r in self.rows if (r["setting"], r["sweeps"]) == (setting, sweeps)]
        if not rows:
            return -math.inf, None
        better = metrics_by_name.better(self.metric)
        errors = [r["error"] for r in rows]
        error = None if None in errors else math.sqrt(sum(e * e for e in errors)) / len(errors)
        return better(sum(r["score"] for r in rows) / len(rows)), error

    def shown(self, setting: int, sweeps: int) -> float:
        """Return the score as it is measured."""
        scores = [r["score"] for r in self.rows if (r["setting"], r["sweeps"]) == (setting, sweeps)]
        return sum(scores) / len(scores)

    def _advance(self, chosen: Sequence[int], sweeps: int, places: dict) -> None:
        """Bring settings to so many sweeps, and score them."""
        known = {(r["setting"], r["fold"]) for r in self.rows if r["sweeps"] == sweeps}
        steps = [(i, k) for i in chosen for k in range(len(self.parts)) if (i, k) not in known]
        jobs = []
        for setting, fold in steps:
            place = places.setdefault((setting, fold), Checkpoints(self._path(setting, fold)))
            model = with_setting(self.model, self.settings[setting])
            options = {**self.options, "sweeps": sweeps, "checkpoint": place, "resume": True}
            jobs.append((*self.parts[fold], model, options, self.metric))
        names = [f"{described(self.settings[i])}, {sweeps} sweeps" for i, _ in steps]
        with closing(in_parallel(_step, jobs, names, self.n_jobs)) as done:
            for (setting, fold), (row, measure, states) in zip(steps, done, strict=True):
                places[setting, fold].states.update(states)  # a process of its own has filled a copy
                self.rows.append({"setting": setting, "fold": fold, "sweeps": sweeps} | row)
                self.measure = measure
                self._save()

    def _path(self, setting: int, fold: int) -> Path | None:
        return None if self.folder is None else self.folder / f"setting-{setting:03d}-{fold}"

    def _forget(self, places: dict, setting: int) -> None:
        """Remove the chains of a setting."""
        for fold in range(len(self.parts)):
            places.pop((setting, fold), None)
            if self.folder is not None:
                shutil.rmtree(self._path(setting, fold), ignore_errors=True)

    def _save(self) -> None:
        if self.folder is not None:
            found = {"identity": self.identity, "measure": self.measure, "rows": self.rows}
            write_json(self.folder / FILE, found)

    def _take_up(self) -> None:
        """Read the scores that the folder has of this search."""
        found = read_object(self.folder / FILE)
        if not found:
            return
        was, same = found.get("identity", {}), dict.fromkeys(LONG)
        apart = [f"other {what}" for name, what in LONG.items() if was.get(name) != self.identity.get(name)]
        if differing := [*apart, *differences({**was, **same}, {**self.identity, **same})]:
            raise ValueError(
                f"{self.folder} holds another search ({'; '.join(differing[:3])}); choose another folder, or "
                "overwrite=true on the command line"
            )
        self.rows, self.measure = list(found["rows"]), str(found["measure"])
        log.info("the search goes on: %d steps of it are done", len(self.rows))


def _step(train, held, model, options, metric: str) -> tuple[dict, str, dict]:
    """Sample a setting to so many sweeps and score it; returns a row, the measure, the chain's state."""
    start, decide = time.perf_counter(), options.get("decide", "auto")
    with (
        warnings.catch_warnings(),
        quiet("plugsamp"),
    ):  # what there is to say is said of the fit on all documents
        warnings.simplefilter("ignore", InputWarning)
        warnings.simplefilter("ignore", ApproximationWarning)
        posterior = fit(train, model, **options | {"decide": "zero"})
        if posterior.coding.task == "multilabel":
            posterior = decided(posterior, decide, held, fit)
        found = evaluate(posterior, held, held_out=True)
    main = metric in (metrics_by_name.MAIN, found.main_name)
    measure = found.main_name if main else metric
    score = found.measures.get(measure)
    if score is None:
        there = ", ".join(name for name, value in found.measures.items() if isinstance(value, float))
        raise ValueError(f"held-out documents have no {measure or 'score'}; they have {there or 'none'}")
    row = {"score": score, "error": found.standard_error() if main and found.truth is not None else None}
    return row | {"seconds": time.perf_counter() - start}, measure, options["checkpoint"].states


@contextmanager
def quiet(name: str):
    """Hold back what a logger says below warnings."""
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)
