"""The judge of statistical tests, and what several of them need to make a p-value."""

from __future__ import annotations

import json
import logging
import os
import zlib

import numpy as np
import pytest
from scipy import stats

from plugsamp.testing import statistics
from plugsamp.testing.statistics import EVENTS, autocorrelation_time, batch_means, compare_means, pooled

#: Where pytest's configuration keeps the names of all tests that are judged here, the slow ones too.
JUDGED = pytest.StashKey[list]()

#: A p-value below SUSPECT is looked at again. In the second look, with more draws, one below CERTAIN fails.
SUSPECT, CERTAIN = 1e-3, 1e-5

#: Of checks of the exactness kit that two looks at the truth both find something, each of them: below 1e-3.
KIT = 1e-6

#: A mutant that is this far off in the first look needs no second.
PLAIN = 1e-8


class TooFewDraws(AssertionError):
    """A chain's effective draws do not suffice for a valid p-value."""


class Chance:
    """Judge tests whose outcome is a p-value.

    What is true fails with probability 1e-8 = SUSPECT * CERTAIN. A check of the exactness kit (`sound`)
    fails where two independent looks find something. A look compares up to 360 means by 5.5 standard errors
    (4e-8 each), 20 by 5 (6e-7 each) and up to six samples or chains at the level 1e-4: below 1e-3 in all, or
    1e-6 for two looks (KIT). There are some 1,400 tests, the long ones too, with up to three p-values, and 30
    checks: tests/test_chance.py counts them, and that the suite fails by chance less often than once on
    10,000 machines.

    PLUGSAMP_TEST_SEED in the environment shifts all seeds; of a range such as 101-150 each test makes its
    first p-value with every seed. PLUGSAMP_TEST_DRAWS multiplies the draws of every test.
    PLUGSAMP_TEST_PVALUES names a file that first p-values are added to, a line of JSON each:
    tools/suite_pvalues.py looks at their distribution.
    """

    def __init__(self, test: str):
        self.test = test
        first, _, last = os.environ.get("PLUGSAMP_TEST_SEED", "0").partition("-")
        self.seeds = range(int(first), int(last or first) + 1)
        self.draws = int(os.environ.get("PLUGSAMP_TEST_DRAWS", "1"))

    def _shift(self, seed: int) -> int:
        """Another seed for every test: what is drawn alike in two would count twice."""
        return 1_000_003 * seed + zlib.crc32(self.test.encode()) % 1_000_003

    def shifts(self):
        """What to add to its seed, for a test that judges by itself: once, or for each of several seeds."""
        for seed in self.seeds:
            self._seed = seed
            yield self._shift(seed)

    def sound(self, check) -> None:
        """Run `check(seed)` of the exactness kit, which looks twice by itself; note what the first sees."""
        log, seen = logging.getLogger(statistics.__name__), Seen(logging.INFO)
        level = log.level
        log.setLevel(logging.INFO)
        log.addHandler(seen)
        try:
            for seed in self.shifts():
                seen.messages.clear()
                check(seed)
                self._note(alarm=bool(seen.messages))
        finally:
            log.removeHandler(seen)
            log.setLevel(level)

    def holds(self, p_value, seed: int = 0, more: int = 4) -> None:
        """Fail unless `p_value(seed, scale)` looks like that of a true hypothesis.

        Parameters
        ----------
        p_value : callable (seed, scale) -> float
            Of `scale` times the test's usual draws.
        more : int
            The scale of the second look.
        """
        for shift in self.shifts():
            first = self._first(p_value, seed + shift, more, False)
            if first < SUSPECT:
                second = p_value(seed + shift + 7919, more * self.draws)
                assert second >= CERTAIN, f"p = {first:.2g}, and {second:.2g} with {more} times the draws"

    def fails(self, p_value, seed: int = 0, more: int = 4) -> None:
        """Fail unless `holds` would: the hypothesis is wrong, and is to be seen to be."""
        for shift in self.shifts():
            first = self._first(p_value, seed + shift, more, True)
            assert first < SUSPECT, f"a mistake is not seen: p = {first:.2g}"
            if first > PLAIN:
                second = p_value(seed + shift + 7919, more * self.draws)
                assert second < CERTAIN, f"a mistake is not seen: p = {first:.2g}, then {second:.2g}"

    def _first(self, p_value, seed: int, more: int, mutant: bool) -> float:
        try:
            p = float(p_value(seed, self.draws))
        except TooFewDraws:  # the chain has mixed worse than usual
            p = float(p_value(seed, more * self.draws))
        self._note(p=p, mutant=mutant)
        return p

    def _note(self, **what) -> None:
        if file := os.environ.get("PLUGSAMP_TEST_PVALUES"):
            with open(file, "a") as f:
                f.write(json.dumps({"test": self.test, "seed": self._seed, **what}) + "\n")


class Seen(logging.Handler):
    """Keep messages of a logger."""

    def __init__(self, level):
        super().__init__(level)
        self.messages = []

    def emit(self, record):
        self.messages.append(record.getMessage())


def smallest(p_values) -> float:
    """The p-value of the smallest of some independent ones (Sidak 1967).

    Those of the same draws depend on each other: then it is too large, and not uniform.
    """
    p = np.asarray(p_values, dtype=float).ravel()
    return float(-np.expm1(len(p) * np.log1p(-min(p.min(), 1.0 - 1e-16))))


def of_mean(values, mean: float, deviation: float | None = None) -> float:
    """Two-sided p-value of the mean of independent values; their own deviation unless one is given."""
    values = np.ravel(values)
    deviation = values.std(ddof=1) if deviation is None else deviation
    return float(2 * stats.norm.sf(abs(values.mean() - mean) / deviation * np.sqrt(len(values))))


def of_means(values, means) -> float:
    """p-value of the means of several values (F, n) of the same independent draws (Hotelling 1931)."""
    values = np.asarray(values, dtype=float)
    off, n = values.mean(axis=1) - means, values.shape[1]
    return float(stats.chi2.sf(n * off @ np.linalg.solve(np.cov(values), off), len(off)))


def of_cells(found, expected, least: float = 25.0, seed: int = 0) -> float:
    """p-value of counts of independent draws against expected counts of the same sum.

    By chi-square where three cells or more have `least` expected draws; others are pooled. Otherwise the
    draws outside the largest cell are binomial, and few: `of_count` is exact for them.
    """
    found, expected = np.ravel(found), np.ravel(expected)
    if (expected >= least).sum() < 3:
        largest, n = np.argmax(expected), int(found.sum())
        share = np.clip(1.0 - expected[largest] / expected.sum(), 0.0, 1.0)
        return of_count(n - int(found[largest]), stats.binom(n, share), seed)
    found, expected = pooled(found, expected, least)
    return float(stats.chi2.sf(((found - expected) ** 2 / expected).sum(), len(expected) - 1))


def of_count(found: int, law, seed: int = 0) -> float:
    """Two-sided p-value of a count whose law is a frozen distribution of scipy.stats.

    A number drawn by `seed` decides within the count's own probability, so that the p-value is uniform
    though the count is discrete (Cox and Hinkley 1974, section 4.5).
    """
    within = np.random.default_rng([seed % 2**32, 99]).random()
    below = law.cdf(found - 1) + within * law.pmf(found)
    above = law.sf(found) + (1.0 - within) * law.pmf(found)
    return float(min(2.0 * min(below, above), 1.0))


def of_chain(values, expected, *, events: bool = False, batches: int = 30, worth: float = 10.0) -> float:
    """p-value of means of a chain's values (n, F), by batches worth `worth` independent draws for each.

    Raises `TooFewDraws` where the chain is too short for that. `events` says that values are 0 or 1, of
    which rare ones are left out.
    """
    values, expected = np.asarray(values, dtype=float), np.asarray(expected, dtype=float)
    share = expected if events else None
    often = np.ones(len(expected), dtype=bool)
    if events:
        often = len(values) * np.minimum(expected, 1.0 - expected) >= EVENTS
    found = len(values) / batches / autocorrelation_time(values[:, often]).max()
    if found < worth:
        raise TooFewDraws(f"a batch is worth {found:.1f} independent draws, not {worth:g}")
    names = [str(i) for i in range(len(expected))]
    return compare_means(batch_means(values, batches), expected, names, share=share, worth=found).p_value
