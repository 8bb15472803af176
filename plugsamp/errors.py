"""What a user did that cannot be read, said precisely."""

from __future__ import annotations


class InputError(ValueError):
    """Input that is refused: where it is, what is wrong, and what would be right.

    Parameters
    ----------
    what : str
        What is wrong, with the offending text, and what would be right.
    file : path, optional
    line, column : int, optional
        From 1. The column is a position in characters, except where the message says otherwise.
    in_python : str, optional
        What would be right for a caller in Python alone, behind `what`: the command line leaves it out.

    Attributes
    ----------
    what, file, line, column, in_python : as given, the file as str
    """

    def __init__(
        self,
        what: str,
        *,
        file=None,
        line: int | None = None,
        column: int | None = None,
        in_python: str = "",
    ):
        self.what = what
        self.in_python = in_python
        self.file = None if file is None else str(file)
        self.line = line
        self.column = column
        super().__init__(what)

    def within(self, file) -> InputError:
        """The same of a file, where none is named."""
        return _again(self.what, self.file or file, self.line, self.column, self.in_python)

    def __reduce__(self):
        # Exceptions with keyword-only parts do not survive pickling by themselves (worker processes).
        return (_again, (self.what, self.file, self.line, self.column, self.in_python))

    def __str__(self) -> str:
        return place(self.file, self.line, self.column) + self.what + self.in_python


def _again(what, file, line, column, in_python):
    return InputError(what, file=file, line=line, column=column, in_python=in_python)


def place(file=None, line=None, column=None) -> str:
    """``"file, line 3, column 5: "`` of the parts that are known."""
    parts = []
    if file is not None:
        parts.append(str(file))
    if line is not None:
        parts.append(f"line {line}")
    if column is not None:
        parts.append(f"column {column}")
    return ", ".join(parts) + ": " if parts else ""


class InUse(ValueError):
    """A folder or file that belongs to another run; whoever is refused has changed nothing there."""


class ApproximationWarning(UserWarning):
    """What was chosen does not sample exactly the stated posterior."""


class InputWarning(UserWarning):
    """Input that is taken, though in a way the user should know of."""


class NonFinite(FloatingPointError):
    """A quantity of a chain became NaN or infinite; the message names it and the sweep."""


class Interrupted(KeyboardInterrupt):
    """A run that a signal has ended; the message says what was kept.

    Parameters
    ----------
    message : str
    signal : int
        The signal's number.
    sweep : int, optional
        The last sweep that was done.
    """

    def __init__(self, message: str, signal: int = 2, sweep: int = 0):
        self.signal, self.sweep = int(signal), sweep
        super().__init__(message)

    @property
    def exit_code(self) -> int:
        """What shells report of a process that the signal ended."""
        return 128 + self.signal


class RunInterrupted(Interrupted):
    """The same of a run with a folder: the message says what stands there, and how it goes on."""
