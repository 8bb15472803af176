"""CPU time of reading and predicting texts, compared with scikit-learn's CountVectorizer in the same run.

    python tools/bench_pipeline.py FILE.jsonl.gz [--rounds 3] [--topics 100]

FILE has texts in JSON lines. Printed are seconds of CPU time, the smallest of interleaved rounds, and their
ratios to CountVectorizer alone, which finds the same tokens in the same texts.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from plugsamp.losses.coding import Coding
from plugsamp.losses.none import NoLoss
from plugsamp.prediction.inference import Predictor
from plugsamp.prediction.stream import predict_iter
from plugsamp.readers.jsonl import JsonLines


def model_of(vocabulary, n_topics: int) -> Predictor:
    """Return a model without responses, with random topics of these words."""
    phi = np.random.default_rng(0).gamma(0.1, size=(n_topics, len(vocabulary))).astype(np.float32) + 1e-6
    phi /= phi.sum(axis=1, keepdims=True)
    coding = Coding(np.empty((0, 0)), "none", np.array([], dtype=object))
    eta = np.empty((1, 0, n_topics))
    return Predictor(phi, eta, np.full(n_topics, 0.1), NoLoss(), coding, tuple(vocabulary))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", help="corpus in JSON lines, with a field text")
    parser.add_argument("--rounds", type=int, default=3, help="rounds, in turn; each counts by its least")
    parser.add_argument("--topics", type=int, default=100, help="topics of the random model")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    reader = JsonLines(path=given.file, response="none", split="none")
    texts = reader.records(given.file).contents
    vectorizer = CountVectorizer(token_pattern=r"[^\W\d_]{2,}", stop_words=sorted(reader.stop_set()))
    model = model_of(reader.read().train.vocabulary, given.topics)
    works = {
        "CountVectorizer": lambda: vectorizer.fit_transform(texts),
        "counting words": lambda: reader.count("text", texts),
        "reading the file": reader.read,
        "reading and predicting": lambda: all(predict_iter(model, reader)),
        "the same, n_jobs=2": lambda: all(predict_iter(model, reader, n_jobs=2)),
    }
    cpu, wall = ({name: [] for name in works} for _ in range(2))
    for _ in range(given.rounds):
        for name, work in works.items():
            start = time.process_time(), time.perf_counter()
            work()
            cpu[name].append(time.process_time() - start[0])
            wall[name].append(time.perf_counter() - start[1])
    unit = min(cpu["CountVectorizer"])
    print(f"{'':24} {'CPU s':>7} {'ratio':>6} {'wall s':>7}")
    for name in works:
        print(f"{name:24} {min(cpu[name]):7.2f} {min(cpu[name]) / unit:6.2f} {min(wall[name]):7.2f}")


if __name__ == "__main__":
    main()
