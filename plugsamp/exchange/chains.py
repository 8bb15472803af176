"""What a fit, or the folder of a run, has of its chains."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from plugsamp.corpus import Corpus
from plugsamp.errors import InputError
from plugsamp.prediction.ensembles import CHAINS, Ensemble
from plugsamp.prediction.inference import Predictor

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Chains:
    """What a fit, or a run folder, has of the chains of one posterior.

    Attributes
    ----------
    traces : list of dict of str to float arrays (sweeps,)
        By chain.
    burn_in : int
    kept : list of sequences of int
        By chain the sweeps whose draws its predictor holds; empty where that is not known.
    predictors : list of Predictor
        By chain; empty where there is no model.
    joint : bool
        Whether the predictors' weights are draws of the chain (and not of a second step).
    corpus : Corpus, optional
        The training documents.
    about : dict of str to str or numbers
        What the attributes are to say.
    """

    traces: list[dict[str, np.ndarray]]
    burn_in: int
    kept: list[Sequence[int]]
    predictors: list[Predictor]
    joint: bool = True
    corpus: Corpus | None = None
    about: dict = field(default_factory=dict)

    @property
    def has_draws(self) -> bool:
        """Whether the kept draws are known to be those of certain sweeps, the same in all chains."""
        first = list(self.kept[0]) if self.kept else []
        return (
            self.joint
            and bool(first) and bool(self.predictors)
            and all(list(kept) == first for kept in self.kept)
            and all(len(p.eta) == len(first) for p in self.predictors)
        )  # fmt: skip


def of_posterior(posterior) -> Chains:
    if posterior.owner == "task":
        _check_one_posterior(posterior.combine)
    if not posterior.trace:
        raise ValueError(posterior.without("trace"))
    traces = list(posterior.trace.by_chain().values())
    approximations = posterior.approximations
    about = {"config": json.dumps(posterior.options), "approximations": "; ".join(approximations)}
    kept = [list(part.kept) for part in posterior.parts]
    predictors = [part.predictor for part in posterior.parts]
    corpus = posterior.corpus
    return Chains(traces, posterior.burn_in, kept, predictors, posterior.joint, corpus, about)


def of_folder(path, documents: bool = False) -> Chains:
    """What a run folder has of its chains; with `documents`, the training documents where they are there."""
    from plugsamp.posterior import run_folder
    from plugsamp.prediction.models import load_model

    run = run_folder.read(Path(path))
    if "task" in run.trace.columns:
        _check_one_posterior(str(run.config.get("multiclass", "ovr")))
    if not run.trace:
        raise InputError("the run has no trace", file=Path(path) / "trace.csv")
    traces = list(run.trace.by_chain().values())
    predictors = []
    if (Path(path) / "model").is_dir():
        predictor = load_model(Path(path) / "model")
        predictors = list(predictor.members) if isinstance(predictor, Ensemble) else [predictor]
    kept, burn_in, _ = run.sweeps_kept(Path(path))
    about = {
        "config": run.config_text,
        "approximations": "; ".join(run.metrics.get("approximations", [])),
        "corpus_digest": run.metrics.get("corpus_digest", ""),
    }
    joint = run.config.get("supervised", "joint") == "joint"
    corpus = _documents(run, predictors[0], path) if documents and predictors else None
    return Chains(traces, burn_in, kept, predictors, joint, corpus, about)


def _documents(run, predictor: Predictor, path) -> Corpus | None:
    """The training documents of a run; None, with a warning, where they are not to be had any more."""
    from plugsamp.commands.report import documents_of_run
    from plugsamp.posterior import run_folder

    try:
        train, _ = documents_of_run(run, predictor, Path(path))
    except (ValueError, OSError) as error:
        log.warning("the run's corpus cannot be read (%s): there are no groups of the responses", error)
        return None
    return train if run_folder.trained_on(run, train) else None


def shortened(sweeps: Sequence[int]) -> dict | list[int]:
    """Sweeps as metrics.json has them: first, last and distance, where that is the same between all."""
    steps = set(np.diff(sweeps).tolist())
    if len(steps) > 1:
        return list(sweeps)
    return {"first": sweeps[0], "last": sweeps[-1], "every": steps.pop() if steps else 1}


def _check_one_posterior(scheme: str) -> None:
    if scheme != CHAINS:
        raise ValueError(
            f"the models of multiclass={scheme} have posteriors of their own: they are no chains of one, and "
            "ArviZ has no place for them"
        )
