"""Fitted models as folders."""

from __future__ import annotations

import json
import logging
from enum import Enum
from importlib.metadata import version
from pathlib import Path

import numpy as np

from plugsamp import registry
from plugsamp.brief import clipped
from plugsamp.covariates.encoder import Encoder
from plugsamp.files.archive import read_archive, require_memory
from plugsamp.files.storage import MANIFEST, StorageError, read_folder, write_folder
from plugsamp.files.stored_labels import decode_labels, encode_labels
from plugsamp.losses.coding import Coding
from plugsamp.prediction import topic_table
from plugsamp.prediction.ensembles import CHAINS, Ensemble
from plugsamp.prediction.inference import Predictor

log = logging.getLogger(__name__)

KIND = "model"

TASKS = ("none", "binary", "multiclass", "multilabel", "real", "count")


def save_model(
    path,
    predictor: Predictor | Ensemble,
    model=None,
    overwrite: bool = False,
    more: tuple[dict, dict] = ({}, {}),
) -> Path:
    """Write a model folder (see `plugsamp.files.storage`); predictions from it are the same to the bit.

    Parameters
    ----------
    path : path-like
    predictor : Predictor or Ensemble
    model : Model, optional
        Its priors are written beside, for the record.
    overwrite : bool
        Replace a model folder that is there.
    more : dict of arrays, dict
        What is written beside the model; `load_model` passes it over.

    Raises
    ------
    StorageError
        The path exists, the loss is registered by no package, or one of its options is no plain value.
    """
    arrays, content = model_data(predictor)
    arrays, content = arrays | more[0], content | more[1]
    content["plugsamp"] = version("plugsamp")
    if model is not None:
        arrays["beta"] = np.asarray(model.beta)
        content["weights"] = plugin_record("priors", model.weights)
    return write_folder(path, KIND, arrays, content, overwrite)


def check_model(model) -> None:
    """Refuse a `plugsamp.Model` that `save_model` could not write, before it is fitted (StorageError)."""
    plugin_record("losses", model.loss)
    plugin_record("priors", model.weights)


def model_data(predictor: Predictor | Ensemble) -> tuple[dict, dict]:
    """Arrays and content of a model's folder or file."""
    predictor = getattr(predictor, "predictor", predictor)
    if isinstance(predictor, Ensemble):
        return _ensemble_data(predictor)
    if isinstance(predictor, Predictor):
        return _predictor_data(predictor)
    what = "a Predictor is saved, such as fit(...).predictor, or predictor_ of an estimator"
    raise TypeError(f"{what}, not a {type(predictor).__name__}")


def _predictor_data(predictor: Predictor) -> tuple[dict, dict]:
    arrays = {"phi": predictor.phi, "eta": predictor.eta, "alpha": predictor.alpha}
    arrays |= {f"parameter_{name}": value for name, value in predictor.parameters.items()}
    coding = predictor.coding
    more = {name: getattr(coding, name) for name in ("center", "scale", "thresholds")}
    arrays |= {name: value for name, value in more.items() if value is not None}
    content = {
        "vocabulary": list(predictor.vocabulary),
        "covariate_names": list(predictor.covariate_names),
        "intercept": bool(predictor.intercept),
        "passes": predictor.passes,
        "burn_in": predictor.burn_in,
        "restarts": predictor.restarts,
        "seed": predictor.seed,
        "source": predictor.source,
        "task": predictor.coding.task,
        "classes": encode_labels(predictor.coding.classes),
        "loss": plugin_record("losses", predictor.loss),
        "digest": predictor.digest,
    }
    if coding.order is not None:
        content["order"] = list(coding.order)
    if predictor.encoder is not None:
        parts, content["encoder"] = predictor.encoder.data()
        arrays |= {f"encoder_{name}": values for name, values in parts.items()}
    return arrays, content


def _ensemble_data(ensemble: Ensemble) -> tuple[dict, dict]:
    """The members' arrays under numbers; the vocabulary, which they share, once."""
    arrays, members = {}, []
    for number, member in enumerate(ensemble.members):
        parts, content = _predictor_data(member)
        arrays |= {f"member{number}_{name}": values for name, values in parts.items()}
        if member.vocabulary != ensemble.vocabulary:
            raise StorageError("the members of an ensemble have different vocabularies; it cannot be saved")
        del content["vocabulary"]
        members.append(content)
    if ensemble.coding.thresholds is not None:
        arrays["thresholds"] = ensemble.coding.thresholds
    return arrays, {
        "scheme": ensemble.scheme,
        "names": list(ensemble.names),
        "members": members,
        "vocabulary": list(ensemble.vocabulary),
        "task": ensemble.coding.task,
        "classes": encode_labels(ensemble.coding.classes),
        "digest": ensemble.digest,
    }


def load_model(path) -> Predictor | Ensemble:
    """The predictor of a model folder, or of a file that `plugsamp.export` wrote. Nothing in it is executed.

    Raises
    ------
    StorageError
        What `plugsamp.files.storage.read_folder` and `plugsamp.files.archive.read_archive` refuse; a loss
        that is not installed; parts that do not fit together.
    """
    model = Path(path) / "model"
    if (model / MANIFEST).is_file() and not (Path(path) / MANIFEST).exists():
        raise StorageError(f"{path} is a run folder: plugsamp.load reads it, load_model reads {model}")
    read = read_archive if Path(path).is_file() else read_folder
    return model_of(*read(path, KIND), path)


def model_of(arrays: dict, content: dict, path) -> Predictor | Ensemble:
    """The predictor of the arrays and content of a folder or file; see `load_model`."""
    try:
        predictor = (_ensemble_of if "members" in content else _predictor_of)(arrays, content, path)
        saved, found = content["digest"], predictor.digest
    except StorageError as error:
        if str(path) in str(error):
            raise
        raise StorageError(f"{path} is damaged: {error}") from None
    except KeyError as error:
        raise StorageError(f"{path} is incomplete: its manifest lacks {error}") from None
    except (TypeError, ValueError, AttributeError, IndexError) as error:
        # Whatever a foreign manifest holds, its digests right: none of its types is to be relied on.
        raise StorageError(f"{path} holds no model that can be read: {error}") from None
    if saved != found:
        raise StorageError(f"{path} is damaged: its parts do not make the model that was saved")
    return predictor


def _ensemble_of(arrays: dict, content: dict, path) -> Ensemble:
    members = []
    for number, member in enumerate(content["members"]):
        prefix = f"member{number}_"
        own = {name.removeprefix(prefix): a for name, a in arrays.items() if name.startswith(prefix)}
        members.append(_predictor_of(own, {**member, "vocabulary": content["vocabulary"]}, path))
    classes = decode_labels(content["classes"])
    chosen = _thresholds(arrays, len(classes), path)
    coding = Coding(np.empty((0, len(classes))), content["task"], classes, thresholds=chosen)
    if content["scheme"] == CHAINS and members:
        coding = members[0].coding
    return Ensemble(tuple(members), tuple(content["names"]), content["scheme"], coding)


def _predictor_of(arrays: dict, content: dict, path) -> Predictor:
    classes = decode_labels(content["classes"])
    task = content["task"]
    if task not in TASKS:
        raise StorageError(f"{path} is damaged: its task is {task!r}, not one of {', '.join(TASKS)}")
    n_outputs = arrays["eta"].shape[1]
    order = content.get("order")
    n_classes = {"none": 0, "binary": 2}.get(task, n_outputs + (order is not None))
    if len(classes) != n_classes or (task == "binary" and n_outputs != 1):
        which = f"{len(classes)} classes for {n_outputs} outputs of {task} responses"
        raise StorageError(f"{path} is damaged: {which}")
    if order is not None and (task != "multiclass" or sorted(order) != list(range(len(classes)))):
        raise StorageError(f"{path} is damaged: {order!r} is no order of {len(classes)} classes")
    require_memory(topic_table.size(arrays), path, sum(array.nbytes for array in arrays.values()))
    return Predictor(
        phi=topic_table.unpacked(arrays),
        eta=arrays["eta"],
        alpha=arrays["alpha"],
        loss=_plugin_of("losses", content["loss"], path),
        coding=Coding(
            np.empty((0, n_outputs)),
            task,
            classes,
            arrays.get("center"),
            arrays.get("scale"),
            None if order is None else tuple(order),
            _thresholds(arrays, n_outputs, path),
        ),
        parameters={
            name.removeprefix("parameter_"): array
            for name, array in arrays.items()
            if name.startswith("parameter_")
        },
        vocabulary=tuple(content["vocabulary"]),
        covariate_names=tuple(content["covariate_names"]),
        intercept=content["intercept"],
        passes=content["passes"],
        burn_in=content["burn_in"],
        restarts=content.get("restarts", 1),  # of the first models, which had one chain a document
        seed=content["seed"],
        source=content.get("source", "posterior"),
        encoder=_encoder_of(arrays, content.get("encoder"), path),
    )


def _thresholds(arrays, n_outputs: int, path) -> np.ndarray | None:
    found = arrays.get("thresholds")
    if found is not None and (found.shape != (n_outputs,) or not np.isfinite(found).all()):
        raise StorageError(f"{path} is damaged: it has no finite threshold for each of {n_outputs} labels")
    return found


def _encoder_of(arrays, content, path) -> Encoder | None:
    if content is None:
        return None
    prefix = "encoder_"
    parts = {name.removeprefix(prefix): a for name, a in arrays.items() if name.startswith(prefix)}
    try:
        return Encoder.of(parts, content)
    except (TypeError, ValueError, AttributeError) as error:
        raise StorageError(f"{path} is damaged: its covariates cannot be read ({error})") from None


def plugin_record(group: str, value) -> dict:
    """What a file says of a loss or prior: name, options, and the package that has it.

    Raises
    ------
    StorageError
    """
    plugin = registry.plugin_of(group, value)
    kind = registry.GROUPS[group]
    if plugin is None:
        raise StorageError(
            f"the {kind} {type(value).__name__} cannot be saved: no package registers it in plugsamp.{group}"
        )
    options = {}
    for name, option in value.options().items():
        plain = option.item() if isinstance(option, np.generic) else option
        plain = option.name if isinstance(option, Enum) else plain
        try:
            if not isinstance(plain, str | int | float | bool | list | tuple | None):
                raise TypeError
            json.dumps(plain, allow_nan=False)
        except (TypeError, ValueError):
            said = f"its option {name} is {option!r}, which is no plain, finite value"
            raise StorageError(f"the {kind} {plugin.name} cannot be saved: {said}") from None
        options[name] = list(plain) if isinstance(plain, tuple) else plain
    return {"name": plugin.name, "options": options, "package": plugin.package, "version": plugin.version}


def _plugin_of(group: str, record: dict, path):
    name, package = record["name"], record["package"]
    kind = registry.GROUPS[group]
    matches = [p for p in registry.plugins(group) if (p.name, p.package) == (name, package)]
    if not matches:
        raise StorageError(
            f"{path} needs the {kind} {name!r} of package {package} {record['version']}, not installed here"
        )
    if matches[0].version != record["version"]:
        log.warning(
            "%s was saved with %s %s, installed is %s", path, package, clipped(str(record["version"]), 40),
            matches[0].version,
        )  # fmt: skip
    return registry.resolve(group, str(matches[0]), **record["options"])
