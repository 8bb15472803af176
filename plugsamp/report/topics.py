"""The topics: words, sizes, what they speak for, documents that have much of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from plugsamp.brief import shown
from plugsamp.diagnostics import coherence, document_entropy, supervised_effect
from plugsamp.posterior.explanations import response_of
from plugsamp.posterior.parts import Part
from plugsamp.posterior.rankings import RANKINGS, top_words, word_marginal
from plugsamp.report.folder import CHAINS, Table

#: Words and outputs in a topic's row.
WORDS, SPEAKS = 10, 3


@dataclass(frozen=True)
class Detail:
    """What a topic shows when it is opened: words, documents and words of them, outputs."""

    words: int
    documents: int
    excerpt: int
    outputs: int


#: Of some topics, and of each of many: the page stays quick to open.
FEW, MANY, FEW_TOPICS = Detail(20, 3, 8, 8), Detail(15, 2, 5, 4), 120

#: Topics on the page in all, and models of separate chains.
TOPICS, MODELS = 400, 60

#: The ends of the intervals of weights.
ENDS = (0.05, 0.95)


@dataclass(frozen=True)
class Weight:
    """The weight of an output: mean and interval over kept draws."""

    output: str
    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Document:
    """A document that has much of a topic: its share there, its response, its words of the topic."""

    id: str
    share: float
    response: str
    words: list[str]


@dataclass(frozen=True)
class Topic:
    """A topic as it is shown; what is not known is None."""

    key: str
    number: int
    words: dict[str, list[str]]  # by ranking
    more_words: list[tuple[str, float]]
    share: float | None
    coherence: float | None
    entropy: float | None
    effect: float | None
    speaks_for: list[Weight]
    weights: list[Weight]
    n_outputs: int
    documents: list[Document]


@dataclass(frozen=True)
class Model:
    """The topics of a model, the largest first."""

    number: int | None
    name: str
    topics: list[Topic]
    n_topics: int


def spread(eta) -> np.ndarray:
    """Mean (as in weights.csv) and ends of the interval over draws (S, ...), float64 (3, ...)."""
    return np.stack([np.mean(eta, axis=0), *np.quantile(eta, ENDS, axis=0)])


def models(members: list[Part], train, prediction, table: Table | None) -> list[Model]:
    """The topics of every model that is shown.

    Parameters
    ----------
    members : list of Part
    train : Corpus, in the model's vocabulary, or None
    prediction : Prediction of `train`, or None
    table : topics.csv, or None
    """
    chosen = members[:MODELS]
    room = max(1, TOPICS // len(chosen))
    detail = FEW if sum(min(m.n_topics, room) for m in chosen) <= FEW_TOPICS else MANY
    return [_model(m, room, detail, train, prediction, _own(table, m)) for m in chosen]


def _own(table: Table | None, member: Part) -> Table | None:
    """The rows of a member's topics."""
    if table is None or (member.number is None and member.chain is None):
        return table
    owner = next((name for name in CHAINS if name in table.columns), None)
    if owner is None:
        return None
    names = table.column(owner)
    if member.number is None:  # a chain that is shown for all, without its name
        called = list(dict.fromkeys(names))
        member = replace(member, name=called[member.chain] if member.chain < len(called) else "")
    return Table(
        table.columns, [row for name, row in zip(names, table.rows, strict=True) if name == member.name]
    )


def _model(member: Part, room: int, detail: Detail, train, prediction, table: Table | None) -> Model:
    n_topics, phi = member.n_topics, member.predictor.phi
    vocabulary = member.predictor.vocabulary
    numbers = _columns(member, train, prediction, table)
    said = member.coding.by_class(member.eta[:, :, :n_topics]) if member.outputs else None
    weights = spread(said) if member.outputs else np.zeros((3, 0, n_topics))
    importance = numbers.get("share")
    if importance is None or (n_topics > room and len(member.outputs)):
        importance = np.abs(weights[0]).sum(axis=0) if len(member.outputs) else -np.arange(n_topics)
    rows = np.argsort(-importance, kind="stable")[:room]
    if "share" in numbers:
        rows = rows[np.argsort(-numbers["share"][rows], kind="stable")]
    best = top_words(phi[rows], max(WORDS, detail.words))
    ranked = _ranked(phi, rows, numbers.get("share"))
    counts = train.counts() if train is not None else None
    topics = []
    for place, (k, words) in enumerate(zip(rows.tolist(), best, strict=True)):
        strength = _weights(member.coding.spoken_for, weights[:, :, k])
        spoken = member.coding.strongest(weights[0, :, k], SPEAKS) if strength else []
        documents = _documents(member, k, detail, train, counts, prediction) if prediction is not None else []
        mass = max(float(phi[k].sum()), 1e-300)
        topics.append(
            Topic(
                key=member.key(k),
                number=k,
                words={by: [shown(vocabulary[w], 30) for w in best[place]] for by, best in ranked.items()},
                more_words=[(shown(vocabulary[w], 30), float(phi[k, w]) / mass) for w in words],
                **{
                    name: float(numbers[name][k]) if name in numbers else None
                    for name in ("share", "coherence", "entropy", "effect")
                },
                speaks_for=[strength[c] for c in spoken],
                weights=sorted(strength, key=lambda w: -abs(w.mean))[: detail.outputs],
                n_outputs=len(strength),
                documents=documents,
            )
        )
    return Model(member.number, shown(member.name), topics, n_topics)


def _ranked(phi, rows, shares) -> dict[str, np.ndarray]:
    """The words of some topics by every ranking, int64 (rows, WORDS) each; all topics take part in it."""
    marginal = word_marginal(phi, shares)
    return {by: top_words(phi, WORDS, by, marginal)[rows] for by in RANKINGS}


def _weights(outputs: list[str], values) -> list[Weight]:
    return [Weight(shown(name), *map(float, three)) for name, three in zip(outputs, values.T, strict=True)]


def _columns(member: Part, train, prediction, table: Table | None) -> dict[str, np.ndarray]:
    """What is known of every topic: by the chain's counts, or else by the training documents as predicted."""
    numbers = {}
    if member.outputs:
        numbers["effect"] = supervised_effect(member.eta.mean(axis=0), member.n_topics)
    if table is not None and len(table.rows) == member.n_topics:
        tokens = table.numbers("tokens")
        numbers["share"] = tokens / max(tokens.sum(), 1.0)
        numbers["coherence"] = table.numbers("coherence")
        numbers["entropy"] = table.numbers("document_entropy")
        return numbers
    if train is None or prediction is None:
        return numbers
    doc_topic = prediction.zbar[:, member.columns] * prediction.n_known[:, None]
    totals = doc_topic.sum(axis=0)
    numbers["share"] = totals / max(totals.sum(), 1.0)
    numbers["coherence"] = coherence(member.predictor.phi, train.counts())
    numbers["entropy"] = document_entropy(doc_topic)
    return numbers


def _documents(member: Part, k: int, detail: Detail, train, counts, prediction) -> list[Document]:
    """Those with the largest expected share; the prior draws short ones to the middle."""
    share = prediction.theta[:, member.columns.start + k]
    share = np.where(prediction.n_known > 0, share, -1.0)
    n = min(detail.documents, len(share))
    rows = np.argpartition(-share, n - 1)[:n]
    rows = rows[np.argsort(-share[rows], kind="stable")]
    phi, found = member.predictor.phi, []
    for d in rows.tolist():
        if prediction.n_known[d] == 0:
            continue
        words, n_words = _row(counts, d)
        theta = prediction.theta[d, member.columns]
        mass = n_words * phi[k, words] * theta[k] / np.maximum(theta @ phi[:, words], 1e-300)
        best = words[np.argsort(-mass, kind="stable")[: detail.excerpt]]
        found.append(
            Document(
                shown(train.ids[d]), float(share[d]), response_of(train, d),
                [shown(member.predictor.vocabulary[w], 30) for w in best],
            )
        )  # fmt: skip
    return found


def _row(counts, d: int):
    place = slice(counts.indptr[d], counts.indptr[d + 1])
    return counts.indices[place], counts.data[place]
