"""The tables of a posterior: topics, weights, documents, explanations, mixing."""

from __future__ import annotations

import numpy as np

from plugsamp.brief import clipped, one_line, shown
from plugsamp.checks import listed, whole
from plugsamp.errors import InputError
from plugsamp.files.tables import Table
from plugsamp.posterior import explanations
from plugsamp.posterior.draws import Draws
from plugsamp.posterior.parts import alone
from plugsamp.posterior.rankings import check_ranking, top_words, word_marginal

#: What a topic's numbers are called in a table of topics, where they are known.
NUMBERS = ("npmi", "coherence", "diversity", "exclusivity")

#: Columns of weights whose quantiles are taken at once.
COLUMNS = 4096

#: Words of a document that are most a topic's.
WORDS = 8


def intervals(eta, level: float) -> np.ndarray:
    """Return mean, lower and upper ends over draws (S, ...), float64 (3, ...).

    Raises
    ------
    ValueError
        A level that is not between 0 and 1.
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, not {level!r}")
    ends = (round(0.5 - 0.5 * level, 12), round(0.5 + 0.5 * level, 12))
    out = np.empty((3, *eta.shape[1:]))
    np.mean(eta, axis=0, out=out[0])
    for first in range(0, eta.shape[-1], COLUMNS):  # of many draws of many weights it would copy all
        some = slice(first, first + COLUMNS)
        out[1:, ..., some] = np.quantile(eta[..., some], ends, axis=0)
    return out


def topics(posterior, parts: list[Draws], words: int, by: str, level: float) -> Table:
    """Return a row a topic of some parts, the largest first; see `Posterior.topics`."""
    check_ranking(by)
    words = whole("words", words)
    blocks = [_topics_of(posterior, part, words, by, level) for part in parts]
    table = stacked(blocks, posterior.owner if len(parts) > 1 else None, parts)
    if posterior.names:
        keys = [part.key(k) for part, block in zip(parts, blocks, strict=True) for k in block["topic"]]
        named = [posterior.names.get(key, "") for key in keys]
        columns = list(table.items())
        place = 1 + [name for name, _ in columns].index("topic")
        table = dict([*columns[:place], ("name", named), *columns[place:]])
    return Table(
        table, posterior.note(parts), {"share": ".1%", "weight": "+.2f", "lower": "+.2f", "upper": "+.2f"}
    )


def _topics_of(posterior, part: Draws, words: int, by: str, level: float) -> dict:
    stats = posterior.stats(part) or {}
    shares = None
    if "tokens" in stats:
        tokens = np.asarray(stats["tokens"], dtype=float)
        shares = tokens / max(tokens.sum(), 1.0)
    phi, vocabulary = part.phi, part.vocabulary
    best = top_words(phi, words, by, word_marginal(phi, shares))
    order = np.arange(part.n_topics) if shares is None else np.argsort(-shares, kind="stable")
    found: dict = {"topic": order}
    if shares is not None:
        found["share"] = shares[order]
    if part.outputs:
        found |= _strongest(part, level, order)
    found |= {name: np.asarray(stats[name], dtype=float)[order] for name in NUMBERS[:1] if name in stats}
    found["words"] = [[vocabulary[w] for w in best[k]] for k in order]
    return found


def _strongest(part: Draws, level: float, order) -> dict:
    """For each topic the output that it speaks for most, or else against, its weight and interval."""
    coding = part.user_coding
    mean, low, high = intervals(coding.by_class(part.weights[:, :, : part.n_topics]), level)
    names = [str(c) for c in coding.classes] if coding.task == "binary" else coding.spoken_for
    found: dict = {"speaks_for": [], "weight": [], "lower": [], "upper": []}
    for k in order:
        if coding.task == "binary":  # one output: its sign says which class
            positive = mean[0, k] > 0
            numbers = (
                (mean[0, k], low[0, k], high[0, k]) if positive else (-mean[0, k], -high[0, k], -low[0, k])
            )
            output = int(positive)
        else:
            (output,) = coding.strongest(mean[:, k], 1)
            numbers = (mean[output, k], low[output, k], high[output, k])
        for name, value in zip(found, (names[output], *map(float, numbers)), strict=True):
            found[name].append(value)
    return found


def weights(posterior, parts: list[Draws], level: float, output: str | None = None) -> Table:
    """Return a row an output and column; see `Posterior.weights`."""
    if not parts[0].outputs:
        raise ValueError(
            "the model has no responses, so it has no weights; topics() shows its topics. A model with a "
            "loss, such as ps.Model(50, loss='hinge'), learns weights from the responses of the corpus"
        )
    blocks = [weights_of(part, called(posterior, part), level, None) for part in parts]
    source = parts[0].source
    note = (
        "estimates of the second step, without intervals"
        if source == "estimate"
        else f"{level:.0%} intervals"
    )
    if output is not None:
        names = dict.fromkeys(str(name) for block in blocks for name in block["output"])
        if str(output) not in names:
            raise InputError(_no_output(str(output), parts[0], names))
        blocks = [_of_output(block, str(output)) for block in blocks]
    columns = stacked(blocks, posterior.owner if len(parts) > 1 else None, parts)
    return Table(columns, " ".join(filter(None, [posterior.note(parts), f"Weights, {note}"])))


def _of_output(block: dict, output: str) -> dict:
    """Return the rows of one output, the largest weight first; none where there is no such output."""
    rows = np.flatnonzero([str(name) == output for name in block["output"]])
    rows = rows[np.argsort(-block["mean"][rows], kind="stable")]
    return {name: np.array(values)[rows] for name, values in block.items()}


def _no_output(output: str, part: Draws, names) -> str:
    """Return what to say where there are no weights of an output."""
    why = ""
    if part.user_coding.classes is not None and output in map(str, part.user_coding.classes):
        binary = "its weights are those of the other class with the sign changed"
        why = f"; {binary if part.user_coding.task == 'binary' else f'{output!r} has no weights of its own'}"
    return f"there is no output {output!r}; the outputs are {listed(list(names), 20)}{why}"


def called(posterior, part: Draws) -> list[str]:
    """Return what the topics of a part are called: names, or "topic 3"."""
    return [posterior.called(part, k) for k in range(part.n_topics)]


def column_names(part: Draws, topics: list[str]) -> list[str]:
    """Return what the columns of the weights are called: topics, covariates, intercept."""
    return [*topics, *part.covariate_names, *["intercept"] * part.intercept]


def weights_of(part: Draws, topics: list[str], level: float = 0.9, most: int | None = None) -> dict:
    """Return the columns of a table of the weights of a part.

    Parameters
    ----------
    part : Draws
    topics : list of str
        What the topics are called.
    level : float
    most : int, optional
        Covariates at most: of more those with the strongest weights.
    """
    eta, n_topics = part.weights, part.n_topics
    names = column_names(part, topics)
    n_covariates = len(part.covariate_names)
    if most is not None and n_covariates > most and part.outputs:
        strength = np.abs(eta.mean(axis=0)).max(axis=0)
        weakest = np.argsort(-strength[n_topics : n_topics + n_covariates], kind="stable")[most:]
        kept = np.delete(np.arange(len(names)), n_topics + weakest)
        eta, names = eta[:, :, kept], [names[j] for j in kept]
    mean, low, high = intervals(eta, level)
    return {
        "output": np.repeat(np.array(part.outputs, dtype=object), len(names)),
        "column": names * len(part.outputs),
        "mean": mean.ravel(),
        "lower": low.ravel(),
        "upper": high.ravel(),
    }


def variances(posterior, parts: list[Draws], level: float) -> Table:
    """Return a row a group of weights and output; see `Posterior.variances`."""
    if not any(part.variances for part in parts):
        raise ValueError(
            "the prior of the weights has fixed variances; weights='hierarchical' draws them, and models of "
            "earlier versions have none"
        )
    blocks = []
    for part in parts:
        rows: dict = {"group": [], "output": []}
        for name, values in part.variances.items():
            rows["output"] += _outputs_of(part, values.shape[1])
            rows["group"] += [name] * values.shape[1]
        numbers = np.hstack([intervals(values, level) for values in part.variances.values()])
        blocks.append(rows | dict(zip(("mean", "lower", "upper"), numbers, strict=True)))
    columns = stacked(blocks, posterior.owner if len(parts) > 1 else None, parts)
    note = f"Variances of the weights, {level:.0%} intervals"
    return Table(columns, " ".join(filter(None, [posterior.note(parts), note])))


def _outputs_of(part: Draws, n: int) -> list[str]:
    """What the outputs are called; one for all is called all."""
    names = part.outputs
    if n == 1 and part.eta.shape[1] > 1:
        return ["all"]
    return names if len(names) == n else [str(name) for name in part.user_coding.classes]


def topic_labels(posterior, part: Draws, words: int = 3) -> list[str]:
    """Return what pictures call the topics: their names, or numbers and first words by relevance."""
    phi, vocabulary = part.phi, part.vocabulary
    stats = posterior.stats(part) or {}
    best = top_words(phi, words, "relevance", word_marginal(phi, stats.get("tokens")))
    found = [f"{k} {' '.join(vocabulary[w] for w in row)}" for k, row in enumerate(best)]
    return [posterior.names.get(part.key(k)) or label for k, label in enumerate(found)]


def stacked(blocks: list[dict], owner: str | None, parts: list[Draws]) -> dict:
    """Return the columns of several tables one below the other; `owner` names a first column of parts."""
    columns: dict = {}
    if owner is not None:
        sizes = [len(next(iter(block.values()))) for block in blocks]
        columns[owner] = [part.name for part, n in zip(parts, sizes, strict=True) for _ in range(n)]
    for name in blocks[0]:
        values = [block[name] for block in blocks]
        array = all(isinstance(v, np.ndarray) for v in values)
        columns[name] = np.concatenate(values) if array else [one for v in values for one in v]
    return columns


def documents_of_topic(posterior, part: Draws, k: int, corpus, n: int) -> Table:
    """Return the documents that have most of a topic; see `Posterior.documents`."""
    prediction = posterior.predict(corpus)
    share = prediction.theta[:, part.columns][:, k]
    share = np.where(prediction.n_known > 0, share, -1.0)
    rows = np.argsort(-share, kind="stable")[:n]
    rows = rows[share[rows] >= 0]
    known = corpus if tuple(corpus.vocabulary) == part.vocabulary else None
    found: dict = {"id": [corpus.ids[d] for d in rows], "share": share[rows]}
    if corpus.responses is not None:
        found["response"] = [explanations.response_of(corpus, d) for d in rows]
    known = corpus.with_vocabulary(part.vocabulary) if known is None else known
    weighed = explanations.word_parts(part, known, rows, prediction.theta[rows, part.columns])
    found["words"] = [  # those that are most the topic's
        [part.vocabulary[w] for w in words[np.argsort(-n_words * parts[:, k], kind="stable")[:WORDS]]]
        for words, n_words, parts in weighed
    ]
    title = f"Documents with most of {posterior.called(part, k)}"
    return Table(found, title, {"share": ".1%"})


def documents(posterior, part: Draws, corpus) -> Table:
    """Return a row a document with its main topics; see `Posterior.documents`."""
    prediction = posterior.predict(corpus)
    theta = prediction.theta[:, part.columns]
    order = np.argsort(-theta, axis=1, kind="stable")[:, :2]
    first = np.take_along_axis(theta, order, axis=1)
    found: dict = {"id": list(corpus.ids)}
    if corpus.responses is not None:
        found["response"] = [explanations.response_of(corpus, d) for d in range(corpus.n_documents)]
    for i, name in enumerate(("topic", "second")[: order.shape[1]]):
        found |= {name: order[:, i], "share" if i == 0 else "second_share": first[:, i]}
        if posterior.names:
            called = [posterior.names.get(part.key(k), "") for k in range(part.n_topics)]
            found[f"{name}_name"] = [called[k] for k in order[:, i]]
    found["n_known"] = prediction.n_known
    return Table(found, posterior.note([part]), {"share": ".1%", "second_share": ".1%"})


def explanation(posterior, corpus, chosen) -> Table:
    """Return the terms of f for some documents; see `Posterior.explain`."""
    parts = list(posterior.parts)
    if posterior.owner == "chain":  # topics of two chains have no common numbers: the first speaks for all
        parts = [alone(parts[0])]
    known = posterior.known(corpus)
    rows = explanations.rows_of(posterior, corpus, chosen)
    columns: dict[str, list] = {
        name: [] for name in ("id", "true", "predicted", "output", "term", "share", "f", "words")
    }
    for one in explanations.explain(parts, posterior, known, rows):
        for block in one.blocks:
            outputs = block.outputs or [""]
            for c, output in enumerate(outputs):
                for term in block.terms:
                    value = term.contributions[c] if term.contributions else None
                    words = [word.word for word in term.words]
                    called = _called(posterior, term)
                    _add(columns, one, output, called, term.value, value, words)
                if block.totals:
                    _add(columns, one, output, "sum", None, block.totals[c], [])
    if not any(value is not None for value in columns["f"]):
        del columns["f"], columns["output"], columns["predicted"]
    what = "f = sum of share × weight, by topic or covariate"
    sticks = explanations.of_sticks(posterior.coding)
    note = " ".join(filter(None, [posterior.note(parts), f"{what}. {sticks}" if sticks else what]))
    return Explained(columns, note, {"share": ".3f", "f": "+.3f"})


class Explained(Table):
    """A table of the terms of f, shown document by document with the compared outputs side by side."""

    def documents(self) -> list[Table]:
        """Return a table for each document: term, share, f of each output, words."""
        found: dict[str, dict] = {}
        for row in self:
            terms = found.setdefault(row["id"], {"row": row, "terms": {}})["terms"]
            key = (row["term"], row["share"])
            cells = terms.setdefault(key, {"term": row["term"], "share": row["share"], "words": row["words"]})
            if "f" in row:
                cells[clipped(f"f {row['output']}".strip(), 26)] = row["f"]
        return [_explained(one["row"], list(one["terms"].values())) for one in found.values()]

    def text(self, rows: int | None = None, width: int = 100) -> str:
        """The documents one after the other; of some `rows` the first document alone, with so many rows."""
        tables = self.documents()
        if rows is None or not tables:
            return "\n\n".join([self.title, *(table.text(None, width) for table in tables)])
        more = f"\n... {len(tables) - 1} more documents" if len(tables) > 1 else ""
        return f"{self.title}\n{tables[0].text(max(rows - 2, 3), width)}{more}"

    def _repr_html_(self) -> str:
        return "".join(table._repr_html_() for table in self.documents())


def _explained(row: dict, terms: list[dict]) -> Table:
    outputs = list(
        dict.fromkeys(name for one in terms for name in one if name.startswith("f ") or name == "f")
    )
    terms.sort(key=lambda one: one["term"] == "sum")
    columns = {name: [one.get(name) for one in terms] for name in ("term", "share", *outputs, "words")}
    said = [f"{what} {row[what]}" for what in ("true", "predicted") if row.get(what)]
    title = f"{row['id']}: {', '.join(said)}" if said else row["id"]
    return Table(columns, title, {"share": ".3f"} | dict.fromkeys(outputs, "+.3f"))


def _add(columns, one, output, term, share, value, words) -> None:
    row = (one.id, one.true, one.predicted, output, term, share, value, words)
    for name, cell in zip(columns, row, strict=True):
        columns[name].append(cell)


def _called(posterior, term) -> str:
    if term.key is None:
        return term.name
    return posterior.names.get(term.key) or f"topic {term.name}"


def mixing(posterior) -> Table:
    """Return R-hat and effective draws; see `Posterior.convergence`."""
    from plugsamp.diagnostics.agreement import agreement

    if not posterior.trace:
        raise ValueError(posterior.without("trace"))
    groups = {"": posterior.trace}
    if posterior.owner == "task":  # models of their own: each is compared with itself
        groups = {part.name: part.trace for part in posterior.parts}
    columns: dict[str, list] = {}
    for name, trace in groups.items():
        for quantity, found in agreement(trace, posterior.burn_in).items():
            row = {"task": name} if name else {}
            row |= {"quantity": quantity.replace("_", " ")}
            row |= {key: found[key] for key in ("mean", "sd", "r_hat", "ess", "inefficiency")}
            row |= {"": found.get("constant") or ("not yet" if (found["r_hat"] or 0) > 1.05 else "")}
            for key, value in row.items():
                columns.setdefault(key, []).append(value)
    chains = len(posterior.parts) if posterior.owner == "chain" else 1
    how = f"{chains} chains" if chains > 1 else "one chain, its halves compared"
    formats = {"mean": ",.2f", "sd": ",.2f", "ess": ".1f", "inefficiency": ".1f"}
    advice = "; not yet: R-hat above 1.05, run more sweeps (plugsamp guide posterior)"
    title = f"Mixing after the burn-in of {posterior.burn_in} sweeps, {how}"
    return Table(columns, title + (advice if "not yet" in columns[""] else ""), formats)


def line(text: str, width: int) -> str:
    """Return text for one line of a terminal, cut to fit."""
    return clipped(one_line(text), width)


def outcome_lines(evaluations: dict) -> list[str]:
    """Return a line for each evaluation that has measures, by name."""
    lines = []
    for what in sorted(evaluations, key=["validation", "test", "train"].index):
        evaluation = evaluations[what]
        measures = evaluation.measures
        numbers = [
            f"{shown(k.replace('_', ' '))} {v:z.3f}" for k, v in measures.items() if isinstance(v, float)
        ]
        if measures:
            numbers.append(f"{measures['n_scored']:,} scored")
            lines.append(f"{what:5} {', '.join(numbers)}")
    return lines
