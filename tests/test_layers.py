"""Imports go down the layers: a package knows those below it and its own."""

from __future__ import annotations

import ast
from pathlib import Path

import plugsamp

ROOT = Path(plugsamp.__file__).parent

#: From the lowest: bytes and the machine; what is read; what the posterior is; how it is sampled; what a fit
#: leaves; reports, estimators and sweeps; commands. Modules that are not here belong to no layer.
LAYERS = (
    ("files", "system", "random", "errors", "options", "registry", "checks", "references"),
    ("corpus", "documents", "counts", "bags", "store", "readers", "writers", "covariates"),
    ("losses", "priors", "topics", "model"),
    ("kernels", "proposals", "regression", "sampling", "sampler", "state", "chain", "backends"),
    ("posterior", "fitting", "prediction", "checkpoint", "diagnostics", "exchange"),
    ("report", "estimators", "sweeps", "testing", "tuning"),
    ("commands", "cli", "hydra_source"),
)


def imported(path: Path) -> set[str]:
    """The packages and modules of plugsamp that a module imports, wherever it does."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module is not None and not node.level:
            names = [node.module]
            if node.module == "plugsamp":
                names = [f"plugsamp.{alias.name}" for alias in node.names]
        else:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        found |= {name.split(".")[1] for name in names if name.startswith("plugsamp.")}
    return found


def test_imports_go_down_the_layers():
    rank = {name: number for number, layer in enumerate(LAYERS) for name in layer}
    upward = set()
    for path in ROOT.rglob("*.py"):
        inside = path.relative_to(ROOT)
        own = rank.get(inside.parts[0].removesuffix(".py"))
        if own is not None:
            upward |= {(inside.as_posix(), name) for name in imported(path) if rank.get(name, -1) > own}
    assert upward == set(), "these import a layer above their own"
