"""Matrix Market coordinate files, rows documents (read by `plugsamp.readers.matrix_market`)."""

from __future__ import annotations

from plugsamp.writers import Target, Written, beside
from plugsamp.writers.uci import triples


def write(corpus, target: Target) -> Written:
    counts = corpus.counts()
    with target.open() as file:
        file.write("%%MatrixMarket matrix coordinate integer general\n")
        file.write(f"{corpus.n_documents} {corpus.n_words} {counts.nnz}\n")
        triples(file, counts)
    return beside(corpus, target, {})
