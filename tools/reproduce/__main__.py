"""Tables and figures of the papers, made again.

python -m tools.reproduce NAME ... [--out FOLDER] [--data DIR] [--smoke] [--seed N]
python -m tools.reproduce --list

Each study writes NAME.csv and NAME.png into FOLDER (reproduced/ by default). Without --data, the folder of
public corpora, its corpora are simulated; --smoke makes everything tiny. `all` runs every study.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tools.reproduce import STUDIES
from tools.reproduce.study import Context


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.reproduce", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"all, or some of {', '.join(STUDIES)}")
    parser.add_argument("--out", type=Path, default=Path("reproduced"))
    parser.add_argument("--data", type=Path)
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--list", action="store_true", help="names and what they show")
    given = parser.parse_args(arguments)
    names = list(STUDIES) if given.names == ["all"] else given.names
    unknown = [name for name in names if name not in STUDIES]
    if unknown:
        parser.error(f"no study {unknown[0]!r}; there are {', '.join(STUDIES)}")
    if given.data is not None and not given.data.is_dir():
        parser.error(f"there is no folder {given.data}")
    if given.list or not names:
        for study in STUDIES.values():
            print(f"{study.name:22} {study.shows}")
        return 0
    context = Context(given.out, given.data, given.smoke, given.seed)
    for name in names:
        start = time.perf_counter()
        print(f"== {name}: {STUDIES[name].shows}")
        path = STUDIES[name].run(context)
        print(f"== {path} after {time.perf_counter() - start:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
