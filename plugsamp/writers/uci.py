"""UCI bag of words, with vocabulary and labels beside it (read by `plugsamp.readers.uci`)."""

from __future__ import annotations

import numpy as np

from plugsamp.writers import Target, Written, beside


def write(corpus, target: Target) -> Written:
    counts = corpus.counts()
    with target.open() as file:
        file.write(f"{corpus.n_documents}\n{corpus.n_words}\n{counts.nnz}\n")
        triples(file, counts)
    return beside(corpus, target, {})


def triples(file, counts) -> None:
    """``document word count`` a line, ids from 1."""
    entries = counts.tocoo()
    rows = np.column_stack([entries.row + 1, entries.col + 1, entries.data])
    for first in range(0, len(rows), 1 << 20):
        part = rows[first : first + (1 << 20)].tolist()
        file.writelines(f"{d} {w} {n}\n" for d, w, n in part)
