"""Short explanations of many documents, which the page's script shows for a document that is looked up."""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np

from plugsamp.posterior import explanations
from plugsamp.posterior.explanations import Explanation
from plugsamp.report.documents import wrongness
from plugsamp.report.texts import number

#: Documents, and characters of their explanations, that a page holds at most.
DOCUMENTS, CHARACTERS = 2000, 260_000

#: Topics of a document and words of a topic: with up to MANY documents, and with more.
FEW, MOST, MANY = (4, 3), (3, 2), 800


def lookup_of(parts, predictor, corpora: Mapping, found, topics: list[str]) -> dict | None:
    """Return what the script knows of documents.

    Parameters
    ----------
    parts : list of Draws
        That are shown.
    predictor : Posterior or Draws
        Of these parts.
    corpora : mapping of str to Corpus
        "test", "training" or "new" documents, in the model's vocabulary; the first are looked up.
    found : Evaluation or None
        Of the first corpus: mistakes come before other documents where there are too many.
    topics : list of str
        Keys of topics, which rows refer to by their place.

    Returns
    -------
    dict or None
        "rows", a list for each document: id, predicted, true, right (1, 0, or -1 where that is not known),
        known tokens, outputs, totals, and terms. A term is the place of a topic (or -1 - that of a name), its
        share (of a covariate its value as text), the contribution to each output, and words with how often
        they occur. Shares and contributions are in thousandths; labels, outputs, names and words are places
        in "names". "total" is how many documents there are. None without responses or documents, and for
        separate models, whose explanations would take a prediction by each.
    """
    part = next(iter(corpora), None)
    if part is None or predictor.coding.task == "none" or parts[0].number is not None:
        return None
    corpus, table = corpora[part], _Table()
    rows = _chosen(corpus, found)
    place = {key: i for i, key in enumerate(topics)}
    listed, size, detail = [], 0, FEW if len(rows) <= MANY else MOST
    for d, why in zip(rows, explanations.explain(parts, predictor, corpus, rows), strict=True):
        row = _row(why, "" if part == "test" else f" ({part})", place, parts[0].n_topics, table, detail)
        size += len(json.dumps(row, separators=(",", ":")))
        if size + table.size > CHARACTERS:
            break
        listed.append((d, row))
    return {"rows": [row for _, row in sorted(listed)], "names": table.names, "total": corpus.n_documents}


class _Table:
    """Texts, each of them once."""

    def __init__(self):
        self.names: list[str] = []
        self.size = 0
        self._place: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        if text not in self._place:
            self._place[text] = len(self.names)
            self.names.append(text)
            self.size += len(text) + 3
        return self._place[text]


def _chosen(corpus, found) -> list[int]:
    """Rows of documents, mistakes first where there are too many."""
    n = corpus.n_documents
    if found is None or found.prediction.labels is None or len(found.prediction.ids) != n:
        return list(range(min(n, DOCUMENTS)))
    return np.argsort(~(wrongness(found) > 0), kind="stable")[:DOCUMENTS].tolist()


def _row(why: Explanation, suffix: str, place: Mapping[str, int], n_topics: int, table, detail) -> list:
    n_kept, n_words = detail
    block = why.blocks[0]
    own = [t for t in block.terms if t.key is not None]
    left = block.terms[len(own) :]
    if left and left[0].name in (f"{n_topics - len(own)} other topics", "the other topic"):
        own, left = [*own, left[0]], left[1:]
    kept = [t for t in own[:n_kept] if t.key is not None]
    others, n = own[len(kept) :], n_topics - len(kept)
    terms = [
        _term(place[t.key], _thousandths(t.value), t.contributions) + _words(t, table, n_words) for t in kept
    ]
    if others:
        name = f"{n} other topics" if n > 1 else "the other topic"
        sums = np.sum([t.contributions for t in others], axis=0).tolist()
        terms.append(_term(-1 - table(name), _thousandths(sum(t.value for t in others)), sums))
    for t in left:  # covariates
        value = "" if t.value is None else number(t.value)
        terms.append(_term(-1 - table(t.name), value, t.contributions))
    right = -1 if why.right is None else int(why.right)
    return [
        why.id + suffix, table(why.predicted), table(why.true), right, why.n_known,
        [table(name) for name in block.outputs], [_thousandths(f) for f in block.totals], *terms,
    ]  # fmt: skip


def _term(of: int, share, contributions) -> list:
    return [of, share, *map(_thousandths, contributions)]


def _words(term, table: _Table, n: int) -> list[int]:
    return [value for w in term.words[:n] for value in (table(w.word), w.count)]


def _thousandths(value: float) -> int:
    return round(1000 * value)
