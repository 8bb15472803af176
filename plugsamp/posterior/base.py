"""The parts of a posterior, their numbers, and the names of its topics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np

from plugsamp.corpus import Corpus
from plugsamp.errors import InputError
from plugsamp.posterior import names as naming_files
from plugsamp.posterior.draws import Draws
from plugsamp.posterior.parts import calibrated, naming, numbered
from plugsamp.posterior.trace import Trace, joined
from plugsamp.prediction.combine import digest_of
from plugsamp.prediction.results import Prediction
from plugsamp.readers.frame import corpus_of_texts, missing_cell

#: What a posterior of one part has of it by itself, as a fitted model had before.
_OF_THE_PART = (
    "phi", "eta", "alpha", "loss", "parameters", "covariate_names", "intercept", "passes", "restarts", "seed",
    "encoder", "source", "fold_in", "folded",
)  # fmt: skip


class Parts:
    """What a `Posterior` is made of: one chain, several, or binary models, with the names of their topics.

    Parameters
    ----------
    parts : sequence of Draws
        Of each chain, or of each binary model of ``ovr`` and ``ovo``.
    combine : {"mean", "ovr", "ovo"}
        How the parts make a prediction: chains of one model by the mean over all their draws.
    coding : Coding, optional
        Of all classes; by default that of the parts.
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
        parts: Sequence[Draws],
        combine: str = "mean",
        coding=None,
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
        self.combine, self.coding = combine, parts[0].coding if coding is None else coding
        self.parts: tuple[Draws, ...] = numbered(parts, combine, self.coding)
        self.chain, self.corpus, self.test = chain, corpus, test
        #: Documents kept out of the training documents to choose settings by, where there are some.
        self.validation: Corpus | None = None
        #: From ids to the texts of documents, where they can be read again.
        self.texts: Callable | None = None
        self.burn_in, self.start, self.joint = burn_in, start, joint
        self.options, self._source = dict(options or {}), source
        self._names: dict[str, str] = {}
        self._predicted: dict[int, tuple[Corpus, Prediction]] = {}
        self._evaluated: dict = {}
        if names:
            self.names = names

    # -- what it is made of --------------------------------------------------------------------------

    @property
    def predictor(self) -> Parts:
        """Itself: the fitted model was an attribute before."""
        return self

    def __getattr__(self, name: str):
        parts = self.__dict__.get("parts", ())
        if name == "members" and len(parts) > 1:
            return parts
        if name not in _OF_THE_PART or not parts:
            raise AttributeError(f"a {type(self).__name__} has no attribute {name!r}")
        if len(parts) > 1:
            raise AttributeError(f"each {self.owner} has {name!r} of its own: posterior.parts[0].{name}")
        return getattr(parts[0], name)

    @property
    def owner(self) -> str | None:
        """What several parts are called in tables: "chain" or "task"; None of one chain."""
        if self.combine != "mean":
            return "task"
        return "chain" if len(self.parts) > 1 else None

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The words."""
        return self.parts[0].vocabulary

    @property
    def n_topics(self) -> int:
        """Of each part."""
        return self.parts[0].n_topics

    @property
    def digest(self) -> str:
        """SHA-256 of what prediction uses, in hex."""
        return digest_of([part.digest for part in self.parts], self.combine)

    @property
    def topics_digest(self) -> str:
        """SHA-256 of the topics alone, in hex: the same whatever is done with the weights."""
        return digest_of([part.topics_digest for part in self.parts], self.combine)

    @property
    def calibrated(self) -> bool | None:
        """Whether probabilities or intervals are those of a likelihood; None where there are neither."""
        return calibrated(self.parts, self.combine, self.coding)

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

    def stats(self, part: Draws) -> dict | None:
        """Return what is known of the topics of a part by name (K,), or None."""
        if part.stats is None and self.chain is not None:
            from plugsamp.diagnostics import topic_table

            eta = self.parts[0].eta.mean(axis=0)
            found = topic_table(self.chain, part.phi, eta, self.chain.corpus.counts())
            self.parts = (self.parts[0].with_record(stats=found),)
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

    # -- documents -----------------------------------------------------------------------------------

    def _documents(self, corpus) -> Corpus:
        """Return a corpus, the training documents for None, or documents from their texts."""
        if corpus is None:
            corpus = self.corpus
        if corpus is None:
            raise InputError(self.without("corpus"))
        if isinstance(corpus, str):
            raise TypeError("one text is given where documents are expected: write it in a list, [text]")
        if isinstance(corpus, Sequence) and not len(corpus):
            raise InputError("there are no documents: the list is empty")
        texts = isinstance(corpus, Sequence) or hasattr(corpus, "tolist")
        if texts and np.ndim(corpus) == 1 and all(isinstance(t, str) or missing_cell(t) for t in corpus):
            return corpus_of_texts(corpus)
        if not isinstance(corpus, Corpus):
            raise TypeError(
                f"documents must be a plugsamp.Corpus, not {type(corpus).__name__}; "
                "ps.Corpus.from_frame(frame, text=..., label=..., vocabulary=posterior.vocabulary) makes one "
                "of a data frame, ps.Corpus.from_counts(X, vocabulary=...) of a count matrix. A list or a "
                "column of texts needs no Corpus"
            )
        return corpus

    def known(self, corpus: Corpus) -> Corpus:
        """Return the documents in the model's vocabulary, with the covariates that are made of words."""
        if tuple(corpus.vocabulary) == tuple(self.vocabulary):
            return corpus
        encoder = self.parts[0].encoder
        if encoder is not None:  # before words that are covariates, and no words of the model, are left out
            corpus = encoder.transform(corpus)
        return corpus.with_vocabulary(self.vocabulary)

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
        known = naming(self)
        if not isinstance(names, Mapping):
            names = naming_files.read(names, known)
        self._names |= naming_files.checked(
            ((str(key), None, name, None) for key, name in names.items()), known
        )
        self._names = {key: name for key, name in self._names.items() if name}

    def called(self, part: Draws, k: int) -> str:
        """Return the name of a topic, or "topic 3"."""
        return self._names.get(part.key(k)) or f"topic {k}"

    def _part_of(self, topic, part=None) -> tuple[Draws, int]:
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

    def _chosen(self, part, first: bool) -> list[Draws]:
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

    def _one(self, part) -> Draws:
        """The part that is shown where topics of one model alone can be."""
        (one, *more) = self._chosen(part, first=True)
        if more:
            raise InputError(f"each model has topics of its own: give part=..., such as part={one.name!r}")
        return one

    def note(self, parts: Sequence[Draws]) -> str:
        """Return what a table says of the part that it shows."""
        if self.owner is None or len(parts) > 1:
            return ""
        number = parts[0].number if parts[0].number is not None else parts[0].chain
        note = f"{self.owner} {number + 1} of {len(self.parts)}"
        return f"{note} ({self.parts[number].name})." if self.owner == "task" else f"{note}."

    # -- others like it ------------------------------------------------------------------------------

    def with_options(self, **options) -> Parts:
        """Return the same with other `passes`, `burn_in`, `restarts`, `seed` or `vocabulary`."""
        parts = [part.with_options(**options) for part in self.parts]
        return self._like(parts, chain=self.chain, corpus=self.corpus, test=self.test)

    def deciding(self, thresholds) -> Parts:
        """Return the same with thresholds (C,) of its labels (`plugsamp.prediction.thresholds`)."""
        coding, parts = replace(self.coding, thresholds=thresholds), self.parts
        if self.combine == "mean":
            parts = [replace(part, coding=replace(part.coding, thresholds=thresholds)) for part in parts]
        return self._like(parts, coding, chain=self.chain, corpus=self.corpus, test=self.test)

    def detached(self) -> Parts:
        """Return the same without the sampler and the documents, as a pickle holds it."""
        self.stats(self.parts[0])
        return self._like(self.parts)

    def _like(self, parts, coding=None, **more) -> Parts:
        return type(self)(
            parts, self.combine, coding or self.coding, burn_in=self.burn_in, start=self.start,
            joint=self.joint, options=self.options, names=self._names, source=self._source, **more,
        )  # fmt: skip

    def __reduce__(self):
        detached = self.detached()
        state = detached.__dict__ | {"_predicted": {}, "_evaluated": {}}
        return _restored, (type(self), state)


def _restored(kind: type, state: dict) -> Parts:
    found = kind.__new__(kind)
    found.__dict__.update(state)
    return found
