"""How often the suite fails by chance, from the tests that there are."""

from .chance import CERTAIN, JUDGED, KIT, SUSPECT


def test_the_suite_fails_by_chance_on_fewer_than_one_machine_in_10000(pytestconfig):
    """Of all tests that were collected: three p-values at most in each, or a check of the exactness kit."""
    judged = pytestconfig.stash[JUDGED]
    checks = [name for name in judged if "/test_kit_plugins.py::" in name]
    assert 3 * (len(judged) - len(checks)) * SUSPECT * CERTAIN + len(checks) * KIT < 1e-4
