"""The head of the page in words: how good, how settled, how far to trust the probabilities."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np

from plugsamp.losses.coding import is_missing
from plugsamp.prediction import metrics
from plugsamp.prediction.matching import responses_for
from plugsamp.report.texts import number, percent

#: What R-hat says: settled below the first, nearly settled below the second.
SETTLED, NEARLY = 1.01, 1.05

#: Entries times outputs for which the linear model is always fitted, and never beyond. Between them it is
#: fitted where it takes a tenth of the sampling's time at most: an entry takes some 70 ns, a token 120.
TINY, HUGE, TENTH = 1e6, 1e8, 1 / 6

#: How measures are called.
MEASURES = {
    "accuracy": "accuracy",
    "f1_micro": "F1 (micro)",
    "f1_macro": "F1 (macro)",
    "log_loss": "log loss",
    "calibration_error": "calibration error",
    "r2": "R²",
    "rmse": "root mean squared error",
    "mae": "mean absolute error",
    "coverage_90": "inside 90 % intervals",
    "coverage_90_lowest": "inside them, in the worst fifth",
    "log_density": "log density of a value",
    "log_likelihood": "log likelihood of a word",
    "perplexity": "perplexity",
}


@dataclass(frozen=True)
class Line:
    """A line of the verdict: what it is about, the answer, what it rests on."""

    title: str
    answer: str
    reason: str


@dataclass(frozen=True)
class Bar:
    """A score beside others of the same measure."""

    name: str
    value: float
    error: float | None = None


def baselines(posterior, train, test, found) -> list[Bar]:
    """Return the scores of simple rules on the same documents: the most frequent class, a linear model."""
    coding = posterior.coding
    if found.truth is None or coding.task in ("none", "count") or found.main is None:
        return []
    bars = []
    if coding.task in ("binary", "multiclass"):
        truth = _texts(found.truth)
        labels = truth if train is None or train.responses is None else _texts(train.responses)
        values, times = np.unique([v for v in labels if v is not None], return_counts=True)
        if len(values) and any(v is not None for v in truth):
            most = [values[np.argmax(times)]] * len(truth)
            bars.append(Bar("always the most frequent class", _share_of(most, truth)))
    if test is not None and train is not None and train.responses is not None:
        score = _linear(posterior, train, test, found)
        if score is not None:
            bars.append(Bar("linear model on tf-idf of the words", score))
    return bars


def _texts(values) -> list:
    values = np.asarray(values).reshape(-1)
    return [None if m else str(v) for v, m in zip(values.tolist(), is_missing(values), strict=True)]


def _linear(posterior, train, test, found) -> float | None:
    """The score of a linear model on tf-idf words, without tuning; None where it is not cheap.

    A linear support vector machine for each class or label, a ridge regression for a real response.
    """
    coding = posterior.coding
    responses = np.asarray(responses_for(coding, train))
    columns = responses.reshape(len(responses), -1)
    rows = np.flatnonzero(~is_missing(columns).any(axis=1))
    counts = train.counts()[rows]
    most = min(max(TINY, TENTH * train.n_tokens * posterior.n_sweeps), HUGE)
    if len(rows) < 2 or counts.nnz * max(coding.n_outputs, len(coding.classes)) > most:
        return None
    from sklearn.feature_extraction.text import TfidfTransformer  # here, as it takes a second to import
    from sklearn.linear_model import Ridge
    from sklearn.svm import LinearSVC

    idf = TfidfTransformer(sublinear_tf=True).fit(counts)
    X, new = idf.transform(counts), idf.transform(test.counts())
    svm = LinearSVC(C=0.5, random_state=0, max_iter=200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a fit that has not quite converged
        if coding.task in ("binary", "multiclass"):
            texts = np.array(_texts(responses), dtype=object)[rows].astype(str)
            if len(np.unique(texts)) < 2:
                return None
            return _share_of(svm.fit(X, texts).predict(new).tolist(), _texts(found.truth))
        y = columns[rows].astype(float)
        labels = np.tile(y[0], (new.shape[0], 1))
        for c, known in enumerate(y.T):
            if np.ptp(known) > 0:
                model = svm if coding.task == "multilabel" else Ridge(solver="lsqr", tol=1e-3)
                labels[:, c] = model.fit(X, known).predict(new)
    bare = replace(found.prediction, labels=labels, probabilities=None, calibrated=None)
    return metrics.evaluate(bare, found.truth)[found.main_name]


def _share_of(labels, truth) -> float:
    """The share of the known true labels that are as predicted."""
    return float(np.mean([t == label for t, label in zip(truth, labels, strict=True) if t is not None]))


def how_good(found, bars: list[Bar], held_out: bool) -> Line | None:
    """Return the score in words; None where there is none."""
    if found is None or found.main is None:
        return None
    name = MEASURES.get(found.main_name, found.main_name)
    if found.main_name == "log_likelihood":
        n = number(found.measures.get("n_scored"))
        reason = f"On {n} words of held-out documents. Lower is better."
        return Line("How good?", f"perplexity {number(found.measures['perplexity'])}", reason)
    n = int((~is_missing(np.asarray(found.truth)).reshape(len(found.prediction.ids), -1).all(axis=1)).sum())
    what = f"{'held-out' if held_out else 'training'} documents"
    value, error = found.main, bars[0].error if bars else None
    shown = _score(found.main_name, value) + (
        "" if error is None else f" ± {_score(found.main_name, error, 2)}"
    )
    reason = f"On {number(n)} {what}{'' if error is None else ' (± one standard error)'}."
    for bar in bars[1:]:
        reason += f" {bar.name.capitalize()}: {_score(found.main_name, bar.value)}."
    if found.main_name == "r2":
        reason += " 0 is always the mean, 1 is exact."
    if not held_out:
        reason += " No documents were kept out: this flatters the model."
    return Line("How good?", f"{name} {shown}", reason)


def _score(name: str, value: float, digits: int = 3) -> str:
    return percent(value) if name in ("accuracy", "f1_micro") else number(value, digits)


def how_settled(table, error: str, n_chains: int) -> Line:
    """Return what R-hat says, in words.

    Parameters
    ----------
    table : Table or None
        `Posterior.convergence`.
    error : str
        Why there is none.
    n_chains : int
        Of one posterior.
    """
    title = "Has it converged?"
    if table is None:
        return Line(title, "not known", f"{error[:1].upper()}{error[1:]}." if error else "There is no trace.")
    known = [(row["r_hat"], row["quantity"], row["ess"]) for row in table if _finite(row["r_hat"])]
    if not known:
        return Line(title, "not known", "Nothing varies within the chains, so there is nothing to compare.")
    worst, what, _ = max(known)
    least = min(ess for *_, ess in known)
    numbers = f"largest R-hat {number(worst)} ({what}), at least {number(least, 2)} effective draws"
    said = "settled" if worst < SETTLED else "nearly settled" if worst < NEARLY else "not settled yet"
    if n_chains > 1:
        advice = "" if worst < NEARLY else " Run more sweeps before you rely on anything here."
        agree = "agree" if worst < NEARLY else "do not agree"
        return Line(title, said, f"The {n_chains} chains {agree}: {numbers}.{advice}")
    if worst >= NEARLY:
        return Line(title, said, f"The chain still moves, its halves differ: {numbers}. Run more sweeps.")
    reason = f"Its halves agree ({numbers}), but one chain cannot show that others would find the same."
    return Line(title, "one chain: not known", f"{reason} chains=4 would tell.")


def _finite(value) -> bool:
    return value is not None and value == value


def how_sure(posterior, found, rows) -> Line | None:
    """Return how far probabilities or intervals can be trusted; None of a model without responses.

    Parameters
    ----------
    posterior : Posterior
    found : Evaluation or None
    rows : list
        `plugsamp.report.outcome.reliability`.
    """
    coding, calibrated = posterior.coding, posterior.calibrated
    if coding.task == "none":
        return None
    if coding.task in ("real", "count"):
        title = "May I believe its intervals?"
        if calibrated is None:
            return Line(
                title, "there are none", "The loss is no likelihood, or the weights are one estimate."
            )
        held = None if found is None else found.measures.get("coverage_90")
        if held is None:
            return Line(title, "not known", "There are no documents to count how many fall inside.")
        low = found.measures.get("coverage_90_lowest")
        near = "yes" if 0.85 <= held <= 0.95 and (low is None or low >= 0.8) else "with care"
        worst = "" if low is None else f", and {percent(low, 0)} in the worst fifth of the predictions"
        reason = f"{percent(held, 0)} of the values lie inside their 90 % intervals{worst}."
        return Line(title, near if held >= 0.75 else "no", reason)
    title = "May I believe its probabilities?"
    if not rows:
        reason = (
            "The loss orders classes by scores and has no probabilities."
            if calibrated is None
            else "There are no documents to compare them with."
        )
        return Line(title, "there are none" if calibrated is None else "not known", reason)
    if coding.task == "multilabel":  # the others are nearly all of no probability, and absent
        rows = [row for row in rows if row[0] >= 0.5] or rows
    n = sum(row[2] for row in rows)
    said, right = (sum(row[2] * row[i] for row in rows) / n for i in (3, 4))
    gap = sum(row[2] * abs(row[3] - row[4]) for row in rows) / n
    way = "too modest" if said < right else "too sure"
    near = "yes" if gap < 0.03 else f"roughly: it is a little {way}" if gap < 0.08 else f"no: it is {way}"
    if coding.task == "multilabel":
        which = "Labels of 50 % or more" if rows[0][0] else "Labels"
        reason = f"{which} have a mean probability of {percent(said, 0)}; {percent(right, 0)} are there."
    else:
        reason = (
            f"On average it is {percent(said, 0)} sure of its prediction, and right in {percent(right, 0)}."
        )
    high = [row for row in rows if row[0] >= 0.9]
    if high:
        m = sum(row[2] for row in high)
        true = percent(sum(row[2] * row[4] for row in high) / m, 0)
        are = "there" if coding.task == "multilabel" else "right"
        reason += f" Where it is 90 % sure or more, {true} of {number(m)} are {are}."
    if not calibrated:
        reason += " They are scores scaled to sum to 1, so their size is approximate."
    return Line(title, near, reason)
