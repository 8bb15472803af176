"""What a corpus in a store takes of memory: made, written, mapped and sampled, against what the arrays need.

    python tools/store_memory.py --tokens 100_000_000 --kernels sparse sparse_pc --sweeps 2

Made-up documents of a Zipf distribution a topic are written part by part with `plugsamp.store.write_store`;
then each kernel samples from the mapped store in a process of its own. Printed are, of each step, the seconds
and the most memory that was the process's own (anonymous and shared) and that showed files (page cache, which
the system takes back when it needs to), without what Python and its packages take; and of each kernel the
arrays of the chain, in bytes a token and bytes a cell of the topic by word counts.

Exit code 1 where sampling takes more than the arrays and 15 % need.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import plugsamp as ps
from plugsamp.backends.serial import InTurn, Serial
from plugsamp.store import open_store, write_store
from plugsamp.system.arena import Arena, n_bytes

#: Tokens of a part, and of a document.
PART, LENGTH = 2_000_000, 200
MB = 2**20


def resident() -> dict[str, int]:
    """Bytes of this process in memory by kind."""
    found = dict(re.findall(r"^Rss(\w+):\s+(\d+) kB$", Path("/proc/self/status").read_text(), re.M))
    return {"own": (int(found["Anon"]) + int(found["Shmem"])) * 1024, "files": int(found["File"]) * 1024}


class Peak:
    """The most that was resident within a ``with``, less what was before it."""

    def __enter__(self) -> Peak:
        self._before, self._end, self.most = resident(), threading.Event(), {}
        self._thread = threading.Thread(target=self._watch)
        self._start = time.perf_counter()
        self._thread.start()
        return self

    def _watch(self) -> None:
        while True:
            for kind, size in resident().items():
                self.most[kind] = max(self.most.get(kind, 0), size - self._before[kind])
            if self._end.wait(0.005):
                return

    def __exit__(self, *error) -> None:
        self.seconds = time.perf_counter() - self._start
        self._end.set()
        self._thread.join()

    def __str__(self) -> str:
        own, files = (self.most[kind] / MB for kind in ("own", "files"))
        return f"{self.seconds:7.1f} s, own {own:8,.0f} MB, files {files:8,.0f} MB"


class Listed(Serial):
    """This process, with a list of the chain's arrays."""

    def open(self, partial: bool) -> InTurn:
        work = InTurn()
        work.arena = ListedArena()
        return work


class ListedArena(Arena):
    def __init__(self):
        super().__init__()
        #: Shape of each array, and the bytes of it that are to be touched.
        self.made: dict[str, tuple[tuple, float]] = {}

    def _make(self, name, shape, dtype, touched):
        self.made[name] = tuple(np.atleast_1d(shape).tolist()), n_bytes(shape, dtype) * touched
        return super()._make(name, shape, dtype, touched)


def parts(n_tokens: int, n_words: int, n_topics: int = 20) -> Iterator[ps.Corpus]:
    """Documents of one topic each, whose words follow Zipf's law in an order of the topic's own."""
    rng = np.random.default_rng(0)
    weights = np.cumsum(1 / np.arange(10, n_words + 10))
    weights /= weights[-1]
    order = np.array([rng.permutation(n_words) for _ in range(n_topics)], dtype=np.int32)
    vocabulary = tuple(f"w{i}" for i in range(n_words))
    for first in range(0, n_tokens, PART):
        n_documents = min(PART, n_tokens - first) // LENGTH
        topics = np.repeat(rng.integers(n_topics, size=n_documents), LENGTH)
        words = order[topics, np.searchsorted(weights, rng.random(len(topics), np.float32))]
        yield ps.Corpus(words, np.arange(n_documents + 1) * LENGTH, vocabulary)


def sample(store: Path, kernel: str, n_topics: int, sweeps: int) -> bool:
    """Open, sample and print; whether the memory is what the arrays need."""
    with Peak() as opening:
        corpus = open_store(store)
    print(f"  open   {opening}")
    ps.Chain(ps.Corpus(np.arange(50), [0, 50]), ps.Model(2), kernel).run(1)  # what is imported by need
    with Peak() as sampling:
        chain = ps.Chain(corpus, ps.Model(n_topics, 0.1, 0.01), kernel, Listed(), seed=1)
        started = time.perf_counter()
        chain.run(sweeps)
        seconds = time.perf_counter() - started
    print(f"  sample {sampling}; {corpus.n_tokens * sweeps / seconds / 1e6:.1f} million tokens/s")
    made = chain.state.arena.made
    cells = corpus.n_words * n_topics
    by_token = {name: size for name, (shape, size) in made.items() if shape == (corpus.n_tokens,)}
    by_cell = {n: size for n, (shape, size) in made.items() if np.prod(shape) >= cells and n not in by_token}
    padded = corpus.n_words * chain.state.stride
    for unit, n, mine in (("token", corpus.n_tokens, by_token), ("cell", padded, by_cell)):
        listed = ", ".join(f"{name} {size / n:.3g}" for name, size in mine.items())
        print(f"  a {unit:5} {sum(mine.values()) / n:.3g} bytes: {listed}")
    needed = sum(size for _, size in made.values())
    rest = needed - sum(by_token.values()) - sum(by_cell.values())
    print(f"  arrays need {needed / MB:,.0f} MB, {rest / MB:,.1f} MB of it neither by token nor by cell")
    ratio = sampling.most["own"] / needed
    print(f"  own memory at its peak: {ratio:.2f} of that")
    return ratio <= 1.15


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--tokens", type=int, default=30_000_000, help="of the made-up corpus (default %(default)s)"
    )
    parser.add_argument(
        "--words", type=int, default=50_000, help="how many different ones (default %(default)s)"
    )
    parser.add_argument("--topics", type=int, default=20, help="of the model (default %(default)s)")
    parser.add_argument("--sweeps", type=int, default=2, help="of each kernel (default %(default)s)")
    parser.add_argument(
        "--kernels",
        nargs="+",
        default=["sparse", "sparse_pc"],
        help="each in a process of its own (default %(default)s)",
    )
    parser.add_argument("--store", type=Path, help="one that is there; by default one is made")
    parser.add_argument("--only", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.only:
        return 0 if sample(given.store, given.only, given.topics, given.sweeps) else 1
    good = True
    with tempfile.TemporaryDirectory() as folder:
        store = given.store
        if store is None:
            store = Path(folder, "store")
            next(parts(PART, given.words))  # what a part takes, whether it is written or not
            with Peak() as writing:
                write_store(store, parts(given.tokens, given.words))
            size = sum(file.stat().st_size for file in store.iterdir())
            print(f"{given.tokens:,} tokens, {given.words:,} words, {size / MB:,.0f} MB on disk")
            print(f"  write  {writing}, parts of {PART:,} tokens", flush=True)
        for kernel in given.kernels:
            print(f"{kernel}, {given.topics} topics, {given.sweeps} sweeps", flush=True)
            options = ["--store", str(store), "--topics", str(given.topics), "--sweeps", str(given.sweeps)]
            good &= subprocess.run([sys.executable, __file__, "--only", kernel, *options]).returncode == 0
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
