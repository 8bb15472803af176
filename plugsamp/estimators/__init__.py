"""scikit-learn estimators: in pipelines, grid searches and whatever else takes them."""

from plugsamp._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "SupervisedTopicClassifier": "plugsamp.estimators.classifier",
        "SupervisedTopicClassifierCV": "plugsamp.estimators.tuned",
        "SupervisedTopicRegressor": "plugsamp.estimators.regressor",
        "TopicModel": "plugsamp.estimators.unsupervised",
    },
)
