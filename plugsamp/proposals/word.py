"""The word proposal, in the form that suits the collapse (MODEL section 3)."""

from __future__ import annotations

from plugsamp.dispatch import load

_tables = load("plugsamp.proposals.word_tables")

#: Collapsed: the topic of another token of the same word, always fresh.
WordCopyProposal = _tables.WordCopyProposal
#: Partially collapsed: an alias table a word over its probable topics, made once a sweep from Phi.
WordTableProposal = _tables.WordTableProposal


def WordProposal(collapse: str):  # a factory that stands where other proposals have a class
    """The word proposal for `collapse` "full" or "partial"."""
    return WordTableProposal() if collapse == "partial" else WordCopyProposal()


WordProposal.depends_on_collapse = True
