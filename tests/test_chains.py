"""Several chains of one model in one fit: kept apart, predicting together, compared."""

import csv
import json

import numpy as np
import pytest

import plugsamp as ps
from plugsamp.diagnostics.agreement import agreement
from plugsamp.prediction.evaluation import evaluate


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(0)
    kind = np.arange(45) % 3
    counts = rng.poisson(np.where(np.arange(12)[None] // 4 == kind[:, None], 2.0, 0.3))
    return ps.Corpus.from_counts(counts, responses=np.array(["a", "b", "c"])[kind])


OPTIONS = {"sweeps": 12, "burn_in": 4, "thin": 2, "seed": 5}


def fitted(corpus, chains=3, loss="hinge", **more):
    return ps.fit(corpus, ps.Model(4, loss=loss), chains=chains, **{**OPTIONS, **more})


def of_each_class(prediction):
    """P(class) (D, classes) of each class's own binary model: means over the mixture's components."""
    found = []
    for _, parts in prediction.predictive.mixtures():
        flat = [bound.positive(f.reshape(-1, f.shape[-1])).reshape(f.shape) for bound, f in parts]
        found.append(np.concatenate(flat).mean(axis=0))
    return np.concatenate(found)


@pytest.mark.parametrize("loss", ["hinge", "logistic", "probit"])
def test_predictions_are_means_over_chains(corpus, loss):
    together = fitted(corpus, loss=loss)
    assert [part.name for part in together.parts] == ["chain 1", "chain 2", "chain 3"]
    alone = [member.predict(corpus) for member in together.parts]
    found = together.predict(corpus)
    np.testing.assert_allclose(found.f, np.mean([p.f for p in alone], axis=0))
    if loss == "hinge":
        assert found.probabilities is None
        assert found.labels.tolist() == found.coding.classes[found.f.argmax(axis=1)].tolist()
    else:
        mean = np.mean([of_each_class(p) for p in alone], axis=0)
        expected = mean / mean.sum(axis=1, keepdims=True)  # after the mean: not that of the chains' quotients
        np.testing.assert_allclose(found.probabilities, expected, rtol=1e-9)
        assert found.labels.tolist() == found.coding.classes[found.probabilities.argmax(axis=1)].tolist()
    assert found.theta.shape == (45, 12)


def test_real_responses_and_none(corpus):
    y = corpus.counts().toarray()[:, :4].sum(axis=1) + 0.5
    found = fitted(corpus.with_responses(y), chains=2, loss="gaussian")
    prediction = found.predict(corpus)
    np.testing.assert_allclose(
        prediction.labels, np.mean([m.predict(corpus).labels for m in found.parts], axis=0)
    )
    low, high = np.moveaxis(prediction.interval(0.9), -1, 0)
    assert (low < high).all()
    topics = fitted(corpus, chains=2, loss="none")
    assert topics.predict(corpus).labels is None
    parts = [evaluate(m, corpus, held_out=True).main for m in topics.parts]
    assert evaluate(topics, corpus, held_out=True).main == pytest.approx(np.mean(parts))


def test_chains_differ_and_the_first_is_the_fit_alone(corpus):
    result = fitted(corpus)
    one = ps.fit(corpus, ps.Model(4, loss="hinge"), **OPTIONS)
    assert result.parts[0].digest == one.digest
    assert len({m.digest for m in result.parts}) == 3
    rows = {
        p.name: [r["log_joint"] for r in result.trace if r["chain"] == p.name] for p in result.parts
    }
    assert rows["chain 1"] == [r["log_joint"] for r in one.trace]
    assert {len(values) for values in rows.values()} == {12}
    parallel = fitted(corpus, n_jobs=2)
    assert parallel.digest == result.digest


def test_agreement(corpus):
    found = agreement(fitted(corpus).trace, 4)
    assert set(found) == {"log_joint", "log_joint_words", "log_joint_responses", "loss"}
    assert all(one["r_hat"] > 0.9 and one["ess"] > 1 for one in found.values())
    with pytest.raises(ValueError, match="burn-in of 12"):
        agreement(fitted(corpus).trace, 12)
    with pytest.raises(ValueError, match="of each chain 2 sweeps after the burn-in of 10, and 4 or more"):
        agreement(fitted(corpus).trace, 10)
    still = [
        {"sweep": s, "chain": c, "log_joint": 1.0, "loss": (s * 7 + c) % 5} for c in (0, 1) for s in range(9)
    ]
    found = agreement(still, 0)  # strict JSON has no NaN to speak of
    assert found["log_joint"]["constant"] == "constant" and found["log_joint"]["r_hat"] is None
    assert "constant" not in found["loss"] and found["loss"]["r_hat"] > 0
    same = [{"sweep": s, "chain": c, "log_joint": float(s)} for c in "ab" for s in range(9)]
    with pytest.raises(ValueError, match="chains of one seed"):
        agreement(same, 0)


def test_saving(corpus, tmp_path):
    together = fitted(corpus)
    ps.save_model(tmp_path / "model", together)
    again = ps.load_model(tmp_path / "model")
    assert again.owner == "chain" and again.digest == together.digest
    assert (again.predict(corpus).f == together.predict(corpus).f).all()


def test_refusals(corpus):
    for chains in (0, -1, 1.5, "two", True):
        with pytest.raises(ValueError, match="chains must be"):
            fitted(corpus, chains=chains)
    with pytest.raises(ValueError, match="chains=2 goes with multiclass=multitask"):
        fitted(corpus, chains=2, multiclass="ovr")
    with pytest.raises(ValueError, match="for one chain"):
        fitted(corpus, chains=2, init=np.zeros(corpus.n_tokens, int))


def test_the_command(tmp_path, monkeypatch, capsys):
    from plugsamp.cli import main

    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    words = {"x": ["moon", "orbit", "rocket"], "y": ["soup", "bread", "salt"]}
    lines = [f"{' '.join(rng.choice(words[c], 9))},{c}" for c in "xy" * 12]
    (tmp_path / "a.csv").write_text("\n".join(["text,label", *lines]))
    fast = [
        "n_topics=2",
        "sweeps=12",
        "corpus=csv",
        "corpus.path=a.csv",
        "corpus.min_df=1",
        "corpus.test_size=0.25",
    ]
    assert main(["fit", *fast, "chains=2", "hydra.run.dir=run"]) == 0
    assert "R-hat log joint" in capsys.readouterr().out
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert metrics["chains"] == 2 and metrics["mixing"]["log_joint"]["ess"] > 0
    assert "the first of 2 chains" in (tmp_path / "run" / "report.html").read_text()
    assert "chain 2" in (tmp_path / "run" / "topics.txt").read_text()
    members = ps.load_model("run/model").parts
    for name, per_chain in (("topics.csv", 2), ("weights.csv", 2)):
        with open(tmp_path / "run" / name, newline="") as file:
            rows = list(csv.DictReader(file))
        assert [row["chain"] for row in rows] == ["chain 1"] * per_chain + ["chain 2"] * per_chain
        if name == "weights.csv":
            assert [float(row["mean"]) for row in rows] == [w for m in members for w in m.eta.mean(axis=0)[0]]
        else:
            tokens = [int(row["tokens"]) for row in rows]
            assert sum(tokens[:2]) == sum(tokens[2:]) == metrics["n_tokens"]
    for part, mine in enumerate((tokens[:2], tokens[2:])):
        table = ps.load("run").topics(part=part)
        shares = dict(zip(table["topic"].tolist(), table["share"].tolist(), strict=True))
        assert shares == {k: n / sum(mine) for k, n in enumerate(mine)}
    assert main(["fit", *fast, "multiclass=ovr", "loss=probit", "hydra.run.dir=tasks"]) == 0
    with open("tasks/weights.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["column"].startswith("topic")]
    assert [(row["task"], row["output"]) for row in rows] == [(c, c) for c in "xy" for _ in range(2)]
    of_y = ps.load_model("tasks/model").parts[1].eta.mean(axis=0)
    assert [float(row["mean"]) for row in rows[-2:]] == pytest.approx((of_y[1] - of_y[0])[:2])
    assert main(["predict", "model=run", *fast[2:], "part=test", "out=again.csv"]) == 0
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "run" / "predictions.csv").read_bytes()
    assert main(["fit", *fast, "chains=2", "sweeps=3", "hydra.run.dir=short"]) == 0
    assert "R-hat unknown: of each chain 2 sweeps after the burn-in of 1, and 4" in capsys.readouterr().out


def test_chains_keep_the_names_of_labels():
    table = np.tile([[1, 0], [0, 1], [1, 1]], (8, 1))
    corpus = ps.Corpus.from_counts(np.eye(24, dtype=int) + 1, table, response_names=["old", "new"])
    both = ps.fit(corpus, ps.Model(2, loss="logistic"), sweeps=2, chains=2)
    assert [str(name) for name in both.coding.classes] == ["old", "new"]
