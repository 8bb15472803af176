"""The numbers of a fit as plain data: what metrics.json holds."""

from __future__ import annotations

import platform
from importlib.metadata import version

import numpy as np

from plugsamp.diagnostics import sparsity
from plugsamp.diagnostics.agreement import agreement
from plugsamp.exchange.chains import shortened
from plugsamp.posterior import quality
from plugsamp.references import entries_of, parts_of
from plugsamp.system import dispatch


def main_measure(posterior, trained, tested) -> tuple[float, str]:
    """Return the number that a fit is judged by, and its name; validation documents come first."""
    validated = posterior.evaluations.get("validation")
    if validated is not None and validated.main is not None:
        return validated.main, f"validation_{validated.main_name}"
    if tested is not None and tested.main is not None:
        return tested.main, f"test_{tested.main_name}"
    if trained is not None and trained.main is not None:  # test documents may have no responses
        return trained.main, f"train_{trained.main_name}"
    # no responses: how well the topics explain the words
    n_tokens = max(posterior.corpus.n_tokens, 1)
    return posterior.trace[-1]["log_joint_words"] / n_tokens, "log_joint_words_per_token"


def record(posterior, trained=None, tested=None) -> dict:
    """Return what metrics.json holds, but for the names of papers (`references`).

    Parameters
    ----------
    posterior : Posterior
        With its training documents and trace.
    trained, tested : Evaluation, optional
        Of training and of held-out documents.
    """
    train = posterior.corpus
    main, name = main_measure(posterior, trained, tested)
    return {
        "main": main,
        "main_name": name,
        **_of_validation(posterior),
        "test": tested.measures if tested is not None else None,
        "train": trained.measures if trained is not None else None,
        "seconds": posterior.seconds,
        "start_seconds": posterior.seconds - posterior.sweep_seconds,
        "tokens_per_second": posterior.tokens_per_second,
        "sweeps": posterior.n_sweeps,
        "kept_sweeps": [shortened(part.kept) for part in posterior.parts if len(part.kept)],
        "n_topics": posterior.n_topics,
        "n_documents": train.n_documents,
        "n_words": train.n_words,
        "n_tokens": train.n_tokens,
        "seed": posterior.options.get("seed"),
        **_of_chains(posterior),
        "approximations": list(posterior.approximations),
        "corpus_digest": train.digest(),
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("plugsamp", "numpy", "scipy")},
            "instruction set": dispatch.chosen(),
        },
        "weight_variances": _variances(posterior),
        "topic_quality": quality.means([posterior.stats(part) or {} for part in posterior.parts]),
    }


def _variances(posterior) -> dict[str, float] | None:
    """The mean over parts, kept draws and outputs of the variances of each group of weights, where drawn."""
    groups = posterior.parts[0].variances
    return {g: float(np.mean([part.variances[g] for part in posterior.parts])) for g in groups} or None


def _of_validation(posterior) -> dict:
    found = posterior.evaluations.get("validation")
    return {} if found is None else {"validation": found.measures, "n_validation": len(found.prediction.ids)}


def _of_chains(posterior) -> dict:
    """What is known of the chain, or of several."""
    found: dict = {}
    chain = posterior.chain
    if chain is not None:
        found["kernel"] = repr(chain.kernel)
        found["backend"] = repr(chain.backend)
        found["start"] = posterior.start
        found["sparsity"] = sparsity(chain.counts.doc_topic, chain.counts.topic_word)
        last = posterior.trace[-1]
        for what in ("acceptance", "moves"):
            found[what] = {k.partition("_")[2]: v for k, v in last.items() if k.startswith(f"{what}_")}
    if posterior.owner == "chain":
        found["chains"] = len(posterior.parts)
        try:
            found["mixing"] = agreement(posterior.trace, posterior.burn_in)
        except (ValueError, ImportError) as error:
            found["mixing"] = {"unknown": str(error)}
    if posterior.combine == "mean":  # of one posterior; the mean of several chains
        last = [row["log_joint"] for row in posterior.trace if row["sweep"] == posterior.n_sweeps]
        found["log_joint"] = float(np.mean(last))
    return found


def references(model, kernel) -> list:
    """Return the papers that the parts of a model and a kernel come from."""
    return entries_of(parts_of(model, kernel))
