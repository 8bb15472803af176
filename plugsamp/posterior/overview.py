"""What notebooks show of a corpus and of predictions."""

from __future__ import annotations

from collections import Counter

import numpy as np

from plugsamp.brief import clipped, one_line
from plugsamp.checks import listed
from plugsamp.losses.coding import is_missing
from plugsamp.posterior.tables import Table

#: Labels, names and columns that a line lists; characters of one of them.
LISTED, LONG = 8, 24

#: Documents whose predictions a notebook shows.
ROWS = 12


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


def prediction_table(prediction, topics: bool = True) -> Table:
    """Return predictions with the columns of predictions.csv, a row each document.

    Parameters
    ----------
    prediction : plugsamp.prediction.results.Prediction
    topics : bool
        Whether there is a column for each topic's proportion (theta).

    Returns
    -------
    Table
        ``id``, ``predicted`` (of several responses ``predicted_NAME``), ``probability_CLASS`` where the loss
        has probabilities, ``score_OUTPUT`` (f), ``topic_K``, ``n_known`` and ``n_unknown``.
    """
    coding = prediction.coding
    columns: dict = {"id": list(prediction.ids)}
    if prediction.labels is not None:
        columns |= _responses_by_name(np.asarray(prediction.labels), coding)
    if prediction.probabilities is not None:
        p = prediction.probabilities
        columns |= {f"probability_{name}": p[:, c] for c, name in enumerate(map(str, coding.classes))}
    columns |= {f"score_{name}": prediction.f[:, c] for c, name in enumerate(_outputs(prediction))}
    if topics:
        columns |= {f"topic_{k}": share for k, share in enumerate(prediction.theta.T)}
    columns |= {"n_known": prediction.n_known, "n_unknown": prediction.n_unknown}
    return Table(columns)


def _outputs(prediction) -> list[str]:
    names = prediction.coding.output_names
    return names if len(names) == prediction.f.shape[1] else [str(c) for c in range(prediction.f.shape[1])]


def short_prediction_table(prediction, rows: int = ROWS) -> Table:
    """Return what is shown of the first predictions: id, label, its probability, the main topics, tokens."""
    n = len(prediction.ids)
    m = min(n, rows)
    columns: dict = {"id": list(prediction.ids[:m])}
    if prediction.labels is not None:
        columns |= _labels(np.asarray(prediction.labels)[:m], prediction.coding)
    if prediction.probabilities is not None and prediction.coding.task != "multilabel":
        columns["probability"] = prediction.probabilities[:m].max(axis=1)
    theta = prediction.theta[:m]
    if theta.size and theta[0].sum() < 1.5:  # those of several chains have no common numbers
        columns["topics"] = [_first_topics(row) for row in theta]
    columns |= {"n_known": prediction.n_known[:m], "n_unknown": prediction.n_unknown[:m]}
    title = f"Predictions of {n:,} document{'s' * (n != 1)}" + (f", the first {m}" if m < n else "")
    return Table(columns, title + "; probabilities are scores" * (prediction.calibrated is False))


def _first_topics(theta) -> str:
    first = np.argsort(-theta, kind="stable")[:3]
    return ", ".join(f"{k} ({theta[k]:.0%})" for k in first)


def _labels(labels, coding) -> dict:
    if coding.task != "multilabel":
        return _responses_by_name(labels, coding)
    names = [str(c) for c in coding.classes]
    return {"labels": [", ".join(n for n, one in zip(names, row, strict=True) if one) for row in labels]}


def _responses_by_name(labels, coding) -> dict:
    if labels.ndim == 1 or labels.shape[1] == 1:
        return {"predicted": labels.reshape(-1)}
    return {f"predicted_{name}": labels[:, c] for c, name in enumerate(coding.classes)}
