"""The state of a fit in this process, from which a further fit goes on: a checkpoint without a folder."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from plugsamp.checkpoint.identity import check_same

#: What messages call it.
NAME = "the chain of the last fit"


class Memory:
    """A place for the last state of a fit: plain arrays, so it can be pickled.

    Examples
    --------
    >>> import numpy as np, plugsamp as ps
    >>> corpus = ps.Corpus.from_counts(np.array([[3, 0, 1], [0, 2, 2]]))
    >>> memory = Memory()
    >>> half = ps.fit(corpus, ps.Model(2), sweeps=4, checkpoint=memory)
    >>> whole = ps.fit(corpus, ps.Model(2), sweeps=8, checkpoint=memory, resume=True)
    >>> whole.digest == ps.fit(corpus, ps.Model(2), sweeps=8).digest
    True
    """

    def __init__(self):
        self._state: tuple[dict[str, np.ndarray], dict] | None = None
        self._members: dict[int, Memory] = {}

    @contextmanager
    def recorder(self, resume: bool) -> Iterator[Memory]:
        """What a fit writes to and reads from, as `plugsamp.checkpoint.recorder.Recorder`."""
        self._resume = resume
        yield self

    def member(self, number: int) -> Memory:
        """The place of one of several models."""
        return self._members.setdefault(number, Memory())

    def keep_member(self, number: int, memory: Memory) -> None:
        """Take what a process of its own has made of a member."""
        self._members[number] = memory

    def load(self, identity: dict):
        """Arrays and content of the last state where the fit goes on from one; otherwise None.

        Raises
        ------
        StorageError
            It is of another run.
        """
        if not self._resume or self._state is None:
            return None
        check_same(self._state[1]["identity"], identity, NAME)
        return self._state

    def begin(self, identity: dict, sweeps: int) -> None:
        """Sampling begins."""
        self._identity, self._sweeps = identity, sweeps

    def after(self, draws) -> None:
        """The last sweep's state is kept."""
        if draws.sweep < self._sweeps:
            return
        arrays, content = draws.capture()
        content = json.loads(json.dumps(content | {"identity": self._identity}))
        self._state = {name: np.array(a) for name, a in arrays.items()}, content

    def finish(self) -> None:
        """Nothing is left to do."""
