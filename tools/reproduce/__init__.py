"""Studies by name; see `tools.reproduce.__main__`."""

from tools.reproduce import dolda, fastlda, groups, lightmed, logistic, partial

MODULES = (fastlda, partial, groups, lightmed, logistic, dolda)
STUDIES = {study.name: study for module in MODULES for study in module.STUDIES}
