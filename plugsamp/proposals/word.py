"""The word proposal, in the form that suits the collapse (model.md section 3)."""

from __future__ import annotations

from plugsamp.proposals.word_copy import WordCopyProposal
from plugsamp.system.dispatch import load

WordTableProposal = load("plugsamp.proposals.word_tables").WordTableProposal


def WordProposal(collapse: str):  # a factory that stands where other proposals have a class
    """The word proposal for `collapse` "full" or "partial"."""
    return WordTableProposal() if collapse == "partial" else WordCopyProposal()


WordProposal.depends_on_collapse = True
