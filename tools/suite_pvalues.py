"""Whether the p-values of the test suite's statistical tests are uniform, and whether mutants fail.

Runs all tests that are judged by p-values (`pytest -m statistical`, tests/chance.py) in a subprocess for each
instruction set (PLUGSAMP_ISA) and core type of OpenBLAS (OPENBLAS_CORETYPE), every test with several seeds.
For each test it prints the Kolmogorov-Smirnov p-value of its p-values against the uniform distribution, for
each machine that of all its p-values, and for all together how many lie below small levels and how many are
the same on every machine to the last digit. Ends with code 1 where a test failed, a mutant passed, small
p-values are too many or p-values are not uniform.

    python tools/suite_pvalues.py --seeds 101-150 --out p-values.jsonl        # this machine as it is
    python tools/suite_pvalues.py --seeds 101-150 --cross --by 5              # every machine, in turn
    python tools/suite_pvalues.py --seeds 101-103 -- tests/exactness -n 2     # options for pytest
    python tools/suite_pvalues.py --read p-values.jsonl                       # what earlier runs have found

The same command goes on where it was stopped: what `--out` has is not run again. A seed takes about a minute
of CPU time. Of checks of the exactness kit, which have no single p-value, it counts how often the first of
their two looks saw something.
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


def name_of(machine: dict[str, str]) -> str:
    return ", ".join(machine.values()) or "this machine"


def chunks(seeds: str, by: int) -> list[str]:
    """A range of seeds in ranges of `by`."""
    first, _, last = seeds.partition("-")
    first, last = int(first), int(last or first)
    return [f"{one}-{min(one + by - 1, last)}" for one in range(first, last + 1, by)]


def lines_of(file: Path) -> list[dict]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def run(seeds: str, machine: dict[str, str], out: Path, options: list[str]) -> bool:
    """Run the statistical tests with some seeds, add p-values to `out`, and return whether all passed."""
    part = out.with_suffix(".part")
    part.unlink(missing_ok=True)
    environment = os.environ | machine
    environment |= {"PLUGSAMP_TEST_SEED": seeds, "PLUGSAMP_TEST_PVALUES": str(part.resolve())}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short"]
    command += ["-m", "statistical and not slow", *options]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True)
    line = done.stdout.strip().splitlines()[-1:]
    print(f"seeds {seeds}, {name_of(machine)}: {''.join(line)}", flush=True)
    if done.returncode:
        print(done.stdout[-6000:], done.stderr[-2000:], flush=True)
    passed = done.returncode == 0
    found = [line | {"machine": name_of(machine)} for line in lines_of(part)]
    found.append({"done": [seeds, name_of(machine)], "passed": passed})
    with out.open("a") as file:
        file.writelines(json.dumps(line) + "\n" for line in found)
    part.unlink(missing_ok=True)
    return passed


def uniform(p_values) -> float:
    """p-value of the distribution of some p-values."""
    return float(stats.kstest(p_values, "uniform").pvalue)


def agreement(judged) -> None:
    """Print on how many tests and seeds all machines agree."""
    machines, found = set(), defaultdict(lambda: defaultdict(list))
    for line in judged:
        machine = line.get("machine")
        machines.add(machine)
        found[line["test"], line.get("seed")][machine].append(line["p"])
    both = [list(one.values()) for one in found.values() if len(one) == len(machines) > 1]
    if both:
        same = sum(all(p == one[0] for p in one) for one in both)
        near = sum(
            all(len(p) == len(one[0]) and np.allclose(p, one[0], 0, 1e-6) for p in one) for one in both
        )
        print(f"of {len(both)} tests and seeds on all: {same} the same to the last digit, {near} to 1e-6")


def table(lines) -> bool:
    """Print how the p-values of each machine are distributed; return whether they are as they should be.

    One machine after another: the same draws rounded otherwise give nearly the same p-values, which would
    count several times.
    """
    done, every = [line for line in lines if "done" in line], defaultdict(list)
    for line in lines:
        if "done" not in line:
            every[line.get("machine", "this machine")].append(line)
    print(f"{len(done)} runs, of which {sum(not line['passed'] for line in done)} with a test that failed")
    good = True
    for machine, found in sorted(every.items()):
        print(f"\n{machine}")
        good &= table_of(found, 25 if len(every) == 1 else 5, CERTAIN / len(every))
    agreement([line for line in lines if "p" in line])
    return good


def table_of(lines, most: int, level: float) -> bool:
    """`table` of one machine, with the `most` least uniform tests."""
    true, mutants = defaultdict(list), defaultdict(list)
    kit = [line["alarm"] for line in lines if "alarm" in line]
    for line in lines:
        if "p" in line:
            (mutants if line["mutant"] else true)[line["test"]].append(line["p"])
    every = np.concatenate([np.array(p) for p in true.values()]) if true else np.empty(0)
    print(f"{len(every)} p-values of {len(true)} tests of what is true")
    rows = [(uniform(p), len(p), np.median(p), min(p), test) for test, p in true.items() if len(p) >= 5]
    if rows:
        print(" uniform    n  median  smallest  test")
    for both, n, median, least, test in sorted(rows)[:most]:
        print(f"{both:8.2g} {n:4d} {median:7.2f} {least:9.2g}  {test}")
    checks = [uniform(every)] if len(every) else []
    if len(every):
        print(f"all p-values against the uniform distribution: p = {checks[0]:.2g}")
    if rows:
        checks += [min(1.0, len(rows) * min(rows)[0]), uniform([row[0] for row in rows])]
        print(f"the least uniform of {len(rows)} tests, by Bonferroni: p = {checks[1]:.2g}")
        print(f"those p-values of the tests against the uniform distribution: p = {checks[2]:.2g}")
    for small in LEVELS:
        below = int((every < small).sum())
        checks.append(stats.binom.sf(below - 1, len(every), small) if below else 1.0)
        print(f"below {small:g}: {below} p-values, {small * len(every):.1f} expected (p = {checks[-1]:.2g})")
    print(f"{len(kit)} checks of the exactness kit, of which the first look saw something in {sum(kit)}")
    checks.append(stats.binom.sf(sum(kit) - 1, len(kit), 1e-3) if sum(kit) else 1.0)
    n = sum(map(len, mutants.values()))
    largest = max(map(max, mutants.values()), default=0.0)
    print(f"{n} p-values of {len(mutants)} tests of mutants, the largest {largest:.2g}")
    missed = [(test, max(p)) for test, p in mutants.items() if max(p) >= 1e-3]
    for test, p in missed:
        print(f"  mutant not seen: {test}, p = {p:.2g}")
    return min(checks, default=1.0) > level and not missed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", default="101-150", help="a seed, or the first and the last of a range")
    parser.add_argument("--cross", action="store_true", help="with every instruction set and core type")
    parser.add_argument("--by", type=int, default=50, help="seeds of a run")
    parser.add_argument("--out", type=Path, default=Path("p-values.jsonl"), help="file to add p-values to")
    parser.add_argument("--read", type=Path, help="show the p-values of this file and run nothing")
    parser.add_argument("pytest", nargs="*", help="options and paths for pytest, after --")
    given = parser.parse_args()
    passed = True
    if given.read is None:
        before = [line["done"] for line in lines_of(given.out) if "done" in line]
        for seeds, machine in product(chunks(given.seeds, given.by), machines() if given.cross else [{}]):
            if [seeds, name_of(machine)] not in before:
                passed &= run(seeds, machine, given.out, given.pytest)
    lines = lines_of(given.read or given.out)
    return 0 if table(lines) and passed and all(line.get("passed", True) for line in lines) else 1


if __name__ == "__main__":
    raise SystemExit(main())
