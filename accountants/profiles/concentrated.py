"""A pair that dominates every mechanism with ρ-zero-concentrated privacy (ρ-zCDP), with tails in closed form.

ρ-zCDP bounds E_{e^ε} by the least over a > 1 of e^{(a−1)(aρ−ε)} (1 − 1/a)^a/(a − 1) (Canonne, Kamath and Steinke 2020,
Corollary 13). At the minimiser b = a − 1, the root of (2b + 1) ρ + log(b/(1 + b)) = ε, this is e^{−ρb²}/(1 + b). It
is convex in e^ε with slope −e^{−ρ(b+1)²}. A dominating pair therefore exists, and its tails are:

    P(L > ε) = e^{−ρ b²},   Q(L > ε) = e^{−ρ (b+1)²}.

Near ε = 0 these sum to more than one, which no pair with equal profiles in both directions allows. There the bound is
replaced by its chord between e^ε₀ and e^−ε₀, which bounds every such profile. The chord is linear in e^ε, with
P(L > ε) + Q(L > ε) = 1 (docs/shifted-noise.md).

`concentrated_pair` has the tails of this pair. Its δ is smaller where `profiles/declared/binary_pairs.py` gives a
smaller bound, which has a chord of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from epsilond.accountants.curve.enclosure import Enclosure, Tails
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.curve.profile import Profile
from epsilond.accountants.curve.renyi_bounds import Concentrated
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log1m_exp
from epsilond.accountants.profiles.declared.best_ratios import concentrated_ratios
from epsilond.accountants.profiles.declared.concentrated_bound import (
    Chord,
    concentrated_log_delta,
    log_bound_at_order,
    log_odds,
    minimiser,
    minimiser_at,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from epsilond.accountants.curve.profile import RootSearch
    from epsilond.accountants.curve.renyi_bounds import WholeFormulas
    from epsilond.accountants.numerics.special import FloatArray


@dataclass(frozen=True)
class ConcentratedProfile(Profile):
    """The privacy profile of a mechanism that is ρ-zCDP given an event, and has an infinite loss otherwise.

    The event has the probability S under both distributions of the pair.

    Attributes:
        rho: ρ in (0, 1e9].
        log_survival: log S, natural logarithm.
        log_escape: upper bound on log(1 − S); −∞ if the event is certain.
    """

    root_search: ClassVar[RootSearch] = "spare"

    rho: float
    log_survival: float = 0.0
    log_escape: float = -math.inf

    @property
    def log_infinite_mass(self) -> float:
        """Upper bound on log(1 − S), the log probability of an infinite loss."""
        return self.log_escape

    @property
    def tail_accuracy(self) -> float:
        """Bound on the error of each log tail, per unit of 1 + |log tail|."""
        return 256 * UNIT_ROUNDOFF

    @cached_property
    def _chord(self) -> Chord:
        """The straight line in e^ε that replaces the bound on δ from ρ-zCDP for small ε.

        It ends at about the least ε with P(L > ε) + Q(L > ε) ≤ 1, for the privacy loss L. The line is also valid if it
        ends at another ε, so that an approximation suffices. Let b + 1 be the order of the Rényi divergence with the
        least bound on δ at ε. Then P(L > ε) = e^{−ρb²}, Q(L > ε) = e^{−ρ(b+1)²}, and ε has a closed form in b. So the
        search is for b.
        """
        largest_epsilon = 1.0 + 4.0 * self.rho + 4.0 * math.sqrt(self.rho)  # limits the search
        log_b = self._log_b_of_chord(largest_epsilon)
        b = math.exp(log_b)

        epsilon_of_b = (2.0 * b + 1.0) * self.rho + log_odds(b, log_b)
        epsilon = min(max(epsilon_of_b, 0.0), largest_epsilon)

        # 64 units exceed the error of the bound.
        log_bound = float(concentrated_log_delta(self.rho, np.asarray(epsilon)))
        return Chord.ending_at(epsilon, min(log_bound + 64 * UNIT_ROUNDOFF, 0.0))

    def _log_b_of_chord(self, largest_epsilon: float) -> float:
        """Find by bisection the b at which the tails P(L > ε) = e^{−ρb²} and Q(L > ε) = e^{−ρ(b+1)²} sum to 1.

        b + 1 is the order of the Rényi divergence with the least bound on δ at ε. Both tails decrease with b.

        Args:
            largest_epsilon: an ε in nats at which the sum is below 1.

        Returns:
            The natural logarithm of a b at which the sum is at most 1.
        """
        low, high = minimiser_at(self.rho, 0.0), minimiser_at(self.rho, largest_epsilon)
        while high - low > UNIT_ROUNDOFF * (1.0 + abs(low)):
            middle = 0.5 * (low + high)
            if middle in (low, high):  # neighbouring doubles
                break
            b = math.exp(middle)
            tail_of_p = math.exp(-self.rho * b * b)
            tail_of_q = math.exp(-self.rho * (b + 1.0) ** 2)
            if tail_of_p + tail_of_q > 1.0:
                low = middle
            else:
                high = middle
        return high

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log δ of a mechanism that is ρ-zCDP given an event of probability S.

        It is log(S δ_ρ(ε) + 1 − S), where δ_ρ is the bound on δ from ρ-zCDP at the best order of the Rényi divergence.
        For small ε, δ_ρ is a straight line in e^ε (`Chord`).

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            Lower and upper bounds on this logarithm, one for each ε.
        """
        points = np.asarray(epsilon, dtype=np.float64)
        log_b = minimiser(self.rho, points)
        on_chord = self._chord.log_bound(points)
        at_best_order = log_bound_at_order(self.rho, points, log_b)
        log_bound = np.where(points < self._chord.epsilon, on_chord, at_best_order)

        # The error of the bound is proportional to b ε. b is limited to e^600, so that the product is finite.
        slack = 16 * UNIT_ROUNDOFF * (1.0 + np.exp(np.minimum(log_b, 600.0)) * points)
        least = np.logaddexp(self.log_escape, self.log_survival + log_bound - slack)
        largest = np.logaddexp(self.log_escape, self.log_survival + log_bound + slack)
        # 32 units exceed the error of `logaddexp`.
        lower = Enclosure.around(np.asarray(least), 32 * UNIT_ROUNDOFF).lower
        upper = Enclosure.around(np.asarray(largest), 32 * UNIT_ROUNDOFF).upper
        return Enclosure(lower, upper)

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the log tails of the privacy loss L under both distributions.

        The mechanism is ρ-zCDP given an event of probability S, and not private otherwise. With the order b + 1 of the
        Rényi divergence that gives the least bound on δ at ε, the tails are:

            P(L > ε) = S e^{−ρb²} + 1 − S,   Q(L > ε) = S e^{−ρ(b+1)²}.

        For small ε, where the bound on δ is a straight line in e^ε (a chord), the tails are constant.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            log P(L > ε) and log Q(L > ε), one entry for each ε.
        """
        points = np.asarray(epsilon, dtype=np.float64)
        b = np.exp(minimiser(self.rho, points))
        is_on_chord = points < self._chord.epsilon
        log_p = np.where(is_on_chord, log1m_exp(self._chord.log_q), -self.rho * b * b)
        log_q = np.where(is_on_chord, self._chord.log_q, -self.rho * (b + 1.0) ** 2)

        log_p_with_escape = np.logaddexp(self.log_escape, self.log_survival + log_p)
        return Tails(np.asarray(log_p_with_escape), self.log_survival + log_q)


@dataclass(frozen=True)
class BinaryConcentratedProfile(ConcentratedProfile):
    """The privacy profile of ρ-zCDP with a smaller bound on δ, from Rényi divergences of both directions.

    The bound uses the divergences of both directions at one order (`profiles.declared.best_ratios`). The tails of the
    privacy loss, from which compositions are computed, remain those of `ConcentratedProfile`. They are valid too, and
    give a larger δ.

    Its attributes are the same: `rho`, `log_survival` = log S and `log_escape`, an upper bound on log(1 − S), for an
    event of probability S given which the mechanism is ρ-zCDP.
    """

    @cached_property
    def _binary_chord(self) -> Chord:
        """The straight line in e^ε that bounds the δ of ρ-zCDP for small ε.

        It ends at the first ε at which the true and the false positive rate of the best test sum to at most 1. Any end
        gives a valid line, because δ is convex in e^ε, and 1 at e^ε = 0.
        """
        ratios = concentrated_ratios(self.rho)
        epsilon = float(ratios.epsilons[0])
        log_bound = float(ratios.log_bound(ratios.epsilons[:1])[0])
        # 64 units exceed the error of the bound.
        return Chord.ending_at(epsilon, min(log_bound + 64 * UNIT_ROUNDOFF, 0.0))

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose the smaller of two bounds on log δ from ρ-zCDP given an event of probability S.

        The first bound uses the Rényi divergence of one direction at the best order (`ConcentratedProfile`). The
        second one is log(S δ′ + 1 − S), where δ′ bounds δ by the divergences of both directions at one order. For
        small ε, δ′ is a straight line in e^ε (a chord).

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            Lower and upper bounds of the shape of `epsilon`.
        """
        least, most = super().log_delta(epsilon)
        points = np.asarray(epsilon, dtype=np.float64)
        ratios = concentrated_ratios(self.rho)
        if np.all(points > ratios.epsilons[-1]):
            return Enclosure(least, most)

        chord = self._binary_chord
        bound = np.where(points < chord.epsilon, chord.log_bound(points), ratios.log_bound(points))
        log_bound = bound + 64 * UNIT_ROUNDOFF  # exceeds the error of the bound
        total = np.logaddexp(self.log_escape, self.log_survival + np.minimum(log_bound, 0.0))

        upper = np.minimum(most, Enclosure.around(np.asarray(total), 32 * UNIT_ROUNDOFF).upper)
        return Enclosure(np.minimum(least, upper), upper)


def concentrated_pair(
    rho: float, log_survival: float = 0.0, log_escape: float = -math.inf, summands: WholeFormulas = ()
) -> Pair:
    """Return a dominating pair of a mechanism that is ρ-zCDP, except for an event with an infinite privacy loss.

    The event has the probability 1 − S. The pair has the same bound on δ in both directions.

    Args:
        rho: ρ, in (0, 1e9].
        log_survival: log S, natural logarithm; 0 if there is no such event.
        log_escape: upper bound on log(1 − S); −∞ if there is no such event.
        summands: formulas for the Rényi divergences of the parts of a composition apart from the event, each with its
            number of runs; empty if none are known.

    Returns:
        The pair, with an infinite loss of probability 1 − S.
    """
    profile = BinaryConcentratedProfile(rho, log_survival, log_escape)
    return Pair(profile, profile, concentrated=Concentrated(rho, log_survival, log_escape, summands))


def log_escape_of(log_survival: float, log_escapes: Iterable[float]) -> float:
    """Return an upper bound on log(1 − S), the log probability that any of several independent events does not occur.

    Event i does not occur with probability e_i, and S = Π (1 − e_i).

    Args:
        log_survival: log S, natural logarithm.
        log_escapes: log e_i of the events.

    Returns:
        The natural logarithm, at most 0. For S very close to 1 it is that of the union bound Σ e_i, not rounded up.
    """
    # For S closer to 1, rounding has removed the digits of 1 − S from log S.
    if log_survival < -1e-14:
        return min(float(log1m_exp(log_survival)) + 64 * UNIT_ROUNDOFF, 0.0)
    return float(np.logaddexp.reduce([-math.inf, *log_escapes]))


def composed_concentrated(parts: Iterable[tuple[Concentrated, int]]) -> Pair:
    """Return a dominating pair of a composition of mechanisms that are ρ_i-zCDP, except for rare infinite losses.

    The loss of a run of mechanism i is finite with probability S_i. With T_i runs of each, the composition is ρ-zCDP
    for ρ = Σ T_i ρ_i if all losses are finite, which has probability Π S_i^{T_i}.

    Args:
        parts: the mechanisms, each with its number of runs T_i ≥ 1. Each has log S_i as `log_survival`, and an upper
            bound on log(1 − S_i) as `log_escape`.

    Returns:
        The pair. It has formulas for its Rényi divergences if all parts have them.
    """
    listed = list(parts)
    rounding = 1 + 4 * UNIT_ROUNDOFF  # exceeds the error of the sum and of the products
    rho = math.fsum(times * part.rho for part, times in listed) * rounding
    log_survival = math.fsum(times * part.log_survival for part, times in listed)
    log_escapes = [math.log(times) + part.log_escape for part, times in listed]

    formulas = [(part.formula, times) for part, times in listed]
    present = tuple((formula, times) for formula, times in formulas if formula is not None)
    summands = present if len(present) == len(listed) else ()
    return concentrated_pair(rho, log_survival, log_escape_of(log_survival, log_escapes), summands)
