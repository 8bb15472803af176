"""SVMlight, ids from 1 (read by `plugsamp.readers.svmlight`)."""

from __future__ import annotations

import re

import numpy as np

from plugsamp.readers.numbers import COUNT
from plugsamp.writers import Target, Written, beside, labels_of
from plugsamp.writers.ldac import rows

#: Labels that can stand in a line; all others are numbered and named in a file beside it.
PLAIN = re.compile(r"[^\s:#,]+")


def write(corpus, target: Target) -> Written:
    if corpus.responses is not None and corpus.responses.ndim > 1:
        labels, options = _several(corpus, target)
    else:
        labels, options = _single(corpus, target)
    with target.open() as file:
        for label, (words, counts) in zip(labels, rows(corpus), strict=True):
            pairs = "".join(f" {w + 1}:{n}" for w, n in zip(words, counts, strict=True))
            file.write(f"{label}{pairs}\n")
    written = beside(corpus.with_responses(None), target, options)
    return written


def _single(corpus, target):
    labels = labels_of(corpus)
    if labels is None:
        return ["0"] * corpus.n_documents, {"response": "none"}
    text = corpus.responses.dtype.kind not in "biuf"
    # text that looks like numbers would come back as numbers
    if not text or (all(map(PLAIN.fullmatch, labels)) and not all(map(COUNT.fullmatch, labels))):
        return labels, {"response": "y"} if corpus.responses.dtype.kind == "f" else {}
    names = sorted(set(labels))
    path = target.names(names, "label", target.beside("labels"))
    index = {name: str(i) for i, name in enumerate(names)}
    return [index[label] for label in labels], {"labels_path": str(path)}


def _several(corpus, target):
    table = corpus.responses
    if not np.isin(table, (0, 1)).all():
        labels_of(corpus)  # several real responses, or missing ones: refused
    path = target.names(corpus.response_names, "label", target.beside("labels"))
    labels = [",".join(map(str, np.flatnonzero(row).tolist())) for row in table]
    return labels, {"response": "labels", "labels_path": str(path)}
