"""The proposal is exact: it draws what it states, and leaves each token's conditional as it is."""

import numpy as np

import plugsamp as ps
from plugsamp.testing import check_proposal


def test_it_is_registered_by_this_package():
    plugin = {p.name: p for p in ps.registry.plugins("proposals")}["half"]
    assert plugin.package == "plugsamp-half"


def test_it_is_exact():
    check_proposal("half", losses=["none", "hinge", "gaussian"])


def test_documents_of_one_token_and_none():
    X = np.array([[1, 0, 0], [0, 0, 0], [0, 2, 0], [3, 1, 2]])
    for collapse in ("full", "partial"):
        kernel = ps.kernels.ComposedMH(["half"], steps=3, collapse=collapse)
        chain = ps.Chain(ps.Corpus.from_counts(X), ps.Model(n_topics=20), kernel).run(50)
        assert len(set(chain.z.tolist())) > 1
        assert chain.counts.topic_word.sum() == 9
