"""`plugsamp tune`: a search for settings on held-out documents, then `plugsamp fit` with the best."""

from __future__ import annotations

import contextlib
import copy
import logging
import secrets
import shutil
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from omegaconf import DictConfig, OmegaConf, open_dict

from plugsamp import hydra_source
from plugsamp.checks import share, whole
from plugsamp.commands import fit, hydra_app
from plugsamp.commands.command import Command
from plugsamp.commands.settings import checked
from plugsamp.commands.wording import warnings_to
from plugsamp.files.whole import complete_bytes, read_object
from plugsamp.fitting.runfolder import holds_run
from plugsamp.sweeps import earlier
from plugsamp.sweeps import metric as metrics_by_name

log = logging.getLogger(__name__)

#: Where a run folder has what the search leaves; its table and its figure.
SEARCH, TABLE, FIGURE = "search", "tune.csv", "tune.png"

#: The option of `plugsamp fit` that a setting is.
OPTIONS = {
    "n_topics": "n_topics", "cost": "loss.cost", "variance": "weights.variance",
    "covariate_variance": "weights.covariate_variance",
}  # fmt: skip

#: Options of `plugsamp fit` that the search's chains have too.
PASSED = (
    "sweeps", "seed", "thin", "weight_update", "weight_passes", "supervised", "second_step", "covariates",
    "multiclass", "chains", "decide",
)  # fmt: skip


@dataclass
class Tune:
    """The options below ``tune``; the values come from conf/tune.yaml."""

    n_topics: list[int] | None
    cost: list[float] | None
    variance: list[float] | None
    covariate_variance: list[float] | None
    settings: int
    validation_size: float
    folds: int | None
    n_jobs: int

    def __post_init__(self):
        whole("tune.settings", self.settings, 1)
        share("tune.validation_size", self.validation_size)
        if self.folds is not None:
            whole("tune.folds", self.folds, 2)

    def grid(self, model, covariates: bool) -> dict[str, list]:
        """Return the values to try of each setting.

        Raises
        ------
        ValueError
            None at all.
        """
        from plugsamp.tuning.settings import default_grid

        given = {name: getattr(self, name) for name in OPTIONS}
        grid = default_grid(model, covariates) | {name: v for name, v in given.items() if v is not None}
        grid = {name: values for name, values in grid.items() if values}
        if not grid:
            raise ValueError("there is nothing to search for: each of tune.n_topics, tune.cost, ... is []")
        return grid


def task(config: DictConfig) -> float | None:
    """One search and the fit under Hydra; the fit's metric is the value."""
    from hydra.core.hydra_config import HydraConfig

    hydra = HydraConfig.get()
    if not str(hydra.run.dir or "").strip():
        raise ValueError(hydra_app.NO_FOLDER.format("run"))
    with contextlib.chdir(hydra.runtime.cwd):
        return run(config, Path(hydra.runtime.output_dir), list(hydra.overrides.task))


def run(config: DictConfig, folder: Path, overrides: list[str]) -> float | None:
    """Search, fit with the best setting, write the run folder and show the settings; returns the metric."""
    config = fit.with_words(copy.deepcopy(config), overrides)
    own = Tune(**checked(Tune, "tune.", OmegaConf.to_container(config.tune, resolve=True)))
    with open_dict(config):
        del config["tune"]
    if config.corpus.get("validation_size"):
        own.validation_size = share("corpus.validation_size", config.corpus.validation_size)
        config.corpus.validation_size = 0.0
    if holds_run(folder) and not (folder / SEARCH).is_dir() and config.get("overwrite") is not True:
        raise fit.Occupied(
            f"{folder} holds a run of plugsamp fit; choose another hydra.run.dir, or overwrite=true"
        )
    if config.get("overwrite") is True:
        shutil.rmtree(folder / SEARCH, ignore_errors=True)
    if config.seed is None:
        known = read_object(folder / SEARCH / "search.json").get("identity", {}).get("seed")
        config.seed = secrets.randbits(32) if known is None else known
    tuned = search(config, own, folder)
    for name, value in tuned.best.items():
        OmegaConf.update(config, OPTIONS[name], value, force_add=True)
    tuned.table.to_csv(folder / TABLE)
    written = [folder / TABLE, *figure(tuned, folder / FIGURE)]
    value = final(config, folder, overrides)
    print("\n".join(["", str(tuned), "", *(f"{path.suffix[1:]}: {path}" for path in written)]))
    return value


def search(config: DictConfig, own: Tune, folder: Path):
    """Compare the settings; returns a `plugsamp.tuning.tuned.Tuned` without the fit."""
    settings = fit.Settings.of(config)
    chosen = {g: hydra_source.object_of(g, config.get(g)) for g in hydra_source.CONFIG_GROUPS}
    from plugsamp.commands import run_fit
    from plugsamp.tuning.tune import search_of
    from plugsamp.tuning.tuned import Tuned

    if (
        metrics_by_name.check(settings.metric).startswith(("test_", "train_"))
        or settings.metric in metrics_by_name.OTHERS
    ):
        raise ValueError(
            f"metric={settings.metric} is no measure of held-out training documents, by which settings are "
            "compared; metric=main, metric=f1_macro and metric=log_loss are"
        )
    model = run_fit.check(settings, chosen)
    reader = chosen["corpus"].for_model(run_fit.wanted(settings, model.loss))
    split = reader.read()
    train, validation = split[0], getattr(split, "validation", None)  # a plugin may return a plain pair
    log.info("%s", run_fit.described(train, split[1], validation))
    grid = own.grid(model, bool(settings.covariates) or train.covariates is not None)
    if "n_topics" in grid and settings.alpha_sum is not None:
        raise ValueError("alpha_sum goes with one number of topics: give alpha, or tune.n_topics=[]")
    options = {name: getattr(settings, name) for name in PASSED}
    options |= {"kernel": chosen["kernel"], "backend": chosen["backend"], "init": settings.start}
    with warnings_to(log):
        found = search_of(
            train, model, grid, settings=own.settings, folds=own.folds, n_jobs=own.n_jobs,
            validation=own.validation_size if validation is None else validation,
            metric=settings.metric.removeprefix("validation_"), folder=folder / SEARCH, **options,
        )  # fmt: skip
        try:
            return Tuned(found, found.run())
        except KeyboardInterrupt:
            log.info("the same command with hydra.run.dir=%s goes on with the search", folder)
            raise


def figure(tuned, path: Path) -> list[Path]:
    """Draw the scores where matplotlib is installed; returns the files that are written."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        log.info("a figure of the settings needs matplotlib: pip install 'plugsamp[plots]'")
        return []
    drawn = Figure(figsize=(6.0, 4.0), layout="constrained")
    tuned.plot(drawn.add_subplot())
    with complete_bytes(path) as file:
        drawn.savefig(file, format="png", dpi=150)
    return [path]


def final(config: DictConfig, folder: Path, overrides: list[str]) -> float | None:
    """Fit all training documents as configured; goes on with that fit, and leaves one that is done."""
    again = partial(fit.run, config, folder, overrides=overrides)
    if not holds_run(folder) or config.get("overwrite") is True:
        return again()
    if differing := earlier.differences(folder, config):
        raise fit.Occupied(
            f"{folder} holds a run of another configuration ({'; '.join(differing)}); choose another "
            "hydra.run.dir, or overwrite=true"
        )
    if (done := earlier.outcome(folder)) is not None:
        log.info("done already: %s", folder)
        return metrics_by_name.objective(done, config.metric)
    resume = earlier.has_checkpoint(folder)
    return again(resume=resume, anew=not resume)


USAGE = """\
plugsamp tune [OPTION=VALUE ...] [FLAG ...]

Try settings of a model (number of topics, cost, variances of weights) on held-out training documents, then
fit all training documents with the best, as plugsamp fit does. All settings are sampled for a ninth of the
sweeps, the best third of them for a third, the best two for all: the time of some four fits. The same command
with the same hydra.run.dir goes on where a killed one was. Writes what plugsamp fit writes, tune.csv and
tune.png."""

EXAMPLES = """\
  plugsamp tune corpus=csv corpus.path=reviews.csv corpus.test_size=0.2 hydra.run.dir=tuned
  plugsamp tune corpus=jsonl corpus.path=news.jsonl tune.cost=[1,10,100] tune.n_topics=[20,50] tune.n_jobs=4
  plugsamp tune experiment=words corpus=polarity_v2 data_dir=DIR tune.folds=5 metric=f1_macro"""

GROUPS = tuple(hydra_source.CONFIG_GROUPS)
COMMAND = Command("tune", "tune", task, USAGE, EXAMPLES, GROUPS, experiments=True, extends="config")
main = COMMAND.main
