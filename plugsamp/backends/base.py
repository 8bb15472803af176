"""The contract of a backend: where the pieces of a sweep are run."""

from __future__ import annotations

from abc import ABC, abstractmethod

from plugsamp.options import Configured
from plugsamp.system.arena import Arena

#: Numbers that are worked on in about the time that workers need to hear of it, some .3 ms.
LITTLE = 1_000_000


class Work(ABC):
    """A backend at work for one chain.

    Attributes
    ----------
    arena : Arena
        Where the chain allocates what the processes share.
    """

    arena: Arena
    #: How many pieces can be worked on at the same time.
    workers: int = 1
    #: Groups of documents to work on at once though the kernel is collapsed, and how
    #: (`plugsamp.sampling.adlda`).
    groups: int = 1
    scheme: str = "auto"

    @abstractmethod
    def start(self, phases) -> None:
        """Take the `plugsamp.sampling.phases.Phases` that the chain's work is divided into."""

    def check(self) -> None:  # noqa: B027 - most have nothing to say
        """Raise where the chain cannot go on here, before anything is changed."""

    @abstractmethod
    def run(self, phase: str, sweep: int, n: int, **given) -> list:
        """Run pieces 0:n of a phase; results in order of the pieces.

        Parameters
        ----------
        phase : str
            A method of the phases, called with (sweep, piece).
        sweep, n : int
        given
            What pieces need beside the shared arrays; it is ``phases.given`` meanwhile.
        """

    def run_sized(self, phase: str, sweep: int, n: int, size: int, **given) -> list:
        """As `run`, for plain arithmetic on `size` numbers: a little of it is done here sooner than told."""
        if size <= LITTLE:
            return self.phases.run(phase, sweep, range(n), given)
        return self.run(phase, sweep, n, **given)

    def look(self, phase: str, sweep: int, n: int) -> list:
        """As `run`, for pieces that look at the chain as it is: here, where nobody is ready to do them."""
        return self.run(phase, sweep, n)

    def close(self) -> None:
        """End what was started; `run` starts it again where it is needed."""
        return None

    def __str__(self) -> str:
        return "this process"


class Backend(Configured, ABC):
    """Where a chain's work is done. The constructor's parameters are its configuration.

    A subclass is a plugin, registered under the entry-point group ``plugsamp.backends``. One object may serve
    several chains.
    """

    #: Whether blocks of documents may be worked on at the same time: ``kernel=auto`` then takes a kernel that
    #: this leaves exact.
    parallel: bool = False

    def approximate(self, kernel) -> str | None:
        """What keeps a chain of a kernel from its posterior, in words that follow "the backend"; or None."""
        return None

    @abstractmethod
    def open(self, partial: bool) -> Work:
        """Begin to work for a chain, whose arrays are still to be made.

        Parameters
        ----------
        partial : bool
            Whether the chain keeps the topics as a variable. Then documents are independent given these;
            otherwise one block of them must be done after the other.

        Raises
        ------
        ValueError
            It cannot be done so.
        """
