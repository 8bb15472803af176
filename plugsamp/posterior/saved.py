"""Posteriors on disk: model folders, zip files, run folders."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import numpy as np

from plugsamp.errors import InputError
from plugsamp.files.archive import read_archive, write_archive
from plugsamp.files.storage import MANIFEST, StorageError, read_folder, write_folder
from plugsamp.posterior import names as naming_files
from plugsamp.posterior.draws import Draws
from plugsamp.posterior.parts import naming
from plugsamp.posterior.posterior import Posterior
from plugsamp.posterior.stored import KIND, model_data, model_of, plugin_record
from plugsamp.posterior.topic_table import packed
from plugsamp.posterior.trace import OWNERS, Trace

log = logging.getLogger(__name__)


def save_model(path, posterior, model=None, overwrite: bool = False) -> Path:
    """Write the model of a posterior as a folder; predictions from it are the same to the bit.

    `Posterior.save` writes the trace and the names of topics too.

    Parameters
    ----------
    path : path-like
    posterior : Posterior or Draws
    model : Model, optional
        Its priors are written beside, for the record.
    overwrite : bool
        Replace a model folder that is there.

    Raises
    ------
    StorageError
        The path exists, the loss is registered by no package, or one of its options is no plain value.
    """
    return _write(path, posterior, model, overwrite, {}, {})


def _write(path, posterior, model, overwrite: bool, arrays: dict, content: dict) -> Path:
    own, about = _data(posterior)
    arrays, content = own | arrays, about | content | {"plugsamp": version("plugsamp")}
    if model is not None:
        arrays["beta"] = np.asarray(model.beta)
        content["weights"] = plugin_record("priors", model.weights)
    return write_folder(path, KIND, arrays, content, overwrite)


def _data(posterior) -> tuple[dict, dict]:
    """Arrays and content of a posterior, or of draws by themselves."""
    if not isinstance(posterior, Posterior | Draws):
        what = "a Posterior is saved, such as fit(...) returns, or posterior_ of an estimator"
        raise TypeError(f"{what}, not a {type(posterior).__name__}")
    return model_data(posterior.parts, getattr(posterior, "combine", "mean"), posterior.coding)


def export(
    posterior, path, eta: str = "draws", overwrite: bool = False, more: Mapping | None = None
) -> Path:
    """Write a model's inference-only form, which `plugsamp.load` and ``plugsamp predict`` take.

    Topics, weights, vocabulary and whatever else prediction needs, compressed without a loss: no priors, no
    chain, no trace, no configuration. Predictions from it are the same to the bit (unless weights are
    averaged, which also makes it another model with random streams of its own).

    Parameters
    ----------
    posterior : Posterior, Draws or path-like
        Or the folder of a run or model.
    path : path-like
        One file, to be called what you like.
    eta : {"draws", "mean"}
        Every kept draw of the weights; or their mean, where there are many weights: labels and linear
        predictors are those of the mean, and there are no probabilities and intervals, which draws are for.
    overwrite : bool
        Replace a file that is there.
    more : mapping, optional
        Plain values that are written beside the model.

    Raises
    ------
    StorageError
        The file exists, or the model cannot be saved (`save_model`).

    Examples
    --------
    >>> import numpy as np, tempfile, plugsamp as ps
    >>> corpus = ps.Corpus.from_counts(np.array([[3, 0, 1], [0, 2, 2]]), responses=["a", "b"])
    >>> posterior = ps.fit(corpus, ps.Model(2, loss="hinge"), sweeps=4)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ps.load(ps.export(posterior, folder + "/model.zip")).digest == posterior.digest
    True
    """
    if eta not in ("draws", "mean"):
        raise ValueError(f"eta must be draws or mean, not {eta!r}")
    if isinstance(posterior, str | Path):
        folder = Path(posterior)
        posterior = load_model(folder / "model" if (folder / "model").is_dir() else folder)
    if eta == "mean":
        posterior = Posterior(
            [_averaged(part) for part in posterior.parts], getattr(posterior, "combine", "mean"),
            posterior.coding,
        )  # fmt: skip
    arrays, content = _data(posterior)
    small = {}
    for name, array in arrays.items():
        owner, _, part = name.rpartition("phi")
        if name == f"{owner}phi" and part == "" and array.ndim == 2:
            small |= {owner + name: values for name, values in packed(array).items()}
        else:
            small[name] = array
    content |= {"plugsamp": version("plugsamp")} | dict(more or {})
    return write_archive(path, KIND, small, content, overwrite)


def _averaged(draws: Draws) -> Draws:
    """The same topics with the mean of the weights for draws; an estimate, which knows labels alone."""
    eta = draws.eta.mean(axis=0, keepdims=True)
    if not draws.coding.n_outputs:
        return replace(draws, eta=eta)
    return replace(draws, eta=eta, parameters={}, variances={}, source="estimate")


def load_model(path) -> Posterior:
    """Return the posterior of a model folder, or of a file that `export` wrote. Nothing in it is executed.

    Raises
    ------
    StorageError
        What `plugsamp.files.storage.read_folder` and `plugsamp.files.archive.read_archive` refuse; a loss
        that is not installed; parts that do not fit together.
    """
    model = Path(path) / "model"
    if (model / MANIFEST).is_file() and not (Path(path) / MANIFEST).exists():
        raise StorageError(f"{path} is a run folder: plugsamp.load reads it, load_model reads {model}")
    arrays, content = (read_archive if Path(path).is_file() else read_folder)(path, KIND)
    parts, combine, coding = model_of(arrays, content, path)
    try:
        return _of_content(parts, combine, coding, arrays, content.get("posterior", {}), str(path))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise StorageError(f"{path} holds no posterior that can be read: {error}") from None


def save(posterior: Posterior, path, overwrite: bool = False) -> Path:
    """Write a posterior; see `Posterior.save`."""
    if Path(path).suffix.lower() == ".zip":
        return export(posterior, path, overwrite=overwrite, more={"posterior": {"names": posterior.names}})
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
    return _write(path, posterior, model, overwrite, arrays, {"posterior": content})


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
    return load_model(path)


def _of_content(parts, combine: str, coding, arrays: Mapping, content: Mapping, source: str) -> Posterior:
    """A posterior with what `save` wrote beside the model."""
    names = content.get("names", {})
    if "parts" not in content:
        return Posterior(parts, combine, coding, names=names, source=source)
    owner, found = _owner(parts, combine), []
    for number, (part, about) in enumerate(zip(parts, content["parts"], strict=True)):
        trace = Trace()
        if about["trace"]:
            columns = dict(zip(about["trace"], arrays[f"part{number}_trace"].T, strict=True))
            trace = Trace.of(columns, owner, part.name)
        stats = {name: arrays[f"part{number}_stats_{name}"] for name in about["stats"]}
        if any(len(values) != part.n_topics for values in stats.values()):
            raise ValueError("numbers of topics for other topics")
        found.append(
            part.with_record(
                trace=trace, stats=stats or None, kept=about["kept"], seconds=about["seconds"],
                n_tokens=about["n_tokens"], approximations=tuple(about["approximations"]),
            )
        )  # fmt: skip
    return Posterior(
        found, combine, coding, burn_in=content["burn_in"], start=content["start"], joint=content["joint"],
        options=content["options"], names=names, source=source,
    )  # fmt: skip


def _owner(parts, combine: str) -> str:
    return "task" if combine != "mean" else "chain" if len(parts) > 1 else ""


def _of_run(path: Path, corpus: bool) -> Posterior:
    """The posterior of a run folder."""
    from plugsamp.posterior import run_folder

    run_folder.refuse_runs(path)
    run = run_folder.read(path)
    if not (path / "model").is_dir():
        raise InputError(
            "the run kept no model (save_model=false), so there is no posterior to load", file=path
        )
    model = load(path / "model")
    metrics, owner = run.metrics, model.owner or ""
    kept, burn_in, seconds = run.sweeps_kept(path)
    parts, traces = [], run.trace.by_chain()
    for number, part in enumerate(model.parts):
        columns = traces.get(part.name)
        trace = Trace() if columns is None else Trace.of(columns, owner, part.name)
        stats = _stats(run.topics, part, path / "topics.csv")
        parts.append(
            part.with_record(
                trace=trace, stats=stats, kept=kept[number] if number < len(kept) else [],
                seconds=seconds / len(model.parts), n_tokens=int(stats["tokens"].sum()) if stats else 0,
                approximations=tuple(metrics.get("approximations", ())),
            )
        )  # fmt: skip
    found = Posterior(
        parts, model.combine, model.coding, burn_in=burn_in, start=str(metrics.get("start", "")),
        joint=run.config.get("supervised", "joint") == "joint", options=run.config, names=model.names,
        source=str(path),
    )  # fmt: skip
    take_names(found, path)
    if corpus:
        from plugsamp.posterior.run_documents import documents_of_run, texts_of_run

        split = documents_of_run(run, found, path)
        (found.corpus, found.test), found.validation = split, getattr(split, "validation", None)
        found.texts = texts_of_run(run, found, path)
    return found


def _stats(table, part: Draws, path: Path) -> dict[str, np.ndarray] | None:
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
        posterior.rename(naming_files.read(file, naming(posterior)))
    except InputError as error:
        log.warning("%s; the topics have no names", error)
