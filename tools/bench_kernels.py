"""Times the token kernels on a made-up corpus: nanoseconds a token of whole sweeps, and the ratio to dense.

python tools/bench_kernels.py [--topics 100] [--outputs 20] [--tokens 200000] [--sweeps 5] [--warm-up 1]
       [--alpha 0.1] [--data DIR]

With --data, the training part of 20ng_counts below DIR is the corpus, without responses.

One process, BLAS on one thread. The best sweep counts, so that a busy machine disturbs little; ratios within
a run say more than nanoseconds.
"""

from __future__ import annotations

import argparse

import numpy as np

import plugsamp as ps

KERNELS = {
    f"{label}, {collapse}": (name, {"collapse": collapse, **options})
    for label, name, options in (
        ("dense", "dense", {}),
        ("composed, 2 steps", "composed", {"proposals": ["word", "doc"], "steps": 2}),
        ("composed, 6 steps", "composed", {"proposals": ["word", "doc", "exp"], "steps": 6}),
    )
    for collapse in ("full", "partial")
}
#: Without responses these too.
UNSUPERVISED = {
    **{name: (name, {}) for name in ("sparse", "alias", "light", "sparse_pc", "light_pc")},
    "fast, 2-2-inf": ("fast", {"bound": "2-2-inf"}),
    "fast, 3-3-3": ("fast", {"bound": "3-3-3"}),
    "fast, one by one": ("fast", {"batch": 1}),
}


def corpus(n_tokens: int, n_outputs: int, n_words: int = 10_000, length: int = 170, n_themes: int = 50):
    """Documents of a few themes, each with words of its own, and a label that goes with the first."""
    rng = np.random.default_rng(0)
    n_documents = max(n_tokens // length, 2 * max(n_outputs, 2))
    first = rng.integers(n_themes, size=n_documents)
    shape = (n_documents, length)
    themes = np.where(rng.random(shape) < 0.6, first[:, None], rng.integers(n_themes, size=shape))
    rank = np.minimum(rng.zipf(1.3, size=themes.shape), n_words) - 1
    words = (rank * 7919 + themes * 104_729) % n_words
    labels = None
    if n_outputs:
        labels = first % (2 if n_outputs == 1 else n_outputs)
    offsets = np.arange(n_documents + 1) * length
    return ps.Corpus(words.ravel(), offsets, n_words=n_words, responses=labels)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--alpha", type=float, default=0.1, help="of the model (default %(default)s)")
    parser.add_argument(
        "--data",
        help="folder of public corpora: 20ng_counts without responses; without it documents are made up",
    )
    parser.add_argument(
        "--warm-up", type=int, default=1, help="sweeps before the clock starts (default %(default)s)"
    )
    for name, default, what in (
        ("topics", 100, "of the model"), ("outputs", 20, "made-up classes; 0: none, and more kernels"),
        ("tokens", 200_000, "of the made-up documents"), ("sweeps", 5, "of which the quickest counts"),
    ):  # fmt: skip
        parser.add_argument(f"--{name}", type=int, default=default, help=f"{what} (default %(default)s)")
    given = parser.parse_args()
    if given.data:
        given.outputs = 0
        path = f"{given.data}/20ng_counts/train.svm.gz"
        documents = ps.registry.resolve("readers", "svmlight", path=path).read().train
    else:
        documents = corpus(given.tokens, given.outputs)
    loss = "hinge" if given.outputs else "none"
    size = f"K={given.topics} C={given.outputs} N={documents.n_tokens:,} V={documents.n_words:,}"
    print(f"{size}; ns a token, ratio to dense")
    base = None
    for label, (name, options) in (KERNELS if given.outputs else KERNELS | UNSUPERVISED).items():
        if not given.outputs and "exp" in options.get("proposals", ()):
            continue
        kernel = ps.registry.resolve("kernels", name, **options)
        model = ps.Model(given.topics, given.alpha, loss=loss)
        chain = ps.Chain(documents, model, kernel).run(given.warm_up)
        seconds = min(info.seconds for info in chain.sweeps(given.sweeps))
        base = base or seconds
        print(f"  {label:28} {1e9 * seconds / documents.n_tokens:8.1f} {seconds / base:6.2f}", flush=True)


if __name__ == "__main__":
    main()
