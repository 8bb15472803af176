"""The figures of a posterior, by name."""

from __future__ import annotations

import numpy as np

from plugsamp.posterior import plots, tabulate

#: The figures and what each is of.
KINDS = {
    "topics": "share and words of topics",
    "words": "words of a topic: topic=",
    "weights": "weights of an output: output=",
    "trace": "a column of the trace: column=",
    "confusion": "true and predicted classes: corpus=",
    "calibration": "how often probabilities were right: corpus=",
    "effects": "effects of fields on topics: fields=, corpus=",
}


def plot(posterior, kind: str = "topics", ax=None, **options):
    """Draw a figure of a posterior.

    Parameters
    ----------
    posterior : Posterior
    kind : {"topics", "words", "weights", "trace", "confusion", "calibration", "effects"}
        "topics": share of the tokens and first words (``words``, ``by``, ``part``). "words": those of one
        ``topic``. "weights": of one ``output``, or of all as a map. "trace": a ``column``, by default the log
        joint. "confusion": of a ``corpus``.
        "calibration": of a ``corpus``, by default the held-out documents. "effects": of ``fields`` on topics.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        An unknown figure, or one that has no meaning for the model.
    ImportError
        matplotlib is not installed.
    """
    if kind not in KINDS:
        known = "; ".join(f"{name!r}: {what}" for name, what in KINDS.items())
        raise ValueError(f"there is no plot {kind!r}. {known}")
    return globals()[f"_{kind}"](posterior, ax, **options)


def _topics(posterior, ax, words: int = 6, by: str = "relevance", part=None):
    one = posterior._one(part)
    table = tabulate.topics(posterior, [one], words, by, 0.9)
    if "share" not in table:
        raise ValueError(
            "the model was saved without the sizes of its topics; plot('words', topic=0) draws one topic"
        )
    names = [posterior.called(one, int(k)) for k in table["topic"]]
    return plots.plot_topics(table["share"], table["words"], names, ax)


def _words(posterior, ax, topic=0, words: int = 15, by: str = "relevance", part=None):
    one, k = posterior._part_of(topic, part)
    phi = one.phi
    marginal = tabulate.word_marginal(phi, (posterior.stats(one) or {}).get("tokens"))
    best = tabulate.top_words(phi, words, by, marginal)[k]
    names = [one.vocabulary[w] for w in best]
    return plots.plot_words(phi[k, best], names, marginal[best], posterior.called(one, k), ax)


def _weights(posterior, ax, output=None, part=None, level: float = 0.9):
    one = posterior._one(part)
    if not one.outputs:
        tabulate.weights(posterior, [one], level)  # raises, and says why
    names = tabulate.column_names(one, tabulate.topic_labels(posterior, one))
    mean, low, high = tabulate.intervals(one.weights, level)
    if output is None and len(one.outputs) > 1:
        shown = [posterior.names.get(one.key(k)) or str(k) for k in range(one.n_topics)]
        return plots.plot_weight_map(mean[:, : one.n_topics], one.outputs, shown, ax)
    output = one.outputs[0] if output is None else str(output)
    if output not in one.outputs:
        raise ValueError(f"there is no output {output!r}; the outputs are {', '.join(one.outputs[:20])}")
    c = one.outputs.index(output)
    ends = (None, None) if len(one.weights) == 1 else (low[c], high[c])
    return plots.plot_weights(mean[c], names, *ends, output, ax)


def _trace(posterior, ax, column: str = "log_joint"):
    if not posterior.trace:
        raise ValueError(posterior.without("trace"))
    values = [part.trace.column(column) for part in posterior.parts]
    names = [part.name for part in posterior.parts] if posterior.owner else None
    return plots.plot_trace(values, posterior.burn_in, column.replace("_", " "), ax, names=names)


def _confusion(posterior, ax, corpus=None):
    table = posterior.evaluate(corpus).confusion()
    names = table[table.columns[0]]
    return plots.plot_confusion(np.array([table[name] for name in names]).T, names, ax)


def _calibration(posterior, ax, corpus=None):
    table = posterior.evaluate(corpus).calibration()
    return plots.plot_calibration(table["predicted"], table["right"], table["documents"], ax)


def _effects(posterior, ax, fields=None, corpus=None, topics=None, part=None, term=None):
    if fields is None:
        raise ValueError("plot('effects') needs fields=..., the fields of the documents")
    table = posterior.effects(fields, corpus, topics, part=part)
    return plots.plot_effects(table, term, ax)
