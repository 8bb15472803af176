"""Runs of the chain against enumerated posteriors: everything that one sweep does, together."""

from functools import lru_cache

import pytest

from plugsamp.chain import Chain
from plugsamp.registry import resolve
from plugsamp.testing import (
    Enumeration,
    battery,
    cases_for,
    check_chain,
    check_invariance,
    kernel_configurations,
    label,
    variants,
)

from ..chance import TooFewDraws
from ..crossed import crossed

pytestmark = pytest.mark.usefixtures("blas_limited")
#: Composed kernels that mix well enough for few runs to tell of their bins.
MIXING = ("exp-cycle-2", "-mixture-3", "-cycle-8")
UPDATES = ("block", "coordinate")
BATTERY = battery()
#: Composition, number of steps and whether collapse is full, of composed kernels with all proposals.
ALL_PROPOSALS = (("mixture", 1, True), ("cycle", 3, True), ("cycle", 6, False), ("mixture", 8, False))
#: Sweeps of a free run.
FREE = 9000


@lru_cache(maxsize=2)  # some hold 100 MB
def exact_posterior(loss, index):
    return Enumeration(cases_for(loss)[index])


def chain_for(configuration, loss, index, weight_update, seed):
    exact = exact_posterior(loss, index)
    case = exact.case
    kernel = resolve("kernels", configuration[0], **configuration[1])
    return Chain(case.corpus(), case.model(), kernel, seed=seed, weight_update=weight_update), exact


def p_value(configuration, loss, index, weight_update, seed, restarts):
    chain, exact = chain_for(configuration, loss, index, weight_update, seed)
    return check_invariance(chain, exact, restarts=restarts, sweeps=10, seed=seed).p_value


def mixes(configuration):
    return configuration[0] != "composed" or label(configuration).endswith(MIXING)


def can_be_enumerated(loss):
    return cases_for(loss)[0].fixed_parameters


def in_turn(name, configuration, loss) -> bool:
    """Of the short battery what is run by default: every kernel and every loss, not every pair.

    Without responses all; with the hinge all kernels but the composed ones, of which each proposal has one
    collapse, and each composition, number of steps and collapse one or two of the others; with the other
    losses every tenth kernel, another one for each loss. The tokens of every pair are in
    test_token_transition.
    """
    if loss.unsupervised:
        return True
    if name.endswith("-hinge"):
        options = configuration[1]
        if configuration[0] != "composed":
            return True
        full = options["collapse"] == "full"
        if len(options["proposals"]) == 1:
            return full == (options["proposals"][0] in ("exp", "sparse"))
        return (options["composition"], options["steps"], full) in ALL_PROPOSALS
    kernels = [label(c) for id_, c, _, short in BATTERY if id_.endswith("-probit") and short]
    losses = [one for one in variants("losses") if one not in ("none", "hinge")]
    this = next(one for one in losses if name.endswith(f"-{one}"))
    return (kernels.index(label(configuration)) + 2 * losses.index(this)) % 10 == 0


def grid():
    """The battery with cases and updates in turn: of some pairs one by default, the rest is slow.

    That is, of each pair of a kernel and a loss, one case for each update (without responses, four), so
    that every kernel and every loss meet every case with every update.
    """
    result, turn, losses = [], 0, len(variants("losses"))
    for place, (name, configuration, loss, short) in enumerate(BATTERY):
        if not can_be_enumerated(loss):
            continue
        short = short and in_turn(name, configuration, loss)
        turn += short
        for number, update in enumerate(UPDATES[:1] if loss.unsupervised else UPDATES):
            first = short and (loss.unsupervised or number == (turn + turn // 4) % 2)
            chosen = (turn + number) % 4
            if first and chosen == 1 and not (loss.unsupervised or name.endswith("-hinge")):
                chosen = 0  # three topics and two outputs take seconds to enumerate: for the hinge alone
            for index in range(4):
                by_default = first and index == chosen
                in_turn_too = (index - place - place // losses - number) % 4 == 0
                if not (loss.unsupervised or by_default or in_turn_too):
                    continue
                marks = () if by_default else (pytest.mark.slow,)
                id = f"{name}-{update}-{index}"
                result.append(pytest.param(configuration, loss, index, update, marks=marks, id=id))
    # Those of one posterior after another: it is enumerated once, and few are in memory.
    return sorted(result, key=lambda one: (repr(one.values[1]), one.values[2]))


@pytest.mark.parametrize("configuration, loss, index, weight_update", grid())
def test_posterior_is_invariant(configuration, loss, index, weight_update, chance):
    chance.holds(lambda seed, scale: p_value(configuration, loss, index, weight_update, seed, 160 * scale))


def free_runs():
    """Cases of two and of three topics in turn; all, and those of slow kernels, with the long suite."""
    # exp alone is uniform without responses, and slow
    chosen = [c for c in kernel_configurations() if c[1].get("proposals") != ["exp"]]
    quick = [c for c in chosen if mixes(c) and c[1].get("steps", 0) < 8]
    slow = [(c, index) for c in chosen if c not in quick for index in range(2)]
    name = lambda one: label(one) if isinstance(one, tuple) else str(one)  # noqa: E731
    return [
        *crossed(quick, range(2), name),
        *(pytest.param(c, i, marks=pytest.mark.slow, id=f"{label(c)}-{i}") for c, i in slow),
    ]


@pytest.mark.parametrize("configuration, index", free_runs())
def test_free_run_matches_the_exact_posterior(configuration, index, chance):
    """From a random start, so that a chain which cannot reach every state is seen."""

    def free_p_value(seed, scale):
        chain, exact = chain_for(configuration, variants("losses")["none"], index, "auto", seed)
        result = check_chain(chain, exact, FREE * scale)
        if result.unusable:
            raise TooFewDraws(result.unusable)
        return result.p_value

    chance.holds(free_p_value)
