"""What each kept draw says of the training documents' responses: groups for `az.loo` and `az.plot_ppc`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import logsumexp

from plugsamp.losses.coding import Coding, is_missing
from plugsamp.random.draws import Purpose, stream

#: The stream of the responses that are drawn again, among those of a predictor's seed.
REPLICATED = 3


def responses_again(posterior, output: str) -> tuple[dict, np.ndarray] | None:
    """Variables by group, and the documents that they are of; None where the loss is no likelihood.

    Parameters
    ----------
    posterior : Posterior
        With a corpus, and with kept draws that belong to known sweeps.
    output : str
        The dimension of several responses.

    Returns
    -------
    groups : dict
        ``log_likelihood``: log p(y | draw), of a class its log probability, of a real response its log
        density in the units of the responses as they were given. ``posterior_predictive``: responses drawn
        again, one a draw. ``observed_data``: the responses, of one label a document the numbers of the
        classes. All with the variable ``y``, (chain, draw, document) or (chain, draw, document, output).
    documents : int (n,)
        Those all of whose responses are known.

    Notes
    -----
    The topics of a document are those that its words alone suggest, and p(y | draw) is a mean over draws of
    them. So leaving out a document's response, as `az.loo` does, leaves its words in.
    """
    corpus = posterior.corpus
    missing = is_missing(corpus.responses).reshape(corpus.n_documents, -1).any(axis=1)
    documents = np.flatnonzero(~missing)
    known, found = corpus.take(documents), {"log_likelihood": [], "posterior_predictive": []}
    coding = posterior.parts[0].coding
    y = _coded(known.responses, coding)
    for number, part in enumerate(posterior.parts):
        encoded = known if part.encoder is None else part.encoder.transform(known)
        _, _, mixture = part.folded(encoded)
        if not mixture.likelihood:
            return None
        rng = stream(part.seed, Purpose.SPLIT, REPLICATED, number)
        shape = (len(part.eta), *y.shape)
        log_p, again = np.empty(shape), np.empty(shape)
        for rows, s, bound, f in _parts(mixture):
            log_p[s, rows] = _log_p(bound, f, y[rows], coding)
            drawn = _drawn(bound, f[0], coding, rng)
            if drawn is None:
                again = None
                break
            again[s, rows] = drawn
        found["log_likelihood"].append(log_p)
        found["posterior_predictive"].append(again)
    if any(again is None for again in found["posterior_predictive"]):
        del found["posterior_predictive"]
    real = coding.task in ("real", "count")
    dims = ("document",) if y.ndim == 1 else ("document", output)
    kind = float if real else np.int64
    groups = {
        "log_likelihood": (("chain", "draw", *dims), np.array(found["log_likelihood"]), _attributes(coding)),
        "observed_data": (dims, (coding.restore(y) if real else y).astype(kind), _attributes(coding)),
    }
    if "posterior_predictive" in found:
        again = np.array(found["posterior_predictive"]).astype(kind)
        groups["posterior_predictive"] = (("chain", "draw", *dims), again, _attributes(coding))
    return {group: {"y": variable} for group, variable in groups.items()}, documents


def _parts(mixture) -> Iterator[tuple]:
    """The documents, the draw, its loss and linear predictors (components, documents, C), one by one."""
    for rows, parts in mixture.mixtures():
        for s, (bound, f) in enumerate(parts):
            yield rows, s, bound, f


def _coded(responses, coding: Coding) -> np.ndarray:
    """Responses in the model's units (D, C), labels as 0 and 1 (D, C), classes by number (D,)."""
    if coding.task in ("binary", "multiclass"):
        number = {label: i for i, label in enumerate(coding.classes.tolist())}
        return np.array([number[label] for label in responses.reshape(-1).tolist()], dtype=np.int64)
    y = responses.reshape(len(responses), -1).astype(float)
    if coding.task == "multilabel" or coding.center is None:
        return y
    return (y - coding.center) / coding.scale


def _log_p(bound, f, y, coding: Coding) -> np.ndarray:
    """log p(y) given a draw, the mean over its components: (D,) of classes, (D, C) otherwise."""
    with np.errstate(divide="ignore"):
        if coding.task in ("real", "count"):
            logs = np.array([bound.log_psi(y, one) for one in f])
            logs = logs - (0.0 if coding.scale is None else np.log(coding.scale))
        else:
            p = np.array([bound.probabilities(one, coding) for one in f])
            if coding.task == "multilabel":
                logs = np.log(np.where(y > 0, p, 1.0 - p))
            else:
                logs = np.log(p[:, np.arange(len(y)), y])
    return logsumexp(logs, axis=0) - np.log(len(logs))


def _drawn(bound, f, coding: Coding, rng) -> np.ndarray | None:
    """Responses of one component drawn, in the units as they were given; None where the loss draws none."""
    if coding.task in ("real", "count"):
        drawn = bound.simulate(f, rng)
        return None if drawn is None else coding.restore(drawn)
    p = bound.probabilities(f, coding)
    if coding.task == "multilabel":
        return rng.random(p.shape) < p
    return np.minimum((np.cumsum(p, axis=1) < rng.random((len(p), 1))).sum(axis=1), p.shape[1] - 1)


def _attributes(coding: Coding) -> dict:
    """The unit of a variable, in words and numbers."""
    if coding.task in ("binary", "multiclass"):
        return {"unit": "number of the class", "classes": [str(label) for label in coding.classes]}
    if coding.task == "multilabel":
        return {"unit": "1 where the document has the label"}
    found = {"unit": "as the responses were given"}
    if coding.center is not None:
        found |= {"center": coding.center, "scale": coding.scale}
    return found
