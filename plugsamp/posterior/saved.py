"""Posteriors on disk: model folders, zip files, run folders."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from plugsamp.errors import InputError
from plugsamp.files.archive import read_archive
from plugsamp.files.storage import MANIFEST, StorageError, read_folder
from plugsamp.posterior import names as naming_files
from plugsamp.posterior.parts import Part, model_parts, naming
from plugsamp.posterior.posterior import Posterior
from plugsamp.posterior.trace import OWNERS, Trace
from plugsamp.prediction.compact import export
from plugsamp.prediction.models import KIND, model_of, save_model

log = logging.getLogger(__name__)


def save(posterior: Posterior, path, overwrite: bool = False) -> Path:
    """Write a posterior; see `Posterior.save`."""
    if Path(path).suffix.lower() == ".zip":
        return export(
            posterior.predictor, path, overwrite=overwrite, more={"posterior": {"names": posterior.names}}
        )
    arrays, parts = {}, []
    for number, part in enumerate(posterior.parts):
        stats = posterior.stats(part) or {}
        arrays |= {f"part{number}_stats_{name}": np.asarray(values) for name, values in stats.items()}
        columns = [name for name in part.trace.columns if name not in OWNERS]
        if columns:
            arrays[f"part{number}_trace"] = np.column_stack([part.trace.column(name) for name in columns])
        parts.append(
            {
                "stats": list(stats), "trace": columns, "kept": [int(sweep) for sweep in part.kept],
                "seconds": float(part.seconds), "n_tokens": int(part.n_tokens),
                "approximations": list(part.approximations),
            }
        )  # fmt: skip
    content = {
        "names": posterior.names, "burn_in": int(posterior.burn_in), "start": posterior.start,
        "joint": bool(posterior.joint), "parts": parts,
        "options": {str(name): _plain(value) for name, value in posterior.options.items()},
    }  # fmt: skip
    model = None if posterior.chain is None else posterior.chain.model
    return save_model(path, posterior.predictor, model, overwrite, (arrays, {"posterior": content}))


def _plain(value):
    return value if isinstance(value, str | int | float | bool | None) else repr(value)


def load(path, corpus: bool = False) -> Posterior:
    """Return the posterior of a model folder, a zip file or a run folder. Nothing in it is executed.

    Parameters
    ----------
    path : path-like
        What `Posterior.save`, `plugsamp.save_model` or `plugsamp.export` wrote, or the folder of a finished
        run, whose configuration, trace, sizes of topics and names are read too.
    corpus : bool
        Read the documents of a run folder again, as its configuration says: ``posterior.corpus`` are the
        training documents, ``posterior.test`` those kept out.

    Returns
    -------
    Posterior

    Raises
    ------
    InputError
        No such file or folder, a folder of several runs, a run that is not finished or kept no model, or a
        corpus that cannot be read.
    StorageError
        A file that is damaged, newer than this version, or needs a plugin that is not installed.
    """
    path = Path(path)
    if not path.exists():
        raise InputError("there is no such file or folder", file=path)
    if path.is_dir() and not (path / MANIFEST).exists():
        return _of_run(path, corpus)
    if corpus:
        raise InputError(
            "corpus=True is for run folders: a saved model does not say where its documents are", file=path
        )
    arrays, content = (read_archive if path.is_file() else read_folder)(path, KIND)
    predictor = model_of(arrays, content, path)
    more = content.get("posterior")
    if more is None:
        return Posterior(predictor, source=str(path))
    try:
        return _of_content(predictor, arrays, more, path)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise StorageError(f"{path} holds no posterior that can be read: {error}") from None


def _of_content(predictor, arrays: Mapping, content: Mapping, path: Path) -> Posterior:
    """A posterior with what `save` wrote beside the model."""
    names = content.get("names", {})
    if "parts" not in content:
        return Posterior(predictor, names=names, source=str(path))
    parts, fresh = [], model_parts(predictor)
    owner = "" if len(fresh) == 1 and fresh[0].number is None else _owner(predictor)
    for number, (part, about) in enumerate(zip(fresh, content["parts"], strict=True)):
        trace = Trace()
        if about["trace"]:
            columns = dict(zip(about["trace"], arrays[f"part{number}_trace"].T, strict=True))
            trace = Trace.of(columns, owner, part.name)
        stats = {name: arrays[f"part{number}_stats_{name}"] for name in about["stats"]}
        if any(len(values) != part.n_topics for values in stats.values()):
            raise ValueError("numbers of topics for other topics")
        parts.append(
            replace(
                part, trace=trace, stats=stats or None, kept=about["kept"], seconds=about["seconds"],
                n_tokens=about["n_tokens"], approximations=tuple(about["approximations"]),
            )
        )  # fmt: skip
    return Posterior(
        predictor, parts, burn_in=content["burn_in"], start=content["start"], joint=content["joint"],
        options=content["options"], names=names, source=str(path),
    )  # fmt: skip


def _owner(predictor) -> str:
    return Posterior(predictor).owner or ""


def _of_run(path: Path, corpus: bool) -> Posterior:
    """The posterior of a run folder."""
    from plugsamp.posterior import run_folder

    runs = sorted(run.parent.name for run in path.glob("*/model"))
    if runs and not (path / "metrics.json").exists() and not (path / "model").exists():
        raise InputError(
            f"this folder holds runs ({len(runs)}) and is none; one of them is {path / runs[0]}", file=path
        )
    run = run_folder.read(path)
    if not (path / "model").is_dir():
        raise InputError(
            "the run kept no model (save_model=false), so there is no posterior to load", file=path
        )
    model = load(path / "model")
    predictor, metrics, owner = model.predictor, run.metrics, model.owner or ""
    kept, burn_in, seconds = run.sweeps_kept(path)
    parts, traces = [], run.trace.by_chain()
    for number, part in enumerate(model.parts):
        columns = traces.get(part.name)
        trace = Trace() if columns is None else Trace.of(columns, owner, part.name)
        stats = _stats(run.topics, part, path / "topics.csv")
        parts.append(
            replace(
                part, trace=trace, stats=stats, kept=kept[number] if number < len(kept) else [],
                seconds=seconds / len(model.parts), n_tokens=int(stats["tokens"].sum()) if stats else 0,
                approximations=tuple(metrics.get("approximations", ())),
            )
        )  # fmt: skip
    found = Posterior(
        predictor, parts, burn_in=burn_in, start=str(metrics.get("start", "")),
        joint=run.config.get("supervised", "joint") == "joint", options=run.config, names=model.names,
        source=str(path),
    )  # fmt: skip
    take_names(found, path)
    if corpus:
        from plugsamp.commands.report import documents_of_run

        split = documents_of_run(run, predictor, path)
        (found.corpus, found.test), found.validation = split, getattr(split, "validation", None)
    return found


def _stats(table, part: Part, path: Path) -> dict[str, np.ndarray] | None:
    """What topics.csv says of the topics of a part, by column; None without the file."""
    from plugsamp.posterior import run_folder

    if table is None:
        return None
    owner = next((name for name in OWNERS if name in table), None)
    if owner is not None:
        table = table.take([i for i, name in enumerate(table[owner]) if name == part.name])
    names = [name for name in table.columns if name not in (*OWNERS, "topic", "top_words")]
    if len(table) != part.n_topics:
        of = f" of {part.name}" if owner else ""
        raise InputError(f"it has {len(table)} topics{of}, and the model {part.n_topics}", file=path)
    try:
        return {name: run_folder.numbers(table[name]) for name in names}
    except ValueError as error:
        raise InputError(f"a number cannot be read ({error})", file=path) from None


def take_names(posterior: Posterior, path: Path) -> None:
    """Take the names in a run folder; those of other topics are left out with a warning."""
    file = path / naming_files.FILE
    if not file.is_file():
        return
    try:
        posterior.rename(naming_files.read(file, naming(posterior.predictor)))
    except InputError as error:
        log.warning("%s; the topics have no names", error)
