"""The documents that the page explains: some in full, with their words tinted, and many in short."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Mapping, Sequence

import numpy as np

from plugsamp.brief import shown
from plugsamp.errors import InputError
from plugsamp.posterior import explanations
from plugsamp.posterior.explanations import Explanation
from plugsamp.report.svg import shade
from plugsamp.report.texts import number

#: Documents explained in full where nobody asks for some, mistakes among them; those that may be asked for.
DOCUMENTS, MISTAKES, ASKED = 12, 9, 200

#: Documents explained in short, by so many topics with so many words.
SHORT, FEW = 2000, (4, 3)

#: Words of a text, and of a document without text, that are shown.
READ, LISTED = 300, 50

#: Mean characters of a field that is taken for the text of documents.
LONG = 40

#: A word with less than this part of the largest effect has no tint.
FAINT = 0.08


def documents_of(posterior, parts, corpora: Mapping, chosen: Sequence[str], found, texts) -> dict | None:
    """Return the documents that the page's script explains.

    Parameters
    ----------
    posterior : Posterior
    parts : list of Draws
        That are shown.
    corpora : mapping of str to Corpus
        "test", "training" or "new" documents, in the model's vocabulary.
    chosen : sequence of str
        Ids; by default some mistakes of the first corpus, and some that are right.
    found : Evaluation or None
        Of the first corpus.
    texts : mapping of str to str, or function from ids to one
        By id what the documents say, where that is known.

    Returns
    -------
    dict or None
        "full", a list of rows (`_row`) followed by what `_tinted` returns; "short", rows as JSON, compressed
        and in base64; "n", how many both are, of "total" in the first corpus. None without documents; without
        responses only those that are asked for.
    """
    first = next(iter(corpora), None)
    if first is None or (posterior.coding.task == "none" and not chosen):
        return None
    wanted: dict[str, list[int]] = {}
    for part, d in find(chosen, corpora):
        wanted.setdefault(part, []).append(d)
    if not chosen:
        wanted = {first: choose(corpora[first], posterior.coding, found)}
    if callable(texts):
        texts = texts([corpora[part].ids[d] for part, rows in wanted.items() for d in rows])
    places = {part.key(k): i for i, (part, k) in enumerate((p, k) for p in parts for k in range(p.n_topics))}
    full = []
    for part, rows in wanted.items():
        documents, prediction, at = explanations.predicted(posterior, corpora[part], rows)
        own = _texts(corpora[part], rows) | dict(texts)
        for d, why in zip(at, explanations.explain(parts, posterior, corpora[part], rows), strict=True):
            tinted = _tinted(why, parts, documents, prediction, d, own.get(documents.ids[d]))
            full.append([*_row(why, part, places, _sure(prediction, d)), *tinted])
    short, corpus = [], corpora[first]
    if posterior.coding.task != "none":
        rows = [d for d in _wrong_first(corpus, found) if d not in set(wanted.get(first, ()))]
        rows = sorted(rows[: SHORT - len(wanted.get(first, ()))])
        explained = explanations.explain(parts, posterior, corpus, rows, FEW)
        sure = [None] * len(rows)
        if found is not None and len(found.prediction.ids) == corpus.n_documents:
            sure = [_sure(found.prediction, d) for d in rows]
        short = [_row(why, first, places, p) for why, p in zip(explained, sure, strict=True)]
    return {"full": full, "short": _packed(short), "n": len(full) + len(short), "total": corpus.n_documents}


def _packed(rows: list) -> str:
    text = json.dumps(rows, separators=(",", ":"), ensure_ascii=False)
    return base64.b64encode(zlib.compress(text.encode("utf-8", "replace"), 9)).decode()


def choose(corpus, coding, found) -> list[int]:
    """Return documents worth a look: the clearest mistakes first, then some that are right."""
    n = corpus.n_documents
    if found is None or len(found.prediction.ids) != n or found.prediction.labels is None:
        return list(range(min(DOCUMENTS - MISTAKES, n)))
    wrong, known = found.wrongness(), np.asarray(found.prediction.n_known)
    order = np.argsort(-np.where(known > 0, wrong, 0.0), kind="stable")
    mistakes = [d for d in order.tolist() if wrong[d] > 0 and known[d] > 0][:MISTAKES]
    right = [d for d in range(n) if not wrong[d] > 0 and known[d] > 0][: DOCUMENTS - MISTAKES]
    empty = np.flatnonzero(known == 0)[:1].tolist()
    return mistakes + right + empty


def _wrong_first(corpus, found) -> list[int]:
    if found is None or found.prediction.labels is None or len(found.prediction.ids) != corpus.n_documents:
        return list(range(corpus.n_documents))
    return np.argsort(~(found.wrongness() > 0), kind="stable").tolist()


def find(ids: Sequence[str], corpora: Mapping) -> list[tuple[str, int]]:
    """Return (part, row) of documents by id.

    Raises
    ------
    InputError
        An id that no part has, or more ids than a page should hold.
    """
    if len(ids) > ASKED:
        raise InputError(f"{len(ids)} documents are too many for a page; {ASKED} at most")
    if not len(ids):
        return []
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


def _sure(prediction, d: int) -> int | None:
    """Return the probability of the predicted class in thousandths; None where there is no such."""
    p = prediction.probabilities
    if p is None or prediction.coding.task not in ("binary", "multiclass"):
        return None
    return round(1000 * float(p[d].max()))


def _row(why: Explanation, part: str, places: Mapping[str, int], sure: int | None) -> list:
    """Return the row of a document that the page's script shows.

    Its id, prediction, truth, right (1, 0, or -1 where not known), tokens known and not, note, blocks, and
    the probability of the prediction in thousandths.

    A block is the model's name, outputs, totals, and terms. A term is the place of a topic, or a name; its
    share, or the value of a covariate as text; what it adds to each output; its words and how often they
    occur. Shares and what is added are in thousandths.
    """
    blocks = [
        [b.model, b.outputs, _thousandths(b.totals), *(_term(t, places) for t in b.terms)] for b in why.blocks
    ]
    id_ = why.id if part == "test" else f"{why.id} ({part})"
    right = -1 if why.right is None else int(why.right)
    return [id_, why.predicted, why.true, right, why.n_known, why.n_unknown, why.outputs_note, blocks, sure]


def _term(t, places: Mapping[str, int]) -> list:
    is_share = t.key is not None or t.name.endswith((" other topics", "the other topic"))
    value = round(1000 * t.value) if is_share else "" if t.value is None else number(t.value)
    words = [one for w in t.words for one in (w.word, w.count)]
    return [t.name if t.key is None else places[t.key], value, _thousandths(t.contributions), *words]


def _thousandths(values) -> list[int]:
    return [round(1000 * v) for v in values]


def _tinted(why: Explanation, parts, documents, prediction, d: int, text: str | None) -> list:
    """Return for whom words speak and against whom, whether they are a text, and pieces of it with tints."""
    effects, pro, contra = _effects(why, parts, documents, prediction, d)
    largest = max((abs(v) for _, v, _ in effects), default=0.0)

    def piece(written: str, value: float) -> list:
        return [written] if abs(value) < FAINT * largest or not largest else [written, shade(value, largest)]

    if not text:
        effects.sort(key=lambda found: -abs(found[1]) * found[2])
        pieces = [piece(shown(w, 40) + (f" ×{n}" if n > 1 else ""), v) for w, v, n in effects[:LISTED]]
        return [pro, contra, 0, pieces]
    known = {word: value for word, value, _ in effects}
    pieces = []
    for n, match in enumerate(re.finditer(r"(\W*)([\w'’-]+)?", text)):
        if n >= READ:
            pieces.append([" …"])
            break
        between, word = match[1], match[2] or ""
        value = next((known[w] for w in (word, word.lower()) if w in known), 0.0)
        for one in ([_printable(between)], piece(_printable(word), value)):
            if one[0] and len(one) == 1 and pieces and len(pieces[-1]) == 1:
                pieces[-1][0] += one[0]
            elif one[0]:
                pieces.append(one)
    return [pro, contra, 1, pieces]


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)


def _effects(
    why: Explanation, parts, documents, prediction, d: int
) -> tuple[list[tuple[str, float, int]], str, str]:
    """What each word of a document adds to f for the predicted class against another (word, effect, times).

    The effect of a token is sum_k p(k | w, d) eta_k / N_d: these are the terms of f, divided among words.
    """
    part, block = parts[0], why.blocks[0] if why.blocks else None
    if part.number is not None:
        if block is None:
            return [], "", ""
        part = next(p for p in parts if shown(p.name) == block.model)
    theta = prediction.theta[[d], part.columns]
    words, times, of_topics = next(explanations.word_parts(part, documents, [d], theta))
    vocabulary = part.vocabulary
    if not part.outputs or not len(words):
        return [(vocabulary[w], 0.0, int(n)) for w, n in zip(words, times, strict=True)], "", ""
    coding = part.user_coding
    eta = coding.by_class(part.weights[:, :, : part.n_topics].mean(axis=0))
    names = [shown(name) for name in coding.spoken_for]
    if coding.task == "binary":
        classes = [shown(name) for name in coding.classes]
        pro, contra = classes[::-1] if why.predicted != classes[0] else classes
        weights = eta[0] if pro == classes[1] else -eta[0]
    elif coding.task == "multiclass":
        sides = [n for n in dict.fromkeys([why.predicted, why.true, *block.outputs]) if n in names]
        pro, contra = (sides * 2)[:2]
        weights = eta[names.index(pro)] - (eta[names.index(contra)] if contra != pro else 0)
    else:
        pro = contra = block.outputs[0] if block and block.outputs else names[0]
        weights = eta[names.index(pro)] if pro in names else eta[0]
    effect = of_topics @ weights / max(int(times.sum()), 1)
    found = zip(words, effect, times, strict=True)
    return [(vocabulary[w], float(e), int(n)) for w, e, n in found], pro, contra
