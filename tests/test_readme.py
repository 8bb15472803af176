"""What README shows runs, and its commands compose."""

from __future__ import annotations

import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest

from plugsamp import hydra_source, registry
from plugsamp.commands.fit import Settings
from plugsamp.commands.hydra_app import compose
from plugsamp.commands.settings import settings_of
from plugsamp.model import Model

README = (Path(__file__).resolve().parents[1] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.M | re.S)
LINES = [line for kind, text in BLOCKS if kind == "bash" for line in text.splitlines()]
COMMANDS = [line for line in LINES if line.startswith("plugsamp fit")]
#: Commands with a configuration of their own: module, and what the first lines of their tasks check.
OTHERS = {
    name: f"plugsamp.commands.{name}"
    for name in ("predict", "evaluate", "convert", "report", "sweep", "export")
}


def test_it_begins_with_the_two_commands():
    first, second = BLOCKS[:2]
    assert first[0] == second[0] == "bash"
    assert first[1].count("\n") == second[1].count("\n") == 1
    assert first[1].rstrip().endswith("plugsamp fit") and "pytest" in second[1]
    before = README[: README.index("```bash")].split("\n\n")
    assert before[0].startswith("# ") and len(before) == 3  # a title and one paragraph


def test_python_examples(tmp_path, monkeypatch, capsys):
    """All python blocks in turn, in one namespace; `expression  # -> value` is compared."""
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    compared = 0
    for kind, text in BLOCKS:
        if kind != "python":
            continue
        exec(compile(text, "README.md", "exec"), names)
        for line in text.splitlines():
            shown = re.fullmatch(r"(\S.*?)\s+# -> (.*)", line)
            if shown:
                assert repr(eval(shown[1], names)) == shown[2], line
                compared += 1
    assert compared >= 8
    assert capsys.readouterr().out.startswith("25 ")


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_compose(command):
    arguments = [a for a in shlex.split(command)[2:] if a != "-m"]
    plugged = next((a for a in arguments if "half" in a), None)
    if plugged and "half" not in registry.names("proposals"):
        arguments.remove(plugged)
    flags = [i for i, a in enumerate(arguments) if a.startswith("--config-")]  # and what follows each
    arguments = [a for i, a in enumerate(arguments) if i not in flags and i - 1 not in flags]
    # of a sweep, the first choice
    if "-m" in shlex.split(command):
        arguments = [re.sub(r"=glob\(\*\)$", "=dense", a) for a in arguments]
        arguments = [re.sub(r"=(tag\(\w+,)?(interval|choice)\((.+?),.*", r"=\3", a) for a in arguments]
        arguments = [a for a in arguments if not a.startswith("hydra")]
        arguments = [a if a.split("=", 1)[-1][:1] == "[" else a.split(",")[0] for a in arguments]
    config = compose(arguments)
    made = {g: hydra_source.object_of(g, config[g]) for g in hydra_source.CONFIG_GROUPS}
    Model(**Settings.of(config).model_options(), loss=made["loss"], weights=made["weights"])


@pytest.mark.parametrize("line", [line for line in LINES if line.split()[:2][-1] in OTHERS])
def test_other_commands_compose(line):
    _, name, *arguments = shlex.split(line)
    config = compose(arguments, name)
    reads_what_runs_left = name in ("report", "sweep", "export")
    if not reads_what_runs_left or config.get("corpus") is not None:
        hydra_source.object_of("corpus", config.corpus)
    settings_of(import_module(OTHERS[name]).Settings, config)


def test_folders_of_the_layout_are_there():
    root = Path(__file__).resolve().parents[1]
    layout = README[README.index("## Layout") : README.index("## References")]
    for name in re.findall(r"^\| `([^`]+)`", layout, re.M):
        assert (root / name).exists(), name


def test_links_lead_somewhere():
    root = Path(__file__).resolve().parents[1]
    headings = {
        re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in re.findall(r"^## (.*)$", README, re.M)
    }
    for target in re.findall(r"\]\(([^)]+)\)", README):
        if target.startswith("#"):
            assert target[1:] in headings, target
        else:
            assert (root / target).exists(), target
