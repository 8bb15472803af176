"""Mixing of the horseshoe's scales under four ways to update them, as effective draws.

python tools/horseshoe_mixing.py [sweeps]

Each sweep draws the weights jointly given the scales, then the scales given the weights:

- slice: Magnusson et al. 2020, a uniform variable beside each scale (model.md section 4);
- auxiliary: an inverse gamma beside each scale (Makalic and Schmidt 2016);
- direct: `plugsamp.priors.Horseshoe`, each scale from its own conditional by rejection;
- collapsed: tau given the weights alone, by slice sampling of log tau, then lambda as in direct.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from scipy import special

from plugsamp.priors.columns import Columns
from plugsamp.priors.horseshoe import Horseshoe, draw_local


def truncated_exponential(rate, limit, rng):
    """Draw from Exp(rate) below `limit`, also at rate 0."""
    u, mass = rng.random(np.shape(rate)), -np.expm1(-rate * limit)
    with np.errstate(invalid="ignore", divide="ignore"):
        drawn = -np.log1p(-u * mass) / rate
    return np.where(rate * limit < 1e-12, u * limit, drawn)


class Slice:
    def __init__(self, p):
        self.tau, self.scales = 1.0, np.ones(p)

    def update(self, eta, rng):
        g = self.scales**-2.0
        u = rng.random(len(g)) / (1 + g)
        g = truncated_exponential(0.5 * (eta / self.tau) ** 2, (1 - u) / u, rng)
        self.scales = g**-0.5
        g = self.tau**-2.0
        u = rng.random() / (1 + g)
        shape, rate = 0.5 * (len(eta) + 1), 0.5 * ((eta / self.scales) ** 2).sum()
        below = rng.random() * special.gammainc(shape, rate * (1 - u) / u)
        self.tau = (special.gammaincinv(shape, below) / rate) ** -0.5


class Auxiliary:
    def __init__(self, p):
        self.tau, self.scales, self.nu, self.xi = 1.0, np.ones(p), np.ones(p), 1.0

    def update(self, eta, rng):
        p = len(eta)
        square = (1 / self.nu + 0.5 * (eta / self.tau) ** 2) / rng.standard_exponential(p)
        self.scales = np.sqrt(square)
        self.nu = (1 + 1 / square) / rng.standard_exponential(p)
        rate = 1 / self.xi + 0.5 * ((eta / self.scales) ** 2).sum()
        self.tau = np.sqrt(rate / rng.standard_gamma(0.5 * (p + 1)))
        self.xi = (1 + 1 / self.tau**2) / rng.standard_exponential()


class Direct:
    def __init__(self, p):
        self.prior, self.columns = Horseshoe(), Columns(p)
        self.state = self.prior.start(1, self.columns)

    tau = property(lambda self: self.state["tau"][0])
    scales = property(lambda self: self.state["lambda"][0])

    def update(self, eta, rng):
        self.prior.update(self.state, 0, self.columns, eta, rng)


class Collapsed:
    def __init__(self, p):
        self.tau, self.scales = 1.0, np.ones(p)

    @staticmethod
    def log_density(x, eta):
        r = 0.5 * (eta * np.exp(-x)) ** 2
        small = r < 100
        exact = np.minimum(r, 100) + np.log(special.exp1(np.where(small, r, 1.0)))
        marginal = np.where(small, exact, -np.log(r + 1 - 1 / (r + 2)))
        return marginal.sum() - len(eta) * x + x - np.logaddexp(0.0, 2 * x)

    def update(self, eta, rng):
        x = np.log(self.tau)
        level = self.log_density(x, eta) - rng.standard_exponential()
        left = x - rng.random()
        right = left + 1.0
        while self.log_density(left, eta) > level:
            left -= 1.0
        while self.log_density(right, eta) > level:
            right += 1.0
        while True:
            new = left + rng.random() * (right - left)
            if self.log_density(new, eta) > level:
                break
            left, right = (new, right) if new < x else (left, new)
        self.tau = np.exp(new)
        self.scales = draw_local(0.5 * (eta / self.tau) ** 2, rng) ** -0.5


def effective(x) -> np.ndarray:
    """Effective draws of each column of (S, n): Geyer's initial positive sequence."""
    x = x - x.mean(axis=0)
    n = len(x)
    spectrum = np.abs(np.fft.rfft(x, 2 * n, axis=0)) ** 2
    rho = np.fft.irfft(spectrum, axis=0)[:n]
    rho /= rho[0]
    pairs = rho[0 : n - 1 : 2] + rho[1:n:2]
    pairs = np.where(np.cumprod(pairs > 0, axis=0), pairs, 0.0)
    return n / (2 * pairs.sum(axis=0) - 1)


def problem(kind, p, rng):
    """Precision from the data (p, p) and linear term (p,), and which weights are signals."""
    signals = max(2, p // 50)
    eta = np.zeros(p)
    eta[:signals] = 6.0
    if kind == "means":  # y_j ~ N(eta_j, 1)
        return np.eye(p), eta + rng.normal(size=p), signals
    u = rng.dirichlet(np.full(p, 0.1), size=4 * p) if kind == "topics" else rng.normal(size=(p, p)) / 3
    u *= 10 if kind == "topics" else 1
    y = u @ eta + rng.normal(size=len(u))
    return u.T @ u, u.T @ y, signals


def main(sweeps=4000):
    print("effective draws in 1,000 sweeps: log tau; log lambda of signals, of the rest (mean); ms an update")
    for kind, p in (("means", 50), ("topics", 100), ("means", 400)):
        matrix, linear, signals = problem(kind, p, np.random.default_rng(1))
        for method in (Slice, Auxiliary, Direct, Collapsed):
            rng = np.random.default_rng(3)
            state = method(p)
            kept, seconds = np.empty((sweeps, p + 1)), 0.0
            for s in range(-sweeps // 10, sweeps):
                prior = np.clip((state.tau * state.scales) ** -2.0, 1e-30, 1e30)
                factor = np.linalg.cholesky(matrix + np.diag(prior))
                eta = np.linalg.solve(factor.T, np.linalg.solve(factor, linear) + rng.normal(size=p))
                start = time.perf_counter()
                state.update(eta, rng)
                seconds += time.perf_counter() - start
                if s >= 0:
                    kept[s, 0], kept[s, 1:] = np.log(state.tau), np.log(state.scales)
            ess = effective(kept) * 1000 / sweeps
            ms = 1e3 * seconds / sweeps / 1.1
            print(
                f"{kind:7} p={p:4} {method.__name__:10} {ess[0]:6.0f} {ess[1 : 1 + signals].mean():6.0f} "
                f"{ess[1 + signals :].mean():6.0f}  {ms:.3f}  median tau {np.exp(np.median(kept[:, 0])):.4f}",
                flush=True,
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("sweeps", type=int, nargs="?", default=4000, help="of each way (default %(default)s)")
    main(parser.parse_args().sweeps)
