"""When checkpoints are written, and where."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from plugsamp.checks import is_number, whole


@dataclass(frozen=True)
class Checkpoints:
    """Checkpoints of a fit: whichever of `sweeps` and `minutes` comes first writes one.

    One is written after the last sweep too, and when the process gets SIGINT, SIGTERM or SIGHUP. The two
    newest are kept, so that a damaged one can be done without.

    Parameters
    ----------
    folder : path-like or None
        Made where there is none. One process at a time writes to it. None keeps the state after the last
        sweep in this object, as plain arrays that can be pickled; it takes no signals.
    sweeps : int, optional
        Sweeps between checkpoints; None: by the clock alone.
    minutes : float, optional
        Minutes between checkpoints; None: by sweeps alone.
    keep : bool
        Keep the last checkpoint of a fit that is done, from which it goes on where `sweeps` is raised.

    Raises
    ------
    ValueError

    Examples
    --------
    >>> import numpy as np, plugsamp as ps
    >>> corpus = ps.Corpus.from_counts(np.array([[3, 0, 1], [0, 2, 2]]))
    >>> place = ps.Checkpoints(None)
    >>> half = ps.fit(corpus, ps.Model(2), sweeps=4, checkpoint=place)
    >>> whole = ps.fit(corpus, ps.Model(2), sweeps=8, checkpoint=place, resume=True)
    >>> whole.digest == ps.fit(corpus, ps.Model(2), sweeps=8).digest
    True
    """

    folder: str | Path | None
    sweeps: int | None = None
    minutes: float | None = 5.0
    keep: bool = True
    states: dict = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self):
        if self.folder is not None:
            object.__setattr__(self, "folder", Path(self.folder))
        if self.sweeps is not None:
            object.__setattr__(self, "sweeps", whole("checkpoint: sweeps", self.sweeps, 1))
        if self.minutes is not None and not (is_number(self.minutes) and self.minutes > 0):
            raise ValueError(f"checkpoint: minutes must be a number above 0 or None, not {self.minutes!r}")
        if not isinstance(self.keep, bool):
            raise ValueError(f"checkpoint: keep must be True or False, not {self.keep!r}")

    @property
    def on_disk(self) -> bool:
        """Whether there is a folder."""
        return self.folder is not None

    def member(self, number: int) -> Checkpoints:
        """Those of one of several models, which are kept until all are done."""
        if self.folder is None:
            return replace(self, states=self.states.setdefault(number, {}))
        return replace(self, folder=self.folder / f"model-{number:04d}", keep=True)

    @classmethod
    def of(cls, value) -> Checkpoints:
        """The object as it is, or one for a path.

        Raises
        ------
        TypeError
        """
        if isinstance(value, cls):
            return value
        if isinstance(value, str | Path):
            return cls(value)
        raise TypeError(f"checkpoint must be a Checkpoints or a folder, not {type(value).__name__}")
