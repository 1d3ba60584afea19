"""Products of pairs with exactly known distributions of losses: the contour engine, with the lattice as its fallback.

The losses are those of Gaussian noise, with or without subsampling, and of Laplace noise. If the contour engine has no
certified answer, bounds for a single large loss are tried for Gaussian noise. If these are wide, the lattice composes
the same pairs from their tails.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from epsilond.accountants.composition.rounded_shifts import ROUNDED_SHIFT, lower_by_rounding, raise_by_rounding
from epsilond.accountants.curve.enclosure import Interval, Tails
from epsilond.accountants.curve.facts import LaplaceLaw, MixedLaw
from epsilond.accountants.curve.near_tests import BestTests, NearTest, adapt_width
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.curve.profile import PointwiseProfile
from epsilond.accountants.engine import exact
from epsilond.accountants.engine.contour.refusal import ContourRefused, RefusalReason
from epsilond.accountants.engine.exact import NO_CERTIFICATE, SizedTest
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.profiles.products.one_large_step import NARROW, NARROW_LOG_DELTA, OneLargeStep

if TYPE_CHECKING:
    from epsilond.accountants.curve.facts import Law, NormalLaw
    from epsilond.accountants.curve.profile import Profile
    from epsilond.accountants.numerics.special import FloatArray

Laws = tuple[tuple["Law", int], ...]
"""Distributions of losses, and the number of runs of each."""

_FEW_STEPS = 8  # up to this many steps the lattice is used even if bounds for one large step are close
# The lattice then takes 0.1 s and bounds log δ within 0.02. The bounds for one large step differ by up to 0.25.
_BEYOND_DOUBLES = -800.0  # log δ below the range of doubles; the lattice has no lower bound there
_ROUNDED_SCALE = 4 * UNIT_ROUNDOFF  # relative error of a Laplace shift, which is a quotient of rounded numbers
_MANY_KINDS = 48  # number of different Laplace laws beyond which the lattice has few cells for each
_WIDEST_OF_MANY = 1e-3  # relative width of δ that is accepted for more than `_MANY_KINDS` laws; a lattice is wider


@dataclass(frozen=True, eq=False)
class ExactProfile(PointwiseProfile):
    """Privacy profile of a composition of steps with exactly known loss distributions, in one direction.

    Bounds on δ come from numerical inversion of the transform of the total loss. The fallback is a pair from a
    composition on a lattice of losses. It is used where the inversion cannot bound its own error, and for the tails.

    Attributes:
        laws: distributions of the losses, and the number of runs of each.
        fallback: function that returns the fallback. It computes it at the first call only.
        is_backward: whether this is the backward direction of the fallback.

    Guarantees:
        lower ≤ log δ ≤ upper at every ε ≥ 0. The result does not depend on earlier evaluations.
    """

    laws: Laws
    fallback: Callable[[], Pair]
    is_backward: bool = False

    @property
    def fallback_profile(self) -> Profile:
        """Profile of the fallback in this direction."""
        pair = self.fallback()
        return pair.backward if self.is_backward else pair.forward

    @cached_property
    def laplace(self) -> dict[LaplaceLaw, int]:
        """Loss distributions of Laplace noise in the product, with the number of runs of each."""
        counts: dict[LaplaceLaw, int] = {}
        for law, count in self.laws:
            if isinstance(law, LaplaceLaw):
                counts[law] = counts.get(law, 0) + count
        return counts

    @cached_property
    def gaussian(self) -> tuple[tuple[NormalLaw, int], ...]:
        """Loss distributions of Gaussian noise in the product, with the number of runs of each."""
        return tuple((law, count) for law, count in self.laws if not isinstance(law, LaplaceLaw))

    @cached_property
    def has_few_steps(self) -> bool:
        """True if there are so few steps that a composition on a lattice takes little time."""
        return sum(count for _, count in self.laws) <= _FEW_STEPS

    @cached_property
    def has_mixtures(self) -> bool:
        """True if some step is a mixture of Gaussian steps with several shifts."""
        return any(isinstance(law, MixedLaw) for law, _ in self.laws)

    @property
    def prefers_fallback(self) -> bool:
        """True if the lattice takes less time than the contour engine, as it does for few steps of mixtures."""
        return self.has_mixtures and self.has_few_steps

    @cached_property
    def epsilon_error(self) -> float:
        """Largest change of ε by the rounding of Laplace shifts, in nats (docs/engine-certificate.md, A7).

        It is the relative error of a shift times the largest total loss. The factor 1.01 is a margin.
        """
        return 1.01 * _ROUNDED_SCALE * math.fsum(law.shift * count for law, count in self.laplace.items())

    @property
    def widest(self) -> float:
        """Largest relative width of δ of an enclosure that is accepted."""
        return _WIDEST_OF_MANY if len(self.laplace) > _MANY_KINDS else exact.WIDEST

    @cached_property
    def supremum(self) -> float:
        """Least known ε from which on δ is zero; math.inf if none is known."""
        return math.inf if self.laplace else exact.supremum(self.laws)

    @property
    def log_infinite_mass(self) -> float:
        """Log of the infinite mass of the lattice's dominating pair; −inf for Laplace losses, which are bounded."""
        return -math.inf if self.laplace else self.fallback_profile.log_infinite_mass

    @property
    def tail_accuracy(self) -> float:
        """Accuracy of the tails of the lattice's dominating pair."""
        return self.fallback_profile.tail_accuracy

    @cached_property
    def one_large_step(self) -> OneLargeStep:
        """Bounds for the case that a single rare large loss determines δ, which the contour engine does not resolve."""
        return OneLargeStep.of(self.gaussian)

    @cached_property
    def unsampled_pair(self) -> Pair:
        """Gaussian pair that dominates in both directions: that of the same steps without subsampling."""
        square = math.fsum(count * law.distance**2 for law, count in self.gaussian)
        return gaussian_pair(math.sqrt(square) * (1.0 + 8 * UNIT_ROUNDOFF))  # rounded up

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the tails of the lattice's dominating pair."""
        return self.fallback_profile.log_tails(epsilon)

    def attained_log_tails(self, epsilon: FloatArray) -> Tails | None:
        """Return the tails of a pair that the mechanism attains, from the fallback; None if it has none."""
        return self.fallback_profile.attained_log_tails(epsilon)

    def log_delta_bounds(self, epsilon: float) -> Interval:
        """Enclose log δ at one ε by numerical inversion of the transform E[e^{zL}] of the total loss L.

        If the inversion cannot bound its own error, the fallback is used for Laplace losses, and
        `_bounds_without_transform` for others.

        Args:
            epsilon: ε, in nats.

        Returns:
            The lower and the upper bound on log δ(ε), natural logarithm.
        """
        enclosed = self.enclose_log_delta(epsilon)
        if enclosed is not None:
            return enclosed
        if self.laplace:
            return self.fallback_profile.log_delta_bounds(epsilon)
        return self._bounds_without_transform(epsilon)

    def _bounds_without_transform(self, epsilon: float) -> Interval:
        """Enclose log δ of Gaussian steps if numerical inversion of the transform cannot bound its error.

        If the bounds for a single large loss are close, they are the result. Otherwise, and for few steps, they are
        combined with those of the fallback and with the upper bound for steps without subsampling.

        Args:
            epsilon: ε, in nats.

        Returns:
            The lower and the upper bound on log δ(ε), at most 0.
        """
        rare = self.one_large_step.log_delta(epsilon)
        rare_lower, rare_upper = lower_by_rounding(rare.lower), raise_by_rounding(rare.upper)
        if rare.upper - rare.lower <= NARROW_LOG_DELTA and not self.has_few_steps:
            return Interval(rare_lower, min(rare_upper, 0.0))
        lattice = self.fallback_profile.log_delta_bounds(epsilon)
        unsampled_upper = self.unsampled_pair.log_delta_bounds(epsilon).upper
        return Interval(max(lattice.lower, rare_lower), min(lattice.upper, unsampled_upper, rare_upper))

    def enclose_log_delta(self, epsilon: float) -> Interval | None:
        """Enclose log δ at one ε by numerical inversion of the transform E[e^{zL}] of the total loss L only.

        Args:
            epsilon: ε, in nats.

        Returns:
            The bounds. None if the inversion cannot bound its own error, or if `prefers_fallback`.
        """
        try:
            return self._outward(self._exact_log_delta, epsilon)
        except NO_CERTIFICATE:
            return None

    def _exact_log_delta(self, epsilon: float) -> Interval:
        """Enclose log δ at one ε by numerical inversion, for the shifts as they were rounded to doubles."""
        if self.prefers_fallback:
            raise ContourRefused(RefusalReason.BEYOND_BUDGET, "few steps of mixtures")
        return exact.log_delta(self.laws, epsilon, widest=self.widest)

    def _outward(self, log_delta: Callable[[float], Interval], epsilon: float) -> Interval:
        """Enclose log δ for the exact shifts, from bounds for shifts that were rounded to doubles.

        Rounded Laplace shifts change the total loss by at most `epsilon_error`. The upper bound is therefore evaluated
        at ε − `epsilon_error`, and the lower bound at ε + `epsilon_error`. Rounded Gaussian shifts change log δ by the
        amounts of `raise_by_rounding` and `lower_by_rounding`.

        Args:
            log_delta: function from an ε to bounds on log δ for the rounded shifts.
            epsilon: ε, in nats.

        Returns:
            Bounds on log δ(ε), at most 0.
        """
        if self.epsilon_error == 0.0:
            lower, upper = log_delta(epsilon)
        else:
            upper = log_delta(epsilon - self.epsilon_error).upper
            lower = min(log_delta(epsilon + self.epsilon_error).lower, upper)
        return Interval(lower_by_rounding(lower), min(raise_by_rounding(upper), 0.0))

    def enclose_epsilon(self, log_delta: float) -> tuple[Interval, bool]:
        """Enclose the smallest ε ≥ 0 with log δ(ε) at most a target, by numerical inversion of the loss transform.

        If the inversion cannot bound its own error, the result comes from the bounds for a single large loss. For
        Laplace losses it is then the interval from 0 to ∞.

        Args:
            log_delta: the target log δ, natural logarithm.

        Returns:
            An interval that contains ε, in nats, and whether it is so narrow that no other method is necessary.
        """
        slack = ROUNDED_SHIFT * (1.0 + abs(log_delta))  # error of log δ by shifts rounded to doubles
        try:
            lower, upper = self._exact_epsilon(log_delta, slack)
        except NO_CERTIFICATE:
            if self.laplace:
                return Interval(0.0, math.inf), False
            rare = self.one_large_step.epsilon(log_delta - slack)
            is_narrow = rare.upper - rare.lower <= NARROW * rare.upper < math.inf
            # For few steps, the fallback takes little time, and its bounds are closer.
            return rare, is_narrow and not self.has_few_steps
        # Rounded Laplace shifts change ε by at most `epsilon_error`. A bound of 0 remains if δ(0) is small enough.
        must_move_up = upper > 0.0 or (self.epsilon_error > 0.0 and self.log_delta_bounds(0.0).upper > log_delta)
        if must_move_up:
            upper += self.epsilon_error
        return Interval(max(lower - self.epsilon_error, 0.0), upper), True

    def _exact_epsilon(self, log_delta: float, slack: float) -> Interval:
        """Enclose ε by numerical inversion of the loss transform, for the shifts as they were rounded to doubles."""
        if self.prefers_fallback:
            raise ContourRefused(RefusalReason.BEYOND_BUDGET, "few steps of mixtures")
        return exact.epsilon(self.laws, log_delta, slack=slack, widest=self.widest)

    def bound_log_delta(self, epsilon: float) -> float:
        """Return an upper bound on log δ(ε) that is quick to compute.

        Args:
            epsilon: ε, in nats.

        Returns:
            A Chernoff bound. If there is none, the bound for a single large loss, or 0 (δ ≤ 1) for Laplace losses.
        """
        try:
            bound = exact.upper_log_delta(self.laws, epsilon - self.epsilon_error)
        except NO_CERTIFICATE:
            bound = 0.0 if self.laplace else self.one_large_step.log_delta(epsilon).upper
        return min(raise_by_rounding(bound), 0.0)

    def is_at_most(self, epsilon: float, log_delta: float) -> bool:
        """Return whether the quick upper bound on log δ(ε), usually a Chernoff bound, is at most `log_delta`."""
        return self.bound_log_delta(epsilon) <= log_delta

    def likely_meets(self, epsilon: float, log_delta: float) -> bool:
        """Return whether the quick upper bound on log δ(ε) is at most `log_delta`, as `is_at_most` does."""
        return self.is_at_most(epsilon, log_delta)

    def surely_meets(self, epsilon: float, log_delta: float) -> bool:
        """Return whether an upper bound proves that δ(ε) is at most a target: the quick one or that of the inversion.

        Args:
            epsilon: ε, in nats.
            log_delta: the target log δ, natural logarithm.
        """
        if self.is_at_most(epsilon, log_delta):
            return True
        enclosed = self.enclose_log_delta(epsilon)
        return enclosed is not None and enclosed.upper <= log_delta

    @cached_property
    def finds_best_tests(self) -> bool:
        """True if `best_tests` may have a result; never for Laplace losses and for few steps of mixtures."""
        return not self.laplace and not self.prefers_fallback and exact.finds_best_tests(self.laws)

    def best_tests(self, rates: Sequence[float]) -> BestTests | None:
        """Enclose the true positive rate of the most powerful test at each false positive rate.

        Two methods are tried: tables for steps with little noise, and the compiled kernel.

        Args:
            rates: false positive rates, in (0, 1).

        Returns:
            Bounds on the rates of the tests, and on log δ at ε = 0. None if neither method certifies a result.
        """
        tests = exact.best_tests(self.laws, rates, ROUNDED_SHIFT) if self.finds_best_tests else None
        if tests is None:
            return None
        lower, upper = tests.log_delta_at_zero
        return tests._replace(log_delta_at_zero=Interval(lower_by_rounding(lower), min(raise_by_rounding(upper), 0.0)))

    def upper_log_deltas(self, epsilons: Sequence[float]) -> Sequence[float]:
        """Return upper bounds on log δ at several ε, each at most 0.

        The compiled kernel uses the same quadrature nodes for all ε. If it has no answer, each ε is evaluated
        separately.
        """
        # The kernel chooses the nodes for the first ε that it gets.
        if not self.finds_best_tests:
            return super().upper_log_deltas(epsilons)
        middle = sorted(epsilons)[len(epsilons) // 2]
        bounds = exact.upper_log_deltas(self.laws, [middle, *epsilons])
        if bounds is None:
            return super().upper_log_deltas(epsilons)
        return [min(raise_by_rounding(bound), 0.0) for bound in bounds[1:]]

    def near_tests(self, sizes: Sequence[float]) -> Sequence[NearTest | None]:
        """Find tests with about the given false positive rates, each of which rejects if the total loss exceeds an ε.

        Each test has bounds on log δ around its ε, from numerical inversion of the loss transform. If the inversion
        certifies no test, the fallback is used for Laplace losses.

        Args:
            sizes: the false positive rates, in (0, 1).

        Returns:
            One test for each rate; None if no bounds are certified, or if `prefers_fallback`.
        """
        if self.prefers_fallback:
            return [None for _ in sizes]
        log_sizes = [math.log(size) for size in sizes]
        sized_tests = exact.thresholds(self.laws, log_sizes, widest=self.widest)
        tests = [None if test is None else self._near_test(test) for test in sized_tests]
        if not self.laplace:
            return tests
        if all(test is None for test in tests):
            return self.fallback_profile.near_tests(sizes)
        return [None if test is None else adapt_width(test, size) for test, size in zip(tests, sizes, strict=True)]

    def _near_test(self, sized: SizedTest) -> NearTest:
        """Return a test with a function that encloses log δ around its threshold."""
        bounds = functools.partial(self._near_log_delta, sized.log_delta)
        return NearTest(sized.epsilon, bounds, sized.width, sized.steepness)

    def _near_log_delta(self, log_delta: Callable[[float], Interval], epsilon: float) -> Interval:
        """Enclose log δ by a function that is accurate near the ε of a test; −∞ to 0 if ε is too far from there."""
        try:
            return self._outward(log_delta, epsilon)
        except NO_CERTIFICATE:
            return Interval(-math.inf, 0.0)

    def is_beyond_doubles(self, epsilon: float) -> bool:
        """Return whether δ(ε) is far below every positive double, and numerical inversion has no certified bounds."""
        if self.laplace or not self._normal_log_delta(epsilon) < _BEYOND_DOUBLES:
            return False
        try:
            exact.log_delta(self.laws, epsilon)
        except NO_CERTIFICATE:
            return self.one_large_step.log_delta(epsilon).upper < _BEYOND_DOUBLES
        return False

    def _normal_log_delta(self, epsilon: float) -> float:
        """Estimate log δ at an ε by the central limit theorem as −ε²/2v, to decide whether a closer check is needed.

        v = Σ T q² (e^{d²} − 1) adds up the variances of the likelihood ratios of T Gaussian steps with sampling rate q
        and distance d of the means.
        """
        variances = []
        for law, count in self.gaussian:
            rate = getattr(law, "rate", 1.0)
            variances.append(count * rate**2 * math.expm1(min(law.distance**2, 700.0)))  # no overflow
        least_variance = 1e-300  # avoids a division by 0
        return -0.5 * epsilon * epsilon / max(math.fsum(variances), least_variance)
