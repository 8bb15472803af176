"""plugins/README.md, followed by the letter: its files are written, its commands run."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

README = (Path(__file__).resolve().parents[1] / "plugins" / "README.md").read_text(encoding="utf-8")
#: The name of a file, if the line before the block ends with one, the block's kind and its text.
BLOCKS = re.findall(r"(?:`([\w./-]+)`:\n\n)?^```(\w+)\n(.*?)^```$", README, re.M | re.S)


def install(package: Path, site: Path) -> None:
    """What `pip install -e` does, without the network: metadata, and the modules found where they are."""
    project = tomllib.loads((package / "pyproject.toml").read_text())
    name, version = project["project"]["name"], project["project"]["version"]
    info = site / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    groups = project["project"]["entry-points"]
    lines = [f"[{g}]\n" + "".join(f"{k} = {v}\n" for k, v in names.items()) for g, names in groups.items()]
    (info / "entry_points.txt").write_text("\n".join(lines))
    assert all((package / f"{m}.py").exists() for m in project["tool"]["setuptools"]["py-modules"])


@pytest.fixture(scope="module")
def followed(tmp_path_factory):
    """Every block in turn; what each command printed."""
    folder = tmp_path_factory.mktemp("reader")
    site = folder / "site"
    path = [str(site), str(folder / "my-plugins"), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in path if p)}
    printed = {}
    for name, kind, text in BLOCKS:
        if name:
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("a") as out:  # a second block for a file is appended, as the page says
                out.write(("\n\n" if file.stat().st_size else "") + text)
            continue
        assert kind in ("bash", "text"), f"a block of {kind} that nobody runs"
        for line in text.splitlines() if kind == "bash" else ():
            words = shlex.split(line)
            if words[0] == "pip":
                assert words[1:3] == ["install", "-e"]
                install(folder / words[3], site)
                continue
            if words[0] == "pytest":
                options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
                words = [sys.executable, "-m", "pytest", *options, *words[1:]]
            else:
                words = [sys.executable, "-m", "plugsamp.cli", *words[1:]]
                words += ["sweeps=3"] * (words[3] == "fit")
            done = subprocess.run(
                words, cwd=folder, env=environment, capture_output=True, text=True, timeout=300
            )
            assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
            printed.setdefault(line, "")
            printed[line] += done.stdout + done.stderr
    return folder, printed


@pytest.mark.slow
def test_every_command_ran(followed):
    folder, printed = followed
    assert len(printed) == 5
    assert "3 passed" in printed["pytest my-plugins"] and "1 passed" in printed["pytest my-plugins"]
    assert "my-plugins 0.1.0" in printed["plugsamp plugins loss=absolute"]
    traces = sorted(folder.glob("outputs/*/*/trace.csv"))
    assert len(traces) == 3
    assert "acceptance_frequent" in traces[-1].read_text().splitlines()[0]


@pytest.mark.slow
def test_the_mistake_is_reported_as_shown(followed, monkeypatch):
    """The kit's message for an omega a tenth too large."""
    from plugsamp.testing import CheckFailed, check_loss

    source = next(text for name, _, text in BLOCKS if name.endswith("my_plugins.py"))
    names: dict = {}
    exec(source.replace("omega = xi", "omega = 1.1 * xi"), names)
    with pytest.raises(CheckFailed) as failed:
        check_loss(names["Absolute"]())
    shown = next(text for _, kind, text in BLOCKS if "drawn at" in text and kind == "text")
    assert str(failed.value).splitlines() == shown.splitlines()


def test_the_folders_are_all_listed():
    folders = {
        p.parent.name for p in (Path(__file__).resolve().parents[1] / "plugins").glob("*/pyproject.toml")
    }
    assert set(re.findall(r"^\| \[`(\w+)`\]", README, re.M)) == folders
