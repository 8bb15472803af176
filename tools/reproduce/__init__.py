"""Studies by name; see `tools.reproduce.__main__`."""

from tools.reproduce import (
    compositions,
    dolda,
    fastlda,
    fastlda_checks,
    films,
    lightmed,
    logistic,
    partial,
    partial_priors,
)

MODULES = (lightmed, compositions, partial, partial_priors, fastlda, fastlda_checks, logistic, dolda, films)
STUDIES = {study.name: study for module in MODULES for study in module.STUDIES}
