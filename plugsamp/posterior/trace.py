"""The trace of a chain: a row a sweep."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from plugsamp.files.tables import Table

#: Columns that say whose a row is.
OWNERS = ("chain", "task")


class Trace(list):
    """Rows, each a dict with what was measured in a sweep; of several chains one after the other.

    Examples
    --------
    >>> from plugsamp.posterior.trace import Trace
    >>> trace = Trace([{"sweep": 1, "log_joint": -9.5}, {"sweep": 2, "log_joint": -8.25}])
    >>> trace[-1]["log_joint"], trace.column("log_joint").tolist()
    (-8.25, [-9.5, -8.25])
    >>> trace
    sweep  log_joint
        1     -9.500
        2     -8.250
    """

    def column(self, name: str) -> np.ndarray:
        """A column as numbers, float64 (rows,), NaN where there is nothing.

        Raises
        ------
        KeyError
            There is no such column; the message lists those that there are.
        """
        if name not in self.columns:
            raise KeyError(f"the trace has no column {name!r}; it has {', '.join(self.columns)}")
        return np.array([np.nan if row.get(name) is None else row[name] for row in self], dtype=float)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self[0]) if self else []

    def table(self) -> Table:
        """The rows as a table."""
        return Table({name: [row.get(name) for row in self] for name in self.columns})

    def to_frame(self):
        """The rows as a pandas.DataFrame."""
        return self.table().to_frame()

    def by_chain(self) -> dict[str, dict[str, np.ndarray]]:
        """Columns of numbers by chain or model; one alone is called ""."""
        owner = next((name for name in OWNERS if name in self.columns), None)
        rows: dict[str, Trace] = {}
        for row in self:
            rows.setdefault("" if owner is None else row[owner], Trace()).append(row)
        return {
            name: {column: part.column(column) for column in part.columns if column not in OWNERS}
            for name, part in rows.items()
        }

    @classmethod
    def of(cls, columns: dict[str, np.ndarray], owner: str = "", name: str = "") -> Trace:
        """Rows of columns of numbers; with an `owner` column each says `name`."""
        names = list(columns)
        whose = {owner: name} if owner else {}
        values = zip(*(columns[column].tolist() for column in names), strict=True)
        return cls(dict(zip(names, map(_plain, names, row), strict=True)) | whose for row in values)

    def _short(self) -> Table:
        shown = [n for n in (*OWNERS, "sweep", "log_joint", "loss", "moved", "seconds") if n in self.columns]
        return Table({name: [row.get(name) for row in self] for name in shown}, formats={"moved": ".1%"})

    def __repr__(self) -> str:
        return repr(self._short()) if self else "an empty trace"

    def _repr_html_(self) -> str:
        return self._short()._repr_html_()


def _plain(name: str, value: float):
    if name == "sweep":
        return int(value)
    return None if value != value else value


def joined(parts: Iterable[Trace]) -> Trace:
    """The rows of several chains, one after the other."""
    return Trace(row for part in parts for row in part)
