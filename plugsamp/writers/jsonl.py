"""JSON lines of counts: keeps everything but covariates (read by `plugsamp.readers.jsonl`)."""

from __future__ import annotations

import json

import numpy as np

from plugsamp.writers import Target, Written, unused
from plugsamp.writers.ldac import rows

KEEPS = ("fields", "weights")


def write(corpus, target: Target) -> Written:
    options: dict[str, object] = {"min_df": 1}
    responses = list(_responses(corpus, options))
    fields = {name: values.tolist() for name, values in corpus.fields.items()}
    if fields:
        options["fields"] = "[" + ",".join(fields) + "]"
    if corpus.weights is not None:
        options["weight"] = "weight"
    with target.open() as file:
        for i, (words, counts) in enumerate(rows(corpus)):
            document = {"id": corpus.ids[i], **responses[i]}
            if corpus.weights is not None:
                document["weight"] = float(corpus.weights[i])
            for name, values in fields.items():
                document.setdefault(name, None if values[i] != values[i] else values[i])
            document["counts"] = {corpus.vocabulary[w]: n for w, n in zip(words, counts, strict=True)}
            file.write(json.dumps(document, allow_nan=False) + "\n")
    return Written(options=options, left_out=unused(corpus))


def _responses(corpus, options):
    """The response fields of each document."""
    values = corpus.responses
    if values is None:
        options["response"] = "none"
        return ({} for _ in range(corpus.n_documents))
    missing = values != values if values.dtype.kind == "f" else np.equal(values, None)
    if np.any(missing):
        options["missing_labels"] = "true"
    if values.ndim == 1:
        name = "y" if values.dtype.kind == "f" else "label"
        return (
            {name: None if lost else _text(v, name)} for v, lost in zip(values.tolist(), missing, strict=True)
        )
    names = corpus.response_names
    if np.isin(values[~np.isnan(values.astype(float))], (0, 1)).all():
        options["response"] = "labels"
        return (
            {"labels": None if lost.any() else [names[c] for c in np.flatnonzero(row)]}
            for row, lost in zip(values, missing, strict=True)
        )
    options["response"], options["y"] = "y", "[" + ",".join(names) + "]"
    return (
        {n: None if v != v else v for n, v in zip(names, row, strict=True)}
        for row in values.astype(float).tolist()
    )


def _text(value, name):
    return value if name == "y" or isinstance(value, str) else str(value)
