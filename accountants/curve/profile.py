"""Profiles: ε ↦ log E_{e^ε}(P‖Q) for one direction of a pair of distributions, and the quantities that follow from it.

E_γ(P‖Q) = ∫ (dP − γ dQ)₊ for γ = e^ε ≥ 1. A profile also gives the two masses of {L > ε}, L = log dP/dQ. They satisfy:

    Q(L > ε) = −dE_γ/dγ at γ = e^ε,   P(L > ε) = E_γ + γ Q(L > ε).

The masses are computed directly, because differences of E are inaccurate for small tail probabilities.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np

from epsilond.accountants.curve.enclosure import LARGEST_EPSILON, Enclosure, Interval, Tails
from epsilond.accountants.numerics.root_search import Guess

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.curve.near_tests import BestTests, NearTest
    from epsilond.accountants.numerics.special import FloatArray


RootSearch: TypeAlias = Literal["bracket", "solve", "sweep", "spare"]
"""Searches for ε(δ).

"bracket" starts without an estimate, "solve" from `Profile.solve`. "sweep" evaluates many ε at once, and "spare" makes
few evaluations, for profiles with expensive evaluations.
"""


class EpsilonEstimate(NamedTuple):
    """An estimate of the ε > 0 that meets a target δ, from a formula without bounds on its rounding errors.

    Attributes:
        epsilon: ε, in nats.
        pad: distance from ε, in nats, at which a certified bound is tried first.
        steepness: estimate of |d log δ/dε| at this ε; None if it is unknown.
    """

    epsilon: float
    pad: float
    steepness: float | None = None


class Profile(ABC):
    """The privacy profile of one direction of a pair: log δ(ε) = log E_{e^ε}(P‖Q) on ε ≥ 0, elementwise on arrays.

    A subclass defines `log_delta`, `log_tails` and `tail_accuracy`. Every further method has a default that is valid
    for all profiles, and is overridden only for a cheaper or closer answer.
    """

    pointwise: ClassVar[bool] = False
    """True if `log_delta` evaluates one ε after another, by `log_delta_bounds`."""
    one_sided: ClassVar[bool] = False
    """True if `upper_log_delta` costs less than both bounds."""
    shares_nodes: ClassVar[bool] = False
    """True if upper bounds at several neighbouring ε together cost as much as a single bound (`upper_log_deltas`)."""
    estimated: ClassVar[bool] = False
    """True if evaluations are expensive, but `guess`, `likely_log_delta` and `quick_upper_log_delta` are cheap."""
    closed_form: ClassVar[bool] = False
    """True if an evaluation at one ε costs very little, or its value is stored."""
    root_search: ClassVar[RootSearch] = "bracket"
    """Name of the search for ε(δ) that suits the profile."""

    @abstractmethod
    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Return an enclosure of log E_{e^ε}(P‖Q), elementwise. −∞ means exactly zero.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            Lower and upper bounds on the natural logarithm of the divergence.
        """

    @abstractmethod
    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the log probabilities of a privacy loss above ε under both distributions, elementwise.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            log P(L > ε) and log Q(L > ε) for the privacy loss L, each within `tail_accuracy`.
        """

    @property
    @abstractmethod
    def tail_accuracy(self) -> float:
        """Bound on the error of each log tail, per unit of 1 + |log tail|."""

    def attained_log_tails(self, epsilon: FloatArray) -> Tails | None:
        """Return log p and log q of lines p − α q below this profile, for lower bounds on δ of products.

        Each line is at most the hockey-stick divergence E_α(P‖Q) at every α = e^ε, where (P, Q) is the pair of which
        products are formed. A profile with tails of a larger pair, or one that wraps such a profile, overrides this
        method.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            log p and log q, one line for each ε; None if the lines are those of `log_tails`.
        """
        del epsilon
        return None

    def delta_at_zero_by_tails(self) -> float:
        """Return δ(0) = P(L > 0) − Q(L > 0) of the pair to which the tails belong, without error bounds."""
        log_p, log_q = self.log_tails(np.zeros(1))
        return math.exp(float(log_p[0])) - math.exp(float(log_q[0]))

    @property
    def log_infinite_mass(self) -> float:
        """Upper bound on log P(L = ∞), within `tail_accuracy`; −∞ if no privacy loss is infinite."""
        log_p = float(self.log_tails(np.asarray([LARGEST_EPSILON])).log_p[0])
        if not math.isfinite(log_p):
            return log_p
        return min(log_p + self.tail_accuracy * (1.0 + abs(log_p)), 0.0)

    @property
    def lossy(self) -> bool:
        """True if δ at ε = 0 is known to be above 0 without an evaluation."""
        return False

    @property
    def supremum(self) -> float:
        """Least known ε from which on δ is zero; math.inf if none is known."""
        return math.inf

    @property
    def finds_best_tests(self) -> bool:
        """True if `best_tests` answers, and `upper_log_deltas` costs little more than one bound."""
        return False

    @property
    def span(self) -> float | None:
        """Largest number of which every finite loss is a multiple, for a loss with many values; None if not stated."""
        return None

    # One ε, and several ---------------------------------------------------------------------------------------------
    def log_delta_bounds(self, epsilon: float) -> Interval:
        """Return `log_delta` at one ε."""
        lower, upper = self.log_delta(np.asarray([epsilon]))
        return Interval(float(lower[0]), float(upper[0]))

    def upper_log_delta(self, epsilon: float) -> float:
        """Return the upper bound of `log_delta` at one ε, without the work that only the lower bound needs."""
        return self.log_delta_bounds(epsilon).upper

    def lower_log_delta(self, epsilon: float) -> float:
        """Return the lower bound on log δ at one ε, without the work that only the upper bound needs."""
        return self.log_delta_bounds(epsilon).lower

    def is_at_most(self, epsilon: float, log_delta: float) -> bool:
        """Return whether a bound that costs less than `log_delta_bounds` proves log δ(ε) ≤ `log_delta`."""
        del epsilon, log_delta
        return False

    def quick_upper_log_delta(self, epsilon: float) -> float:
        """Return an upper bound on log δ(ε) that costs little and may be loose; −inf if it cannot be computed."""
        return self.upper_log_delta(epsilon)

    def upper_log_deltas(self, epsilons: Sequence[float]) -> Sequence[float]:
        """Return upper bounds on log δ at several ε. They may exceed the bounds from separate evaluations."""
        return [self.upper_log_delta(epsilon) for epsilon in epsilons]

    def log_delta_bounds_in_search(self, epsilons: Sequence[float], *, lower: bool) -> list[Interval]:
        """Return bounds on log δ at several ε, for a search that evaluates δ at many ε.

        Args:
            epsilons: ε ≥ 0, in nats.
            lower: whether lower bounds are needed. Otherwise, if an upper bound costs less than both (`one_sided`), it
                is returned in place of the lower bound too.

        Returns:
            One pair of bounds for each ε, in the same order.
        """
        if self.one_sided and not lower:
            return [Interval(end, end) for end in map(self.upper_log_delta, epsilons)]
        bounds = self.log_delta(np.asarray(epsilons))
        return [Interval(*pair) for pair in zip(bounds.lower.tolist(), bounds.upper.tolist(), strict=True)]

    # ε at δ ---------------------------------------------------------------------------------------------------------
    def exact_epsilon(self, log_delta: float) -> Interval | None:
        """Return an enclosure of ε(δ) in closed form; None if no closed form is known."""
        del log_delta
        return None

    def solve(self, log_delta: float) -> EpsilonEstimate | None:
        """Return an approximate solution ε of log δ(ε) = `log_delta`; None without a formula."""
        del log_delta
        return None

    # Tests of given sizes -------------------------------------------------------------------------------------------
    def near_tests(self, sizes: Sequence[float]) -> Sequence[NearTest | None]:
        """Return tests of P against Q that have about the given false positive rates.

        A test rejects Q if the privacy loss exceeds an ε.

        Args:
            sizes: false positive rates, the probabilities under Q of rejection.

        Returns:
            One test for each rate, or None for a rate without a test; empty if there are no tests, which is the
            default.
        """
        del sizes
        return ()

    def best_tests(self, rates: Sequence[float]) -> BestTests | None:
        """Return the best tests at several false positive rates; None if they must be searched for."""
        del rates
        return None

    # Estimates without proof, which decide where a search starts and what is evaluated -------------------------------
    def guess(self, log_delta: float) -> Guess:
        """Return an estimate of the ε with log δ(ε) = `log_delta`; ε = 0 if no estimate is known."""
        del log_delta
        return Guess(0.0, 1.0)

    def likely_log_delta(self, epsilon: float) -> float:
        """Return an estimate of log δ(ε)."""
        return self.upper_log_delta(epsilon)

    def closed_decides(self, epsilon: float, share: float) -> bool:
        """Return whether a numerical composition is likely to be superfluous at ε, because closed forms are smaller.

        This is so only for a profile that is the smallest of several, which overrides this method.

        Args:
            epsilon: ε, in nats.
            share: the estimates of log δ by composition must exceed the closed forms by this fraction of |log δ|.

        Returns:
            False here.
        """
        del epsilon, share
        return False

    def likely_meets(self, epsilon: float, log_delta: float) -> bool:
        """Return whether log δ(ε) is likely to be at most `log_delta`; False if an estimate costs too much."""
        del epsilon, log_delta
        return False


class PointwiseProfile(Profile):
    """Base class of privacy profiles ε ↦ log δ(ε) that are evaluated at one ε after another.

    A subclass defines `log_delta_bounds`, `log_tails` and `tail_accuracy`.
    """

    pointwise: ClassVar[bool] = True

    @abstractmethod
    def log_delta_bounds(self, epsilon: float) -> Interval:
        """Return an enclosure of log E_{e^ε}(P‖Q) at one ε ≥ 0."""

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log δ at each ε of an array, one after another.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            Lower and upper bounds of the shape of `epsilon`.
        """
        points = np.asarray(epsilon, dtype=np.float64)
        bounds = [self.log_delta_bounds(point) for point in points.ravel().tolist()]
        lower = np.asarray([interval.lower for interval in bounds], dtype=np.float64)
        upper = np.asarray([interval.upper for interval in bounds], dtype=np.float64)
        return Enclosure(lower.reshape(points.shape), upper.reshape(points.shape))

    def log_delta_bounds_in_search(self, epsilons: Sequence[float], *, lower: bool) -> list[Interval]:
        """Return bounds on log δ at several ε, one after another.

        Args:
            epsilons: values of ε ≥ 0, in nats.
            lower: whether lower bounds are needed. Otherwise an interval may hold the upper bound twice.

        Returns:
            Bounds in the order of `epsilons`.
        """
        if self.one_sided and not lower:
            return [Interval(end, end) for end in map(self.upper_log_delta, epsilons)]
        return [self.log_delta_bounds(epsilon) for epsilon in epsilons]
