"""The exp proposal (model.md section 3)."""

from __future__ import annotations

from plugsamp.system.dispatch import load

ExpProposal = load("plugsamp.proposals.exp_tables").ExpProposal
