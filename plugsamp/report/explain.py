"""Which documents a page explains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from plugsamp.errors import InputError
from plugsamp.posterior.explanations import Explanation
from plugsamp.report.folder import Table

#: Documents chosen where nobody asks for some, mistakes among them; documents that may be asked for.
DOCUMENTS, MISTAKES, ASKED = 12, 9, 200


def choose(corpus, coding, table: Table | None) -> list[int]:
    """Documents worth a look: the clearest mistakes first, then some that are right."""
    n = corpus.n_documents
    if table is None or len(table.rows) != n or coding.task == "none":
        return list(range(min(DOCUMENTS - MISTAKES, n)))
    wrong = _wrongness(table, coding)
    known = np.array([int(v) for v in table.column("n_known")])
    order = np.argsort(-np.where(known > 0, wrong, 0.0), kind="stable")
    mistakes = [d for d in order.tolist() if wrong[d] > 0 and known[d] > 0][:MISTAKES]
    right = [d for d in range(n) if not wrong[d] > 0 and known[d] > 0][: DOCUMENTS - MISTAKES]
    empty = np.flatnonzero(known == 0)[:1].tolist()
    return mistakes + right + empty


def _wrongness(table: Table, coding) -> np.ndarray:
    """How wrong each prediction is, float64 (D,): 0 where it is right, or nothing is known."""
    names, n = coding.output_names, len(table.rows)
    scores = np.array([table.numbers(f"score_{name}") for name in names]).T
    if coding.task in ("binary", "multiclass"):
        if "true" not in table.columns:
            return np.zeros(n)
        true, predicted = table.column("true"), table.column("predicted")
        place = {str(c): i for i, c in enumerate(coding.classes)}
        if scores.shape[1] == 1:
            scores = np.hstack([-scores, scores])
        elif coding.order is not None:  # outputs are no scores of classes
            scores = np.array([table.numbers(f"probability_{c}") for c in coding.classes]).T
        gaps = np.zeros(n)
        for d, (t, p) in enumerate(zip(true, predicted, strict=True)):
            if t not in ("", p):
                gap = scores[d, place[p]] - scores[d, place[t]] if t in place else 0.0
                gaps[d] = max(gap, 1e-12)
        return gaps
    several = len(names) > 1
    if (f"true_{names[0]}" if several else "true") not in table.columns:
        return np.zeros(n)
    true, predicted = (
        np.array([table.numbers(f"{what}_{name}" if several else what) for name in names]).T
        for what in ("true", "predicted")
    )
    scale = 1.0 if coding.scale is None else coding.scale
    return np.nansum(np.abs(true - predicted) / scale, axis=1)


def find(ids: Sequence[str], parts: dict) -> list[tuple[str, int]]:
    """(part, row) of documents by id.

    Raises
    ------
    InputError
        An id that no part has, or more ids than a page should hold.
    """
    if len(ids) > ASKED:
        raise InputError(f"{len(ids)} documents are too many for a page; {ASKED} at most")
    place = {id_: (name, d) for name, corpus in reversed(parts.items()) for d, id_ in enumerate(corpus.ids)}
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


def in_part(found: list[Explanation], part: str) -> list[Explanation]:
    """The same, their ids saying of what part they are."""
    return [replace(one, id=f"{one.id} ({part})") for one in found]
