"""The parts of a posterior, their numbers, and the names of its topics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np

from plugsamp.corpus import Corpus
from plugsamp.errors import InputError
from plugsamp.posterior import names as naming_files
from plugsamp.posterior.parts import Part, calibrated, model_parts, naming
from plugsamp.posterior.trace import Trace, joined
from plugsamp.prediction.ensembles import CHAINS, Ensemble
from plugsamp.prediction.inference import Predictor
from plugsamp.prediction.results import Prediction
from plugsamp.prediction.thresholds import with_thresholds


class Parts:
    """What a `Posterior` is made of: one chain, several, or binary models, with the names of their topics.

    Parameters
    ----------
    predictor : Predictor or Ensemble
    parts : sequence of Part, optional
        The chains, or the binary models of ``ovr`` and ``ovo``, with their traces.
    chain : Chain, optional
        The sampler of one chain.
    corpus : Corpus, optional
        The training documents: what methods use where no other corpus is given.
    test : Corpus, optional
        The held-out documents, of a run folder that was loaded with its corpus.
    burn_in : int
        Sweeps before draws were kept.
    start : str
        How the chain was started.
    joint : bool
        Whether the weights are draws of the chains, and not of a second step.
    options : dict
        What `plugsamp.fit` was given, as text; of a run folder its configuration.
    source : str
        Where it was loaded from, for messages.
    """

    def __init__(
        self,
        predictor: Predictor | Ensemble,
        parts: Sequence[Part] = (),
        *,
        chain=None,
        corpus: Corpus | None = None,
        test: Corpus | None = None,
        burn_in: int = 0,
        start: str = "",
        joint: bool = True,
        options: Mapping | None = None,
        names: Mapping | None = None,
        source: str = "",
    ):
        self.predictor, self.chain, self.corpus, self.test = predictor, chain, corpus, test
        #: Documents kept out of the training documents to choose settings by, where there are some.
        self.validation: Corpus | None = None
        self.parts: tuple[Part, ...] = tuple(parts) or tuple(model_parts(predictor))
        self.burn_in, self.start, self.joint = burn_in, start, joint
        self.options, self._source = dict(options or {}), source
        self._names: dict[str, str] = {}
        self._predicted: dict[int, tuple[Corpus, Prediction]] = {}
        self._evaluated: dict = {}
        if names:
            self.names = names

    # -- what it is made of --------------------------------------------------------------------------

    @property
    def combine(self) -> str:
        """How the parts make a prediction: "mean" of chains (or one), "ovr" or "ovo"."""
        scheme = getattr(self.predictor, "scheme", CHAINS)
        return "mean" if scheme == CHAINS else scheme

    @property
    def owner(self) -> str | None:
        """What several parts are called in tables: "chain" or "task"; None of one chain."""
        if not isinstance(self.predictor, Ensemble):
            return None
        return "chain" if self.combine == "mean" else "task"

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The words."""
        return self.predictor.vocabulary

    @property
    def coding(self):
        """Task and classes."""
        return self.predictor.coding

    @property
    def n_topics(self) -> int:
        """Of each part."""
        return self.parts[0].n_topics

    @property
    def digest(self) -> str:
        """SHA-256 of what prediction uses, in hex."""
        return self.predictor.digest

    @property
    def calibrated(self) -> bool | None:
        """Whether probabilities or intervals are those of a likelihood; None where there are neither."""
        return calibrated(self.predictor)

    @property
    def approximations(self) -> tuple[str, ...]:
        """What kept the chains from the posterior, a clause each."""
        return tuple(dict.fromkeys(clause for part in self.parts for clause in part.approximations))

    @cached_property
    def trace(self) -> Trace:
        """A row a sweep: log joint and its parts, loss, share of tokens that moved, seconds."""
        return self.parts[0].trace if len(self.parts) == 1 else joined(part.trace for part in self.parts)

    @property
    def kept(self) -> list:
        """The sweeps whose draws are kept; of several parts a list each."""
        found = [list(part.kept) for part in self.parts]
        return found if self.owner else found[0]

    @property
    def n_sweeps(self) -> int:
        """Sweeps of each part."""
        return len(self.trace) // len(self.parts)

    @property
    def n_tokens(self) -> int:
        """Tokens sampled in a sweep of all parts."""
        return sum(part.n_tokens for part in self.parts)

    @property
    def seconds(self) -> float:
        """Of starts and sampling, summed over parts."""
        return sum(part.seconds for part in self.parts)

    @property
    def sweep_seconds(self) -> float:
        """Of `seconds` those of the sweeps; the others are the starts'."""
        return sum(row["seconds"] for row in self.trace)

    @property
    def tokens_per_second(self) -> float:
        """Of the sweeps."""
        return self.n_sweeps * self.n_tokens / max(self.sweep_seconds, 1e-9)

    @property
    def topic_totals(self) -> list[np.ndarray]:
        """Tokens of each topic after the last sweep, by part."""
        return [np.asarray((self.stats(part) or {}).get("tokens", ())) for part in self.parts]

    def stats(self, part: Part) -> dict | None:
        """Return what is known of the topics of a part by name (K,), or None."""
        if part.stats is None and self.chain is not None:
            from plugsamp.diagnostics import topic_table

            eta = self.parts[0].predictor.eta.mean(axis=0)
            found = topic_table(self.chain, part.predictor.phi, eta, self.chain.corpus.counts())
            self.parts = (replace(self.parts[0], stats=found),)
            return found
        if part.number is None and part.chain is not None:  # a chain that is shown for all
            return self.parts[part.chain].stats
        return self.parts[part.number or 0].stats

    def without(self, what: str) -> str:
        """Return why there is no `what`, and what to do."""
        if what == "trace":
            of = f"{self._source} is a model without a trace" if self._source else "there is no trace"
            return f"{of}; ps.load of the run folder has the trace of a run, and so has what ps.fit returns"
        return (
            "this needs documents: pass corpus=..., the training documents or others. What ps.fit returns "
            "knows its training documents, and ps.load(folder, corpus=True) reads those of a run folder again"
        )

    # -- names ---------------------------------------------------------------------------------------

    @property
    def names(self) -> dict[str, str]:
        """Names of topics, by key: the number, of several parts "PART.NUMBER". Saved with the posterior."""
        return dict(self._names)

    @names.setter
    def names(self, names: Mapping) -> None:
        self._names = {}
        self.rename(names)

    def rename(self, names: Mapping | str | Path) -> None:
        """Name topics; an empty name takes one away.

        Parameters
        ----------
        names : mapping of topic to str, or path-like
            By number (of several parts "PART.NUMBER", such as "1.3"), or a file that the report has saved
            (`plugsamp.posterior.names.read`).

        Raises
        ------
        InputError
            A topic that the model does not have, or a name that is no text of at most 80 characters.
        """
        known = naming(self.predictor)
        if not isinstance(names, Mapping):
            names = naming_files.read(names, known)
        self._names |= naming_files.checked(
            ((str(key), None, name, None) for key, name in names.items()), known
        )
        self._names = {key: name for key, name in self._names.items() if name}

    def called(self, part: Part, k: int) -> str:
        """Return the name of a topic, or "topic 3"."""
        return self._names.get(part.key(k)) or f"topic {k}"

    def _part_of(self, topic, part=None) -> tuple[Part, int]:
        """The part and the number of a topic that is given by number, key or name."""
        keys = {p.key(k): (p, k) for p in self.parts for k in range(p.n_topics)}
        if isinstance(topic, str):
            named = [key for key, name in self._names.items() if name == topic]
            if len(named) == 1:
                return keys[named[0]]
            if topic in keys:
                return keys[topic]
        elif isinstance(topic, int | np.integer) and not isinstance(topic, bool):
            chosen = self._chosen(part, first=True)
            if len(chosen) > 1:
                key = chosen[0].key(3)
                raise InputError(f"each model has topics of its own: give part=..., or a key such as {key!r}")
            if 0 <= topic < chosen[0].n_topics:
                return chosen[0], int(topic)
        raise InputError(f"there is no topic {topic!r}: topics are 0 to {self.n_topics - 1}, or their names")

    def _chosen(self, part, first: bool) -> list[Part]:
        """The parts that a table shows: of several chains the first, unless others are asked for."""
        if part is None:
            return [self.parts[0]] if first and self.owner == "chain" else list(self.parts)
        if isinstance(part, str) and part == "all":
            return list(self.parts)
        for number, one in enumerate(self.parts):
            if part == one.name or (not isinstance(part, str) and part == number):
                return [one]
        names = ", ".join(repr(one.name) for one in self.parts[:5]) if self.owner else "0"
        raise InputError(f"there is no part {part!r}: it is a number from 0, 'all', or one of {names}")

    def _one(self, part) -> Part:
        """The part that is shown where topics of one model alone can be."""
        (one, *more) = self._chosen(part, first=True)
        if more:
            raise InputError(f"each model has topics of its own: give part=..., such as part={one.name!r}")
        return one

    def note(self, parts: Sequence[Part]) -> str:
        """Return what a table says of the part that it shows."""
        if self.owner is None or len(parts) > 1:
            return ""
        number = parts[0].number if parts[0].number is not None else parts[0].chain
        note = f"{self.owner} {number + 1} of {len(self.parts)}"
        return f"{note} ({self.parts[number].name})." if self.owner == "task" else f"{note}."

    # -- others like it ------------------------------------------------------------------------------

    def with_options(self, **options) -> Parts:
        """Return the same with other `passes`, `burn_in`, `restarts`, `seed` or `vocabulary`."""
        predictor = self.predictor.with_options(**options)
        fresh = model_parts(predictor)
        parts = [replace(p, predictor=f.predictor) for p, f in zip(self.parts, fresh, strict=True)]
        return self._like(predictor, parts, chain=self.chain, corpus=self.corpus, test=self.test)

    def deciding(self, thresholds) -> Parts:
        """Return the same with thresholds (C,) of its labels (`plugsamp.prediction.thresholds`)."""
        predictor = with_thresholds(self.predictor, thresholds)
        parts = self.parts
        if self.combine == "mean":
            own = getattr(predictor, "members", [predictor])
            parts = [replace(p, predictor=m, coding=m.coding) for p, m in zip(self.parts, own, strict=True)]
        return self._like(predictor, parts, chain=self.chain, corpus=self.corpus, test=self.test)

    def detached(self) -> Parts:
        """Return the same without the sampler and the documents, as a pickle holds it."""
        self.stats(self.parts[0])
        return self._like(self.predictor, self.parts)

    def _like(self, predictor, parts, **more) -> Parts:
        return type(self)(
            predictor, parts, burn_in=self.burn_in, start=self.start, joint=self.joint, options=self.options,
            names=self._names, source=self._source, **more,
        )  # fmt: skip

    def __reduce__(self):
        detached = self.detached()
        state = detached.__dict__ | {"_predicted": {}, "_evaluated": {}}
        return _restored, (type(self), state)


def _restored(kind: type, state: dict) -> Parts:
    found = kind.__new__(kind)
    found.__dict__.update(state)
    return found
