"""Losses for plugsamp: quantile, negative binomial."""

from extra_losses.negative_binomial import NegativeBinomial
from extra_losses.quantile import Quantile

__all__ = ["NegativeBinomial", "Quantile"]
