"""Starts of chains."""

import numpy as np
import pytest

import plugsamp as ps
from plugsamp.fitting import starts
from plugsamp.fitting.starts import Start, warm


@pytest.fixture
def corpus():
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 3, 60)
    counts = rng.poisson(0.2, (60, 15))
    for d, k in enumerate(kinds):
        counts[d, 5 * k : 5 * k + 5] += rng.poisson(3.0, 5)
    return ps.Corpus.from_counts(counts, responses=np.array(["a", "b", "c"])[kinds])


def test_auto_starts_partial_chains_collapsed_and_others_at_random(corpus):
    model = ps.Model(3, loss="hinge")
    partial = ps.fit(corpus, model, ps.kernels.Dense("partial"), sweeps=2)
    full = ps.fit(corpus, model, ps.kernels.Dense("full"), sweeps=2)
    assert partial.start.startswith("15 sweeps with the topics integrated out (Dense")
    assert full.start == "random topics"
    plain = ps.Corpus.from_counts(corpus.counts())
    assert ps.fit(plain, ps.Model(3), "sparse", sweeps=2).start == "topics drawn one after another"
    given = ps.fit(corpus, model, init=full.chain.z, sweeps=2)
    assert given.start == "topics that were given"
    with pytest.raises(ValueError, match=r"z must hold numbers, found .*; of a Chain take \.z"):
        ps.fit(corpus, model, init=full.chain, sweeps=2)


def test_a_collapsed_start_takes_topics_and_weights(corpus):
    chain = ps.Chain(corpus, ps.Model(3, loss="hinge"), ps.kernels.Dense("partial"), seed=4)
    before = chain.log_joint()["words"]
    warm(chain, Start("collapsed", 20))
    assert chain.sweep == 0 and chain.log_joint()["words"] > before + 50
    assert (chain.eta != 0).all()
    counts = np.zeros((3, 15), int)
    np.add.at(counts, (chain.z, corpus.words), 1)
    assert (chain.counts.topic_word == counts).all()
    again = ps.Chain(corpus, ps.Model(3, loss="hinge"), ps.kernels.Dense("partial"), seed=4)
    warm(again, Start("collapsed", 20))
    chain.run(3), again.run(3)
    assert (chain.z == again.z).all() and (chain.eta == again.eta).all()


def test_priors_of_all_kinds_can_be_started(corpus):
    plain = ps.Corpus.from_counts(corpus.counts())
    kernel = ps.kernels.Dense("partial")
    slab = ps.fit(plain, ps.Model(3, topics="spike_slab"), kernel, sweeps=2)
    assert (slab.chain.phi == 0).any()
    learnt = ps.Chain(plain, ps.Model(3, alpha=0.5, learn_alpha="slice"), kernel)
    warm(learnt, Start("collapsed", 5))
    assert (learnt.alpha != 0.5).all()


def test_separate_chains_are_started_too(corpus):
    model = ps.Model(3, loss="hinge")
    kernel = ps.kernels.Dense("partial")
    options = {"multiclass": "ovr", "sweeps": 2, "seed": 3}
    random, collapsed = (ps.fit(corpus, model, kernel, init=how, **options) for how in ("random", "auto"))
    assert random.digest != collapsed.digest
    with pytest.raises(ValueError, match="topics as init are for one chain"):
        ps.fit(corpus, model, init=np.zeros(corpus.n_tokens, int), **options)


@pytest.mark.parametrize("options", [{"method": "best"}, {"sweeps": 0}, {"sweeps": 2.5}])
def test_starts_that_do_not_exist(options):
    with pytest.raises(ValueError, match="start: "):
        Start(**options)


def test_a_start_in_groups_is_the_same_with_and_without_workers(monkeypatch):
    counts = np.random.default_rng(3).poisson(0.6, (300, 60))
    data = ps.Corpus.from_counts(counts)
    model, kernel = ps.Model(4, loss="none"), "sparse_pc"
    start = Start("collapsed", 3, groups=2)
    monkeypatch.setattr(starts, "WORTH_WORKERS", 0)
    found = []
    for backend in (None, ps.backends.Processes(workers=3)):
        with ps.Chain(data, model, kernel, backend, seed=1) as chain:
            assert warm(chain, start).endswith(", 2 groups of documents at once)")
            found.append(chain.run(1).z)
    assert (found[0] == found[1]).all()
    alone = ps.Chain(data, model, kernel, seed=1)
    assert "groups" not in warm(alone, Start("collapsed", 3))
    assert (alone.run(1).z != found[0]).any()
