"""The composed kernel's proposals, by name, mapping and object."""

import numpy as np
import pytest

import plugsamp as ps
from plugsamp.proposals.table import TableProposal
from plugsamp.registry import RegistryError


class Flat(TableProposal):
    by = "all"

    def tables(self, view):
        return np.ones(view.n_topics)


@pytest.fixture
def corpus():
    counts = np.random.default_rng(0).poisson(1.0, (10, 8))
    return ps.Corpus.from_counts(counts, responses=list("ab") * 5)


def run(corpus, proposals):
    kernel = ps.kernels.ComposedMH(proposals, steps=2)
    return ps.Chain(corpus, ps.Model(3, loss="hinge"), kernel).run(3)


def test_a_mapping_stands_for_a_name_with_options(corpus):
    named = run(corpus, ["word", "doc"])
    mapped = run(corpus, [{"name": "word"}, {"name": "doc"}])
    assert (named.z == mapped.z).all()


def test_objects_and_names_are_mixed(corpus):
    chain = run(corpus, ["doc", Flat(), {"name": "word"}])
    info = next(chain.sweeps(1))
    assert set(info.acceptance) == set(info.moves) == {"doc", "Flat", "word"}
    assert info.moved <= sum(info.moves.values()) <= 2


@pytest.mark.parametrize(
    "proposal, error, message",
    [
        ({"nam": "doc"}, ValueError, "needs the key 'name'"),
        ({"name": "doc", "rounds": 1}, RegistryError, "no option 'rounds'"),
        ({"name": "dok"}, RegistryError, "did you mean 'doc'"),
    ],
)
def test_mappings_that_are_none(corpus, proposal, error, message):
    with pytest.raises(error, match=message):
        run(corpus, [proposal])


@pytest.mark.parametrize("steps", [0, 65, 1.5, "2", None, True, float("nan"), float("inf")])
def test_steps_that_are_none(steps):
    for kernel in (ps.kernels.ComposedMH, ps.kernels.SparsePCLDA):
        with pytest.raises(ValueError, match="steps must be"):
            kernel(steps=steps)


@pytest.mark.parametrize("kernel", [ps.kernels.LightLDA, ps.kernels.AliasLDA])
def test_stale_is_true_or_false(kernel):
    for stale in ("no", 0, None):
        with pytest.raises(ValueError, match="stale must be True or False"):
            kernel(stale=stale)
