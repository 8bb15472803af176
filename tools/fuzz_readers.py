"""Damage files at random and read them, for as long as you like: every reader, and the model loader.

    python tools/fuzz_readers.py --minutes 60
    python tools/fuzz_readers.py --only csv --seed 7 --case 1234      one case again, with its files

Prints how many cases of each format were read, and every fault: an exception that is not plugsamp's own, an
error that names no file, a wait, or memory out of proportion. Exit code 1 where there was one.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import tracemalloc
from collections import Counter
from pathlib import Path

from plugsamp.testing import fuzz
from plugsamp.testing.fuzz_targets import targets

#: Cases of a format before the next has its turn.
TURN = 50


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=1.0, help="how long (default %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the damage (default %(default)s)")
    parser.add_argument("--only", help="formats whose names contain this")
    parser.add_argument("--case", type=int, help="this one case alone, its files written to ./case")
    options = parser.parse_args()
    chosen = [t for t in targets() if options.only is None or options.only in t.name]
    if not chosen:
        print(f"no format's name contains {options.only!r}", file=sys.stderr)
        return 2
    if options.case is not None:
        return again(chosen[0], options.seed, options.case)
    tracemalloc.start()
    done, found, kinds = Counter(), [], set()
    end, first = time.monotonic() + 60 * options.minutes, 0
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < end:
            for target in chosen:
                n, wrong = fuzz.faults(target, Path(folder), range(first, first + TURN), options.seed)
                done[target.name] += n
                for fault in wrong:
                    found.append(fault)
                    kind = (fault.target, fault.what.partition("(")[0][:60])
                    if kind not in kinds:  # the first of its kind
                        kinds.add(kind)
                        print(fault, flush=True)
                if time.monotonic() >= end:
                    break
            first += TURN
    for name, n in sorted(done.items()):
        print(f"{n:9,}  {name}")
    print(f"{done.total():9,}  cases with seed {options.seed}, {len(found)} faults of {len(kinds)} kinds")
    return int(bool(found))


def again(target: fuzz.Target, seed: int, case: int) -> int:
    files = fuzz.damaged(target, seed, case)
    folder = Path("case")
    fuzz.write(files, folder)
    for name, data in files.items():
        print(f"{folder / name}: {len(data)} bytes{'' if data == target.files.get(name) else ', changed'}")
    print(target.read(folder))  # with the traceback, if any
    return 0


if __name__ == "__main__":
    sys.exit(main())
