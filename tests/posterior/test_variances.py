"""Variances of the weights that the prior draws: kept, shown, saved, loaded, traced."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import plugsamp as ps
from plugsamp.cli import main

CLASSES = [["space", "food", "law"][i % 3] for i in range(60)]
COUNTS = np.random.default_rng(0).poisson(
    np.repeat(np.eye(3) * 4 + 0.2, 20, axis=0)[np.argsort(np.arange(60) % 3)]
)
COVARIATES = np.random.default_rng(1).standard_normal((60, 2))
CORPUS = ps.Corpus.from_counts(COUNTS, responses=CLASSES, covariates=COVARIATES)


def fitted(shared=False, corpus=CORPUS, **options):
    model = ps.Model(3, loss="probit", weights=ps.priors.Hierarchical(shared=shared))
    return ps.fit(corpus, model, sweeps=20, **options)


@pytest.mark.parametrize("shared", [False, True])
def test_each_kept_draw_has_its_variances(shared, tmp_path):
    posterior = fitted(shared)
    (part,) = posterior.parts
    assert {name: v.shape for name, v in part.variances.items()} == dict.fromkeys(
        ("covariates", "topics"), (len(part.eta), 1 if shared else 3)
    )
    last = posterior.chain.weight_variances()
    np.testing.assert_array_equal(part.variances["topics"][-1], last["topics"])
    traced = posterior.trace.column("variance_topics")
    assert traced[-1] == pytest.approx(np.exp(np.log(last["topics"]).mean()))
    table = posterior.variances(level=0.5)
    outputs = ["all"] if shared else sorted(set(CLASSES))
    assert table["output"] == 2 * outputs and table["group"] == ["covariates"] * len(outputs) + [
        "topics"
    ] * len(outputs)
    np.testing.assert_allclose(table["mean"][-len(outputs) :], part.variances["topics"].mean(axis=0))
    for name in ("model", "model.zip"):
        posterior.save(tmp_path / name)
        again = ps.load(tmp_path / name)
        assert again.variances().rows == posterior.variances().rows and again.digest == posterior.digest


def test_several_chains_and_models():
    chains = fitted(chains=2)
    assert chains.variances(part="all")["chain"] == ["chain 1"] * 6 + ["chain 2"] * 6
    separate = fitted(multiclass="ovr")
    assert len(separate.variances()) == 12  # a probit of two classes has an output each
    assert separate.variances()["task"][0] == separate.parts[0].name
    assert fitted(supervised="two_step").variances()["output"][:3] == sorted(set(CLASSES))


def test_two_classes_with_an_output_each():
    two = CORPUS.with_responses(np.array(["a", "b"] * 30, dtype=object))
    posterior = fitted(corpus=two)
    assert posterior.variances()["output"][: len(posterior.parts[0].variances["topics"][0])] in (
        ["a", "b"], ["b"],
    )  # fmt: skip


def test_of_fixed_variances_nothing_is_kept():
    posterior = ps.fit(CORPUS, ps.Model(3, loss="probit"), sweeps=4)
    assert "variance_topics" not in posterior.trace.columns
    with pytest.raises(ValueError, match="fixed variances; weights='hierarchical' draws them"):
        posterior.variances()
    with pytest.raises(ValueError, match=r"variances of topics are \(3,\)"):
        replace(posterior.parts[0], variances={"topics": np.ones(3)})


def test_the_command_writes_them(tmp_path):
    path = tmp_path / "d.jsonl"
    lines = [
        json.dumps({"text": f"{'moon orbit' if i % 2 else 'soup bread'} w{i % 5}", "label": i % 2})
        for i in range(40)
    ]
    path.write_text("\n".join(lines) + "\n")
    options = ["corpus=jsonl", f"corpus.path={path}", "loss=logistic", "weights=hierarchical", "n_topics=2"]
    folder = tmp_path / "run"
    assert (
        main(["fit", *options, "weights.shared=true", "sweeps=8", "report=false", f"hydra.run.dir={folder}"])
        == 0
    )
    metrics = json.loads((folder / "metrics.json").read_text())
    assert list(metrics["weight_variances"]) == ["topics"]
    posterior = ps.load(folder)
    assert metrics["weight_variances"]["topics"] == pytest.approx(posterior.variances()["mean"][0])
    assert posterior.trace.column("variance_topics").shape == (8,)
