"""What README and the guide show runs, and their commands compose."""

from __future__ import annotations

import re
import shlex
from importlib import import_module, resources
from pathlib import Path

import numpy as np
import pytest

from plugsamp import hydra_source, registry
from plugsamp.commands.fit import Settings
from plugsamp.commands.guide import slug
from plugsamp.commands.settings import settings_of
from plugsamp.hydra_source import compose
from plugsamp.model import Model

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
#: The guide's pages whose Python blocks continue those of the page before.
IN_TURN = ["python", "covariates", "kernels", "losses", "posterior", "runs", "parallel", "data"]
PAGES = {page.stem: page for page in sorted((ROOT / "plugsamp" / "guide").glob("*.md"))}
ORDER = [*IN_TURN, *sorted(set(PAGES) - set(IN_TURN))]
TEXTS = [README, *(PAGES[name].read_text(encoding="utf-8") for name in ORDER)]
BLOCKS = [block for text in TEXTS for block in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S)]
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
    words = np.array(["good", "bad", "film", "plot", "actor", "dull", "fine", "rainy", "day"])
    rows = [(" ".join(words[np.random.default_rng(i).integers(0, 9, 12)]), "ab"[i % 2]) for i in range(200)]
    (tmp_path / "reviews.csv").write_text("text,label\n" + "".join(f"{t},{y}\n" for t, y in rows))
    names: dict = {}
    compared = 0
    for kind, text in BLOCKS:
        if kind != "python":
            continue
        exec(compile(text, "guide", "exec"), names)
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
    layout = README[README.index("## Layout") : README.index("## References")]
    for name in re.findall(r"^\| `([^`]+)`", layout, re.M):
        assert (ROOT / name).exists(), name


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES.values()], ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        path, _, fragment = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), target
        assert not fragment or fragment in headings(there), target


def headings(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as code hosts make them."""
    lines = re.findall(r"^##+ (.*)$", page.read_text(encoding="utf-8"), re.M)
    return set(map(slug, lines))


def test_readme_lists_every_page_of_the_guide():
    assert set(re.findall(r"\]\(plugsamp/guide/(\w+)\.md\)", README)) == set(PAGES)


def test_the_guide_is_installed():
    installed = resources.files("plugsamp") / "guide"
    assert {name.name for name in installed.iterdir() if name.name.endswith(".md")} == {
        page.name for page in PAGES.values()
    }
