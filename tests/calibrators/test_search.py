"""Searches for the least noise, on curves whose roots are known, and the guesses that they start from."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import mpmath
import pytest

from epsilond.accountants.account import account
from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.estimates.bounds import likely_least
from epsilond.accountants.estimates.noise import central_log_delta, central_mu, likely_noise, likely_slope
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.rule import Effort
from epsilond.accountants.specs import Gaussian, Laplace, Repeated, Shuffled, Subsampled
from epsilond.accountants.target import Target
from epsilond.calibrators.search import LEAST, smallest_noise
from epsilond.calibrators.shuffled_mb_sgd.bound_search import SLACK
from epsilond.calibrators.shuffled_mb_sgd.search import select_likely_least, smallest_noise_in_few_trials
from epsilond.calibrators.shuffled_mb_sgd.trials import STEP

TARGET = Target(1.0, math.log(1e-6))
Bound = Callable[[float], float]


def power(root: float, slope: float, width: float = 0.0) -> Callable[[float], Interval]:
    """noise ↦ ends of log δ at the target ε, whose upper end meets the target from `root` on."""

    def ends(noise: float) -> Interval:
        upper = TARGET.log_delta * (noise / root) ** slope
        return Interval(upper * (1.0 + width), upper)

    return ends


def family(*bounds: Callable[[float], Interval], asked: Counter[Any] | None = None) -> Any:
    """A family whose upper pair is the least of the bounds."""

    def guarantee(noise: float, effort: str) -> Any:
        def pair(place: int) -> Any:
            def ends(epsilon: float) -> Interval:
                assert epsilon == TARGET.epsilon
                if asked is not None:
                    asked[place, noise, effort] += 1
                return bounds[place](noise)

            return SimpleNamespace(
                log_delta_bounds=ends,
                upper_log_delta=lambda epsilon: ends(epsilon).upper,
                forward=None,
                gaussian_dp_mu=None,
                alternatives=(),
                parts=(),
                directions=lambda: (SimpleNamespace(estimated=False),),
            )

        pairs = tuple(pair(place) for place in range(len(bounds)))
        upper = pairs[0] if len(pairs) == 1 else Pair(None, None, alternatives=pairs)  # type: ignore[arg-type]

        def bound(epsilon: float) -> Interval:
            found = [one.log_delta_bounds(epsilon) for one in pairs]
            return Interval(min(one.lower for one in found), min(one.upper for one in found))

        return StandIn(CurveStandIn(upper, bound, lambda epsilon: bound(epsilon).upper))

    return guarantee


@dataclass(frozen=True)
class CurveStandIn:
    """What a search asks of a curve."""

    upper: Any
    bound_log_delta: Callable[[float], Interval]
    upper_log_delta: Callable[[float], float]


@dataclass(frozen=True)
class StandIn:
    """And of a guarantee."""

    curve: CurveStandIn


@pytest.mark.parametrize("root", [0.7, 3.0, 250.0])
@pytest.mark.parametrize("slope", [0.6, 2.0, 7.0])
def test_the_least_noise_is_found_from_a_guess_on_either_side(root: float, slope: float) -> None:
    for guess in (root / 3.0, root * 0.99, root * 1.5):
        found = smallest_noise(family(power(root, slope)), TARGET, guess=guess)
        assert root <= found.noise <= root * (1.0 + 1e-6)
        assert found.slack == 1e-6


def test_the_right_slope_saves_evaluations() -> None:
    def trials(**slope: float) -> int:
        asked: Counter[Any] = Counter()
        smallest_noise(family(power(2.0, 8.0), asked=asked), TARGET, guess=1.8, **slope)
        return len(asked)

    assert trials(slope=-8.0) < trials()


def test_where_noise_hardly_matters_the_least_offered_is_tried_soon() -> None:
    """Of a record that is hardly ever drawn: δ is about the chance of it whatever the noise."""

    def drawn(noise: float) -> Interval:
        upper = TARGET.log_delta - 1e-3 - 1e-1 * noise
        return Interval(upper - 1e-6, upper)

    asked: Counter[Any] = Counter()
    found = smallest_noise(family(drawn, asked=asked), TARGET, guess=0.4)
    assert found.noise == LEAST
    assert len(asked) <= 5


def test_where_the_least_offered_misses_the_search_goes_on() -> None:
    """δ is nearly flat down to a step, below which it misses."""

    def stepped(noise: float) -> Interval:
        upper = TARGET.log_delta - 1e-3 * (noise - 0.05)
        return Interval(upper, upper)

    found = smallest_noise(family(stepped), TARGET, guess=40.0)
    assert 0.05 <= found.noise <= 0.05 * (1.0 + 1e-4)


def test_few_evaluations_find_the_noise_of_a_gaussian_mechanism() -> None:
    """μ is inverse to the noise, which is a straight line on the search's own scale: two evaluations and a check."""

    def gaussian(noise: float) -> Interval:
        value = central_log_delta(TARGET.epsilon, 1.0 / noise)
        return Interval(value - 1e-12, value)

    for guess in (3.0, 4.0, 7.0):
        asked: Counter[Any] = Counter()
        found = smallest_noise(family(gaussian, asked=asked), TARGET, guess=guess)
        assert found.noise == pytest.approx(1.0 / central_mu(TARGET), rel=1e-5)
        assert len(asked) <= 3


def test_a_slack_too_small_to_tell_is_left_out() -> None:
    """Ends that are 1e-4 apart in log δ, which falls by twice the share of noise: a share of 1e-4 is told."""
    asked: Counter[Any] = Counter()
    found = smallest_noise(family(power(2.0, 2.0, width=1e-4), asked=asked), TARGET, guess=1.9, slope=-2.0)
    assert found.slack == 1e-4
    assert not any(noise == found.noise * (1.0 - 1e-6) for _, noise, _ in asked)


def test_nothing_is_tried_where_no_slack_can_be_proved() -> None:
    """Bounds that are a third of log δ apart: what the lower one says of a thousandth less noise needs no trial."""
    asked: Counter[Any] = Counter()
    found = smallest_noise(family(power(2.0, 2.0, width=0.3), asked=asked), TARGET, guess=1.9, slope=-2.0)
    before = asked.total()
    assert found.slack is None
    assert asked.total() == before + 1


def test_a_slope_that_is_told_wrong_proves_nothing_false() -> None:
    found = smallest_noise(family(power(2.0, 2.0, width=1e-2)), TARGET, guess=1.9, slope=-90.0)
    assert found.slack is None
    assert found.minimal == "searched"


def test_what_the_search_tried_tells_that_less_does_not_do() -> None:
    """The guess fails next to the root: its own lower end proves it, and no slack is asked for."""
    asked: Counter[Any] = Counter()
    found = smallest_noise(family(power(2.0, 2.0, width=1e-6), asked=asked), TARGET, guess=1.9995, slope=-2.0)
    before = set(asked)
    assert found.minimal == "proved"
    assert set(asked) == before
    assert found.noise * (1.0 - 1e-3) < 1.9995 < found.noise


def test_a_near_miss_that_may_be_none_proves_nothing() -> None:
    """The upper end of the guess misses the target, the lower one does not; nor does that of any slack."""
    found = smallest_noise(family(power(2.0, 2.0, width=1e-2)), TARGET, guess=1.9995, slope=-2.0)
    assert found.slack is None
    assert found.minimal == "searched"


# Few trials -----------------------------------------------------------------------------------------------------------
def jumping(root: float, jump: float) -> Callable[[float], Interval]:
    """log δ that falls by a jump at the root."""

    def ends(noise: float) -> Interval:
        smooth = TARGET.log_delta + 60.0 * -math.log(noise / root)
        value = smooth + (jump if noise < root else -jump)
        return Interval(value - 1e-3, value)

    return ends


@pytest.mark.parametrize("bound", [power(2.5, 4.5), power(2.5, 1.0), jumping(2.5, 0.4), power(2.5, 0.15)])
@pytest.mark.parametrize("guess", [0.9, 2.4, 2.52, 9.0])
def test_few_trials_end_next_to_a_noise_that_misses(bound: Any, guess: float) -> None:
    asked: Counter[Any] = Counter()
    found = smallest_noise_in_few_trials(family(bound, asked=asked), TARGET, guess=guess)
    assert 2.5 <= found.noise <= 2.5 * (1.0 + SLACK)
    assert found.slack == SLACK
    assert bound(found.noise).upper <= TARGET.log_delta
    missed = [noise for _, noise, _ in asked if found.noise * (1.0 - SLACK) <= noise < found.noise]
    assert any(bound(noise).lower > TARGET.log_delta for noise in missed)
    assert len({noise for _, noise, _ in asked}) <= 16


def test_few_trials_suffice_for_a_gentle_slope_and_a_far_estimate() -> None:
    requested: Counter[Any] = Counter()
    certified = smallest_noise_in_few_trials(family(power(2.5, 0.15), asked=requested), TARGET, guess=1e6)
    assert 2.5 <= certified.noise <= 2.5 * (1.0 + SLACK)
    assert certified.slack == SLACK
    assert len({noise for _, noise, _ in requested}) <= 20


@pytest.mark.parametrize("bounds", [(power(2.5, 4.5),), (jumping(2.5, 0.4),), (power(2.5, 4.5), power(2.0, 4.5))])
def test_few_trials_end_at_one_noise_wherever_they_start(bounds: Any) -> None:
    """The first whole multiple of the step beyond the root."""
    found = {smallest_noise_in_few_trials(family(*bounds), TARGET, guess=guess).noise for guess in (0.9, 2.4, 2.5, 9.0)}
    root = 2.0 if len(bounds) > 1 else 2.5
    assert found == {math.exp(STEP * math.ceil(math.log(root) / STEP))}


@pytest.mark.parametrize("guess", [1.6, 2.0, 3.0])
def test_of_several_bounds_the_least_is_followed(guess: float) -> None:
    """The first is followed where nothing else is known, and given up for the second, which needs less noise."""
    found = smallest_noise_in_few_trials(family(power(2.5, 4.5), power(2.0, 4.5)), TARGET, guess=guess)
    assert 2.0 <= found.noise <= 2.0 * (1.0 + SLACK)
    assert found.slack == SLACK


def test_what_another_bound_meets_is_not_called_minimal() -> None:
    """A bound that is never the least at the answer, but meets the target at less noise than it."""

    def other(noise: float) -> Interval:
        value = TARGET.log_delta - (1e-9 if noise > 1.0 else -5.0)
        return Interval(value, value)

    found = smallest_noise_in_few_trials(family(power(2.0, 4.5), other), TARGET, guess=1.999)
    assert found.slack is None


def test_one_bound_of_a_shuffled_run_proves_no_more_than_all() -> None:
    batch = Subsampled(
        sampling="without-replacement",
        batch_size=1,
        population=10,
        level="records",
        mechanism=Gaussian(noise_multiplier=2.0),
    )
    drawn = Subsampled(
        sampling="without-replacement",
        batch_size=50,
        population=200,
        level="clients",
        mechanism=Shuffled(clients=50, dimension=3, mechanism=batch),
    )
    whole = account(
        Repeated(times=20, mechanism=drawn),
        relation="replace-one",
        observer="shuffled-server",
        effort="coarse",
    ).guarantee
    assert len(whole.curve.upper.alternatives) == 2  # type: ignore[attr-defined]
    one = select_likely_least(whole, 1.0)
    place = likely_least(whole.curve, 1.0)
    assert one.curve.upper is whole.curve.upper.alternatives[place]  # type: ignore[attr-defined]
    known, all_known = one.curve.log_delta(1.0), whole.curve.log_delta(1.0)
    assert known.lower <= all_known.upper <= known.upper
    assert known.lower == all_known.lower


# Guesses, and ε at the target δ ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-9), (1.0, 1e-6), (8.0, 1e-5), (30.0, 1e-3)])
def test_the_likely_slope_is_that_of_the_gaussian_curve(epsilon: float, delta: float) -> None:
    target = Target(epsilon, math.log(delta))
    with mpmath.workdps(40):

        def log_delta(mu: Any) -> Any:
            far = epsilon / mu - mu / 2
            tail = lambda x: mpmath.erfc(x / mpmath.sqrt(2)) / 2  # noqa: E731
            return mpmath.log(tail(far) - mpmath.exp(epsilon) * tail(far + mu))

        mu = mpmath.findroot(lambda mu: log_delta(mu) - mpmath.log(delta), central_mu(target))
        assert central_mu(target) == pytest.approx(float(mu), rel=1e-6)
        slope = mpmath.diff(lambda log_mu: mpmath.log(-log_delta(mpmath.exp(log_mu))), mpmath.log(mu))
    found = likely_slope(target, rate=1.0, noise=1.0 / float(mu), distance=1.0)
    assert found == pytest.approx(float(slope), rel=0.03)
    # Drawn at random, e^{s²} − 1 stands for s², s² = 1 at this noise.
    drawn = likely_slope(target, rate=0.1, noise=1.0, distance=1.0)
    assert drawn / found == pytest.approx(math.e / (math.e - 1.0), rel=1e-9)


FAR_TARGETS = [(1e-9, 0.5), (1e-6, 1e-5), (1e-4, 0.01), (0.01, 0.3), (0.1, 0.9), (1e-6, 1.0 - 1e-12), (1e-6, 1e-20)]


@pytest.mark.parametrize(("epsilon", "delta"), FAR_TARGETS)
def test_the_mu_of_a_target_is_found_however_small_its_epsilon(epsilon: float, delta: float) -> None:
    target = Target(epsilon, math.log(delta))
    assert central_log_delta(epsilon, central_mu(target)) == pytest.approx(target.log_delta, rel=1e-6)


@pytest.mark.parametrize(("epsilon", "delta"), [(1e-6, 1e-5), (0.01, 0.3), (0.1, 0.5)])
def test_noise_is_the_least_where_epsilon_is_far_below_delta(epsilon: float, delta: float) -> None:
    target = Target(epsilon, math.log(delta))

    def drawn(noise: float, effort: Effort) -> Guarantee:
        step = Subsampled(sampling="poisson", rate=0.5, mechanism=Gaussian(noise_multiplier=noise))
        return account(Repeated(times=3, mechanism=step), relation="add-or-remove-one", effort=effort).guarantee

    found = smallest_noise(drawn, target, guess=likely_noise(target, rate=0.5, rounds=3, distance=1.0))
    assert found.guarantee.curve.upper_log_delta(epsilon) <= target.log_delta
    assert drawn(0.999 * found.noise, "default").curve.bound_log_delta(epsilon).lower > target.log_delta


@pytest.mark.parametrize("target_epsilon", [0.01, 0.9, 1.0, 5.0])
@pytest.mark.parametrize("delta", [1e-2, 1e-6, 1e-12])
def test_epsilon_at_the_target_delta_from_any_start(target_epsilon: float, delta: float) -> None:
    """Of a Laplace mechanism of scale b: δ = 1 − e^{(ε − 1/b)/2}."""
    own = account(Laplace(scale_multiplier=1.0), relation="add-or-remove-one").guarantee.curve.upper
    plain = Pair(own.forward, own.backward)
    found = Curve(plain, (plain,)).epsilon_of_target(Target(target_epsilon, math.log(delta)))
    exact = 1.0 + 2.0 * math.log1p(-delta)
    assert found.lower <= exact * (1.0 + 1e-14)
    assert found.upper >= exact * (1.0 - 1e-14)
    assert found.upper - found.lower <= 1e-8
