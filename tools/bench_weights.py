"""Times the weight updates on a design like that of 20ng_counts late in a run.

python tools/bench_weights.py [topics] [outputs] [words as covariates]
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from scipy import sparse

from plugsamp.priors.columns import Columns
from plugsamp.priors.horseshoe import Horseshoe
from plugsamp.priors.normal import Normal
from plugsamp.random.draws import Purpose, stream
from plugsamp.regression.design import Design, Fixed
from plugsamp.regression.weights import gram, groups, update_outputs


def best(function, repeats=7) -> float:
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return 1e3 * min(times)


def main(n_topics=100, n_outputs=20, n_words=50_000, n_documents=11_314, n_tokens=1_954_752):
    rng = np.random.default_rng(0)
    lengths = rng.lognormal(0.0, 0.9, n_documents)
    lengths = np.maximum(1, lengths * n_tokens / lengths.sum()).astype(int)
    theta = rng.gamma(14.0 / n_topics, size=(n_documents, n_topics)) + 1e-12
    counts = sparse.csr_array(rng.multinomial(lengths, theta / theta.sum(1, keepdims=True)))
    kappa = rng.normal(size=(n_documents, n_outputs)) * 100
    omega = rng.gamma(1.0, size=(n_documents, n_outputs)) * 100
    eta = rng.normal(size=(n_outputs, n_topics))

    def update_shared(levels):
        design.last_factor = None, None
        design.shared.clear()
        options = {"method": "block"}
        columns = Columns(n_topics)
        update_outputs(design, kappa, levels, eta, range(n_outputs), Normal(), {}, columns, 0, 0, **options)

    def make():
        return Design(counts.indptr, counts.indices, counts.data, counts.sum(axis=1), n_topics)

    def update(method, passes=1):
        options = {"method": method, "passes": passes}
        columns = Columns(n_topics)
        update_outputs(design, kappa, omega, eta, range(n_outputs), Normal(), {}, columns, 0, 0, **options)

    design = make()
    pairs = (np.diff(counts.indptr) * (np.diff(counts.indptr) + 1) // 2).sum()
    print(f"K={n_topics} C={n_outputs} nnz={counts.nnz} pairs={pairs / 1e6:.1f}M; ms and ns a token")
    for name, function in (
        ("design", make),
        ("linear predictor", lambda: design.predictor(eta)),
        ("gram", lambda: [gram(design, kappa, omega, g) for g in groups(n_outputs)]),
        ("block", lambda: update("block")),
        ("block, omega 1", lambda: update_shared(np.ones_like(omega))),
        ("block, a level each", lambda: update_shared(np.ones_like(omega) * omega[0])),
        ("coordinate, 1 pass", lambda: update("coordinate", 1)),
        ("coordinate, 2 passes", lambda: update("coordinate", 2)),
    ):
        ms = best(function)
        print(f"  {name:22} {ms:8.2f} {1e6 * ms / counts.sum():8.2f}")
    if n_words:
        words(counts, kappa, omega, n_words)


def words(counts, kappa, omega, n_words, nnz=1_100_000):
    """Sparse covariates like words: rank-frequency by Zipf, spread over documents of unequal length."""
    rng = np.random.default_rng(1)
    n_documents, n_topics = counts.shape
    n_outputs = kappa.shape[1]
    frequency = 1.0 / (np.arange(n_words) + 3.0)
    word = rng.choice(n_words, 2 * nnz, p=frequency / frequency.sum())
    length = rng.lognormal(0.0, 0.9, n_documents)
    document = rng.choice(n_documents, len(word), p=length / length.sum())
    x = sparse.csr_array((np.ones(len(word)), (document, word)), shape=(n_documents, n_words))
    x.data[:] = rng.random(len(x.data)) * 0.1
    columns = Columns(n_topics, n_words, intercept=True)
    fixed = Fixed(x, True, n_documents)
    design = Design(
        counts.indptr, counts.indices, counts.data, counts.sum(axis=1), n_topics, covariates=fixed
    )
    prior = Horseshoe()
    state = prior.start(n_outputs, columns)
    eta = np.zeros((n_outputs, len(columns)))

    def update(method):
        options = {"method": method}
        update_outputs(design, kappa, omega, eta, range(n_outputs), prior, state, columns, 0, 0, **options)

    def shrink():
        for c in range(n_outputs):
            prior.update(state, c, columns, eta[c], stream(0, Purpose.SHRINKAGE, 0, c))

    print(f"words: P={n_words} nnz={x.nnz}, of them {len(design.joint) - n_topics - 1} kept dense; ms")
    for name, function in (
        ("fixed columns (once)", lambda: Fixed(x, True, n_documents)),
        ("mixed, 1 pass", lambda: update("mixed")),
        ("coordinate, 1 pass", lambda: update("coordinate")),
        ("horseshoe's scales", shrink),
    ):
        print(f"  {name:22} {best(function, 3):8.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name, default, what in (
        ("topics", 100, "of the model"), ("outputs", 20, "of the model"),
        ("words", 50_000, "as sparse covariates; 0: without"),
    ):  # fmt: skip
        parser.add_argument(name, type=int, nargs="?", default=default, help=f"{what} (default %(default)s)")
    given = parser.parse_args()
    main(given.topics, given.outputs, given.words)
