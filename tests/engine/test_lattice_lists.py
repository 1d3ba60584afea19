"""Lists of different laws, and very many rounds of one: where losses end, where lattices lie, where a search starts."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from scipy.special import gammaln

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.near_tests import NearTest, adapt_width
from epsilond.accountants.curve.pair import Pair, with_plateau
from epsilond.accountants.curve.plateaus import Plateau
from epsilond.accountants.engine.lattice import laws, tangents
from epsilond.accountants.engine.lattice.composition import compose
from epsilond.accountants.engine.lattice.product import ComposedProfile
from epsilond.accountants.engine.lattice.tangent_lines import LoweredCells
from epsilond.accountants.kinds.randomized_response import response_pair
from epsilond.accountants.meaning import meaning
from epsilond.accountants.profiles.amplification import subsample_at
from epsilond.accountants.profiles.drawn import amplified_epsilon
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.profiles.geometric import geometric_pair
from epsilond.accountants.profiles.laplace import laplace_pair

RATES = (1e-12, 0.01, 0.5, 0.97, 1.0 - 2.0**-40)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("shift", [1e-3, 1.0, 30.0, 650.0])
def test_the_largest_loss_of_a_drawn_pair_is_that_of_its_base_rounded_up(rate: float, shift: float) -> None:
    pair = subsample_at(laplace_pair(shift), rate)
    with mp.workdps(60):
        q, s = mp.mpf(rate), mp.mpf(shift)
        for profile, exact in (
            (pair.forward, mp.log(1 - q + q * mp.exp(s))),
            (pair.backward, -mp.log(1 - q + q * mp.exp(-s))),
        ):
            found = profile.supremum
            assert exact <= found <= exact * (1 + mp.mpf(10) ** -13)


@pytest.mark.parametrize("shift", [40.0, 100.0, 378.0, 650.0])
@pytest.mark.parametrize("grown", [1e-5, 1e-2, 1.0])
def test_the_largest_loss_of_a_very_rare_draw_is_rounded_up_too(shift: float, grown: float) -> None:
    rate = grown * math.exp(-shift)
    forward = subsample_at(laplace_pair(shift), rate).forward
    with mp.workdps(400):
        exact = mp.log1p(mp.mpf(rate) * mp.expm1(mp.mpf(shift)))
        # What is added to the shift is magnified by it.
        assert exact <= forward.supremum <= exact * (1 + mp.mpf(10) ** -12)


@pytest.mark.parametrize("epsilon", [690.0, 710.0, 1390.0, 1410.0])
@pytest.mark.parametrize("rate", [1e-308, 1e-303, 0.5, 1.0])
def test_the_loss_of_a_drawn_pair_keeps_its_digits_at_any_epsilon(epsilon: float, rate: float) -> None:
    with mp.workdps(700):
        exact = mp.log1p(mp.mpf(rate) * mp.expm1(mp.mpf(epsilon)))
        assert abs(amplified_epsilon(epsilon, rate) / exact - 1) <= 1e-15


def test_no_largest_loss_is_named_where_there_is_none() -> None:
    assert gaussian_pair(1.0).forward.supremum == math.inf
    assert geometric_pair(0.3, 2, 9).forward.supremum == math.inf
    assert subsample_at(gaussian_pair(1.0), 0.1).forward.supremum == math.inf
    # To add, no loss exceeds that of a record that was not drawn.
    assert subsample_at(gaussian_pair(1.0), 0.1).backward.supremum == pytest.approx(-math.log(0.9))
    assert geometric_pair(0.3, 2).forward.supremum == pytest.approx(0.6)


PARTS = [(0.2 / (1.0 + 0.37 * place), 0.005 + 0.002 * place) for place in range(10)]
"""Shifts and rates."""


def drawn_laplaces() -> Pair:
    pair = compose([(subsample_at(laplace_pair(shift), rate), 1) for shift, rate in PARTS])
    assert isinstance(pair.forward, ComposedProfile)
    return pair


def test_a_test_smaller_than_the_largest_loss_has_that_loss_for_its_rate() -> None:
    """All noise beyond its shift has the largest loss: of the second law 2^−10 e^{−Σs}, far more than 10^−5."""
    pair = drawn_laplaces()
    most = math.fsum(math.log1p(rate * math.expm1(shift)) for shift, rate in PARTS)
    assert 0.5 ** len(PARTS) * math.exp(-math.fsum(shift for shift, _ in PARTS)) > 1e-4
    found = {one.false_positive_rate: one.true_positive_rate for one in meaning(Curve(pair, (pair,))).true_positives}
    lower, upper = found[1e-5]
    assert lower <= 1e-5 * math.exp(most) <= upper
    assert upper - lower <= 1e-6 * upper


def test_of_a_list_few_lower_laws_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    tried, best = 0, 0
    one, several = tangents._dominated_distribution, tangents.best_lower_distribution

    def counted(*asked: object) -> object:
        nonlocal tried
        tried += 1
        return one(*asked)  # type: ignore[arg-type]

    def chosen(*asked: object, **more: object) -> object:
        nonlocal best
        best += 1
        return several(*asked, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(tangents, "_dominated_distribution", counted)
    monkeypatch.setattr(laws, "best_lower_distribution", chosen)
    lower, upper = drawn_laplaces().epsilon(math.log(1e-6))
    assert best > 0
    assert tried <= 4 * best
    assert upper - lower <= 1e-4 * upper


@pytest.mark.parametrize("tilt", [3.0, -0.4])
def test_offsets_put_the_ends_and_the_heaviest_cell_on_lattice_points(tilt: float) -> None:
    own = np.asarray([-0.731, -0.2, 0.11, 0.4173])
    index, masses = np.asarray([-9, -3, 3, 9]), np.log(np.full(4, 0.25))
    cells = LoweredCells(index, index + 6, masses, masses - own)
    unit = 0.05
    found = tangents._offsets(cells, unit, tilt)
    ends = (0.4173, -0.731, 0.4173) if tilt > 0.0 else (-0.731, 0.4173, -0.731)
    for offset, end in zip(found, ends, strict=True):
        assert abs(offset) <= unit
        assert math.remainder(end - offset, 2.0 * unit) == pytest.approx(0.0, abs=1e-12)


def test_both_orders_are_enclosed_as_if_each_were_read() -> None:
    pair = drawn_laplaces()
    plain = Pair(pair.forward, pair.backward)
    at = np.asarray([0.0, 0.002, 0.005, 0.0101, 0.0102, 1.0])
    for found, expected in zip(pair.log_delta(at), plain.log_delta(at), strict=True):
        assert np.array_equal(found, expected)


def exact_delta(shift: float, rounds: int, epsilon: float) -> mp.mpf:
    """δ of Laplace losses by inversion along the saddle in sixty digits, from the atoms and the density of one loss."""
    with mp.workdps(60):
        s, e = mp.mpf(shift), mp.mpf(epsilon)

        def moment(z: mp.mpc) -> mp.mpc:
            w = z + mp.mpf(1) / 2
            edges = (mp.exp(z * s) + mp.exp(-s - z * s)) / 2
            return edges + mp.exp(-s / 2) * (mp.exp(w * s) - mp.exp(-w * s)) / (4 * w)

        deviation = mp.sqrt(3 * mp.mpf(rounds))
        tilt = max((e - rounds * (s - 1)) / deviation**2, 1 / deviation)

        def integrand(t: mp.mpf) -> mp.mpf:
            z = mp.mpc(tilt, t / deviation)
            return mp.re(mp.exp(rounds * mp.log(moment(z) * mp.exp(-z * s)) + z * (rounds * s - e)) / (z * (1 + z)))

        return mp.quad(integrand, [0, 2, 5, 9, 16]) / (mp.pi * deviation)


@pytest.mark.parametrize("rounds", [10**6, 10**8, 10**9])
def test_very_many_rounds_of_large_losses_are_enclosed_closely(rounds: int) -> None:
    """An outline's mean is off by a quarter of a nat a round, which is thousands of deviations of so many."""
    pair = compose([(laplace_pair(1000.0), rounds)])
    lower, upper = pair.epsilon(math.log(1e-6))
    assert exact_delta(1000.0, rounds, upper) <= 1e-6 <= exact_delta(1000.0, rounds, lower)
    assert upper - lower <= 2e-3 * upper


@pytest.mark.parametrize("rounds", [10**5, 10**6])
def test_atoms_off_the_lattice_cost_little_in_very_many_rounds(rounds: int) -> None:
    """Drawn responses have two losses of no common measure, and a total of a binomial number of one of them.

    On a unit that puts both near lattice points the ends are further apart, of a million rounds nine times as far.
    """
    rate, epsilon = 0.1, 0.3
    pair = compose([(subsample_at(response_pair(epsilon, 2), rate), rounds)])
    lower, upper = pair.epsilon(math.log(1e-6))
    assert binomial_delta(rate, epsilon, rounds, upper) <= 1e-6 <= binomial_delta(rate, epsilon, rounds, lower)
    assert upper - lower <= 0.025 * upper


def binomial_delta(rate: float, response: float, rounds: int, epsilon: float) -> float:
    """The larger of both orders, by sums over how often the likelier response was given."""
    likely, unlikely = 1.0 / (1.0 + math.exp(-response)), 1.0 / (1.0 + math.exp(response))
    drawn = (1.0 - rate) * unlikely + rate * likely
    sums = []
    for first, second in ((drawn, unlikely), (unlikely, drawn)):
        given = np.arange(rounds + 1.0)
        log_mass = gammaln(rounds + 1.0) - gammaln(given + 1.0) - gammaln(rounds - given + 1.0)
        log_mass += given * math.log(first) + (rounds - given) * math.log1p(-first)
        losses = given * math.log(first / second) + (rounds - given) * math.log((1.0 - first) / (1.0 - second))
        sums.append(float((np.exp(log_mass) * -np.expm1(np.minimum(epsilon - losses, 0.0))).sum()))
    return max(sums)


def test_a_closer_guess_does_not_hang_on_what_was_asked_before() -> None:
    first, second = (compose([(laplace_pair(1000.0), 10**8)]).forward for _ in range(2))
    assert isinstance(first, ComposedProfile)
    assert isinstance(second, ComposedProfile)
    second.log_delta_bounds(9.99e10)
    assert first.guess(-13.0) == second.guess(-13.0)


def test_a_plateau_changes_nothing_but_where_it_lies() -> None:
    pair = drawn_laplaces()
    told = with_plateau(pair, Plateau(0.0095, Fraction(9, 10**8)))
    for log_delta in (-8.0, -12.0):
        assert told.epsilon(log_delta) == pair.epsilon(log_delta)
        assert told.upper_epsilon(log_delta) == pair.upper_epsilon(log_delta)
        assert told.lower_epsilon(log_delta) == pair.lower_epsilon(log_delta)
    log_delta = math.log(1e-7)
    assert pair.epsilon(log_delta).upper > 0.0095
    assert told.epsilon(log_delta) == (0.0095, 0.0095)
    assert told.upper_epsilon(log_delta) == 0.0095
    assert np.array_equal(told.log_delta(np.asarray([0.001])).upper, pair.log_delta(np.asarray([0.001])).upper)


def test_a_test_knows_the_width_of_its_rate() -> None:
    """E of e^−10 within 2^−10, where γ α is a thousand times as large."""
    near = NearTest(0.0, lambda _: Interval(-10.0 - 2.0**-10, -10.0), 2.0**-10, 5.0)
    found = adapt_width(near, 1000.0 * math.exp(-10.0))
    assert found.width == pytest.approx(4.0 * 2.0**-10 / 1001.0, rel=1e-6)
    assert adapt_width(near, 1e-9).width == near.width
    assert found._replace(width=near.width) == near
    unknown = near._replace(log_delta=lambda _: Interval(-math.inf, 0.0))
    assert adapt_width(unknown, 0.1) is unknown
