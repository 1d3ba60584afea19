"""What a table is read from: quick bounds at rising ε are bounds, and hardly above those that take longer."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from epsilond.accountants.account import account
from epsilond.accountants.curve.least import least_of
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.engine.lattice.composition import compose
from epsilond.accountants.kinds.randomized_response import response_pair
from epsilond.accountants.numerics.compound_sum import CompoundSum
from epsilond.accountants.numerics.step_law import StepLaw, WeightedPoints
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.quantities import Observer
from epsilond.accountants.specs import Laplace, RandomizedResponse, Repeated, Shuffled
from epsilond.accountants.theorems.shuffling.batch_clones import BatchClonesBound
from epsilond.accountants.theorems.shuffling.clones import ClonesBound
from epsilond.accountants.theorems.shuffling.gaussian import GaussianBlanketBound
from epsilond.accountants.theorems.shuffling.local_curve import CELLS, LocalCurve, cell_representative, log_distance
from epsilond.accountants.theorems.shuffling.local_guarantee import LocalClonesBound
from epsilond.accountants.theorems.shuffling.tails import PairBound, ScaledBound, scaled_pair

BOUNDS = (
    ClonesBound(300, 0.3, 1.2),
    ClonesBound(10_000, 0.37, 1.0),
    ClonesBound(10_000, 0.1, 2.3, math.log(1e-15)),
    LocalClonesBound(5000, LocalCurve(gaussian_pair(0.5))),
    BatchClonesBound(1000, LocalCurve(gaussian_pair(0.4)), LocalCurve(gaussian_pair(0.8))),
    GaussianBlanketBound(10_000, 2.0),
    GaussianBlanketBound(100, 4.0),
)
EPSILONS = np.concatenate(([0.0], np.geomspace(1e-3, 1.5, 16)))


@pytest.mark.parametrize("bound", BOUNDS, ids=lambda bound: f"{type(bound).__name__}-{bound.clients}")
def test_bounds_at_rising_epsilon_are_bounds_and_close(bound: ScaledBound) -> None:
    sequential_upper = bound.sequential_upper()
    for epsilon in EPSILONS.tolist():
        ends, found = bound.log_bound(epsilon), sequential_upper(epsilon)
        assert ends.lower <= found or found == -math.inf
        if ends.upper > -60.0:
            assert found <= bound.upper(epsilon) + 0.3


@pytest.mark.parametrize("local", [0.1, 1.0, 5.0])
def test_both_ends_hold_just_below_the_largest_loss(local: float) -> None:
    """Without other clients it is randomised response, whose δ is (1 − e^{ε−ε₀})/(1 + e^{−ε₀})."""
    bound = ClonesBound(1, 0.5, local)
    for below in (1e-6, 1e-9, 1e-10, 1e-13):
        epsilon = local * (1.0 - below)
        lower, upper = bound.log_bound(epsilon)
        exact = math.log(-math.expm1(epsilon - local)) - math.log1p(math.exp(-local))
        assert lower <= exact <= upper <= lower + 1e-9
        assert exact <= bound.upper(epsilon) <= exact + 1e-5


@pytest.mark.parametrize("coarse", [False, True])
@pytest.mark.parametrize("mu", [0.1, 0.5, 2.0])
@pytest.mark.parametrize("clients", [40, 2000, 10**9])
def test_planned_rows_bound_what_the_sum_of_the_reports_tells(clients: int, mu: float, coarse: bool) -> None:
    own, sum_told = gaussian_pair(mu), gaussian_pair(mu / math.sqrt(clients))
    for bound in (
        LocalClonesBound(clients, LocalCurve(own), coarse),
        BatchClonesBound(clients, LocalCurve(own), LocalCurve(gaussian_pair(2.0 * mu)), coarse),
    ):
        rows = bound.rows()
        assert rows.epsilon[0] == 0.0
        assert (np.diff(rows.epsilon) > 0.0).all()
        assert rows.log_value.min() < -700.0
        assert (rows.log_value >= sum_told.log_delta(rows.epsilon).lower).all()
        assert (rows.log_value <= own.log_delta(rows.epsilon).upper + 1e-12).all()
        known = np.asarray([bound.upper(epsilon) for epsilon in rows.epsilon[::9].tolist()])
        above, likely = rows.log_value[::9] - known, known > -40.0
        assert above[likely].max() <= (1.2 if coarse else 0.4)
        assert above.max() <= 4.0


@pytest.mark.parametrize("clients", [300, 10**6])
@pytest.mark.parametrize("mu", [0.3, 1.0])
def test_a_table_of_a_cell_serves_every_noise_in_it(clients: int, mu: float) -> None:
    """Rows at both ends of a cell are bounds at that noise, not far above the best; the ε are the same."""
    middle = cell_representative(gaussian_pair(mu)).gaussian_dp_mu
    assert middle is not None
    ends = [middle * 2.0 ** (share / CELLS) for share in (-0.49, 0.49)]
    tables = []
    for end in ends:
        bound = LocalClonesBound(clients, LocalCurve(gaussian_pair(end)))
        assert cell_representative(gaussian_pair(end)).gaussian_dp_mu == middle
        rows = bound.rows()
        known = np.asarray([bound.log_bound(epsilon) for epsilon in rows.epsilon[:40:4].tolist()])
        assert (rows.log_value[:40:4] <= known[:, 1] + 0.3).all()
        tables.append(rows)
    assert (tables[0].epsilon == tables[1].epsilon).all()
    assert (tables[0].log_value < tables[1].log_value).all()
    told = gaussian_pair(ends[1] / math.sqrt(clients)).log_delta(tables[1].epsilon).lower
    assert (tables[1].log_value >= told).all()


@pytest.mark.parametrize("clients", [2, 300, 10**9])
def test_bounds_at_several_epsilon_are_those_at_each(clients: int) -> None:
    bound = ClonesBound(clients, 0.2, 1.6, -30.0)
    at = np.concatenate(([0.0], np.geomspace(1e-6, 2.0, 40)))
    together, each = bound.upper_bounds(at), np.asarray([bound.upper(epsilon) for epsilon in at.tolist()])
    exact = np.asarray([bound.log_bound(epsilon) for epsilon in at.tolist()])
    assert (together >= exact[:, 0]).all()
    assert np.allclose(together, each, rtol=0.0, atol=1e-4)


@pytest.mark.parametrize(("clients", "room"), [(300, 1e-9), (10_000, 1e-9), (10**9, 0.1)])
def test_the_quick_bound_of_clones_is_hardly_above_the_exact_one(clients: int, room: float) -> None:
    bound = ClonesBound(clients, 0.37, 1.0)
    for epsilon in np.geomspace(0.1, 12.0, 9).tolist():
        at = min(epsilon / math.sqrt(0.37 * clients), 0.99)
        ends = bound.log_bound(at)
        assert ends.lower <= bound.upper(at) <= ends.upper + room


def test_a_quicker_sum_encloses_the_finer_one() -> None:
    places = np.asarray([-0.8, -0.1, 0.3, 1.1])
    law = StepLaw(WeightedPoints(places, np.asarray([0.3, 0.2, 0.2, 0.1]), np.zeros(4), np.zeros(4)))
    for count in (30, 3000):
        fine = CompoundSum(law, count).log_positive_part()
        for start in (None, 0.01, 1.0):
            coarse = CompoundSum(law, count, start).log_positive_part(8.0)
            assert coarse.lower <= fine.upper
            assert fine.lower <= coarse.upper <= fine.upper + 1e-2


def test_the_least_of_symmetric_pairs_falls_where_the_first_of_them_does() -> None:
    pairs: list[Pair] = [gaussian_pair(0.7), scaled_pair(GaussianBlanketBound(10_000, 2.0)), gaussian_pair(1.5)]
    for order in (pairs, pairs[::-1]):
        for log_delta in (-3.0, -14.0, -40.0):
            found = least_of(order).epsilon(log_delta)
            each = [pair.epsilon(log_delta) for pair in order]
            assert found.upper == min(one.upper for one in each)
            assert found.lower <= min(one.upper for one in each)
            assert found.lower == pytest.approx(min(one.lower for one in each), rel=1e-9)


@pytest.mark.parametrize("observer", ["shuffled-server", "final-model"])
def test_repeated_shuffled_reports_of_a_pure_guarantee_have_a_curve(observer: Observer) -> None:
    """At the largest loss of one report nothing is left, so that rows laid between two such have no estimate."""
    report = Shuffled(clients=100, mechanism=Laplace(scale_multiplier=1.5))
    for times in (2, 10**10):
        found = account(Repeated(times=times, mechanism=report), relation="replace-one", observer=observer)
        upper = found.guarantee.curve.epsilon(-30.0).upper
        assert 0.0 < upper <= times * 2.0 / 1.5 * (1.0 + 1e-9)


@pytest.mark.parametrize("clients", [1, 2, 10, 1000])
def test_shuffled_responses_have_an_epsilon_at_every_delta(clients: int) -> None:
    """Beyond the largest loss both ends of log δ are −∞, whose difference is not a number."""
    report = Shuffled(clients=clients, mechanism=RandomizedResponse(epsilon=1.0, categories=3))
    curve = account(report, relation="replace-one", observer="shuffled-server").guarantee.curve
    before = math.inf
    for log10_delta in (-1e6, -311.0, -300.0, -299.7, -200.0, -6.0):
        lower, upper = curve.epsilon(log10_delta * math.log(10.0))
        assert 0.0 <= lower <= upper <= 1.0 + 1e-9
        assert lower <= before
        before = upper + 1e-9


@pytest.mark.parametrize("times", [2, 1000])
def test_a_law_of_few_losses_has_no_infinite_loss_in_a_composition(times: int) -> None:
    """ε where δ is far below the rounding of one step's: by the sum over how often each loss comes."""
    step, categories = 0.01, 305_145_138_308
    rare = math.exp(step) / (math.exp(step) + categories - 1.0)
    pair = compose([(scaled_pair(PairBound(response_pair(step, categories))), times)])
    target = math.log(2.57e-25)

    def delta(epsilon: float) -> float:
        return math.fsum(
            math.comb(times, up)
            * math.comb(times - up, down)
            * rare**up
            * (rare * math.exp(-step)) ** down
            * max(-math.expm1(epsilon - step * (up - down)), 0.0)
            for up in range(4)
            for down in range(4 - up)
            if up + down <= times
        )

    found = pair.epsilon(target).upper
    assert found < math.inf
    assert delta(found) <= math.exp(target)
    assert delta(found - 2e-3) > math.exp(target)


def test_what_a_distance_costs_is_rounded_up() -> None:
    """Against fifty digits: the logarithms are large, so that their own roundings are."""
    epsilon = np.linspace(0.01, 690.0, 97)
    log_delta = np.linspace(-740.0, -3.0, 97)[::-1]
    for clients in (2, 1000, 10**9):
        for found, local, charge in zip(log_distance(clients, epsilon, log_delta), epsilon, log_delta, strict=True):
            with mpmath.workdps(50):
                share = 1 / (1 + mpmath.exp(mpmath.mpf(float(local))))
                factor = share + (clients - 1) * mpmath.exp(-mpmath.mpf(float(local))) * (1 + share)
                exact = mpmath.mpf(float(charge)) + mpmath.log(factor)
                assert exact <= mpmath.mpf(float(found)) <= exact + mpmath.mpf("1e-12")
