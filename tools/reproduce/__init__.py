"""Studies by name; see `tools.reproduce.__main__`."""

# ruff: noqa: E402 - the order of folders comes before what is imported from them

import sys
from pathlib import Path

# `python -m` looks into the folder it is called from first, where plugsamp's sources are not compiled.
_here = [p for p in sys.path if Path(p or ".").resolve() == Path(__file__).parents[2]]
sys.path[:] = [p for p in sys.path if p not in _here] + _here

from tools.reproduce import (
    compositions,
    dolda,
    fastlda,
    fastlda_checks,
    films,
    groups,
    lightmed,
    logistic,
    partial,
    partial_priors,
)

MODULES = (
    lightmed, compositions, partial, partial_priors, groups, fastlda, fastlda_checks, logistic, dolda, films,
)  # fmt: skip
STUDIES = {study.name: study for module in MODULES for study in module.STUDIES}
