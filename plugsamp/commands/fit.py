"""`plugsamp fit`: configuration to objects, a fit, a run folder. A thin shell over `plugsamp.fit`."""

from __future__ import annotations

import contextlib
import copy
import logging
import secrets
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from omegaconf import DictConfig, OmegaConf

from plugsamp import hydra_source
from plugsamp.checkpoint.generations import Generations
from plugsamp.checkpoint.options import Checkpoints
from plugsamp.commands import hydra_app, sweeping
from plugsamp.commands.arguments import by_key
from plugsamp.commands.command import Command
from plugsamp.commands.settings import checked, settings_of
from plugsamp.commands.wording import warnings_to
from plugsamp.covariates.options import Covariates
from plugsamp.errors import InUse, RunInterrupted
from plugsamp.files.lock import Lock
from plugsamp.files.whole import write_text
from plugsamp.fitting.runfolder import CHECKPOINT, CONFIG, HYDRA, clean_up, holds_run, marks, removed
from plugsamp.fitting.second_step import SecondStep
from plugsamp.fitting.starts import Start
from plugsamp.sweeps import earlier, status
from plugsamp.sweeps import metric as metrics_by_name
from plugsamp.system import cores
from plugsamp.topics.concentration import Concentration

log = logging.getLogger(__name__)


def main(arguments: list[str]) -> int:
    return COMMAND.main(arguments)


@dataclass
class Predict:
    passes: int
    burn_in: int
    restarts: int


@dataclass
class Checkpointing:
    sweeps: int | None
    minutes: float | None
    keep: bool


@dataclass
class Settings:
    """The options outside the groups and their types; the values come from conf/config.yaml."""

    n_topics: int
    alpha: float | list[float]
    alpha_sum: float | None
    beta: float | list[float]
    learn_alpha: dict
    learn_beta: dict
    intercept: bool | None
    standardise: bool
    supervised: str
    multiclass: str
    chains: int
    class_weight: str | dict | None
    decide: float | str
    words: bool
    covariates: dict
    second_step: dict
    n_jobs: int
    start: dict
    sweeps: int
    burn_in: int | None
    thin: int
    keep_draws: str | int
    seed: int | None
    weight_update: str
    weight_passes: int
    predict: dict
    checkpoint: dict
    top_words: int
    topic_words: str
    reference: str | None
    report: bool
    netcdf: bool
    save_model: bool
    overwrite: bool
    metric: str
    data_dir: str

    @classmethod
    def of(cls, config: DictConfig) -> Settings:
        """The settings of a composed configuration, checked.

        Raises
        ------
        ValueError
            An option that does not exist (a misspelt one in an experiment file, or added with +), or
            a value of the wrong type.
        """
        plain = OmegaConf.to_container(config, resolve=True)
        for name in ("learn_alpha", "learn_beta", "start"):
            if isinstance(plain.get(name), str):
                raise ValueError(f"{name} has options of its own: write {name}.method={plain[name]}")
        settings = settings_of(cls, config)
        settings.predict = Predict(**checked(Predict, "predict.", settings.predict))
        given = checked(Checkpointing, "checkpoint.", settings.checkpoint)
        Checkpoints("", **given)  # refuses what makes no sense
        settings.checkpoint = Checkpointing(**given)
        settings.covariates = Covariates(**checked(Covariates, "covariates.", settings.covariates))
        settings.learn_alpha = _learning("learn_alpha", settings.learn_alpha)
        settings.learn_beta = _learning("learn_beta", {**settings.learn_beta, "symmetric": True})
        settings.start = Start(**checked(Start, "start.", settings.start))
        settings.second_step = SecondStep(**checked(SecondStep, "second_step.", settings.second_step))
        return settings

    def model_options(self) -> dict:
        alpha = self.alpha if self.alpha_sum is None else self.alpha_sum / max(self.n_topics, 1)
        return {
            "n_topics": self.n_topics,
            "alpha": alpha,
            "beta": self.beta,
            "learn_alpha": self.learn_alpha,
            "learn_beta": self.learn_beta,
            "intercept": self.intercept,
            "standardise": self.standardise,
            "class_weight": by_key(self.class_weight),
        }


def _learning(name: str, given: dict) -> Concentration:
    values = checked(Concentration, f"{name}.", given)
    try:
        return Concentration(**values)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def task(config: DictConfig) -> float | None:
    """One run under Hydra; its metric is the value, for sweepers."""
    from hydra.core.hydra_config import HydraConfig

    hydra, sweep = HydraConfig.get(), sweeping.current()
    if sweep is None and not str(hydra.run.dir or "").strip():
        raise ValueError(hydra_app.NO_FOLDER.format("run"))
    folder, overrides = Path(hydra.runtime.output_dir), list(hydra.overrides.task)
    if sweep is not None and sweep.postpones(folder):
        log.info("was killed; it waits for the others")
        return None
    # Paths are the caller's, whatever hydra.job.chdir says.
    with contextlib.chdir(hydra.runtime.cwd):
        try:
            return run(config, folder, overrides=overrides)
        except InUse as error:
            if sweep is not None:
                status.refuse(folder, overrides, str(error), sweep.id)
            raise


class Occupied(InUse):
    """The folder holds another run."""


def run(
    config: DictConfig, folder: Path, resume: bool = False, overrides=None, anew: bool = False
) -> float | None:
    """Fit as configured and write the run folder; the metric is returned.

    A job of a sweep whose folder holds the same run is not done again, and goes on from its checkpoint where
    that run is not done.

    Parameters
    ----------
    config : DictConfig
    folder : Path
    resume : bool
        Go on from the checkpoint in the folder.
    overrides : list of str, optional
        The options as they were given; by default those of the run that goes on.
    anew : bool
        Begin the run of the folder again, of which there is no checkpoint.
    """
    sweep = sweeping.current()
    config = config if resume or anew else with_words(config, overrides)
    with Lock(folder) as lock:
        clean_up(folder)
        if not resume and not anew and holds_run(folder) and config.get("overwrite") is not True:
            if sweep is not None:
                config = earlier.with_former_defaults(folder, config, overrides)
            differing = earlier.differences(folder, config) if sweep is not None else None
            if differing != []:
                raise Occupied(_occupied(folder, sweep, differing))
            if (done := earlier.outcome(folder)) is not None:
                log.info("done already: %s", folder)
                status.claim(folder, overrides=overrides, sweep=sweep.id)
                return metrics_by_name.objective(done, config.metric)
            resume = earlier.has_checkpoint(folder)
        if overrides is not None:
            _write_hydra(config, folder)
        given = {"overrides": overrides, "sweep": None if sweep is None else sweep.id}
        with status.recorded(folder, _explain, begun=not resume, **given) as begin:
            try:
                value = _run(config, folder, begin if resume else None)
            except OSError as error:
                if lock.holds:
                    raise
                raise removed(folder) from error
            if not lock.holds:
                raise removed(folder)
            return value


def with_words(config: DictConfig, overrides=None) -> DictConfig:
    """Return what words=true stands for: covariates of tf-idf, and stop words unless they are given."""
    if config.get("words") is not True:
        return config
    config = copy.deepcopy(config)
    if config.covariates.words == "none":
        config.covariates.words = "tfidf"
    given = {str(one).partition("=")[0].lstrip("+~") for one in overrides or ()}
    if "stop_words" in config.corpus and "corpus.stop_words" not in given:
        config.corpus.stop_words = "none"
    return config


def _explain(error: BaseException) -> tuple[str, bool]:
    message = "interrupted" if type(error) is KeyboardInterrupt else hydra_app.message_of(error)
    return message, isinstance(error, hydra_app.USER_ERRORS)


def _occupied(folder: Path, sweep, differing: list[str] | None) -> str:
    """Why a folder is refused."""
    if not (folder / CONFIG).exists():  # with which every run begins: these may be anyone's files
        where = "hydra.run.dir" if sweep is None else "hydra.sweep.dir"
        found = " and ".join(f"a {mark}" for mark in marks(folder))
        return f"{folder} has {found}, as a run has; choose another {where}, or overwrite=true"
    if sweep is not None:
        what = f"a run of another configuration ({'; '.join(differing)})"
        return f"{folder} holds {what}; choose another hydra.sweep.dir, or overwrite=true"
    on = ""
    if Generations(folder / CHECKPOINT):
        on = f"go on from its checkpoint with plugsamp resume run={folder}, "
    return f"{folder} holds a run already; {on}choose another hydra.run.dir, or overwrite=true"


def _run(config: DictConfig, folder: Path, resumed: Callable[[], None] | None) -> float | None:
    """The run itself; where it goes on from its checkpoint, `resumed` is called when that proves its own."""
    if resumed is not None:
        earlier.check_plugins_of(folder)
    settings = Settings.of(config)
    # What can be wrong whatever the data is said before they are read.
    chosen = {g: hydra_source.object_of(g, config.get(g)) for g in hydra_source.CONFIG_GROUPS}
    from plugsamp.commands import run_fit

    metrics_by_name.check(settings.metric)
    model = run_fit.check(settings, chosen)
    settings.n_jobs = _processes(settings.n_jobs, chosen["backend"])
    if resumed is not None:
        if settings.seed is None:
            settings.seed = earlier.seed_of(folder)
    else:
        _make_room(folder)
    if settings.seed is None:
        settings.seed = secrets.randbits(32)
        log.info("seed %d", settings.seed)
    write = partial(_write_config, config, settings.seed, folder)
    if resumed is None:
        write()

    def go_on() -> None:
        resumed()
        write()

    with warnings_to(log), cores.threads(settings.n_jobs):
        try:
            metrics = run_fit.run(settings, chosen, model, folder, go_on if resumed is not None else None)
        except RunInterrupted:
            raise
        except SystemExit as stop:  # the run has not been done
            raise RuntimeError(f"the run was ended by sys.exit({stop.code!r}), of a plugin perhaps") from stop
        except KeyboardInterrupt as interrupt:  # before or after the chain
            raise run_fit.interrupted(interrupt, folder) from None
    value = metrics_by_name.objective(metrics, settings.metric)
    if value is None:
        log.warning(
            "this run has no %s; it has %s", settings.metric, ", ".join(metrics_by_name.measures(metrics))
        )
    return value


def _processes(n_jobs: int, backend) -> int:
    """n_jobs, where other jobs of a sweep run beside this one: -1 is its share of the cores."""
    if cores.sharers() == 1:
        return n_jobs
    if n_jobs < 0:
        n_jobs = max(cores.own() + 1 + n_jobs, 1)
    workers = getattr(backend, "workers", 1)
    each = n_jobs * (workers if isinstance(workers, int) else 1)
    if each > 1 and each * cores.sharers() > cores.all_cores():
        log.warning(
            "%d runs at once with %d worker processes each have %d cores to share; backend.workers=auto, or "
            "n_jobs=-1, takes a run's part of them", cores.sharers(), each, cores.all_cores(),
        )  # fmt: skip
    return n_jobs


def _make_room(folder: Path) -> None:
    """Take from a folder what a new run could be taken for."""
    shutil.rmtree(folder / CHECKPOINT, ignore_errors=True)
    for name in ("trace.csv", "metrics.json"):
        (folder / name).unlink(missing_ok=True)


def _write_config(config: DictConfig, seed: int, folder: Path) -> None:
    """config.yaml: everything resolved, so that the folder says all that the run was."""
    plain = OmegaConf.to_container(config, resolve=True)
    plain["seed"] = seed
    write_text(folder / CONFIG, OmegaConf.to_yaml(OmegaConf.create(plain)))


def _write_hydra(config: DictConfig, folder: Path) -> None:
    """.hydra, as Hydra writes it: how the run was called. Only for who holds the folder's lock."""
    from hydra.core.hydra_config import HydraConfig

    hydra = HydraConfig.get()
    (folder / HYDRA).mkdir(exist_ok=True)
    parts = {"config": config, "hydra": {"hydra": hydra}, "overrides": hydra.overrides.task}
    for name, part in parts.items():
        write_text(folder / HYDRA / f"{name}.yaml", OmegaConf.to_yaml(part))


USAGE = """\
plugsamp fit [OPTION=VALUE ...] [FLAG ...]

Fit a supervised topic model by sampling, evaluate it on the test documents and write a run folder:
report.html, model/, trace.csv, metrics.json, predictions.csv, topics.txt, config.yaml."""

EXAMPLES = """\
  plugsamp fit
  plugsamp fit loss=hinge loss.cost=50 kernel=composed kernel.steps=6 n_topics=100 sweeps=60 seed=1
  plugsamp fit corpus=jsonl corpus.path=news.jsonl
  plugsamp fit experiment=20ng data_dir=/data
  plugsamp fit -m n_topics=20,50,100 'loss=glob(*)'
  plugsamp plugins losses                               names, origin and options of what is installed"""

COMMAND = Command("fit", "config", task, USAGE, EXAMPLES, tuple(hydra_source.CONFIG_GROUPS), True, True)
