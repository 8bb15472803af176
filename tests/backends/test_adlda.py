"""Collapsed kernels with several workers: what they may get wrong (totals, or counts), and nothing else."""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
import pytest
from scipy.special import gammaln

import plugsamp as ps
from plugsamp.backends import Processes, Serial
from plugsamp.backends.serial import InTurn
from plugsamp.errors import ApproximationWarning
from plugsamp.kernels import ComposedMH, Dense, FastLDA, LightLDA, SparseLDA
from plugsamp.proposals.table import TableProposal
from plugsamp.sampling import adlda, phases

pytestmark = pytest.mark.filterwarnings("ignore::plugsamp.errors.ApproximationWarning")

KERNELS = {
    "dense": (Dense(), "hinge"),
    "composed": (ComposedMH(), "logistic"),
    "sparse in composed": (ComposedMH(["sparse"], steps=2), "hinge"),
    "sparse": (SparseLDA(), "none"),
    "fast": (FastLDA(), "none"),
}


class InGroups(Serial):
    """Groups of documents as several workers have them, one after another in this process."""

    parallel = True

    def __init__(self, groups: int = 2, scheme: str = "rotation"):
        self.groups, self.scheme = groups, scheme

    def open(self, partial):
        work = InTurn()
        work.groups, work.scheme = 1 if partial else self.groups, self.scheme
        return work


@pytest.fixture
def small_blocks(monkeypatch):
    """A block a document, so that small corpora have some."""
    monkeypatch.setattr(phases, "document_blocks", lambda offsets: np.arange(len(offsets), dtype=np.int64))


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.5, (40, 30))
    counts[[0, 7, 39]] = 0
    labels = [None if i % 9 == 0 else "abc"[i % 3] for i in range(40)]
    return ps.Corpus.from_counts(counts, responses=labels)


def model(loss, **more):
    return ps.Model(5, loss=loss, **more)


def check_counts(chain):
    z, words = chain.z, chain.corpus.words
    documents = np.repeat(np.arange(chain.corpus.n_documents), chain.corpus.lengths)
    by_word = np.zeros((5, chain.corpus.n_words), int)
    np.add.at(by_word, (z, words), 1)
    by_document = np.zeros((chain.corpus.n_documents, 5), int)
    np.add.at(by_document, (documents, z), 1)
    assert (chain.counts.topic_word == by_word).all()
    assert (chain.counts.topic_totals == by_word.sum(axis=1)).all()
    assert (chain.counts.doc_topic.toarray() == by_document).all()


@pytest.mark.parametrize("scheme", adlda.SCHEMES)
@pytest.mark.parametrize("name", KERNELS)
def test_counts_hold_after_every_sweep(name, scheme, corpus, small_blocks):
    kernel, loss = KERNELS[name]
    chain = ps.Chain(corpus, model(loss), kernel, InGroups(3, scheme), seed=2)
    moved = 0
    for info in chain.sweeps(4):
        check_counts(chain)
        moved += info.moved
    assert moved > 0.3


@pytest.mark.parametrize("scheme", adlda.SCHEMES)
def test_seed_words_and_learnt_priors(scheme, corpus, small_blocks):
    topics = ps.topics.Seeded({"0": ["w1", "w2"], "1": ["w3"]})
    seeded = model("none", topics=topics, learn_alpha="slice")
    for kernel in (SparseLDA(), ComposedMH(["word", "doc"]), Dense()):
        chain = ps.Chain(corpus.with_responses(None), seeded, kernel, InGroups(4, scheme), seed=2).run(3)
        check_counts(chain)


@pytest.mark.parametrize("scheme", adlda.SCHEMES)
@pytest.mark.parametrize("name", KERNELS)
def test_one_group_is_the_exact_chain(name, scheme, corpus):
    kernel, loss = KERNELS[name]
    one = ps.Chain(corpus, model(loss), kernel, InGroups(1, scheme), seed=2).run(3)
    exact = ps.Chain(corpus, model(loss), kernel, seed=2).run(3)
    assert one.approximations == () and (one.z == exact.z).all() and (one.eta == exact.eta).all()


@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        ("dense", "rotation"),
        ("sparse", "copies"),
        pytest.param("dense", "copies", marks=pytest.mark.slow),
        pytest.param("sparse", "rotation", marks=pytest.mark.slow),
    ],
)
def test_processes_do_what_one_process_does(name, scheme, corpus, small_blocks):
    kernel, loss = KERNELS[name]
    here = ps.Chain(corpus, model(loss), kernel, InGroups(3, scheme), seed=2)
    with ps.Chain(corpus, model(loss), kernel, Processes(3, collapsed=scheme), seed=2) as chain:
        for _ in range(3):
            chain.run(1)
            here.run(1)
            assert (chain.z == here.z).all()
        check_counts(chain)
        assert (chain.eta == here.eta).all() and chain.log_joint() == here.log_joint()


def test_groups_are_as_many_as_workers_however_many_are_awake(corpus, small_blocks, cores):
    cores(2)
    kernel, loss = KERNELS["dense"]
    here = ps.Chain(corpus, model(loss), kernel, InGroups(5, "rotation"), seed=2).run(2)
    with ps.Chain(corpus, model(loss), kernel, Processes(5), seed=2) as chain:
        assert (chain.run(2).z == here.z).all() and len(chain.phases.division) == 5


def test_what_is_only_in_another_group_changes_nothing_but_totals(corpus, small_blocks):
    """A group's first turn is the exact kernel on its own tokens of its own words."""
    chain = ps.Chain(corpus.with_responses(None), model("none"), Dense(), InGroups(2), seed=0).run(2)
    division = chain.phases.division
    rows, z = corpus.counts(), chain.z
    documents = np.repeat(np.arange(corpus.n_documents), corpus.lengths)
    chain.work.run("rotated", chain.sweep + 1, 1, turn=0)  # the first group alone
    first, last = division.part(0, 0)
    mine = (documents < division.groups[1]) & (corpus.words >= first) & (corpus.words < last)
    assert (chain.z != z)[mine].any() and (chain.z == z)[~mine].all()
    assert rows.sum() == len(z)


def exact_distribution(corpus, alpha, beta, n_topics=2):
    """p(z | w) of every assignment."""
    n = corpus.n_tokens
    states = np.array(list(product(range(n_topics), repeat=n)))
    documents = np.repeat(np.arange(corpus.n_documents), corpus.lengths)
    logs = np.zeros(len(states))
    for k in range(n_topics):
        here = states == k
        for d in range(corpus.n_documents):
            logs += gammaln(here[:, documents == d].sum(axis=1) + alpha)
        for w in range(corpus.n_words):
            logs += gammaln(here[:, corpus.words == w].sum(axis=1) + beta)
        logs -= gammaln(here.sum(axis=1) + beta * corpus.n_words)
    p = np.exp(logs - logs.max())
    return p / p.sum()


def distance(backend, corpus, sweeps, alpha=0.3, beta=0.2):
    """Total variation between the chain's time in each assignment and its posterior probability."""
    chain = ps.Chain(corpus, ps.Model(2, alpha=alpha, beta=beta, loss="none"), Dense(), backend, seed=1)
    powers = 2 ** np.arange(corpus.n_tokens)[::-1]
    visits = np.zeros(2**corpus.n_tokens)
    for _ in chain.sweeps(sweeps):
        visits[powers @ chain.state.z] += 1
    return np.abs(visits / sweeps - exact_distribution(corpus, alpha, beta)).sum() / 2


@pytest.mark.slow
def test_rotation_errs_less_than_copies(small_blocks):
    """Both are wrong on six tokens, where all is behind; totals matter less than words' counts."""
    corpus = ps.Corpus.from_counts([[1, 0, 1], [1, 1, 0], [0, 1, 1]])
    sweeps = 15_000
    noise = distance(Serial(), corpus, sweeps)
    rotation, copies = (distance(InGroups(3, scheme), corpus, sweeps) for scheme in adlda.SCHEMES)
    assert noise < 0.03  # the serial chain is exact
    assert copies > 3 * noise  # copies are not
    assert rotation < 0.6 * copies


def test_it_is_announced_with_the_groups_there_are(corpus, small_blocks):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        chain = ps.Chain(corpus, model("hinge"), Dense(), InGroups(3), seed=0)
    assert [str(w.message) for w in caught] == list(chain.approximations)
    assert caught[0].category is ApproximationWarning
    assert "3 groups of documents at once" in chain.approximations[0] and "AD-LDA" in chain.approximations[0]


def test_there_are_no_more_groups_than_blocks(corpus):
    few = ps.Corpus.from_counts([[1, 2], [2, 1], [0, 3]])  # one block
    chain = ps.Chain(few, ps.Model(2, loss="none"), Dense(), InGroups(8), seed=0).run(2)
    assert chain.approximations == ()
    exact = ps.Chain(few, ps.Model(2, loss="none"), Dense(), seed=0).run(2)
    assert (chain.z == exact.z).all()


@pytest.mark.parametrize("scheme", adlda.SCHEMES)
def test_more_groups_than_words(scheme, small_blocks):
    few = ps.Corpus.from_counts([[1, 2], [2, 1], [0, 3], [5, 0], [1, 1]])
    chain = ps.Chain(few, ps.Model(5, loss="none"), SparseLDA(), InGroups(5, scheme), seed=0).run(5)
    check_counts(chain)
    division = chain.phases.division
    for group in range(5):
        parts = [division.part(group, turn) for turn in range(5)]
        assert sorted(w for first, last in parts for w in range(first, last)) == [0, 1]


class ByWord(TableProposal):
    by = "word"

    def tables(self, view):
        return view.phi.T


def test_what_reads_all_counts_has_copies(corpus, small_blocks):
    for kernel in (ComposedMH([ByWord(), "doc"]), LightLDA(stale=True)):
        chain = ps.Chain(corpus.with_responses(None), model("none"), kernel, InGroups(3, "auto"), seed=0)
        assert chain.phases.division.scheme == "copies"
        check_counts(chain.run(2))
        with pytest.raises(ValueError, match="collapsed=copies"):
            ps.Chain(corpus.with_responses(None), model("none"), kernel, InGroups(3, "rotation"), seed=0)
    with pytest.raises(ValueError, match="collapsed must be auto, rotation or copies"):
        Processes(2, collapsed="merge")


def test_boundaries():
    assert adlda._even(np.array([0, 10, 10, 10, 40]), 2).tolist() == [0, 3, 4]
    assert adlda._even(np.array([0, 100, 101, 102]), 3).tolist() == [0, 1, 2, 3]
    assert adlda._even(np.array([0, 1]), 3).tolist()[0::3] == [0, 1]
    assert adlda._even(np.array([0, 0, 0, 0]), 2).tolist()[0::2] == [0, 3]


@pytest.mark.parametrize("scheme", adlda.SCHEMES)
@pytest.mark.parametrize("name", ["dense", "sparse", "composed"])
def test_a_saved_chain_goes_on_as_it_would_have(name, scheme, corpus, small_blocks, tmp_path, caplog):
    kernel, loss = KERNELS[name]

    def make(groups=3):
        return ps.Chain(corpus, model(loss), kernel, InGroups(groups, scheme), seed=2)

    whole = make().run(3)
    whole.save(tmp_path / "saved")
    again = make().load(tmp_path / "saved")
    assert not caplog.records
    assert (whole.run(3).z == again.run(3).z).all()
    make(4).load(tmp_path / "saved")
    assert "3 groups of documents by " in caplog.text and "4 groups" in caplog.text
