"""Prediction from the parts of a posterior: one chain, several, or binary models of several classes.

One class against the rest, or one against one, is the other way to several classes beside the multi-task
model (Zheng et al. 2015, section 4.1): every task has topics, weights and a chain of its own, so tasks run in
parallel and share nothing. Chains of the same model differ by their seeds alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from scipy.special import softmax

from plugsamp.corpus import Corpus
from plugsamp.losses.coding import Coding, code_classes
from plugsamp.posterior.draws import Draws, decisions
from plugsamp.prediction.matching import warn_of_strangers
from plugsamp.prediction.predictive import Joined
from plugsamp.prediction.results import Prediction

SCHEMES = ("multitask", "ovr", "ovo")

#: What saved models and digests call ``combine="mean"``.
CHAINS = "chains"


def tasks(corpus: Corpus, scheme: str) -> tuple[list[tuple], Coding]:
    """Return the binary tasks of a corpus, and the coding of all its classes.

    Parameters
    ----------
    corpus : Corpus
        With one label a document of two classes or more, or a table of 0/1 (several labels).
    scheme : {"ovr", "ovo"}
        "ovr": every class against all others (of several labels: every label). "ovo": every pair of
        classes, on their documents alone.

    Returns
    -------
    list of (str, int array or None, object array)
        Of each task its name, the rows of the corpus that it uses (None: all), and their responses, True,
        False or None.
    Coding

    Raises
    ------
    ValueError
    """
    if corpus.responses is None:
        raise ValueError(f"multiclass={scheme} needs labels, and the corpus has none")
    coding = code_classes(corpus.responses, corpus.response_names, one_each=True)
    found: list[tuple] = []
    if scheme == "ovr":
        for c, name in enumerate(coding.classes):
            responses = _binary(coding.y[:, c])
            if len({v for v in responses.tolist() if v is not None}) < 2:
                raise ValueError(
                    f"multiclass=ovr: all documents have the same value of the label {str(name)!r}"
                )
            found.append((str(name), None, responses))
        return found, coding
    if coding.task == "multilabel":
        raise ValueError("multiclass=ovo needs one label a document; several labels take ovr or multitask")
    for a, b in combinations(range(coding.n_outputs), 2):
        rows = np.flatnonzero((coding.y[:, a] > 0) | (coding.y[:, b] > 0))
        found.append((f"{coding.classes[a]} | {coding.classes[b]}", rows, _binary(coding.y[rows, b])))
    return found, coding


def _binary(y) -> np.ndarray:
    """Booleans, None where missing."""
    values = np.empty(len(y), dtype=object)
    values[:] = [None if np.isnan(v) else bool(v > 0) for v in y]
    return values


def digest_of(digests: Sequence[str], combine: str) -> str:
    """Return one digest of those of several parts, in hex; of one chain it is its own."""
    if combine == "mean" and len(digests) == 1:
        return digests[0]
    h = hashlib.sha256(f"plugsamp ensemble 1 {CHAINS if combine == 'mean' else combine}".encode())
    for digest in digests:
        h.update(digest.encode())
    return h.hexdigest()


def predict(parts: Sequence[Draws], combine: str, coding: Coding, corpus: Corpus) -> Prediction:
    """Predict documents from the parts of a posterior.

    Parameters
    ----------
    parts : sequence of Draws
    combine : {"mean", "ovr", "ovo"}
    coding : Coding
        Of all classes.
    corpus : Corpus

    Returns
    -------
    Prediction
        ``f`` (D, C) holds a score a class: of "ovr" the linear predictor of its model; of "ovo" the number of
        pairs that it wins, ties broken by the sum of its linear predictors. Labels are those of the largest
        score, of "ovr" of the largest probability where the loss has some. Of several chains f is the mean;
        probabilities, labels and intervals are those of the mixture over all their draws. ``zbar`` and
        ``theta`` are those of the parts side by side.
    """
    if combine == "mean" and len(parts) == 1:
        return parts[0].predict(corpus)
    found = [p.decided(*p.folded(documents), combine != "mean") for p, documents in _encoded(parts, corpus)]
    warn_of_strangers(found[0].n_known, found[0].n_unknown, corpus.vocabulary, parts[0].vocabulary)
    side_by_side = {name: np.hstack([getattr(one, name) for one in found]) for name in ("zbar", "theta")}
    return replace(found[0], **side_by_side, **_COMBINED[combine](found, coding))


def _encoded(parts: Iterable[Draws], corpus: Corpus) -> Iterator[tuple[Draws, Corpus]]:
    """Every part with the documents as it wants them; equal encoders make them once."""
    made: dict[str, Corpus] = {}
    for part in parts:
        encoder = part.encoder
        key = "" if encoder is None else encoder.digest
        if key not in made:
            made[key] = corpus if encoder is None else encoder.transform(corpus)
        yield part, made[key]


def _mean(found: list[Prediction], coding: Coding) -> dict:
    """What chains of one model say together."""
    if found[0].predictive is None:
        return {}
    f = np.mean([one.f for one in found], axis=0)
    predictive = Joined([one.predictive for one in found])
    probabilities = predictive.probabilities()
    return {
        "f": f, "labels": decisions(predictive, f, probabilities), "probabilities": probabilities,
        "calibrated": predictive.calibrated, "predictive": predictive,
        "likelihood": probabilities is not None and predictive.likelihood,
    }  # fmt: skip


def _one_against_the_rest(found: list[Prediction], coding: Coding) -> dict:
    f, probabilities = np.hstack([_signed(one) for one in found]), _normalised(found, coding)
    if probabilities is None:
        return _classes(coding, f, coding.decide(f))
    return _classes(coding, f, coding.choose(probabilities)) | {
        "probabilities": probabilities,
        "calibrated": coding.one_model and all(one.calibrated for one in found),
        "likelihood": all(one.likelihood for one in found),
    }


def _one_against_one(found: list[Prediction], coding: Coding) -> dict:
    f = votes(np.hstack([_signed(one) for one in found]), len(coding.classes))
    return _classes(coding, f, coding.decide(f))


def _classes(coding: Coding, f, labels) -> dict:
    nothing = {"probabilities": None, "calibrated": None, "predictive": None, "likelihood": False}
    return nothing | {"coding": coding, "f": f, "labels": labels}


_COMBINED = {"mean": _mean, "ovr": _one_against_the_rest, "ovo": _one_against_one}


def _normalised(found: list[Prediction], coding: Coding) -> np.ndarray | None:
    """P(positive) of every part, brought to sum 1 where a document has one class."""
    if any(one.probabilities is None for one in found):
        return None
    p = np.column_stack([one.probabilities[:, -1] for one in found])
    if coding.task == "multilabel":
        return p
    total = p.sum(axis=1, keepdims=True)
    # Where every class is out of sight, 1/(1 + exp(-f)) is exp(f), whose ratios are still to be had.
    far = softmax(np.hstack([_signed(one) for one in found]), axis=1)
    return np.where(total > 1e-290, p / np.maximum(total, 1e-290), far)


def _signed(one: Prediction) -> np.ndarray:
    """The linear predictor for the positive side, (D, 1); losses with an output a class have two."""
    return one.f if one.f.shape[1] == 1 else one.f[:, 1:] - one.f[:, :1]


def votes(margins, n_classes: int) -> np.ndarray:
    """Scores (D, n_classes) of one-vs-one margins (D, pairs), positive for the later class of a pair.

    Pairs won, plus the sum of margins squeezed into (-1/3, 1/3), which settles ties only.
    """
    won, sums = np.zeros((len(margins), n_classes)), np.zeros((len(margins), n_classes))
    for p, (a, b) in enumerate(combinations(range(n_classes), 2)):
        later = margins[:, p] > 0
        won[:, b] += later
        won[:, a] += ~later
        sums[:, b] += margins[:, p]
        sums[:, a] -= margins[:, p]
    return won + sums / (3.0 * (np.abs(sums) + 1.0))
