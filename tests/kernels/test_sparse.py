"""SparseLDA beyond the battery: draws, packed cells of every class, arrangement, start."""

import numpy as np
import pytest

from plugsamp.chain import Chain
from plugsamp.corpus import Corpus
from plugsamp.kernels import word_topics
from plugsamp.kernels.sparse import SparseLDA
from plugsamp.kernels.word_topics import WordTopics
from plugsamp.model import Model
from plugsamp.registry import resolve
from plugsamp.state import padded

from ..chance import of_cells, of_mean, smallest
from .shapes import CASES, conditional, counts_of, random_corpus, tokens


@pytest.fixture(params=["lists", "rows", "both"])
def shape(request, monkeypatch):
    """All words as lists, as rows where a row may be, or as the code chooses."""
    if request.param != "both":
        monkeypatch.setattr(word_topics, "ROW", 0 if request.param == "lists" else 1 << 20)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_draws_follow_the_conditional(case, shape, chance):
    chain = Chain(case.corpus(), case.model(), SparseLDA(), seed=1).run(3)

    def p_value(seed, scale):
        n, found = 20_000 * scale, []
        for number, (i, document, position) in enumerate(tokens(case, chain)):
            p, drawn = chain.phases.sampler.probe(document, position, draws=n, key=1000 * seed + number)
            exact = conditional(case, chain, i)
            assert np.abs(p - exact).max() < 1e-6
            found.append(of_cells(drawn, n * exact, seed=1000 * seed + number))
        return smallest(found)

    chance.holds(p_value)


@pytest.mark.parametrize("start", ["sequential", "random"])
@pytest.mark.parametrize("k", [1, 2, 15, 16, 17, 100, 255, 400])
def test_counts_are_those_of_z(k, start, shape):
    chain = Chain(random_corpus(), Model(k, 0.1, 0.01), SparseLDA(start=start), seed=2)
    for _ in range(4):
        expected = counts_of(chain)
        np.testing.assert_array_equal(chain.counts.topic_word, expected)
        np.testing.assert_array_equal(chain.counts.topic_totals, expected.sum(axis=1))
        if chain.sweep or start == "sequential":
            own = chain.phases.sampler.words.table(chain.state.n_words)
            np.testing.assert_array_equal(own[:, :k].T, expected)
            assert not own[:, k:].any()
        chain.run(1)


@pytest.mark.parametrize("narrow, wide", [(16, 32), (7, 32), (7, 9), (6, 7)])
def test_every_class_of_cells_gives_the_same_chain(narrow, wide, monkeypatch, shape):
    """Words whose counts outgrow a class are in the next; the last is rows, whatever their share."""
    corpus, model = random_corpus(), Model(20, 0.1, 0.01)
    usual = Chain(corpus, model, SparseLDA(), seed=4).run(2)
    z = usual.z

    def smaller(*given, **more):
        return WordTopics(*given, narrow=narrow, wide=wide, **more)

    monkeypatch.setattr("plugsamp.kernels.sparse.WordTopics", smaller)
    chain = Chain(corpus, model, SparseLDA(), seed=4, init=z)
    for _ in range(3):
        chain.run(1)
        np.testing.assert_array_equal(chain.counts.topic_word, counts_of(chain))
    words = chain.phases.sampler.words
    assert words.lists["must_row"].any() == (wide < 32)
    np.testing.assert_array_equal(words.table(corpus.n_words)[:, :20].T, counts_of(chain))


def test_a_sweep_is_a_function_of_z(shape):
    """However the lists came about: a chain put into a state goes on as the one that was there."""
    corpus, model = random_corpus(), Model(50, 0.1, 0.01)
    first = Chain(corpus, model, SparseLDA(), seed=5).run(4)
    z = first.z
    first.run(2)
    second = Chain(corpus, model, SparseLDA(), seed=5).run(4)
    second.set_state(z=z)
    second.run(2)
    np.testing.assert_array_equal(first.z, second.z)


def test_counts_beyond_16_bits():
    counts = np.array([[70_000, 3, 1], [66_000, 0, 2]])
    chain = Chain(Corpus.from_counts(counts), Model(3, 0.1, 0.01), SparseLDA(), seed=6).run(2)
    np.testing.assert_array_equal(chain.counts.topic_word, counts_of(chain))


def test_changed_priors_are_seen():
    """alpha and beta may change between sweeps: what is made of them is made anew."""
    case = CASES[2]
    chain = Chain(case.corpus(), case.model(), SparseLDA(), seed=7).run(2)
    chain.state.alpha[:17] = 0.7
    chain.state.beta[:] = 0.4
    chain.state.beta_sum = 0.4 * case.n_words
    chain.run(1)
    assert (chain.phases.sampler.words.lists["beta"] == np.float32(0.4)).all()
    changed = type(case)(case.name, case.documents, case.n_words, 17, 0.7, 0.4)
    for i, document, position in tokens(case, chain):
        p, _ = chain.phases.sampler.probe(document, position)
        assert np.abs(p - conditional(changed, chain, i)).max() < 1e-6


def test_the_sequential_start_draws_each_token_given_those_before(chance):
    """The first topics of many seeds against the predictive distribution of the second token."""
    corpus, model = Corpus.from_counts([[2, 0]]), Model(2, 0.3, 0.2)
    # topic of token 2 = that of token 1: (1 + .3)(1 + .2)/(1 + .4) against .3 * .2/.4
    again, other = 1.3 * 1.2 / 1.4, 0.3 * 0.2 / 0.4
    p = again / (again + other)

    def p_value(seed, scale):
        seeds = range(10**6 * seed, 10**6 * seed + 2000 * scale)
        same = [np.ptp(Chain(corpus, model, SparseLDA(), seed=s).z) == 0 for s in seeds]
        return of_mean(same, p, np.sqrt(p * (1 - p)))

    chance.holds(p_value)


def test_room_is_rows_where_they_pay_only():
    words = WordTopics(np.repeat(np.arange(3), [200, 17, 1]).astype(np.int32), 3, 100, padded(100))
    assert words.lists["may_row"].tolist() == [True, True, False]
    assert words.bits == 7 and words.lists["wide"].tolist() == [False, False, False]


def test_refuses_responses_and_names_who_takes_them():
    corpus = Corpus.from_counts([[1, 2], [2, 1]], responses=["a", "b"])
    with pytest.raises(ValueError, match=r"without responses only; with them: .*composed.*dense"):
        Chain(corpus, Model(2, loss="hinge"), "sparse")


@pytest.mark.parametrize("options", [{"start": "first"}, {"begin": "random"}])
def test_unknown_options(options):
    with pytest.raises((ValueError, TypeError)):
        SparseLDA(**options)


@pytest.mark.parametrize("start", ["sequential", "random"])
@pytest.mark.parametrize("kernel", ["sparse", "fast"])
def test_seeded_topics_are_in_the_counts(kernel, start):
    """Pseudo-tokens of the topic prior count like tokens: the conditional is the dense kernel's."""
    from plugsamp.topics.seeded import Seeded

    rng = np.random.default_rng(9)
    corpus = Corpus.from_counts(rng.poisson(1.0, size=(12, 6)), vocabulary=list("abcdef"))
    model = Model(4, 0.3, 0.1, topics=Seeded({0: ["a", "b"], 2: ["f"]}, weight=5))
    options = {"start": start} if kernel == "sparse" else {}
    chain = Chain(corpus, model, resolve("kernels", kernel, **options), seed=9).run(3)
    dense = Chain(corpus, model, "dense", seed=9, init=chain.z)
    np.testing.assert_array_equal(chain.counts.topic_word, counts_of(chain))
    np.testing.assert_array_equal(chain.state.topic_word, dense.state.topic_word)
    np.testing.assert_array_equal(chain.state.topic_totals, dense.state.topic_totals)
    if kernel == "sparse":
        np.testing.assert_array_equal(chain.phases.sampler.words.table(6), chain.state.topic_word)
    for i in range(0, corpus.n_tokens, 5):
        np.testing.assert_allclose(chain.token_transition(i), dense.token_transition(i), atol=1e-6)
