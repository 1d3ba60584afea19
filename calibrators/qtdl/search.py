"""Search for the least truncated discrete Laplace noise that meets a target, over several proofs.

Escape (A): α = ε/(R⌊Δ₁⌋), so that only escapes count, and the least m is exact. Hockey stick (B) and concentrated (C):
a larger α leaves some loss above ε inside the common support, which is bounded exactly or by zCDP. The rest of δ may
escape. The search over α uses only these two numbers, which are cheap. The estimated noise of each proof is compared,
and the least is certified by `account`. Another noise is certified only if its estimate is nearly as small.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.errors import Infeasible, InvalidInput
from epsilond.accountants.estimates.bounds import closed_form_decides, likely_concentrated_log_delta
from epsilond.accountants.numerics.minimum import golden_section
from epsilond.accountants.numerics.root_search import bisect_reals, least_integer
from epsilond.accountants.numerics.truncated_laplace import largest_rate, least_levels, variance
from epsilond.accountants.quantities import NOISE_LEVELS
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.qtdl.escapes import real_levels
from epsilond.calibrators.qtdl.family import CertifiedNoise, IntegerRelease
from epsilond.calibrators.qtdl.problem import METHODS

if TYPE_CHECKING:
    from epsilond.accountants.guarantee import Guarantee
    from epsilond.accountants.theorems.papers.das.sensitivity import Movement
    from epsilond.calibrators.qtdl.problem import GridProblem, Method

LARGEST_RATE = 700.0
"""Largest decay rate α that is tried: the exponential of a larger one is not a double."""
HOPELESS, WORSE = 1.05, 1.0005
"""Ratios of estimated levels to the best certified levels above which a noise is not certified. The second applies if a
closed form decides, whose estimates err by at most one level."""

_GROWTH = 4
"""Ratio of the lengths of successive steps in a search for levels."""
LEAST_RATE_SHARE = 1e-9
"""Smallest rate that is tried, relative to the largest rate without a loss above ε inside the support."""
LARGEST_RHO = 1e9
"""ρ of zCDP above which log δ counts as 0."""
LEVELS_TOLERANCE = 1e-6
"""Tolerance of log α in the comparison with another candidate."""
LEAST_FURTHEST = 1024
"""Least number of levels by which a search may move up from its start."""
FAR = 0.5
"""Fraction of log δ; a loss inside the support whose estimate exceeds the target by more than that is not bounded."""


class Widths(NamedTuple):
    """Tolerances of the search in log α: at the limit of δ, where m is flat, and where m is not flat."""

    spent: float
    flat: float
    fine: float


QUICK, SLOW = Widths(1e-3, 1e-3, 1e-7), Widths(0.05, 0.02, 0.01)
"""Tolerances for one round or a closed form by zCDP, and for subsampled rounds that are composed at every step."""
SPREAD = math.log(20.0)
"""Length of the interval of log α that is searched, below its largest value."""


def log_difference_of(larger: float, smaller: float) -> float:
    """Return log(e^larger − e^smaller), or −∞ if the difference is not positive."""
    return larger + math.log(-math.expm1(smaller - larger)) if smaller < larger else -math.inf


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """Noise that probably meets the target.

    Attributes:
        method: name of the method that certifies it.
        release: the rounds of noisy integers.
        rate: decay rate α of the noise.
        levels: number of levels m.
        closed: whether the guarantee is a closed form, in which only escapes from the common support count.
    """

    method: Method
    release: IntegerRelease
    rate: float
    levels: int
    closed: bool

    @property
    def order(self) -> tuple[int, float]:
        """Sort key: fewer levels are better, then less variance, as in `CertifiedNoise.order`."""
        return self.levels, variance(self.rate, self.levels)


def candidates(
    release: IntegerRelease, method: Method, proof: Method, *, beat: float = math.inf
) -> Iterator[Candidate]:
    """Yield noises that probably meet the target with about the fewest levels, by one method of proof.

    They are found by estimates, and `_certify` proves them later. Nothing is yielded in three cases: the probability
    that rounding fails uses up δ; the privacy losses do so at every decay rate; or every noise needs more than `beat`
    levels.

    Args:
        release: the rounds of noisy integers.
        method: the method that the candidates are named after.
        proof: the proof by which levels are estimated.
        beat: number of levels of the best candidate before.
    """
    target, by_l2 = release.problem.target, proof == "concentrated"
    if not by_l2:
        release = release.without_l2()
    log_delta = log_difference_of(target.log_delta, release.log_failure)
    if math.isinf(log_delta):
        return
    if release.total == 0:
        yield Candidate(method=method, release=release, rate=1.0, levels=1, closed=False)
        return
    plain = largest_rate(target.epsilon, release.total)
    common = functools.cache(functools.partial(_common, release))
    if proof == "escape":
        rates: tuple[float, ...] = (min(plain, LARGEST_RATE),)
    else:
        rates = _best_rates(release, log_delta, common, plain, split=by_l2, beat=beat)
    for rate in rates:
        left = log_delta if proof == "escape" else log_difference_of(log_delta, common(rate))
        levels = max(least_levels(rate, release.parts, left - math.log(release.problem.rate)), 1)
        yield Candidate(method=method, release=release, rate=rate, levels=levels, closed=proof == "escape")


def _common(release: IntegerRelease, rate: float) -> float:
    """Return about the part of log δ at the target ε that does not come from escapes.

    An escape is a message that only one of two neighbours can send. All other messages form the common support. Here
    the number of levels is so large that escapes are negligible.

    Args:
        release: the rounds of noisy integers.
        rate: decay rate α.

    Raises:
        InvalidInput: ε is so small that the noise is not a double.
    """
    problem, target = release.problem, release.problem.target
    if release.movement.l2 is not None and problem.rate == 1.0:
        rho = 0.5 * problem.rounds * rate * rate * math.floor(release.movement.l2**2)
        if rho == 0.0:
            raise InvalidInput.at("/epsilon", "is so small that the noise leaves the doubles")
        return likely_concentrated_log_delta(rho, target.epsilon) if rho < LARGEST_RHO else 0.0
    away = 60.0 - 2.0 * target.log_delta + math.log(release.total)
    levels = min(math.ceil(away / rate) + release.parts[0][0], int(NOISE_LEVELS.le or 0))
    curve = release.run_guarantee(release.noise(rate, levels), "coarse").curve
    estimate = curve.estimate(target.epsilon)
    if estimate is not None and estimate > (1.0 - FAR) * target.log_delta:
        return estimate  # no room for escapes, so that an estimate is enough
    return curve.upper_log_delta(target.epsilon)


def _best_rates(
    release: IntegerRelease,
    log_delta: float,
    common: Callable[[float], float],
    plain: float,
    *,
    split: bool,
    beat: float,
) -> tuple[float, ...]:
    """Return the decay rates α that need the fewest levels m, by golden section on log α.

    The search stays below the largest α that leaves a part of δ for escapes. A larger α needs fewer levels for the same
    escapes, so the largest α with all of δ bounds m from below.

    Args:
        release: the rounds of noisy integers.
        log_delta: log of the δ that is left for losses inside the support and for escapes.
        common: α ↦ log δ of the losses inside the common support; an increasing function.
        plain: the largest α without a loss above ε inside the support.
        split: whether δ is divided between losses inside the support and escapes, at least half of it for escapes.
        beat: number of levels of another candidate. Rates that need more are of no use.

    Returns:
        The rate with the fewest levels, and the largest rate with as few if there is one. Empty if every rate uses up
        δ, or needs more than `beat` levels.
    """
    width = QUICK if release.problem.rate == 1.0 else SLOW
    low = plain
    if math.isfinite(beat) and _cannot_beat(release, log_delta, common, plain, beat):
        return ()
    if common(low) >= log_delta:
        while low > plain * LEAST_RATE_SHARE and common(low) >= log_delta:
            low /= 4.0
        if common(low) >= log_delta:
            return ()
    high = low
    while high < LARGEST_RATE and common(high) < log_delta:
        low, high = high, min(2.0 * high, LARGEST_RATE)
    if real_levels(release, high, log_delta) > beat:
        return ()
    first, last = math.log(low), math.log(high)
    if common(math.exp(last)) >= log_delta:
        first, last = bisect_reals(
            lambda log_rate: common(math.exp(log_rate)) < log_delta, first, last, width=width.spent
        )
    start = first - SPREAD
    if split:  # α at which half of δ is left for escapes: nothing below it has less noise
        half = log_delta - math.log(2.0)
        _, start = bisect_reals(lambda log_rate: common(math.exp(log_rate)) <= half, start, first, width=width.fine)

    def cost(log_rate: float) -> float:
        rate = math.exp(log_rate)
        left = log_difference_of(log_delta, common(rate))
        return math.inf if math.isinf(left) else real_levels(release, rate, left)

    # The limits of the interval are often the best rates: half of δ is left there, or no loss inside the support.
    without_loss = [] if split or plain > LARGEST_RATE else [math.log(plain)]
    best = min([golden_section(cost, start, last, width=width.flat), start, *without_loss], key=cost)
    if best in without_loss:
        return (plain,)
    if release.problem.rate < 1.0:
        return (math.exp(best),)
    # Of all α that need about as few levels, the largest has the least variance.
    fewest = best
    enough = max(math.ceil(cost(best)), 1)
    fine = width.fine if split else width.spent * 1e-2
    best, _ = bisect_reals(lambda log_rate: cost(log_rate) <= enough, best, last, width=fine)
    return math.exp(fewest), math.exp(best)


def _cannot_beat(
    release: IntegerRelease, log_delta: float, common: Callable[[float], float], plain: float, beat: float
) -> bool:
    """Return whether every decay rate α that needs at most `beat` levels leaves nothing of δ for escapes.

    A smaller α needs more levels even with all of δ for escapes, and a larger α has a larger loss inside the support.

    Args:
        release: the rounds of noisy integers.
        log_delta: log of the δ that is left for losses inside the support and for escapes.
        common: α ↦ log δ of the losses inside the common support.
        plain: the largest α without a loss above ε inside the support.
        beat: number of levels of another candidate.
    """
    if real_levels(release, LARGEST_RATE, log_delta) > beat:
        return False

    def needs_more(log_rate: float) -> bool:
        """Return whether this α needs more than `beat` levels."""
        return real_levels(release, math.exp(log_rate), log_delta) > beat

    enough, _ = bisect_reals(needs_more, math.log(plain) - SPREAD, math.log(LARGEST_RATE), width=LEVELS_TOLERANCE)
    return enough > math.log(plain) and common(math.exp(enough)) >= log_delta


def _certify(candidate: Candidate, best: CertifiedNoise | None) -> CertifiedNoise | None:
    """Certify the least number of levels, near that of a candidate, at which the upper bound on δ meets the target.

    The guarantee has no lower bound from an example of neighbours yet; `least_noise` adds it to the best noise.

    Args:
        candidate: the noise that probably meets the target.
        best: the best certified noise so far.

    Returns:
        The noise; None if it is no better than `best`, or if it needs more levels than may be used.
    """
    release, rate, start = candidate.release, candidate.rate, candidate.levels
    target = release.problem.target
    most = int(NOISE_LEVELS.le or 0)
    if start > most:
        return None

    @functools.cache
    def at(levels: int) -> Guarantee:
        noise = release.noise(rate, levels)
        return release.escapes(noise) if candidate.closed else release.guarantee(noise)

    @functools.cache
    def excess(levels: int) -> float:
        return at(levels).curve.upper_log_delta(target.epsilon) - target.log_delta

    def meets(levels: int) -> bool:
        return excess(levels) <= 0.0

    def result(levels: int, *, minimal: bool) -> CertifiedNoise:
        return CertifiedNoise(
            method=candidate.method,
            release=release,
            noise=release.noise(rate, levels),
            guarantee=at(levels),
            minimal="proved" if minimal else "searched",
        )

    if release.total == 0:
        return result(1, minimal=True)
    if best is not None:
        levels, least_variance = best.order
        enough = levels if variance(rate, levels) < least_variance else levels - 1
        if start > enough and not (enough >= 1 and meets(enough)):
            return None
        start = min(start, enough)
    decided = candidate.closed and math.isinf(release.log_failure)
    # Decimals have then decided which m is the least; doubles may not tell it from the one below.
    if decided and start == candidate.levels and meets(start):
        return result(start, minimal=True)
    # log δ falls by α at most for each level.
    first = abs(excess(start)) / rate
    high = _least_near(excess, start, most, math.ceil(first) if first < start else 1)
    if high is None:
        return None
    proved = high == 1 or (decided and high == candidate.levels)
    return result(high, minimal=proved or at(high - 1).curve.bound_log_delta(target.epsilon).lower > target.log_delta)


def _least_near(excess: Callable[[int], float], start: int, most: int, first: int) -> int | None:
    """Return the least m ≥ 1 at which a decreasing function is at most 0; None if far above `start` or above `most`.

    Steps grow away from the start, beginning with `first`, until they bracket the least m.
    """
    high, low, step, furthest = start, start - 1, max(first, 1), 2 * max(start, LEAST_FURTHEST)
    while excess(high) > 0.0:
        if high > most or high - start > furthest:
            return None
        low, high, step = high, high + step, _GROWTH * step
    step = max(first, 1)
    while low >= 1 and excess(low) <= 0.0:
        low, high, step = low - step, low, _GROWTH * step
    low = max(low, 0)
    return least_integer(excess, low, high, at_low=excess(low) if low >= 1 else math.inf)


def proofs(problem: GridProblem) -> Iterator[tuple[Method, Method, Movement]]:
    """Yield the requested methods that apply, each with its proof and distances; closed forms first, slow ones last.

    If the observer does not see the draw of clients, only zCDP with the least distances composes in reasonable time.
    """
    certain, together = problem.movement, problem.rounded_together()
    wanted = METHODS if problem.method is None else (problem.method,)
    drawn = problem.rate < 1.0
    if drawn and together and "concentrated-coupled" in wanted:
        least = min(together, key=lambda distances: math.inf if distances.l2 is None else distances.l2)
        yield "concentrated-coupled", "concentrated", least
        return
    if "escape" in wanted and not drawn:
        yield "escape", "escape", certain
    if "concentrated-coupled" in wanted:
        for movement in together:
            yield "concentrated-coupled", "escape", movement
        for movement in together:
            yield "concentrated-coupled", "concentrated", movement
    if "concentrated" in wanted and certain.l2 is not None:
        yield "concentrated", "concentrated", certain
    if "hockey-stick" in wanted and not drawn:
        yield "hockey-stick", "hockey-stick", certain


def least_noise(problem: GridProblem) -> CertifiedNoise:
    """Return the certified noise with the fewest levels, by the best of the proofs.

    Raises:
        Infeasible: no noise that is offered meets the target.
    """
    likely: list[Candidate] = []
    for method, proof, movement in proofs(problem):
        beat = min((estimate.levels for estimate in likely), default=math.inf)
        likely += candidates(IntegerRelease(problem=problem, movement=movement), method, proof, beat=beat)
    best, most = None, math.inf
    for candidate in sorted(likely, key=lambda estimate: estimate.order):
        if candidate.levels > most:
            break
        certified = _certify(candidate, best)
        if certified is not None and (best is None or certified.order < best.order):
            best, most = certified, _most_levels(certified, problem.target.epsilon)
    if best is None:
        limit = ConditionResult("noise-offered", "the noise levels that are needed are offered", Verdict.NO)
        raise Infeasible(
            "no noise that is offered meets the target", limit, {"log10_delta": problem.target.log10_delta / 2}
        )
    return replace(best, guarantee=best.release.add_witness(best.guarantee, best.noise))


def _most_levels(best: CertifiedNoise, epsilon: float) -> float:
    """Return the largest estimated number of levels at which another noise is still tried."""
    levels = best.noise.noise_levels
    if closed_form_decides(best.guarantee.curve, epsilon, FAR):
        return max(WORSE * levels, levels + 1)
    return HOPELESS * levels
