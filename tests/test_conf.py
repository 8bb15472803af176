"""Every shipped configuration composes, and plugins need none."""

from __future__ import annotations

import inspect
from importlib.resources import files

import pytest
from hydra.errors import ConfigCompositionException
from omegaconf import OmegaConf

from plugsamp import hydra_source, registry
from plugsamp.commands.fit import Settings
from plugsamp.fitting.fit import fit
from plugsamp.hydra_source import compose
from plugsamp.model import Model
from plugsamp.posterior import draws

CONF = files("plugsamp.conf")
EXPERIMENTS = sorted(
    f.name.removesuffix(".yaml") for f in (CONF / "experiment").iterdir() if ".yaml" in f.name
)
PRESETS = sorted(f.name.removesuffix(".yaml") for f in (CONF / "corpus").iterdir() if ".yaml" in f.name)

STUDENT = """
from plugsamp.losses.hinge import Hinge

class StudentT(Hinge):
    def __init__(self, df: float = 4.0, robust: bool = False, knots: tuple[int, ...] = (1, 2)):
        super().__init__()
        self.df, self.robust, self.knots = df, robust, knots
"""


@pytest.fixture
def student(site, install):
    install(site, "plugsamp-student", "student_plugin", STUDENT, {"losses": {"heavy_t": "StudentT"}})
    return site


def objects(config):
    return {g: hydra_source.object_of(g, config[g]) for g in hydra_source.CONFIG_GROUPS}


def test_the_defaults_make_objects():
    config = compose([])
    made = objects(config)
    assert type(made["loss"]).__name__ == "Hinge" and type(made["weights"]).__name__ == "Normal"
    Model(**Settings.of(config).model_options(), loss=made["loss"], weights=made["weights"])


def test_defaults_of_the_command_and_of_python_are_the_same():
    config = compose([])
    python = inspect.signature(fit).parameters
    for name in ("sweeps", "burn_in", "thin", "seed", "weight_update", "weight_passes"):
        assert config[name] == python[name].default, name
    assert config.kernel.name == python["kernel"].default
    for name in ("alpha", "beta", "intercept"):
        assert config[name] == inspect.signature(Model).parameters[name].default, name
    predict = config.predict
    assert (predict.passes, predict.burn_in, predict.restarts) == (
        draws.PASSES, draws.BURN_IN, draws.RESTARTS,
    )  # fmt: skip
    assert config.n_topics == fit(*tiny_corpus(), sweeps=1).chain.model.n_topics


def tiny_corpus():
    from plugsamp.corpus import Corpus

    return (Corpus.from_counts([[1, 2], [2, 1]], responses=["a", "b"]),)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_says_how_to_run_it_and_makes_objects(name):
    lines = (CONF / "experiment" / f"{name}.yaml").read_text().splitlines()
    assert lines[0] == "# @package _global_"
    command = lines[1].removeprefix("# ").split()
    assert command[:3] == ["plugsamp", "fit", f"experiment={name}"]
    config = compose([*command[2:], "data_dir=somewhere"])
    made = objects(config)
    Model(**Settings.of(config).model_options(), loss=made["loss"], weights=made["weights"])
    assert made["corpus"].path.startswith("somewhere/")


@pytest.mark.parametrize("name", PRESETS)
def test_every_corpus_preset_composes(name):
    objects(compose([f"corpus={name}"]))


def test_the_published_settings():
    config = compose(["experiment=20ng"])
    assert (config.loss.cost, config.beta, config.n_topics) == (102.4, 0.01, 100)
    assert Settings.of(config).model_options()["alpha"] == pytest.approx(0.064)
    assert (config.kernel.name, config.kernel.composition, config.kernel.steps) == ("composed", "mixture", 6)
    assert compose(["experiment=20ng_binary"]).loss.cost == 262.4
    assert compose(["experiment=20ng", "loss.cost=1"]).loss.cost == 1


@pytest.mark.parametrize(
    "name, cost, sweeps, alpha",
    [
        ("paper000_20ng", 102.4, 25, 6.4 / 100),
        ("paper000_20ng_ovr", 102.4, 25, 6.4 / 100),
        ("paper000_20ng_binary", 262.4, 10, 6.4 / 30),
        ("paper000_20ng_logistic", 2 * 204.8, 40, 5.6 / 100),
        ("paper000_reviews", 262.4, 15, 6.4 / 30),
        ("paper003_20ng", 256, 40, 5.6 / 40),
        ("paper003_20ng_binary", 25, 100, 1 / 20),
    ],
)
def test_the_settings_of_the_papers(name, cost, sweeps, alpha):
    config = compose([f"experiment={name}"])
    assert (config.loss.cost, config.sweeps) == (cost, sweeps)
    assert config.burn_in == sweeps - 1  # they predict from one draw
    assert Settings.of(config).model_options()["alpha"] == pytest.approx(alpha)


@pytest.mark.parametrize("name", ["paper004_20ng", "paper004_20ng_horseshoe"])
def test_the_settings_of_paper_004(name):
    config = compose([f"experiment={name}"])
    assert (config.alpha, config.beta, config.loss.name) == (0.01, 0.01, "probit")
    assert config.weights.intercept_variance == 100


def test_the_data_folder_comes_from_the_environment(monkeypatch):
    monkeypatch.setenv("PLUGSAMP_DATA", "/far/away")
    assert compose(["experiment=20ng"]).corpus.path == "/far/away/20ng_counts/train.svm.gz"


def test_no_target_and_no_path_of_a_machine():
    for folder in (CONF, CONF / "experiment", CONF / "corpus"):
        for file in folder.iterdir():
            if file.name.endswith(".yaml"):
                text = file.read_text()
                assert "_target_" not in text and ": /" not in text, file.name


def test_a_plugin_is_configured_with_no_yaml(student):
    config = compose(["loss=heavy_t", "loss.df=7"])
    assert config.loss == {"name": "heavy_t", "df": 7, "robust": False, "knots": [1, 2]}
    loss = hydra_source.object_of("loss", config.loss)
    assert loss.df == 7.0 and type(loss.df) is float and loss.knots == (1, 2)


def test_a_plugin_in_an_experiment_file(student, tmp_path):
    from hydra import compose as hydra_compose
    from hydra import initialize_config_module

    (tmp_path / "mine.yaml").write_text("defaults:\n  - override /loss: heavy_t\nloss:\n  df: 9\n")
    folder = tmp_path / "conf" / "experiment"
    folder.mkdir(parents=True)
    (folder / "mine.yaml").write_text(
        "# @package _global_\ndefaults:\n  - override /loss: heavy_t\nloss:\n  df: 9\n  rubost: true\n"
    )
    with hydra_source.registered(), initialize_config_module("plugsamp.conf", version_base="1.3"):
        config = hydra_compose(
            "config", [f"hydra.searchpath=[file://{tmp_path / 'conf'}]", "experiment=mine"]
        )
    assert config.loss.df == 9
    with pytest.raises(ValueError, match=r"no option 'loss\.rubost'; did you mean 'loss\.robust'"):
        hydra_source.object_of("loss", config.loss)


def test_a_name_that_two_packages_claim(student, install):
    install(student, "another", "another_plugin", STUDENT, {"losses": {"heavy_t": "StudentT"}})
    with pytest.raises(ConfigCompositionException, match="another:heavy_t or plugsamp-student:heavy_t"):
        compose(["loss=heavy_t"])
    config = compose(["loss=another:heavy_t"])
    assert type(hydra_source.object_of("loss", config.loss)).__module__ == "another_plugin"


def test_a_broken_plugin_spoils_only_its_own_choice(site, install):
    install(site, "plugsamp-broken", "broken_plugin", "1/0", {"losses": {"broken": "Broken"}})
    compose([])
    with pytest.raises(ConfigCompositionException, match=r"plugsamp-broken 1\.0.*ZeroDivisionError"):
        compose(["loss=broken"])


def test_the_source_lists_every_group():
    source = hydra_source.RegistrySource("plugsamp", f"{hydra_source.SCHEME}://")
    for group, kind in hydra_source.CONFIG_GROUPS.items():
        assert source.is_group(group) and source.list(group, None) == registry.names(kind)
        for name in registry.names(kind):
            assert source.is_config(f"{group}/{name}")
    assert not source.is_group("hydra") and not source.is_config("loss/absent")


@pytest.mark.parametrize(
    "override, said",
    [
        ("+n_topcs=3", "no option 'n_topcs'; did you mean 'n_topics'"),
        ("+predict.pases=3", r"no option 'predict\.pases'; did you mean 'predict\.passes'"),
        ("n_topics=many", "n_topics must be a whole number, not 'many'"),
        ("sweeps=1e3", r"sweeps must be a whole number, not 1000\.0"),
        ("seed=true", "seed must be a whole number or null, not True"),
        ("save_model=1", "save_model must be true or false, not 1"),
        ("predict.passes=two", r"predict\.passes must be a whole number, not 'two'"),
        ("predict=3", "predict must be a mapping, not 3"),
    ],
)
def test_settings_refuse_what_they_do_not_know(override, said):
    with pytest.raises(ValueError, match=said):
        Settings.of(compose([override]))


def test_alpha_may_be_a_sum_or_a_list():
    assert Settings.of(compose(["alpha_sum=5", "n_topics=20"])).model_options()["alpha"] == 0.25
    assert Settings.of(compose(["alpha=[1,2]", "n_topics=2"])).model_options()["alpha"] == [1.0, 2.0]


def test_a_resolved_config_composes_to_itself():
    config = compose(["experiment=20ng"])
    text = OmegaConf.to_yaml(config, resolve=True)
    assert OmegaConf.create(text) == OmegaConf.create(OmegaConf.to_container(config, resolve=True))
