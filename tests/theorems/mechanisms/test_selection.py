"""Choices by noisy scores, against their definitions, optimal adaptive compositions, and published figures."""

from __future__ import annotations

import itertools
import math
import random
from functools import cache
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy.integrate import quad

from epsilond.accountants.account import account
from epsilond.accountants.attackers.renyi import renyi_divergence
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.kinds.selection.exponential import BOUNDED_RANGE
from epsilond.accountants.kinds.selection.permute_and_flip import EXPONENTIAL_NOISE
from epsilond.accountants.kinds.selection.report_noisy_max import LAPLACE
from epsilond.accountants.profiles.selection.bounded_range import BoundedRangeProfile, largest_loss_pair
from epsilond.accountants.specs import (
    Composed,
    Exponential,
    PermuteAndFlip,
    Repeated,
    ReportNoisyMax,
    SparseVector,
    Subsampled,
)
from epsilond.accountants.specs.selection.two_candidates import log_ratio
from tests.oracles.enclosure import encloses
from tests.oracles.golden import stored

GOLDEN = stored("selection")
NOISES: Any = ("laplace", "gumbel", "exponential")
SETTING: Any = {"relation": "add-or-remove-one", "observer": "released-models"}


def curve(spec: Any) -> Any:
    """The curve of a spec."""
    return account(spec, **SETTING).guarantee.curve


def exponential_law(scores: list[Any], epsilon: Any) -> list[Any]:
    """Probabilities ∝ e^{ε s/2}."""
    weights = [mp.exp(epsilon * score / 2) for score in scores]
    return [weight / mp.fsum(weights) for weight in weights]


def permute_and_flip_law(scores: list[Any], epsilon: Any) -> list[Any]:
    """The average over all orders of the first accepted candidate."""
    most, law = max(scores), [mp.mpf(0)] * len(scores)
    orders = list(itertools.permutations(range(len(scores))))
    for order in orders:
        reached = mp.mpf(1) / len(orders)
        for candidate in order:
            accepted = mp.exp(epsilon * (scores[candidate] - most) / 2)
            law[candidate] += reached * accepted
            reached *= 1 - accepted
    return law


def noisy_max_law(scores: list[float], distribution: Any, density: Any) -> list[float]:
    """P(candidate i has the largest noisy score), by one integral each."""

    def integrand(x: float, chosen: int) -> float:
        rest = math.prod(distribution(x - score) for other, score in enumerate(scores) if other != chosen)
        return density(x - scores[chosen]) * rest

    kinks = sorted(set(scores))
    cuts = [kinks[0] - 200.0, *kinks, kinks[-1] + 200.0]
    return [
        math.fsum(
            quad(integrand, low, high, args=(i,), limit=400, epsabs=1e-13, epsrel=1e-12)[0]
            for low, high in itertools.pairwise(cuts)
        )
        for i in range(len(scores))
    ]


def delta(p: list[Any], q: list[Any], epsilon: float) -> Any:
    """Σ (p − e^ε q)₊."""
    return mp.fsum(max(a - mp.exp(epsilon) * b, 0) for a, b in zip(p, q, strict=True))


def moved(scores: list[Any], generator: random.Random) -> list[Any]:
    """Scores of a neighbour; half of them move as far as they may."""
    return [score + generator.choice((-1, 1, generator.uniform(-1, 1), 0)) for score in scores]


def largest_over_range(epsilon: Any, at: Any) -> Any:
    """Golden-section search over t of the two-outcome divergence, in mpmath."""

    def divergence(t: Any) -> Any:
        p = (1 - mp.exp(t - epsilon)) / (1 - mp.exp(-epsilon))
        return max(p - mp.exp(at) * p * mp.exp(-t), 0) + max((1 - p) - mp.exp(at) * (1 - p) * mp.exp(epsilon - t), 0)

    low, high, ratio = mp.mpf(0), mp.mpf(epsilon), (mp.sqrt(5) - 1) / 2
    for _ in range(160):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, right) if divergence(left) > divergence(right) else (left, high)
    return divergence((low + high) / 2)


@pytest.mark.compares("epsilond.bounded-range")
@pytest.mark.parametrize("case", GOLDEN["exponential"])
def test_exponential_golden_values_from_the_definition(case: dict[str, Any]) -> None:
    with mp.workdps(50):
        truth = largest_over_range(mp.mpf(case["epsilon"]), mp.mpf(case["at_epsilon"]))
        assert mp.nstr(truth, 25) == case["delta"]
    assert encloses(BoundedRangeProfile(case["epsilon"]), case["at_epsilon"], mp.mpf(case["delta"]))
    found = BOUNDED_RANGE.evaluate(
        BOUNDED_RANGE.request(epsilon=case["epsilon"], at_epsilon=case["at_epsilon"])
    ).outputs
    assert found["delta"] == pytest.approx(float(case["delta"]), rel=1e-12)
    assert found["delta"] != pytest.approx(float(case["delta"]) * (1 + 1e-6), rel=1e-8, abs=0.0)
    assert found["zcdp_rho"] == pytest.approx(case["epsilon"] ** 2 / 8, rel=1e-14)


@pytest.mark.parametrize("epsilon", [1e-300, 1e-12, 0.3, 5.0, 700.0, 1e9])
def test_the_tails_are_the_slopes_of_the_profile(epsilon: float) -> None:
    profile = BoundedRangeProfile(epsilon)
    with mp.workdps(60):
        whole = -mp.expm1(-mp.mpf(epsilon))
        for share in (0.0, 0.1, 0.5, 0.999):
            at = share * epsilon
            tails = profile.log_tails(np.asarray([at]))
            log_p = mp.log(-mp.expm1((mp.mpf(at) - epsilon) / 2) / whole)
            log_q = log_p - (mp.mpf(epsilon) + at) / 2
            for ours, truth in ((tails.log_p[0], log_p), (tails.log_q[0], log_q)):
                assert abs(ours - truth) <= profile.tail_accuracy * (1 + abs(truth))
    assert np.isneginf(profile.log_delta(np.asarray([epsilon, 2 * epsilon])).upper).all()


@pytest.mark.parametrize("seed", range(6))
def test_no_choice_on_random_scores_exceeds_its_bound(seed: int) -> None:
    generator = random.Random(seed)
    epsilon = math.exp(generator.uniform(-2, 2))
    scores = [generator.uniform(-4, 4) for _ in range(generator.randint(2, 5))]
    other = moved(scores, generator)
    for spec, law in (
        (Exponential(epsilon=epsilon), exponential_law),
        (PermuteAndFlip(epsilon=epsilon), permute_and_flip_law),
    ):
        p, q = law(scores, epsilon), law(other, epsilon)
        for share in (0.0, 0.2, 0.5, 0.8, 0.97):
            upper = mp.exp(curve(spec).log_delta(share * epsilon).upper)
            assert max(delta(p, q, share * epsilon), delta(q, p, share * epsilon)) <= upper * (1 + 1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_monotonic_scores_have_the_same_range(seed: int) -> None:
    generator = random.Random(seed)
    epsilon = math.exp(generator.uniform(-2, 2))
    scores = [generator.uniform(-4, 4) for _ in range(4)]
    other = [score + generator.choice((0, 1, generator.random())) for score in scores]
    p, q = (exponential_law([2 * score for score in each], epsilon) for each in (scores, other))
    bound = curve(Exponential(epsilon=epsilon, monotonic=True))
    for share in (0.0, 0.4, 0.9):
        upper = mp.exp(bound.log_delta(share * epsilon).upper)
        assert max(delta(p, q, share * epsilon), delta(q, p, share * epsilon)) <= upper * (1 + 1e-10)


@pytest.mark.compares("epsilond.permute-and-flip")
@pytest.mark.parametrize(("epsilon", "at"), [(1.0, 0.0), (1.0, 0.4), (0.2, 0.1), (4.0, 3.5)])
def test_permute_and_flip_on_two_candidates_attains_its_profile(epsilon: float, at: float) -> None:
    with mp.workdps(30):
        # The gap of the scores from which the best event of the Laplace pair is the choice of the first candidate.
        best = max(
            max(delta(p, q, at), delta(q, p, at))
            for gap in mp.linspace(-1, 1, 401)
            for p, q in [(permute_and_flip_law([gap + 1, 0], epsilon), permute_and_flip_law([gap - 1, 0], epsilon))]
        )
        truth = -mp.expm1((mp.mpf(at) - epsilon) / 2)
    assert float(best) == pytest.approx(float(truth), rel=1e-9)
    found = EXPONENTIAL_NOISE.evaluate(EXPONENTIAL_NOISE.request(epsilon=epsilon, at_epsilon=at)).outputs
    assert found["delta"] == pytest.approx(float(best), rel=1e-9)
    assert found["delta"] != pytest.approx(float(best) * (1 + 1e-6), rel=1e-8)


def test_permute_and_flip_is_the_largest_score_after_exponential_noise() -> None:
    scores, rate = [0.0, 1.3, 2.1, 2.0], 0.5
    by_noise = noisy_max_law(
        scores,
        lambda x: -math.expm1(-rate * x) if x > 0 else 0.0,
        lambda x: rate * math.exp(-rate * x) if x > 0 else 0.0,
    )
    assert by_noise == pytest.approx([float(p) for p in permute_and_flip_law([mp.mpf(s) for s in scores], 1)], rel=1e-9)


def laplace_law(scores: list[float], epsilon: float) -> list[float]:
    """The largest score after Laplace noise of scale 2/ε."""
    rate = epsilon / 2
    return noisy_max_law(
        scores,
        lambda x: math.exp(rate * x) / 2 if x < 0 else 1 - math.exp(-rate * x) / 2,
        lambda x: rate / 2 * math.exp(-rate * abs(x)),
    )


@pytest.mark.compares("epsilond.report-noisy-max-laplace")
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_report_noisy_max_with_laplace_noise_is_within_its_bounds(epsilon: float) -> None:
    spec = ReportNoisyMax(epsilon=epsilon, noise="laplace")
    two = laplace_law([1.0, 0.0], epsilon), laplace_law([0.0, 1.0], epsilon)
    many = laplace_law([0.0, 0.5, 0.2, -1.0], epsilon), laplace_law([1.0, -0.5, -0.8, -2.0], epsilon)
    for at in (0.0, 0.3 * epsilon):
        found = LAPLACE.evaluate(LAPLACE.request(epsilon=epsilon, at_epsilon=at)).outputs
        known = [float(max(delta(pair[0], pair[1], at), delta(pair[1], pair[0], at))) for pair in (two, many)]
        assert max(known) <= found["delta"]
        assert found["lower_delta"] >= known[0] * (1 - 1e-9)
        assert curve(spec).log_delta(at).lower == pytest.approx(math.log(found["lower_delta"]), rel=1e-12)
    assert LAPLACE.evaluate(LAPLACE.request(epsilon=epsilon, at_epsilon=0.0)).outputs["lower_delta"] == pytest.approx(
        two[0][0] - two[1][0], rel=1e-9
    )
    first, second = laplace_law([1.0, 1.0], epsilon), laplace_law([0.0, 2.0], epsilon)
    assert math.log(first[0] / second[0]) == pytest.approx(epsilon - math.log1p(epsilon / 2), rel=1e-8)


@pytest.mark.parametrize("noise", NOISES)
def test_two_candidates_whose_scores_change_places(noise: Any) -> None:
    for epsilon in (1e-9, 0.3, 1.99, 2.01, 30.0):
        with mp.workdps(60):
            half = mp.mpf(epsilon) / 2
            loser = {
                "gumbel": 1 / (1 + mp.exp(half)),
                "exponential": mp.exp(-half) / 2,
                "laplace": mp.exp(-half) * (2 + half) / 4,
            }[noise]
            truth = mp.log((1 - loser) / loser)
        assert truth * (1 - mp.mpf(10) ** -13) <= log_ratio(epsilon, noise) <= truth * (1 + mp.mpf(10) ** -50)


def test_other_noises_are_other_mechanisms() -> None:
    for noise, spec in (("gumbel", Exponential(epsilon=0.7)), ("exponential", PermuteAndFlip(epsilon=0.7))):
        named: Any = ReportNoisyMax(epsilon=0.7, noise=noise)
        for at in (0.0, 0.3, 0.69):
            assert curve(named).log_delta(at) == curve(spec).log_delta(at)
    scores, rate = [0.0, 1.3, 2.1], 0.5
    by_noise = noisy_max_law(
        scores,
        lambda x: math.exp(-math.exp(-rate * x)) if x > -1300 else 0.0,
        lambda x: rate * math.exp(-rate * x - math.exp(-rate * x)) if x > -1300 else 0.0,
    )
    assert by_noise == pytest.approx([float(p) for p in exponential_law([mp.mpf(s) for s in scores], 1)], rel=1e-8)


def adaptive(epsilon: float, rounds: int, at: float) -> tuple[float, float]:
    """The largest δ of two candidates in every round, with t chosen after each outcome, and with one fixed t."""
    choices = [epsilon * step / 32 for step in range(1, 32)]

    def two(t: float) -> tuple[tuple[float, float], ...]:
        p = (1 - math.exp(t - epsilon)) / (1 - math.exp(-epsilon))
        return (p, t), (1 - p, t - epsilon)

    @cache
    def value(left: int, target: float) -> float:
        if not left:
            return max(1 - math.exp(target), 0.0)
        return max(sum(p * value(left - 1, round(target - loss, 12)) for p, loss in two(t)) for t in choices)

    fixed = 0.0
    for t in choices:
        for runs in [itertools.product(two(t), repeat=rounds)]:
            fixed = max(
                fixed,
                sum(
                    math.prod(p for p, _ in run) * max(1 - math.exp(at - sum(loss for _, loss in run)), 0.0)
                    for run in runs
                ),
            )
    return value(rounds, at), fixed


@pytest.mark.parametrize(("rounds", "at"), [(2, 0.0), (2, 0.7), (3, 0.5)])
def test_adaptive_choices_do_not_exceed_the_composition(rounds: int, at: float) -> None:
    chosen, fixed = adaptive(1.0, rounds, at)
    bounds = curve(Repeated(times=rounds, mechanism=Exponential(epsilon=1.0))).log_delta(at)
    assert math.exp(bounds.lower) <= fixed * (1 + 1e-9) <= chosen * (1 + 2e-9)
    assert chosen <= math.exp(bounds.upper)
    assert bounds.lower > math.log(0.75 * fixed)


def test_many_rounds_are_as_concentrated_as_two_candidates_show() -> None:
    spec = Repeated(times=10_000, mechanism=Exponential(epsilon=0.01))
    ends = curve(spec).epsilon(math.log(1e-6))
    assert ends.lower < ends.upper < 1.12 * ends.lower


@pytest.mark.parametrize("case", GOLDEN["dp_accounting"])
def test_the_figures_of_dp_accounting(case: dict[str, Any]) -> None:
    kinds: Any = {"exponential": Exponential, "permute_and_flip": PermuteAndFlip}
    spec = kinds[case["mechanism"]](epsilon=case["epsilon"])
    bounds = curve(Repeated(times=case["times"], mechanism=spec)).epsilon(math.log(1e-6))
    if case["verdict"] == "equal":
        assert bounds.lower * (1 - 1e-6) <= case["epsilon_at_1e-6"] <= bounds.upper * (1 + 1e-5)
    elif case["verdict"] == "larger":
        assert case["epsilon_at_1e-6"] > bounds.upper
    else:
        assert case["verdict"] == "below the truth"
        assert case["epsilon_at_1e-6"] < bounds.lower


def test_one_release_is_exact_and_a_part_is_witnessed() -> None:
    for spec in (Exponential(epsilon=1.0), PermuteAndFlip(epsilon=1.0)):
        assert account(spec, **SETTING).guarantee.tight == "proved"
        for run in (Repeated(times=2, mechanism=spec), Subsampled(sampling="poisson", rate=0.1, mechanism=spec)):
            assert account(run, **SETTING).guarantee.tight == "witnessed"
        once = curve(Composed(mechanisms=(spec,)))
        assert once.log_delta(0.4).upper == pytest.approx(curve(spec).log_delta(0.4).upper, rel=1e-9)
        assert once.log_delta(0.4).lower <= curve(spec).log_delta(0.4).upper


def test_the_witnesses_are_exponential_mechanisms() -> None:
    for epsilon, share in ((1.0, 0.25), (1e-6, 0.0625), (50.0, 0.25)):
        law = largest_loss_pair(epsilon, share).atoms
        assert law is not None
        assert law.losses[1] - law.losses[0] <= epsilon * (1 + 1e-15)
        for logs in (law.log_first, law.log_second):
            assert math.fsum(map(math.exp, logs)) == pytest.approx(1.0, abs=1e-14)
        for loss, first, second in zip(law.losses, law.log_first, law.log_second, strict=True):
            assert first - second == pytest.approx(loss, rel=1e-9, abs=1e-13)


def test_losses_whose_squares_are_below_every_double_are_not_lost() -> None:
    spec = Repeated(times=10**6, mechanism=PermuteAndFlip(epsilon=1e-200))
    assert curve(spec).log_delta(0.0).upper > math.log(1e-200)


@pytest.mark.parametrize(
    "fields", [{"epsilon": 0.0}, {"epsilon": -1.0}, {"epsilon": math.inf}, {"epsilon": 1, "noise": "x"}]
)
def test_choices_that_no_run_can_have(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        ReportNoisyMax(**{"noise": "laplace", **fields})


@pytest.mark.parametrize("order", [1.5, 2.0, 8.0])
def test_renyi_divergences_of_one_release_are_those_of_single_neighbours(order: float) -> None:
    """δ of one release is attained by other neighbours at each ε, so the dominating pair's divergence is not attained."""
    spec = PermuteAndFlip(epsilon=1.0)
    # The event has the probability P(Y > c) for Laplace Y, and P(Y > c + 1) on the neighbour.
    places = np.linspace(-12.0, 12.0, 20001)
    first, second = (
        np.where(y > 0, 0.5 * np.exp(-np.abs(y)), 1 - 0.5 * np.exp(-np.abs(y))) for y in (places, places + 1)
    )
    moments = sum(p**order * q ** (1 - order) for p, q in ((first, second), (1 - first, 1 - second)))
    largest = float(np.max(np.log(moments))) / (order - 1)
    bounds = renyi_divergence(curve(spec), order)
    assert 0.9 * largest < bounds.lower < largest * (1 + 1e-7) < bounds.upper
    exponential = renyi_divergence(curve(Exponential(epsilon=1.0)), order)
    t = np.linspace(1e-4, 1.0 - 1e-4, 9999)
    chance = -np.expm1(t - 1.0) / -math.expm1(-1.0)
    moments = chance * np.exp((order - 1) * t) + (1 - chance) * np.exp((order - 1) * (t - 1.0))
    largest = float(np.max(np.log(moments))) / (order - 1)
    assert 0.9 * largest < exponential.lower < largest * (1 + 1e-7) < exponential.upper


@pytest.mark.parametrize("kind", [Exponential, SparseVector])
@pytest.mark.parametrize("monotonic", [False, True])
def test_one_direction_of_all_scores_is_declared(kind: Any, monotonic: bool) -> None:
    """Without it, weights e^{ε s} of two scores that move apart have the loss 2ε."""
    spec = kind(epsilon=1.0, monotonic=monotonic)
    for asked in (spec, Repeated(times=2, mechanism=spec)):
        declared = account(asked, **SETTING).guarantee.declared
        assert ("one-direction" in {condition.id for condition in declared}) == monotonic
