"""Search for the smallest noise whose certified upper bound on δ meets a target."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

from epsilond.accountants.account import account
from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.errors import Infeasible, InvalidInput
from epsilond.accountants.estimates.noise import Chart, central_log_mu, central_mu, rise
from epsilond.accountants.numerics.root_search import RootEvaluations, false_position
from epsilond.accountants.rule import Effort
from epsilond.accountants.theorems.mechanisms.gaussian_calibration import gaussian_noise_std_bounds
from epsilond.accountants.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.guarantee import Guarantee
    from epsilond.accountants.quantities import Observer, Relation, SettingFields
    from epsilond.accountants.specs import Spec
    from epsilond.accountants.target import Target

LEAST, MOST = 1e-2, 1e12
LOG_10 = math.log(10.0)
TRIALS_KEPT = 4
"""Number of guarantees that a search keeps; it is small, as each may hold grids and transforms."""
PAD = 1e-12
"""Relative increase of a noise known in closed form, so that rounding does not push its δ above the target."""
SLACKS = (1e-6, 1e-5, 1e-4, 1e-3)
MISSES_KEPT = 2
NEAR_MISS = 0.999 * SLACKS[-1]
"""Largest decrease of log noise that counts as a near miss; it is less than the largest slack."""
EFFORTS: tuple[Effort, ...] = ("default", "coarse")
AIM, SETTLED, JUMPING = 1e-7, 1e-5, 2e-4
"""Tolerances in the log of the parameter: the distance beyond the root at which a search ends, and the width of the
bracket if interpolation does not settle, or if the curve jumps."""
_SHORTEST = 4e-3
"""Shortest first step of a bracket."""
MOST_STEPS = 12
LIKELY_SLOPE = -1.7
"""Assumed derivative of log |log δ| with respect to log noise, with the opposite sign."""
LIKELY_FALL = 1.0
"""Assumed derivative of log μ with respect to log noise, with the opposite sign."""
_STRIDE = math.log(2.0)
"""Longest first step towards a root; steps towards less noise never grow past it, as they may cost much more."""
DEEP, SHALLOW = -1e5, 1e-12
"""Limits of log δ in a search: below `DEEP` times the target's |log δ| it counts as −∞, above −`SHALLOW` as 0."""


class Limits(NamedTuple):
    """The logarithms of the smallest and the largest parameter on offer; a larger parameter gives a smaller δ."""

    least: float
    most: float


_NOISES = Limits(math.log(LEAST), math.log(MOST))

Family = Callable[[float, "Effort"], "Guarantee"]
"""Function from a noise to its guarantee; more noise never raises δ."""


class Trials:
    """The guarantees at trial values of the unknown; the most recent few are cached."""

    def __init__(self, setting: SettingFields, spec_at: Callable[[float], Spec]) -> None:
        """Account for the specs that a function makes of trial values.

        Args:
            setting: the unit, the relation and the observer.
            spec_at: returns the run at a value.
        """
        self._setting = setting
        self._spec_at = spec_at
        self._kept = functools.lru_cache(maxsize=TRIALS_KEPT)(self._guarantee)

    def __call__(self, value: float, effort: Effort) -> Guarantee:
        """Return the guarantee at a value."""
        return self._kept(value, effort)

    def forget(self) -> None:
        """Forget the guarantees, which may hold grids and transforms."""
        self._kept.cache_clear()

    def _guarantee(self, value: float, effort: Effort) -> Guarantee:
        return guarantee_of(self._setting, self._spec_at(value), effort)


def guarantee_of(
    setting: SettingFields,
    spec: Spec,
    effort: Effort = "default",
    *,
    relation: Relation | None = None,
    observer: Observer | None = None,
) -> Guarantee:
    """Return the guarantee of a run in a setting.

    Args:
        setting: the unit, the relation and the observer.
        spec: the run.
        effort: the work that compositions may take.
        relation: a relation in place of that of the setting.
        observer: an observer in place of that of the setting.

    Raises:
        ConditionViolated: no theorem covers some part of the run under this relation.
    """
    return account(
        spec,
        relation=relation or setting.relation,
        unit=setting.unit,
        observer=observer or setting.observer,
        effort=effort,
    ).guarantee


@dataclass(frozen=True)
class Certified:
    """A certified noise and its guarantee.

    `slack` is about the smallest of `SLACKS` by which the noise provably cannot be lowered: at noise·(1 − slack) the
    bound's own lower numerical bound misses the target. It is None if the noise is the smallest offered.
    """

    noise: float
    guarantee: Guarantee
    lazy_slack: Callable[[], float | None] | float | None
    """The slack, or a function that computes it on first use; most runs that are compared do not need it."""
    full_guarantee: Guarantee | None = None
    """The full guarantee, if `guarantee` contains only the part that matters at the target."""
    missed: Callable[[], bool] | None = None
    """Test of whether the lower bound misses the target at a trial noise that is less by at most the last slack."""

    @cached_property
    def slack(self) -> float | None:
        """Relative decrease at which the noise provably misses the target; None if there is no proof."""
        return self.lazy_slack() if callable(self.lazy_slack) else self.lazy_slack

    @property
    def minimal(self) -> Literal["proved", "searched"]:
        """Status of minimality: `proved` if it is proved against the bound to within 1e-3."""
        return "proved" if self._missed or self.slack is not None else "searched"

    @cached_property
    def _missed(self) -> bool:
        return self.missed is not None and self.missed()


def smallest_noise(family: Family, target: Target, *, guess: float, slope: float | None = None) -> Certified:
    """Return the smallest certified noise, within 1e-3 of the bound's own optimum.

    The tolerance is 1e-6 if the bound is computed exactly.

    Args:
        family: function from a noise to its guarantee.
        target: the target (ε, δ).
        guess: initial estimate of the noise.
        slope: estimate of the derivative of log |log δ| with respect to log noise, with the opposite sign.

    Guarantees: the upper bound on the answer's δ at the target ε is at most the target δ, by evaluation.

    Raises:
        Infeasible: even the largest noise offered misses the target.
    """
    closed = _closed_form(family, target, guess)
    if closed is not None:
        return closed
    failing: list[tuple[float, Guarantee]] = []

    def note(log_noise: float, guarantee: Guarantee) -> None:
        # More would hold many grids.
        failing[:] = sorted([*failing, (log_noise, guarantee)], key=lambda miss: miss[0])[-MISSES_KEPT:]

    shortfall = shortfall_of(lambda log_noise: family(math.exp(log_noise), "default"), target, note)
    fall = LIKELY_FALL if slope is None else -slope / rise(target)
    log_noise = least_parameter(shortfall, math.log(guess), _NOISES, fall)
    if log_noise is None:
        raise Infeasible(
            "no noise that is offered meets the target",
            ConditionResult(
                "noise-offered", "the noise multiplier that is needed is offered", Verdict.NO, math.inf, MOST
            ),
            nearest_of(family(MOST, "default"), target),
        )
    if log_noise == _NOISES.least:
        return Certified(LEAST, family(LEAST, "default"), None)
    noise = math.exp(log_noise)
    guarantee = family(noise, "default")
    return Certified(
        noise,
        guarantee,
        lambda: _slack(family, target, noise, guarantee, slope=slope or LIKELY_SLOPE),
        missed=_near_miss(failing, target, log_noise),
    )


def _near_miss(
    failing: Sequence[tuple[float, Guarantee]], target: Target, log_noise: float
) -> Callable[[], bool] | None:
    """Return a test of whether the least failed noise near the answer certainly misses the target; None if none is."""
    for place, guarantee in failing:
        if log_noise - NEAR_MISS <= place < log_noise:
            return lambda: guarantee.curve.bound_log_delta(target.epsilon).lower > target.log_delta
    return None


def _closed_form(family: Family, target: Target, guess: float) -> Certified | None:
    """Return the certified noise in closed form if the run is exactly Gaussian, as μ ∝ 1/noise; None otherwise."""
    start = min(max(guess, LEAST), MOST)
    mu = family(start, "default").curve.upper.gaussian_dp_mu
    if not mu:
        return None
    try:
        std = gaussian_noise_std_bounds(epsilon=target.epsilon, log_delta=target.log_delta, sensitivity=1.0).upper
    except InvalidInput:  # beyond what is inverted
        return None
    noise = start * mu * std * (1.0 + PAD)
    return confirm(family, target, noise, SLACKS[0]) if LEAST < noise < MOST else None


def confirm(family: Family, target: Target, noise: float, slack: float) -> Certified | None:
    """Certify a noise known in closed form; None if it misses the target or noise·(1 − slack) may meet it.

    Args:
        family: function from a noise to its guarantee.
        target: the target (ε, δ).
        noise: the noise.
        slack: relative decrease at which the noise must miss the target.
    """
    guarantee = family(noise, "default")
    if guarantee.curve.upper_log_delta(target.epsilon) > target.log_delta:
        return None
    less = family(noise * (1.0 - slack), "default").curve.bound_log_delta(target.epsilon).lower
    return Certified(noise, guarantee, slack) if less > target.log_delta else None


def shortfall_of(
    family: Callable[[float], Guarantee],
    target: Target,
    note: Callable[[float, Guarantee], None] = lambda *_: None,
) -> Callable[[float], float]:
    """Return the function that says by how much a parameter misses the target; at most 0 if it meets the target.

    The unit is log μ, for the μ of the Gaussian mechanism with that δ.

    Args:
        family: function from a parameter to the guarantee.
        target: the target (ε, δ).
        note: called with each parameter that misses the target, and with its guarantee.
    """
    wanted = target.log_delta
    aim = math.log(central_mu(target))

    @functools.cache
    def shortfall(parameter: float) -> float:
        guarantee = family(parameter)
        upper = guarantee.curve.upper_log_delta(target.epsilon)
        if upper > wanted:
            note(parameter, guarantee)
        distance = central_log_mu(target.epsilon, min(max(upper, DEEP * -wanted), -SHALLOW), aim) - aim
        return max(distance, SHALLOW) if upper > wanted else min(distance, 0.0)

    return shortfall


def nearest_of(guarantee: Guarantee, target: Target) -> dict[str, float]:
    """Return the nearest target that a guarantee meets: the least ε at its δ or, if that is infinite, the least δ."""
    epsilon = guarantee.curve.bound_epsilon(target.log_delta).upper
    if math.isfinite(epsilon):
        return {"epsilon": epsilon}
    upper = guarantee.curve.upper_log_delta(target.epsilon)
    return {"log10_delta": math.nextafter(upper / LOG_10, 0.0)} if upper < 0 else {}


def least_parameter(
    shortfall: Callable[[float], float], guess: float, limits: Limits, fall: float = LIKELY_FALL
) -> float | None:
    """Return nearly the least parameter that meets the target.

    If interpolation does not settle, the root is bracketed by the closest trials.

    Args:
        shortfall: function from a parameter to the shortfall; see `shortfall_of`.
        guess: log of the initial estimate.
        limits: logs of the smallest and the largest parameter on offer.
        fall: assumed derivative of log μ with respect to the parameter, with the opposite sign.

    Returns:
        The log of the parameter, or None if the largest on offer misses the target.
    """
    trials = RootEvaluations()

    def excess(x: float) -> float:
        value = shortfall(x)
        trials.add(x, value)
        return value

    start = min(max(guess, limits.least), limits.most)
    settled = _settle(excess, start, Chart.of_fall(start, fall), limits, fall)
    if settled is not None:
        return settled
    bracket = trials.bracket or _bracket(excess, trials.nearest, limits)
    if bracket is None or bracket[0] == bracket[1]:
        return bracket[1] if bracket else None
    return false_position(excess, *bracket, width=JUMPING if trials.jumps else SETTLED)[1]


def _settle(excess: Callable[[float], float], start: float, chart: Chart, limits: Limits, fall: float) -> float | None:
    """Return a parameter that meets the target, by inverse interpolation aimed twice `AIM` beyond the root.

    It is within four times `AIM` of the root, by the last two values, or the least on offer. It is None if steps do not
    settle, end at the largest or jump. If δ hardly rises as noise falls, the least on offer is tried early.

    Args:
        excess: the decreasing function of the parameter.
        start: initial estimate of the root.
        chart: chart on which the function is nearly linear.
        limits: the smallest and the largest parameter on offer.
        fall: assumed derivative of the function at the start, with the opposite sign.
    """
    here, slope, points = start, -fall / chart.fall(start), RootEvaluations()
    for _ in range(MOST_STEPS):
        value, place = excess(here), chart.of(here)
        slope = points.add(place, value) or slope
        hair = AIM * slope * chart.fall(here)
        if 4 * hair <= value <= 0 or (value <= 0 and here <= limits.least):
            return here
        if (value > 0 and here >= limits.most) or points.jumps:
            return None
        if points.slow and excess(limits.least) <= 0:
            return limits.least
        following = chart.back(points.at(2 * hair, place - (value - 2 * hair) / slope))
        # Less noise may cost much more, so that steps towards it are short.
        following = min(max(following, here - _STRIDE), here + 4.0 * _STRIDE)
        here = min(max(following, limits.least), limits.most)
    return None


def crossing(excess: Callable[[float], float], start: float, ends: tuple[float, float], width: float) -> float | None:
    """Return the approximate root of a decreasing function, on the side where it is at most 0.

    Args:
        excess: the decreasing function.
        start: initial estimate of the root.
        ends: the interval that is searched.
        width: largest width of the bracket that contains the root.

    Returns:
        The upper side of the bracket, or None if the function is positive at the upper limit.
    """
    limits = Limits(*ends)
    bracket = _bracket(excess, min(max(start, limits.least), limits.most), limits)
    if bracket is None or bracket[0] == bracket[1]:
        return bracket[1] if bracket else None
    return false_position(excess, *bracket, width=width)[1]


def _slack(family: Family, target: Target, noise: float, guarantee: Guarantee, *, slope: float) -> float | None:
    """Return a slack at which the lower bound misses the target; those that the slope shows to fail are left out."""
    wanted = target.log_delta
    lower = guarantee.curve.bound_log_delta(target.epsilon).lower
    slacks = [slack for slack in SLACKS if lower + slope * slack * wanted > wanted]
    if not slacks and lower + 2.0 * slope * SLACKS[-1] * wanted > wanted:  # the slope may be wrong by a factor of two
        slacks = [SLACKS[-1]]
    for effort in EFFORTS:
        for slack in slacks:
            if family(noise * (1.0 - slack), effort).curve.bound_log_delta(target.epsilon).lower > wanted:
                return slack
    return None


def _bracket(excess: Callable[[float], float], start: float, limits: Limits) -> tuple[float, float] | None:
    """Return two parameters around the root: the first misses the target, and the second meets it.

    Both are the least on offer if that meets it. The result is None if the largest on offer misses it. The first step
    is about the distance that the first value suggests; later steps grow.
    """
    failing = passing = start
    here = excess(start)
    step = min(max(0.7 * abs(here), _SHORTEST), _STRIDE)
    if here > 0:
        while excess(passing) > 0:
            if passing >= limits.most:
                return None
            failing, passing = passing, min(passing + step, limits.most)
            step = min(2.0 * step, 4.0 * _STRIDE)
        return failing, passing
    while excess(failing) <= 0 and failing > limits.least:
        passing, failing = failing, max(failing - step, limits.least)
        step = min(2.0 * step, _STRIDE)
    return (failing, failing) if excess(failing) <= 0 else (failing, passing)
