"""Table proposals: topics by tables of masses that a plugin makes in NumPy (model.md section 3)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import ClassVar

import numpy as np

from plugsamp.proposals.table_adapter import TableAdapter

#: What the rows of a table stand for.
BY = ("word", "document", "all")


class TableError(ValueError):
    """A table that cannot be drawn from; the message names the proposal, the row and what is wrong."""


class TableProposal(ABC):
    """A proposal for the topic of a token, drawn from a table of non-negative masses.

    A subclass is a proposal plugin in plain NumPy: it sets `by` and gives `tables`. plugsamp builds alias
    tables of it and tests each candidate against the token's full conditional, so a poor table slows mixing
    and never biases. Register it under the entry-point group ``plugsamp.proposals``; the constructor takes
    no required arguments.

    Attributes
    ----------
    by : {"word", "document", "all"}
        What a row is for: a word of the vocabulary, a document, or every token alike.
    background : float
        The share of candidates that are drawn uniformly over topics instead, from 0 (exclusive) to 1; it
        is part of the mass in the accept step. It lets the chain reach topics that the table rules out.

    Notes
    -----
    Tables are made for each block of documents, before its tokens are updated and after its (kappa, omega)
    are drawn. Where topics are partially collapsed and `by` is "word" or "all" they are made once a sweep,
    for all documents together, and kappa and omega are not there yet.
    """

    by: ClassVar[str]
    background: ClassVar[float] = 0.05

    @abstractmethod
    def tables(self, view: View) -> np.ndarray:
        """Masses of topics, on any scale a row.

        Parameters
        ----------
        view : View
            What a proposal may know. Anything else that depends on the topics of the block's tokens, now
            or earlier, makes the chain wrong.

        Returns
        -------
        ndarray of numbers
            ``(V, K)`` by word, ``(len(view), K)`` by document, ``(K,)`` for all. Finite, 0 or more, and
            not all 0 in a row that is drawn from.
        """


class View:
    """What is held fixed while the tokens of some documents get new topics; all arrays are read-only.

    Attributes
    ----------
    first, last : int
        The documents are first:last of the corpus; `len` is their number.
    n_topics, n_words, n_outputs : int
        K, V and C.
    collapsed : bool
        Whether the topics are integrated out.
    alpha : float32 (K,)
    beta : float32 (V,)
    words : int32 (n,)
        Of the documents' tokens, one document after the other.
    offsets : int64 (len + 1,)
        Document i has the tokens ``offsets[i]:offsets[i + 1]`` of `words`.
    lengths : int64 (len,)
    """

    def __init__(self, state, first: int, last: int, *, augmented: bool = True):
        self.first, self.last = first, last
        self.n_topics, self.n_words, self.n_outputs = state.n_topics, state.n_words, state.n_outputs
        self.collapsed = state.phi is None
        start, stop = int(state.offsets[first]), int(state.offsets[last])
        self.words = _read_only(state.words[start:stop])
        self.offsets = _read_only(state.offsets[first : last + 1] - start)
        self.lengths = _read_only(np.diff(self.offsets))
        self.alpha = _read_only(state.alpha[: state.n_topics])
        self.beta = _read_only(state.beta)
        self._state, self._z, self._augmented = state, state.z[start:stop], augmented

    def __len__(self) -> int:
        return self.last - self.first

    @cached_property
    def topic_word(self) -> np.ndarray | None:
        """n_kw of the tokens outside the block, int32 (K, V); None where the topics are a variable."""
        if not self.collapsed:
            return None
        counts = self._state.topic_word[:, : self.n_topics].copy()
        np.subtract.at(counts, (self.words, self._z), 1)
        return _read_only(counts.T)

    @cached_property
    def topic_totals(self) -> np.ndarray | None:
        """n_k of the tokens outside the block, int64 (K,); None where the topics are a variable."""
        if not self.collapsed:
            return None
        own = np.bincount(self._z, minlength=self.n_topics)
        return _read_only(self._state.topic_totals[: self.n_topics] - own)

    @cached_property
    def phi(self) -> np.ndarray:
        """The topics (K, V); collapsed, their mean given the counts outside the block."""
        if not self.collapsed:
            return _read_only(self._state.phi[:, : self.n_topics]).T
        totals = self.topic_totals + self._state.beta_sum
        return _read_only((self.topic_word + self.beta) / totals[:, None])

    @property
    def eta(self) -> np.ndarray:
        """Weights of topics, float64 (C, K)."""
        return _read_only(self._state.eta[:, : self.n_topics])

    @property
    def offset(self) -> np.ndarray:
        """The part of f that covariates and intercept give, float64 (len, C)."""
        return _read_only(self._state.offset[self.first : self.last])

    @property
    def kappa(self) -> np.ndarray:
        """float64 (len, C), 0 where the response is missing."""
        return self._augmentation("kappa")

    @property
    def omega(self) -> np.ndarray:
        """float64 (len, C), 0 where the response is missing."""
        return self._augmentation("omega")

    def _augmentation(self, name: str) -> np.ndarray:
        if not self._augmented:
            raise AttributeError(
                f'{name} is drawn for one block of documents at a time, and tables by "word" or for "all" '
                'are made once a sweep, before that; a table that needs it goes by = "document"'
            )
        return _read_only(getattr(self._state, name)[self.first : self.last])


def _read_only(array: np.ndarray) -> np.ndarray:
    view = array.view()
    view.flags.writeable = False
    return view


def compiled(proposal: TableProposal, label: str) -> TableAdapter:
    """The compiled proposal that draws from the tables of `proposal`.

    Raises
    ------
    TableError
        `by` or `background` is not what it must be.
    """
    by, background = getattr(proposal, "by", None), proposal.background
    if by not in BY:
        listed = ", ".join(f'"{b}"' for b in BY)
        raise TableError(f"proposal {label}: the class attribute `by` must be one of {listed}, not {by!r}")
    if not 0 < background <= 1:
        raise TableError(f"proposal {label}: background must be above 0 and at most 1, not {background!r}")
    return _Tables(proposal, label)


class _Tables(TableAdapter):
    """Calls `tables` when it is due, checks what comes back and hands rows to the compiled side."""

    def __init__(self, proposal: TableProposal, label: str):
        self.proposal, self.label = proposal, label

    def attach(self, state):
        self.once_a_sweep = self.proposal.by != "document" and state.phi is not None
        self.hold(state.n_words, self.proposal.by == "document", self.proposal.by == "all")

    def refresh(self, state, seed, sweep):
        if self.once_a_sweep:
            self._make(View(state, 0, state.n_documents, augmented=False))

    def prepare(self, state, first, last):
        if not self.once_a_sweep:
            self._make(View(state, first, last))

    def _make(self, view: View) -> None:
        by, k = self.proposal.by, view.n_topics
        table = np.asarray(self.proposal.tables(view))
        shape = {"word": (view.n_words, k), "document": (len(view), k), "all": (k,)}[by]
        if table.dtype.kind not in "biuf":
            raise TableError(f"proposal {self.label}: tables must hold numbers, found type {table.dtype}")
        if table.shape != shape:
            meaning = {"word": "(V, K)", "document": "(documents of the block, K)", "all": "(K,)"}[by]
            raise TableError(
                f'proposal {self.label}: tables by "{by}" must have shape {shape}, {meaning}, '
                f"not {table.shape}"
            )
        # Only rows that are drawn from: words of these documents, documents that have tokens.
        if by == "word":
            used = np.unique(view.words)
        elif by == "document":
            used = np.flatnonzero(view.lengths)
        else:
            used, table = np.zeros(min(len(view.words), 1), np.int64), table[None]
        self.build(self._masses(table, used, view), used.astype(np.int64), view.first)

    def _masses(self, table, used, view: View) -> np.ndarray:
        """Rows `used` of a table as shares with the background mixed in, float32."""
        rows = table[used].astype(float)
        top = rows.max(axis=1, initial=0.0)
        bad = ~(np.isfinite(rows) & (rows >= 0))
        if bad.any():
            row, topic = np.argwhere(bad)[0]
            value = rows[row, topic]
            wrong = "below 0" if value < 0 else "not finite"
            where = self._where(used[row], view)
            raise TableError(f"proposal {self.label}: the mass of topic {topic}{where} is {value}, {wrong}")
        if (top == 0).any():
            where = self._where(used[int(np.argmin(top))], view)
            raise TableError(f"proposal {self.label}: the masses{where} are all 0; one must be above 0")
        rows /= top[:, None]  # so that no sum overflows
        background = self.proposal.background
        rows *= (1.0 - background) / rows.sum(axis=1, keepdims=True)
        rows += background / view.n_topics
        return rows.astype(np.float32)

    def _where(self, row: int, view: View) -> str:
        by = self.proposal.by
        return "" if by == "all" else f" for {by} {row + (view.first if by == 'document' else 0)}"
