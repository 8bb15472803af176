"""What the topics say, as rows and as a table for a terminal or a file."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plugsamp.brief import clipped, one_line
from plugsamp.posterior.rankings import DEFAULT, top_words, word_marginal


@dataclass(frozen=True)
class Topic:
    """One topic in words.

    Attributes
    ----------
    index : int
    share : float
        Of all tokens.
    words : list of str
        The first of its ranking.
    speaks_for : list of (str, float)
        Classes or responses with their weights, the strongest first.
    """

    index: int
    share: float
    words: list[str]
    speaks_for: list[tuple[str, float]]


def topics(
    phi, topic_tokens, eta, coding, vocabulary, n_words: int = 8, n_classes: int = 2, by: str = DEFAULT
) -> list[Topic]:
    """The topics of a fit, the largest first.

    Parameters
    ----------
    phi : ndarray (K, V)
    topic_tokens : ndarray (K,)
        Tokens of each topic.
    eta : ndarray (C, J)
        Weights, the topics' in the first K columns.
    coding : plugsamp.losses.coding.Coding
    vocabulary : sequence of str
    n_words, n_classes : int
        How many words, and classes, to name.
    by : {"relevance", "probability", "frex"}
        How words are ranked (`plugsamp.posterior.rankings`).
    """
    topic_tokens = np.asarray(topic_tokens, dtype=float)
    share = topic_tokens / max(topic_tokens.sum(), 1.0)
    best = top_words(phi, n_words, by, word_marginal(phi, topic_tokens))
    eta = coding.by_class(eta[:, : len(phi)]) if len(eta) else eta
    found = []
    for k in np.argsort(-share, kind="stable"):
        words = [vocabulary[w] for w in best[k]]
        found.append(Topic(int(k), float(share[k]), words, _speaks_for(eta[:, k], coding, n_classes)))
    return found


def _speaks_for(weights, coding, n_classes: int) -> list[tuple[str, float]]:
    """Of two classes the one the sign points to; of more those it speaks for, else the one most against."""
    if coding.task == "none" or not len(weights):
        return []
    if coding.task == "binary":
        weight = float(weights[0])
        return [(str(coding.classes[int(weight > 0)]), abs(weight))]
    names = coding.spoken_for
    return [(names[c], float(weights[c])) for c in coding.strongest(weights, n_classes)]


def plain_table(rows: Sequence[Topic], width: int = 100) -> str:
    """The topics as text, one or more lines each, no line longer than `width`."""
    classes = [[f"{w:+.2f} {one_line(n)}" for n, w in t.speaks_for] for t in rows]
    longest = max((len(text) for cell in classes for text in cell), default=0)
    column = min(longest, max(width // 3, 12))
    classes = [[clipped(text, column) for text in cell] for cell in classes]
    head = f"{'topic':>5} {'share':>6}  "
    title = head + (f"{'speaks for':{column}}  words" if column else "words")
    lines = [title[:width]]
    for topic, spoken in zip(rows, classes, strict=True):
        left = f"{topic.index:5d} {topic.share:6.1%}  "
        room = max(width - len(left) - (column + 2 if column else 0), 10)
        words = textwrap.wrap(" ".join(one_line(w) for w in topic.words), room) or [""]
        cell = spoken or [""]
        for i in range(max(len(words), len(cell))):
            start = left if i == 0 else " " * len(left)
            middle = f"{cell[i] if i < len(cell) else '':{column}}  " if column else ""
            lines.append((start + middle + (words[i] if i < len(words) else "")).rstrip()[:width])
    return "\n".join(lines)


def rich_table(rows: Sequence[Topic], width: int):
    """The same table for a terminal, through rich."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, width=width, header_style="bold")
    table.add_column("topic", justify="right")
    table.add_column("share", justify="right")
    column = max(width // 3, 12)
    if any(t.speaks_for for t in rows):
        table.add_column("speaks for", max_width=column)
    table.add_column("words")
    for topic in rows:
        cells = [Text(str(topic.index)), Text(f"{topic.share:.1%}")]
        if len(table.columns) == 4:
            spoken = Text()
            for i, (name, weight) in enumerate(topic.speaks_for):
                style = "green" if weight > 0 else "red"
                before = f"{weight:+.2f} "
                name = clipped(one_line(name), column - len(before))
                spoken.append(chr(10) * (i > 0) + before, style=style).append(name)
            cells.append(spoken)
        table.add_row(*cells, Text(" ".join(one_line(w) for w in topic.words)))
    return table
