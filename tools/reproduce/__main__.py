"""Tables and figures of the papers, made again.

python -m tools.reproduce NAME ... [--out FOLDER] [--data DIR] [--tokens N] [--smoke] [--seed N]
python -m tools.reproduce --list
python -m tools.reproduce --claims [NAME ...] [--out FOLDER]
python -m tools.reproduce --redraw [NAME ...] [--out FOLDER]

Each study writes NAME.csv, NAME.png and NAME.md (what the paper says, and what came out) into FOLDER (by
default reproduced/, or reproduced/smoke/). Without --data, the folder of public corpora, its corpora are
simulated; --smoke makes everything tiny. `all` runs every study. --claims prints the claims of every study
that has left its CSV in FOLDER, and --redraw makes pictures and claims anew from the CSVs; both run nothing.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from plugsamp.errors import InputError
from tools.reproduce import STUDIES
from tools.reproduce.claims import table
from tools.reproduce.study import Context


def _from(least: int):
    def number(text: str) -> int:
        if not (text.isdecimal() and int(text) >= least):
            raise argparse.ArgumentTypeError(f"must be a whole number, {least} or more, not {text!r}")
        return int(text)

    return number


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.reproduce", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"all, or some of {', '.join(STUDIES)}")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument(
        "--tokens", type=_from(1), help="of larger corpora, random documents of so many tokens"
    )
    parser.add_argument("--seed", type=_from(0), default=0)
    parser.add_argument("--list", action="store_true", help="names and what they show")
    parser.add_argument("--claims", action="store_true", help="print what the papers say and what came out")
    parser.add_argument("--redraw", action="store_true", help="pictures and claims anew, from the CSVs")
    given = parser.parse_args(arguments)
    if given.out is None:
        given.out = Path("reproduced", "smoke") if given.smoke else Path("reproduced")
    names = list(STUDIES) if given.names == ["all"] else given.names
    unknown = [name for name in names if name not in STUDIES]
    if unknown:
        parser.error(f"no study {unknown[0]!r}; there are {', '.join(STUDIES)}")
    if given.data is not None and not given.data.is_dir():
        parser.error(f"there is no folder {given.data}")
    if given.claims or given.redraw:
        there = [s for s in STUDIES.values() if (given.out / f"{s.name}.csv").exists()]
        there = [study for study in there if not names or study.name in names]
        if not there:
            parser.error(f"no study of these has left a CSV in {given.out}")
        if given.redraw:
            for study in there:
                study.show(given.out)
        if given.claims:
            print(table(claim for study in there for claim in study.found(given.out)))
        return 0
    if given.list or not names:
        for study in STUDIES.values():
            print(f"{study.name:22} {study.shows}")
        return 0
    context = Context(given.out, given.data, given.smoke, given.seed, given.tokens)
    failed = 0
    for name in names:
        start = time.perf_counter()
        print(f"== {name}: {STUDIES[name].shows}")
        try:
            path = STUDIES[name].run(context)
        except KeyboardInterrupt:
            print(f"== {name} stopped; rows so far are in {given.out / name}.part.csv", file=sys.stderr)
            return 130
        except (InputError, OSError) as error:  # a corpus that is not there, a folder that cannot be written
            print(f"== {name}: {error}", file=sys.stderr)
            failed += 1
            continue
        print(f"== {path} after {time.perf_counter() - start:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
