"""Which weight is which."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True)
class Columns:
    """The columns of eta and of the features u: topics, then covariates, then the intercept.

    Attributes
    ----------
    n_topics, n_covariates : int
        K and P (without the intercept).
    intercept : bool
        Whether the last column is one.
    """

    n_topics: int
    n_covariates: int = 0
    intercept: bool = False

    def __len__(self) -> int:
        """J, the number of weights of an output."""
        return self.n_topics + self.n_covariates + self.intercept

    @property
    def topics(self) -> slice:
        return slice(0, self.n_topics)

    @property
    def covariates(self) -> slice:
        """Without the intercept."""
        return slice(self.n_topics, self.n_topics + self.n_covariates)

    @cached_property
    def shrunk(self) -> np.ndarray:
        """bool (J,), False for the intercept; read-only."""
        mask = np.ones(len(self), dtype=bool)
        if self.intercept:
            mask[-1] = False
        mask.flags.writeable = False
        return mask
