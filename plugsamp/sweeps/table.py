"""The jobs of a sweep folder as one table, read from what each left in its run folder."""

from __future__ import annotations

import io
import os
import re
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from plugsamp.errors import InputWarning
from plugsamp.files import csv_files
from plugsamp.files.whole import complete, read_object
from plugsamp.fitting.runfolder import CONFIG
from plugsamp.sweeps import metric as metrics_by_name
from plugsamp.sweeps import status as statuses
from plugsamp.sweeps.options import option_columns, option_values

#: The table of a sweep folder, in it.
NAME = "sweep.csv"

#: What a sweep was started as, in its folder.
PLAN = "sweep.json"

#: Columns that a run has whatever its task.
OF_ALL = ("log_joint", "tokens_per_second", "seconds")

#: Beside those of `plugsamp.sweeps.status`.
REFUSED, NOT_STARTED = "refused", "not started"

#: The order of the table below the jobs that are done.
ORDER = (
    statuses.DONE, statuses.RUNNING, statuses.INTERRUPTED, statuses.KILLED, statuses.FAILED, REFUSED,
    NOT_STARTED,
)  # fmt: skip


@dataclass(frozen=True)
class Job:
    """One run of a sweep.

    Attributes
    ----------
    folder : str
        Relative to the sweep's; empty where it never had one.
    overrides : tuple of str
        The options that it was given.
    status : str
        done, running, failed, interrupted, killed, refused (its folder held another run), not started.
    error : str or None
        What it failed of.
    metrics : dict
        metrics.json; empty where the run is not done.
    config : dict
        config.yaml, for options that others were given and it was not.
    record : dict
        status.json.
    damaged : tuple of str
        Files of the run that cannot be read.
    """

    folder: str
    overrides: tuple[str, ...]
    status: str
    error: str | None = None
    metrics: Mapping = field(default_factory=dict, repr=False)
    config: Mapping = field(default_factory=dict, repr=False)
    record: Mapping = field(default_factory=dict, repr=False)
    damaged: tuple[str, ...] = ()

    @property
    def mistake(self) -> bool:
        """Whether it failed of something that the user can put right."""
        return self.status == REFUSED or self.record.get("mistake") is True


class SweepTable:
    """Jobs, the best first and those without an outcome last.

    Parameters
    ----------
    jobs : iterable of Job
    metric : str
        What they are sorted by: ``main``, the measure of the task; a measure such as ``log_loss`` (of the
        test documents, or without any of the training ones), ``train_accuracy``, ``seconds``.

    Attributes
    ----------
    jobs : list of Job
    rows : list of dict
        A row a job, with the keys of `columns`, None where there is nothing: options, measures
        (``test_accuracy`` and so on), ``log_joint`` of the last sweep, ``tokens_per_second`` of the sweeps,
        ``seconds`` of sampling with its start, ``wall_seconds`` of the whole job, ``status``, ``error``,
        ``folder``.
    columns : list of str
    options, measures : list of str
        The columns that are options, and measures.
    varied : list of str
        The options whose values differ between jobs.
    damaged : list of str
        Files of the jobs that cannot be read.

    Raises
    ------
    ValueError
        There is no such metric.
    """

    def __init__(self, jobs: Iterable[Job], metric: str = metrics_by_name.MAIN):
        self.metric = metrics_by_name.check(metric)
        jobs = list(jobs)
        self.damaged = [file for job in jobs for file in job.damaged]
        kinds = list(
            dict.fromkeys(job.metrics.get("main_name") for job in jobs)
        )  # not compared with each other
        better = metrics_by_name.better(metric)

        def place(job: Job):
            value = metrics_by_name.value(job.metrics, metric)
            kind = kinds.index(job.metrics.get("main_name")) if metric == metrics_by_name.MAIN else 0
            best = 0.0 if value is None else -better(value)
            return ORDER.index(job.status), value is None, kind, best

        self.jobs = sorted(jobs, key=place)
        self.options = option_columns(job.overrides for job in self.jobs)
        found = [metrics_by_name.measures(job.metrics) for job in self.jobs]
        self.measures = list(dict.fromkeys(name for one in found for name in one))
        if metric not in (metrics_by_name.MAIN, *OF_ALL, *self.measures):
            self.measures.insert(0, metric)
        self.rows = [self._row(job, measures) for job, measures in zip(self.jobs, found, strict=True)]
        ends = [*OF_ALL, "wall_seconds", "status", "error", "folder"]
        self.columns = [*self.options, *self.measures, *ends]
        self.varied = [o for o in self.options if len({str(row[o]) for row in self.rows}) > 1]

    def _row(self, job: Job, measures: Mapping) -> dict:
        row = option_values(self.options, job.overrides, job.config)
        row |= {name: measures.get(name) for name in self.measures}
        if self.metric in self.measures and row[self.metric] is None:
            row[self.metric] = metrics_by_name.value(job.metrics, self.metric)
        return row | {
            **{name: metrics_by_name.value(job.metrics, name) for name in OF_ALL},
            "wall_seconds": job.record.get("wall_seconds"),
            "status": job.status,
            "error": job.error,
            "folder": job.folder or None,
        }

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def failed(self) -> list[Job]:
        """The jobs that have no outcome and are not on their way to one, and those with damaged files."""
        fine = (statuses.DONE, statuses.RUNNING)
        return [job for job in self.jobs if job.status not in fine or job.damaged]

    def write(self, path) -> None:
        """Write it as CSV, complete or not at all."""
        with complete(path, errors="backslashreplace", newline="") as file:
            self._write(file)

    def csv(self) -> str:
        """It as CSV."""
        file = io.StringIO(newline="")
        self._write(file)
        return file.getvalue()

    def _write(self, file) -> None:
        writer = csv_files.writer(file)
        writer.writerow(self.columns)
        for row in self.rows:
            writer.writerow(["" if row[name] is None else _cell(row[name]) for name in self.columns])


def sweep_table(folder, metric: str = metrics_by_name.MAIN) -> SweepTable:
    """The table of a sweep, or of any folder with runs below it, whether or not they are done.

    Parameters
    ----------
    folder : path-like
    metric : str
        See `SweepTable`.

    Raises
    ------
    ValueError
        There is no such folder or metric, or no run in the folder.

    Warns
    -----
    InputWarning
        A file of a run is damaged.

    Examples
    --------
    >>> import plugsamp as ps
    >>> table = ps.sweep_table("multirun/mine")                                          # doctest: +SKIP
    >>> [(row["n_topics"], row["test_accuracy"]) for row in table.rows]                  # doctest: +SKIP
    [(50, 0.78), (20, 0.74)]
    """
    metrics_by_name.check(metric)
    root = Path(folder)
    if not root.is_dir():
        raise ValueError(f"there is no folder {root}")
    jobs = jobs_of(root)
    if not jobs:
        raise ValueError(f"{root} has no run in it, nor in the folders below")
    table = SweepTable(jobs, metric)
    if table.damaged:
        warnings.warn(f"{', '.join(table.damaged)}: damaged, and not read", InputWarning, stacklevel=2)
    return table


def jobs_of(root: Path, sweep: str | None = None) -> list[Job]:
    """The jobs below a folder in the order of their folders, then those that were planned and never begun.

    `sweep` is the call whose refused jobs are wanted: the folders of those are other runs'.
    """
    jobs = []
    for path in _run_folders(root):
        name = path.relative_to(root).as_posix()
        status, record = statuses.status_of(path)
        if {statuses.STATUS, "metrics.json"} & {file.name for file in path.iterdir()}:
            jobs.append(_job(path, name, status, record))
        refused = read_object(path / statuses.REFUSED)
        if sweep is not None and refused.get("sweep") == sweep:
            jobs.append(Job(name, _strings(refused.get("overrides")), REFUSED, str(refused.get("error"))))
    begun = {frozenset(job.overrides) for job in jobs}
    planned = read_object(root / PLAN).get("jobs")
    for overrides in planned if isinstance(planned, list) else ():
        if frozenset(_strings(overrides)) not in begun:
            jobs.append(Job("", _strings(overrides), NOT_STARTED))
    if statuses.damaged(root / PLAN):
        jobs.append(Job("", (), NOT_STARTED, f"{PLAN} is damaged", damaged=(str(root / PLAN),)))
    return jobs


def _job(path: Path, name: str, status: str | None, record: Mapping) -> Job:
    metrics = read_object(path / "metrics.json")  # written last: a folder that has it is complete
    config = _yaml(path / CONFIG)
    broken = [file for file in (statuses.STATUS, "metrics.json") if statuses.damaged(path / file)]
    if statuses.STATUS not in broken and record and status not in statuses.STATUSES:
        broken.insert(0, statuses.STATUS)
    if (path / CONFIG).exists() and not isinstance(config, Mapping):
        broken.append(CONFIG)
    error = record.get("error")
    if status not in statuses.STATUSES and metrics:
        status = statuses.DONE
    elif status not in statuses.STATUSES or (status == statuses.DONE and not metrics):
        status, error = statuses.FAILED, None if broken else "metrics.json is missing"
    if broken:
        error = f"{' and '.join(broken)} {'is' if len(broken) == 1 else 'are'} damaged"
    overrides = record.get("overrides")
    if overrides is None:  # a run of an older plugsamp
        overrides = _yaml(path / ".hydra" / "overrides.yaml")
    return Job(
        name,
        _strings(overrides),
        status,
        error if status != statuses.DONE or broken else None,
        metrics if status == statuses.DONE else {},
        config if isinstance(config, Mapping) else {},
        record,
        tuple(str(path / file) for file in broken),
    )


def _run_folders(root: Path) -> list[Path]:
    found = []
    for where, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".")]
        run = {statuses.STATUS, statuses.REFUSED} & set(files) or {"metrics.json", CONFIG} <= set(files)
        if run:
            found.append(Path(where))
            if where != str(root):
                folders.clear()
    return sorted(found, key=_natural)


def _natural(path: Path) -> list:
    """2 before 10."""
    return [
        (0, int(part), "") if part.isdecimal() else (1, 0, part) for part in re.split(r"(\d+)", str(path))
    ]


def _yaml(path: Path):
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError):
        return None


def _strings(found) -> tuple[str, ...]:
    return tuple(str(one) for one in found) if isinstance(found, list | tuple) else ()


def _cell(value) -> str:
    return repr(value) if isinstance(value, float) else str(value)
