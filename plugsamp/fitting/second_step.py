"""What the second step of a two-step model is."""

from __future__ import annotations

from dataclasses import dataclass

from plugsamp.checks import is_number, whole

#: Of the cost: its reciprocal, ridge's penalty, stays finite.
SMALLEST, LARGEST = 1e-30, 1e30

#: The model's own loss and prior, and linear models of scikit-learn.
REGRESSIONS = ("same", "linear_svc", "logistic_regression", "ridge")


@dataclass(frozen=True)
class SecondStep:
    """What the second step is.

    Parameters
    ----------
    regression : {"same", "linear_svc", "logistic_regression", "ridge"}
        The loss and weight prior of the model, or a linear model of scikit-learn (one an output).
    cost : float
        C of scikit-learn's models.
    sweeps : int
        Gibbs sweeps of "same", of which the second half is kept.

    Raises
    ------
    ValueError
    """

    regression: str = "same"
    cost: float = 1.0
    sweeps: int = 200

    def __post_init__(self):
        if self.regression not in REGRESSIONS:
            choices = ", ".join(REGRESSIONS)
            raise ValueError(f"second_step: regression must be one of {choices}, not {self.regression!r}")
        if not (is_number(self.cost) and SMALLEST <= self.cost <= LARGEST):
            limits = f"above 0 (from {SMALLEST:g} to {LARGEST:g})"
            raise ValueError(f"second_step: cost must be a number {limits}, not {self.cost!r}")
        object.__setattr__(self, "sweeps", whole("second_step: sweeps", self.sweeps, 2))
