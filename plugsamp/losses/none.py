"""No responses: latent Dirichlet allocation."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from plugsamp.losses.base import Loss
from plugsamp.losses.coding import Coding


class NoLoss(Loss):
    """psi = 1: responses, if the corpus has any, do not enter the posterior."""

    unsupervised = True
    search: ClassVar[dict[str, tuple]] = {}

    def code(self, responses, names=None) -> Coding:
        return Coding.empty()

    def augment(self, f, y, rng, weight=None):
        return np.zeros_like(f), np.zeros_like(f)

    def log_psi(self, y, f):
        return np.zeros_like(f)
