"""How well a fitted model predicts documents whose responses are known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plugsamp.brief import Brief
from plugsamp.prediction import metrics
from plugsamp.prediction.matching import responses_for
from plugsamp.prediction.perplexity import document_completion
from plugsamp.prediction.results import Prediction


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Brief):
    """Predictions of a corpus and how good they are.

    Attributes
    ----------
    prediction : Prediction
    truth : ndarray or None
        The responses of the corpus, in the order of the model's (`plugsamp.prediction.matching`).
    measures : dict
        See `plugsamp.prediction.metrics.evaluate`; empty where there is nothing to compare.
    main_name : str or None
        The measure that stands for the task, where it could be computed.
    """

    prediction: Prediction
    truth: np.ndarray | None
    measures: dict
    main_name: str | None

    @property
    def main(self) -> float | None:
        return None if self.main_name is None else self.measures[self.main_name]

    def table(self) -> dict:
        """Arguments of `plugsamp.fitting.runfolder.write_predictions`."""
        prediction, coding = self.prediction, self.prediction.coding
        real = coding.task in ("real", "count")
        several = real or coding.task == "multilabel"
        extra = {}
        if prediction.probabilities is not None:
            extra |= {
                "probabilities": prediction.probabilities,
                "class_names": [str(c) for c in coding.classes],
            }
        if real and prediction.calibrated:
            extra["intervals"] = prediction.interval(metrics.LEVEL)
        return extra | {
            "ids": prediction.ids,
            "truth": self.truth,
            "predicted": prediction.labels,
            "scores": prediction.f,
            "score_names": coding.output_names,
            "n_known": prediction.n_known,
            "n_unknown": prediction.n_unknown,
            "names": coding.output_names if several else None,
        }


def evaluate(predictor, corpus, held_out: bool = False) -> Evaluation:
    """Predict a corpus, and compare with its responses where it has them (`plugsamp.prediction.metrics`).

    Parameters
    ----------
    predictor : Predictor or Ensemble
    corpus : Corpus
    held_out : bool
        Whether the documents are new. Of a model without responses their words are scored then
        (`plugsamp.prediction.perplexity.document_completion`): ``log_likelihood``, of a token, and
        ``perplexity``.
    """
    prediction = predictor.predict(corpus)
    truth = responses_for(prediction.coding, corpus)
    measured = {}
    if truth is not None and prediction.labels is not None:
        measured = metrics.evaluate(prediction, truth)
    elif held_out and prediction.labels is None:
        members = getattr(predictor, "members", [predictor])
        found = [document_completion(member, corpus) for member in members]
        log_likelihood = float(np.mean([one.log_likelihood for one in found]))
        measured = {
            "main": "log_likelihood",
            "log_likelihood": log_likelihood,
            "perplexity": found[0].perplexity if len(found) == 1 else float(np.exp(-log_likelihood)),
            "n_scored": int(found[0].n_tokens.sum()),
        }
    main = measured.pop("main", None)
    if measured.get(main) is None:
        main = None
    return Evaluation(prediction, truth, measured, main)
