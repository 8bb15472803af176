"""What notebooks show of a corpus."""

from __future__ import annotations

from collections import Counter

import numpy as np

from plugsamp.brief import clipped, one_line
from plugsamp.checks import listed
from plugsamp.documents.columns import is_missing
from plugsamp.files.tables import Table

#: Labels, names and columns that a line lists; characters of one of them.
LISTED, LONG = 8, 24


def corpus_table(corpus) -> Table:
    """Return what a corpus holds, a row each: documents, words, tokens, responses, fields, covariates."""
    lengths = corpus.lengths
    found = {
        "documents": _documents(corpus.n_documents, int((lengths == 0).sum())),
        "words": f"{corpus.n_words:,}",
        "tokens": f"{corpus.n_tokens:,} (median {np.median(lengths):,.0f} a document)",
    }
    if corpus.n_unknown.any():
        found["unknown tokens"] = f"{int(corpus.n_unknown.sum()):,}, left out"
    if corpus.responses is not None:
        found["responses"] = _responses(corpus.responses, corpus.response_names)
    if corpus.fields:
        found["fields"] = _names(corpus.fields)
    if corpus.covariates is not None:
        found["covariates"] = _names(corpus.covariate_names)
    if corpus.weights is not None:
        found["weights"] = f"from {corpus.weights.min():.3g} to {corpus.weights.max():.3g}"
    return Table({"corpus": list(found), "": list(found.values())})


def _documents(n: int, empty: int) -> str:
    return f"{n:,}" + (f", {empty:,} of them without a word" if empty else "")


def _responses(responses, names) -> str:
    missing = is_missing(responses)
    if responses.ndim == 2:
        absent = int(missing.all(axis=1).sum())
        text = f"{responses.shape[1]} columns: {_names(names or range(responses.shape[1]))}"
    else:
        absent = int(missing.sum())
        values = responses[~missing].tolist()
        counts = Counter(map(str, values))
        if any(isinstance(v, float) and v % 1 for v in values):
            text = f"real numbers from {min(values):.3g} to {max(values):.3g}"
        else:
            more = f" and {len(counts) - LISTED:,} more" if len(counts) > LISTED else ""
            shown = ", ".join(f"{_short(v)} {n:,}" for v, n in counts.most_common(LISTED))
            text = f"{len(counts):,} values: {shown}{more}"
    return text + (f"; {absent:,} missing" if absent else "")


def _names(names) -> str:
    return listed([_short(name) for name in names], LISTED)


def _short(name) -> str:
    return clipped(one_line(str(name)), LONG)
