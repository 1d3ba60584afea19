"""Pairs of distributions, described by their profiles in both directions and by further facts.

Both directions of a pair (P, Q) determine each other: E_γ(P‖Q) = 1 − γ + γ E_{1/γ}(Q‖P).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from epsilond.accountants.curve.bracketed_search import bracketed_epsilon
from epsilond.accountants.curve.enclosure import LARGEST_EPSILON, Enclosure, Interval
from epsilond.accountants.curve.search import PairSearch
from epsilond.accountants.target import asks_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from epsilond.accountants.curve.facts import NormalLaw
    from epsilond.accountants.curve.finite_law import FiniteLaw
    from epsilond.accountants.curve.plateaus import Plateau
    from epsilond.accountants.curve.profile import Profile
    from epsilond.accountants.curve.renyi_bounds import Concentrated, RenyiBounds, RenyiFormula
    from epsilond.accountants.numerics.special import FloatArray


@final
@dataclass(frozen=True)
class Pair:
    """An ordered pair of distributions (P, Q), described by the profiles of both directions.

    For a relation that removes something (add-or-remove-one, zero-out-one), P is the distribution with the contribution
    and Q the one without it, in every pair of a composition. For replace-one, which is symmetric, a dominating pair has
    equal profiles.

    Attributes:
        forward: privacy profile of P against Q, δ as a function of ε.
        backward: privacy profile of Q against P.
        gaussian_dp_mu: μ, if the pair is exactly N(μ, 1) against N(0, 1). Such pairs compose in closed form.
        laplace_shift: s, if the pair is exactly Laplace(s) against Laplace(0) of scale 1.
        law: the distribution of the forward privacy loss, if its transform is known exactly.
        atoms: the distribution of the forward privacy loss, if it has finitely many values.
        concentrated: ρ of zero-concentrated privacy given an event, and the probability of the event, if known.
        renyi: bounds on the Rényi divergences, if the mechanism is only known by them.
        formula: Rényi divergences at every order, if a formula gives them.
        below: a pair that dominates this pair in both directions. Its large losses are used as bounds where the
            profiles of this pair do not give them.
        plateau: an ε from which on δ is at most a rational number.
        parts: factors of the pair, if it is a product, and the number of runs of each. Composition then uses the parts,
            to preserve accuracy.
        alternatives: dominating pairs of the same mechanism, with this pair as their least bound. Each is composed
            separately.
        special_search: search for δ(ε) and ε(δ), if the defaults of `PairSearch` are not used.
    """

    forward: Profile
    backward: Profile
    gaussian_dp_mu: float | None = None
    laplace_shift: float | None = None
    law: NormalLaw | None = None
    atoms: FiniteLaw | None = None
    concentrated: Concentrated | None = None
    renyi: RenyiBounds | None = None
    formula: RenyiFormula | None = None
    below: Pair | None = None
    plateau: Plateau | None = None
    parts: tuple[tuple[Pair, int], ...] = ()
    alternatives: tuple[Pair, ...] = ()
    special_search: PairSearch | None = field(default=None, compare=False, repr=False)

    @cached_property
    def search(self) -> PairSearch:
        """The search for δ(ε) and ε(δ)."""
        return PairSearch(self.directions()) if self.special_search is None else self.special_search

    @property
    def symmetric(self) -> bool:
        """True if both directions are one profile."""
        return self.forward is self.backward

    def directions(self) -> tuple[Profile, ...]:
        """Return the distinct profiles: one profile if the pair is symmetric, otherwise two."""
        return (self.forward,) if self.symmetric else (self.forward, self.backward)

    def reverse(self) -> Pair:
        """Return the pair (Q, P) with its profiles only."""
        return self if self.symmetric else Pair(self.backward, self.forward)

    # δ at ε ---------------------------------------------------------------------------------------------------------
    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log δ at each ε of an array: the larger one of both directions of the pair.

        log δ is also limited by the plateau, an (ε₀, δ₀) guarantee that holds for every ε ≥ ε₀.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            Lower and upper bounds with the shape of `epsilon`.
        """
        bounds = self.search.log_delta(epsilon)
        plateau = self.plateau
        if plateau is None:
            return bounds
        limits = np.where(np.asarray(epsilon, dtype=np.float64) >= plateau.epsilon, plateau.log_delta, 0.0)
        return Enclosure(np.minimum(bounds.lower, limits), np.minimum(bounds.upper, limits))

    def log_delta_bounds(self, epsilon: float) -> Interval:
        """Enclose log δ at one ε: the larger one of both directions of the pair.

        log δ is also limited by the plateau, an (ε₀, δ₀) guarantee that holds for every ε ≥ ε₀.

        Args:
            epsilon: ε ≥ 0, in nats.

        Returns:
            Lower and upper bound on log δ; both are −∞ where the plateau proves δ = 0.
        """
        limit = self._plateau_log_delta(epsilon)
        if limit == -math.inf:
            return Interval(limit, limit)
        lower, upper = self.search.log_delta_bounds(epsilon)
        return Interval(min(lower, limit), min(upper, limit))

    def upper_log_delta(self, epsilon: float) -> float:
        """Return an upper bound on log δ at one ε, without the work for the lower bound.

        A plateau is an ε₀ from which on δ is known to be at most a given number, which may be 0.

        Args:
            epsilon: ε ≥ 0, in nats.

        Returns:
            The bound, natural logarithm, at most 0.
        """
        limit = self._plateau_log_delta(epsilon)
        if limit == -math.inf:
            return limit
        return min(self.search.upper_log_delta(epsilon), limit)

    def _plateau_log_delta(self, epsilon: float) -> float:
        """Return the upper bound on log δ(ε) from the plateau; 0 below the plateau's ε, or without a plateau."""
        plateau = self.plateau
        return 0.0 if plateau is None or epsilon < plateau.epsilon else plateau.log_delta

    def upper_log_delta_next_to(self, epsilon: float, evaluated: float) -> float:
        """Return an upper bound on log δ at an ε, cheaply if it is close to an ε that has been evaluated.

        Some profiles (δ as a function of ε, one for each direction) integrate numerically. For several close ε they use
        the same nodes, those for the largest ε, and so cost as little as for one ε.

        Args:
            epsilon: ε, in nats.
            evaluated: the close ε.

        Returns:
            The bound, natural logarithm.
        """
        profiles = self.search.profiles
        if not any(profile.shares_nodes for profile in profiles):
            return self.upper_log_delta(epsilon)
        # One call for both ε shares the nodes. The first value is that at `epsilon`.
        return max(profile.upper_log_deltas([epsilon, evaluated])[0] for profile in profiles)

    def lower_log_delta(self, epsilon: float) -> float:
        """Return a lower bound on log δ at an ε, without the work that only the upper bound needs.

        It is also limited by `plateau`, an (ε₀, δ₀) guarantee that holds for every ε ≥ ε₀. It may be looser than the
        bound of `log_delta_bounds`, for example if δ is far below every positive double.

        Args:
            epsilon: ε ≥ 0, in nats.

        Returns:
            The bound, natural logarithm; −∞ if none is known.
        """
        return min(self.search.lower_log_delta(epsilon), self._plateau_log_delta(epsilon))

    def likely_meets(self, epsilon: float, log_delta: float) -> bool:
        """Return whether log δ(ε) is likely to be at most a target, by bounds or estimates that cost little.

        The answer, which is not a proof, decides whether an attained pair is evaluated. A wrong answer can only lower a
        lower bound.

        Args:
            epsilon: ε ≥ 0, in nats.
            log_delta: the target log δ, natural logarithm.

        Returns:
            True if every direction is likely to meet the target.
        """
        return all(profile.likely_meets(epsilon, log_delta) for profile in self.directions())

    # ε at δ ---------------------------------------------------------------------------------------------------------
    def epsilon(self, log_delta: float, near: float = 0.0) -> Interval:
        """Enclose the smallest ε ≥ 0 that meets a target δ in both directions.

        Args:
            log_delta: the target log δ, natural logarithm.
            near: an ε at which log δ may be about the target; 0 if none is known. It affects only the work.

        Returns:
            Lower and upper bounds on ε in nats; math.inf if no such ε is known.
        """
        if log_delta == -math.inf:
            return self._enclose_pure_epsilon()
        lower, upper = self.search.epsilon(log_delta, near)
        upper = self._limit_to_plateau(upper, log_delta)
        return Interval(min(lower, upper), upper)

    def upper_epsilon(self, log_delta: float, near: float = 0.0) -> float:
        """Return an upper bound on the smallest ε that meets a target δ, without the work for a lower bound.

        Args:
            log_delta: the target log δ, natural logarithm.
            near: an ε at which log δ may be about the target; 0 if none is known.

        Returns:
            The bound in nats; math.inf if no such ε is known.
        """
        if log_delta == -math.inf:  # the target is δ = 0
            return self._enclose_pure_epsilon().upper
        # From the ε of a plateau on, δ is known to be at most a given number.
        return self._limit_to_plateau(self.search.upper_epsilon(log_delta, near), log_delta)

    def lower_epsilon(self, log_delta: float, near: float = 0.0) -> float:
        """Return a lower bound on the smallest ε that meets a target δ, as close as that of `epsilon`.

        Args:
            log_delta: the target log δ, natural logarithm.
            near: an ε at which log δ may be about the target; 0 if none is known.

        Returns:
            The bound in nats, at least 0.
        """
        if log_delta == -math.inf:
            return self._enclose_pure_epsilon().lower
        return self._limit_to_plateau(self.search.lower_epsilon(log_delta, near), log_delta)

    def _enclose_pure_epsilon(self) -> Interval:
        """Enclose the smallest ε with δ(ε) = 0.

        If the largest loss or a declared guarantee with δ = 0 (`plateau`) is known, it is the upper bound, and the
        lower bound is 0. Otherwise both bounds are found by bisection. The upper bound is math.inf if δ may be above 0
        even at `LARGEST_EPSILON`. Searches for a positive δ do not apply, because log δ has no finite distance from −∞.

        Returns:
            Lower and upper bound on ε, in nats.
        """
        upper = max(profile.supremum for profile in self.directions())
        if self.plateau is not None and self.plateau.delta == 0:
            upper = min(upper, self.plateau.epsilon)
        if upper < math.inf or self.upper_log_delta(LARGEST_EPSILON) > -math.inf:
            return Interval(0.0, upper)
        return bracketed_epsilon(self.log_delta_bounds, -math.inf)

    def _limit_to_plateau(self, epsilon: float, log_delta: float) -> float:
        """Return the smaller one of an ε and the plateau's ε.

        A plateau is an ε from which on δ is at most a given rational number. It is ignored if this number exceeds the
        target.

        Args:
            epsilon: the given ε, in nats.
            log_delta: the target log δ, natural logarithm.

        Returns:
            The smaller ε, in nats.
        """
        plateau = self.plateau
        if plateau is None or epsilon <= plateau.epsilon or not asks_for(log_delta, plateau.delta):
            return epsilon
        return plateau.epsilon


def with_plateau(pair: Pair, plateau: Plateau | None) -> Pair:
    """Return the pair with a plateau, if there is one."""
    return pair if plateau is None else replace(pair, plateau=plateau)


def unfold(parts: Iterable[tuple[Pair, int]]) -> Iterator[tuple[Pair, int]]:
    """Replace products of pairs by their parts, at any depth.

    Args:
        parts: pairs of distributions, and the number of runs of each.

    Yields:
        Pairs that are not products, and the number of runs of each.
    """
    for pair, times in parts:
        if pair.parts:
            yield from unfold((inner, count * times) for inner, count in pair.parts)
        else:
            yield pair, times
