"""Lower bounds of hidden sets of batches: enumerated pairs, integrals, and events in thirty digits."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from epsilond.accountants.account import account
from epsilond.accountants.composition.product import composed_pair
from epsilond.accountants.profiles.allocation.hidden_choice import (
    hidden_choice_pair,
    log_choices,
    replaced_choice_pairs,
)
from epsilond.accountants.profiles.binned import finite_pair
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.specs import Gaussian, RandomAllocation
from tests.oracles.allocation import divergence, mixture, two_batches

ONE = pytest.mark.compares("epsilond.allocation-one-of-t")
SEVERAL = pytest.mark.compares("epsilond.allocation-k-of-t")
REPLACED = pytest.mark.compares("epsilond.allocation-replace-one")
EPSILONS = (0.0, 0.1, 0.7, 1.5, 3.0, 5.0)
BASES = [
    ((Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)), (Fraction(1, 100), Fraction(1, 3), Fraction(197, 300))),
    ((Fraction(9, 10), Fraction(1, 10), Fraction(0)), (Fraction(1, 1000), Fraction(99, 1000), Fraction(9, 10))),
    ((Fraction(1, 2), Fraction(1, 2), Fraction(0)), (Fraction(0), Fraction(1, 2), Fraction(1, 2))),
]


def product(laws: list[tuple[Fraction, ...]]) -> dict[Any, Fraction]:
    """The law of independent outputs."""
    outcomes = itertools.product(*(range(len(law)) for law in laws))
    return {outcome: math.prod((law[i] for law, i in zip(laws, outcome, strict=True)), start=Fraction(1))
            for outcome in outcomes}  # fmt: skip


def logs(law: tuple[Fraction, ...]) -> Any:
    return np.asarray([math.log(mass) if mass else -math.inf for mass in law])


def delta(pair: Any, direction: str, epsilon: float) -> float:
    return math.exp(getattr(pair, direction).lower_log_delta(epsilon))


@SEVERAL
@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize(("steps", "chosen", "runs"), [(2, 1, 1), (2, 1, 2), (4, 1, 1), (4, 2, 1), (4, 3, 1)])
def test_no_enumerated_allocation_is_below_the_pair(base: Any, steps: int, chosen: int, runs: int) -> None:
    """Both directions, of one allocation and of two, composed."""
    present, absent = base
    sets = list(itertools.combinations(range(steps), chosen))
    one = mixture([product([present if i in each else absent for i in range(steps)]) for each in sets])
    none = product([absent] * steps)
    witness = composed_pair([(finite_pair(logs(present), logs(absent)), chosen)], "default")
    pair = composed_pair([(hidden_choice_pair(witness, log_choices(steps, chosen, 1)), runs)], "default")
    if runs == 2:
        one = {(a, b): one[a] * one[b] for a in one for b in one}
        none = {(a, b): none[a] * none[b] for a in none for b in none}
    for epsilon in EPSILONS:
        gamma = Fraction(math.exp(epsilon))
        assert delta(pair, "forward", epsilon) <= float(divergence(one, none, gamma)) * (1 + 1e-12)
        assert delta(pair, "backward", epsilon) <= float(divergence(none, one, gamma)) * (1 + 1e-12)


@SEVERAL
def test_the_pair_says_something_of_enumerated_allocations() -> None:
    present, absent = BASES[1]
    pair = hidden_choice_pair(finite_pair(logs(present), logs(absent)), math.log(4.0))
    # The first outcome has the masses 9/10 and, in one of four batches at most, 4/1000.
    assert delta(pair, "forward", 1.0) == pytest.approx(0.9 - math.e * 0.004, rel=1e-6)
    assert delta(pair, "backward", 1.0) == pytest.approx(0.996 - math.e * 0.1, rel=1e-6)


@ONE
@pytest.mark.parametrize(("shift", "deviations"), list(itertools.product((4.5, 12.0, 30.0, 100.0), (-2.0, 0.0, 4.75))))
def test_one_of_two_batches_by_an_integral(shift: float, deviations: float) -> None:
    epsilon = 0.5 * shift**2 + deviations * shift
    pair = hidden_choice_pair(gaussian_pair(shift), log_choices(2, 1, 1))
    remove, _ = two_batches(shift, epsilon)
    assert remove * (1 - 1e-3 if shift >= 30.0 else 0.5) < delta(pair, "forward", epsilon) <= remove * (1 + 1e-9)


@ONE
@pytest.mark.parametrize("noise", [0.01, 0.02, 0.03, 0.049, 0.05, 0.051, 0.1, 0.3, 1.0])
@pytest.mark.parametrize("log10_delta", [-3.0, -6.0, -12.0])
@pytest.mark.parametrize("relation", ["add-or-remove-one", "zero-out-one"])
def test_one_of_a_hundred_is_close_at_every_noise(noise: float, log10_delta: float, relation: Any) -> None:
    mechanism = Gaussian(noise_multiplier=noise)
    spec = RandomAllocation(steps=100, times_chosen=1, kept=False, epochs=1, mechanism=mechanism)
    curve = account(spec, relation=relation, observer="released-models").guarantee.curve
    lower, upper = curve.epsilon(log10_delta * math.log(10.0))
    choice = (
        1.0001 * math.log(100.0) if noise < 0.05 else 0.0
    )  # above a shift of 20 the upper bound is for public batches
    assert lower <= upper <= max(lower + choice, 1.007 * lower + 0.01)


@SEVERAL
@pytest.mark.parametrize("noise", [0.01, 0.05, 0.1])
@pytest.mark.parametrize(("kept", "epochs"), [(False, 1), (False, 3), (True, 3)])
def test_ten_of_a_hundred_lose_the_choice_of_the_set_at_most(noise: float, kept: bool, epochs: int) -> None:
    mechanism = Gaussian(noise_multiplier=noise)
    spec = RandomAllocation(steps=100, times_chosen=10, kept=kept, epochs=epochs, mechanism=mechanism)
    curve = account(spec, relation="add-or-remove-one", observer="released-models").guarantee.curve
    lower, upper = curve.epsilon(math.log(1e-6))
    choices = (1 if kept else epochs) * math.log(math.comb(100, 10))
    public = gaussian_pair(math.sqrt(10 * epochs) / noise).epsilon(math.log(1e-6)).lower
    assert public - choices <= lower * (1 + 1e-9)
    assert lower <= upper <= public * (1 + 1e-9)


def opposite_event(shift: float, steps: int, high: float, low: float) -> tuple[Any, Any]:
    """Probabilities, for one output with the shift and with its opposite, that the largest exceeds `high` and all `low`."""

    def tail(x: float) -> Any:
        return mp.erfc(mp.mpf(x) / mp.sqrt(2)) / 2

    others = tail(low) ** (steps - 1)
    others_above = -others * mp.expm1((steps - 1) * mp.log1p(-tail(high) / tail(low)))

    def both(mean: float) -> Any:
        first, first_above = tail(low - mean), tail(high - mean)
        return first_above * others + (first - first_above) * others_above

    return both(shift), both(-shift)


@REPLACED
@pytest.mark.parametrize(("shift", "steps"), [(4.0, 2), (5.0, 3), (8.0, 100), (20.0, 2), (40.0, 50)])
@pytest.mark.parametrize("share", [0.2, 0.4, 0.9])
def test_an_event_attains_the_bound_for_opposite_contributions(shift: float, steps: int, share: float) -> None:
    epsilon = share * shift**2
    pairs = replaced_choice_pairs(shift, steps, 1, 1)
    attained = max(math.exp(pair.forward.lower_log_delta(epsilon)) for pair in pairs)
    best = mp.mpf(0)
    for low, high in itertools.product(np.linspace(-4.0, 0.0, 17), np.linspace(0.0, shift + 6.0, 60)):
        present, replaced = opposite_event(shift, steps, float(high), float(low))
        best = max(best, present - mp.exp(epsilon) * replaced)
    assert 0.3 * float(best) <= attained <= float(best) * 1.05  # the grid of events is coarse


@REPLACED
@pytest.mark.parametrize("epsilon", [1.0, 8.0, 14.0, 20.0, 30.0])
def test_opposite_contributions_in_one_of_two_batches_on_a_grid(epsilon: float) -> None:
    shift, step = 5.0, 0.01
    x = np.arange(-14.0, 14.0, step)
    first, second = np.meshgrid(x, x)
    normal = np.exp(-0.5 * (first**2 + second**2)) / (2 * math.pi)
    present = 0.5 * normal * np.exp(-0.5 * shift**2) * (np.exp(shift * first) + np.exp(shift * second))
    replaced = 0.5 * normal * np.exp(-0.5 * shift**2) * (np.exp(-shift * first) + np.exp(-shift * second))
    truth = float(np.maximum(present - math.exp(epsilon) * replaced, 0.0).sum()) * step * step
    for pair in replaced_choice_pairs(shift, 2, 1, 1):
        for name in ("forward", "backward"):  # both contributions are mirror images
            assert math.exp(getattr(pair, name).lower_log_delta(epsilon)) <= truth * (1 + 1e-4)


@REPLACED
@pytest.mark.parametrize("chosen", [1, 10])
@pytest.mark.parametrize("noise", [0.01, 0.05, 0.2])
def test_a_replaced_unit_with_little_noise_has_a_lower_bound(noise: float, chosen: int) -> None:
    mechanism = Gaussian(noise_multiplier=noise)
    spec = RandomAllocation(steps=100, times_chosen=chosen, kept=False, epochs=1, mechanism=mechanism)
    curve = account(spec, relation="replace-one", observer="released-models").guarantee.curve
    lower, upper = curve.epsilon(math.log(1e-6))
    removed = account(spec, relation="zero-out-one", observer="released-models").guarantee.curve
    assert removed.epsilon(math.log(1e-6)).lower * 1.05 < lower <= upper


def test_the_number_of_sets_is_not_understated() -> None:
    for steps, chosen in [(2, 1), (100, 10), (1000, 500), (12345, 678)]:
        exact = mp.log(mp.mpf(math.comb(steps, chosen)))
        assert 0 <= mp.mpf(log_choices(steps, chosen, 3)) - 3 * exact < 1e-9 * (1 + exact)
