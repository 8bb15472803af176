"""Series and data frames whose rows have other names than the documents are refused."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

import plugsamp as ps

pd = pytest.importorskip("pandas")

NAMES = list("uvwxyz")
X = pd.DataFrame(np.arange(24).reshape(6, 4) % 5, columns=["a", "b", "c", "d"], index=NAMES)
Y = pd.Series(["p", "q"] * 3, index=NAMES)
ONES = pd.Series(1.0, index=NAMES)


def counts(**parts):
    return ps.Corpus.from_counts(X, **parts)


def arrays(**parts):
    return ps.Corpus.from_counts(X.to_numpy(), **parts)


def of_frame(**columns):
    return ps.Corpus.from_frame({"text": ONES.map(lambda _: "a moon"), **columns}, label="label", min_df=1)


FRAME = ps.Corpus.from_frame(pd.DataFrame({"text": "moon orbit", "label": Y}), label="label", min_df=1)
BY_NUMBER = ps.Corpus.from_frame(pd.DataFrame({"text": ["moon orbit"] * 6}), min_df=1)
CLASSIFIER, REGRESSOR = ps.SupervisedTopicClassifier(2, sweeps=2), ps.SupervisedTopicRegressor(2, sweeps=2)
FITTED = ps.SupervisedTopicClassifier(2, sweeps=2, random_state=0).fit(X, Y)

#: Each takes a Series by its name, in the order of the documents or in another.
TAKES = {
    "responses": (counts, "responses", Y),
    "weights": (counts, "weights", ONES),
    "ids": (counts, "ids", pd.Series(list("fghijk"), index=NAMES)),
    "covariates": (counts, "covariates", ONES.to_frame("k")),
    "a column of covariates": (lambda values: counts(covariates={"k": values}), "values", ONES),
    "fields": (counts, "fields", ONES.to_frame("k")),
    "a field": (lambda values: counts(fields={"k": values}), "values", ONES),
    "beside others": (lambda weights: arrays(responses=Y, weights=weights), "weights", ONES),
    "beside ids": (lambda weights: arrays(ids=NAMES, weights=weights), "weights", ONES),
    "with_responses": (FRAME.with_responses, "responses", Y),
    "with_weights": (FRAME.with_weights, "weights", ONES),
    "of numbered rows": (BY_NUMBER.with_weights, "weights", ONES.reset_index(drop=True)),
    "a mapping of columns": (of_frame, "label", Y),
    "classifier": (lambda y: CLASSIFIER.fit(X, y), "y", Y),
    "score": (lambda y: FITTED.score(X, y), "y", Y),
    "sample_weight": (lambda sample_weight: CLASSIFIER.fit(X, Y, sample_weight), "sample_weight", ONES),
    "regressor": (lambda y: REGRESSOR.fit(X, y), "y", pd.Series(range(6), index=NAMES)),
}  # fmt: skip


@pytest.mark.parametrize("case", TAKES)
def test_rows_in_another_order(case):
    take, argument, values = TAKES[case]
    take(**{argument: values})
    turned = values[::-1]
    with pytest.raises(ValueError, match=r"has the rows of .* in another order") as info:
        take(**{argument: turned})
    take(**{argument: turned.reset_index(drop=True)})  # as the message says, by position
    assert ".reset_index(drop=True)" in str(info.value)
    by_name = re.search(r"pass (\S+)\.loc\[(\S+)\.index\] to", str(info.value))
    assert by_name or "in the order of ids" in str(info.value)


def test_other_rows():
    with pytest.raises(ValueError, match="responses has another index than X; give both the same index"):
        counts(responses=Y.set_axis(list("123456")))


def test_rows_that_only_count_are_taken_by_position():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert counts(responses=Y.reset_index(drop=True)).responses.tolist() == Y.tolist()
        assert arrays(responses=Y[::-1]).responses.tolist() == Y.tolist()[::-1]
        numbered = X.reset_index(drop=True)
        assert ps.Corpus.from_counts(numbered, responses=Y).responses.tolist() == Y.tolist()


def test_values_by_name_are_those_of_the_rows():
    assert counts(responses=Y[::-1].loc[X.index]).responses.tolist() == Y.tolist()
