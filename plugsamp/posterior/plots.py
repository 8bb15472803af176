"""Pictures of topics, weights, traces and effects. Every function draws into one Axes and returns it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from plugsamp.brief import clipped, one_line

#: For, against, neither; and lines of chains in turn.
FOR, AGAINST, GREY = "#2166ac", "#b2182b", "#8a8a8a"
COLOURS = ("#2166ac", "#e08214", "#1b7837", "#762a83", "#8c510a", "#01665e")

#: Characters of a label; rows that a picture of topics, weights or effects has at most.
LABEL, ROWS = 48, 60


def axes(ax, width: float, height: float):
    """Return `ax`, or the axes of a new figure of that size in inches.

    Raises
    ------
    ImportError
        matplotlib is not installed.
    """
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("plots need matplotlib: pip install 'plugsamp[plots]'") from None
    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def plot_topics(shares, words: Sequence[Sequence[str]], names: Sequence[str] | None = None, ax=None):
    """Draw each topic's share of the tokens as a bar with its first words, the largest topic on top.

    Parameters
    ----------
    shares : float (K,)
    words : K sequences of str
    names : K strings, optional
        By default the topics' numbers.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    shares = np.asarray(shares, dtype=float)
    order = np.argsort(-shares, kind="stable")[:ROWS]
    ax = axes(ax, 8.0, 0.6 + 0.26 * len(order))
    names = [str(k) for k in range(len(shares))] if names is None else names
    ax.barh(range(len(order)), shares[order], color=FOR, alpha=0.85, height=0.7)
    top = shares.max(initial=0.0) or 1.0
    for row, k in enumerate(order):
        text = clipped(" ".join(map(one_line, words[k])), 64)
        ax.text(shares[k] + 0.015 * top, row, _plain(text), va="center", fontsize=9)
    _rows(ax, [names[k] for k in order])
    ax.set_xlim(0, 2.6 * top)
    _percent(ax.xaxis, [t for t in ax.get_xticks() if 0 <= t <= 1.05 * top])
    ax.set_xlabel("share of the tokens")
    _rest(ax, len(shares) - len(order), "topics")
    return ax


def plot_words(probabilities, words: Sequence[str], overall=None, title: str = "", ax=None):
    """Draw the words of a topic as bars of their probability, the first on top.

    Parameters
    ----------
    probabilities : float (n,)
        phi of each word in the topic.
    words : n strings
    overall : float (n,), optional
        Their probabilities in all topics together, drawn behind.
    title : str
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    ax = axes(ax, 5.0, 0.7 + 0.26 * len(words))
    rows = range(len(words))
    if overall is not None:
        ax.barh(rows, overall, color=GREY, alpha=0.45, height=0.8, label="all topics")
    ax.barh(rows, probabilities, color=FOR, height=0.45 if overall is not None else 0.7, label="this topic")
    _rows(ax, words)
    ax.set_xlabel("probability")
    if overall is not None:
        ax.legend(loc="lower right", frameon=False)
    ax.set_title(_plain(title), loc="left")
    return ax


def plot_weights(mean, names: Sequence[str], lower=None, upper=None, output: str = "", ax=None):
    """Draw the weights of one output, sorted: what speaks for it and what against.

    Parameters
    ----------
    mean : float (J,)
        Of topics and covariates.
    names : J strings
    lower, upper : float (J,), optional
        Ends of the intervals. A weight whose interval holds 0 is grey.
    output : str
        The class or response that a positive weight speaks for.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    mean = np.asarray(mean, dtype=float)
    order = np.argsort(-mean, kind="stable")
    if len(order) > ROWS:  # the ends
        order = np.concatenate([order[: ROWS // 2], order[-ROWS // 2 :]])
    ends = None if lower is None else (np.asarray(lower, dtype=float), np.asarray(upper, dtype=float))
    ax = axes(ax, 6.5, 0.9 + 0.24 * len(order))
    for row, j in enumerate(order):
        unclear = ends is not None and ends[0][j] <= 0 <= ends[1][j]
        colour = GREY if unclear else FOR if mean[j] > 0 else AGAINST
        if ends is not None:
            ax.plot([ends[0][j], ends[1][j]], [row, row], color=colour, lw=1.8, solid_capstyle="butt")
        ax.plot(mean[j], row, "o", color=colour, ms=5)
    _rows(ax, [names[j] for j in order])
    ax.axvline(0, color="black", lw=0.8)
    ax.set_xlabel(f"weight for {_plain(clipped(one_line(output), LABEL))}" if output else "weight")
    _rest(ax, len(mean) - len(order), "weights between them")
    return ax


def plot_weight_map(mean, outputs: Sequence[str], names: Sequence[str], ax=None):
    """Draw the weights of several outputs as a map: blue speaks for an output, red against it.

    Parameters
    ----------
    mean : float (C, J)
    outputs : C strings
    names : J strings
        Topics and covariates.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    mean = np.asarray(mean, dtype=float)
    ax = axes(ax, 2.2 + 0.34 * mean.shape[1], 1.3 + 0.3 * mean.shape[0])
    limit = np.abs(mean).max(initial=0.0) or 1.0
    drawn = ax.imshow(mean, cmap="RdBu", vmin=-limit, vmax=limit, aspect="auto")
    ax.set_yticks(range(len(outputs)), [_short(name) for name in outputs])
    longest = max((len(_short(name)) for name in names), default=0)
    ax.set_xticks(range(len(names)), [_short(name) for name in names], rotation=0 if longest < 4 else 90)
    ax.set_xlabel("topic")
    ax.figure.colorbar(drawn, ax=ax, label="weight", shrink=0.8)
    return ax


def plot_trace(values: Sequence, burn_in: int = 0, name: str = "log joint", ax=None, *, names=None):
    """Draw a quantity of every sweep, a line for each chain; the burn-in is shaded.

    Parameters
    ----------
    values : sequence of float (sweeps,)
        One a chain.
    burn_in : int
        Sweeps before the first kept one.
    name : str
    ax : matplotlib Axes, optional
    names : sequence of str, optional
        What the lines are called, by default chain 1, chain 2, ...

    Returns
    -------
    matplotlib Axes
    """
    ax = axes(ax, 7.0, 3.2)
    for c, one in enumerate(values):
        one = np.asarray(one, dtype=float)
        label = names[c] if names else f"chain {c + 1}"
        ax.plot(np.arange(1, len(one) + 1), one, lw=1.1, color=COLOURS[c % len(COLOURS)], label=label)
    if burn_in:
        ax.axvspan(0.5, burn_in + 0.5, color=GREY, alpha=0.15, lw=0)
        ax.text(
            0.5 + 0.5 * burn_in,
            0.02,
            "burn-in",
            color="#555555",
            ha="center",
            transform=ax.get_xaxis_transform(),
        )
    kept = np.concatenate([np.asarray(one, dtype=float)[burn_in:] for one in values])
    everything = np.concatenate([np.asarray(one, dtype=float) for one in values])
    if len(kept) and np.ptp(everything) > 20 * np.ptp(kept) > 0:  # the climb would hide the rest
        low, high = kept.min(), max(kept.max(), everything.max())
        ax.set_ylim(low - 1.5 * (high - low), high + 0.3 * (high - low))
    if len(values) > 1:
        ax.legend(frameon=False, ncols=min(len(values), 4))
    ax.set_xlabel("sweep")
    ax.set_ylabel(name)
    ax.margins(x=0)
    return ax


def plot_effects(table, term: str | None = None, ax=None):
    """Draw the effect of a term on each topic with its interval, the largest on top.

    Parameters
    ----------
    table : plugsamp.files.tables.Table
        As `plugsamp.posterior.effects.effects` returns it.
    term : str, optional
        By default the first one that is no intercept.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        There is no such term.
    """
    terms = list(dict.fromkeys(table["term"]))
    if term is None:
        term = next((t for t in terms if t != "Intercept"), terms[0])
    if term not in terms:
        raise ValueError(f"there is no term {term!r}; the terms are {', '.join(terms)}")
    rows = table.take([i for i, t in enumerate(table["term"]) if t == term])
    estimate, lower, upper = (np.asarray(rows[name], dtype=float) for name in ("estimate", "lower", "upper"))
    labels = rows["label"] if "label" in rows else [f"topic {k}" for k in rows["topic"]]
    order = np.argsort(-estimate, kind="stable")[:ROWS]
    ax = axes(ax, 6.5, 0.9 + 0.26 * len(order))
    for row, i in enumerate(order):
        colour = GREY if not (lower[i] > 0 or upper[i] < 0) else FOR if estimate[i] > 0 else AGAINST
        ax.plot([lower[i], upper[i]], [row, row], color=colour, lw=1.8, solid_capstyle="butt")
        ax.plot(estimate[i], row, "o", color=colour, ms=5)
    _rows(ax, [labels[i] for i in order])
    ax.axvline(0, color="black", lw=0.8)
    ax.set_xlabel(f"effect of {_plain(clipped(one_line(term), LABEL))} on the topic's proportion")
    _rest(ax, len(estimate) - len(order), "topics")
    return ax


def plot_confusion(counts, labels: Sequence[str], ax=None):
    """Draw how often documents of each class (rows) were predicted as each class (columns).

    Parameters
    ----------
    counts : int (classes, classes)
    labels : strings
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    counts = np.asarray(counts)
    n = len(labels)
    ax = axes(ax, 2.4 + 0.42 * n, 2.0 + 0.38 * n)
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    ax.imshow(share, cmap="Blues", vmin=0, vmax=1)
    for i, j in np.argwhere(counts) if n <= 25 else ():
        ax.text(j, i, f"{counts[i, j]:,}", ha="center", va="center", fontsize=8,
                color="white" if share[i, j] > 0.55 else "black")  # fmt: skip
    shown = [_short(name) for name in labels]
    ax.set_xticks(range(n), shown, rotation=90 if max(map(len, shown), default=0) > 3 else 0)
    ax.set_yticks(range(n), shown)
    ax.set_xlabel("predicted")
    ax.set_ylabel("true")
    return ax


def plot_calibration(predicted, right, counts, ax=None):
    """Draw how often predictions of a probability were right, with their number and 95 % intervals.

    Parameters
    ----------
    predicted, right : float (n,)
        Mean probability and share of right predictions, of each range of probabilities.
    counts : int (n,)
        Predictions in each.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Notes
    -----
    The intervals are those of Wilson (1927) for a share.
    """
    p, n = np.asarray(right, dtype=float), np.asarray(counts, dtype=float)
    ax = axes(ax, 4.6, 4.4)
    z = 1.959964
    middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    ax.plot([0, 1], [0, 1], color=GREY, lw=0.8, ls="--")
    ax.vlines(predicted, middle - half, middle + half, color=FOR, lw=1.8)
    ax.plot(predicted, p, "o", color=FOR, ms=5)
    for x, y, size in zip(predicted, p, counts, strict=True):
        ax.annotate(f"{size:,}", (x, y), (6, -10), textcoords="offset points", fontsize=8)
    ax.set_xlim(0, 1.02)
    ax.set_ylim(0, 1.02)
    ax.set_xlabel("predicted probability (mean of a range)")
    ax.set_ylabel("share that was right")
    return ax


def _plain(text: str) -> str:
    """The text without matplotlib's mathematics."""
    return text.replace("$", r"\$")


def _short(name) -> str:
    return _plain(clipped(one_line(str(name)), 28))


def _rows(ax, names) -> None:
    """Name the rows, the first of them on top."""
    ax.set_yticks(range(len(names)), [_plain(clipped(one_line(str(name)), LABEL)) for name in names])
    ax.set_ylim(len(names) - 0.4, -0.6)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def _percent(axis, ticks) -> None:
    digits = 0 if all(abs(100 * t - round(100 * t)) < 1e-9 for t in ticks) else 1
    axis.set_ticks(ticks, [f"{t:.{digits}%}" for t in ticks])


def _rest(ax, n: int, what: str) -> None:
    if n > 0:
        ax.set_title(f"{n:,} more {what} are not shown", loc="left", fontsize=9)
