"""Accuracy and CPU time of prediction, of one environment or several in turn.

python tools/bench_predict.py [OTHER_PYTHON ...]                    # simulated documents
python tools/bench_predict.py --model MODEL --corpus X.svm.gz ...   # documents of a corpus, words as columns

Simulated documents have known topics phi ~ Dir(c) over 2,000 words, theta ~ Dir(alpha) and 5 to 150 tokens.
Their mean topic proportions are compared with those of long chains as total variation. Each environment
runs the documents in a process of its own, and rounds alternate between environments.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time

import numpy as np

#: (topics, concentration of phi, alpha)
SETTINGS = [(k, 0.05, 0.1) for k in (20, 50, 100, 200)] + [(20, 0.2, 0.1), (100, 0.2, 0.1), (100, 0.2, 0.5)]


def simulated(n_topics: int, concentration: float, alpha: float, seed: int, n_documents: int):
    """Return a predictor without responses, and documents drawn from its topics."""
    from plugsamp.corpus import Corpus
    from plugsamp.losses import NoLoss
    from plugsamp.losses.coding import Coding
    from plugsamp.posterior.draws import Draws

    rng = np.random.default_rng([seed, n_topics, round(1000 * concentration), round(1000 * alpha)])
    phi = rng.gamma(concentration, size=(n_topics, 2000)) + 1e-30
    phi /= phi.sum(axis=1, keepdims=True)
    theta = rng.dirichlet(np.full(n_topics, alpha), n_documents)
    n = rng.integers(5, 151, n_documents)
    counts = np.array([rng.multinomial(m, t @ phi / (t @ phi).sum()) for m, t in zip(n, theta, strict=True)])
    words = [f"w{i}" for i in range(phi.shape[1])]
    predictor = Draws(
        phi=phi, eta=np.zeros((1, 0, n_topics)), alpha=np.full(n_topics, alpha), loss=NoLoss(),
        coding=Coding.empty(), vocabulary=words,
    )  # fmt: skip
    return predictor, Corpus.from_counts(counts, vocabulary=words)


def timed(function):
    start = time.process_time()
    value = function()
    return value, time.process_time() - start


def work(arguments) -> None:
    """Answer on standard output, a JSON line a task on standard input."""
    for line in sys.stdin:
        task = json.loads(line)
        if "model" in task:
            answer = of_corpus(**task)
        else:
            predictor, corpus = simulated(**task)
            predictor.predict(corpus.take(np.arange(2)))
            found, seconds = timed(lambda: predictor.predict(corpus).zbar)  # noqa: B023
            answer = {"zbar": found.tolist(), "ms": 1e3 * seconds / len(found)}
        print(json.dumps(answer), flush=True)


def of_corpus(model: str, corpus: str, single: int) -> dict:
    """CPU seconds of one call for all documents, and milliseconds of a call a document."""
    from sklearn.datasets import load_svmlight_file

    from plugsamp.corpus import Corpus
    from plugsamp.posterior.saved import load_model

    predictor = load_model(model)
    counts, _ = load_svmlight_file(corpus, zero_based=True, n_features=len(predictor.vocabulary))
    documents = Corpus.from_counts(counts.astype(int), vocabulary=predictor.vocabulary, require_tokens=False)
    predictor.predict(documents.take(np.arange(2)))
    _, seconds = timed(lambda: predictor.predict(documents))
    parts = [documents.take([i]) for i in range(single)]
    _, one = timed(lambda: [predictor.predict(part) for part in parts])
    return {"seconds": seconds, "documents": documents.n_documents, "one_ms": 1e3 * one / single}


class Worker:
    def __init__(self, python: str):
        self.name = python
        self.process = subprocess.Popen(
            [python, __file__, "--worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, task: dict) -> dict:
        self.process.stdin.write(json.dumps(task) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def reference(task: dict, passes: int) -> np.ndarray:
    """Proportions by long chains, twice, with independent streams."""
    predictor, corpus = simulated(**task)
    options = {"passes": passes, "burn_in": passes // 5, "restarts": 64}
    return np.array([predictor.with_options(seed=s, **options).predict(corpus).zbar for s in (91, 92)])


def distances(found, truth) -> np.ndarray:
    return 0.5 * np.abs(found - truth).sum(axis=1)


def compare(workers, arguments) -> None:
    print(f"{arguments.documents} documents, seed {arguments.seed}; ms of CPU a document, the best round")
    for n_topics, concentration, alpha in SETTINGS:
        task = {"n_topics": n_topics, "concentration": concentration, "alpha": alpha,
                "seed": arguments.seed, "n_documents": arguments.documents}  # fmt: skip
        halves = reference(task, arguments.passes)
        truth = halves.mean(axis=0)
        answers = [[worker.ask(task) for worker in workers] for _ in range(arguments.rounds)]
        print(f"K={n_topics} phi~Dir({concentration}) alpha={alpha}; halves of the reference "
              f"{distances(*halves).mean():.4f}")  # fmt: skip
        base = None
        for worker, *found in zip(workers, *answers, strict=True):
            tv = distances(np.array(found[0]["zbar"]), truth)
            ms = min(one["ms"] for one in found)
            base = base or ms
            print(f"  TV mean {tv.mean():.4f}, 90 % {np.quantile(tv, 0.9):.4f}, max {tv.max():.4f}; "
                  f"{ms:.2f} ms, ratio {ms / base:.2f}  {worker.name}", flush=True)  # fmt: skip


def main() -> None:
    kind = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=kind)
    parser.add_argument("python", nargs="*", help="of other environments, compared with this one")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=1, help="of the simulated documents")
    parser.add_argument("--documents", type=int, default=100, help="of each simulation")
    parser.add_argument("--passes", type=int, default=1000, help="of the reference's 64 chains a half")
    parser.add_argument("--rounds", type=int, default=2, help="turns of each environment")
    parser.add_argument("--model", help="a model or run folder")
    parser.add_argument("--corpus", help="an SVMlight file with the model's columns")
    arguments = parser.parse_args()
    if arguments.worker:
        work(arguments)
        return
    workers = [Worker(python) for python in [*arguments.python, sys.executable]]
    try:
        if arguments.model:
            task = {"model": arguments.model, "corpus": arguments.corpus, "single": 200}
            for _ in range(arguments.rounds):
                for worker in workers:
                    print(worker.name, worker.ask(task), flush=True)
        else:
            compare(workers, arguments)
    finally:
        for worker in workers:
            worker.close()


if __name__ == "__main__":
    main()
