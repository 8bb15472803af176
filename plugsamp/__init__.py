"""Sampling supervised topic models: exact, fast, reproducible to the bit, open to plugins."""

from plugsamp._lazy import attach
from plugsamp.posterior import views

_MODULES = (
    "backends",
    "diagnostics",
    "estimators",
    "kernels",
    "losses",
    "priors",
    "proposals",
    "readers",
    "registry",
    "topics",
)

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "Chain": "plugsamp.chain",
        "Checkpoints": "plugsamp.checkpoint.options",
        "Corpus": "plugsamp.corpus",
        "Covariates": "plugsamp.covariates.options",
        "__version__": "plugsamp._version",
        "Draws": "plugsamp.posterior.draws",
        "InputError": "plugsamp.errors",
        "Model": "plugsamp.model",
        "Posterior": "plugsamp.posterior.posterior",
        "SupervisedTopicClassifier": "plugsamp.estimators",
        "SupervisedTopicClassifierCV": "plugsamp.estimators",
        "SupervisedTopicRegressor": "plugsamp.estimators",
        "TopicModel": "plugsamp.estimators",
        "export": "plugsamp.posterior.saved",
        "fit": "plugsamp.fitting.fit",
        "load": "plugsamp.posterior.saved",
        "load_model": "plugsamp.posterior.saved",
        "save_model": "plugsamp.posterior.saved",
        "sweep_table": "plugsamp.sweeps",
        "tune": "plugsamp.tuning.tune",
        "to_arviz": "plugsamp.exchange",
        **{name: f"plugsamp.{name}" for name in _MODULES},
    },
    gone={
        "Fit": "fit returns a plugsamp.Posterior",
        "Predictor": "fit and load return a plugsamp.Posterior, whose parts are plugsamp.Draws",
    },
)

views.register("report", "plugsamp.report.page")
