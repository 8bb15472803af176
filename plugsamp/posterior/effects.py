"""How the prevalence of topics differs by fields of the documents.

The method of composition, as in stm's estimateEffect (Roberts et al. 2014, "Structural topic models for
open-ended survey responses", section 3): for each draw of the documents' topic proportions, a linear
regression of each topic's proportion on the fields. The results over draws are pooled by Rubin's rules
(Rubin 1987, "Multiple imputation for nonresponse in surveys", section 3.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

from plugsamp.checks import is_number, whole
from plugsamp.errors import InputError
from plugsamp.files.tables import Table
from plugsamp.posterior.design import Design, design
from plugsamp.system import memory

#: Draws of the proportions (as many as stm simulates), and the probability inside an interval.
DRAWS, LEVEL = 25, 0.95

#: Numbers of a block of draws in memory at once.
_BLOCK = 1 << 22

#: Between draws that are taken, so that a few come from different chains of the fold-in.
_STRIDE = 37

#: A document whose leverage is this near to 1 decides a coefficient alone: its standard error is unknown.
_ALONE = 1e-9


class Pooled(NamedTuple):
    """Estimates over several draws as one.

    Attributes
    ----------
    estimate, se, freedom : ndarray
        Mean, standard error, and degrees of freedom of its t distribution.
    """

    estimate: np.ndarray
    se: np.ndarray
    freedom: np.ndarray

    def interval(self, level: float = LEVEL) -> tuple[np.ndarray, np.ndarray]:
        """Return the lower and upper ends of the intervals."""
        half = stats.t.ppf(0.5 + 0.5 * level, self.freedom) * self.se
        return self.estimate - half, self.estimate + half

    def p_value(self) -> np.ndarray:
        """Return two-sided p-values of no effect."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return 2.0 * stats.t.sf(np.abs(self.estimate / self.se), self.freedom)


def pooled(estimates, variances, freedom: float) -> Pooled:
    """Pool the results of a regression over draws by Rubin's rules.

    The variance is W + (1 + 1/m) B, of the mean variance W of the m results and the variance B between
    them. Degrees of freedom are those of Barnard and Rubin (1999), "Small-sample degrees of freedom with
    multiple imputation", equation 3.

    Parameters
    ----------
    estimates, variances : float (m, ...)
        Of the coefficients for each draw, m >= 2.
    freedom : float
        Degrees of freedom of one regression: documents less coefficients.

    Examples
    --------
    >>> from plugsamp.posterior.effects import pooled
    >>> found = pooled([1.0, 2.0, 3.0], [1.0, 1.0, 1.0], 20)
    >>> round(float(found.estimate), 3), round(float(found.se), 3), round(float(found.freedom), 2)
    (2.0, 1.528, 3.44)
    """
    estimates, variances = np.asarray(estimates, dtype=float), np.asarray(variances, dtype=float)
    m = len(estimates)
    if m < 2:
        raise ValueError(f"results of two draws or more can be pooled, not of {m}")
    within = variances.mean(axis=0)
    between = (1.0 + 1.0 / m) * estimates.var(axis=0, ddof=1)
    total = within + between
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(total > 0, between / total, 0.0)
        by_draws = (m - 1) / share**2
    by_documents = (freedom + 1.0) / (freedom + 3.0) * freedom * (1.0 - share)
    found = np.where(share > 0, 1.0 / (1.0 / by_draws + 1.0 / np.maximum(by_documents, 1e-300)), by_documents)
    return Pooled(estimates.mean(axis=0), np.sqrt(total), found)


def regressions(matrix, draws) -> tuple[np.ndarray, np.ndarray]:
    """Regress every column of every draw on a matrix by least squares.

    Parameters
    ----------
    matrix : float64 (n, P)
        Of full rank.
    draws : float (m, n, K)

    Returns
    -------
    estimates, variances : float64 (m, P, K)
        Variances are consistent under unequal variances of documents (HC3: MacKinnon & White 1985, in the
        form of Long & Ervin 2000, equation 6), NaN where a document alone decides a coefficient.
    """
    q, r = np.linalg.qr(matrix)
    inverse = np.linalg.solve(r, q.T)  # (P, n), the pseudo-inverse
    leverage = (q**2).sum(axis=1)
    alone = leverage > 1.0 - _ALONE
    weight = np.where(alone, 0.0, inverse / np.where(alone, 1.0, 1.0 - leverage))
    undecided = (np.abs(inverse[:, alone]) > 1e-9 * np.abs(inverse).max(axis=1)[:, None]).any(axis=1)
    shape = (len(draws), matrix.shape[1], draws.shape[2])
    estimates, variances = np.empty(shape), np.empty(shape)
    for i, y in enumerate(draws):
        y = y.astype(float)
        estimates[i] = inverse @ y
        variances[i] = weight**2 @ (y - matrix @ estimates[i]) ** 2
    variances[:, undecided] = np.nan
    return estimates, variances


def effects_of_draws(
    draws,
    fields: Design,
    topics: Sequence[int] | None = None,
    labels: Sequence[str] | None = None,
    level: float = LEVEL,
    note: str = "",
) -> Table:
    """Return the effects of fields on topics over draws of the proportions.

    Parameters
    ----------
    draws : float (m, n, K)
        Draws of the proportions of the documents `fields.rows`, m >= 2.
    fields : Design
    topics : K integers, optional
        Their numbers, by default from 0.
    labels : K strings, optional
        How the topics are called.
    level : float
        The probability inside the intervals.
    note : str
        What the draws are, for the title.

    Returns
    -------
    Table
        A row for each topic and term: ``topic``, ``label``, ``term``, ``estimate``, ``se``, ``lower``,
        ``upper``, ``p``.
    """
    if not (is_number(level) and 0 < level < 1):
        raise ValueError(f"level must lie between 0 and 1, not {level!r}")
    m, n, n_topics = draws.shape
    found = pooled(*regressions(fields.matrix, draws), n - len(fields.terms))
    topics = range(n_topics) if topics is None else topics
    n_terms = len(fields.terms)
    columns: dict = {"topic": np.repeat(np.asarray(topics, dtype=int), n_terms)}
    if labels is not None:
        columns["label"] = [label for label in labels for _ in fields.terms]
    lower, upper = found.interval(level)
    columns["term"] = list(fields.terms) * n_topics
    numbers = {"estimate": found.estimate, "se": found.se, "lower": lower, "upper": upper}
    columns |= {name: values.T.ravel() for name, values in (numbers | {"p": found.p_value()}).items()}
    against = "".join(f"; {name} against {level!r}" for name, level in fields.references.items())
    title = (
        f"Topic proportions by {fields.formula}: {n:,} documents, {m} draws{note}, {level:.0%} intervals"
        f"{against}"
    )
    return Table(columns, title, {"p": ".2g"}, once=("topic", "label"))


def effects(
    part,
    fields: str | Sequence[str],
    corpus,
    topics: Sequence[int] | None = None,
    *,
    labels: Sequence[str] | None = None,
    draws: int = DRAWS,
    level: float = LEVEL,
) -> Table:
    """Return how the prevalence of topics differs by fields of the documents.

    Each document's proportions are drawn `draws` times given its words, by folding it in: its responses have
    no part in them, also where the model was fitted to them. Every document counts the same, whatever its
    length. Documents without a known word, or with a field missing, are left out.

    Parameters
    ----------
    part : plugsamp.posterior.draws.Draws
    fields : str or list of str
        A field of the corpus, several, or a formula (see `plugsamp.posterior.design.design`).
    corpus : Corpus
        With the fields, in any vocabulary.
    topics : sequence of int, optional
        By default all.
    labels : sequence of str, optional
        How the topics are called, one for each of `topics`.
    draws : int
        2 to 256.
    level : float
        The probability inside the intervals.

    Returns
    -------
    Table
        A row for each topic and term (see `effects_of_draws`). The estimate of a number is the change of the
        expected proportion for a change of 1, that of a category the difference to the reference.

    Raises
    ------
    InputError
        See `plugsamp.posterior.design.design`; or the draws do not fit in memory.

    Notes
    -----
    The draws come from a model that does not know the fields. Documents whose words leave their topics open
    are drawn towards the mean, so effects on topics that share most of their words are underestimated
    (Meng 1994 calls such draws uncongenial). The topics' words are taken as known.
    """
    draws = whole("draws", draws, 2, 256)
    by = design(fields, corpus)
    n_topics = len(part.phi)
    chosen = np.arange(n_topics) if topics is None else _topics(topics, n_topics)
    drawn, known = proportions(part.fold_in, corpus.take(by.rows), draws, chosen)
    left_out = corpus.n_documents - int(known.sum())
    if left_out:
        rows = by.rows[known]
        by = design(fields, corpus.take(rows))
    note = " given the words"
    if left_out:
        note += f" ({left_out:,} documents without words or fields left out)"
    return effects_of_draws(drawn[:, known], by, chosen, labels, level, note)


def _topics(topics, n_topics: int) -> np.ndarray:
    found = np.asarray(topics)
    if found.ndim != 1 or found.dtype.kind not in "iu" or (found < 0).any() or (found >= n_topics).any():
        raise InputError(f"topics must be numbers from 0 to {n_topics - 1}, not {topics!r}")
    return found


def proportions(fold_in, corpus, draws: int, topics) -> tuple[np.ndarray, np.ndarray]:
    """Draw the topic proportions of documents given their words.

    Parameters
    ----------
    fold_in : plugsamp.prediction.fold_in.FoldIn
    corpus : Corpus
    draws : int
    topics : int (K',)
        Which topics are returned.

    Returns
    -------
    draws : float32 (draws, D, K')
    known : bool (D,)
        Which documents have a known word.
    """
    n_documents = corpus.n_documents
    needed, free = 4 * draws * n_documents * len(topics), memory.available_bytes()
    if free is not None and needed > free:
        raise InputError(
            f"{draws} draws of {len(topics)} topics for {n_documents:,} documents need "
            f"{memory.in_words(needed)} of memory, {memory.in_words(free)} are free; name some topics "
            "(topics=[...]), or take fewer draws or documents"
        )
    tokens = fold_in.tokens(corpus)
    out = np.empty((draws, n_documents, len(topics)), dtype=np.float32)
    size = max(1, _BLOCK // (256 * fold_in.n_topics))
    for first in range(0, n_documents, size):
        last = min(first + size, n_documents)
        drawn = fold_in.draws(tokens, first, last)
        chosen = np.arange(draws) * _STRIDE % len(drawn)
        out[:, first:last] = drawn[chosen][:, :, topics]
    return out, tokens.lengths > 0
