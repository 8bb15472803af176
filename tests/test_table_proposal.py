"""Table proposals: what they are handed, what is refused, and that their tables are what is drawn from."""

import numpy as np
import pytest

import plugsamp as ps
from plugsamp.proposals.table import TableError, TableProposal

K = 4


def corpus(n_documents=30, n_words=25, seed=0):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.5, (n_documents, n_words))
    counts[3] = 0
    labels = np.array(["a", "b", "c"])[rng.integers(3, size=n_documents)]
    return ps.Corpus.from_counts(counts, responses=labels, covariates=rng.standard_normal((n_documents, 2)))


def chain_for(proposal, collapse="partial", **options):
    kernel = ps.kernels.ComposedMH([proposal, "doc"], steps=2, collapse=collapse)
    model = ps.Model(n_topics=K, loss=ps.losses.Hinge(2.0))
    return ps.Chain(options.pop("corpus", None) or corpus(), model, kernel, seed=1)


class Seeing(TableProposal):
    """Uniform; keeps what it saw."""

    by = "document"
    background = 1.0

    def __init__(self):
        self.views = []

    def tables(self, view):
        self.views.append(view)
        self.see(view)
        return np.ones({"document": (len(view), K), "word": (view.n_words, K), "all": (K,)}[self.by])

    def see(self, view):
        pass


class SeeingWords(Seeing):
    by = "word"


class SeeingAll(Seeing):
    by = "all"


@pytest.mark.parametrize("kind", [Seeing, SeeingWords, SeeingAll])
@pytest.mark.parametrize("collapse", ["full", "partial"])
def test_tables_are_made_a_block_or_once_a_sweep(kind, collapse, monkeypatch):
    monkeypatch.setattr("plugsamp.sampling.phases.document_blocks", lambda offsets: np.array([0, 10, 20, 30]))
    proposal = kind()
    chain_for(proposal, collapse).run(2)
    spans = [(view.first, view.last) for view in proposal.views]
    whole = kind is not Seeing and collapse == "partial"
    assert spans == ([(0, 30)] if whole else [(0, 10), (10, 20), (20, 30)]) * 2


def test_the_view_holds_what_stays_fixed_and_nothing_else(monkeypatch):
    monkeypatch.setattr("plugsamp.sampling.phases.document_blocks", lambda offsets: np.array([0, 10, 30]))
    texts = corpus()

    class Checking(Seeing):
        def see(self, view):
            state = chain.state
            block = slice(view.first, view.last)
            tokens = slice(texts.offsets[view.first], texts.offsets[view.last])
            np.testing.assert_array_equal(view.words, texts.words[tokens])
            np.testing.assert_array_equal(np.diff(view.offsets), texts.lengths[block])
            np.testing.assert_array_equal(view.kappa, state.kappa[block])
            np.testing.assert_array_equal(view.omega, state.omega[block])
            np.testing.assert_array_equal(view.offset, state.offset[block])
            np.testing.assert_array_equal(view.eta, chain.eta[:, :K])
            np.testing.assert_allclose(view.alpha, 0.1)
            assert (view.n_words, view.n_topics, view.n_outputs, len(view)) == (
                25,
                K,
                3,
                view.last - view.first,
            )
            if view.collapsed:
                # by hand: the tokens of the other documents
                others = np.ones(texts.n_tokens, bool)
                others[tokens] = False
                counts = np.zeros((K, 25), int)
                np.add.at(counts, (chain.z[others], texts.words[others]), 1)
                np.testing.assert_array_equal(view.topic_word, counts)
                np.testing.assert_array_equal(view.topic_totals, counts.sum(axis=1))
                beta = float(chain.model.beta)
                mean = (counts + beta) / (counts.sum(axis=1, keepdims=True) + 25 * beta)
                np.testing.assert_allclose(view.phi, mean, rtol=1e-6)
            else:
                assert view.topic_word is None and view.topic_totals is None
                np.testing.assert_array_equal(view.phi, chain.phi.astype(np.float32))
            arrays = [getattr(view, name) for name in dir(view) if not name.startswith("_")]
            arrays = [a for a in arrays if isinstance(a, np.ndarray)]
            assert len(arrays) >= 10
            for array in arrays:
                assert not array.flags.writeable
                assert len(array) != len(view.words) or array is view.words

    for collapse in ("full", "partial"):
        proposal = Checking()
        chain = chain_for(proposal, collapse, corpus=texts)
        chain.run(3)
        assert len(proposal.views) == 6


def test_the_augmentation_is_not_there_before_it_is_drawn():
    class TooEarly(SeeingWords):
        def see(self, view):
            return view.kappa

    with pytest.raises(AttributeError, match='goes by = "document"'):
        chain_for(TooEarly()).run(1)
    chain_for(TooEarly(), "full").run(1)


def giving(table, by="word", **attributes):
    return type(
        "Giving", (TableProposal,), {"by": by, "tables": lambda self, view: table(view), **attributes}
    )


def at(value, row, topic):
    def table(view):
        result = np.ones((view.n_words, K))
        result[row, topic] = value
        return result

    return table


WRONG = {
    "shape": (giving(lambda v: np.ones((K, v.n_words))), r"shape \(25, 4\), \(V, K\), not \(4, 25\)"),
    "one row": (giving(lambda v: np.ones((1, K)), "all"), r"shape \(4,\)"),
    "short": (giving(lambda v: np.ones((3, K)), "document"), r"\(documents of the block, K\), not \(3, 4\)"),
    "type": (giving(lambda v: np.full((v.n_words, K), "x")), "must hold numbers"),
    "nothing": (giving(lambda v: None), "must hold numbers"),
    "nan": (giving(at(np.nan, 7, 2)), "topic 2 for word 7 is nan, not finite"),
    "infinite": (giving(at(np.inf, 7, 2)), "topic 2 for word 7 is inf, not finite"),
    "negative": (giving(at(-0.5, 7, 2)), "topic 2 for word 7 is -0.5, below 0"),
    "zeros": (giving(at(0.0, 7, slice(None))), "masses for word 7 are all 0"),
    "all zeros": (giving(lambda v: np.zeros(K), "all"), "the masses are all 0"),
    "by": (giving(at(1, 0, 0), "token"), 'must be one of "word", "document", "all", not \'token\''),
    "background": (giving(at(1, 0, 0), background=0.0), "background must be above 0"),
}


@pytest.mark.parametrize("mistake", WRONG)
def test_a_table_that_cannot_be_drawn_from_is_refused(mistake):
    proposal, said = WRONG[mistake]
    with pytest.raises(TableError, match=f"(?s)^proposal Giving: .*{said}"):
        chain_for(proposal).run(1)


def test_by_is_asked_for():
    with pytest.raises(TableError, match="`by` must be one of"):
        chain_for(type("Nameless", (TableProposal,), {"tables": lambda self, view: None}))


def test_rows_that_nobody_draws_from_may_be_empty():
    counts = np.array([[2, 0, 1], [0, 0, 0]])
    for by, table in {"word": [[1, 2], [0, 0], [0, 1]], "document": [[1, 0], [0, 0]]}.items():
        proposal = giving(lambda v, table=table: np.array(table), by)
        for collapse in ("full", "partial"):
            kernel = ps.kernels.ComposedMH([proposal], steps=2, collapse=collapse)
            ps.Chain(ps.Corpus.from_counts(counts), ps.Model(n_topics=2), kernel).run(3)


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_the_scale_of_a_row_does_not_matter(scale):
    sums = []
    for factor in (1.0, scale):
        chain = chain_for(giving(lambda v, factor=factor: factor * (1.0 + np.arange(K)), "all"))
        sums.append(chain.run(3).z.sum())
    assert sums[0] == sums[1]


def test_a_topic_without_mass_is_reached_by_the_background():
    only_first = giving(lambda v: np.eye(K)[0], "all")
    kernel = ps.kernels.ComposedMH([only_first], steps=2, collapse="partial")
    chain = ps.Chain(
        corpus(), ps.Model(n_topics=K, loss="none"), kernel, init=np.zeros(corpus().n_tokens, int)
    )
    assert set(chain.run(20).z.tolist()) == set(range(K))


def test_by_name_it_is_reported_and_runs_repeat(site, install):
    source = """
from plugsamp.proposals.table import TableProposal
class Flat(TableProposal):
    by = "all"
    def tables(self, view):
        return view.alpha
"""
    install(site, "flat", "flat_module", source, {"proposals": {"flat": "Flat"}})
    kernel = ps.kernels.ComposedMH(["flat", "word"], steps=2, collapse="partial")
    runs = []
    for _ in range(2):
        chain = ps.Chain(corpus(), ps.Model(n_topics=K, loss="none"), kernel, seed=3)
        infos = list(chain.sweeps(3))
        runs.append(chain.z)
    assert set(infos[0].acceptance) == {"flat", "word"} and 0 < infos[0].acceptance["flat"] < 1
    np.testing.assert_array_equal(*runs)


def test_what_is_no_proposal_is_refused():
    with pytest.raises(TypeError, match=r"must be a plugsamp\.proposals\.table\.TableProposal or .*, not \w"):
        chain_for(dict)
