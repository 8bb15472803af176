"""Several predictors as one: chains of the same model, or several classes as separate binary models.

One class against the rest, or one against one, is the papers' other way to several classes beside the
multi-task model (Zheng et al. 2015, section 4.1): every task has topics, weights and a chain of its own,
so tasks run in parallel and share nothing. Chains of the same model differ by their seeds alone.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
from scipy.special import softmax

from plugsamp.brief import Brief
from plugsamp.corpus import Corpus
from plugsamp.losses.coding import Coding, code_classes
from plugsamp.prediction.inference import Predictor, decisions
from plugsamp.prediction.matching import warn_of_strangers
from plugsamp.prediction.predictive import Joined
from plugsamp.prediction.results import Prediction

SCHEMES = ("multitask", "ovr", "ovo")

#: The scheme of an ensemble whose members are chains of one model.
CHAINS = "chains"


@dataclass(frozen=True, repr=False)
class Task(Brief):
    """One binary task: a name, the rows of the corpus that it uses (None: all), and their responses."""

    name: str
    rows: np.ndarray | None
    responses: np.ndarray

    def corpus(self, corpus: Corpus) -> Corpus:
        """The documents of the task with its responses."""
        chosen = corpus if self.rows is None else corpus.take(self.rows)
        if self.responses is corpus.responses:  # of a chain of the model: columns keep their names
            return chosen
        return chosen.with_responses(self.responses)


def tasks(corpus: Corpus, scheme: str) -> tuple[list[Task], Coding]:
    """The binary tasks of a corpus, and the coding of all its classes.

    Parameters
    ----------
    corpus : Corpus
        With one label a document of two classes or more, or a table of 0/1 (several labels).
    scheme : {"ovr", "ovo"}
        "ovr": every class against all others (of several labels: every label). "ovo": every pair of
        classes, on their documents alone.

    Raises
    ------
    ValueError
    """
    if corpus.responses is None:
        raise ValueError(f"multiclass={scheme} needs labels, and the corpus has none")
    coding = code_classes(corpus.responses, corpus.response_names, one_each=True)
    if scheme == "ovr":
        made = [Task(str(name), None, _binary(coding.y[:, c])) for c, name in enumerate(coding.classes)]
        for task in made:
            if len({v for v in task.responses.tolist() if v is not None}) < 2:
                raise ValueError(
                    f"multiclass=ovr: all documents have the same value of the label {task.name!r}"
                )
        return made, coding
    if coding.task == "multilabel":
        raise ValueError("multiclass=ovo needs one label a document; several labels take ovr or multitask")
    made = []
    for a, b in combinations(range(coding.n_outputs), 2):
        rows = np.flatnonzero((coding.y[:, a] > 0) | (coding.y[:, b] > 0))
        name = f"{coding.classes[a]} | {coding.classes[b]}"
        made.append(Task(name, rows, _binary(coding.y[rows, b])))
    return made, coding


def _binary(y) -> np.ndarray:
    """Booleans, None where missing."""
    values = np.empty(len(y), dtype=object)
    values[:] = [None if np.isnan(v) else bool(v > 0) for v in y]
    return values


@dataclass(frozen=True, eq=False, repr=False)
class Ensemble(Brief):
    """Predictors of binary tasks, as a predictor of the classes; or of one model's chains, as their mean.

    Attributes
    ----------
    members : tuple of Predictor
        Of each task, in the order of `tasks`.
    names : tuple of str
        What each task tells apart.
    scheme : {"ovr", "ovo", "chains"}
    coding : Coding
        Of all classes; its y is empty.
    """

    members: tuple[Predictor, ...]
    names: tuple[str, ...]
    scheme: str
    coding: Coding = field(repr=False)

    def __post_init__(self):
        if self.scheme == CHAINS:
            if not self.members or len(self.members) != len(self.names):
                raise ValueError(f"{len(self.members)} chains have {len(self.names)} names")
            return
        n = len(self.coding.classes)
        wanted = n if self.scheme == "ovr" else n * (n - 1) // 2
        if not len(self.members) == len(self.names) == wanted:
            raise ValueError(f"{self.scheme} of {n} classes has {wanted} members, {len(self.members)} given")

    @property
    def vocabulary(self) -> tuple[str, ...]:
        return self.members[0].vocabulary

    @property
    def digest(self) -> str:
        """SHA-256 of the members' digests and the scheme, in hex."""
        return self._digest_of(member.digest for member in self.members)

    @property
    def topics_digest(self) -> str:
        """The same of the members' topics alone (`Predictor.topics_digest`)."""
        return self._digest_of(member.topics_digest for member in self.members)

    def _digest_of(self, digests) -> str:
        h = hashlib.sha256(f"plugsamp ensemble 1 {self.scheme}".encode())
        for digest in digests:
            h.update(digest.encode())
        return h.hexdigest()

    def member_codings(self) -> list[Coding]:
        """Of every member what its two sides are called, for those who read its weights."""
        if self.scheme == CHAINS:
            return [member.coding for member in self.members]
        names = [str(c) for c in self.coding.classes]
        if self.scheme == "ovr":
            sides = [(f"not {name}", name) for name in names]
        else:
            sides = list(combinations(names, 2))
        empty = np.empty((0, 1))
        return [Coding(empty, "binary", np.array(pair, dtype=object)) for pair in sides]

    def with_options(self, **options) -> Ensemble:
        """The same with other `passes`, `burn_in`, `restarts`, `seed` or `vocabulary` of every member."""
        return replace(self, members=tuple(m.with_options(**options) for m in self.members))

    def predict(self, corpus: Corpus) -> Prediction:
        """Classes of documents.

        Returns
        -------
        Prediction
            ``f`` (D, C) holds a score a class: of "ovr" the linear predictor of its model; of "ovo" the
            number of pairs that it wins, ties broken by the sum of its linear predictors. Labels are
            those of the largest score, of "ovr" of the largest probability where the loss has some. Of
            "chains" f is the mean over the chains; probabilities, labels and intervals are those of the
            mixture over all their draws.
            ``zbar`` and ``theta`` are those of the members side by side.
        """
        one_model = self.scheme == CHAINS
        parts = [m.decided(*m.folded(documents), not one_model) for m, documents in self._encoded(corpus)]
        warn_of_strangers(parts[0].n_known, parts[0].n_unknown, corpus.vocabulary, self.vocabulary)
        if one_model:
            return _joined(parts)
        margins = np.hstack([_signed(part) for part in parts])
        if self.scheme == "ovr":
            f, probabilities = margins, self._normalised(parts)
        else:
            f, probabilities = votes(margins, len(self.coding.classes)), None
        labels = self.coding.decide(f) if probabilities is None else self.coding.choose(probabilities)
        return replace(
            parts[0],
            zbar=np.hstack([part.zbar for part in parts]),
            theta=np.hstack([part.theta for part in parts]),
            f=f,
            labels=labels,
            probabilities=probabilities,
            calibrated=self._calibrated(parts, probabilities),
            coding=self.coding,
            predictive=None,
            likelihood=probabilities is not None and all(part.likelihood for part in parts),
        )

    def predict_iter(self, documents, *, batch: int | None = None, n_jobs: int | None = None):
        """Predict documents in batches; see `plugsamp.prediction.stream.predict_iter`."""
        from plugsamp.prediction.stream import BATCH, predict_iter

        return predict_iter(self, documents, batch=BATCH if batch is None else batch, n_jobs=n_jobs)

    def _encoded(self, corpus: Corpus):
        """Every member with the documents as it wants them; equal encoders make them once."""
        made: dict[str, Corpus] = {}
        for member in self.members:
            encoder = member.encoder
            key = "" if encoder is None else encoder.digest
            if key not in made:
                made[key] = corpus if encoder is None else encoder.transform(corpus)
            yield member, made[key]

    def _calibrated(self, parts, probabilities) -> bool | None:
        """Whether each class's or label's own model is calibrated, of two classes or of labels."""
        if probabilities is None:
            return None
        return self.coding.one_model and all(part.calibrated for part in parts)

    def _normalised(self, parts) -> np.ndarray | None:
        """P(positive) of every member, brought to sum 1 where a document has one class."""
        if any(part.probabilities is None for part in parts):
            return None
        p = np.column_stack([part.probabilities[:, -1] for part in parts])
        if self.coding.task == "multilabel":
            return p
        total = p.sum(axis=1, keepdims=True)
        # Where every class is out of sight, 1/(1 + exp(-f)) is exp(f), whose ratios are still to be had.
        far = softmax(np.hstack([_signed(part) for part in parts]), axis=1)
        return np.where(total > 1e-290, p / np.maximum(total, 1e-290), far)


def _signed(part: Prediction) -> np.ndarray:
    """The linear predictor for the positive side, (D, 1); losses with an output a class have two."""
    f = part.f
    return f if f.shape[1] == 1 else f[:, 1:] - f[:, :1]


def votes(margins, n_classes: int) -> np.ndarray:
    """Scores (D, n_classes) of one-vs-one margins (D, pairs), positive for the later class of a pair.

    Pairs won, plus the sum of margins squeezed into (-1/3, 1/3), which settles ties only.
    """
    won, sums = np.zeros((len(margins), n_classes)), np.zeros((len(margins), n_classes))
    for p, (a, b) in enumerate(combinations(range(n_classes), 2)):
        later = margins[:, p] > 0
        won[:, b] += later
        won[:, a] += ~later
        sums[:, b] += margins[:, p]
        sums[:, a] -= margins[:, p]
    return won + sums / (3.0 * (np.abs(sums) + 1.0))


def _joined(parts: list[Prediction]) -> Prediction:
    """What chains of one model say together; topics, which have no common order, stand side by side."""
    first = parts[0]
    side_by_side = {name: np.hstack([getattr(part, name) for part in parts]) for name in ("zbar", "theta")}
    if first.predictive is None:
        return replace(first, **side_by_side)
    f = np.mean([part.f for part in parts], axis=0)
    predictive = Joined([part.predictive for part in parts])
    probabilities = predictive.probabilities()
    return replace(
        first, **side_by_side, f=f, labels=decisions(predictive, f, probabilities),
        probabilities=probabilities, calibrated=predictive.calibrated, predictive=predictive,
        likelihood=probabilities is not None and predictive.likelihood,
    )  # fmt: skip
