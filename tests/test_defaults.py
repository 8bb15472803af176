"""What is used where nothing is said, each in one place; earlier runs keep what they were begun with."""

import json
import re

import numpy as np
import pytest
from omegaconf import OmegaConf

import plugsamp as ps
from plugsamp.cli import main
from plugsamp.estimators import SupervisedTopicClassifier, SupervisedTopicRegressor, TopicModel
from plugsamp.hydra_source import compose
from plugsamp.model import BETA


@pytest.mark.parametrize(
    "loss, variance",
    [("hinge", 0.01), ({"name": "logistic", "cost": 5.0}, 1.0), ("probit", 1.0), ("gaussian", 1.0)],
)
def test_the_loss_says_how_large_weights_are(loss, variance):
    model = ps.Model(3, loss=loss)
    assert model.weights.variance == variance
    assert model.weights.covariate_variance == (0.02 if loss == "hinge" else None)
    given = ps.Model(3, loss=loss, weights=ps.priors.Normal(covariate_variance=2.0))
    assert (given.weights.variance, given.weights.covariate_variance) == (variance, 2.0)
    given = ps.Model(3, loss=loss, weights=ps.priors.Normal(0.5)).weights
    assert (given.variance, given.covariate_variance) == (0.5, None)


@pytest.mark.parametrize("loss", ["logistic", "multinomial"])
def test_likelihoods_of_classes_draw_the_variances(loss):
    model = ps.Model(3, loss=loss, weights=ps.priors.Normal(intercept_variance=7.0))
    assert model.weights.options() == ps.priors.Hierarchical(intercept_variance=7.0).options()
    assert isinstance(ps.Model(3, loss=loss).weights, ps.priors.Hierarchical)
    for given in ({"variance": 1.0}, {"covariate_variance": 0.5}):
        weights = ps.Model(3, loss=loss, weights=ps.priors.Normal(**given)).weights
        assert (weights.variance, weights.covariate_variance) == (1.0, given.get("covariate_variance"))


def test_command_and_python_have_the_same_defaults():
    config = compose([])
    assert (config.loss.cost, config.weights.variance, config.beta) == (ps.losses.Hinge().cost, None, BETA)
    for estimator in (SupervisedTopicClassifier, SupervisedTopicRegressor, TopicModel):
        assert estimator().beta == BETA == float(ps.Model(2).beta)
    assert SupervisedTopicClassifier().decide == config.decide == "auto"


@pytest.fixture
def options(tmp_path):
    path = tmp_path / "news.jsonl"
    rng = np.random.default_rng(0)
    with open(path, "w", encoding="utf-8") as file:
        for i in range(60):
            words = rng.choice(["moon orbit", "soup bread"][i % 2].split(), 8)
            file.write(json.dumps({"text": " ".join(words), "label": "ab"[i % 2]}) + "\n")
    return ["corpus=jsonl", f"corpus.path={path}", "n_topics=2", "report=false"]


FORMER = ["loss.cost=102.4", "weights.variance=1.0", "beta=0.01", "decide=zero"]


def of_a_former_version(folder) -> None:
    """Take from a run what earlier runs do not have, and that these options were given."""
    config = OmegaConf.load(folder / "config.yaml")
    del config["decide"], config["corpus"]["validation_size"]
    OmegaConf.save(config, folder / "config.yaml")
    status = json.loads((folder / "status.json").read_text())
    status["overrides"] = [one for one in status["overrides"] if one not in FORMER]
    (folder / "status.json").write_text(json.dumps(status))


def measured(folder) -> dict:
    return json.loads((folder / "metrics.json").read_text())


def test_a_run_with_former_defaults_is_resumed_with_them(options, tmp_path):
    for name, sweeps in (("whole", 8), ("begun", 4)):
        assert main(["fit", *options, *FORMER, f"sweeps={sweeps}", f"hydra.run.dir={tmp_path / name}"]) == 0
    of_a_former_version(tmp_path / "begun")
    assert main(["resume", f"run={tmp_path / 'begun'}", "sweeps=8"]) == 0
    whole, begun = measured(tmp_path / "whole"), measured(tmp_path / "begun")
    assert (begun["sweeps"], begun["log_joint"]) == (8, whole["log_joint"])


def test_a_sweep_with_former_defaults_goes_on_with_them(options, tmp_path, capsys, caplog):
    folder, again = (
        tmp_path / "sweep",
        [*options, "sweeps=3", "seed=0,1", f"hydra.sweep.dir={tmp_path / 'sweep'}"],
    )
    assert main(["fit", "-m", *again, *FORMER]) == 0
    before = measured(folder / "0")
    for job in "01":
        of_a_former_version(folder / job)
    (folder / "1" / "metrics.json").unlink()
    status = json.loads((folder / "1" / "status.json").read_text())
    (folder / "1" / "status.json").write_text(json.dumps(status | {"status": "interrupted"}))
    assert main(["fit", "-m", *again]) == 0
    assert measured(folder / "0") == before
    assert OmegaConf.load(folder / "1" / "config.yaml").weights.variance == 1.0
    shown = " ".join(capsys.readouterr()) + caplog.text
    assert re.search("defaults have changed.*weights.variance=1.0", shown)


def test_options_that_were_given_are_no_former_defaults(options, tmp_path, capsys):
    again = [*options, "sweeps=2", "seed=0", f"hydra.sweep.dir={tmp_path / 'sweep'}"]
    assert main(["fit", "-m", *again, "weights.variance=1.0"]) == 0
    assert main(["fit", "-m", *again]) == 2
    assert "weights.variance is 1.0, here null" in " ".join(capsys.readouterr())
