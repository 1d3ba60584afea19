"""Tilts below that of a saddle: far fewer points where rare giant losses rule it, and the same δ."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from epsilond.accountants.curve import Pair
from epsilond.accountants.engine.lattice.composition import compose
from epsilond.accountants.engine.lattice.lower_tilts import lower_place
from epsilond.accountants.engine.lattice.product import ComposedProfile
from epsilond.accountants.engine.lattice.spectrum import likely_period
from epsilond.accountants.engine.lattice.tilted import Weighted
from tests.engine.pairs import without_replacement

STEP, LOG_WIDTH = 0.125 * math.log(2.0), math.log(1e-4)


def law(places: np.ndarray, log_masses: np.ndarray, count: float) -> Weighted:
    log_masses = log_masses - np.logaddexp.reduce(log_masses)
    return Weighted(places, log_masses, np.zeros(1, dtype=np.int64), np.asarray([count]))


SMOOTH = np.linspace(-1.0, 1.2, 81)
BELL = law(SMOOTH, -(SMOOTH**2), 50.0)
GIANT = law(np.append(0.01 * SMOOTH, 10.0), np.append(-(SMOOTH**2), -22.0), 100.0)


def test_a_smooth_law_keeps_its_saddle() -> None:
    saddle = BELL.saddle(20.0, direct=True)
    assert lower_place(BELL, saddle.snapped(STEP), 20.0, LOG_WIDTH, step=STEP) is None


def test_where_giant_losses_rule_the_period_is_shorter_and_the_sum_hardly_larger() -> None:
    epsilon = 0.8
    saddle = GIANT.saddle(epsilon, direct=True)
    found = lower_place(GIANT, saddle.snapped(STEP), epsilon, LOG_WIDTH, step=STEP)
    assert found is not None
    assert found.tilt < saddle.tilt
    assert found == found.snapped(STEP)
    periods = [likely_period(GIANT, place, LOG_WIDTH) for place in (found, saddle.snapped(STEP))]
    assert periods[0] <= 0.5 * periods[1]
    assert lower_place(GIANT, saddle, epsilon, LOG_WIDTH, step=STEP, most=2.0 * periods[1]) is None
    sums = [GIANT.value(place.tilt) - place.tilt * epsilon for place in (found, saddle)]
    assert sums[0] <= sums[1] + 1.1


def rare(rate: float, mu: float, rounds: int, epsilon: float) -> tuple[float, float]:
    """Ends of δ of rare rounds by how many of them draw: none, and one with what the others add at most, or more.

    With r the likelihood ratio of a round that draws, one of two rounds is drawn at most but for chance (Tq)²/2.
    """
    with mpmath.workdps(30):

        def single(level: mpmath.mpf) -> mpmath.mpf:
            drawn = mpmath.log1p(mpmath.expm1(level) / rate)
            return rate * (mpmath.ncdf(mu / 2 - drawn / mu) - mpmath.exp(drawn) * mpmath.ncdf(-mu / 2 - drawn / mu))

        def beyond(level: mpmath.mpf) -> mpmath.mpf:
            drawn = mpmath.log1p(mpmath.expm1(level) / rate)
            return rate * mpmath.ncdf(mu / 2 - drawn / mu) + (1 - rate) * mpmath.ncdf(-mu / 2 - drawn / mu)

        lower = rounds * single(mpmath.mpf(epsilon)) - (rounds * beyond(mpmath.mpf(epsilon))) ** 2 / 2
        upper = rounds * single(mpmath.mpf(epsilon) / 2) + (rounds * beyond(mpmath.mpf(epsilon) / 2)) ** 2
        return float(mpmath.log(lower)), float(mpmath.log(upper))


@pytest.mark.parametrize(
    ("rate", "noise", "rounds", "epsilon"), [(1e-4, 0.83, 100, 1.0), (1e-6, 0.756, 2000, 0.1), (1e-3, 1.15, 100, 1.0)]
)
def test_rare_rounds_are_enclosed_narrowly_with_few_points(
    rate: float, noise: float, rounds: int, epsilon: float
) -> None:
    found = compose([(without_replacement(rate, 2.0 / noise), rounds)]).forward
    assert isinstance(found, ComposedProfile)
    lower, upper = found.ends(epsilon)
    least, most = rare(rate, 2.0 / noise, rounds, epsilon)
    assert lower <= upper <= lower + 5e-4
    assert upper >= least
    assert lower <= most
    for tilt in found.evaluation(epsilon).tilts:
        assert found._spectrum(tilt, from_above=True)[1].size <= 2**18


def test_any_tilt_gives_true_ends() -> None:
    """Ends on the lower tilt and on those around it overlap."""
    pair: Pair = compose([(without_replacement(1e-4, 2.0 / 0.83), 100)])
    order = pair.forward
    assert isinstance(order, ComposedProfile)
    (chosen, *_) = order.evaluation(1.0).tilts
    ends = []
    for steps in (-4, 0, 4, 8):
        place = chosen.place._replace(y=chosen.place.y + steps * STEP)
        moved = chosen._replace(place=place, key=chosen.key._replace(band=math.floor(place.y / (0.25 * math.log(2.0)))))
        ends.append((order.lower_on([moved], 1.0), order.upper_on([moved], 1.0)))
    assert max(lower for lower, _ in ends) <= min(upper for _, upper in ends)


@pytest.mark.parametrize(("rate", "mu", "rounds", "epsilon"), [(0.1, 1.0, 100, 1.0), (1e-4, 2.4, 100, 1.0)])
def test_a_lower_end_sought_near_an_epsilon_is_as_close(rate: float, mu: float, rounds: int, epsilon: float) -> None:
    """Where δ at the ε is about the target's, and where it is not."""
    pair = compose([(without_replacement(rate, mu), rounds)])
    at = pair.ends(epsilon).upper
    for moved in (-0.3, 0.0, 0.2, 3.0):
        whole = pair.epsilon(at - moved)
        lower = pair.lower_epsilon(at - moved, epsilon)
        assert pair.ends(lower).lower > at - moved
        assert lower <= whole.upper
        assert lower == pytest.approx(whole.lower, rel=1e-4)
