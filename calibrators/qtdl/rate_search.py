"""Search for the decay rate α of truncated discrete Laplace noise that needs the fewest levels m."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, NamedTuple

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.estimates.bounds import likely_concentrated_log_delta
from epsilond.accountants.numerics.minimum import golden_section
from epsilond.accountants.numerics.root_search import bisect_reals
from epsilond.accountants.numerics.truncated_laplace import largest_rate
from epsilond.accountants.quantities import NOISE_LEVELS
from epsilond.calibrators.qtdl.escapes import real_levels

if TYPE_CHECKING:
    from epsilond.calibrators.qtdl.family import IntegerRelease

MOST_LEVELS = int(NOISE_LEVELS.le or 0)
"""Largest number of levels that is offered."""
LARGEST_RATE = 700.0
"""Largest decay rate α that is tried: the exponential of a larger one is not a double."""
LEAST_RATE_SHARE = 1e-9
"""Smallest rate that is tried, relative to the largest rate without a loss above ε inside the support."""
LARGEST_RHO = 1e9
"""ρ of zCDP above which log δ counts as 0."""
LEVELS_TOLERANCE = 1e-6
"""Tolerance of log α in the comparison with another candidate."""
FAR = 0.5
"""Fraction of log δ by which an estimate must exceed the target to replace a bound, which takes more time."""
SPREAD = math.log(20.0)
"""Length of the interval of log α that is searched, below its largest value."""


class Widths(NamedTuple):
    """Tolerances of the search for the decay rate α of integer noise, as differences of log α.

    Attributes:
        spent: tolerance of the largest rate that leaves some of δ for escapes (messages only one neighbour can send).
        flat: tolerance of the rate with the fewest levels, where the number of levels hardly changes.
        fine: tolerance of rates at which the number of levels changes.
    """

    spent: float
    flat: float
    fine: float


QUICK, SLOW = Widths(1e-3, 1e-3, 1e-7), Widths(0.05, 0.02, 0.01)
"""Tolerances for one round or a closed form by zCDP, and for subsampled rounds that are composed at every step."""


def log_difference_of(larger: float, smaller: float) -> float:
    """Return log(e^larger − e^smaller), or −∞ if the difference is not positive.

    Args:
        larger: natural logarithm of the first number.
        smaller: natural logarithm of the second number.

    Returns:
        The natural logarithm of the difference, computed as larger + log(1 − e^(smaller − larger)).
    """
    if smaller < larger:
        return larger + math.log(-math.expm1(smaller - larger))
    return -math.inf


class RateSearch:
    """Search for the decay rates α of truncated discrete Laplace noise with which the fewest levels m suffice.

    The target's δ is divided between two events. An escape is a message that only one of two neighbours can send. All
    other messages form the common support, in which privacy losses above ε have some probability too. A larger α has
    larger losses in the common support, which leaves less of δ for escapes. For the same probability of escapes, fewer
    levels suffice. The number of levels therefore falls and then rises with α, approximately.
    """

    def __init__(self, release: IntegerRelease, log_delta: float, *, split: bool) -> None:
        """Prepare the search for the decay rate.

        Args:
            release: the rounds of noisy integers.
            log_delta: natural log of the δ that escapes and losses in the common support may use together. It is the
                target's δ minus the probability that rounding fails.
            split: whether to try only rates that leave at most half of this δ for escapes. It is set for guarantees by
                zCDP, where smaller rates have no less noise.
        """
        self._release = release
        self._log_delta = log_delta
        self._split = split
        self._widths = QUICK if release.problem.rate == 1.0 else SLOW
        # The largest α at which no privacy loss in the common support exceeds the target ε.
        self._lossless_rate = largest_rate(release.problem.target.epsilon, release.total)
        # α ↦ log of the δ that losses above ε in the common support use; an increasing function.
        self._support_log_delta = functools.cache(functools.partial(support_log_delta, release))

    def log_escape(self, rate: float) -> float:
        """Return the log of the part of δ that is left for escapes at a decay rate of the noise.

        An escape is a message that only one of two neighbours can send. The other part of δ is for messages with a
        privacy loss above ε.

        Args:
            rate: decay rate α.

        Returns:
            The natural logarithm of this part of δ; −∞ if nothing is left.
        """
        return log_difference_of(self._log_delta, self._support_log_delta(rate))

    def best_rates(self, *, beat: float) -> tuple[float, ...]:
        """Find the decay rates α of the noise with which the fewest levels meet the target.

        Args:
            beat: number of levels m of the best noise so far. Rates that require more are not returned.

        Returns:
            The rate α with the fewest levels. Unless this is the lossless rate or rounds are subsampled, the largest
            rate with equally many levels follows. The result is empty if privacy losses above ε use all of δ at every
            rate, or if every rate requires more than `beat` levels.
        """
        if math.isfinite(beat) and self._every_rate_exceeds(beat):
            return ()
        affordable = self._affordable_rate()
        if affordable is None:
            return ()
        low, high = self._bracket_largest_rate(affordable)
        # At the largest rate, with all of δ for escapes, fewer levels suffice than at every other rate.
        if real_levels(self._release, high, self._log_delta) > beat:
            return ()

        largest, limit = self._narrow_largest_rate(math.log(low), math.log(high))
        best = self._best_log_rate(self._smallest_log_rate(largest), limit)
        if best is None:
            return (self._lossless_rate,)
        is_subsampled = self._release.problem.rate < 1.0
        if is_subsampled:
            return (math.exp(best),)
        return (math.exp(best), math.exp(self._largest_log_rate_with_equal_levels(best, limit)))

    def _every_rate_exceeds(self, beat: float) -> bool:
        """Decide whether every decay rate α requires more than a number of levels to meet the target.

        An escape is a message that only one of two neighbours can send. A small α requires more than `beat` levels even
        if escapes may use all of δ. At a large α, privacy losses above ε in other messages use all of δ. The result is
        true if every α is too small or too large in this sense.

        Args:
            beat: number of noise levels.

        Returns:
            True if, by the estimates of the search, no decay rate meets the target with at most `beat` levels.
        """
        if real_levels(self._release, LARGEST_RATE, self._log_delta) > beat:
            return False

        def needs_more(log_rate: float) -> bool:
            """Decide whether noise of this decay rate needs more than `beat` levels, even if escapes use all of δ."""
            return real_levels(self._release, math.exp(log_rate), self._log_delta) > beat

        lossless = math.log(self._lossless_rate)
        smallest, _ = bisect_reals(needs_more, lossless - SPREAD, math.log(LARGEST_RATE), width=LEVELS_TOLERANCE)
        return smallest > lossless and self._uses_up_delta(math.exp(smallest))

    def _uses_up_delta(self, rate: float) -> bool:
        """Decide whether nothing of δ is left for escapes, that is, messages that only one of two neighbours can send.

        Noise that decays fast gives other messages a privacy loss above ε, which may use all of δ.

        Args:
            rate: decay rate α of the noise.
        """
        return self._support_log_delta(rate) >= self._log_delta

    def _affordable_rate(self) -> float | None:
        """Return a decay rate of the noise that leaves some of δ for escapes; None if there is none.

        An escape is a message that only one of two neighbours can send. Rates are tried from the lossless one on, each
        a quarter of the previous one, down to `LEAST_RATE_SHARE` of the lossless rate.
        """
        rate = self._lossless_rate
        least = self._lossless_rate * LEAST_RATE_SHARE
        while rate > least and self._uses_up_delta(rate):
            rate /= 4.0
        return None if self._uses_up_delta(rate) else rate

    def _bracket_largest_rate(self, affordable: float) -> tuple[float, float]:
        """Enclose the largest decay rate that leaves some of δ for escapes, between rates at most a factor of 2 apart.

        An escape is a message that only one of two neighbours can send. At larger rates, privacy losses above ε in the
        other messages use all of δ. Rates above `LARGEST_RATE` are not tried. The larger result may therefore leave
        some of δ for escapes, too.

        Args:
            affordable: a decay rate α at which some of δ is left. If it exceeds `LARGEST_RATE`, it is returned twice.

        Returns:
            The smaller and the larger rate.
        """
        low = high = affordable
        while high < LARGEST_RATE and not self._uses_up_delta(high):
            low = high
            high = min(2.0 * high, LARGEST_RATE)
        return low, high

    def _narrow_largest_rate(self, low: float, high: float) -> tuple[float, float]:
        """Narrow the bracket of the largest decay rate that leaves some of δ for escapes.

        An escape is a message that only one of two neighbours can send.

        Args:
            low: logarithm of a rate that leaves some of δ.
            high: logarithm of a larger rate.

        Returns:
            The logarithms of the narrower bracket; it is unchanged if the larger rate leaves some of δ, too.
        """

        def leaves_some(log_rate: float) -> bool:
            """Decide whether noise of this decay rate leaves some of δ for escapes."""
            return not self._uses_up_delta(math.exp(log_rate))

        if leaves_some(high):
            return low, high
        return bisect_reals(leaves_some, low, high, width=self._widths.spent)

    def _smallest_log_rate(self, largest: float) -> float:
        """Return the logarithm of the smallest decay rate α that is searched.

        An escape is a message that only one of two neighbours can send. If `split`, the search tries only rates that
        leave at most half of δ for escapes, and the result is the rate that leaves half. Otherwise the result is
        `SPREAD` = log 20 below `largest`.

        Args:
            largest: logarithm of the largest decay rate that leaves some of δ for escapes.

        Returns:
            The natural logarithm of α.
        """
        start = largest - SPREAD
        if not self._split:
            return start
        log_half = self._log_delta - math.log(2.0)

        def leaves_half(log_rate: float) -> bool:
            """Decide whether noise of this decay rate leaves at least half of δ for escapes."""
            return self._support_log_delta(math.exp(log_rate)) <= log_half

        _, start = bisect_reals(leaves_half, start, largest, width=self._widths.fine)
        return start

    def _levels(self, log_rate: float) -> float:
        """Return the number of noise levels that a decay rate needs, as a real number.

        An escape is a message that only one of two neighbours can send. δ is the probability of privacy losses above ε,
        which grows with the rate, plus the probability of escapes. The result is the number with which both add up to
        the target δ.

        Args:
            log_rate: logarithm of the decay rate.

        Returns:
            The number of levels; infinite if the privacy losses alone exceed the target δ.
        """
        rate = math.exp(log_rate)
        log_escape = self.log_escape(rate)
        if math.isinf(log_escape):
            return math.inf
        return real_levels(self._release, rate, log_escape)

    def _best_log_rate(self, low: float, high: float) -> float | None:
        """Return the decay rate in an interval that needs the fewest noise levels m, as a logarithm.

        A golden-section search finds only stationary points, so that its result is compared with two other rates. One
        is the lower limit. Unless `split`, the other is the lossless rate: the largest at which no privacy loss in the
        common support exceeds ε. Escapes may then use all of δ.

        Args:
            low: lower limit of the log rate.
            high: upper limit.

        Returns:
            The log rate; None if the lossless rate needs the fewest levels.
        """
        stationary = golden_section(self._levels, low, high, width=self._widths.flat)
        candidates = [stationary, low]
        lossless = math.log(self._lossless_rate)
        tries_lossless = not self._split and self._lossless_rate <= LARGEST_RATE
        if tries_lossless:
            candidates.append(lossless)
        best = min(candidates, key=self._levels)
        if tries_lossless and best == lossless:
            return None
        return best

    def _largest_log_rate_with_equal_levels(self, best: float, limit: float) -> float:
        """Return the largest log rate up to a limit that requires as many whole levels as the best one.

        Among rates with equally many levels, the largest has the least variance of the noise.

        Args:
            best: logarithm of the rate with the fewest levels.
            limit: upper limit of the log rate.

        Returns:
            The logarithm of the rate, found by bisection.
        """
        whole_levels = max(math.ceil(self._levels(best)), 1)
        # This rate determines the variance of the noise, so its tolerance is smaller.
        width = self._widths.fine if self._split else self._widths.spent * 1e-2

        def needs_no_more(log_rate: float) -> bool:
            """Decide whether noise of this decay rate needs at most as many levels."""
            return self._levels(log_rate) <= whole_levels

        largest, _ = bisect_reals(needs_no_more, best, limit, width=width)
        return largest


def support_log_delta(release: IntegerRelease, rate: float) -> float:
    """Estimate the δ due to privacy losses above the target ε, without escapes, as a natural logarithm.

    An escape is a message that only one of two neighbours can send. All other messages form the common support. The
    estimate assumes so many noise levels m that escapes are negligible.

    Args:
        release: the rounds of noisy integers.
        rate: decay rate α.

    Returns:
        The natural logarithm of δ, by zCDP if there is a bound on the ℓ2 distance and no subsampling, otherwise from a
        composed privacy curve.

    Raises:
        InvalidInput: ε is so small that the parameters of the noise are out of the range of doubles.
    """
    problem = release.problem
    target = problem.target
    l2 = release.movement.l2  # largest ℓ2 distance of two neighbours, if it is known
    if l2 is not None and problem.rate == 1.0:
        return _concentrated_log_delta(release, rate, l2)

    # With so many levels, an escape has about the probability e^(−60) δ², which is negligible next to δ.
    decay = 60.0 - 2.0 * target.log_delta + math.log(release.total)
    largest_shift, _ = release.parts[0]  # largest difference of two neighbours in a coordinate
    levels = min(math.ceil(decay / rate) + largest_shift, MOST_LEVELS)

    curve = release.run_guarantee(release.noise(rate, levels), "coarse").curve
    estimate = curve.estimate(target.epsilon)
    if estimate is not None and estimate > (1.0 - FAR) * target.log_delta:
        # An estimate so far above the target is enough: δ exceeds the target at this rate even without escapes.
        return estimate
    return curve.upper_log_delta(target.epsilon)


def _concentrated_log_delta(release: IntegerRelease, rate: float, l2: float) -> float:
    """Return the approximate log δ at the target ε by zero-concentrated differential privacy.

    R rounds have ρ = ½ R α² ⌊Δ₂²⌋.

    Args:
        release: the messages of all R rounds.
        rate: decay rate α.
        l2: ℓ2 sensitivity Δ₂ in grid steps. The squared distance of integers is an integer, so Δ₂² is rounded down.

    Returns:
        The natural logarithm of δ; 0 if ρ is at least `LARGEST_RHO`.

    Raises:
        InvalidInput: ε is so small that ρ is not a positive double.
    """
    problem = release.problem
    rho = 0.5 * problem.rounds * rate * rate * math.floor(l2**2)
    if rho == 0.0:
        raise InvalidInput.at("/epsilon", "is so small that the noise leaves the doubles")
    if rho >= LARGEST_RHO:
        return 0.0
    return likely_concentrated_log_delta(rho, problem.target.epsilon)
