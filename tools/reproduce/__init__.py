"""Studies by name; see `tools.reproduce.__main__`."""

from tools.reproduce import (
    compositions,
    dolda,
    fastlda,
    fastlda_checks,
    films,
    groups,
    lightmed,
    logistic,
    partial,
    partial_priors,
)

MODULES = (
    lightmed, compositions, partial, partial_priors, groups, fastlda, fastlda_checks, logistic, dolda, films,
)  # fmt: skip
STUDIES = {study.name: study for module in MODULES for study in module.STUDIES}
