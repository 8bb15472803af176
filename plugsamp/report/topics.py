"""The topics: rows of the table, what the page's script knows of each, and the map."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from markupsafe import Markup
from scipy.spatial.distance import pdist, squareform

from plugsamp.brief import cut, shown
from plugsamp.posterior.draws import Draws
from plugsamp.posterior.rankings import top_words, word_marginal
from plugsamp.posterior.tabulate import intervals
from plugsamp.report import svg
from plugsamp.report.texts import percent, rounded

#: Words of a row, words that the slider can bring up, documents and weights of an opened topic.
WORDS, MORE, DOCUMENTS, WEIGHTS = 10, 20, 3, 8

#: Characters of a label.
LABEL = 120

#: Classes that a row says a topic speaks for, and against.
PRO, CONTRA = 2, 1

#: Topics on the page, on the map, and those with documents.
TOPICS, MAPPED, DOCUMENTED = 400, 200, 120

#: Weights of probability in relevance, between which the words of the slider are found.
GRID = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)

#: The most probable words of a topic, beyond which no ranking looks.
REACHED = 5000

#: Words whose probabilities are compared between topics; the others are one more word.
COMPARED = 1000

#: A topic is doubtful below this NPMI, this effective number of documents, this part of the mean share, and
#: this Jensen-Shannon distance to another; or if one word has more than this part of it; or if it is spread
#: over this many times the documents of the median topic, of at least so many topics.
NPMI, SPREAD, TINY, TWINS, ONE_WORD, WIDE, SEVERAL = 0.0, 3.0, 0.15, 0.2, 0.5, 3.0, 8


@dataclass(frozen=True)
class Weight:
    """What a topic weighs for an output: mean and interval over kept draws."""

    output: str
    mean: float
    low: float
    high: float

    @property
    def sure(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low > 0 or self.high < 0


@dataclass
class Row:
    """A topic in the table; what is not known is None."""

    key: str
    number: int
    name: str
    model: str
    words: list[str]
    share: float | None = None
    npmi: float | None = None
    weights: list[Weight] = field(default_factory=list)  # the strongest first
    doubts: list[str] = field(default_factory=list)

    @property
    def pro(self) -> list[Weight]:
        return [w for w in self.weights if w.mean > 0][:PRO]

    @property
    def contra(self) -> list[Weight]:
        return [w for w in self.weights if w.mean < 0][:CONTRA]


@dataclass
class Topics:
    """
    Attributes
    ----------
    rows : list of Row
        The largest topics first.
    note : str
        Which topics are left out.
    largest : float
        The largest size of a weight.
    data : dict
        What the script knows: words with probabilities, documents, weights and neighbours by topic.
    map : Markup or None
    map_note : str
    """

    rows: list[Row]
    note: str
    largest: float
    data: dict
    map: Markup | None = None
    map_note: str = ""

    def doubtful(self) -> list[Row]:
        return [row for row in self.rows if row.doubts]


def weights_of(part: Draws, signed: bool) -> list[list[Weight]]:
    """Return by topic what it weighs for each class, label or response, the strongest first.

    Two classes with one output: the class that is spoken for, with a positive weight, unless `signed`. A
    single response has no name.
    """
    if not part.outputs:
        return [[] for _ in range(part.n_topics)]
    mean, low, high = intervals(part.user_coding.by_class(part.weights[:, :, : part.n_topics]), 0.9)
    names = [shown(name, LABEL) for name in part.user_coding.spoken_for]
    found = []
    for k in range(part.n_topics):
        row = [
            Weight(name, *map(float, v))
            for name, *v in zip(names, mean[:, k], low[:, k], high[:, k], strict=True)
        ]
        if part.user_coding.task == "binary" and not signed:
            one, other = row[-1], shown(part.user_coding.classes[0], LABEL)
            row = [one if one.mean > 0 else Weight(other, -one.mean, -one.high, -one.low)]
        found.append(sorted(row, key=lambda w: -abs(w.mean)))
    return found


def topics_of(posterior, parts: list[Draws], corpus, by: str) -> Topics:
    """Return the topics of some parts, from `Posterior.topics` and `Posterior.documents`."""
    table = posterior.topics(words=WORDS, by=by)
    by_name = {part.name: part for part in parts}
    owners = [by_name[row["task"]] if "task" in row else parts[0] for row in table]
    if len(table) > TOPICS:
        shares = np.asarray(table["share"]) if "share" in table else -np.arange(len(table))
        chosen = np.sort(np.argsort(-shares, kind="stable")[:TOPICS]).tolist()
        table, owners = table.take(chosen), [owners[i] for i in chosen]
    weights = {part.name: weights_of(part, posterior.combine == "ovr") for part in parts}
    rows = []
    for part, row in zip(owners, table, strict=True):
        found = weights[part.name][row["topic"]]
        rows.append(
            Row(
                key=part.key(row["topic"]), number=row["topic"], name=shown(row.get("name") or "", 80),
                model=shown(row.get("task", "")), words=[*map(_word, row["words"])],
                share=row.get("share"), npmi=row.get("npmi"), weights=found,
            )
        )  # fmt: skip
    n_all = sum(part.n_topics for part in parts)
    largest = max((abs(w.mean) for row in rows for w in row.weights[:1]), default=0.0)
    for row in rows:
        if row.npmi is not None and not math.isfinite(row.npmi):
            row.npmi = None
    found = Topics(rows, cut(len(rows), n_all, "topics", "those with the largest shares"), largest, {})
    _add_words(found, owners, posterior)
    _add_documents(found, owners, posterior, corpus)
    _add_map(found, owners)
    _add_doubts(found, owners, posterior)
    return found


def _word(word: str) -> str:
    return shown(word, 30)


def _add_words(found: Topics, owners: list[Draws], posterior) -> None:
    """Words by topic with their probabilities, which the slider ranks anew; those by FREX in their order."""
    vocabulary, place = posterior.vocabulary, {}
    by_part = {}
    for part in dict.fromkeys(owners):
        phi = part.phi
        stats = posterior.stats(part) or {}
        marginal = word_marginal(phi, stats.get("tokens"))
        marginal = np.maximum(np.asarray(marginal, dtype=float), 1e-300)
        by_part[part] = marginal, top_words(phi, MORE, "frex")
    marginals: list[float] = []
    for part, row in zip(owners, found.rows, strict=True):
        marginal, frex = by_part[part]
        own = _row(part, row.number)
        chosen = _candidates(own, marginal, frex[row.number])
        numbers = []
        for w in chosen.tolist():
            key = (id(part) if row.model else 0, w)
            if key not in place:
                place[key] = len(place)
                marginals.append(rounded(float(marginal[w])))
            numbers.append(place[key])
        local = dict(zip(chosen.tolist(), numbers, strict=True))
        found.data[row.key] = {
            "w": numbers, "f": [rounded(float(v)) for v in own[chosen]],
            "x": [local[w] for w in frex[row.number].tolist() if w in local],
            "h": row.share if row.share is None else rounded(row.share),
            "s": [[w.output, *map(rounded, (w.mean, w.low, w.high))] for w in row.weights[:WEIGHTS]],
        }  # fmt: skip
    words = [_word(vocabulary[w]) for _, w in place]
    found.data = {"words": words, "p": marginals, "rows": found.data}


def _row(part: Draws, k: int) -> np.ndarray:
    """The probabilities of words in a topic, float64 (V,)."""
    own = np.asarray(part.phi[k], dtype=float)
    return own / max(own.sum(), 1e-300)


def _candidates(own, marginal, frex) -> np.ndarray:
    """Words that any ranking can bring up, those of high probability first."""
    frequent = np.argpartition(-own, min(REACHED, len(own)) - 1)[:REACHED]
    frequent = np.sort(frequent[own[frequent] > 0])
    log_own, log_marginal = np.log(own[frequent]), np.log(marginal[frequent])
    n = min(MORE, len(frequent))
    best = [frequent[np.argpartition((1 - lam) * log_marginal - log_own, n - 1)[:n]] for lam in GRID]
    chosen = np.unique(np.concatenate([*best, frex[own[frex] > 0]]))
    return chosen[np.argsort(-own[chosen], kind="stable")]


def _add_documents(found: Topics, owners: list[Draws], posterior, corpus) -> None:
    if corpus is None:
        return
    for part, row in list(zip(owners, found.rows, strict=True))[:DOCUMENTED]:
        table = posterior.documents(row.number, corpus, n=DOCUMENTS, part=part.number)
        found.data["rows"][row.key]["d"] = [
            [shown(d["id"]), rounded(d["share"]), d.get("response", ""), " ".join(map(_word, d["words"]))]
            for d in table
        ]


def distances(phi) -> np.ndarray:
    """Return the Jensen-Shannon distances of topics, the roots of the divergences in bits, float64 (K, K)."""
    return squareform(pdist(phi, "jensenshannon")) / math.sqrt(math.log(2))


def scaled(distance) -> tuple[np.ndarray, float]:
    """Return places in two dimensions (K, 2) by classical scaling, and the part of the squares they keep."""
    n = len(distance)
    centred = distance**2
    centred = -0.5 * (centred - centred.mean(axis=0) - centred.mean(axis=1)[:, None] + centred.mean())
    values, vectors = np.linalg.eigh(centred)
    first = np.argsort(-values, kind="stable")[:2]
    kept = np.maximum(values[first], 0)
    places = np.zeros((n, 2))
    places[:, : len(first)] = vectors[:, first] * np.sqrt(kept)
    for c in range(2):  # eigenvectors have no sign of their own
        if places[np.argmax(np.abs(places[:, c])), c] < 0:
            places[:, c] *= -1
    return places, float(kept.sum() / max(values[values > 0].sum(), 1e-300))


def _add_map(found: Topics, owners: list[Draws]) -> None:
    rows = found.rows[:MAPPED]
    if len(rows) < 2:
        return
    phi = np.stack([_row(part, row.number) for part, row in zip(owners, rows, strict=False)])
    frequent = np.sort(np.argsort(-phi.sum(axis=0), kind="stable")[:COMPARED])
    others = np.maximum(1 - phi[:, frequent].sum(axis=1), 0)
    distance = distances(np.column_stack([phi[:, frequent], others]))
    for i, row in enumerate(rows):
        near = [j for j in np.argsort(distance[i], kind="stable").tolist() if j != i][:3]
        found.data["rows"][row.key]["n"] = [[rows[j].key, rounded(float(distance[i, j]))] for j in near]
        twin = near[0]
        if distance[i, twin] < TWINS:
            row.doubts.append(f"nearly the same words as topic {rows[twin].number}")
    if len(rows) < 3:
        return
    places, kept = scaled(distance)
    shares = [1.0 if row.share is None else row.share for row in rows]
    found.map = svg.topic_map(places, shares, rows)
    kept_note = f"Two dimensions keep {percent(kept, 0)} of the squared distances."
    found.map_note = f"{kept_note} {cut(len(rows), len(found.rows), 'topics', 'the largest')}"


def _add_doubts(found: Topics, owners: list[Draws], posterior) -> None:
    for part, row in zip(owners, found.rows, strict=True):
        stats = posterior.stats(part) or {}
        entropy = np.asarray(stats.get("document_entropy", np.full(part.n_topics, np.nan)))
        # Background is spread over documents evenly (AlSumait et al. 2009).
        wide = np.median(entropy) + math.log(WIDE) if len(entropy) >= SEVERAL else np.inf
        if row.npmi is not None and row.npmi < NPMI:
            row.doubts.insert(0, "its words rarely occur together")
        if entropy[row.number] < math.log(SPREAD):
            row.doubts.append("almost all of it is in one or two documents")
        if entropy[row.number] > wide:
            row.doubts.append("it is spread over far more documents than others, so its words may be general")
        own = _row(part, row.number)
        if own.max() > ONE_WORD and len(own) > WORDS:
            word = _word(posterior.vocabulary[int(own.argmax())])
            row.doubts.append(f"{percent(own.max(), 0)} of it is the word {word}")
        if row.share is not None and row.share < TINY / part.n_topics:
            row.doubts.append("hardly used")
