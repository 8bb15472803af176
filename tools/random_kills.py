"""Kill runs at random moments, and see that each ends clean and goes on bit-equal.

    python tools/random_kills.py --kills 100
    python tools/random_kills.py --kills 100 --kill any backend=processes backend.workers=2

A run that nothing stops comes first. Then, as often as asked, a run of the same configuration is started,
killed with SIGKILL at a random moment of its sampling, and resumed to its end; now and then the resumed one
is killed too. Counted are

    ended     nothing of the run is left after 5 seconds; where a worker was killed, the parent said so
    equal     the files of the resumed run are those of the run that was not stopped, times apart
    leaks     processes, names in /dev/shm, files half written

Exit code 0 where every kill ended clean and equal, and nothing leaked.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

from plugsamp.cli import main as main_of_plugsamp
from plugsamp.files import lock

#: What runs would import one by one.
for _name in ("commands.run_fit", "commands.resume", "backends.crew", "kernels.composed", "priors.horseshoe"):
    import_module(f"plugsamp.{_name}")

#: Seconds that a run may take to end after a kill.
GRACE = 5.0

#: Of a run, compared byte by byte.
OUTCOME = ("predictions.csv", "weights.csv", "topics.csv", "topics.txt")

OPTIONS = [
    "corpus=jsonl", "corpus.path=documents.jsonl", "corpus.min_df=1", "corpus.stop_words=none", "n_topics=8",
    "checkpoint.sweeps=1", "kernel=light_pc", "weights=horseshoe", "learn_alpha.method=slice",
]  # fmt: skip


@dataclass
class Tally:
    kills: int = 0
    workers: int = 0
    again: int = 0
    ended: int = 0
    equal: int = 0
    leaks: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.kills} kills ({self.workers} of a worker, {self.again} of a resumed run): {self.ended} "
            f"ended clean, {self.equal} went on bit-equal, {len(self.leaks)} leaks"
        )

    @property
    def good(self) -> bool:
        return self.kills == self.ended == self.equal and not self.leaks


def write_documents(path: Path, n: int) -> None:
    """Made-up documents of three kinds."""
    draw = random.Random(0)
    words = [f"word{i}" for i in range(60)]
    with open(path, "w", encoding="utf-8") as out:
        for i in range(n):
            label = i % 3
            text = " ".join(draw.choice(words[20 * label : 20 * label + 30][:30] or words) for _ in range(40))
            split = "test" if i % 5 == 4 else "train"
            out.write(json.dumps({"id": str(i), "label": "abc"[label], "text": text, "split": split}) + "\n")


class Started:
    """`plugsamp` with some arguments, in a session of its own, its words in a file.

    Forked, not spawned: everything is imported here once.
    """

    def __init__(self, folder: Path, arguments: list[str]):
        self.code: int | None = None
        self.pid = os.fork()
        if self.pid:
            return
        code = 70
        try:
            os.setsid()
            os.chdir(folder)
            said = os.open("said.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(said, 1)
            os.dup2(said, 2)
            code = main_of_plugsamp(arguments)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def poll(self) -> int | None:
        if self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.code = os.waitstatus_to_exitcode(status)
        return self.code

    def wait(self, seconds: float = float("inf")) -> int | None:
        """The exit code, or None if it runs on after so many seconds."""
        end = time.monotonic() + seconds
        while self.poll() is None and time.monotonic() < end:
            time.sleep(0.005)
        return self.code


def alive(session: int) -> list[int]:
    """Processes of a session that are no zombies."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            state, _, _, its_session = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
        except OSError:
            continue
        if int(its_session) == session and state != "Z":
            found.append(int(entry.name))
    return sorted(found)


def shared_names() -> set[str]:
    """Names of shared memory but those with the number of a living process: others work here as well."""
    try:
        names = os.listdir("/dev/shm")
    except OSError:
        return set()
    return {n for n in names if not any(Path("/proc", pid).exists() for pid in re.findall(r"\d+", n))}


def n_rows(run: Path) -> int:
    try:
        return max(0, (run / "trace.csv").read_bytes().count(b"\n") - 1)
    except OSError:
        return 0


def kill_at_random(process, folder: Path, draw, seconds: float, whom: str, tally: Tally) -> bool:
    """Wait for sampling, then for a random moment; whether the run was still there to be killed."""
    run = folder / "run"
    rows = n_rows(run)
    while process.poll() is None and n_rows(run) == rows:
        time.sleep(0.002)
    end = time.monotonic() + draw.uniform(0, seconds)
    while process.poll() is None and time.monotonic() < end:
        time.sleep(min(0.002, max(end - time.monotonic(), 0)))
    if process.poll() is not None:
        return False
    workers = [pid for pid in alive(process.pid) if pid != process.pid]
    target = whom if whom != "any" else draw.choice(["parent", "worker", "all"])
    victim = draw.choice(workers) if target == "worker" and workers else process.pid
    try:
        if target == "all":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            os.kill(victim, signal.SIGKILL)
    except ProcessLookupError:
        return False
    tally.kills += 1
    tally.workers += victim != process.pid
    return True


def ends_clean(process, run: Path, names: set[str], tally: Tally) -> None:
    """Count how a run that was hit ends.

    One whose worker is killed when nothing is left to do for it is right to be done, and to say so.
    """
    before = time.monotonic()
    code = process.wait(GRACE)
    while alive(process.pid) and time.monotonic() - before < GRACE:
        time.sleep(0.02)
    left = alive(process.pid)
    if code is None or left:
        tally.leaks.append(f"processes {left or [process.pid]} {GRACE:g} s after the kill")
        for pid in left or [process.pid]:
            os.kill(pid, signal.SIGKILL)
        process.wait()
    elif code == 0 and not (run / "metrics.json").exists():
        tally.wrong.append("a run that was hit ended with exit code 0")
    else:
        tally.ended += 1
    new = shared_names() - names
    if new:
        tally.leaks.append(f"/dev/shm: {', '.join(sorted(new))}")
        names |= new


def timeless(run: Path) -> list:
    with open(run / "trace.csv", newline="") as file:
        return [{k: v for k, v in r.items() if k not in ("seconds", "elapsed")} for r in csv.DictReader(file)]


def differences(one: Path, two: Path) -> list[str]:
    """The files that are not the same."""
    names = [*OUTCOME, *(f"model/{path.name}" for path in (one / "model").iterdir())]
    found = [n for n in names if not (two / n).exists() or (one / n).read_bytes() != (two / n).read_bytes()]
    return found + ([] if timeless(one) == timeless(two) else ["trace.csv"])


def half_written(run: Path) -> list[str]:
    """A lock is none: whoever is killed between the last file and its release leaves it, held by nobody."""
    found = [
        p
        for p in run.rglob(".*")
        if p.name != ".hydra" and not (p.name == lock.NAME and not lock.held(p.parent))
    ]
    return [str(p.relative_to(run)) for p in found]


def one_kill(folder: Path, fit: list[str], draw, seconds: float, whom: str, tally: Tally) -> None:
    """A run, killed and resumed until it is done."""
    run, names = folder / "run", shared_names()
    shutil.rmtree(run, ignore_errors=True)
    process = Started(folder, [*fit, "hydra.run.dir=run"])
    hit = kill_at_random(process, folder, draw, seconds, whom, tally)
    killed = 0
    while True:
        if not hit:
            process.wait()
        else:
            killed += 1
            ends_clean(process, run, names, tally)
        if (run / "metrics.json").exists():  # written last: only its words on the screen may be lacking
            break
        if any((run / "checkpoint").glob("0*-sweep-*")):
            process = Started(folder, ["resume", "run=run"])
        else:  # killed before there was any
            process = Started(folder, [*fit, "hydra.run.dir=run", "overwrite=true"])
        # now and then the one that goes on is killed as well
        hit = draw.random() < 0.2 and kill_at_random(process, folder, draw, seconds / 2, whom, tally)
        tally.again += hit
        if not hit and process.wait() != 0:
            tally.wrong.append("a resumed run failed: " + (folder / "said.txt").read_text()[-400:])
            return
    different = differences(folder / "whole", run)
    if different:
        tally.wrong.append(f"not bit-equal: {', '.join(different)}")
    else:
        tally.equal += killed
    left = half_written(run)
    if left:
        tally.leaks.append(f"files half written: {', '.join(left)}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=20, help="how many (default %(default)s)")
    parser.add_argument(
        "--kill",
        choices=("parent", "worker", "all", "any"),
        default="parent",
        help="whom (default %(default)s)",
    )
    parser.add_argument("--documents", type=int, default=600, help="made up, how many (default %(default)s)")
    parser.add_argument("--sweeps", type=int, default=60, help="of a run (default %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the moments (default %(default)s)")
    parser.add_argument("options", nargs="*", help="of plugsamp fit, such as backend=processes")
    given = parser.parse_args()
    draw, tally = random.Random(given.seed), Tally()
    with tempfile.TemporaryDirectory(prefix="random-kills-") as name:
        folder = Path(name)
        write_documents(folder / "documents.jsonl", given.documents)
        fit = ["fit", *OPTIONS, f"sweeps={given.sweeps}", *given.options]
        whole = Started(folder, [*fit, "hydra.run.dir=whole"])
        if whole.wait() != 0:
            print((folder / "said.txt").read_text(), file=sys.stderr)
            return 1
        seconds = float(list(csv.DictReader(open(folder / "whole/trace.csv")))[-1]["elapsed"])  # noqa: SIM115
        print(f"a run that nothing stops samples for {seconds:.1f} s", flush=True)
        while tally.kills < given.kills:
            one_kill(folder, fit, draw, seconds, given.kill, tally)
            if tally.kills % 10 == 0 or tally.wrong:
                print(tally, flush=True)
            if len(tally.wrong) > 5:
                break
    print(tally)
    for line in (*tally.wrong, *tally.leaks):
        print(" ", line)
    return 0 if tally.good else 1


if __name__ == "__main__":
    sys.exit(main())
