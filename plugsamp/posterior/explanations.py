"""Why a document was predicted as it was: f = sum of z̄_k η_k + x·η_x + intercept, term by term."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from plugsamp.brief import cut, shown
from plugsamp.checks import listed
from plugsamp.errors import InputError, InputWarning
from plugsamp.losses.coding import is_missing
from plugsamp.posterior.draws import Draws

#: Terms and words of an explanation, outputs compared.
TERMS, WORDS, OUTPUTS = 6, 6, 3

#: Documents that are explained where none are named.
EXPLAINED = 5

#: Documents whose words are weighed at once.
CHUNK = 256

#: Topics with less than this part of the largest are among the others.
NOTHING = 1e-3


class Word(NamedTuple):
    """A word of the document, how often it is there, and the part of it that is the topic's."""

    word: str
    count: int
    part: float


class Term(NamedTuple):
    """A topic or covariate: its share or value, its terms z̄_k η_ck of each output, its words."""

    key: str | None
    name: str
    value: float | None
    contributions: list[float]
    words: Sequence[Word] = ()


@dataclass(frozen=True)
class Block:
    """The terms of some outputs of one model; `totals` are their f."""

    model: str
    outputs: list[str]
    terms: list[Term]
    totals: list[float]


@dataclass(frozen=True)
class Explanation:
    id: str
    true: str
    predicted: str
    right: bool | None
    n_known: int
    n_unknown: int
    blocks: list[Block]
    outputs_note: str = ""


def explain(
    members: list[Draws], model, corpus, rows: Sequence[int], most: tuple[int, int] = (TERMS, WORDS)
) -> list[Explanation]:
    """Return the explanations of some documents.

    Parameters
    ----------
    members : list of Draws
        The part that stands for all, or separate models.
    model : Posterior
    corpus : Corpus
        In the model's vocabulary.
    rows : sequence of int
    most : (int, int)
        Topics at most, and words of each.
    """
    if not len(rows):
        return []
    documents, prediction, places = predicted(model, corpus, rows)
    coding = prediction.coding
    compared = [_outputs(coding, documents, prediction, d) for d in places]
    blocks: list[dict] = [_models(members, model, coding, outputs) for outputs, _ in compared]
    asked: dict[int, list[int]] = {}
    for i, models in enumerate(blocks):
        for m in models:
            asked.setdefault(m, []).append(i)
    for m, own in asked.items():
        wanted = [(places[i], blocks[i][m]) for i in own]
        for i, block in zip(own, _blocks(members[m], wanted, documents, prediction, most), strict=True):
            blocks[i][m] = block
    return [
        Explanation(
            id=shown(documents.ids[d]),
            true=response_of(documents, d),
            predicted=_predicted(coding, prediction, d),
            right=_right(coding, documents, prediction, d),
            n_known=int(prediction.n_known[d]),
            n_unknown=int(prediction.n_unknown[d]),
            blocks=list(own.values()),
            outputs_note=note,
        )
        for d, (_, note), own in zip(places, compared, blocks, strict=True)
    ]


def predicted(model, corpus, rows: Sequence[int]) -> tuple:
    """Return documents, their prediction, and the places of `rows` in both.

    The prediction of the whole corpus where the model has kept it, or else that of these rows alone.
    """
    known = model.kept_prediction(corpus)
    if known is not None:
        return corpus, known, list(rows)
    documents = corpus.take(list(rows))
    return documents, model.predict(documents), list(range(len(rows)))


def _outputs(coding, documents, prediction, d: int) -> tuple[list[int], str]:
    """Outputs worth comparing: of classes the predicted, the true and the next; of labels those meant."""
    f = prediction.f[d]
    if coding.task in ("none", "binary"):
        return list(range(len(f))), ""
    order = np.argsort(-f, kind="stable").tolist()
    if coding.task in ("real", "count"):
        return list(range(min(OUTPUTS, len(f)))), cut(min(OUTPUTS, len(f)), len(f), "responses")
    truth = documents.responses
    if coding.order is not None:  # classes one after the other, the last without an output
        place = {coding.classes[c]: min(p, len(f) - 1) for p, c in enumerate(coding.order)}
        last = place[prediction.labels[d]]
        true = place.get(None if truth is None else _label(truth[d]), last)
        both = {last, true} if true != last else {max(last - 1, 0), last}
        return sorted(both), of_sticks(coding)
    if coding.task == "multiclass":
        label = prediction.labels[d]
        first = [c for c, name in enumerate(coding.classes) if name == label]
        true = None if truth is None else _label(truth[d])
        known = [c for c, name in enumerate(coding.classes) if name == true]
        return list(dict.fromkeys([*first, *known, *order]))[:2], ""
    positive = [c for c in order if prediction.labels[d][c]]
    missed = []
    if truth is not None:
        row = truth[d]
        missed = [c for c in order if c not in positive and not is_missing(row)[c] and row[c]]
    meant = positive + missed
    found = list(dict.fromkeys([*positive[:2], *missed[:1], *meant, *order[:1]]))[:OUTPUTS]
    return found, cut(min(len(found), len(meant)), len(meant), "predicted and true labels")


def of_sticks(coding) -> str:
    """What f means where classes are decided one after the other; nothing for other codings."""
    if coding.order is None or coding.task != "multiclass":
        return ""
    names = [shown(coding.classes[c]) for c in coding.order]
    return f"f of a class is its log odds against those after it ({', '.join(names)}); {names[-1]} has none."


def _label(value):
    return np.atleast_1d(value).tolist()[0]


def _models(members, model, coding, chosen: list[int]) -> dict[int, list[int]]:
    """The models behind outputs, with the outputs of each that are shown."""
    if members[0].number is None:
        return {0: chosen}
    if model.combine == "ovr":
        return {c: [0] for c in chosen}
    # the pair of the two classes compared
    a, b = sorted((chosen * 2)[:2])
    n, number = len(coding.classes), 0
    for i in range(n):
        for j in range(i + 1, n):
            if (i, j) == (a, b):
                return {number: [0]}
            number += 1
    return {}


def _blocks(member: Draws, wanted: list[tuple], documents, prediction, most) -> list[Block]:
    """Return the terms of one model for some documents, given as (row, outputs)."""
    rows = [d for d, _ in wanted]
    topics, theta = prediction.zbar[rows, member.columns], prediction.theta[rows, member.columns]
    eta, names, x = np.zeros((0, member.n_topics)), [], None
    if member.outputs:  # a document without known words has the prior's mean
        topics = np.where(prediction.n_known[rows][:, None] > 0, topics, theta)
        eta, names = member.weights.mean(axis=0), list(member.covariate_names)
        x = member.covariates_of(documents.take(rows)) if names else None
    found = []
    for first in range(0, len(rows), CHUNK):
        chunk = slice(first, first + CHUNK)
        counted = word_parts(member, documents, rows[chunk], theta[chunk])
        for i, one in zip(range(first, len(rows)), counted, strict=False):
            values = np.zeros(0) if x is None else x[[i]]
            values = np.asarray(values.todense() if sp.issparse(values) else values).ravel()
            if member.intercept:
                values = np.append(values, 1.0)
            found.append(_block(member, wanted[i][1], eta, topics[i], (values, names), one, most))
    return found


def _block(member: Draws, outputs, eta, topics, covariates, counted, most) -> Block:
    x, names = covariates
    n_topics, labels = member.n_topics, [shown(member.outputs[c]) for c in outputs]
    parts = eta[outputs] * np.concatenate([topics, x])
    size = np.abs(parts[:, :n_topics]).sum(axis=0) if len(parts) else topics
    order = np.argsort(-size, kind="stable")[: most[0]]
    best = order[size[order] > NOTHING * size[order[0]]]
    words = _words(member.vocabulary, counted, best, most[1])
    terms = [
        Term(member.key(k), str(k), float(topics[k]), parts[:, k].tolist(), own)
        for k, own in zip(best.tolist(), words, strict=True)
    ]
    left = np.ones(n_topics, dtype=bool)
    left[best] = False
    if (n_left := n_topics - len(best)) and topics[left].sum() > 1e-9:
        what = f"{n_left} other topics" if n_left > 1 else "the other topic"
        sums = parts[:, :n_topics][:, left].sum(axis=1).tolist()
        terms.append(Term(None, what, float(topics[left].sum()), sums))
    terms += _covariates(parts[:, n_topics:], x, [*names, *["intercept"] * member.intercept])
    return Block(shown(member.name), labels, terms, parts.sum(axis=1).tolist())


def _covariates(parts, x, names: list[str]) -> list[Term]:
    size = np.abs(parts).sum(axis=0)
    there = [j for j in np.argsort(-size, kind="stable").tolist() if x[j] != 0]
    best, left = there[:TERMS], there[TERMS:]
    terms = [Term(None, shown(names[j]), float(x[j]), parts[:, j].tolist()) for j in best]
    if left:
        terms.append(Term(None, f"{len(left)} other covariates", None, parts[:, left].sum(axis=1).tolist()))
    return terms


def word_parts(member: Draws, documents, rows: Sequence[int], theta) -> Iterator[tuple]:
    """Yield of each document its words (W,), how often each is there, and p(k | w, d), float64 (W, K).

    p(k | w, d) is proportional to phi_kw theta_dk at the means.

    Parameters
    ----------
    member : Draws
    documents : Corpus
        In the member's vocabulary.
    rows : sequence of int
    theta : float64 (rows, K)
    """
    if not len(rows):
        return
    ends = [(documents.offsets[d], documents.offsets[d + 1]) for d in rows]
    tokens = np.concatenate([documents.words[first:last] for first, last in ends])
    known, places = np.unique(tokens, return_inverse=True)
    phi = np.ascontiguousarray(member.phi[:, known].T, dtype=float)  # a gather for all documents
    sizes = np.cumsum([last - first for first, last in ends])[:-1]
    for own, shares in zip(np.split(places, sizes), theta, strict=True):
        words, n = np.unique(own, return_counts=True)
        joint = phi[words] * shares
        yield known[words], n, joint / np.maximum(joint.sum(axis=1, keepdims=True), 1e-300)


def _words(vocabulary, counted, topics, n_words: int) -> list[list[Word]]:
    """Return for each topic the words that put it into a document."""
    words, n, parts = counted
    parts = parts[:, topics]
    mass = n[:, None] * parts
    order = np.argsort(-mass, axis=0, kind="stable")[:n_words]
    return [
        [
            Word(shown(vocabulary[words[i]], 30), int(n[i]), float(parts[i, k]))
            for i in best
            if mass[i, k] > 0.05
        ]
        for k, best in enumerate(order.T.tolist())
    ]


def _predicted(coding, prediction, d: int) -> str:
    if prediction.labels is None:
        return ""
    label = prediction.labels[d]
    if coding.task in ("binary", "multiclass"):
        return shown(label)
    if coding.task == "multilabel":
        found = [shown(coding.output_names[c]) for c in np.flatnonzero(label)]
        return listed(found, 4) or "no label"
    values = np.atleast_1d(label)
    if len(values) == 1:
        return f"{values[0]:.4g}"
    found = [f"{shown(n)} {v:.4g}" for n, v in zip(coding.output_names, values, strict=True)]
    return listed(found, 4)


def _right(coding, documents, prediction, d: int) -> bool | None:
    if documents.responses is None or coding.task not in ("binary", "multiclass", "multilabel"):
        return None
    truth = np.atleast_1d(documents.responses[d])
    if is_missing(truth).any():
        return None
    if coding.task == "multilabel":
        return bool((prediction.labels[d].astype(float) == truth.astype(float)).all())
    return _label(truth) == prediction.labels[d]


def response_of(corpus, d: int, limit: int = 4) -> str:
    """The response of a document as text: its label, its labels, its numbers; "" where it is missing."""
    if corpus.responses is None:
        return ""
    row = np.atleast_1d(corpus.responses[d])
    if corpus.responses.ndim == 1 or len(row) == 1:
        value = row.tolist()[0]
        return "" if value is None or value != value else shown(value)
    names = corpus.response_names or [str(c) for c in range(len(row))]
    values = [(n, v) for n, v in zip(names, row.tolist(), strict=True) if v is not None and v == v]
    if all(v in (0, 1) for _, v in values):
        found = [shown(n) for n, v in values if v == 1]
    else:
        found = [f"{shown(n)} {v:g}" for n, v in values]
    return listed(found, limit)


def rows_of(posterior, corpus, chosen) -> list[int]:
    """Return row numbers of documents given by id (text) or row (integer), by default of mistakes."""
    if chosen is None:
        prediction = posterior.predict(corpus)
        wrong = np.zeros(corpus.n_documents, dtype=bool)
        truth, labels = corpus.responses, prediction.labels
        if (
            truth is not None
            and labels is not None
            and np.shape(truth) == np.shape(labels)
            and np.ndim(truth) == 1
        ):
            missing = is_missing(truth)
            if prediction.coding.task in ("binary", "multiclass"):
                wrong = ~missing & np.array([str(t) != str(p) for t, p in zip(truth, labels, strict=True)])
        rows = np.flatnonzero(wrong & (prediction.n_known > 0))
        rows = rows if len(rows) else np.arange(corpus.n_documents)
        return rows[:EXPLAINED].tolist()
    chosen = [chosen] if isinstance(chosen, str | int | np.integer) else list(chosen)
    place = {one: d for d, one in enumerate(corpus.ids)}
    found = []
    for one in chosen:
        if isinstance(one, int | np.integer) and 0 <= one < corpus.n_documents:
            found.append(int(one))
            if place.get(str(one), one) != one:
                warnings.warn(
                    f"{one} is row {one}, the document with id {corpus.ids[one]!r}; the document with id "
                    f"'{one}' is documents=['{one}']",
                    InputWarning,
                    stacklevel=4,
                )
        elif isinstance(one, str) and one in place:
            found.append(place[one])
        else:
            ids = ", ".join(repr(one) for one in corpus.ids[:3])
            text = isinstance(one, str)
            quoted = f". Ids are text: write '{one}'" if not text and str(one) in place else ""
            raise InputError(
                f"there is no document {repr(one) if text else one} in the corpus: documents are given "
                f"by id, such as {ids}, or by row number from 0 to {corpus.n_documents - 1}{quoted}"
            )
    return found
