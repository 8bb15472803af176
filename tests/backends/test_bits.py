"""Chains of worker processes are those of the serial backend, to the bit."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import sparse

import plugsamp as ps
from plugsamp.backends import base
from plugsamp.testing.cases import variants
from plugsamp.topics.concentration import Concentration

RNG = np.random.default_rng(5)
#: Documents that make several blocks, some of them empty; words that make several too.
COUNTS = RNG.poisson(RNG.gamma(0.2, 0.17, size=(240, 2600)))
COUNTS[[0, 7, 150]] = 0
CLASSES = np.array(["x", "y", "z"], dtype=object)[RNG.integers(3, size=240)]
CLASSES[[3, 9]] = None
TWO = np.where(CLASSES == "x", "x", "y").astype(object)
MANY = (RNG.random((240, 11)) < 0.3).astype(object)
MANY[5, 2] = None
REALS = RNG.standard_normal(240)
DENSE = RNG.standard_normal((240, 2))
SPARSE = sparse.random_array((240, 30), density=0.05, rng=RNG, format="csr")
VOCABULARY = [f"w{w}" for w in range(2600)]

KERNELS = {
    "dense": ps.kernels.Dense("partial"),
    "composed": ps.kernels.ComposedMH(["word", "doc", "exp"], "mixture", 5, "partial"),
    "sparse": ps.kernels.ComposedMH(["sparse_exp", "sparse", "word"], "cycle", 3, "partial"),
    "sparse_pc": ps.kernels.SparsePCLDA(2),
    "light_pc": ps.kernels.LightPCLDA(),
}
SEEDED = ps.topics.Seeded({0: ["w1", "w5"], 3: ["w1"]}, weight=3)
SLICE = Concentration("slice")


def responses_for(loss):
    for responses in (MANY, REALS):
        try:
            loss.code(responses, None)
        except ValueError:
            continue
        return responses
    return CLASSES


def corpus(responses=None, covariates=None):
    return ps.Corpus.from_counts(COUNTS, responses=responses, covariates=covariates, vocabulary=VOCABULARY)


def outcome(data, model, kernel, backend=None, sweeps=4, **options):
    with ps.Chain(data, model, kernel, backend=backend, seed=3, **options) as chain:
        infos = list(chain.sweeps(sweeps))
        arrays = {
            "z": chain.z, "eta": chain.eta, "phi": chain.phi, "kappa": chain.kappa, "omega": chain.omega,
            "alpha": chain.alpha, "beta": chain.beta, "topic_word": chain.counts.topic_word,
            "totals": chain.counts.topic_totals, "doc_topic": chain.counts.doc_topic.toarray(),
            **chain.parameters, **chain.prior_state,
        }  # fmt: skip
        arrays = {name: np.array(value) for name, value in arrays.items()}
        return arrays, chain.log_joint(), [(info.moved, info.acceptance) for info in infos]


def assert_same(data, model, kernel, workers, **options):
    arrays, log_joint, infos = outcome(data, model, kernel, **options)
    for n in workers:
        found = outcome(data, model, kernel, ps.backends.Processes(workers=n), **options)
        for name, value in arrays.items():
            np.testing.assert_array_equal(found[0][name], value, f"{name} with {n} workers")
        assert found[1] == log_joint
        assert found[2] == infos


def model(n_topics=9, **options):
    return ps.Model(n_topics, **{"alpha": 0.3, "beta": 0.1} | options)


#: What each of them brings in is in no other.
EVERYTHING = {
    "three outputs, all numbers of workers": (
        (CLASSES, DENSE), {"loss": "hinge"}, "dense", (1, 2, 3, 7), {},
    ),
    "horseshoe, sparse covariates, eleven outputs, coordinates": (
        (MANY, SPARSE), {"loss": "logistic", "weights": "horseshoe"}, "composed", (2,),
        {"weight_update": "mixed"},
    ),
    "variances of the weights drawn for eleven outputs": (
        (MANY, SPARSE), {"loss": "probit", "weights": ps.priors.Hierarchical(shared=True)}, "composed", (2,),
        {"weight_update": "mixed"},
    ),
    "a sampled variance, alpha and beta learnt": (
        (REALS, None), {"loss": ps.losses.Gaussian("sample"), "learn_alpha": SLICE, "learn_beta": SLICE},
        "light_pc", (2,), {},
    ),
    "lazy topics": ((TWO, None), {"n_topics": 70, "beta": 0.02, "loss": "hinge"}, "composed", (3,), {}),
    "lazy topics, sparse draws": (
        (None, None), {"n_topics": 70, "alpha": RNG.gamma(0.5, 0.4, 70) + 0.01, "beta": 0.02, "loss": "none"},
        "sparse_pc", (2,), {},
    ),
    "lazy topics, sparse proposals": (
        (CLASSES, None), {"n_topics": 70, "beta": 0.02, "loss": "probit"}, "sparse_pc", (2,), {},
    ),
    "spike and slab": (
        (CLASSES, None), {"loss": "probit", "topics": ps.topics.SpikeSlab(0.3)}, "sparse", (2,), {},
    ),
    "seeds": ((None, None), {"loss": "none", "topics": SEEDED}, "sparse_pc", (3,), {}),
}  # fmt: skip


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name == "seeds")) for name in EVERYTHING]
)
def test_same_bits(name):
    data, options, kernel, workers, chain_options = EVERYTHING[name]
    assert_same(corpus(*data), model(**options), KERNELS[kernel], workers, **chain_options)


@pytest.mark.parametrize("little", [0, 10**9])
def test_what_is_little_is_done_here_or_there(little, monkeypatch):
    monkeypatch.setattr(base, "LITTLE", little)
    assert_same(corpus(CLASSES), model(loss="hinge"), KERNELS["dense"], [2])


def test_lazy_topics_are_lazy():
    chain = ps.Chain(corpus(TWO), model(70, beta=0.02, loss="hinge"), KERNELS["composed"])
    assert chain.state.lazy is not None
    assert chain.phases.n_document_blocks > 3
    assert chain.phases.n_word_blocks > 2


@pytest.mark.parametrize(
    "kernel",
    [
        ps.kernels.Dense("full"), ps.kernels.SparseLDA(),
        *(pytest.param(kernel, marks=pytest.mark.slow) for kernel in (
            ps.kernels.ComposedMH(), ps.kernels.FastLDA(), ps.kernels.AliasLDA(),
            ps.kernels.LightLDA(stale=True),
        )),
    ],
    ids=lambda kernel: type(kernel).__name__,
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::plugsamp.errors.ApproximationWarning")
def test_one_worker_equals_serial_with_topics_integrated_out(kernel):
    data = corpus(CLASSES if kernel.responses else None)
    assert_same(data, model(loss="hinge" if kernel.responses else "none"), kernel, [1])


@pytest.mark.parametrize("kernel", ["sparse", "fast"])
def test_topics_that_are_given(kernel):
    """As in a run that is resumed: nothing has been counted in the chain's process before."""
    data = corpus()
    init = np.random.default_rng(4).integers(0, 9, data.n_tokens)
    assert_same(data, model(loss="none"), kernel, [1], init=init, sweeps=2)
    with pytest.warns(ps.errors.ApproximationWarning):
        chain = ps.Chain(data, model(loss="none"), kernel, ps.backends.Processes(workers=2), init=init)
    with chain:
        counts = chain.run(2).counts
    np.testing.assert_array_equal(counts.topic_totals, np.bincount(chain.z, minlength=9))
    assert (chain.z != init).any()


def test_going_on_after_a_look_a_close_and_a_new_start():
    data, what, kernel = corpus(CLASSES), model(loss="hinge"), KERNELS["sparse"]
    expected = outcome(data, what, kernel, sweeps=5)[0]
    chain = ps.Chain(data, what, kernel, backend=ps.backends.Processes(workers=2), seed=3)
    chain.run(2)
    chain.token_transition(40)
    chain.run(1)
    chain.close()
    chain.close()
    np.testing.assert_array_equal(chain.phi.shape, (9, 2600))
    chain.run(2)
    np.testing.assert_array_equal(chain.z, expected["z"])
    np.testing.assert_array_equal(chain.eta, expected["eta"])
    z, eta = chain.z, chain.eta
    chain.set_state(z=np.zeros_like(z), eta=np.zeros_like(eta))
    serial = ps.Chain(data, what, kernel, seed=3)
    serial.sweep = chain.sweep
    serial.set_state(z=np.zeros_like(z), eta=np.zeros_like(eta))
    np.testing.assert_array_equal(chain.run(1).z, serial.run(1).z)
    chain.close()


def test_fit_and_files(tmp_path):
    data, what = corpus(CLASSES), model(loss="hinge")
    expected = ps.fit(data, what, KERNELS["dense"], sweeps=3)
    backend = ps.backends.Processes(workers=2, folder=str(tmp_path))
    found = ps.fit(data, what, KERNELS["dense"], sweeps=3, backend=backend)
    np.testing.assert_array_equal(found.eta, expected.eta)
    np.testing.assert_array_equal(found.phi, expected.phi)
    assert [r["log_joint"] for r in found.trace] == [r["log_joint"] for r in expected.trace]
    assert not list(tmp_path.iterdir())  # files there have no name


COVARIATES = {"none": None, "dense": DENSE, "sparse": SPARSE}


def everything():
    """Every loss with every prior, update and kernel; covariates and numbers of workers in turn."""
    turns = zip(itertools.cycle([(1, 7), (2, 3)]), itertools.cycle(COVARIATES), strict=False)
    for name, loss in variants("losses").items():
        updates = [("normal", "block")]  # there are no weights
        if not loss.unsupervised:
            updates = list(
                itertools.product(("normal", "horseshoe", "hierarchical"), ("block", "coordinate"))
            )
        for (weights, update), kernel in itertools.product(updates, KERNELS):
            yield (name, weights, kernel, update, *next(turns))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("loss", "weights", "kernel", "update", "workers", "covariates"), everything(), ids=str
)
def test_every_loss_prior_and_kernel(loss, weights, kernel, update, workers, covariates):
    loss = variants("losses")[loss]
    responses = None if loss.unsupervised else responses_for(loss)
    n_topics, beta = (70, 0.02) if kernel == "light_pc" else (9, 0.1)
    what = model(n_topics, beta=beta, loss=loss, weights=weights)
    data = corpus(responses, COVARIATES[covariates])
    assert_same(data, what, KERNELS[kernel], workers, sweeps=3, weight_update=update)
