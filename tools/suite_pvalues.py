"""Whether the p-values of the test suite's statistical tests are uniform, and whether mutants fail.

Runs all tests that are judged by p-values (`pytest -m statistical`, tests/chance.py) in a subprocess for each
instruction set (PLUGSAMP_ISA) and core type of OpenBLAS (OPENBLAS_CORETYPE), every test with several seeds.
For each test it prints the Kolmogorov-Smirnov p-value of its p-values against the uniform distribution, and
for all tests together how many lie below small levels. Ends with code 1 where a test failed, a mutant passed,
small p-values are too many or p-values are not uniform.

    python tools/suite_pvalues.py --seeds 101-150 --out p-values.jsonl        # this machine as it is
    python tools/suite_pvalues.py --seeds 101-150 --cross                     # every machine
    python tools/suite_pvalues.py --seeds 101-103 -- tests/exactness -n 2     # options for pytest
    python tools/suite_pvalues.py --read p-values.jsonl                       # what earlier runs have found

A seed takes about a minute of CPU time. Of checks of the exactness kit, which have no single p-value, it
counts how often the first of their two looks saw something.
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

#: A p-value of a p-value below this fails.
CERTAIN = 1e-4


def machines() -> list[dict[str, str]]:
    """Every instruction set that this processor has with every core type of OpenBLAS."""
    sets = ORDER[: ORDER.index(instruction_set()) + 1]
    return [{"PLUGSAMP_ISA": isa, "OPENBLAS_CORETYPE": core} for isa, core in product(sets, CORES)]


def run(seeds: str, machine: dict[str, str], out: Path, options: list[str]) -> bool:
    """Run the statistical tests with some seeds, add p-values to `out`, and return whether all passed."""
    environment = os.environ | machine
    environment |= {"PLUGSAMP_TEST_SEED": seeds, "PLUGSAMP_TEST_PVALUES": str(out.resolve())}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short"]
    command += ["-m", "statistical and not slow", *options]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True)
    line = done.stdout.strip().splitlines()[-1:]
    print(f"seeds {seeds}, {', '.join(machine.values()) or 'this machine'}: {''.join(line)}", flush=True)
    if done.returncode:
        print(done.stdout[-6000:], done.stderr[-2000:], flush=True)
    return done.returncode == 0


def uniform(p_values) -> float:
    """p-value of the distribution of some p-values."""
    return float(stats.kstest(p_values, "uniform").pvalue)


def table(lines) -> bool:
    """Print how p-values are distributed; return whether they are as they should be."""
    true, mutants, kit = defaultdict(list), defaultdict(list), []
    for line in lines:
        if "alarm" in line:
            kit.append(line["alarm"])
        else:
            (mutants if line["mutant"] else true)[line["test"]].append(line["p"])
    every = np.concatenate([np.array(p) for p in true.values()]) if true else np.empty(0)
    print(f"\n{len(every)} p-values of {len(true)} tests of what is true")
    rows = [(uniform(p), len(p), np.median(p), min(p), test) for test, p in true.items() if len(p) >= 5]
    print(" uniform    n  median  smallest  test")
    for both, n, median, least, test in sorted(rows)[:25]:
        print(f"{both:8.2g} {n:4d} {median:7.2f} {least:9.2g}  {test}")
    checks = [uniform(every)] if len(every) else []
    if rows:
        checks += [min(1.0, len(rows) * min(rows)[0]), uniform([row[0] for row in rows])]
        print(f"the least uniform of {len(rows)} tests, by Bonferroni: p = {checks[1]:.2g}")
        print(f"those p-values of the tests against the uniform distribution: p = {checks[2]:.2g}")
        print(f"all p-values against the uniform distribution: p = {checks[0]:.2g}")
    for level in LEVELS:
        below = int((every < level).sum())
        checks.append(stats.binom.sf(below - 1, len(every), level) if below else 1.0)
        print(f"below {level:g}: {below} p-values, {level * len(every):.1f} expected (p = {checks[-1]:.2g})")
    print(f"{len(kit)} checks of the exactness kit, of which the first look saw something in {sum(kit)}")
    checks.append(stats.binom.sf(sum(kit) - 1, len(kit), 1e-3) if sum(kit) else 1.0)
    n = sum(map(len, mutants.values()))
    largest = max(map(max, mutants.values()), default=0.0)
    print(f"{n} p-values of {len(mutants)} tests of mutants, the largest {largest:.2g}")
    missed = [(test, max(p)) for test, p in mutants.items() if max(p) >= 1e-3]
    for test, p in missed:
        print(f"  mutant not seen: {test}, p = {p:.2g}")
    return min(checks) > CERTAIN and not missed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", default="101-150", help="a seed, or the first and the last of a range")
    parser.add_argument("--cross", action="store_true", help="with every instruction set and core type")
    parser.add_argument("--out", type=Path, default=Path("p-values.jsonl"), help="file to add p-values to")
    parser.add_argument("--read", type=Path, help="show the p-values of this file and run nothing")
    parser.add_argument("pytest", nargs="*", help="options and paths for pytest, after --")
    given = parser.parse_args()
    passed = True
    if given.read is None:
        for machine in machines() if given.cross else [{}]:
            passed &= run(given.seeds, machine, given.out, given.pytest)
    lines = (given.read or given.out).read_text().splitlines()
    return 0 if table(map(json.loads, lines)) and passed else 1


if __name__ == "__main__":
    raise SystemExit(main())
