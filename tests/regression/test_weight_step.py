"""Features and Gram matrices in pieces are those made at once."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import plugsamp as ps
from plugsamp.backends.serial import InTurn, Serial
from plugsamp.diagnostics import log_documents, log_topics
from plugsamp.regression import weight_step, weights
from plugsamp.regression.design import Design
from plugsamp.sampling import phases

RNG = np.random.default_rng(2)
COUNTS = RNG.poisson(0.4, (50, 30))
COUNTS[[0, 20, 49]] = 0
LABELS = (RNG.random((50, 11)) < 0.4).astype(object)
LABELS[4, 2] = None
COVARIATES = {
    "none": None,
    "dense": RNG.standard_normal((50, 2)),
    "sparse": sparse.random_array((50, 8), density=0.1, rng=RNG, format="csr"),
}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks of seven documents and of four words."""
    monkeypatch.setattr(
        phases,
        "document_blocks",
        lambda offsets: np.append(np.arange(0, len(offsets) - 1, 7), len(offsets) - 1),
    )
    monkeypatch.setattr(phases, "WORDS", 4)


class Several(Serial):
    """As if pieces were worked on at the same time."""

    def open(self, partial):
        work = InTurn()
        work.workers = 4
        return work


def chain(covariates=None, backend=None, **options):
    corpus = ps.Corpus.from_counts(COUNTS, responses=LABELS, covariates=covariates)
    return ps.Chain(corpus, ps.Model(6, **options), ps.kernels.Dense("partial"), backend, seed=1)


@pytest.mark.parametrize("covariates", COVARIATES)
def test_features_in_pieces(covariates):
    made = chain(COVARIATES[covariates], loss="hinge").run(1)
    state, fixed = made.state, made._fixed_columns()
    for _ in range(2):  # the second time in the same room
        found = weight_step.design(made.work, made.phases, fixed, 1)
        lengths = np.diff(state.offsets)
        wanted = Design(*state.doc_topic(), lengths, 6, covariates=fixed)
        for name, value in vars(wanted.topics).items():
            np.testing.assert_array_equal(getattr(found.topics, name), value, name)
        for name in ("joint", "single", "dense", "n_features"):
            np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name), name)
        made.run(1)


@pytest.mark.parametrize("covariates", ["none", "dense"])
def test_gram_matrices_in_pieces(covariates):
    made = chain(COVARIATES[covariates], loss="hinge").run(2)
    state = made.state
    design = weight_step.design(made.work, made.phases, made._fixed_columns(), 2)
    parts = weights.GramParts(design, 11, 5, state.arena.buffer)
    parts.precision[:] = np.nan  # of the sweep before
    assert parts.rows[0] == 0 and parts.rows[-1] == len(design.joint) and sorted(parts.rows) == parts.rows
    for piece in reversed(range(len(parts))):
        parts.fill(design, state.kappa, state.omega, piece)
    for group, outputs in enumerate(weights.groups(11)):
        precision, linear = weights.gram(design, state.kappa, state.omega, outputs)
        upper = np.triu_indices(len(linear))
        np.testing.assert_array_equal(parts.of(group)[0][upper], precision[upper])
        np.testing.assert_array_equal(parts.of(group)[1], linear)


@pytest.mark.parametrize("covariates", COVARIATES)
@pytest.mark.parametrize("loss", ["hinge", "probit"])  # probit's outputs share one matrix
def test_weights_do_not_depend_on_how_they_are_divided(loss, covariates, monkeypatch):
    filled = []
    fill = weights.GramParts.fill
    monkeypatch.setattr(weights.GramParts, "fill", lambda *a: (filled.append(a[-1]), fill(*a))[1])
    one = chain(COVARIATES[covariates], loss=loss).run(3)
    assert not filled
    other = chain(COVARIATES[covariates], Several(), loss=loss).run(3)
    assert bool(filled) == (covariates != "sparse")
    np.testing.assert_array_equal(one.eta, other.eta)
    np.testing.assert_array_equal(one.z, other.z)


@pytest.mark.parametrize("kernel", ["dense", "sparse", "sparse_pc"])
def test_the_log_joint_in_pieces(kernel):
    supervised = kernel == "dense"
    corpus = ps.Corpus.from_counts(COUNTS * 9, responses=LABELS if supervised else None)
    model = ps.Model(3, alpha=[0.2, 0.5, 1.0], beta=0.3, loss="logistic" if supervised else "none")
    for times in (2, phases.TIMES):  # counts beyond it are listed one by one
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(phases, "TIMES", times)
            made = ps.Chain(corpus, model, kernel, seed=1).run(2)
        parts, counts = made.log_joint(), made.counts
        rows = counts.doc_topic
        words = log_documents(rows.indptr, rows.indices, rows.data, corpus.lengths, made.alpha)
        words += log_topics(np.ascontiguousarray(counts.topic_word.T), counts.topic_totals, 0.3)
        assert parts["words"] == pytest.approx(words, rel=1e-12)
        assert (made.state.topic_totals[:3] == np.bincount(made.z, minlength=3)).all()
        if supervised:
            assert parts["responses"] == pytest.approx(made.responses.log_psi(made.f()), rel=1e-12)
