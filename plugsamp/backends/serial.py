"""Everything in this process."""

from __future__ import annotations


class Serial:
    """Run the work of a sweep block after block, in the calling process."""

    def start(self, phases) -> None:
        """Take the `plugsamp.phases.Phases` that the chain's work is divided into."""
        self.phases = phases

    def run(self, phase: str, sweep: int, n: int) -> list:
        """Run pieces 0:n of a phase; results in order of the pieces."""
        work = getattr(self.phases, phase)
        return [work(sweep, i) for i in range(n)]
