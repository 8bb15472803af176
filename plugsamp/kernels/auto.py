"""A kernel for those who do not want to choose one."""

from __future__ import annotations

from plugsamp.kernels.base import Kernel
from plugsamp.kernels.composed import ComposedMH
from plugsamp.kernels.dense import Dense
from plugsamp.kernels.presets import SparsePCLDA
from plugsamp.kernels.sparse import SparseLDA

#: Topics up to which the dense kernel is the quickest to the same accuracy; with the topics a variable it has
#: no exponentials to share and gives way earlier.
DENSE, DENSE_PARTIAL = 256, 100


class Auto(Kernel):
    """The quickest exact kernel for the model and the corpus, as measured (README, Kernels).

    Without responses SparseLDA, or sparse PC-LDA where the topics are a variable. With responses the dense
    kernel up to some hundred topics, and the composed one beyond. The chain, the log and metrics.json say
    which it is.

    Parameters
    ----------
    collapse : {"auto", "full", "partial"}
        Integrate the topics out, or keep them as a variable; "auto": out, unless their prior forbids it.
    """

    def __init__(self, collapse: str = "auto"):
        if collapse not in ("auto", "full", "partial"):
            raise ValueError(f'collapse must be "auto", "full" or "partial", not {collapse!r}')
        self.collapse = collapse

    def chosen(self, model, corpus, n_outputs: int) -> Kernel:
        """The kernel for a model of a corpus with so many outputs; none: without responses."""
        collapse = self.collapse
        if collapse == "auto":
            collapse = "partial" if model.topics.needs_phi else "full"
        if not n_outputs:
            return SparsePCLDA() if collapse == "partial" else SparseLDA()
        if model.n_topics <= (DENSE_PARTIAL if collapse == "partial" else DENSE):
            return Dense(collapse)
        return ComposedMH(collapse=collapse)

    def sampler(self, state):
        raise TypeError("kernel=auto stands for another kernel: take Auto().chosen(model, corpus, n_outputs)")
