"""Clones and blankets of shuffled reports against enumeration and the published tables."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from epsilond.accountants.account import account
from epsilond.accountants.specs import (
    Approximate,
)
from epsilond.accountants.theorem import Status
from epsilond.accountants.theorems.papers.lowy_razaviyayn.shuffled_rounds import SINGLE_ROUND, RoundInputs
from epsilond.accountants.theorems.shuffling.clones import ClonesBound, response_bound
from epsilond.accountants.theorems.shuffling.closed_form import ClosedFormBound
from epsilond.accountants.theorems.shuffling.finite import (
    FiniteBlanketBound,
    blanket_outcomes,
    response_instance,
)
from epsilond.accountants.theorems.shuffling.local_curve import LocalCurve, log_distance
from epsilond.accountants.theorems.shuffling.local_guarantee import LocalClonesBound
from epsilond.accountants.theorems.shuffling.statements import APPROXIMATE_CLONES, CLONES, STRONGER_LEMMA
from epsilond.accountants.theorems.shuffling.tails import ScaledBound, scaled_pair
from tests.oracles import shuffling as oracle

ALPHAS = [Fraction(1), Fraction(101, 100), Fraction(6, 5), Fraction(3, 2), Fraction(19, 10), Fraction(5, 2)]
ROWS = [[Fraction(5, 10), Fraction(3, 10), Fraction(2, 10)], [Fraction(3, 10), Fraction(3, 10), Fraction(4, 10)],
        [Fraction(4, 10), Fraction(5, 10), Fraction(1, 10)]]  # fmt: skip


def log(x: Fraction) -> float:
    return math.log(x) if x > 0 else -math.inf


def encloses(bound: ScaledBound, alpha: Fraction, truth: Fraction, *, width: float | None = None) -> bool:
    lower, upper = bound.log_bound(math.log(alpha))
    if width is not None and truth > 0:
        assert upper - lower <= width
    return lower - 1e-12 <= log(truth) + 1e-15 <= upper + 1e-12


# Against enumeration ------------------------------------------------------------------------------------------------
def test_the_oracles_agree() -> None:
    """Counts are what a random order leaves: the divergence of sequences is that of multisets."""
    rows = oracle.response_rows(3, 2)
    first, second = ([rows[0], rows[1], rows[x], rows[1]] for x in (0, 1))
    for alpha in ALPHAS:
        whole = oracle.divergence(oracle.permuted(first), oracle.permuted(second), alpha)
        assert whole == oracle.divergence(oracle.shuffled(first), oracle.shuffled(second), alpha)


@pytest.mark.parametrize("clients", [1, 2, 3, 6])
@pytest.mark.parametrize("odds", [2, 7])
def test_the_clone_pair_is_exact(clients: int, odds: int) -> None:
    bound = ClonesBound(clients, 1 / odds, math.log(odds))
    for alpha in ALPHAS:
        truth = oracle.clone_delta(clients, Fraction(1, odds), Fraction(odds), alpha)
        assert encloses(bound, alpha, truth, width=1e-9)
    assert bound.log_bound(math.log(odds)) == (-math.inf, -math.inf)


@pytest.mark.parametrize("clients", [60, 400])
def test_the_clone_pair_of_many_clients(clients: int) -> None:
    bound = ClonesBound(clients, 0.25, math.log(4))
    for alpha in (Fraction(1), Fraction(5, 4), Fraction(2), Fraction(39, 10)):
        truth = oracle.clone_delta(min(clients, 60), Fraction(1, 4), Fraction(4), alpha)
        if clients == 60:
            assert encloses(bound, alpha, truth, width=1e-9)
        else:
            assert bound.upper(math.log(alpha)) < log(truth)


@pytest.mark.erratum("E-F2")
def test_the_number_of_clones_is_seen() -> None:
    """Without C the pair is a post-processing, and its δ is less than the bound."""
    seen, unseen = (
        oracle.clone_delta(5, Fraction(1, 3), Fraction(3), Fraction(3, 2), count_seen=known) for known in (True, False)
    )
    assert unseen < seen


@pytest.mark.parametrize("clients", [2, 3, 5])
@pytest.mark.parametrize("categories", [2, 3])
def test_bounds_of_randomized_response_dominate_and_instances_do_not(clients: int, categories: int) -> None:
    odds = 4
    rows = oracle.response_rows(odds, categories)
    epsilon = math.log(odds)
    for alpha in ALPHAS:
        truth = oracle.shuffled_delta(rows, clients, alpha)
        for bound in (ClonesBound(clients, 1 / odds, epsilon), response_bound(clients, epsilon, categories)):
            assert bound.upper(math.log(alpha)) >= log(truth) - 1e-12
        assert (
            response_instance(clients, epsilon, categories).log_delta_bounds(math.log(alpha)).lower
            <= log(truth) + 1e-12
        )


@pytest.mark.parametrize("clients", [1, 2, 7])
def test_two_categories_are_the_blanket_exactly(clients: int) -> None:
    for alpha in ALPHAS:
        truth = oracle.blanket_delta(oracle.response_rows(3, 2), clients, alpha)
        assert encloses(response_bound(clients, math.log(3), 2), alpha, truth, width=1e-9)


@pytest.mark.parametrize("clients", [2, 4, 6])
@pytest.mark.parametrize("rows", [ROWS, oracle.response_rows(5, 3)], ids=["any", "response"])
def test_the_finite_blanket(clients: int, rows: list[list[Fraction]]) -> None:
    bound = FiniteBlanketBound(clients, blanket_outcomes([[float(p) for p in row] for row in rows]))
    for alpha in ALPHAS[:4]:
        truth = oracle.blanket_delta(rows, clients, alpha)
        assert encloses(bound, alpha, truth, width=1.0)
        assert bound.upper(math.log(alpha)) <= log(truth) + 0.05
        assert truth >= oracle.shuffled_delta(rows, clients, alpha)


def test_an_outcome_that_hides_nothing_is_charged_whole() -> None:
    rows = [[Fraction(1, 2), Fraction(1, 2), Fraction(0)], [Fraction(1, 2), Fraction(0), Fraction(1, 2)]]
    bound = FiniteBlanketBound(4, blanket_outcomes([[float(p) for p in row] for row in rows]))
    truth = oracle.shuffled_delta(rows, 4, Fraction(2))
    assert bound.upper(math.log(2)) >= log(truth)
    assert bound.largest_loss == math.inf


@pytest.mark.parametrize("delta", [Fraction(1, 100), Fraction(1, 10)])
def test_approximate_clones_dominate(delta: Fraction) -> None:
    """Randomized response that tells the truth aloud with probability δ₀."""
    odds, clients = 3, 4
    told = [[delta * (i == j) for j in range(2)] for i in range(2)]
    rows = [
        [*((1 - delta) * p for p in row), *extra]
        for row, extra in zip(oracle.response_rows(odds, 2), told, strict=True)
    ]
    pair = account(
        Approximate(epsilon=math.log(odds), delta=float(delta)), relation="replace-one"
    ).guarantee.curve.upper
    for bound in (LocalClonesBound(clients, LocalCurve(pair)), ClosedFormBound(clients, LocalCurve(pair))):
        for alpha in ALPHAS:
            assert bound.upper(math.log(alpha)) >= log(oracle.shuffled_delta(rows, clients, alpha)) - 1e-12


@pytest.mark.parametrize("clients", [1, 2, 40])
@pytest.mark.parametrize("categories", [2, 6])
def test_counting_one_report_is_exact(clients: int, categories: int) -> None:
    odds = Fraction(5)
    told, other = odds / (odds + categories - 1), 1 / (odds + categories - 1)
    worlds = [oracle.shuffled([[p, 1 - p], *[[other, 1 - other]] * (clients - 1)]) for p in (told, other)]
    pair = response_instance(clients, math.log(5), categories)
    for alpha in (*ALPHAS, Fraction(49, 10)):
        for profile, (p, q) in ((pair.forward, worlds), (pair.backward, worlds[::-1])):
            lower, upper = profile.log_delta(np.asarray([math.log(alpha)]))
            truth = log(oracle.divergence(p, q, alpha))
            assert lower[0] - 1e-13 <= truth <= upper[0] + 1e-13
            tails = profile.log_tails(np.asarray([math.log(alpha)]))
            if np.isfinite(tails.log_p[0]):
                mass = math.exp(tails.log_p[0]) - float(alpha) * math.exp(tails.log_q[0])
                assert mass == pytest.approx(math.exp(truth), abs=1e-12)


# Against the published figures --------------------------------------------------------------------------------------
TABLE_4 = [
    # N, n, ε₀, δ, F.2, clones FMT21, stronger clones, exact randomized response
    (1000, 1, 0.5, 1e-6, 0.2726, 0.0705, 0.0627, 0.0569),
    (1000, 1, 1.0, 1e-4, 0.4932, 0.1210, 0.0974, 0.0807),
    (10_000, 1, 0.1, 1e-6, 0.01629, 0.002871, 0.002794, 0.002722),
    (10_000, 1, 1.0, 1e-6, 0.2140, 0.0530, 0.0432, 0.0357),
    (10_000, 1, 3.0, 1e-6, 0.8241, 0.3207, 0.2261, 0.1692),
    (100_000, 1, 1.0, 1e-8, 0.0824, 0.0206, 0.0169, 0.0139),
    (100_000, 1, 4.0, 1e-8, 0.5912, 0.2149, 0.1507, 0.1097),
    (10_000, 10, 0.1, 1e-6, 0.02547, 0.004724, None, None),
    (100_000, 100, 0.01, 1e-6, 8.14e-4, 8.76e-5, None, None),
    (100_000, 5, 0.5, 1e-6, 0.0812, 0.0173, None, None),
    (100_000, 5, 0.2, 1e-6, 0.0161, 0.00284, None, None),
    (1_000_000, 1, 1.0, 1e-8, 0.0268, 0.00613, 0.00501, None),
]


@pytest.mark.parametrize("row", TABLE_4, ids=lambda row: f"{row[0]}-{row[1]}-{row[2]}")
def test_table_4(row: tuple[Any, ...]) -> None:
    clients, records, local, delta, closed, cloned, stronger, least = row
    inputs = RoundInputs(clients=clients, samples_per_client=records, local_epsilon=local, delta=delta)
    assert SINGLE_ROUND.evaluate(inputs).outputs["formula_epsilon"] == pytest.approx(closed, rel=0.01)
    found = scaled_pair(ClonesBound(clients, math.exp(-records * local), local)).epsilon(math.log(delta))
    assert found.upper == pytest.approx(cloned, rel=0.01)
    assert found.upper - found.lower <= 1e-6 * found.upper
    if stronger is not None:
        assert scaled_pair(response_bound(clients, local, 2)).epsilon(math.log(delta)).upper == pytest.approx(
            stronger, rel=0.01
        )
    if least is not None:
        assert response_instance(clients, local, 2).epsilon(math.log(delta)).lower == pytest.approx(least, rel=0.01)


@pytest.mark.parametrize(("clients", "local", "expected"), [(100_000, 4.0, 0.16977), (10_000, 2.0, 0.155045)])
def test_the_peers_figures_without_binning(clients: int, local: float, expected: float) -> None:
    inputs = CLONES.inputs(clients=clients, local_epsilon=local, delta=1e-6)  # type: ignore[misc]
    outputs = CLONES.evaluate(inputs).outputs
    assert outputs["epsilon"] == pytest.approx(expected, rel=2e-5)
    assert outputs["lower_numerical_epsilon"] == pytest.approx(outputs["epsilon"], rel=1e-8)


# Laws ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("epsilon", [0.0, 1e-4, 0.02, 0.5])
def test_a_larger_crowd_never_hurts(epsilon: float) -> None:
    for bound in (lambda n: ClonesBound(n, math.exp(-1.0), 1.0), lambda n: response_bound(n, 1.0, 2)):
        ends = [bound(n).log_bound(epsilon) for n in (1, 2, 3, 10, 11, 100, 10_000, 10**6, 10**9)]
        assert all(more.lower <= less.upper for less, more in zip(ends, ends[1:], strict=False))


@pytest.mark.parametrize("exponent", [1, 60, 300])
def test_small_deltas_keep_their_relative_accuracy(exponent: int) -> None:
    for clients in (10**4, 10**9):
        pair = scaled_pair(ClonesBound(clients, math.exp(-0.5), 0.5))
        epsilon = pair.epsilon(-exponent * math.log(10.0))
        assert 0.0 <= epsilon.upper - epsilon.lower <= 1e-4 * epsilon.upper
        ends = pair.log_delta_bounds(epsilon.upper)
        assert ends.upper - ends.lower <= 3e-3


def test_ranges_of_clones_enclose_single_values() -> None:
    """With n = 3·10⁶ clones are told apart one by one, with 6·10⁶ in ranges: the ends must overlap in between."""
    for epsilon in (0.0, 1e-3, 4e-3, 2e-2):
        few, many = (ClonesBound(n, 0.3, 1.2).log_bound(epsilon) for n in (3 * 10**6, 6 * 10**6))
        assert few.upper - few.lower < 1e-6
        assert many.upper - many.lower < 3e-3 * max(1.0, abs(many.upper) / 30)
        assert many.lower < few.upper


def test_the_table_dominates_the_bound_it_is_read_from() -> None:
    bound = response_bound(1000, 1.0, 2)
    profile = scaled_pair(bound).forward
    points = np.linspace(0.0, 0.2, 20)
    tails = profile.log_tails(points)
    given = np.log(np.exp(tails.log_p) - np.exp(points + tails.log_q))
    own = np.asarray([bound.upper(point) for point in points])
    assert (given >= own - 1e-9).all()
    assert (given <= own + 0.1).all()
    assert profile.log_infinite_mass == -math.inf


def test_a_distance_costs_both_worlds() -> None:
    pure, near = ClonesBound(1000, 0.2, 1.0), ClonesBound(1000, 0.2, 1.0, math.log(1e-9))
    for epsilon in (0.0, 0.1, 2.0):
        expected = math.exp(pure.upper(epsilon)) + (1.0 + math.exp(epsilon)) * 1e-9
        assert math.exp(near.upper(epsilon)) == pytest.approx(expected, rel=1e-9)


def test_our_distance_is_less_than_the_printed_one() -> None:
    for local in (0.01, 1.0, 5.0):
        inputs = APPROXIMATE_CLONES.inputs(clients=1000, local_epsilon=local, local_delta=1e-9, epsilon=0.3)  # type: ignore[misc]
        found = APPROXIMATE_CLONES.evaluate(inputs).outputs
        assert found["added_delta"] < found["printed_added_delta"]
        share = 1 / (1 + math.exp(local))
        exact = (share + 999 * math.exp(-local) * (1 + share)) * 1e-9
        assert math.exp(float(log_distance(1000, np.asarray(local), np.log(1e-9)))) == pytest.approx(exact, rel=1e-12)


# The stronger clones ------------------------------------------------------------------------------------------------
@pytest.mark.erratum("E-F1")
def test_the_stronger_clones_are_not_always_there() -> None:
    """ln 2-private laws of which the third holds less of (R₀ + R₁)/3 than Lemma 3.5 says."""
    rows = [[Fraction(x, 5) for x in row] for row in ((2, 1, 2), (1, 2, 2), (2, 2, 1))]
    ratios = [max(p, q) / min(p, q) for column in zip(*rows, strict=True) for p in column for q in column]
    assert max(ratios) == 2
    needed = [(p + q) / 3 for p, q in zip(rows[0], rows[1], strict=True)]
    assert rows[2][2] < needed[2]
    assert STRONGER_LEMMA.status is Status.REFUTED
    found = STRONGER_LEMMA.evaluate(STRONGER_LEMMA.inputs(clients=9, local_epsilon=math.log(2), delta=0.1))  # type: ignore[misc]
    assert found.outputs["needed"] > found.outputs["available"]
