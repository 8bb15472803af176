"""Checks that a sampler is exact, for the package's own parts and for those of plugin authors.

What is compared with what:

=====================  ======================================================================
`Enumeration`          the exact posterior of a tiny corpus: every z, the weights integrated
`check_token`          one token's transition matrix against its full conditional
`check_draws`          what a proposal draws against the masses it states
`check_chain`          a long free run of a chain against the enumeration
`check_invariance`     many short runs from exact draws against the enumeration
`geweke`               forward against successive-conditional simulation of the joint
`ReferenceSampler`     a plain Python sampler of the same targets, with known mistakes to switch on:
                       it shows that the checks above see them
=====================  ======================================================================

Everything here is NumPy and SciPy and shares no code with the samplers. A loss enters by its `log_psi`,
a kernel by what its chain does. Registering a loss or a kernel under the package's entry points is enough
to put it through the project's own battery; `options_for` says with which options.
"""

from plugsamp.testing.agreement import check_chain, check_invariance, compare_with_enumeration
from plugsamp.testing.cases import Case, cases_for, options_for, registered
from plugsamp.testing.conditional import TokenReport, check_token, token_log_conditional
from plugsamp.testing.configurations import kernel_configurations, label
from plugsamp.testing.geweke import GewekeCase, chain_stepper, geweke
from plugsamp.testing.posterior import Enumeration
from plugsamp.testing.proposals import DrawsReport, check_draws
from plugsamp.testing.reference import MUTANTS, ReferenceSampler
from plugsamp.testing.statistics import Comparison, compare_means, compare_two

__all__ = [
    "MUTANTS",
    "Case",
    "Comparison",
    "DrawsReport",
    "Enumeration",
    "GewekeCase",
    "ReferenceSampler",
    "TokenReport",
    "cases_for",
    "chain_stepper",
    "check_chain",
    "check_draws",
    "check_invariance",
    "check_token",
    "compare_means",
    "compare_two",
    "compare_with_enumeration",
    "geweke",
    "kernel_configurations",
    "label",
    "options_for",
    "registered",
    "token_log_conditional",
]
