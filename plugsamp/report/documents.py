"""The documents that the page explains: which, the terms of f, the words tinted by what they speak for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from plugsamp.brief import shown
from plugsamp.errors import InputError
from plugsamp.losses.coding import is_missing
from plugsamp.posterior import explanations
from plugsamp.posterior.explanations import Explanation
from plugsamp.report.svg import shade

#: Documents chosen where nobody asks for some, mistakes among them; documents that may be asked for.
DOCUMENTS, MISTAKES, ASKED = 12, 9, 200

#: Words of a text, and of a document without text, that are shown.
READ, LISTED = 300, 50

#: Mean characters of a field that is taken for the text of documents.
LONG = 40

#: A word with less than this part of the largest effect has no tint.
FAINT = 0.08


@dataclass(frozen=True)
class Piece:
    """Draws of a text: what stands there, its tint, and for whom it speaks."""

    text: str
    shade: str = ""
    tip: str = ""


@dataclass(frozen=True)
class Shown:
    """A document on the page: its explanation and its words."""

    why: Explanation
    pieces: list[Piece]
    is_text: bool
    pro: str = ""
    contra: str = ""


def documents_of(parts, predictor, corpora: Mapping, chosen: Sequence[str], found, texts) -> list[Shown]:
    """Return the documents that are explained.

    Parameters
    ----------
    parts : list of Draws
        That are shown.
    predictor : Posterior or Draws
        Of these parts.
    corpora : mapping of str to Corpus
        "test", "training" or "new" documents, in the model's vocabulary.
    chosen : sequence of str
        Ids; by default some mistakes of the first corpus, and some that are right.
    found : Evaluation or None
        Of the first corpus.
    texts : mapping of str to str, or function from ids to one
        By id what the documents say, where that is known.
    """
    if chosen:
        wanted: dict[str, list[int]] = {}
        for part, d in find(chosen, corpora):
            wanted.setdefault(part, []).append(d)
    else:
        part = next(iter(corpora), None)
        if part is None or predictor.coding.task == "none":
            return []
        wanted = {part: choose(corpora[part], predictor.coding, found)}
    result = []
    if callable(texts):
        texts = texts([corpora[part].ids[d] for part, rows in wanted.items() for d in rows])
    for part, rows in wanted.items():
        if not rows:
            continue
        corpus, prediction, places = explanations.predicted(parts, predictor, corpora[part], rows)
        ids = {corpus.ids[d] for d in places}
        own = _texts(corpora[part], rows) | {key: value for key, value in texts.items() if key in ids}
        explained = explanations.explain(parts, predictor, corpora[part], rows)
        for d, why in zip(places, explained, strict=True):
            label = why if part == "test" else replace(why, id=f"{why.id} ({part})")
            result.append(_shown(label, parts, corpus, prediction, d, own.get(corpus.ids[d])))
    return result


def choose(corpus, coding, found) -> list[int]:
    """Return documents worth a look: the clearest mistakes first, then some that are right."""
    n = corpus.n_documents
    if found is None or len(found.prediction.ids) != n or found.prediction.labels is None:
        return list(range(min(DOCUMENTS - MISTAKES, n)))
    wrong, known = wrongness(found), np.asarray(found.prediction.n_known)
    order = np.argsort(-np.where(known > 0, wrong, 0.0), kind="stable")
    mistakes = [d for d in order.tolist() if wrong[d] > 0 and known[d] > 0][:MISTAKES]
    right = [d for d in range(n) if not wrong[d] > 0 and known[d] > 0][: DOCUMENTS - MISTAKES]
    empty = np.flatnonzero(known == 0)[:1].tolist()
    return mistakes + right + empty


def wrongness(found) -> np.ndarray:
    """Return how wrong each prediction is, float64 (D,): 0 where it is right, or nothing is known."""
    prediction = found.prediction
    coding, n = prediction.coding, len(prediction.ids)
    if found.truth is None:
        return np.zeros(n)
    truth, labels = np.asarray(found.truth), np.asarray(prediction.labels)
    missing = is_missing(truth)
    if coding.task in ("binary", "multiclass"):
        place = {str(c): i for i, c in enumerate(coding.classes)}
        scores = prediction.probabilities if coding.order is not None else prediction.f
        scores = np.hstack([-scores, scores]) if scores.shape[1] == 1 else scores
        gaps = np.zeros(n)
        for d, (t, p) in enumerate(zip(truth.reshape(n).tolist(), labels.tolist(), strict=True)):
            if not missing.reshape(n)[d] and str(t) != str(p):
                gap = scores[d, place[str(p)]] - scores[d, place[str(t)]] if str(t) in place else 0.0
                gaps[d] = max(gap, 1e-12)
        return gaps
    truth = np.where(missing, 0, truth).astype(float).reshape(n, -1)
    labels = np.where(missing.reshape(n, -1), truth, labels.astype(float).reshape(n, -1))
    scale = 1.0 if coding.scale is None else coding.scale
    return (
        np.abs(truth - labels).sum(axis=1)
        if coding.task == "multilabel"
        else (np.abs(truth - labels) / scale).sum(axis=1)
    )


def find(ids: Sequence[str], corpora: Mapping) -> list[tuple[str, int]]:
    """Return (part, row) of documents by id.

    Raises
    ------
    InputError
        An id that no part has, or more ids than a page should hold.
    """
    if len(ids) > ASKED:
        raise InputError(f"{len(ids)} documents are too many for a page; {ASKED} at most")
    place = {id_: (name, d) for name, corpus in reversed(corpora.items()) for d, id_ in enumerate(corpus.ids)}
    found = []
    for id_ in ids:
        if id_ not in place:
            example = ", ".join(sorted(place)[:3])
            raise InputError(
                f"there is no document {id_!r} in the corpus that is read, which corpus=FORMAT "
                f"corpus.path=FILE names; ids are such as {example}"
            )
        found.append(place[id_])
    return list(dict.fromkeys(found))


def _texts(corpus, rows: Sequence[int]) -> dict[str, str]:
    """What documents say, from a field of long texts, if the corpus has one."""
    for name in sorted(corpus.fields, key=lambda name: name != "text"):
        values = [corpus.fields[name][d] for d in rows]
        texts = [v for v in values if isinstance(v, str)]
        if texts and (name == "text" or sum(map(len, texts)) > LONG * len(values)):
            return {corpus.ids[d]: v for d, v in zip(rows, values, strict=True) if isinstance(v, str)}
    return {}


def _shown(why: Explanation, parts, corpus, prediction, d: int, text: str | None) -> Shown:
    effects, pro, contra = _effects(why, parts, corpus, prediction, d)
    largest = max((abs(v) for _, v, _ in effects), default=0.0)

    def piece(word: str, value: float, written: str) -> Piece:
        if abs(value) < FAINT * largest or not largest:
            return Piece(written)
        verb = "for" if value > 0 or contra != pro else "against"
        tip = f"speaks {verb} {pro if value > 0 else contra}"
        return Piece(written, shade(value, largest), tip)

    if text:
        known = {word: value for word, value, _ in effects}
        pieces = []
        for n, match in enumerate(re.finditer(r"(\W*)([\w'’-]+)?", text)):
            if n >= READ:
                pieces.append(Piece(" …"))
                break
            between, word = match[1], match[2] or ""
            value = next((known[w] for w in (word, word.lower()) if w in known), None)
            pieces.append(Piece(_printable(between)))
            pieces.append(Piece(_printable(word)) if value is None else piece(word, value, _printable(word)))
        return Shown(why, [p for p in pieces if p.text], True, pro, contra)
    effects.sort(key=lambda found: -abs(found[1]) * found[2])
    pieces = [piece(w, v, shown(w, 40) + (f" ×{n}" if n > 1 else "")) for w, v, n in effects[:LISTED]]
    return Shown(why, pieces, False, pro, contra)


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)


def _effects(
    why: Explanation, parts, corpus, prediction, d: int
) -> tuple[list[tuple[str, float, int]], str, str]:
    """What each word of a document adds to f for the predicted class against another (word, effect, times).

    The effect of a token is sum_k p(k | w, d) eta_k / N_d: these are the terms of f, divided among words.
    """
    part = parts[0]
    if part.number is not None:
        if not why.blocks:
            return [], "", ""
        part = next((p for p in parts if shown(p.name) == why.blocks[0].model), part)
        prediction = part.predict(corpus)
    words, times, of_topics = explanations.word_parts(part, corpus, prediction, d)
    vocabulary = part.vocabulary
    if not part.outputs or not len(words):
        return [(vocabulary[w], 0.0, int(n)) for w, n in zip(words, times, strict=True)], "", ""
    eta = part.user_coding.by_class(part.weights[:, :, : part.n_topics].mean(axis=0))
    names = [shown(name) for name in part.user_coding.spoken_for]
    if part.user_coding.task == "binary":
        classes = [shown(name) for name in part.user_coding.classes]
        pro, contra = classes[::-1] if why.predicted != classes[0] else classes
        weights = eta[0] if pro == classes[1] else -eta[0]
    elif part.user_coding.task == "multiclass":
        blocked = [o for block in why.blocks for o in block.outputs]
        sides = [n for n in dict.fromkeys([why.predicted, why.true, *blocked]) if n in names]
        pro, contra = (sides * 2)[:2]
        weights = eta[names.index(pro)] - (eta[names.index(contra)] if contra != pro else 0)
    else:
        pro = contra = why.blocks[0].outputs[0] if why.blocks and why.blocks[0].outputs else names[0]
        weights = eta[names.index(pro)] if pro in names else eta[0]
    effect = weights @ of_topics / max(int(times.sum()), 1)
    return (
        [(vocabulary[w], float(e), int(n)) for w, e, n in zip(words, effect, times, strict=True)],
        pro,
        contra,
    )
