"""tools/: what their options mean is said by --help."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"

if not TOOLS.is_dir():
    pytest.skip("the tools are not beside the tests", allow_module_level=True)


def test_every_option_has_a_help_text():
    n = 0
    for path in TOOLS.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and getattr(call.func, "attr", None) == "add_argument":
                n += 1
                assert any(given.arg == "help" for given in call.keywords), f"{path.name}:{call.lineno}"
    assert n > 40
