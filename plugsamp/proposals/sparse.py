"""Topics by document and word together (Magnusson et al. 2018, section 3.2; model.md section 3)."""

from __future__ import annotations

from plugsamp.proposals.exp import ExpProposal
from plugsamp.proposals.stale import StaleTables
from plugsamp.proposals.word import WordTableProposal
from plugsamp.proposals.word_copy import WordCopyProposal
from plugsamp.system.dispatch import load

_SparseProposal = load("plugsamp.proposals.sparse_draw").SparseProposal


class _AlphaPhi(WordTableProposal):
    """Mass alpha_k phi_kw."""

    def attach(self, state):
        super().attach(state)
        self.weigh(state.alpha)


class _Conditional(_SparseProposal):
    def lazy_form(self):
        return load("plugsamp.proposals.sparse_lazy").SparseLazyProposal()


def SparseProposal(collapse: str, scores=None):
    """Mass (n_dk + alpha_k) phi_kw: the conditional itself where there are no responses (sparse PC-LDA).

    With the topics integrated out: n_dk (n_kw + beta_w)/(n_k + beta_sum), as AliasLDA, and instead of its
    table the topic of another token of the same word, or a uniform one. So there is nothing to go stale.
    """
    if collapse == "partial":
        if scores is None:
            return _Conditional(_AlphaPhi(), conditional=True)
        return _SparseProposal(_AlphaPhi(), 1.0, scores)
    return _SparseProposal(WordCopyProposal(), None, scores)


def SparseExpProposal(collapse: str):
    """The sparse draw with topic weights of the document, exp(s_dk(f_ref)) as in the exp proposal.

    They multiply n_dk g_kw; what the document has no token of is drawn as by the sparse proposal.
    """
    return SparseProposal(collapse, ExpProposal())


def StaleSparseProposal(collapse: str):
    """AliasLDA as published: alpha_k g_kw by the counts of the sweep's start, own tokens included."""
    return _SparseProposal(StaleTables(alpha=True), 1.0)


for _factory in (SparseProposal, SparseExpProposal, StaleSparseProposal):
    _factory.depends_on_collapse = True
