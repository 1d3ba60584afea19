"""Batches of fixed size under zero-out-one, for Gaussian noise on sums of contributions of norm at most C.

A record contributes x, or zero if it is zeroed. It is in the batch with probability q. Let s be C in standard
deviations of the noise. If the record is not in the batch, another one is in its place, which contributes z. Given all
other members, the centred outputs are:

    P = (1 − q) N(0, I) + q N(x − z, I) and Q = (1 − q) N(0, I) + q N(−z, I),   ‖x‖ ≤ s, ‖z‖ ≤ s.

By joint convexity the divergence is at most the largest one of these. Let α ≥ 1, u = x − z and v = −z. Then:

    E_α(P‖Q) = E(q X_u − (1 − q)(α − 1) X_0 − α q X_v)₊.

X_m is the likelihood ratio of N(m, I) to N(0, I). The value increases with ‖u‖ and with ‖u − v‖, and decreases with ‖v‖
(docs/engine-certificate.md, Zeroed records). With t = ‖z‖ it is at most its value on a line with v = t and u = t + s.

That value increases with t. Its derivative has the sign of E X_0 ((t + s) q X_u − t α q X_v). The mean is over the
points at which the positive part begins, where q X_u ≥ α q X_v. So the value is largest at t = s. Neighbours attain it
if all other records contribute −x.

In the other direction v has the positive sign. The value is largest at u = 0 and ‖v‖ = ‖u − v‖ = s. Neighbours attain
it if all other records contribute x. ∎

*Several releases on one batch.* x and z may depend on earlier outputs. In continuous time let u_t = x_t − z_t and
v_t = −z_t be predictable drifts with ‖x_t‖ ≤ s_t and ‖z_t‖ ≤ s_t. Let V be the value that remains from time t on for
the drifts 2s_t and s_t on a line. It is homogeneous of degree one in X_0, X_u and X_v. So the rows of
M_ij = X_i X_j ∂²V/∂X_i∂X_j sum to zero, and M_0u, M_uv ≤ 0 ≤ M_0v. Under the drifts u_t and v_t, V has the rate:

    ∂V/∂t + ½ (|M_0u| ‖u_t‖² + |M_uv| ‖u_t − v_t‖² − |M_0v| ‖v_t‖²).

As above, for given ‖v_t‖ it is largest for ‖u_t‖ = ‖v_t‖ + s_t and ‖u_t − v_t‖ = s_t. It increases with ‖v_t‖, because
|M_0u| = M_00 + M_0v ≥ M_0v. So the largest rate is that of ‖u_t‖ = 2s_t and ‖v_t‖ = s_t, which is zero. V is therefore
a supermartingale under all drifts, and its start is a bound: that of one release with s² = Σ s_t². In the other
direction M_0v, M_uv ≤ 0 ≤ M_0u, and each term of the rate is largest at u_t = 0 and ‖v_t‖ = ‖u_t − v_t‖ = s_t. ∎

*Sampling with replacement.* A record is drawn k times with probability w_k, and η = Σ w_k. If the draws that are the
record are revealed, k(x − z) and −kz take the places of u and v. So E_α is at most the mean over w_k/η of the value at
the rate η and the norm ks. It is also at most the bound of `unseen_multiplicities`. The smaller of both is used.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from epsilond.accountants.curve.enclosure import Enclosure, Interval, Tails
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.curve.profile import Profile
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log_difference, log_normal_tail
from epsilond.accountants.profiles.amplification import AmplifiedProfile
from epsilond.accountants.profiles.bound import Bound
from epsilond.accountants.profiles.drawn_sums import DrawnSumBound
from epsilond.accountants.profiles.gaussian import GaussianProfile, gaussian_pair
from epsilond.accountants.structure import NO_ORDER, SECRET_DRAW
from epsilond.accountants.theorem import Source, Status, Theorem

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray
    from epsilond.accountants.profiles.sampling.inclusion import Share

ZEROED_IN_A_BATCH = Theorem(
    id="epsilond.zeroed-in-a-batch",
    title="Zeroing a record of a batch without replacement, for the Gaussian mechanism",
    statement=(
        "For every α ≥ 1 the divergence of the output with the record from that without it is largest for (1 − q) "
        "N(0, σ²) + q N(2C, σ²) against (1 − q) N(0, σ²) + q N(C, σ²). The reverse divergence is largest for (1 − q) "
        "N(0, σ²) + q N(C, σ²) against N(0, σ²). Both are attained"
    ),
    source=Source("epsilond", "by Kahane's inequality; proof in this file"),
    status=Status.PROVED,
    conditions=(SECRET_DRAW, NO_ORDER),
)
_ACCURACY = 64 * UNIT_ROUNDOFF
"""Bound on the error of a log mass, per unit of 1 + |log mass| + s² + ε."""


def _log_terms(epsilon: FloatArray, shift: FloatArray, rate: float, absent: float) -> tuple[FloatArray, ...]:
    """Compute log Φ(2s − c), log Φ(s − c) and log Φ(−c), from which δ(ε) of two Gaussian mixtures follows.

    The mixtures are P = (1 − q) N(0, 1) + q N(2s, 1) and Q = (1 − q) N(0, 1) + q N(s, 1). An output has a privacy loss
    log dP/dQ above ε if it exceeds a threshold c. Let ω = dN(s, 1)/dN(0, 1). The equation dP/dQ = e^ε is:

        q e^{−s²} ω² − q e^ε ω = (1 − q)(e^ε − 1).

    Its larger root is log ω = s² + ε − log 2 + log(1 + ϱ), where:

        ϱ² = 1 + 4 (1 − q)/q e^{−s² − ε} (1 − e^{−ε}).

    The loss increases from there on.

    Args:
        epsilon: array of values of ε ≥ 0, in nats.
        shift: array of shifts s, in standard deviations of the noise.
        rate: probability q that the record is in the batch.
        absent: 1 − q, which is given because its rounding matters for q near 1.

    Returns:
        Three arrays: log Φ(2s − c), log Φ(s − c) and log Φ(−c).
    """
    # log(1 + ϱ) − log 2 = log(1 + (ϱ − 1)/2), which is accurate for ϱ near 1. At the output c, log ω = cs − s²/2.
    root = np.sqrt(1.0 + 4.0 * (absent / rate) * np.exp(-shift * shift - epsilon) * -np.expm1(-epsilon))
    log_omega = shift * shift + epsilon + np.log1p(0.5 * (root - 1.0))
    threshold = log_omega / shift + 0.5 * shift
    return log_normal_tail(threshold - 2.0 * shift), log_normal_tail(threshold - shift), log_normal_tail(threshold)


def _log_divergence(epsilon: FloatArray, shift: FloatArray, rate: float, absent: float) -> Enclosure:
    """Enclose log δ(ε) of (1 − q) N(0, 1) + q N(2s, 1) against (1 − q) N(0, 1) + q N(s, 1).

    Let α = e^ε, and c the output at which the privacy loss is ε (`_log_terms`). Then:

        δ = q (Φ(2s − c) − α Φ(s − c) − (1 − q)(α − 1)/q Φ(−c)).

    The error of c has an effect of second order, far below the slack.

    Args:
        epsilon: array of values of ε ≥ 0, in nats.
        shift: array of shifts s, in standard deviations of the noise.
        rate: inclusion probability q of the record, in (0, 1).
        absent: probability 1 − q, which is given because its rounding matters for q near 1.

    Returns:
        Lower and upper bounds on the natural logarithm of δ, arrays of the broadcast shape.
    """
    with_record, zeroed, without = _log_terms(epsilon, shift, rate, absent)
    slack = _ACCURACY * (1.0 + np.abs(without) + shift * shift + epsilon)  # error of each logarithm

    # The sum of the two subtracted terms.
    with np.errstate(divide="ignore"):
        log_excess = epsilon + np.log(-np.expm1(-epsilon)) + math.log(absent / rate)
    subtracted = np.logaddexp(zeroed + epsilon, without + log_excess)

    # The minima keep the differences from being negative.
    larger, smaller = with_record + slack, with_record - slack
    upper = log_difference(larger, np.minimum(subtracted - slack, larger))
    lower = log_difference(smaller, np.minimum(subtracted + slack, smaller))

    log_rate = math.log(rate)
    margin = 16 * UNIT_ROUNDOFF * (1.0 + abs(log_rate))  # for the rounding of log q and of the sums
    return Enclosure(np.asarray(lower + log_rate - margin), np.asarray(np.minimum(upper + log_rate + margin, 0.0)))


@dataclass(frozen=True)
class ZeroedProfile(Profile):
    """The privacy profile of a Gaussian noisy sum over a batch without replacement, if a record is zeroed; for ε ≥ 0.

    It is that of (1 − q) N(0, 1) + q N(2s, 1) against (1 − q) N(0, 1) + q N(s, 1). These are the worst distributions:
    all other contributions are the opposite of the record's, and the record takes the place of one of them.

    Attributes:
        shift: norm s of a contribution, in standard deviations of the noise.
        rate: inclusion probability q of the record, 0 < q < 1.
        absent: 1 − q.
        log_infinite_mass: log probability of an infinite loss, −∞ because no loss is infinite.
    """

    shift: float
    rate: float
    absent: float
    log_infinite_mass: float = -math.inf

    @property
    def tail_accuracy(self) -> float:
        """Bound on the error of the log tails, per unit of 1 + |log tail|."""
        return 4.0 * _ACCURACY * (1.0 + self.shift * self.shift)

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log δ(ε) of the mixture with the record against the one in which the record is zeroed.

        Args:
            epsilon: array of values of ε ≥ 0, in nats.

        Returns:
            Arrays of lower and upper bounds on the natural logarithm.
        """
        points = np.asarray(epsilon, dtype=np.float64)
        return _log_divergence(points, np.asarray(self.shift), self.rate, self.absent)

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Compute the log probabilities of a privacy loss beyond ε under both Gaussian mixtures.

        Args:
            epsilon: array of values of ε ≥ 0, in nats.

        Returns:
            Natural logarithms under the distribution with the record, and under the one in which it is zeroed.
        """
        points = np.asarray(epsilon, dtype=np.float64)
        with_record, zeroed, without = _log_terms(points, np.asarray(self.shift), self.rate, self.absent)
        log_rate, log_absent = math.log(self.rate), math.log(self.absent)
        log_p = np.logaddexp(with_record + log_rate, without + log_absent)
        log_q = np.logaddexp(zeroed + log_rate, without + log_absent)
        return Tails(np.asarray(log_p), np.asarray(log_q))


def zeroed_pair(shift: float, share: Share) -> Pair:
    """Return two distributions that dominate a Gaussian sum over a batch without replacement, if a record is zeroed.

    Dominating means that their hockey-stick divergence bounds δ. The pair is:

        (1 − q) N(0, 1) + q N(2s, 1)    against    (1 − q) N(0, 1) + q N(s, 1).

    N(s, 1) against N(0, 1) also dominates, because both mixtures have the same weights, their components are at most s
    apart, and the divergence is jointly convex. It serves as the bound for large privacy losses (`below`).

    Args:
        shift: norm s of one contribution, in standard deviations of the noise.
        share: inclusion probability q < 1 of a record, with the doubles around it.

    Returns:
        The pair, with a profile for each direction.
    """
    forward = ZeroedProfile(shift, share.rate, share.absent)
    backward = AmplifiedProfile(GaussianProfile(shift), share.rate, share.absent)
    return Pair(forward, backward, below=gaussian_pair(shift))


@dataclass(frozen=True)
class ZeroedDrawsBound(Bound):
    """The smaller of two bounds on δ(ε) for sampling with replacement under zero-out-one, for Gaussian noise.

    They bound the divergence of the output with the record from the output with the zeroed record. The first bound lets
    the observer see the number k of times that the record is drawn. The second one uses that k is secret.

    Attributes:
        unseen: the bound for a secret k.
        absent: the probability that the record is not drawn, rounded down.
    """

    is_convex: ClassVar[bool] = False

    unseen: DrawnSumBound
    absent: float

    def log_bound(self, epsilon: float) -> Interval:
        """Enclose the logarithm of the smaller bound at one ε ≥ 0."""
        return self.log_bounds(np.asarray([epsilon]))[0]

    def log_bounds(self, epsilons: FloatArray) -> list[Interval]:
        """Enclose the logarithm of the smaller bound at several ε ≥ 0."""
        lower, upper = self._enclose(np.asarray(epsilons, dtype=np.float64))
        return [Interval(*bounds) for bounds in zip(lower.tolist(), upper.tolist(), strict=True)]

    def upper_log_bounds(self, epsilons: FloatArray) -> FloatArray:
        """Return the upper bounds of `log_bounds`."""
        return self._enclose(np.asarray(epsilons, dtype=np.float64)).upper

    def _enclose(self, epsilon: FloatArray) -> Enclosure:
        """Enclose the logarithm of the smaller bound, elementwise."""
        unseen, revealing = self.unseen.enclose(epsilon), self._revealing_bound(epsilon)
        lower = np.minimum(unseen.lower, revealing.lower)
        upper = np.minimum(unseen.upper, revealing.upper)
        return Enclosure(lower, upper)

    def _revealing_bound(self, epsilon: FloatArray) -> Enclosure:
        """Enclose the log of a bound on δ(ε) in which the observer sees how often the record is drawn.

        The record is drawn k times with probability w_k, and at least once with probability η. If it counts k times
        whenever it is drawn, its δ(ε) is δ_k(ε). The bound is:

            Σ_k (w_k/η) δ_k(ε),

        plus the probability of those k that are left out because they are negligible.

        Args:
            epsilon: array of values of ε ≥ 0, in nats.

        Returns:
            Lower and upper bounds on the natural logarithm, one for each ε.
        """
        # The arrays have a row for each k and a column for each ε.
        unseen = self.unseen
        shifts = np.asarray(unseen.replaced_shifts)[:, None]
        log_rate = math.log(unseen.rate)
        log_weights = np.asarray(unseen.log_weights)[:, None] - log_rate
        lower, upper = _log_divergence(epsilon[None, :], shifts, unseen.rate, self.absent)

        slack = unseen.accuracy + 64 * UNIT_ROUNDOFF * (1.0 + abs(log_rate) + len(unseen.log_weights))
        log_lower = np.logaddexp.reduce(lower + log_weights, axis=0) - slack
        log_listed = np.logaddexp.reduce(upper + log_weights, axis=0) + slack
        log_upper = np.logaddexp(log_listed, unseen.log_rest)
        return Enclosure(log_lower, np.minimum(log_upper, 0.0))

    @property
    def negligible_from(self) -> float:
        """The ε from which on the bound for a secret k, and so the smaller bound, is negligible."""
        return self.unseen.negligible_from

    def corners(self, end: float) -> FloatArray:
        """Return the ε of the entries of the table of tails, as for the bound for a secret k."""
        return self.unseen.corners(end)


THEOREMS: tuple[Theorem, ...] = (ZEROED_IN_A_BATCH,)
