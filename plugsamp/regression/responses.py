"""The responses of documents as the sampler sees them: coded, weighted, some of them missing."""

from __future__ import annotations

import numpy as np

from plugsamp.errors import NonFinite
from plugsamp.losses.base import BoundLoss, Loss
from plugsamp.losses.coding import filled

_ALL = slice(None)


class Responses:
    """y, how much each counts, and the loss with the parameters that it has in one chain.

    Parameters
    ----------
    loss : Loss
    y : float64 (D, C)
        Coded responses, NaN where missing.
    weight : float64 (D, C), optional
        The power of psi of each (`plugsamp.regression.response_weights`); one of weight 0 is left aside, as
        if missing.
    parameters : dict of arrays, optional
        The loss's own, changed in place by `update`; by default its `start`.
    """

    def __init__(self, loss: Loss, y: np.ndarray, weight: np.ndarray | None = None, parameters=None):
        self.bound = BoundLoss(loss, loss.start(y.shape[1]) if parameters is None else parameters)
        self.missing = np.isnan(y)
        if weight is not None:
            self.missing |= weight == 0
        self.any_missing = bool(self.missing.any())
        self.y = filled(y, self.missing)
        self.weight = None if weight is None else np.where(self.missing, 1.0, weight)

    def share(self, arena) -> None:
        """Keep the arrays where all processes see them."""
        self.y, self.missing = (
            arena.copy("responses.y", self.y),
            arena.copy("responses.missing", self.missing),
        )
        if self.weight is not None:
            self.weight = arena.copy("responses.weight", self.weight)
        held = {n: arena.copy(f"loss.{n}", np.asarray(v, float)) for n, v in self.parameters.items()}
        self.bound = BoundLoss(self.loss, held)

    @property
    def loss(self) -> Loss:
        return self.bound.loss

    @property
    def parameters(self) -> dict[str, np.ndarray]:
        return self.bound.parameters

    def augment(self, f: np.ndarray, rng, rows: slice = _ALL) -> tuple[np.ndarray, np.ndarray]:
        """(kappa, omega) of the documents `rows` given their f; both 0 where there is no response."""
        weight = None if self.weight is None else self.weight[rows]
        kappa, omega = self.bound.augment(f, self.y[rows], rng, weight)
        if self.any_missing:
            missing = self.missing[rows]
            kappa, omega = np.where(missing, 0.0, kappa), np.where(missing, 0.0, omega)
        for name, values in (("kappa", kappa), ("omega", omega)):
            finite = np.isfinite(values)
            if not finite.all():
                d, c = np.argwhere(~finite)[0]
                raise NonFinite(
                    f"{name} of document {d + (rows.start or 0)}, output {c} is {values[d, c]}, drawn by "
                    f"{self.loss!r} at f = {f[d, c]:g}"
                )
        return kappa, omega

    def statistics(self, f: np.ndarray, rng, rows: slice = _ALL) -> np.ndarray:
        """What the loss's own parameters need of the documents `rows`."""
        weight = np.ones_like(f) if self.weight is None else self.weight[rows]
        weight = np.where(self.missing[rows], 0.0, weight)
        return self.loss.statistics(f, self.y[rows], weight, self.parameters, rng)

    def update(self, total: np.ndarray, rng) -> None:
        """Draw the loss's own parameters given the statistics of all documents."""
        held = dict(self.parameters)
        self.loss.update(self.parameters, total, rng)
        for name, array in held.items():
            if self.parameters[name] is not array:  # a loss may have put another array in its place
                array[...] = self.parameters[name]
                self.parameters[name] = array

    def log_psi(self, f: np.ndarray, rows: slice = _ALL) -> float:
        """sum of log psi(y_dc | f_dc), times its weight, over the observed responses (up to constants)."""
        values = self.bound.log_psi(self.y[rows], f)
        if self.weight is not None:
            values = values * self.weight[rows]
        return float(values[~self.missing[rows]].sum())
