"""A chain that is saved goes on, elsewhere and later, to the bit as if it had not been."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from plugsamp.chain import Chain
from plugsamp.corpus import Corpus
from plugsamp.files.storage import StorageError
from plugsamp.kernels.composed import ComposedMH
from plugsamp.model import Model
from plugsamp.proposals.table import TableProposal
from plugsamp.registry import resolve
from plugsamp.testing import kernel_configurations, label, variants

DOCUMENTS = 150


def corpus(responses="classes") -> Corpus:
    rng = np.random.default_rng(8)
    counts = rng.poisson(rng.gamma(0.3, 1.0, size=60) * rng.gamma(0.5, 2.0, size=(DOCUMENTS, 1)))
    counts[3] = 0
    classes = np.array(["x", "y", "z"], dtype=object)[rng.integers(3, size=DOCUMENTS)]
    classes[7] = None
    found = {
        "classes": classes,
        "binary": np.where(classes == "x", "x", "y").astype(object),
        "real": rng.standard_normal(DOCUMENTS),
        "count": rng.poisson(2.0, DOCUMENTS).astype(float),
    }
    return Corpus.from_counts(
        counts, responses=found[responses], covariates=rng.standard_normal((DOCUMENTS, 2))
    )


CORPORA = {kind: corpus(kind) for kind in ("classes", "binary", "real", "count")}


def corpus_for(loss) -> Corpus:
    """One whose responses the loss takes."""
    if loss.unsupervised:
        return CORPORA["classes"]
    for found in CORPORA.values():
        try:
            loss.code(found.responses)
        except (ValueError, TypeError):
            continue
        return found
    raise AssertionError(f"no corpus for {loss!r}")


def everything(chain) -> dict[str, np.ndarray]:
    """All that a chain shows and holds."""
    found = {"z": chain.z, "eta": chain.eta, "phi": chain.phi, "alpha": chain.alpha, "beta": chain.beta}
    found |= {"kappa": chain.kappa, "omega": chain.omega, "f": chain.f()}
    found |= {"topic_word": chain.counts.topic_word, "doc_topic": chain.counts.doc_topic.toarray()}
    found |= {f"shrinkage {k}": np.asarray(v).copy() for k, v in chain.prior_state.items()}
    found |= {f"parameter {k}": np.asarray(v).copy() for k, v in chain.parameters.items()}
    return found | {"log joint": np.array(list(chain.log_joint().values()))}


def assert_goes_on(make, folder, before=3, after=4) -> None:
    """Save a chain after some sweeps; another one loads that and does what the first does."""
    one, two = make(), make()
    one.run(before).save(folder)
    one.run(after)
    two.load(folder)
    assert two.sweep == before
    two.run(after)
    first, second = everything(one), everything(two)
    for name, value in first.items():
        assert np.array_equal(value, second[name]), f"{name} differs"


def maker(configuration, corpus, update="auto", n_topics=9, **model):
    """A function that makes a chain, the same one every time."""
    name, options = configuration
    model = {"alpha": 0.3, "beta": 0.1} | model

    def make():
        kernel = resolve("kernels", name, **options)
        return Chain(corpus, Model(n_topics, **model), kernel, seed=3, weight_update=update)

    return make


CONFIGURATIONS = [
    *kernel_configurations(),
    ("light", {"stale": True}),
    ("alias", {"stale": True}),
    ("fast", {"bound": "3-3-3"}),
    ("sparse", {"start": "random"}),
]
PROPOSALS = {"proposals": ["word", "doc", "exp"], "composition": "mixture", "steps": 3}
PARTIAL = ("composed", PROPOSALS | {"collapse": "partial"})
FULL = ("dense", {})


@pytest.mark.filterwarnings("ignore::plugsamp.errors.ApproximationWarning")
@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=label)
def test_every_kernel(configuration, tmp_path):
    supervised = resolve("kernels", configuration[0], **configuration[1]).responses
    loss = "hinge" if supervised else "none"
    assert_goes_on(maker(configuration, CORPORA["classes"], loss=loss), tmp_path / "chain")


@pytest.mark.parametrize("loss", variants("losses").values(), ids=list(variants("losses")))
def test_every_loss(loss, tmp_path):
    assert_goes_on(maker(PARTIAL, corpus_for(loss), loss=loss), tmp_path / "chain")


@pytest.mark.parametrize("update", ["block", "coordinate", "mixed"])
@pytest.mark.parametrize("weights", variants("priors").values(), ids=list(variants("priors")))
def test_every_weight_prior_and_update(weights, update, tmp_path):
    make = maker(PARTIAL, CORPORA["classes"], update, loss="logistic", weights=weights)
    assert_goes_on(make, tmp_path / "chain")


@pytest.mark.parametrize("method", ["slice", "fixed_point"])
@pytest.mark.parametrize("configuration", [PARTIAL, FULL, ("sparse", {}), ("light_pc", {})], ids=label)
def test_learnt_priors(configuration, method, tmp_path):
    loss = "none" if configuration[0] == "sparse" else "hinge"
    make = maker(configuration, CORPORA["classes"], loss=loss, learn_alpha=method, learn_beta=method)
    assert_goes_on(make, tmp_path / "chain")


@pytest.mark.parametrize("configuration", [PARTIAL, ("dense", {"collapse": "partial"})], ids=label)
@pytest.mark.parametrize(
    "topics",
    [
        {"name": "spike_slab"},
        {"name": "spike_slab", "probability": 0.6},
        {"name": "seeded", "words": {0: ["w1", "w2"], 4: ["w3"]}},
    ],
    ids=str,
)
def test_topic_priors(configuration, topics, tmp_path):
    assert_goes_on(maker(configuration, CORPORA["classes"], loss="hinge", topics=topics), tmp_path / "chain")


@pytest.mark.parametrize("configuration", [("light_pc", {}), ("sparse_pc", {})], ids=label)
def test_lazy_topics_and_several_blocks(configuration, tmp_path):
    rng = np.random.default_rng(1)
    counts = rng.poisson(0.01, size=(1500, 5200))
    make = maker(configuration, Corpus.from_counts(counts), n_topics=70, beta=0.01)
    assert make().state.lazy is not None
    assert_goes_on(make, tmp_path / "chain", 2, 2)


class Frequent(TableProposal):
    """Topics as the responses' weights have them; a plugin's kind of proposal."""

    by = "document"

    def tables(self, view):
        return 1.0 + np.abs(view.eta[:, : view.n_topics]).sum(axis=0) + np.zeros((len(view), 1))


def test_a_table_proposal(tmp_path):
    def make():
        kernel = ComposedMH(["doc", Frequent], "mixture", 4)
        return Chain(CORPORA["classes"], Model(9, 0.3, 0.1, loss="hinge"), kernel, seed=3)

    assert_goes_on(make, tmp_path / "chain")


def test_phi_of_a_saved_chain_is_drawn_again_to_the_bit(tmp_path):
    make = maker(PARTIAL, CORPORA["classes"], loss="hinge", topics="spike_slab", learn_beta="none")
    chain = make().run(5)
    chain.save(tmp_path / "chain")
    assert np.array_equal(make().load(tmp_path / "chain").phi, chain.phi)
    assert not list((tmp_path / "chain").glob("*phi*"))


def test_a_chain_that_was_set_goes_on(tmp_path):
    make = maker(PARTIAL, CORPORA["classes"], loss="hinge")
    rng = np.random.default_rng(0)
    one = make().run(2)
    one.set_state(z=rng.integers(9, size=len(one.z)), eta=rng.standard_normal(one.eta.shape))
    one.save(tmp_path / "chain")
    assert np.array_equal(make().load(tmp_path / "chain").run(3).eta, one.run(3).eta)


ELSEWHERE = """
import sys, numpy as np
from test_chains import CORPORA, PARTIAL, everything, maker
chain = maker(PARTIAL, CORPORA["classes"], loss="hinge", weights="horseshoe")()
chain.load(sys.argv[1]).run(5)
np.savez(sys.argv[2], **everything(chain))
"""


def test_in_another_process(tmp_path):
    chain = maker(PARTIAL, CORPORA["classes"], loss="hinge", weights="horseshoe")().run(4)
    chain.save(tmp_path / "chain")
    chain.run(5)
    command = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n{ELSEWHERE}"
    arguments = [str(tmp_path / "chain"), str(tmp_path / "found.npz")]
    subprocess.run([sys.executable, "-c", command, *arguments], check=True, timeout=120)
    with np.load(tmp_path / "found.npz") as found:
        for name, value in everything(chain).items():
            assert np.array_equal(value, found[name]), name


# -- what is refused ----------------------------------------------------------------------------------


@pytest.fixture
def saved(tmp_path):
    folder = tmp_path / "chain"
    maker(PARTIAL, CORPORA["classes"], loss="hinge")().run(2).save(folder)
    return folder


@pytest.mark.parametrize(
    "change, said",
    [
        ({"n_topics": 8}, "n_topics was 9, and is 8"),
        ({"alpha": 0.2}, "alpha was 0.3, and is 0.2"),
        ({"loss": "logistic"}, "loss was hinge"),
        ({"loss": {"name": "hinge", "cost": 2.0}}, "loss.cost was"),
        ({"weights": "horseshoe"}, "weights was normal"),
        ({"learn_alpha": "slice"}, "learn_alpha.method was none, and is slice"),
        ({"update": "coordinate"}, "weight_update was auto, and is coordinate"),
    ],
)
def test_another_chain_is_refused_by_name(saved, change, said):
    chain = maker(PARTIAL, CORPORA["classes"], **({"loss": "hinge"} | change))()
    before = chain.z
    with pytest.raises(StorageError, match=said):
        chain.load(saved)
    assert np.array_equal(chain.z, before) and chain.sweep == 0


def test_another_corpus_is_refused(saved):
    with pytest.raises(StorageError, match=r"another corpus: its digest was [0-9a-f]{64}, and is"):
        maker(PARTIAL, CORPORA["binary"], loss="hinge")().load(saved)


def test_another_kernel_is_refused(saved):
    with pytest.raises(StorageError, match="kernel was composed"):
        maker(FULL, CORPORA["classes"], loss="hinge")().load(saved)
    other = (PARTIAL[0], PARTIAL[1] | {"steps": 4})
    with pytest.raises(StorageError, match=r"kernel\.steps was 3, and is 4"):
        maker(other, CORPORA["classes"], loss="hinge")().load(saved)


def rewrite(folder, change) -> None:
    """Change a manifest, its own digest put right: what a foreign or newer version would write."""
    from plugsamp.files import storage

    manifest = json.loads((folder / storage.MANIFEST).read_text())
    del manifest["sha256"]
    change(manifest)
    manifest["sha256"] = storage._digest_of(manifest)
    (folder / storage.MANIFEST).write_text(json.dumps(manifest))


def test_a_missing_plugin_is_named(saved):
    def change(manifest):
        manifest["content"]["made_with"]["plugins"][0] |= {"name": "student", "package": "lossy"}

    rewrite(saved, change)
    with pytest.raises(StorageError, match=r"needs the loss 'student' of package lossy .*not installed"):
        maker(PARTIAL, CORPORA["classes"], loss="hinge")().load(saved)


def test_other_versions_are_told(saved, caplog):
    def change(manifest):
        manifest["content"]["made_with"]["versions"]["numpy"] = "0.1"

    rewrite(saved, change)
    maker(PARTIAL, CORPORA["classes"], loss="hinge")().load(saved)
    assert "written with numpy 0.1" in caplog.text and "not to the bit" in caplog.text


def test_a_newer_layout_and_parts_that_are_missing_are_refused(saved):
    chain = maker(PARTIAL, CORPORA["classes"], loss="hinge")()
    rewrite(saved, lambda manifest: manifest["content"].pop("sweep"))
    with pytest.raises(StorageError, match="incomplete: it lacks 'sweep'"):
        chain.load(saved)
    rewrite(saved, lambda manifest: manifest.update(schema_version=99))
    with pytest.raises(StorageError, match="schema version 99"):
        chain.load(saved)
    assert chain.sweep == 0
