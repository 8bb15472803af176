"""What a posterior, or the folder of a run, has of its chains."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from plugsamp.errors import InputError

log = logging.getLogger(__name__)


def of_posterior(posterior) -> tuple:
    """Return a posterior, its traces by chain, and what attributes are to say."""
    if posterior.owner == "task":
        raise _several_posteriors(posterior.combine)
    if not posterior.trace:
        raise ValueError(posterior.without("trace"))
    about = {
        "burn_in": posterior.burn_in, "config": json.dumps(posterior.options),
        "approximations": "; ".join(posterior.approximations),
    }  # fmt: skip
    return posterior, list(posterior.trace.by_chain().values()), about


def of_folder(path, documents: bool = False) -> tuple:
    """Return the posterior of a run folder, its traces by chain, and what attributes are to say.

    The posterior is None where the run kept no model. With `documents` it has its training documents, where
    they can still be read.
    """
    from plugsamp.posterior import run_folder
    from plugsamp.posterior.saved import load

    run = run_folder.read(Path(path))
    if "task" in run.trace.columns:
        raise _several_posteriors(run.config.get("multiclass", "ovr"))
    if not run.trace:
        raise InputError("the run has no trace", file=Path(path) / "trace.csv")
    about = {
        "burn_in": run.sweeps_kept(Path(path))[1],
        "config": run.config_text,
        "approximations": "; ".join(run.metrics.get("approximations", [])),
        "corpus_digest": run.metrics.get("corpus_digest", ""),
    }
    posterior = load(path) if (Path(path) / "model").is_dir() else None
    if documents and posterior is not None:
        _read_documents(run, posterior, Path(path))
    return posterior, list(run.trace.by_chain().values()), about


def _read_documents(run, posterior, path: Path) -> None:
    """Give a posterior its training documents; warn where they cannot be read any more."""
    from plugsamp.posterior import run_folder
    from plugsamp.posterior.run_documents import documents_of_run

    try:
        train, _ = documents_of_run(run, posterior, path)
    except (ValueError, OSError) as error:
        log.warning("the run's corpus cannot be read (%s): there are no groups of the responses", error)
        return
    if run_folder.trained_on(run, train):
        posterior.corpus = train


def shortened(sweeps: Sequence[int]) -> dict | list[int]:
    """Sweeps as metrics.json has them: first, last and distance, where that is the same between all."""
    steps = set(np.diff(sweeps).tolist())
    if len(steps) > 1:
        return list(sweeps)
    return {"first": sweeps[0], "last": sweeps[-1], "every": steps.pop() if steps else 1}


def _several_posteriors(scheme) -> ValueError:
    return ValueError(
        f"the models of multiclass={scheme} have posteriors of their own: they are no chains of one, and "
        "ArviZ has no place for them"
    )
