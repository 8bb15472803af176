"""Options of plugins whose defaults are not plain, and constructors that keep something else."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import plugsamp as ps
from plugsamp import registry
from plugsamp.cli import main
from plugsamp.hydra_source import node_of
from plugsamp.options import check_kept
from plugsamp.sampling.identity import plain

SOURCE = """
from __future__ import annotations

from enum import Enum, IntEnum

import numpy as np

from plugsamp.losses.hinge import Hinge


class Shape(Enum):
    FLAT = "flat"
    STEEP = "steep"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Unplain:
    pass


class Odd(Hinge):
    def __init__(self, cost: float = np.float32(1.0), shape: Shape = Shape.FLAT, level=Level.LOW,
                 scale: float = np.float64(2.5), n: int = np.int64(3), list: tuple[float, ...] = np.ones(2)):
        super().__init__(cost)
        self.shape, self.level, self.scale, self.n, self.list = shape, level, scale, n, tuple(list)
        assert isinstance(shape, Shape) and isinstance(level, Level), (shape, level)


class Held(Hinge):
    def __init__(self, cost: float = 1.0, part=Unplain()):
        super().__init__(cost)
        self.part = part
        assert isinstance(part, Unplain), part


class Doubled(Hinge):
    def __init__(self, cost: float = 1.0):
        super().__init__(2 * cost)
"""


@pytest.fixture
def odd(site, install):
    names = {"odd": "Odd", "held": "Held", "doubled": "Doubled"}
    install(site, "odd-losses", "odd_losses", SOURCE, {"losses": names})
    return site


def test_defaults_as_a_configuration_has_them(odd):
    assert node_of("loss", "odd") == {
        "name": "odd", "cost": 1.0, "shape": "FLAT", "level": "LOW", "scale": 2.5, "n": 3, "list": [1.0, 1.0],
    }  # fmt: skip
    assert "shape=FLAT" in map(str, registry.options("losses", "odd").values())


@pytest.mark.parametrize("shape", ["STEEP", "steep"])
def test_members_by_name_and_by_value(odd, shape):
    loss = registry.resolve("losses", "odd", shape=shape, level=2)
    assert loss.shape.name == "STEEP" and loss.level.name == "HIGH"
    with pytest.raises(registry.RegistryError, match="'shape' must be one of FLAT, STEEP, not 'step'"):
        registry.resolve("losses", "odd", shape="step")


def test_a_run_and_its_model(odd, at, write_documents, run):
    write_documents(at / "d.jsonl")
    assert run("corpus.path=d.jsonl", "report=false", "loss=odd", "loss.shape=steep", "loss.level=HIGH") == 0
    loss = ps.load_model(at / "run/model").loss
    assert (loss.shape.name, loss.level.name, loss.scale, loss.n) == ("STEEP", "HIGH", 2.5, 3)
    record = json.loads((at / "run/model/manifest.json").read_text())["content"]["loss"]
    assert record["options"]["shape"] == "STEEP" and record["package"] == "odd-losses"
    assert main(["resume", "run=run", "sweeps=10"]) == 0


def test_a_default_that_no_file_can_hold(odd, at, write_documents, run):
    write_documents(at / "d.jsonl")
    assert run("corpus.path=d.jsonl", "report=false", "loss=held", "save_model=false") == 0


def test_members_differ_in_what_a_checkpoint_belongs_to(odd):
    flat, steep = (plain(registry.resolve("losses", "odd", shape=s)) for s in ("FLAT", "STEEP"))
    assert flat != steep


def test_an_option_that_is_kept_otherwise(odd, at, write_documents, run, said):
    write_documents(at / "d.jsonl")
    assert run("corpus.path=d.jsonl", "loss=doubled", "loss.cost=0.5") == 2
    assert "Doubled keeps self.cost = 2.0 when it is given loss.cost=1.0; it must keep" in said()
    assert not Path("run").exists()
    corpus = ps.Corpus.from_counts(np.ones((4, 3), int), responses=["a", "b"] * 2)
    with pytest.raises(TypeError, match=r"Doubled keeps self\.cost = 4\.0 when it is given cost=2\.0"):
        ps.fit(corpus, ps.Model(2, loss="doubled"), sweeps=2)


@pytest.mark.parametrize("group", registry.GROUPS)
def test_built_ins_keep_what_they_are_given(group):
    for name in registry.names(group):
        found = registry.options(group, name)
        if registry.origin(group, name).package == "plugsamp" and not any(o.required for o in found.values()):
            value = registry.resolve(group, name)
            if hasattr(value, "options"):
                check_kept(value)
