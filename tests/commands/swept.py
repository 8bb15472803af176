"""What tests of sweeps look at."""

from __future__ import annotations

import json

import pytest


def needs(*names) -> None:
    for name in names:
        pytest.importorskip(f"hydra_plugins.{name}")


def table(at, read_csv) -> list[tuple[str, str]]:
    return [(row["folder"], row["status"]) for row in read_csv(at / "sweep/sweep.csv")]


def status(folder) -> dict:
    return json.loads((folder / "status.json").read_text())
