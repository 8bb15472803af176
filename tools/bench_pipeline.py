"""CPU time from raw text to predictions and report, part by part, and what a second thread gains.

    python tools/bench_pipeline.py FILE.jsonl.gz [--rounds 3] [--topics 100] [--parts reading job threads]

FILE has texts and labels in JSON lines. `reading` compares readers with scikit-learn's CountVectorizer, which
finds the same tokens in the same texts, and `job` gives the parts of `plugsamp fit` with 10 sweeps; both in
seconds of CPU time, the smallest of the rounds. `threads` gives the wall time of one thread over that of two,
pair by pair: it needs two idle cores.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from statistics import median


def reading(file: str, rounds: int) -> None:
    """Print the CPU time of readers, and its ratio to that of CountVectorizer, in interleaved rounds."""
    from sklearn.feature_extraction.text import CountVectorizer

    from plugsamp.readers.jsonl import JsonLines

    reader = JsonLines(path=file, response="none", split="none")
    texts = reader.records(file).contents
    vectorizer = CountVectorizer(token_pattern=r"[^\W\d_]{2,}", stop_words=sorted(reader.stop_set()))
    works = {
        "CountVectorizer": lambda: vectorizer.fit_transform(texts),
        "counting words": lambda: reader.count("text", texts),
        "reading the file": reader.read,
    }
    cpu = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            start = time.process_time()
            work()
            cpu[name].append(time.process_time() - start)
    unit = min(cpu["CountVectorizer"])
    print(f"{'reading':28} {'CPU s':>7} {'ratio':>6}")
    for name, seconds in cpu.items():
        print(f"{name:28} {min(seconds):7.2f} {min(seconds) / unit:6.2f}")


def job(file: str, n_topics: int, rounds: int) -> None:
    """Print the CPU time of the parts of `plugsamp fit`, each run in a process of its own."""
    found = []
    for _ in range(rounds):
        command = [sys.executable, __file__, file, "--topics", str(n_topics), "--timed"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found.append(json.loads(done.stdout.splitlines()[-1]))
    best = min(found, key=lambda parts: parts["all"])
    print(f"\n{'plugsamp fit, 10 sweeps':28} {'CPU s':>7} {'share':>6}")
    for name, seconds in best.items():
        print(f"{name:28} {seconds:7.2f} {seconds / best['all']:6.2f}")


def timed(file: str, n_topics: int) -> dict[str, float]:
    """Run `plugsamp fit` here, and return the CPU seconds of its parts."""
    from plugsamp import cli, report
    from plugsamp.chain import Chain
    from plugsamp.commands import run_fit  # noqa: F401
    from plugsamp.posterior.draws import Draws
    from plugsamp.readers.records import TextReader

    imports = {"imports": time.process_time()}
    parts = dict.fromkeys(("reading", "sampling", "prediction", "report"), 0.0)
    inside = []

    def watch(owner, name: str, part: str) -> None:
        function = getattr(owner, name)

        def watched(*given, **options):
            begun = time.process_time()
            inside.append(0.0)
            try:
                return function(*given, **options)
            finally:
                spent = time.process_time() - begun
                parts[part] += spent - inside.pop()  # what is inside counts there
                if inside:
                    inside[-1] += spent

        setattr(owner, name, watched)

    watch(TextReader, "read", "reading")
    watch(Draws, "predict_encoded", "prediction")
    watch(report, "write", "report")
    watch(Chain, "_one_sweep", "sampling")
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        run = [f"corpus.path={file}", f"n_topics={n_topics}", "sweeps=10", f"hydra.run.dir={folder}/run"]
        code = cli.main(["fit", "corpus=jsonl", "loss=hinge", *run])
    if code:
        raise SystemExit(code)
    spent = time.process_time()
    parts = imports | parts
    return parts | {"all else": spent - sum(parts.values()), "all": spent}


def threads(file: str, n_topics: int, rounds: int) -> None:
    """Print by how much two threads are faster than one."""
    import numpy as np

    from plugsamp.losses.coding import Coding
    from plugsamp.losses.none import NoLoss
    from plugsamp.posterior.draws import Draws
    from plugsamp.readers.jsonl import JsonLines
    from plugsamp.system import cores

    reader = JsonLines(path=file, response="none", split="none")
    corpus = reader.read().train
    phi = np.random.default_rng(0).gamma(0.1, size=(n_topics, corpus.n_words)).astype(np.float32) + 1e-6
    phi /= phi.sum(axis=1, keepdims=True)
    coding = Coding(np.empty((0, 0)), "none", np.array([], dtype=object))
    eta = np.empty((1, 0, n_topics))
    model = Draws(phi, eta, np.full(n_topics, 0.1), NoLoss(), coding, corpus.vocabulary)
    some = corpus.take(np.arange(min(4000, corpus.n_documents)))
    print(f"\n{'one thread / two threads':28} {'wall s':>7} {'ratio':>6}")
    for name, work in {"reading": reader.read, "prediction": lambda: model.predict(some)}.items():
        pairs = [[], []]
        for _ in range(rounds):
            for n_jobs, seconds in enumerate(pairs, 1):
                start = time.perf_counter()
                with cores.threads(n_jobs):
                    work()
                seconds.append(time.perf_counter() - start)
        ratio = median(one / two for one, two in zip(*pairs, strict=True))
        print(f"{name:28} {min(pairs[1]):7.2f} {ratio:6.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", help="corpus in JSON lines, with fields text and label")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of each comparison")
    parser.add_argument("--topics", type=int, default=100, help="topics of the model")
    names = ("reading", "job", "threads")
    parser.add_argument("--parts", nargs="+", default=names, choices=names, help="what is measured")
    parser.add_argument("--timed", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    file = str(Path(given.file).absolute())
    if given.timed:
        print(json.dumps(timed(file, given.topics)))
        return
    if "reading" in given.parts:
        reading(file, given.rounds)
    if "job" in given.parts:
        job(file, given.topics, given.rounds)
    if "threads" in given.parts:
        threads(file, given.topics, given.rounds)


if __name__ == "__main__":
    main()
