"""The tables of a posterior as a run folder has them: topics.csv and weights.csv."""

from __future__ import annotations

import numpy as np

from plugsamp.files.tables import Table
from plugsamp.posterior.rankings import top_words, word_marginal
from plugsamp.posterior.tabulate import stacked, weights_of

#: Covariates in weights.csv: of many those with the strongest weights.
COVARIATES = 1000


def topics(posterior, words: int, by: str) -> Table:
    """Return topics.csv: a row a topic of every part, in the order of their numbers.

    Parameters
    ----------
    posterior : Posterior
        Whose parts know their topics' numbers (`Posterior.stats`).
    words : int
    by : {"relevance", "probability", "frex"}

    Returns
    -------
    Table
        ``chain`` or ``task`` where there are several, ``topic``, what is known of it
        (`plugsamp.diagnostics.topic_table`), ``top_words``.
    """
    blocks = []
    for part in posterior.parts:
        stats, p = posterior.stats(part), part
        best = top_words(p.phi, words, by, word_marginal(p.phi, stats["tokens"]))
        block = {"topic": np.arange(part.n_topics)} | {name: np.asarray(one) for name, one in stats.items()}
        blocks.append(block | {"top_words": [[p.vocabulary[w] for w in row] for row in best]})
    return Table(stacked(blocks, posterior.owner, posterior.parts))


def weights(posterior) -> Table:
    """Return weights.csv: a row an output and column of every part, with mean and interval of 90 %.

    Returns
    -------
    Table
        ``chain`` or ``task`` where there are several, ``output``, ``column`` (topics by number), ``mean``,
        ``lower``, ``upper``; without rows where there are no responses.
    """
    parts = posterior.parts
    blocks = [weights_of(p, [f"topic {k}" for k in range(p.n_topics)], 0.9, COVARIATES) for p in parts]
    return Table(stacked(blocks, posterior.owner, posterior.parts))
