"""Losses for plugsamp: quantile, Student-t, negative binomial."""

from extra_losses.negative_binomial import NegativeBinomial
from extra_losses.quantile import Quantile
from extra_losses.student_t import StudentT

__all__ = ["NegativeBinomial", "Quantile", "StudentT"]
