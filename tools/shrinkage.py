"""How many weights of fitted models matter, and how well the models predict.

python tools/shrinkage.py RUN_FOLDER...

Of the folders of `plugsamp fit`, a line each: test score, number of weights (of topics and covariates, the
intercept left out), the share of them whose posterior mean is below a tenth of the largest of their output,
the median in per cent of that largest, and the mean number of weights of an output above the tenth.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

import plugsamp as ps


def shrinkage(eta) -> dict[str, float]:
    """Of weights (C, J), relative to the largest of each output."""
    size = np.abs(eta)
    relative = size / size.max(axis=1, keepdims=True)
    small = relative < 0.1
    return {
        "weights": size.size,
        "below a tenth": float(small.mean()),
        "median": float(np.median(relative)),
        "left an output": float((~small).sum(axis=1).mean()),
    }


def main(folders) -> None:
    for folder in map(Path, folders):
        predictor = ps.load_model(folder / "model")
        eta = predictor.eta.mean(axis=0)[:, : -1 if predictor.intercept else None]
        metrics = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
        s = shrinkage(eta)
        print(
            f"{folder}: {metrics['main_name']} {metrics['main']:.3f}, {s['weights']:,} weights, "
            f"{s['below a tenth']:.1%} below a tenth of the largest, median {s['median']:.2%} of it, "
            f"{s['left an output']:.1f} of {eta.shape[1]} left an output"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folders", nargs="+", metavar="RUN_FOLDER", help="of `plugsamp fit`")
    main(parser.parse_args().folders)
