"""The registry, against packages made by hand: a module and a .dist-info folder on the path."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from importlib.metadata import entry_points
from pathlib import Path

import numpy as np
import pytest

import plugsamp as ps
from plugsamp import registry
from plugsamp.cli import main
from plugsamp.commands import plugins
from plugsamp.losses.hinge import Hinge
from plugsamp.options import check, shown
from plugsamp.registry import RegistryError

LOSS = """
from plugsamp.losses.hinge import Hinge

class StudentT(Hinge):
    def __init__(
        self, df: float = 4.0, robust: bool = False, kind: str | None = None, knots: list[int] = (1, 2)
    ):
        super().__init__()
        self.df, self.robust, self.kind, self.knots = df, robust, kind, knots

class Needs(Hinge):
    def __init__(self, path: str):
        super().__init__()
        self.path = path

class Greedy(Hinge):
    def __init__(self, **anything):
        super().__init__()
"""


@pytest.fixture
def student(site, install):
    names = {"heavy_t": "StudentT", "needs": "Needs", "greedy": "Greedy"}
    install(site, "plugsamp-student", "student_plugin", LOSS, {"losses": names})
    return site


def test_builtins_are_listed_and_resolved():
    assert {"hinge", "none"} <= set(registry.names("losses"))
    loss = registry.resolve("losses", "hinge", cost=3)
    assert isinstance(loss, Hinge)
    assert loss.cost == 3.0 and type(loss.cost) is float
    assert registry.origin("losses", "hinge").package == "plugsamp"


def test_an_object_passes_through():
    loss = Hinge(cost=2.0)
    assert registry.resolve("losses", loss) is loss
    with pytest.raises(RegistryError, match="need a name"):
        registry.resolve("losses", loss, cost=1.0)


def test_a_mapping_is_a_name_with_options():
    assert registry.resolve("losses", {"name": "hinge", "cost": 7.0}).cost == 7.0
    with pytest.raises(RegistryError, match="'name'"):
        registry.resolve("losses", {"cost": 7.0})


def test_listing_imports_nothing(site, install):
    install(
        site, "plugsamp-loud", "loud_plugin", "raise RuntimeError('imported')", {"losses": {"loud": "Loud"}}
    )
    assert "loud" in registry.names("losses")
    assert registry.origin("losses", "loud").target == "loud_plugin:Loud"
    assert "loud_plugin" not in sys.modules


@pytest.mark.parametrize(
    "source, said",
    [
        (
            "import a_module_that_is_not_there",
            "ModuleNotFoundError: No module named 'a_module_that_is_not_there'",
        ),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("this is no Python", "SyntaxError"),
        ("Other = 1", "AttributeError"),
    ],
)
def test_a_broken_plugin_is_named_and_breaks_nothing_else(site, source, said, install):
    install(site, "plugsamp-broken", "broken_plugin", source, {"losses": {"broken": "Broken"}}, version="2.5")
    with pytest.raises(RegistryError) as caught:
        registry.load("losses", "broken")
    assert "package plugsamp-broken 2.5" in str(caught.value)
    assert said in str(caught.value)
    assert isinstance(registry.resolve("losses", "hinge"), Hinge)


def test_what_a_module_prints_on_import_stays_out_of_our_output(site, capsys, install):
    source = "print('hello')\nfrom plugsamp.losses.hinge import Hinge"
    install(site, "plugsamp-chatty", "chatty_plugin", source, {"losses": {"chatty": "Hinge"}})
    registry.load("losses", "chatty")
    assert capsys.readouterr().out == ""


def test_a_class_that_is_not_finished_is_refused_by_name(site, install):
    source = (
        "from plugsamp.losses import Loss\nclass Half(Loss):\n    def code(self, responses, names=None): ..."
    )
    install(site, "plugsamp-half-done", "half_done", source, {"losses": {"half_done": "Half"}})
    with pytest.raises(
        RegistryError, match="plugsamp-half-done does not define augment, log_psi, which every loss"
    ):
        registry.load("losses", "half_done")


def test_a_group_that_there_is_not(site, install):
    install(site, "plugsamp-astray", "astray_plugin", LOSS, {"loss": {"astray": "StudentT"}})
    said = "registers 'astray' in 'plugsamp.loss', which is no group; did you mean 'plugsamp.losses'?"
    said = f"package plugsamp-astray {said}"
    assert ("astray", said) in registry.misplaced()
    with pytest.raises(RegistryError) as caught:
        registry.resolve("losses", "astray")
    assert said in str(caught.value)
    assert registry.elsewhere("losses", "hinge") == ""


def test_an_option_that_is_not_kept(student):
    class Forgetful(Hinge):
        def __init__(self, df: float = 4.0):
            super().__init__()

    with pytest.raises(TypeError, match=r"Forgetful must keep its option 'df' as self\.df"):
        repr(Forgetful())


def test_two_packages_with_one_name(student, install):
    install(student, "another", "another_plugin", LOSS, {"losses": {"heavy_t": "StudentT"}})
    with pytest.raises(RegistryError) as caught:
        registry.resolve("losses", "heavy_t")
    assert "another:heavy_t" in str(caught.value) and "plugsamp-student:heavy_t" in str(caught.value)
    listed = registry.names("losses")
    assert {"another:heavy_t", "plugsamp-student:heavy_t"} <= set(listed)
    assert "heavy_t" not in listed
    chosen = registry.resolve("losses", "another:heavy_t", df=9)
    assert type(chosen).__module__ == "another_plugin"


def test_a_second_copy_of_a_package_is_not_a_second_claim(
    student, tmp_path_factory, monkeypatch, install, capsys
):
    older, same = tmp_path_factory.mktemp("older"), tmp_path_factory.mktemp("same")
    names = {"losses": {"heavy_t": "Gone", "gone": "Gone"}}
    install(older, "Plugsamp_Student", "old_plugin", "", names, version="0.1")
    shutil.copytree(student, same, dirs_exist_ok=True)
    path = sys.path
    monkeypatch.setattr(sys, "path", [*path, str(same), str(older), str(older)])
    assert registry.origin("losses", "heavy_t").version == "1.0"
    assert registry.resolve("losses", "heavy_t").df == 4.0
    said = (
        f"package Plugsamp_Student 0.1 in {older} registers loss 'gone', loss 'heavy_t', and is hidden by "
        f"plugsamp-student 1.0 in {student}, which comes first on the path; uninstall one of them"
    )
    assert registry.hidden() == registry.hidden("losses", "heavy_t") == [said]
    assert registry.hidden("losses", "hinge") == []
    with pytest.raises(RegistryError) as caught:
        registry.resolve("losses", "gone")
    assert said in str(caught.value)
    assert plugins.main(["losses", "priors"]) == 1  # of greedy
    assert capsys.readouterr().out.count(f"note: {said}\n") == 1
    monkeypatch.setattr(sys, "path", [str(older), *path])  # where the older one is found, which fails
    with pytest.raises(RegistryError) as caught:
        registry.resolve("losses", "heavy_t")
    found = str(caught.value)
    assert "Plugsamp_Student 0.1 cannot be loaded" in found and f"plugsamp-student 1.0 in {student}" in found
    assert plugins.main(["loss=heavy_t"]) == 1
    assert f"is hidden by Plugsamp_Student 0.1 in {older}" in " ".join(capsys.readouterr().out.split())


def test_an_unknown_name_lists_the_names_and_the_closest():
    with pytest.raises(RegistryError) as caught:
        registry.resolve("losses", "hing")
    assert "no loss named 'hing'; did you mean 'hinge'?" in str(caught.value)
    assert "none" in str(caught.value)


def test_an_unknown_group():
    with pytest.raises(RegistryError, match="no plugin group 'loss'"):
        registry.names("loss")


def test_options_come_from_the_signature(student):
    found = registry.options("losses", "heavy_t")
    assert list(found) == ["df", "robust", "kind", "knots"]
    assert found["df"].type is float and found["df"].default == 4.0
    assert registry.options("losses", "needs")["path"].required


def test_options_of_dataclasses_with_inherited_fields(site, install):
    base = "from __future__ import annotations\nfrom dataclasses import dataclass, field\n"
    base += "Number = float\n@dataclass(kw_only=True)\nclass Base:\n    size: Number = 0.5\n"
    (site / "base_of_reader.py").write_text(base)
    source = "from __future__ import annotations\nfrom dataclasses import dataclass, field\n"
    source += "from base_of_reader import Base\n@dataclass(kw_only=True)\nclass Reader(Base):\n"
    source += "    path: str\n    only: list[str] = field(default_factory=lambda: ['a'])\n"
    install(site, "plugsamp-reader", "reader_plugin", source, {"readers": {"mine": "Reader"}})
    found = registry.options("readers", "mine")
    assert {n: o.type for n, o in found.items()} == {"path": str, "only": list[str], "size": float}
    assert found["only"].default == ["a"] and found["path"].required
    with pytest.raises(RegistryError, match="'size' must be a number"):
        registry.resolve("readers", "mine", path="x", size="big")


def test_an_unknown_option_lists_the_valid_ones(student):
    with pytest.raises(RegistryError) as caught:
        registry.resolve("losses", "heavy_t", robsut=True)
    message = str(caught.value)
    assert "has no option 'robsut'; did you mean 'robust'?" in message
    assert "df=4.0, robust=false, kind=null, knots=[1,2]" in message


@pytest.mark.parametrize(
    "name, value, wanted",
    [
        ("df", "4", "a number"),
        ("df", True, "a number"),
        ("robust", 1, "true or false"),
        ("kind", 5.5, "a string or null"),
        ("kind", True, "a string or null"),
        ("knots", [1, 2.5], "a list (a whole number each)"),
        ("knots", "12", "a list"),
    ],
)
def test_an_ill_typed_option_is_refused(student, name, value, wanted):
    with pytest.raises(RegistryError) as caught:
        registry.resolve("losses", "heavy_t", **{name: value})
    assert f"option {name!r} must be {wanted}" in str(caught.value)


ODD = """
import math
from plugsamp.losses.hinge import Hinge

class Odd(Hinge):
    def __init__(self, scale: float = 1.0, horizon: float = math.inf, knots: list[float] = (1.0,), bare=1):
        super().__init__()
        self.scale, self.horizon, self.knots, self.bare = scale, horizon, knots, bare

class Foreign:
    def __init__(self, scale: float = 1.0): ...
"""


@pytest.fixture
def odd(site, install):
    groups = {group: {"foreign": "Foreign"} for group in ("priors", "topics")}
    groups["losses"] = {"odd": "Odd", "foreign": "Foreign"}
    install(site, "plugsamp-odd", "odd_plugin", ODD, groups)
    return site


def test_numbers_that_are_not_finite_are_refused_where_the_default_is(odd, tmp_path):
    for name, value in (("scale", np.inf), ("scale", np.nan), ("knots", [1.0, -np.inf]), ("bare", np.inf)):
        with pytest.raises(RegistryError) as caught:
            registry.resolve("losses", "odd", **{name: value})
        assert str(caught.value) == f"loss 'odd': option {name!r} must be finite, not {shown(value)}"
    assert registry.resolve("losses", "odd", horizon=-np.inf, bare=10**400).horizon == -np.inf
    corpus = ps.Corpus.from_counts([[1, 2], [2, 0], [1, 1]], responses=["a", "b", "a"])
    fitted = ps.fit(corpus, ps.Model(2, loss=registry.resolve("losses", "odd")), sweeps=2)
    with pytest.raises(ValueError, match="the loss odd cannot be saved: its option horizon is inf"):
        ps.save_model(tmp_path / "m", fitted)


def test_a_class_of_no_such_kind_is_named(odd):
    for group, part in (("losses", "loss"), ("priors", "weights"), ("topics", "topics")):
        with pytest.raises(TypeError) as caught:
            ps.Model(2, **{part: "foreign"})
        base = {"loss": "Loss", "weights": "WeightPrior", "topics": "TopicPrior"}[part]
        assert str(caught.value) == (
            f"{part} must be a plugsamp.{group}.{base} or a name, not odd_plugin.Foreign of package "
            "plugsamp-odd, which does not derive from it"
        )


def test_missing_and_unnamed_options(student):
    with pytest.raises(RegistryError, match="needs the option 'path'"):
        registry.resolve("losses", "needs")
    with pytest.raises(RegistryError, match="must be named parameters"):
        registry.options("losses", "greedy")


@pytest.mark.parametrize(
    "value, annotation, expected",
    [
        (3, float, 3.0),
        (2024, str, "2024"),
        (-1, str | None, "-1"),
        ([1, "a"], list[str], ["1", "a"]),
        (np.int32(3), int, 3),
        (3, int | float, 3),
        (3, float | int, 3),
        (2.5, int | float, 2.5),
        ("sample", float | str, "sample"),
        (None, float | None, None),
        ([1, 2], tuple[int, ...], (1, 2)),
    ],
)
def test_conversions_lose_nothing(value, annotation, expected):
    result = check(value, annotation)
    assert result == expected and type(result) is type(expected)


def test_shown_is_what_one_would_type():
    assert shown([None, True, "a", 1.5]) == "[null,true,a,1.5]"


def test_a_plugin_breaks_no_import_of_ours(site, install):
    install(site, "plugsamp-exit", "exit_plugin", "raise SystemExit", {"losses": {"bye": "Bye"}})
    code = "import plugsamp.cli; raise SystemExit(plugsamp.cli.main(['plugins', 'losses']))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    assert "hinge" in done.stdout and "BROKEN" in done.stdout and "plugsamp-exit" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_every_entry_point_of_ours_names_its_own_module():
    ours = [
        e for g in registry.GROUPS for e in entry_points(group=f"plugsamp.{g}") if e.dist.name == "plugsamp"
    ]
    assert ours
    for entry in ours:
        assert entry.value.startswith("plugsamp.")


def test_a_package_without_metadata_breaks_nothing(site):
    folder = site / "half_removed-1.0.dist-info"
    folder.mkdir()
    (folder / "entry_points.txt").write_text("[plugsamp.losses]\nlost = lost:Lost\n")
    assert "hinge" in registry.names("losses") and "lost" in registry.names("losses")


CLAIM = """
from plugsamp.losses.hinge import Hinge
class Mine(Hinge):
    pass
"""


@pytest.fixture
def claimed(site, install):
    """A package with names of ours."""
    names = {"losses": {"hinge": "Mine", "aaa": "Hinge"}, "kernels": {"auto": "Gone"}}
    names["proposals"] = {"doc": "Gone"}
    install(site, "claiming", "claiming_plugin", CLAIM, names)
    registry._tell_of_claims.cache_clear()
    yield
    registry._tell_of_claims.cache_clear()


def test_built_ins_keep_their_names(claimed, caplog):
    assert type(registry.resolve("losses", "hinge")) is Hinge
    assert type(registry.resolve("losses", "plugsamp:hinge")) is Hinge
    mine = registry.resolve("losses", "claiming:hinge")
    assert type(mine).__name__ == "Mine"
    assert registry.plugin_of("losses", mine).package == "claiming"
    assert registry.plugin_of("losses", Hinge()).name == "hinge"  # whoever else registers the class
    assert {"hinge", "claiming:hinge", "aaa"} <= set(registry.names("losses"))
    registry.resolve("losses", "hinge")
    said = [r.getMessage() for r in caplog.records]
    assert said == [
        "package claiming 1.0 registers the loss 'hinge', which plugsamp has; plugsamp's is taken, the other "
        "is claiming:hinge"
    ]


def test_the_default_command_works_whatever_others_register(claimed, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text("text,label\n" + "moon orbit,a\nsoup bread,b\n" * 6)
    options = ["corpus=csv", "corpus.path=d.csv", "n_topics=2", "sweeps=4", "report=false"]
    assert main(["fit", *options, "hydra.run.dir=ours"]) == 0
    assert main(["fit", *options, "loss=claiming:hinge", "hydra.run.dir=theirs"]) == 0
    capsys.readouterr()
    for folder, package in (("ours", "plugsamp"), ("theirs", "claiming")):
        record = json.loads(Path(folder, "model/manifest.json").read_text())["content"]["loss"]
        assert (record["name"], record["package"]) == ("hinge", package)
        loss = ps.load_model(f"{folder}/model").loss
        assert type(loss).__name__ == ("Hinge" if folder == "ours" else "Mine")
        assert main(["resume", f"run={folder}", "sweeps=6"]) == 0
    assert main(["plugins", "losses"]) == 0
    note = "note: several packages register loss 'hinge'; the bare name is plugsamp's"
    assert note in capsys.readouterr().out


def test_a_run_goes_on_with_its_package_when_another_claims_the_name(
    student, install, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text("text,label\n" + "moon orbit,a\nsoup bread,b\n" * 6)
    options = ["corpus=csv", "corpus.path=d.csv", "n_topics=2", "sweeps=4", "report=false"]
    assert main(["fit", *options, "loss=heavy_t", "hydra.run.dir=run"]) == 0
    install(student, "another", "another_plugin", LOSS, {"losses": {"heavy_t": "StudentT"}})
    time.sleep(0.01)
    os.utime(student)  # the registry looks again where folders have changed
    assert main(["resume", "run=run", "sweeps=6"]) == 0, capsys.readouterr().err
    assert "name: plugsamp-student:heavy_t" in Path("run/config.yaml").read_text()
    capsys.readouterr()
