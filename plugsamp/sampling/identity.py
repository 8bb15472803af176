"""Which run a checkpoint belongs to, so that no other goes on with it.

An identity is a flat mapping of what a chain is a function of: corpus, model, kernel, seed and so on, as
plain values; long arrays as their digests. Backend, number of sweeps and output are not in it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import logging
from collections.abc import Mapping
from enum import Enum
from importlib.metadata import version

import numpy as np

from plugsamp import registry
from plugsamp.files.storage import StorageError
from plugsamp.options import Configured, shown
from plugsamp.sampling import class_names
from plugsamp.system import dispatch

log = logging.getLogger(__name__)

#: Longer lists stand as their digests.
LONG = 100

#: What of the surroundings the last bits depend on.
PACKAGES = ("plugsamp", "numpy", "scipy")


def run_identity(corpus, model, kernel, **more) -> dict:
    """What a chain or a fit is a function of; `more` are the seed and whatever else it takes."""
    found = {"corpus": corpus.digest(), "kernel": registry.resolve("kernels", kernel)}
    for name in (
        "n_topics", "alpha", "beta", "loss", "weights", "topics", "learn_alpha", "learn_beta", "intercept",
        "class_weight", "standardise",
    ):  # fmt: skip
        found[name] = getattr(model, name)
    return plain(found | more)


def chain_identity(chain) -> dict:
    """The identity of a chain."""
    phases = chain.phases
    return run_identity(
        chain.corpus, chain.model, chain.kernel, seed=chain.seed, weight_update=phases.method,
        weight_passes=phases.passes,
    )  # fmt: skip


def plain(value):
    """A value as JSON has it, equal for equal values: objects by name and options, arrays by digest."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value if not isinstance(value, float) or np.isfinite(value) else str(value)
    if isinstance(value, Enum):
        return f"{plain(type(value))}.{value.name}"
    if isinstance(value, np.ndarray):
        if value.ndim == 0:
            return plain(value.item())
        if value.dtype.kind in "biuf":
            digest = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
            return f"{value.dtype} {value.shape} {digest[:16]}"
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {_key(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        found = [plain(v) for v in value]
        if len(found) <= LONG:
            return found
        return f"{len(found)} values {hashlib.sha256(json.dumps(found).encode()).hexdigest()[:16]}"
    if isinstance(value, set | frozenset):
        return sorted((plain(v) for v in value), key=str)
    if isinstance(value, type):
        return class_names.name_of(value)
    if dataclasses.is_dataclass(value):
        parts = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        return {"class": plain(type(value)), **plain(parts)}
    if isinstance(value, Configured) or callable(getattr(value, "options", None)):
        return {"class": plain(type(value)), **plain(value.options())}
    return plain(type(value))


def _key(key) -> str:
    return key if isinstance(key, str) else repr(key.item() if isinstance(key, np.generic) else key)


def differences(saved: Mapping, now: Mapping) -> list[str]:
    """What differs between two identities, in words."""
    found = []
    for name in [*now, *(n for n in saved if n not in now)]:
        was, is_ = saved.get(name), now.get(name)
        if was == is_:
            continue
        if isinstance(was, Mapping) and isinstance(is_, Mapping) and was.get("class") == is_.get("class"):
            found += [f"{name}.{part}" for part in differences(was, is_)]
        else:
            found.append(f"{name} was {_words(was)}, and is {_words(is_)}")
    return found


def _words(value) -> str:
    if isinstance(value, Mapping) and "class" in value:
        options = ", ".join(f"{k}={shown(v)}" for k, v in value.items() if k != "class")
        return f"{class_names.short(value['class'])}({options})"
    return shown(value)


def check_same(saved: Mapping, now: Mapping, path) -> None:
    """Refuse a checkpoint of another run (StorageError)."""
    saved = class_names.present(saved)
    found = differences(saved, json.loads(json.dumps(now)))
    if any(line.startswith("corpus was ") for line in found):
        raise StorageError(
            f"{path} belongs to another corpus: its digest was {saved.get('corpus')}, and is {now['corpus']}"
        )
    if found:
        raise StorageError(f"{path} belongs to another run: {'; '.join(found)}")


def surroundings(chain) -> dict:
    """Versions, instruction set and plugins that a chain is made with."""
    used = [
        ("losses", chain.model.loss), ("priors", chain.model.weights), ("topics", chain.model.topics),
        ("kernels", chain.kernel),
    ]  # fmt: skip
    found = [registry.plugin_of(group, value) for group, value in used]
    for proposal in getattr(chain.kernel, "proposals", ()):
        name = proposal.get("name") if isinstance(proposal, Mapping) else proposal
        if isinstance(name, str):
            found.append(registry.origin("proposals", name))
    return {
        "versions": {name: version(name) for name in PACKAGES},
        "instruction_set": dispatch.chosen(),
        "plugins": [
            {"group": p.group, "name": p.name, "package": p.package, "version": p.version}
            for p in found
            if p is not None
        ],
    }


def backend_record(chain) -> dict:
    """Where a chain runs, and what its draws depend on of that: None, or the groups of documents."""
    division = chain.phases.division
    if division is not None:
        depends = f"{len(division)} groups of documents by {division.scheme}"
    else:
        depends = chain.backend.approximate(chain.kernel)
    return {"name": plain(chain.backend), "matters": depends}


def announce_backend(saved: Mapping, chain) -> None:
    """Warn where a chain goes on elsewhere and its draws depend on that (AD-LDA's on its workers)."""
    saved, now = class_names.present(saved), json.loads(json.dumps(backend_record(chain)))
    if saved.get("matters") != now["matters"]:
        log.warning(
            "the backend was %s (%s), and is %s (%s): draws depend on it with this kernel, so the run goes "
            "on from the same state, not as it would have",
            _words(saved.get("name")), saved.get("matters") or "exact", _words(now["name"]),
            now["matters"] or "exact",
        )  # fmt: skip


def check_plugins(saved: Mapping, path) -> list[str]:
    """Refuse a checkpoint whose plugins are not installed; those of other versions are returned, in words.

    Raises
    ------
    StorageError
    """
    changed = []
    for record in saved.get("plugins", ()):
        installed = [
            p for p in registry.plugins(record["group"])
            if (p.name, p.package) == (record["name"], record["package"])
        ]  # fmt: skip
        if not installed:
            raise StorageError(
                f"{path} needs the {registry.GROUPS[record['group']]} {record['name']!r} of package "
                f"{record['package']} {record['version']}, not installed here"
            )
        if installed[0].version != record["version"] and record["package"] != "plugsamp":
            changed.append(f"{record['package']} {record['version']} (here {installed[0].version})")
    return changed


def check_surroundings(saved: Mapping, path) -> None:
    """Refuse a checkpoint whose plugins are not installed; warn where the last bits may differ.

    Raises
    ------
    StorageError
    """
    changed = check_plugins(saved, path)
    for name, was in saved.get("versions", {}).items():
        if version(name) != was:
            changed.append(f"{name} {was} (here {version(name)})")
    if saved.get("instruction_set") != dispatch.chosen():
        changed.append(f"instruction set {saved.get('instruction_set')} (here {dispatch.chosen()})")
    if changed:
        log.warning(
            "%s was written with %s: the run goes on, though not to the bit as it would have",
            path, ", ".join(dict.fromkeys(changed)),
        )  # fmt: skip
