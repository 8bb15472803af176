"""How the Dirichlet priors alpha and beta are learnt."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plugsamp.checks import is_number, whole

METHODS = ("none", "slice", "fixed_point")


@dataclass(frozen=True)
class Concentration:
    """How a Dirichlet prior is learnt.

    Parameters
    ----------
    method : {"none", "slice", "fixed_point"}
        Not at all; slice sampling, exact; or Minka's fixed point, empirical Bayes.
    symmetric : bool
        One value for all topics (beta always has one for all words).
    shape, rate : float
        Of the gamma prior of each value, for slice sampling.
    every : int
        Sweeps between updates.

    Raises
    ------
    ValueError
    """

    method: str = "none"
    symmetric: bool = False
    shape: float = 1.0
    rate: float = 1.0
    every: int = 1

    def __post_init__(self):
        if self.method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}, not {self.method!r}")
        if not isinstance(self.symmetric, bool):
            raise ValueError(f"symmetric must be true or false, not {self.symmetric!r}")
        for name in ("shape", "rate"):
            value = getattr(self, name)
            if not (is_number(value) and 1e-6 <= value <= 1e6):
                raise ValueError(f"{name} must be a number from 1e-6 to 1e6, not {value!r}")
        object.__setattr__(self, "every", whole("every", self.every, 1))

    @property
    def references(self) -> tuple[str, ...]:
        return {"slice": ("neal2003",), "fixed_point": ("minka2000",)}.get(self.method, ())

    @property
    def approximate(self) -> str | None:
        """What keeps the chain from a posterior, in words that follow the parameter; None: nothing does."""
        if self.method != "fixed_point":
            return None
        return "takes the value that makes the present counts most probable: empirical Bayes, no posterior"

    def due(self, sweep: int) -> bool:
        """Whether there is an update in this sweep."""
        return self.method != "none" and sweep % self.every == 0

    def log_density(self, values) -> float:
        """log of the gamma prior of the values (n,), up to a constant."""
        values = values[:1] if self.symmetric else values
        return float(((self.shape - 1.0) * np.log(values) - self.rate * values).sum())
