"""When checkpoints are written, and where."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from plugsamp.checks import is_number, whole


@dataclass(frozen=True)
class Checkpoints:
    """Checkpoints of a fit: whichever of `sweeps` and `minutes` comes first writes one.

    One is written after the last sweep too, and when the process gets SIGINT, SIGTERM or SIGHUP. The two
    newest are kept, so that a damaged one can be done without.

    Parameters
    ----------
    folder : path-like
        Made where there is none. One process at a time writes to it.
    sweeps : int, optional
        Sweeps between checkpoints; None: by the clock alone.
    minutes : float, optional
        Minutes between checkpoints; None: by sweeps alone.
    keep : bool
        Keep the last checkpoint of a fit that is done, from which it goes on where `sweeps` is raised.

    Raises
    ------
    ValueError
    """

    folder: str | Path
    sweeps: int | None = None
    minutes: float | None = 5.0
    keep: bool = True

    def __post_init__(self):
        object.__setattr__(self, "folder", Path(self.folder))
        if self.sweeps is not None:
            object.__setattr__(self, "sweeps", whole("checkpoint: sweeps", self.sweeps, 1))
        if self.minutes is not None and not (is_number(self.minutes) and self.minutes > 0):
            raise ValueError(f"checkpoint: minutes must be a number above 0 or None, not {self.minutes!r}")
        if not isinstance(self.keep, bool):
            raise ValueError(f"checkpoint: keep must be True or False, not {self.keep!r}")

    def recorder(self, resume: bool):
        """What a fit holds of them (`plugsamp.checkpoint.recorder.Recorder`)."""
        from plugsamp.checkpoint.recorder import Recorder

        return Recorder(self, resume)

    def member(self, number: int) -> Checkpoints:
        """Those of one of several models, which are kept until all are done."""
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
