"""Fixtures for all tests."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of benchmark data and messy inputs, where there is one."""
    root = Path(__file__).resolve().parents[1]
    folder = Path(os.environ.get("PLUGSAMP_SHARED", root / ".." / "shared")).resolve()
    if not folder.is_dir():
        pytest.skip(f"no folder {folder}; set PLUGSAMP_SHARED to run this test")
    return folder


@pytest.fixture
def site(tmp_path, monkeypatch) -> Path:
    """A folder on sys.path, as site-packages is; modules imported from it are forgotten afterwards."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    before = set(sys.modules)
    yield folder
    for name in set(sys.modules) - before:
        if str(folder) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.fixture
def install():
    """Put a package where pip would put it, without pip: a module and a .dist-info folder."""

    def put(folder, package: str, module: str, source: str, groups: dict[str, dict[str, str]], version="1.0"):
        (folder / f"{module}.py").write_text(source)
        info = folder / f"{package.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
        lines = []
        for group, names in groups.items():
            lines.append(f"[plugsamp.{group}]")
            lines += [f"{name} = {module}:{attribute}" for name, attribute in names.items()]
        (info / "entry_points.txt").write_text("\n".join(lines) + "\n")

    return put
