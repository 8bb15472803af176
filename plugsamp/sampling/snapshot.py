"""What a checkpoint holds of a chain: arrays, and a little JSON; and a chain by itself as a folder.

Nothing that can be made again is in it. Of a chain: z, eta, the shrinkage, the loss's parameters, the priors
alpha and beta, which words a topic leaves out, and the sweep. Counts follow from z; Φ is drawn again from
the stream that drew it, and (kappa, omega) are drawn by the next sweep before they are used.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from plugsamp.files.storage import StorageError, read_folder, write_folder
from plugsamp.sampling import class_names
from plugsamp.sampling.identity import (
    announce_backend,
    backend_record,
    chain_identity,
    check_same,
    check_surroundings,
    plain,
    surroundings,
)

#: What the folder of a saved chain holds.
KIND = "chain"


def capture_chain(chain) -> tuple[dict[str, np.ndarray], dict]:
    """The arrays of a chain (its own, not copies) and what goes with them into the manifest."""
    state = chain.state
    arrays = {"z": state.z, "eta": state.eta, "alpha": state.alpha_prior, "beta": state.beta_prior}
    content = {"sweep": chain.sweep, "backend": backend_record(chain), "kernel": kernel_record(chain)}
    for kind, values in _named(chain):
        content[kind] = sorted(values)
        arrays |= {f"{kind}{i}": np.asarray(values[name]) for i, name in enumerate(content[kind])}
    if state.masked:
        arrays["included"] = np.packbits(state.included())
    return arrays, content


def kernel_record(chain):
    """The kernel of a chain as `kernel_again` reads it."""
    return plain(chain.kernel)


def kernel_again(content, kernel, model, corpus, n_outputs: int, parallel: bool):
    """The kernel of the captured chain: what a kernel stands for (auto) may depend on where a chain runs.

    With the captured `content` given, it is what a `Chain` takes as ``choose``.

    Raises
    ------
    StorageError
        It stands for neither on this backend nor on any other: it did in another version.
    """
    saved = class_names.present(content.get("kernel"))  # checkpoints of older versions have none
    chosen = [kernel.chosen(model, corpus, n_outputs, where) for where in (parallel, not parallel)]
    if saved is None:
        return chosen[0]
    for one in chosen:
        if json.loads(json.dumps(plain(one))) == saved:
            return one
    raise StorageError(f"the run's kernel was {saved}, and {kernel!r} stands for {chosen[0]!r} now")


def restore_chain(chain, arrays, content) -> None:
    """Put a chain of the same corpus, model, kernel and seed where the captured one was.

    Raises
    ------
    StorageError
        The arrays are not of such a chain.
    """
    state, sweep = chain.state, int(content["sweep"])
    z, eta = _fitting(arrays, "z", state.z), _fitting(arrays, "eta", state.eta)
    if z.size and z.max() >= state.n_topics:
        raise StorageError(f"topic {z.max()} of a token is not below {state.n_topics}")
    alpha, beta = _fitting(arrays, "alpha", state.alpha_prior), _fitting(arrays, "beta", state.beta_prior)
    found = []
    for kind, values in _named(chain):
        if content[kind] != sorted(values):
            raise StorageError(f"{kind} {content[kind]} is not {sorted(values)}")
        found += [
            (values, name, _fitting(arrays, f"{kind}{i}", np.asarray(values[name])))
            for i, name in enumerate(content[kind])
        ]
    if state.masked:
        shape = (state.n_words, state.n_topics)
        packed = arrays["included"]
        if packed.dtype != np.uint8 or packed.shape != (-(-shape[0] * shape[1] // 8),):
            raise StorageError(f"included is {packed.dtype} {packed.shape}")
        state.phi[:, : state.n_topics] = np.unpackbits(packed, count=shape[0] * shape[1]).reshape(shape)
    for values, name, array in found:
        if isinstance(values[name], np.ndarray):
            values[name][...] = array  # in place: others hold the arrays
        else:
            values[name] = array[()]
    announce_backend(content["backend"], chain)
    state.set_priors(alpha, beta)
    chain.sweep = sweep
    state.z[:], state.eta[:] = z, eta
    state.renewed()
    chain.refresh(inclusion=False)


def save_chain(chain, path, overwrite: bool = False) -> Path:
    """Write what `load_chain` needs to put another chain where this one is."""
    arrays, content = capture_chain(chain)
    content |= {"identity": chain_identity(chain), "made_with": surroundings(chain)}
    return write_folder(path, KIND, arrays, content, overwrite)


def load_chain(chain, path) -> None:
    """Put a chain where the saved one was.

    Raises
    ------
    StorageError
    """
    arrays, content = read_folder(path, KIND)
    try:
        check_surroundings(content["made_with"], path)
        check_same(content["identity"], chain_identity(chain), path)
        restore_chain(chain, arrays, content)
    except KeyError as error:
        raise StorageError(f"{path} is incomplete: it lacks {error}") from None


def _named(chain):
    return (("shrinkage", chain.prior_state), ("parameter", chain.parameters))


def _fitting(arrays, name: str, like: np.ndarray) -> np.ndarray:
    array = arrays[name]
    if array.shape != like.shape or array.dtype != like.dtype:
        raise StorageError(f"{name} is {array.dtype} {array.shape}, not {like.dtype} {like.shape}")
    return array
