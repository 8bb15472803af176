"""Tables and figures of the papers, made again.

python -m tools.reproduce NAME ... [--out FOLDER] [--data DIR] [--tokens N] [--smoke] [--seed N]
python -m tools.reproduce --list
python -m tools.reproduce --claims [NAME ...] [--out FOLDER]
python -m tools.reproduce --redraw [NAME ...] [--out FOLDER]

Each study writes NAME.csv, NAME.png and NAME.md (what the paper says, and what came out) into FOLDER (by
default reproduced/, or reproduced/smoke/). Without --data, the folder of public corpora, its corpora are
simulated; --smoke makes everything tiny, and simulated too: tables and pictures say so. `all` runs every
study. --claims prints the claims of every study that has left its CSV in FOLDER (after a smoke run: --claims
--smoke), and --redraw makes pictures and claims anew from the CSVs; both run nothing.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from pathlib import Path

from plugsamp.errors import InputError
from tools.reproduce import STUDIES
from tools.reproduce.claims import table
from tools.reproduce.study import Context

#: Where results go by default, and those of smoke runs.
FOLDER, SMOKE = Path("reproduced"), Path("reproduced", "smoke")


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
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help=f"what is written to; {FOLDER}, or {SMOKE} of --smoke"
    )
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="the real corpora; without it documents are simulated"
    )
    parser.add_argument("--smoke", action="store_true", help="tiny, on simulated documents: does it all run")
    parser.add_argument(
        "--tokens", type=_from(1), metavar="N", help="of larger corpora, random documents of so many tokens"
    )
    parser.add_argument(
        "--seed", type=_from(0), default=0, metavar="N", help="of documents and chains (default 0)"
    )
    parser.add_argument("--list", action="store_true", help="names and what they show")
    parser.add_argument("--claims", action="store_true", help="print what the papers say and what came out")
    parser.add_argument("--redraw", action="store_true", help="pictures and claims anew, from the CSVs")
    given = parser.parse_args(arguments)
    names = list(STUDIES) if given.names == ["all"] else given.names
    unknown = [name for name in names if name not in STUDIES]
    if unknown:
        parser.error(f"no study {unknown[0]!r}; there are {', '.join(STUDIES)}")
    if given.data is not None and not given.data.is_dir():
        parser.error(f"there is no folder {given.data}")
    if given.claims or given.redraw:
        return again(parser, given, names)
    if given.list or not names:
        for study in STUDIES.values():
            print(f"{study.name:22} {study.shows}")
        return 0
    if given.out is None:
        given.out = SMOKE if given.smoke else FOLDER
    context = Context(given.out, given.data, given.smoke, given.seed, given.tokens)
    failed = 0
    for name in names:
        start = time.perf_counter()
        print(f"== {name}: {STUDIES[name].shows}")
        if context.note:
            print(f"== {context.note}")
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
    if failed < len(names):
        where = "" if given.out in (FOLDER, SMOKE) else f" --out {shlex.quote(str(given.out))}"
        smoke = " --smoke" if given.out == SMOKE else ""
        print(f"== what came of it: python -m tools.reproduce --claims{smoke}{where}")
    return 1 if failed else 0


def again(parser, given, names) -> int:
    """Claims, or pictures too, of the studies that have left their rows."""
    folders = [given.out] if given.out is not None else [SMOKE] if given.smoke else [FOLDER, SMOKE]
    for folder in folders:
        there = [s for s in STUDIES.values() if (folder / f"{s.name}.csv").exists()]
        there = [study for study in there if not names or study.name in names]
        if there:
            break
    else:
        where = ", nor in ".join(map(str, folders))
        hint = "" if given.out is None else f"; without --out those of {FOLDER} or {SMOKE}"
        parser.error(f"no study of these has left a CSV in {where}{hint}")
    if given.redraw:
        for study in there:
            study.show(folder)
    if given.claims:
        notes: dict[str, list[str]] = {}
        for study in there:
            notes.setdefault(study.note(folder), []).append(study.name)
        for note, studies in notes.items():
            if note:
                which = "" if len(notes) == 1 else f" ({', '.join(studies)})"
                print(f"**{note}**{which}\n")
        print(table(claim for study in there for claim in study.found(folder)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
