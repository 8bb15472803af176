"""Draws as arrays and JSON: what the folder or file of a model holds."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from enum import Enum

import numpy as np

from plugsamp import registry
from plugsamp.brief import clipped
from plugsamp.covariates.encoder import Encoder
from plugsamp.files.archive import require_memory
from plugsamp.files.storage import StorageError
from plugsamp.files.stored_labels import decode_labels, encode_labels
from plugsamp.losses.coding import Coding
from plugsamp.posterior import topic_table
from plugsamp.posterior.draws import Draws
from plugsamp.posterior.parts import numbered
from plugsamp.prediction.combine import CHAINS, digest_of

log = logging.getLogger(__name__)

KIND = "model"

TASKS = ("none", "binary", "multiclass", "multilabel", "real", "count")


def check_model(model) -> None:
    """Refuse a model that `plugsamp.save_model` could not write, before it is fitted (StorageError)."""
    plugin_record("losses", model.loss)
    plugin_record("priors", model.weights)


def model_data(parts: Sequence[Draws], combine: str, coding: Coding) -> tuple[dict, dict]:
    """Return arrays and content of a model's folder or file: of several parts those of each by number.

    Raises
    ------
    StorageError
        The loss is registered by no package, one of its options is no plain value, or the parts have
        different vocabularies.
    """
    if combine == "mean" and len(parts) == 1:
        return _draws_data(parts[0])
    arrays, members = {}, []
    for number, part in enumerate(parts):
        own, content = _draws_data(part)
        arrays |= {f"member{number}_{name}": values for name, values in own.items()}
        if part.vocabulary != parts[0].vocabulary:
            raise StorageError("the parts of a posterior have different vocabularies; it cannot be saved")
        del content["vocabulary"]
        members.append(content)
    if combine != "mean" and coding.thresholds is not None:
        arrays["thresholds"] = coding.thresholds
    return arrays, {
        "scheme": CHAINS if combine == "mean" else combine,
        "names": [part.name for part in parts],
        "members": members,
        "vocabulary": list(parts[0].vocabulary),
        "task": coding.task,
        "classes": encode_labels(coding.classes),
        "digest": digest_of([part.digest for part in parts], combine),
    }


def _draws_data(draws: Draws) -> tuple[dict, dict]:
    arrays = {"phi": draws.phi, "eta": draws.eta, "alpha": draws.alpha}
    for kind, values in (("parameter", draws.parameters), ("variance", draws.variances)):
        arrays |= {f"{kind}_{name}": value for name, value in values.items()}
    coding = draws.coding
    more = {name: getattr(coding, name) for name in ("center", "scale", "thresholds")}
    arrays |= {name: value for name, value in more.items() if value is not None}
    content = {
        "vocabulary": list(draws.vocabulary),
        "covariate_names": list(draws.covariate_names),
        "intercept": bool(draws.intercept),
        "passes": draws.passes,
        "burn_in": draws.burn_in,
        "restarts": draws.restarts,
        "seed": draws.seed,
        "source": draws.source,
        "task": coding.task,
        "classes": encode_labels(coding.classes),
        "loss": plugin_record("losses", draws.loss),
        "digest": draws.digest,
    }
    if coding.order is not None:
        content["order"] = list(coding.order)
    if draws.encoder is not None:
        parts, content["encoder"] = draws.encoder.data()
        arrays |= {f"encoder_{name}": values for name, values in parts.items()}
    return arrays, content


def model_of(arrays: dict, content: dict, path) -> tuple[tuple[Draws, ...], str, Coding]:
    """Return parts, `combine` and the coding of all classes from what `model_data` has returned.

    Raises
    ------
    StorageError
        A loss that is not installed, or parts that do not fit together.
    """
    try:
        found = _model_of(arrays, content, path)
        parts, combine, _ = found
        fits = content["digest"] == digest_of([part.digest for part in parts], combine)
    except StorageError as error:
        if str(path) in str(error):
            raise
        raise StorageError(f"{path} is damaged: {error}") from None
    except KeyError as error:
        raise StorageError(f"{path} is incomplete: its manifest lacks {error}") from None
    except (TypeError, ValueError, AttributeError, IndexError) as error:
        # Whatever a foreign manifest holds, its digests right: none of its types is to be relied on.
        raise StorageError(f"{path} holds no model that can be read: {error}") from None
    if not fits:
        raise StorageError(f"{path} is damaged: its parts do not make the model that was saved")
    return found


def _model_of(arrays: dict, content: dict, path) -> tuple[tuple[Draws, ...], str, Coding]:
    if "members" not in content:
        draws = _draws_of(arrays, content, path)
        return numbered([draws]), "mean", draws.coding
    parts = []
    for number, member in enumerate(content["members"]):
        own = _named(arrays, f"member{number}_")
        parts.append(_draws_of(own, {**member, "vocabulary": content["vocabulary"]}, path))
    classes = decode_labels(content["classes"])
    chosen = _thresholds(arrays, len(classes), path)
    coding = Coding(np.empty((0, len(classes))), content["task"], classes, thresholds=chosen)
    combine = content["scheme"]
    if combine == CHAINS:
        combine, coding = "mean", parts[0].coding
    return numbered(parts, combine, coding, content["names"]), combine, coding


def _draws_of(arrays: dict, content: dict, path) -> Draws:
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
    return Draws(
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
        parameters=_named(arrays, "parameter_"),
        variances=_named(arrays, "variance_"),
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


def _named(arrays, prefix: str) -> dict[str, np.ndarray]:
    """The arrays whose names begin with the prefix, without it."""
    return {n.removeprefix(prefix): array for n, array in arrays.items() if n.startswith(prefix)}


def _thresholds(arrays, n_outputs: int, path) -> np.ndarray | None:
    found = arrays.get("thresholds")
    if found is not None and (found.shape != (n_outputs,) or not np.isfinite(found).all()):
        raise StorageError(f"{path} is damaged: it has no finite threshold for each of {n_outputs} labels")
    return found


def _encoder_of(arrays, content, path) -> Encoder | None:
    if content is None:
        return None
    parts = _named(arrays, "encoder_")
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
