"""`plugsamp fit`: configuration to objects, a fit, a run folder. A thin shell over `plugsamp.fit`."""

from __future__ import annotations

import contextlib
import logging
import secrets
import shutil
import warnings
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from plugsamp import hydra_source
from plugsamp.checkpoint.generations import Generations
from plugsamp.checkpoint.lock import Lock
from plugsamp.checkpoint.options import Checkpoints
from plugsamp.commands import hydra_app
from plugsamp.commands.command import Command
from plugsamp.commands.settings import checked, settings_of
from plugsamp.concentration import Concentration
from plugsamp.covariates.options import Covariates
from plugsamp.errors import Interrupted
from plugsamp.runfolder import CHECKPOINT, CONFIG, clean_up, holds_run, write_text
from plugsamp.second_step import SecondStep
from plugsamp.starts import Start

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
    covariates: dict
    second_step: dict
    n_jobs: int
    start: dict
    sweeps: int
    burn_in: int | None
    thin: int
    seed: int | None
    weight_update: str
    weight_passes: int
    predict: dict
    checkpoint: dict
    top_words: int
    report: bool
    save_model: bool
    overwrite: bool
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
            "class_weight": self.class_weight,
        }


def _learning(name: str, given: dict) -> Concentration:
    values = checked(Concentration, f"{name}.", given)
    try:
        return Concentration(**values)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def task(config: DictConfig) -> float | None:
    """One run under Hydra; the main metric is its value, for sweepers."""
    from hydra.core.hydra_config import HydraConfig

    runtime, mode = HydraConfig.get().runtime, HydraConfig.get().mode
    if mode == RunMode.RUN and not str(HydraConfig.get().run.dir or "").strip():
        raise ValueError(hydra_app.NO_FOLDER.format("run"))
    # Paths are the caller's, whatever hydra.job.chdir says.
    with contextlib.chdir(runtime.cwd):
        return run(config, Path(runtime.output_dir), sweeping=mode == RunMode.MULTIRUN)


def run(config: DictConfig, folder: Path, sweeping: bool = False, resume: bool = False) -> float | None:
    """Fit as configured and write the run folder; the main metric is returned.

    Parameters
    ----------
    config : DictConfig
    folder : Path
    sweeping : bool
        Whether the run is one of several.
    resume : bool
        Go on from the checkpoint in the folder.
    """
    settings = Settings.of(config)
    # What can be wrong whatever the data is said before they are read.
    chosen = {g: hydra_source.object_of(g, config.get(g)) for g in hydra_source.CONFIG_GROUPS}
    from plugsamp.commands import run_fit

    model = run_fit.check(settings, chosen)
    with Lock(folder):
        clean_up(folder)
        if not resume:
            _make_room(folder, settings.overwrite, "hydra.sweep.dir" if sweeping else "hydra.run.dir")
        if settings.seed is None:
            settings.seed = secrets.randbits(32)
            log.info("seed %d", settings.seed)
        write = partial(_write_config, config, settings.seed, folder)
        if not resume:
            write()
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *rest, **more: log.warning("%s", message)
            try:
                return run_fit.run(settings, chosen, model, folder, write if resume else None)
            except Interrupted:
                raise
            except KeyboardInterrupt as interrupt:  # while the corpus is read, or what was fitted written
                raise run_fit.interrupted(interrupt, folder) from None


def _make_room(folder: Path, overwrite: bool, option: str) -> None:
    """Refuse a folder that holds a run, or take from it what a new one could be taken for."""
    if not holds_run(folder):
        return
    if not overwrite:
        if Generations(folder / CHECKPOINT):
            on = f"go on from its checkpoint with plugsamp resume run={folder}, "
        else:
            on = ""
        raise ValueError(f"{folder} holds a run already; {on}choose another {option}, or overwrite=true")
    shutil.rmtree(folder / CHECKPOINT, ignore_errors=True)
    for name in ("trace.csv", "metrics.json"):
        (folder / name).unlink(missing_ok=True)


def _write_config(config: DictConfig, seed: int, folder: Path) -> None:
    """config.yaml: everything resolved, so that the folder says all that the run was."""
    plain = OmegaConf.to_container(config, resolve=True)
    plain["seed"] = seed
    write_text(folder / CONFIG, OmegaConf.to_yaml(OmegaConf.create(plain)))


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

COMMAND = Command("fit", "config", task, USAGE, EXAMPLES, tuple(hydra_source.CONFIG_GROUPS), True)
