"""Everything in this process."""

from __future__ import annotations

from plugsamp.backends.base import Backend, Work
from plugsamp.system.arena import Arena


class Serial(Backend):
    """Run the work of a sweep block after block, in the calling process."""

    def open(self, partial: bool) -> InTurn:
        return InTurn()


class InTurn(Work):
    """Pieces one after another, in the calling process."""

    def __init__(self):
        self.arena = Arena()

    def start(self, phases) -> None:
        self.phases = phases

    def run(self, phase: str, sweep: int, n: int, **given) -> list:
        return self.phases.run(phase, sweep, range(n), given)
