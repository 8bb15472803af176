"""The weights' part of a sweep: features of all documents, then the draws of all outputs, in pieces."""

from __future__ import annotations

import numpy as np

from plugsamp.regression.design import Design, Fixed, SparseColumns
from plugsamp.regression.scales import rescale
from plugsamp.regression.weights import GramParts
from plugsamp.system.dispatch import load

_compiled = load("plugsamp.regression.gram")


class Features:
    """What a sweep's design is made in: room for topic proportions, which blocks of documents fill.

    Parameters
    ----------
    state : State
    n_blocks : int
        Blocks of documents.

    Attributes
    ----------
    held : int64 (B, K)
        How many documents of each block have each topic; then, where their entries of each column begin.
    """

    def __init__(self, state, n_blocks: int):
        self.state = state
        self.held = state.arena.array("design.held", (n_blocks, state.n_topics), np.int64)

    def open(self) -> SparseColumns:
        """Topic proportions still to be filled in."""
        state = self.state
        indptr = self._room("indptr", state.n_documents + 1, np.int64)
        indptr[0] = 0
        np.cumsum(state.sizes, out=indptr[1:])
        n = int(indptr[-1])
        return SparseColumns.made(
            state.n_topics, indptr=indptr,
            columns=self._room("columns", n, np.int32), values=self._room("values", n, float),
            column_ptr=self._room("column_ptr", state.n_topics + 1, np.int64),
            column_documents=self._room("column_documents", n, np.int32),
            column_positions=self._room("column_positions", n, np.int64),
            column_values=self._room("column_values", n, float),
        )  # fmt: skip

    def _room(self, name: str, size: int, dtype) -> np.ndarray:
        return self.state.arena.buffer(f"design.{name}", size, dtype)

    def rows(self, to: SparseColumns, block: int, first: int, last: int) -> None:
        """Fill in the row form of the documents of a block."""
        state = self.state
        _compiled.fill_rows(
            state.offsets, state.sizes, state.doc_topics, state.doc_counts, to.indptr, first, last,
            to.columns, to.values, self.held[block],
        )  # fmt: skip

    def between(self, to: SparseColumns) -> None:
        """When all rows are there: where columns begin, and each block's part of them."""
        to.column_ptr[0] = 0
        np.cumsum(self.held.sum(axis=0), out=to.column_ptr[1:])
        ends = np.cumsum(self.held, axis=0)
        self.held[:] = to.column_ptr[:-1] + ends - self.held

    def columns(self, to: SparseColumns, block: int, first: int, last: int) -> None:
        """Fill in the documents of a block in the column form."""
        _compiled.fill_columns(
            to.indptr, to.columns, to.values, first, last, self.held[block],
            to.column_documents, to.column_positions, to.column_values,
        )  # fmt: skip


def design(work, phases, fixed: Fixed, sweep: int) -> Design:
    """The features of all documents as they are now."""
    features, n_blocks = phases.features, phases.n_document_blocks
    topics = features.open()
    size = 10 * len(topics.values)
    work.run_sized("feature_rows", sweep, n_blocks, size, topics=topics)
    features.between(topics)
    work.run_sized("feature_columns", sweep, n_blocks, size, topics=topics)
    return Design.made(topics, fixed)


def draw(work, phases, fixed: Fixed, sweep: int) -> None:
    """Draw the weights of all outputs, and the scales that they have together."""
    given = {"design": design(work, phases, fixed, sweep)}
    n_outputs, n_groups = phases.state.n_outputs, phases.n_output_groups
    parts = work.workers // n_groups  # workers that would have no group
    if parts > 1 and GramParts.suit(given["design"], n_outputs, phases.method):
        given["grams"] = GramParts(given["design"], n_outputs, parts, phases.state.arena.buffer)
        work.run("grams", sweep, len(given["grams"]), **given)
    work.run("outputs", sweep, n_groups, **given)
    prior = phases.model.weights
    if prior.groups(phases.columns):
        parts = work.run("scale_moments", sweep, n_groups, design=given["design"])
        rescale(parts, prior, phases.prior_state, phases.columns, phases.state.eta, phases.seed, sweep)
