"""Compare two installed environments bit by bit: draws of every kernel, and what the commands write.

    python tools/same_bits.py OLD NEW

OLD and NEW are Python executables of environments with plugsamp. Each runs every kernel for five sweeps on a
small corpus, serially and with two workers, with two instruction sets, and a dozen command lines. Arrays and
the files that the commands write are compared byte by byte. No number is stored: OLD gives what is expected.
A row is printed for each comparison, and the exit code is 1 where any differs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

#: The lowest instruction set, and the one above it.
INSTRUCTION_SETS = ("base", "avx2")

WORKERS = ("serial", "two workers")

#: Columns of trace.csv that hold times.
TIMES = ("seconds", "elapsed")

#: Files of a run folder that are compared as they are.
FILES = ("predictions.csv", "weights.csv", "topics.csv", "topics.txt")

_MIXTURE = {"proposals": ["word", "doc", "sparse_exp"], "composition": "mixture", "collapse": "partial"}

#: Kernels with the options that other branches of the code need: name, options, with responses or not.
KERNELS = (
    ("dense", {}, True),
    ("dense", {"collapse": "partial"}, True),
    ("sparse", {}, False),
    ("fast", {}, False),
    ("light", {}, True),
    ("light", {"stale": True}, True),
    ("alias", {}, True),
    ("light_pc", {}, True),
    ("sparse_pc", {}, True),
    ("sparse_pc", {}, False),
    ("composed", {}, True),
    ("composed", _MIXTURE, True),
    ("auto", {}, True),
)  # fmt: skip

#: Loss and prior whose options do not depend on the defaults of an environment.
_NORMAL = {"name": "normal", "variance": 1.0}
_HINGE = {"loss": {"name": "hinge", "cost": 50.0}, "weights": _NORMAL}

#: What is beside the kernels in a model: losses, priors, topics, learnt hyperparameters.
MODELS = (
    ("logistic", {"loss": "logistic", "weights": _NORMAL, "learn_alpha": "slice", "learn_beta": "slice"}),
    ("probit, horseshoe", {"loss": "probit", "weights": "horseshoe"}),
    ("gaussian", {"loss": "gaussian"}),
    ("epsilon_insensitive, covariates", {"loss": "epsilon_insensitive"}),
    ("spike_slab", _HINGE | {"topics": "spike_slab"}),
    ("seeded", _HINGE | {"topics": {"name": "seeded", "words": {0: ["w1", "w2"]}}}),
)

#: Options of all command lines.
SHORT = (
    "corpus.text=text", "corpus.label=label", "corpus.test_size=0.3", "n_topics=5", "sweeps=6",
    "report=false", "beta=0.02",
)  # fmt: skip

#: The hinge as in `_HINGE`.
_COST = ["loss.cost=50", "weights.variance=1"]

#: Command lines of `plugsamp fit`; all are small and read the same file.
COMMANDS = (
    ("hinge", _COST),
    ("logistic", ["loss=logistic", "weights=horseshoe"]),
    ("probit, dense", ["loss=probit", "kernel=dense"]),
    ("real", ["loss=gaussian", "corpus.label=size"]),
    ("no responses", ["loss=none", "kernel=sparse"]),
    ("chains", ["chains=2", "loss=probit"]),
    ("ovr", ["multiclass=ovr", "loss=logistic", "weights.variance=1"]),
    ("ovo", ["multiclass=ovo", *_COST]),
    ("two step", ["supervised=two_step", "second_step.sweeps=10", *_COST]),
    ("covariates", ["covariates.numeric=[size]", "covariates.words=tfidf", *_COST]),
    ("learnt priors", ["learn_alpha.method=slice", "learn_beta.method=slice", *_COST]),
    ("two workers", ["backend=processes", "backend.workers=2", *_COST]),
)


def child() -> None:
    """Run every chain in this environment and print a digest of each part as JSON; a process an ISA."""
    import warnings

    import numpy as np

    import plugsamp as ps

    warnings.simplefilter("ignore")
    rng = np.random.default_rng(11)
    counts = rng.poisson(0.4, size=(120, 60))
    labels = np.array(["x", "y", "z"], dtype=object)[rng.integers(3, size=120)]
    corpora = {
        "labels": ps.Corpus.from_counts(counts, responses=labels),
        "none": ps.Corpus.from_counts(counts),
        "real": ps.Corpus.from_counts(counts, responses=rng.standard_normal(120)),
    }
    columns = rng.standard_normal((120, 2))
    corpora["covariates"] = ps.Corpus.from_counts(
        counts, responses=rng.standard_normal(120), covariates=columns, covariate_names=["a", "b"]
    )
    covered = {kernel for kernel, *_ in KERNELS}
    more = [(name, {}, True) for name in ps.registry.names("kernels") if name not in covered]
    jobs = [
        (f"{name}{options or ''}{'' if responses else ' without responses'}", {"name": name, **options},
         _HINGE if responses else {"loss": "none"}, "labels" if responses else "none")
        for name, options, responses in (*KERNELS, *more)
    ]  # fmt: skip
    for name, model in MODELS:
        which = "real" if name == "gaussian" else "covariates" if "covariates" in name else "labels"
        jobs.append((f"model {name}", "auto", model, which))
    found = {}
    for title, kernel, model, corpus in jobs:
        for workers in WORKERS:
            backend = {"name": "processes", "workers": 2} if workers == WORKERS[1] else None
            try:
                made = ps.Model(5, alpha=0.3, beta=0.1, **model)
                with ps.Chain(corpora[corpus], made, kernel, backend=backend, seed=4) as chain:
                    chain.run(5)
                    parts = {
                        "z": chain.z, "eta": chain.eta, "phi": chain.phi, "kappa": chain.kappa,
                        "omega": chain.omega, "n_kw": chain.counts.topic_word,
                        "n_dk": chain.counts.doc_topic.toarray(), "alpha": chain.alpha, "beta": chain.beta,
                        **{name: np.asarray(value) for name, value in chain.parameters.items()},
                    }  # fmt: skip
                    found[f"{title}, {workers}"] = {name: digest_of(array) for name, array in parts.items()}
            except Exception as error:  # compared too
                found[f"{title}, {workers}"] = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(found))


def digest_of(array) -> str:
    """Type, shape and bytes of an array as a short digest."""
    about = f"{array.dtype.str} {array.shape} ".encode()
    return hashlib.sha256(about + array.tobytes()).hexdigest()[:16]


def chains_of(python: str, instruction_set: str) -> dict:
    """What `child` prints in another environment."""
    done = subprocess.run(
        [python, __file__, "--child"], env={**os.environ, "PLUGSAMP_ISA": instruction_set},
        capture_output=True, text=True, cwd=tempfile.gettempdir(), check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{python} failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def write_documents(path: Path) -> None:
    """A JSON lines file that depends on no generator of random numbers."""
    with open(path, "w", encoding="utf-8") as file:
        for d in range(90):
            words = [f"w{(d * 7 + i * i * 3 + i * d) % 40}" for i in range(25)] + [f"class{d % 3}"] * (d % 4)
            size = round((d * 37 % 90) / 9 + d % 3, 3)
            row = {"text": " ".join(words), "label": "xyz"[d % 3], "size": size}
            file.write(json.dumps(row) + "\n")


def commands_of(python: str, documents: Path, folder: Path) -> dict:
    """The digests of the files that each command line leaves, by its name."""
    plugsamp = Path(python).parent / "plugsamp"
    found = {}
    for number, (title, options) in enumerate(COMMANDS):
        run = folder / f"run{number}"
        done = subprocess.run(
            [plugsamp, "fit", "corpus=jsonl", f"corpus.path={documents}", *SHORT, f"hydra.run.dir={run}",
             *options],
            capture_output=True, text=True, cwd=folder, check=False,
        )  # fmt: skip
        if done.returncode:
            found[title] = {"error": done.stderr.strip().splitlines()[-1][:200] if done.stderr else "?"}
            continue
        files = [run / name for name in FILES if (run / name).exists()]
        found[title] = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
        found[title]["trace.csv"] = timeless(run / "trace.csv")
        shown = "import sys, plugsamp as ps; print(ps.load_model(sys.argv[1]).digest)"
        model = subprocess.run(
            [python, "-c", shown, run / "model"], capture_output=True, text=True, cwd=folder, check=False
        )
        found[title]["model"] = model.stdout.strip() or model.stderr[-200:]
    return found


def timeless(path: Path) -> str:
    """The digest of a trace without its columns of times."""
    import csv

    with open(path, newline="", encoding="utf-8") as file:
        rows = [
            {name: value for name, value in row.items() if not name.startswith(TIMES)}
            for row in csv.DictReader(file)
        ]
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


def compare(title: str, old: dict, new: dict) -> bool:
    """Print a row; True where the two are the same."""
    parts = sorted(part for part in {*old, *new} if old.get(part) != new.get(part))
    failed = old.get("error") if old == new and "error" in old else None
    said = f"differs in {', '.join(parts)}" if parts else f"same error: {failed[:80]}" if failed else "same"
    if parts and "error" in {*old, *new}:
        said = f"OLD {old.get('error', 'ran')}; NEW {new.get('error', 'ran')}"
    print(f"{title:72} {said}", flush=True)
    return not parts


def available(python: str) -> list[str]:
    """Of the instruction sets those that this processor has."""
    best = subprocess.run(
        [python, "-c", "from plugsamp.system.cpu import instruction_set as best; print(best())"],
        capture_output=True, text=True, check=False, cwd=tempfile.gettempdir(),
    ).stdout.strip()  # fmt: skip
    return [name for name in INSTRUCTION_SETS if name == "base" or best != "base"]


def main(old: str, new: str) -> int:
    """Compare two environments; the exit code."""
    same = []
    folder = Path(tempfile.mkdtemp(prefix="same_bits-"))
    try:
        write_documents(folder / "documents.jsonl")
        with ThreadPoolExecutor(2) as pool:
            for isa in available(old):
                both = list(pool.map(lambda python, isa=isa: chains_of(python, isa), (old, new)))
                for title in dict.fromkeys([*both[0], *both[1]]):
                    same.append(compare(f"{isa}: {title}", *(one.get(title, {}) for one in both)))
            places = [folder / "old", folder / "new"]
            for place in places:
                place.mkdir()
            documents = [folder / "documents.jsonl"] * 2
            both = list(pool.map(commands_of, (old, new), documents, places))
            for title in both[0]:
                same.append(compare(f"fit: {title}", both[0][title], both[1][title]))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    different = same.count(False)
    print(f"{len(same)} comparisons, {different or 'none'} of them different")
    return 1 if different else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--child"]:
        child()
    else:
        parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
        parser.add_argument("old", metavar="OLD", help="Python executable of the environment to compare with")
        parser.add_argument("new", metavar="NEW", help="Python executable of the environment to check")
        given = parser.parse_args()
        sys.exit(main(os.path.abspath(given.old), os.path.abspath(given.new)))
