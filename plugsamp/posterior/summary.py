"""A posterior in words: two lines of heading, a short table, the summary that the command prints."""

from __future__ import annotations

from plugsamp.brief import clipped, one_line
from plugsamp.diagnostics.summary import Topic, plain_table, topics
from plugsamp.fitting.progress import duration, quantity
from plugsamp.posterior.tabulate import outcome_lines

#: Topics of the short table and of a summary, characters of a line.
SHORT, SHOWN, WIDTH = 6, 25, 100


def heading(posterior) -> list[str]:
    """Return a line of the model and its data, and one of its chains."""
    coding, first_part = posterior.coding, posterior.parts[0]
    several = (
        f" in each of {len(posterior.parts)} models ({posterior.combine})"
        if posterior.owner == "task"
        else ""
    )
    first = [f"Posterior of {posterior.n_topics} topics{several}"]
    if coding.task == "none":
        first.append("no responses")
    else:
        first.append(f"loss {first_part.loss!r}")
        n = len(coding.classes)
        what = {"binary": "2 classes", "multiclass": f"{n} classes", "multilabel": f"{n} labels"}
        first.append(what.get(coding.task, f"{n} response{'s' * (n > 1)}"))
    if posterior.corpus is not None:
        first.append(f"{posterior.corpus.n_documents:,} documents")
    first.append(f"{len(posterior.vocabulary):,} words")
    second = []
    if posterior.trace:
        chains = f"{len(posterior.parts)} chains, " if posterior.owner == "chain" else ""
        second.append(f"{chains}{posterior.n_sweeps} sweeps, {posterior.burn_in} of them burn-in")
    draws = len(first_part.eta)
    second.append(f"{draws} kept draw{'s' * (draws > 1)}")
    if first_part.source == "estimate":
        second[-1] = "weights estimated in a second step"
    if posterior.seconds:
        second.append(duration(posterior.seconds))
    second += [f"held-out documents: {posterior.test.n_documents:,}"] if posterior.test is not None else []
    return ["; ".join([", ".join(first)]), ", ".join(second)]


def rows_of(posterior, words: int, by: str = "relevance") -> list[tuple[str, list[Topic]]]:
    """Return the topics of each part with its name, the largest first."""
    found = []
    for part in posterior.parts:
        tokens = (posterior.stats(part) or {}).get("tokens", [1.0] * part.n_topics)
        weights = part.weights.mean(axis=0)
        rows = topics(part.phi, tokens, weights, part.user_coding, part.vocabulary, words, by=by)
        found.append((part.name, rows))
    return found


def short(posterior) -> str:
    """Return the repr: at most ten lines."""
    lines = [clipped(one_line(text), WIDTH) for text in posterior.heading()]
    table = posterior.topics(words=8)
    keep = [name for name in table.columns if name not in ("lower", "upper", "npmi")]
    shown = type(table)({name: table[name] for name in keep}, "", {"share": ".1%", "weight": "+.2f"})
    return "\n".join([*lines, shown.text(SHORT, WIDTH)])


def chosen(posterior, words: int, by: str = "relevance") -> tuple[list[Topic], int]:
    """Return the topics that a summary shows, and how many more there are.

    Of several chains those of the first; of binary models the topic of each that speaks for it most.
    """
    found = rows_of(posterior, words, by)
    if posterior.owner == "task":
        rows = [max(rows, key=lambda t: t.speaks_for[0][1] if t.speaks_for else 0.0) for _, rows in found]
    else:
        rows = found[0][1]
    return rows[:SHOWN], sum(len(rows) for _, rows in found) - len(rows[:SHOWN])


def mixing_line(posterior) -> str | None:
    """Return R-hat of several chains in a line; None of one chain."""
    if posterior.owner != "chain" or not posterior.trace:
        return None
    try:
        found = posterior.convergence()
    except (ValueError, ImportError) as error:
        return f"R-hat unknown: {error}"
    known = [
        f"{row['quantity']} {row[''] if 'constant' in row[''] else format(row['r_hat'], '.3f')}"
        for row in found
    ]
    return f"R-hat {', '.join(known)}"


def speed_line(posterior) -> str | None:
    """Return sweeps, time and speed in a line; None without a trace."""
    if not posterior.trace:
        return None
    sweeps, whole = duration(posterior.sweep_seconds), duration(posterior.seconds)
    start = "" if sweeps == whole else f"; with the start {whole}"
    speed = quantity(posterior.tokens_per_second)
    return f"{posterior.n_sweeps} sweeps in {sweeps}, {speed} tok/s{start}"


def outcome(posterior) -> list[str]:
    """Return measures that were computed, mixing and speed, a line each."""
    lines = [*outcome_lines(posterior.evaluations), mixing_line(posterior), speed_line(posterior)]
    return [line for line in lines if line]


def summary(posterior, words: int, width: int) -> str:
    """Return measures, mixing, speed and the largest topics; see `Posterior.summary`."""
    rows, left = chosen(posterior, words)
    head = outcome(posterior)
    where = "posterior.topics(part='all')" if posterior.owner == "chain" else "posterior.topics()"
    more = [f"... {left} more: {where}"] if left else []
    return "\n".join([*(head or posterior.heading()), "", plain_table(rows, width), *more])
