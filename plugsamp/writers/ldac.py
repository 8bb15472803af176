"""LDA-C, ids from 0 (read by `plugsamp.readers.ldac`)."""

from __future__ import annotations

from itertools import pairwise

from plugsamp.writers import Target, Written, beside


def write(corpus, target: Target) -> Written:
    with target.open() as file:
        for words, counts in rows(corpus):
            pairs = "".join(f" {w}:{n}" for w, n in zip(words, counts, strict=True))
            file.write(f"{len(words)}{pairs}\n")
    return beside(corpus, target, {})


def rows(corpus):
    """(words, counts) of each document, as lists."""
    counts = corpus.counts()
    edges = counts.indptr.tolist()
    for first, last in pairwise(edges):
        yield counts.indices[first:last].tolist(), counts.data[first:last].tolist()
