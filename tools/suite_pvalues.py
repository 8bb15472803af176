"""Whether the p-values of the test suite's statistical tests are uniform, and whether mutants fail.

Runs all tests that are judged by p-values (`pytest -m statistical`, tests/chance.py) in subprocesses, with
several seeds, instruction sets (PLUGSAMP_ISA) and core types of OpenBLAS (OPENBLAS_CORETYPE). For each test
it prints the Kolmogorov-Smirnov p-value of its p-values against the uniform distribution, and for all tests
together how many lie below small levels. Ends with code 1 where a test failed, a mutant passed or small
p-values are too many.

    python tools/suite_pvalues.py --seeds 50 --out p-values.jsonl      # seeds and machines in turn: 50 runs
    python tools/suite_pvalues.py --seeds 50 --cross                   # every seed on every machine: 300 runs
    python tools/suite_pvalues.py --read p-values.jsonl                # what earlier runs have found

A run takes two to four minutes of CPU time. Where the smallest of several p-values that depend on one
another is taken, small ones are too few rather than too many: such a test is valid, and its two-sided
p-value is small.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import defaultdict
from itertools import product
from pathlib import Path

import numpy as np
from scipy import stats

from plugsamp.system.dispatch import ORDER, instruction_set

ROOT = Path(__file__).resolve().parents[1]
CORES = ("Haswell", "SkylakeX")
LEVELS = (0.1, 0.01, 1e-3, 1e-4)


def machines() -> list[tuple[str, str]]:
    """Pairs of an instruction set that this processor has and a core type of OpenBLAS."""
    return list(product(ORDER[: ORDER.index(instruction_set()) + 1], CORES))


def run(seed: int, isa: str, core: str, out: Path, options: list[str]) -> bool:
    """Run the statistical tests once, add their p-values to `out`, and return whether all passed."""
    environment = os.environ | {
        "PLUGSAMP_TEST_SEED": str(seed), "PLUGSAMP_TEST_PVALUES": str(out.resolve()),
        "PLUGSAMP_ISA": isa, "OPENBLAS_CORETYPE": core,
    }  # fmt: skip
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short"]
    command += ["-m", "statistical and not slow", *options]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True)
    line = done.stdout.strip().splitlines()[-1:]
    print(f"seed {seed}, {isa}, {core}: {''.join(line)}", flush=True)
    if done.returncode:
        print(done.stdout[-6000:], done.stderr[-2000:], flush=True)
    return done.returncode == 0


def table(lines) -> bool:
    """Print how p-values are distributed; return whether they are as they should be."""
    true, mutants = defaultdict(list), defaultdict(list)
    for line in lines:
        (mutants if line["mutant"] else true)[line["test"]].append(line["p"])
    pooled = np.concatenate([np.array(p) for p in true.values()]) if true else np.empty(0)
    print(f"\n{len(pooled)} p-values of {len(true)} tests of what is true")
    rows = []
    for test, p in true.items():
        p = np.array(p)
        if len(p) >= 5 and len(np.unique(p)) > 1:
            less = stats.kstest(p, "uniform", alternative="greater").pvalue  # too many small ones
            rows.append((less, stats.kstest(p, "uniform").pvalue, len(p), np.median(p), p.min(), test))
    rows.sort()
    print("too small  two-sided    n  median  smallest  test")
    for less, both, n, median, least, test in rows[:25]:
        print(f"{less:9.2g} {both:10.2g} {n:4d} {median:7.2f} {least:9.2g}  {test}")
    if rows:
        expected = min(1.0, len(rows) * rows[0][0])
        print(f"smallest of {len(rows)} tests for too small p-values, by Bonferroni: {expected:.2g}")
    good = True
    for level in LEVELS:
        below = int((pooled < level).sum())
        p = stats.binom.sf(below - 1, len(pooled), level) if below else 1.0
        print(f"below {level:g}: {below} p-values, {level * len(pooled):.1f} expected (p = {p:.2g})")
        good &= bool(p > 1e-4)
    print(f"all against the uniform distribution: p = {stats.kstest(pooled, 'uniform').pvalue:.2g}")
    tests = max(len(true), 1)
    print(f"chance of a false failure of these {tests} tests on one machine: {tests * 1e-8:.1g}")
    missed = [(test, max(p)) for test, p in mutants.items() if max(p) >= 1e-3]
    n = sum(map(len, mutants.values()))
    largest = max(map(max, mutants.values()), default=0.0)
    print(f"{n} p-values of {len(mutants)} tests of mutants, the largest {largest:.2g}")
    for test, p in missed:
        print(f"  mutant not seen: {test}, p = {p:.2g}")
    return good and not missed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=50, help="how many seeds")
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument(
        "--cross", action="store_true", help="every seed with every instruction set and core type"
    )
    parser.add_argument("--out", type=Path, default=Path("p-values.jsonl"), help="file to add p-values to")
    parser.add_argument("--read", type=Path, help="show the p-values of this file and run nothing")
    parser.add_argument("pytest", nargs="*", help="options and paths for pytest, after --")
    given = parser.parse_args()
    passed = True
    if given.read is None:
        every = machines()
        for number, seed in enumerate(range(given.first, given.first + given.seeds)):
            for isa, core in every if given.cross else [every[number % len(every)]]:
                passed &= run(seed, isa, core, given.out, given.pytest)
    lines = (given.read or given.out).read_text().splitlines()
    return 0 if table(map(json.loads, lines)) and passed else 1


if __name__ == "__main__":
    raise SystemExit(main())
