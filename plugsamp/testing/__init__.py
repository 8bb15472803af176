"""Checks that a sampler is exact, for the package's own parts and for those of plugin authors.

What is compared with what:

=====================  ======================================================================
`check_loss`           a loss: (kappa, omega) against its psi, extremes, likelihood, parameters
`check_prior`          a weight prior: its update against forward simulation
`check_proposal`       a proposal: draws, transitions of single tokens, runs
`Enumeration`          the exact posterior of a tiny corpus: every z, the weights integrated
`check_token`          one token's transition matrix against its full conditional
`check_draws`          what a proposal draws against the masses it states
`check_chain`          a long free run of a chain against the enumeration
`check_invariance`     many short runs from exact draws against the enumeration
`geweke`               short runs from exact draws of the joint against where they began
`ReferenceSampler`     a plain Python sampler of the same targets, with known mistakes to switch on:
                       it shows that the checks above see them
=====================  ======================================================================

The first three judge a whole plugin, under its registered name or as an object, and raise `CheckFailed`
with all that is wrong: a plugin's test is one line. The others return a report with ``passes()``.

Everything here is NumPy and SciPy and shares no code with the samplers. A loss enters by its `log_psi`,
a kernel by what its chain does. Registering a plugin under the package's entry points is enough to put it
through the project's own battery (tests/exactness); its class attribute ``testing`` says with which options,
in one or several variants, and with which responses (`variants_for`).
"""

from plugsamp.testing.agreement import check_chain, check_invariance, compare_with_enumeration
from plugsamp.testing.cases import Case, cases_for, options_for, registered, variants, variants_for
from plugsamp.testing.conditional import TokenReport, check_token, token_log_conditional
from plugsamp.testing.configurations import battery, kernel_configurations, label
from plugsamp.testing.geweke import GewekeCase, JointState, chain_stepper, geweke, geweke_case
from plugsamp.testing.losses import check_loss
from plugsamp.testing.posterior import Enumeration
from plugsamp.testing.priors import check_prior
from plugsamp.testing.proposals import DrawsReport, check_draws, check_proposal
from plugsamp.testing.reference import MUTANTS, ReferenceSampler
from plugsamp.testing.statistics import CheckFailed, Comparison, compare_means, holds

__all__ = [
    "MUTANTS",
    "Case",
    "CheckFailed",
    "Comparison",
    "DrawsReport",
    "Enumeration",
    "GewekeCase",
    "JointState",
    "ReferenceSampler",
    "TokenReport",
    "battery",
    "cases_for",
    "chain_stepper",
    "check_chain",
    "check_draws",
    "check_invariance",
    "check_loss",
    "check_prior",
    "check_proposal",
    "check_token",
    "compare_means",
    "compare_with_enumeration",
    "geweke",
    "geweke_case",
    "holds",
    "kernel_configurations",
    "label",
    "options_for",
    "registered",
    "token_log_conditional",
    "variants",
    "variants_for",
]
