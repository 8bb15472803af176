"""Checkpoints of all layouts that there have been are resumed, to the bit as a run that was never stopped."""

import json
import logging
import shutil
from pathlib import Path

import pytest

from plugsamp.files import storage
from plugsamp.losses.hinge import Hinge
from plugsamp.model import Model
from plugsamp.sampling import class_names
from plugsamp.topics.concentration import Concentration

from .checkpointed import assert_same

GOLDEN = Path(__file__).parents[1] / "golden"
NAMES = sorted(path.name for path in (GOLDEN / "checkpoints").iterdir())


@pytest.fixture(scope="module")
def make(golden):
    return golden("checkpoints")


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", NAMES)
def test_an_old_checkpoint_is_resumed_to_the_bit(name, make, tmp_path, caplog):
    shutil.copytree(GOLDEN / "checkpoints" / name, tmp_path / "old")
    with caplog.at_level(logging.INFO, "plugsamp"):
        resumed = make.run(name, tmp_path / "old", resume=True)
    assert f"the run goes on after sweep {make.STOPPED}" in caplog.text and len(resumed.trace) == make.SWEEPS
    if "though not to the bit" not in caplog.text:  # of another instruction set or NumPy
        assert_same(resumed, make.run(name))
    (written,) = (tmp_path / "old").glob("*-sweep-8")
    content = storage.read_content(written, "checkpoint")
    assert "plugsamp." not in json.dumps([content["identity"], content["kernel"], content["backend"]])


def test_none_is_forgotten(make):
    assert set(make.NAMES) <= set(NAMES)


def test_a_checkpoint_of_other_options_is_refused(make, tmp_path, monkeypatch):
    shutil.copytree(GOLDEN / "checkpoints" / "normal", tmp_path / "old")
    kernel, model, more = make.NAMES["normal"]
    monkeypatch.setitem(make.NAMES, "normal", (kernel, model | {"loss": "logistic"}, more))
    with pytest.raises(storage.StorageError, match=r"loss was hinge.*is logistic"):
        make.run("normal", tmp_path / "old", resume=True)


class TestNames:
    def test_a_registered_class_goes_by_its_name_wherever_it_is(self):
        assert class_names.name_of(Hinge) == "losses/hinge"
        assert class_names.name_of(type(Model(2).topics)) == "topics/dirichlet"

    def test_another_class_goes_without_its_module(self):
        assert class_names.name_of(Concentration) == "plugsamp/Concentration"
        assert class_names.name_of(Path).endswith(".Path")

    def test_old_names_are_read(self):
        old = {"class": "plugsamp.losses.hinge.Hinge", "cost": 1.0, "x": ["a.b", "plugsamp.topics.x.Y"]}
        assert class_names.present(old) == {"class": "losses/hinge", "cost": 1.0, "x": ["a.b", "plugsamp/Y"]}
        assert class_names.present("plugsamp.topics.concentration.Concentration") == "plugsamp/Concentration"
        text = "a word. plugsamp.losses.hinge.Hinge"
        assert class_names.present(text) == text
