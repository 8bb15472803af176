"""A kernel for those who do not want to choose one."""

from __future__ import annotations

from plugsamp.kernels.base import Kernel
from plugsamp.kernels.composed import ComposedMH
from plugsamp.kernels.dense import Dense
from plugsamp.kernels.presets import SparsePCLDA
from plugsamp.kernels.sparse import SparseLDA
from plugsamp.topics.lazily import expected

#: Topics up to which the dense kernel is the quickest to the same log joint on real documents
#: (`tools/kernel_choice.py`; nothing larger was measured): with responses, where outputs count too; and
#: without, where the topics are a variable, of which small cells are kept or not.
DENSE, DENSE_KEPT, DENSE_LAZY = 1200, 300, 80

#: With responses and topics that are a variable, of which small cells are not kept: the dense kernel up to
#: so many, two draws of sparse PC-LDA beyond, in documents of so many tokens on average. What the responses
#: say of a token of a short one rules most of those draws out.
DENSE_LONG, LONG = 200, 100

#: Outputs a token of a document at which the dense kernel takes twice the time: for each topic that a
#: document meets it makes a row of K sums over outputs, and short documents do not get to use it again.
OUTPUTS = 5.0


class Auto(Kernel):
    """The quickest exact kernel for the model and the corpus, as measured (guide, Kernels).

    Without responses SparseLDA; where the topics are a variable the dense kernel up to 80 of them, or 300 of
    a prior that needs all cells of them, and sparse PC-LDA beyond.

    With responses the dense kernel up to a thousand topics, fewer where documents are short and outputs many,
    and the composed one beyond; where the topics are a variable sparse PC-LDA with two steps, in long
    documents from 200 topics on.

    The chain, the log and metrics.json say which it is.

    Parameters
    ----------
    collapse : {"auto", "full", "partial"}
        Integrate the topics out, or keep them as a variable; "auto": out, unless their prior forbids it or
        the backend has worker processes, with any number of which the latter stays exact.
    """

    def __init__(self, collapse: str = "auto"):
        if collapse not in ("auto", "full", "partial"):
            raise ValueError(f'collapse must be "auto", "full" or "partial", not {collapse!r}')
        self.collapse = collapse

    def chosen(self, model, corpus, n_outputs: int, parallel: bool = False) -> Kernel:
        """The kernel for a model of a corpus with so many outputs; none: without responses."""
        collapse = self.collapse
        if collapse == "auto":
            collapse = "partial" if model.topics.needs_phi or parallel else "full"
        if not n_outputs:
            if collapse == "full":
                return SparseLDA()
            most = DENSE_LAZY if expected(model, corpus.n_words) else DENSE_KEPT
            return Dense(collapse) if model.n_topics <= most else SparsePCLDA()
        length = max(corpus.n_tokens, 1) / corpus.n_documents
        most = DENSE
        if collapse == "partial" and length >= LONG and expected(model, corpus.n_words):
            most = DENSE_LONG
        if model.n_topics * (1.0 + n_outputs / (OUTPUTS * length)) <= most:
            return Dense(collapse)
        return SparsePCLDA(2) if collapse == "partial" else ComposedMH(collapse=collapse)

    def sampler(self, state):
        raise TypeError("kernel=auto stands for another kernel: take Auto().chosen(model, corpus, n_outputs)")
