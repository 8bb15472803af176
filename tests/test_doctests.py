"""The examples in docstrings of the packages that a fit and its posterior are made of."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import plugsamp

ROOT = Path(plugsamp.__file__).parent
PACKAGES = ("posterior", "prediction", "fitting", "checkpoint", "sampling", "files", "exchange")
FILES = [ROOT / "chain.py", ROOT / "corpus.py"]
FILES += [file for name in PACKAGES for file in (ROOT / name).glob("*.py")]
WITH_EXAMPLES = sorted(
    ".".join(file.relative_to(ROOT.parent).with_suffix("").parts)
    for file in FILES
    if ">>>" in file.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", WITH_EXAMPLES)
@pytest.mark.filterwarnings("ignore")
def test_examples(name):
    assert doctest.testmod(import_module(name)).failed == 0
