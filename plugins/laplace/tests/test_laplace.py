"""The prior's update is exact, its weights are Laplace, and bad options are refused."""

import numpy as np
import pytest
from plugsamp_laplace import Laplace
from scipy import stats

from plugsamp.priors.columns import Columns
from plugsamp.testing import check_prior


def test_it_is_exact():
    check_prior("laplace")


def test_weights_are_laplace():
    columns, rng = Columns(20_000), np.random.default_rng(0)
    prior = Laplace(0.8)
    precision = prior.precision(prior.simulate(1, columns, rng), 0, columns)
    eta = rng.standard_normal(len(columns)) / np.sqrt(precision)
    assert stats.kstest(eta, stats.laplace(scale=0.8).cdf).pvalue > 1e-3


def test_a_bad_option_is_named():
    with pytest.raises(ValueError, match="laplace: scale must"):
        Laplace(scale=0.0)
