"""Whether the p-values of the test suite's statistical tests are uniform, and whether mutants fail.

Runs all tests that are judged by p-values (`pytest -m statistical`, tests/chance.py) with several seeds, on
this machine or with each instruction set (PLUGSAMP_ISA) and core type of OpenBLAS (OPENBLAS_CORETYPE). For
each machine, and for all together, it prints the Kolmogorov-Smirnov p-values of the p-values against the
uniform distribution, how many lie below small levels and which mutants passed. The last line is the verdict:
the command ends with code 1 where a test failed, a mutant passed, small p-values are too many or p-values
are not uniform.

    python tools/suite_pvalues.py --seeds 1201-1250 --in-turn --out p-values.jsonl
    python tools/suite_pvalues.py --seeds 1201-1210 --cross --by 5            # every seed on every machine
    python tools/suite_pvalues.py --seeds 1201-1250                           # this machine as it is
    python tools/suite_pvalues.py --seeds 1201-1203 -- tests/exactness -n 2   # options for pytest
    python tools/suite_pvalues.py --read p-values.jsonl others.jsonl          # what earlier runs have found

Most tests have the same p-values on every machine. With `--in-turn` the first seed runs on every machine,
which shows the tests that depend on the machine; each other seed runs on one machine, one after another, and
those tests on all machines.

The same command continues where it was stopped: what `--out` contains is not run again. A seed takes about
100 s of CPU time. Of checks of the exactness kit, which have no single p-value, the tool counts how often
the first of their two looks saw something.
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
VARIABLES = ("PLUGSAMP_ISA", "OPENBLAS_CORETYPE")
CORES = ("Haswell", "SkylakeX")
LEVELS = (0.1, 0.01, 1e-3, 1e-4)

#: A p-value of a p-value below this fails.
CERTAIN = 1e-4

#: p-values of mutants are below this (tests/chance.py).
SEEN = 1e-3

#: p-values of two machines that differ by more are of a test that depends on the machine.
SAME = 1e-6


def machines() -> list[dict[str, str]]:
    """Every instruction set that this processor has with every core type of OpenBLAS."""
    sets = ORDER[: ORDER.index(instruction_set()) + 1]
    return [dict(zip(VARIABLES, one, strict=True)) for one in product(sets, CORES)]


def name_of(machine: dict[str, str]) -> str:
    chosen = machine or {name: os.environ[name] for name in VARIABLES if name in os.environ}
    return ", ".join(chosen.values()) or "this machine"


def chunks(seeds: str, by: int) -> list[str]:
    """A range of seeds in ranges of `by`."""
    first, _, last = seeds.partition("-")
    first, last = int(first), int(last or first)
    return [f"{one}-{min(one + by - 1, last)}" for one in range(first, last + 1, by)]


def lines_of(file: Path) -> list[dict]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def run(seeds: str, machine: dict[str, str], out: Path, options: list[str], what=()) -> None:
    """Run the statistical tests with some seeds, and add p-values to `out`; `what` is noted with the run."""
    part = out.with_suffix(".part")
    part.unlink(missing_ok=True)
    environment = os.environ | machine
    environment |= {"PLUGSAMP_TEST_SEED": seeds, "PLUGSAMP_TEST_PVALUES": str(part.resolve())}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short"]
    command += ["-m", "statistical and not slow", *options]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True)
    line = done.stdout.strip().splitlines()[-1:]
    print(f"seeds {', '.join((seeds, name_of(machine), *what))}: {''.join(line)}", flush=True)
    if done.returncode:
        print(done.stdout[-6000:], done.stderr[-2000:], flush=True)
    found = [line | {"machine": name_of(machine)} for line in lines_of(part)]
    found.append({"done": [seeds, name_of(machine), *what], "passed": done.returncode == 0})
    with out.open("a") as file:
        file.writelines(json.dumps(line) + "\n" for line in found)
    part.unlink(missing_ok=True)


def uniform(p_values) -> float:
    """p-value of the distribution of some p-values."""
    return float(stats.kstest(p_values, "uniform").pvalue)


def by_seed(lines) -> dict[tuple, dict[str, list[float]]]:
    """p-values of each (test, seed) by machine."""
    found = defaultdict(lambda: defaultdict(list))
    for line in lines:
        if "p" in line:
            found[line["test"], line.get("seed")][line.get("machine")].append(line["p"])
    return found


def differing(lines) -> list[str]:
    """The tests whose p-values with one seed are not the same on all machines."""

    def same(one: dict[str, list[float]]) -> bool:
        first, *others = one.values()
        return all(len(p) == len(first) and np.allclose(p, first, 0, SAME) for p in others)

    return sorted({test for (test, _), one in by_seed(lines).items() if not same(one)})


def agreement(lines) -> None:
    """Print on how many tests and seeds all machines agree, and the tests that depend on the machine."""
    found = by_seed(lines)
    several = [one for one in found.values() if len(one) > 1]
    if several:
        equal = sum(all(p == next(iter(one.values())) for p in one.values()) for one in several)
        print(f"\nof {len(several)} tests and seeds on several machines {equal} are equal to the last digit")
        print(f"tests that differ by more than {SAME:g}:", *differing(lines), sep="\n  ")


def one_machine_each(lines) -> list[dict]:
    """Of the lines of one seed and test those of one machine, which of them depends on the seed.

    The same draws, rounded otherwise, give nearly the same p-values, which would count several times.
    """
    found = defaultdict(set)
    for line in lines:
        found[line["test"], line.get("seed")].add(line.get("machine"))
    chosen = {key: sorted(names)[(key[1] or 0) % len(names)] for key, names in found.items()}
    return [line for line in lines if line.get("machine") == chosen[line["test"], line.get("seed")]]


def table(lines) -> list[str]:
    """Print how p-values are distributed, by machine and of all; return what is wrong with them."""
    done, every = [line for line in lines if "done" in line], defaultdict(list)
    judged = [{"machine": "this machine"} | line for line in lines if "done" not in line]
    for line in judged:
        every[line["machine"]].append(line)
    failed = sum(not line["passed"] for line in done)
    print(f"{len(done)} runs, of which {failed} with a test that failed")
    wrong, level = [f"{failed} runs have a test that failed"] * bool(failed), CERTAIN / (len(every) + 1)
    for machine, found in sorted(every.items()) if len(every) > 1 else ():
        print(f"\n{machine}")
        wrong += [f"{machine}: {what}" for what in table_of(found, 5, level)]
    print("\nall, each test and seed once")
    wrong += table_of(one_machine_each(judged), 25, level)
    agreement(judged)
    return wrong


def table_of(lines, most: int, level: float) -> list[str]:
    """`table` of some lines, with the `most` least uniform tests."""
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
    checks = {}
    if len(every):
        checks["all p-values against the uniform distribution"] = uniform(every)
    if rows:
        checks[f"the least uniform of {len(rows)} tests, by Bonferroni"] = min(1.0, len(rows) * min(rows)[0])
        checks["p-values of the tests against the uniform distribution"] = uniform([row[0] for row in rows])
    for small in LEVELS:
        below = int((every < small).sum())
        p = stats.binom.sf(below - 1, len(every), small) if below else 1.0
        checks[f"{below} p-values below {small:g}, {small * len(every):.1f} expected"] = p
    p = stats.binom.sf(sum(kit) - 1, len(kit), 1e-3) if sum(kit) else 1.0
    checks[f"{sum(kit)} of {len(kit)} checks of the kit saw something at first"] = p
    for what, p in checks.items():
        print(f"{what}: p = {p:.2g}")
    n = sum(map(len, mutants.values()))
    largest = max(map(max, mutants.values()), default=0.0)
    print(f"{n} p-values of {len(mutants)} tests of mutants, the largest {largest:.2g}")
    missed = [f"mutant not seen: {test}, p = {max(p):.2g}" for test, p in mutants.items() if max(p) >= SEEN]
    return [f"{what}: p = {p:.2g}" for what, p in checks.items() if p <= level] + missed


def planned(given, found: list[dict]):
    """(seeds, machine, pytest options, what) of each run, in their order; `found` grows meanwhile."""
    options = given.pytest
    if not given.in_turn:
        every = machines() if given.cross else [{}]
        yield from ((seeds, one, options, ()) for seeds, one in product(chunks(given.seeds, given.by), every))
        return
    every = machines()
    for turn, seed in enumerate(chunks(given.seeds, 1)):
        whole = every if turn == 0 else [every[turn % len(every)]]
        yield from ((seed, one, options, ()) for one in whole)
        if turn and (tests := differing(found)):
            without = [one for one in options if not (ROOT / one.partition("::")[0]).exists()]
            others = [one for one in every if one not in whole]
            yield from ((seed, one, [*without, *tests], ("those that differ",)) for one in others)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", default="101-150", help="a seed, or the first and the last of a range")
    parser.add_argument("--cross", action="store_true", help="with every instruction set and core type")
    parser.add_argument("--in-turn", action="store_true", help="with every one in turn, as said above")
    parser.add_argument("--by", type=int, default=50, help="seeds of a run")
    parser.add_argument("--out", type=Path, default=Path("p-values.jsonl"), help="file to add p-values to")
    parser.add_argument("--read", type=Path, nargs="+", help="show what is in these files and run nothing")
    parser.add_argument("pytest", nargs="*", help="options and paths for pytest, after --")
    given = parser.parse_args()
    if given.read is None:
        found = lines_of(given.out)
        for seeds, machine, options, what in planned(given, found):
            if [seeds, name_of(machine), *what] not in [line.get("done") for line in found]:
                run(seeds, machine, given.out, options, what)
                found[:] = lines_of(given.out)
    wrong = table([line for file in given.read or [given.out] for line in lines_of(file)])
    print("\nverdict:", "; ".join(wrong) or "p-values are uniform, and no mutant passed")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
