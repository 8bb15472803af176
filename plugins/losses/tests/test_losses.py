"""Each loss, in each of its variants, is exact (`plugsamp.testing`), and its bad options are refused."""

import numpy as np
import pytest
from extra_losses import NegativeBinomial, Quantile

import plugsamp as ps
from plugsamp.testing import check_loss


@pytest.mark.parametrize("loss", ["quantile", "negative_binomial"])
def test_it_is_exact(loss):
    check_loss(loss)


@pytest.mark.parametrize(
    "cls, option, value",
    [(Quantile, "quantile", 1.0), (NegativeBinomial, "dispersion", 0.0)],
)
def test_a_bad_option_is_named(cls, option, value):
    with pytest.raises(ValueError, match=f": {option} must"):
        cls(**{option: value})


def test_counts_are_asked_for():
    corpus = ps.Corpus.from_counts(np.eye(2, dtype=int), responses=[1.0, 2.5])
    with pytest.raises(ValueError, match=r"document 1 has 2\.5"):
        ps.Chain(corpus, ps.Model(2, loss="negative_binomial"))
