"""The bound of PPSGD as a function of the weight α of the shared part, and its least value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from epsilond.accountants.theorems.risk.bietti.drawn_gradients import DrawnGradients
from epsilond.accountants.theorems.risk.bietti.minimal_norm import (
    BoundFactors,
    PersonalizationBounds,
    minimal_norm,
)
from epsilond.accountants.theorems.risk.bietti.step_bounds import FullParticipationBound, simple_bound_at_step
from epsilond.accountants.theorems.risk.bietti.weight_search import grid_minima

if TYPE_CHECKING:
    from collections.abc import Callable


_GRID_POINTS = 400
"""Number of intervals of the search grid for the theorem's bound, on either side of the balanced α."""
_PROVED_GRID_POINTS = 60
"""Number of intervals of the search grid for the proved bound, which takes more time."""
_RANGE_MARGIN = 1e8
"""Factor by which the range of the search extends beyond the typical values of α, on both sides."""
_LARGEST_SEARCHED_WEIGHT = 1e90
"""Largest α of the search; products of α with the constants of a problem stay finite doubles."""
SHOWN = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
"""Multiples of the balanced α = b/a at which `Landscape.curve` evaluates the bound."""


@dataclass(frozen=True, kw_only=True)
class Landscape:
    """Bound of Bietti et al. on the excess risk as a function of α, the weight of the shared part of the model.

    Client i uses the model w + θ_i of a shared part w and an own part θ_i. A larger α lets the shared part move more.
    With the minimiser z* of least norm ‖w‖²/α + Σ‖θ_i‖², the bound is:

        4L max{αa, b}‖z*‖²/T + 3‖z*‖√((αA + B)/T).

    Attributes:
        clients: number N of clients.
        rounds: number T of rounds.
        smoothness: smoothness L of the losses.
        mean_squared: ‖v̄‖², the squared norm of the mean of the clients' optima.
        spread_squared: S, the sum of the squared distances of the optima from their mean.
        smooth_factors: the factors (a, b) of the smoothness L max{αa, b}, which depend on the sampling of clients.
        sampled_factors: the factors (A, B) of the variance αA + B without noise.
        noise_factor: d_w σ_ζ², which noise of standard deviation σ_ζ in d_w coordinates adds to A.
    """

    clients: int
    rounds: int
    smoothness: float
    mean_squared: float
    spread_squared: float
    smooth_factors: tuple[float, float]
    sampled_factors: tuple[float, float]
    noise_factor: float

    @classmethod
    def of(
        cls,
        federation: DrawnGradients,
        *,
        rounds: int,
        smoothness: float,
        optimum_norm: float,
        optimum_spread: float,
        noise_std: float,
        dimension: int,
    ) -> Landscape:
        """Return the bound on the excess risk of personalised SGD as a function of the weight α of the shared part.

        Args:
            federation: the clients, their gradients, and their sampling.
            rounds: number T of rounds.
            smoothness: smoothness L of the losses.
            optimum_norm: norm ‖v̄‖ of the mean of the optima.
            optimum_spread: root mean square distance of the optima from their mean.
            noise_std: standard deviation σ_ζ of the noise per shared coordinate.
            dimension: number d_w of shared coordinates.

        Returns:
            The function of α. `at` and `curve` compute its values.
        """
        return cls(
            clients=federation.clients,
            rounds=rounds,
            smoothness=smoothness,
            mean_squared=optimum_norm * optimum_norm,
            spread_squared=federation.clients * optimum_spread * optimum_spread,
            smooth_factors=federation.smoothness_factors(),
            sampled_factors=federation.variance_factors(noise_std=0.0, dimension=dimension),
            noise_factor=dimension * noise_std * noise_std,
        )

    @property
    def balanced(self) -> float:
        """Weight α = b/a at which both terms of the smoothness L max{αa, b} are equal.

        It is 1/(qN + 1 − q) if each of N clients with equal weights takes part with probability q.
        """
        shared_smoothness, local_smoothness = self.smooth_factors
        return local_smoothness / shared_smoothness

    def at(self, alpha: float) -> PersonalizationBounds:
        """Return the bounds on the excess risk of personalised SGD at one weight α of the shared part.

        Args:
            alpha: weight α in [0, ∞]. At ∞ only the shared part of the model moves.

        Returns:
            The bounds with their summands, in units of the loss, and the step sizes of both parts. At α = ∞ the bounds
            are infinite unless all clients have one optimum.
        """
        is_infinite = math.isinf(alpha)
        if is_infinite and self.spread_squared > 0.0:
            return self._infinite_bound()

        # The bound is that of SGD with the smoothness, the variance and the distance in the weighted norm.
        factors = self._limit_factors() if is_infinite else self._factors(alpha)
        bound = factors.bound(self.rounds)
        step = factors.step(self.rounds)
        bound_23 = simple_bound_at_step(
            step=step, squared_norm=factors.squared_norm, variance=factors.variance, rounds=self.rounds
        )

        # The step size of the shared part is α times that of the own parts. At α = ∞ the own parts do not move.
        if is_infinite:
            step_size, shared_step_size = 0.0, step
        else:
            step_size, shared_step_size = step, alpha * step

        return PersonalizationBounds(
            alpha=alpha,
            optimisation=bound.optimisation,
            variance=bound.variance,
            statistical=3.0 * math.sqrt(factors.sampled / self.rounds),
            privacy=3.0 * math.sqrt(factors.private / self.rounds),
            bound_23=bound_23,
            proved=factors.proved_bound(self.rounds),
            step_size=step_size,
            shared_step_size=shared_step_size,
        )

    def _infinite_bound(self) -> PersonalizationBounds:
        """Return the infinite bound for clients with different optima that train a shared model only.

        A model has a part that all clients share, with the weight α, and an own part of each client. At α = ∞ only the
        shared part is trained. No shared model is optimal for every client, so the norm of the minimiser does not tend
        to 0. The smoothness L max{αa, b} grows without bound, with the factors a and b of both parts.

        Returns:
            The bound with infinite summands. The step sizes are the limits for α → ∞: 0 for the own parts, and 1/(4La)
            for the shared part.
        """
        infinite_summands = FullParticipationBound(optimisation=math.inf, variance=math.inf)
        shared_smoothness, _local_smoothness = self.smooth_factors
        return PersonalizationBounds(
            alpha=math.inf,
            optimisation=math.inf,
            variance=math.inf,
            statistical=math.inf,
            privacy=math.inf,
            bound_23=math.inf,
            proved=infinite_summands,
            step_size=0.0,
            shared_step_size=0.25 / (self.smoothness * shared_smoothness),
        )

    def _limit_factors(self) -> BoundFactors:
        """Return the quantities that determine the bound in the limit α → ∞, where all clients have one optimum v̄.

        The squared norm ‖z*‖² of the minimiser decreases like ‖v̄‖²/α, while smoothness and variance increase like α.
        The bound depends only on their products.

        Returns:
            The limits of the squared norm times α, and of smoothness and variance divided by α.
        """
        shared_smoothness, _local_smoothness = self.smooth_factors
        shared_variance, _local_variance = self.sampled_factors
        return BoundFactors(
            squared_norm=self.mean_squared,
            smoothness=self.smoothness * shared_smoothness,
            variance=shared_variance + self.noise_factor,
            sampled=shared_variance * self.mean_squared,
            private=self.noise_factor * self.mean_squared,
        )

    def _factors(self, alpha: float) -> BoundFactors:
        """Return the norm, the smoothness and the variance that determine the bound at a weight α of the shared part.

        They are the least norm ‖z*‖ of a minimiser, the smoothness L max{αa, b}, and the variance αA + B of a step.

        Args:
            alpha: weight α, finite.
        """
        # a and A belong to the shared part, b and B to the own parts. Noise is added to A only.
        shared_smoothness, local_smoothness = self.smooth_factors
        shared_variance, local_variance = self.sampled_factors
        weighted_smoothness = self.smoothness * max(alpha * shared_smoothness, local_smoothness)
        squared_norm = minimal_norm(
            alpha=alpha, clients=self.clients, mean_squared=self.mean_squared, spread_squared=self.spread_squared
        )
        return BoundFactors(
            squared_norm=squared_norm,
            smoothness=weighted_smoothness,
            variance=alpha * (shared_variance + self.noise_factor) + local_variance,
            sampled=(alpha * shared_variance + local_variance) * squared_norm,
            private=alpha * self.noise_factor * squared_norm,
        )

    def _theorem_bound_at(self, alpha: float) -> float:
        """Return the bound of Theorem 4.5 of Bietti et al. at a finite α, which `best` minimises."""
        return self._factors(alpha).bound(self.rounds).total

    def _proved_bound_at(self, alpha: float) -> float:
        """Return the sharper bound of the theorem's proof at a finite α, which `best_proved` minimises."""
        return self._factors(alpha).proved_bound(self.rounds).total

    def best(self) -> PersonalizationBounds:
        """Return the smallest bound on the excess risk over the weights α in [0, ∞]; on a tie, the smaller α.

        If all clients have one optimum (S = 0), the minimum is exact, at 0, the balanced α or ∞. Otherwise a search
        finds it to a relative accuracy of about 1e-9. The bound is valid at every α.

        Returns:
            The bounds and the step sizes at the best α.
        """
        candidates = [0.0, self.balanced, math.inf]
        if self.spread_squared > 0.0:
            candidates += self._search_minima(self._theorem_bound_at, _GRID_POINTS)
        bounds = [self.at(alpha) for alpha in sorted(candidates)]
        return min(bounds, key=lambda point: point.total)

    def best_proved(self) -> PersonalizationBounds:
        """Return the smallest `proved` bound that a search over the weights α in [0, ∞] finds; on a tie, the smaller α.

        `proved` is the sharper bound of the theorem's proof, at the step sizes of the theorem. It is valid at every α.

        Returns:
            The bound with its summands and step sizes, at the best α of the search.

        Guarantees:
            The result is at most the proved bound at 0, at the balanced α, at ∞, and at the α of `best`.
        """
        candidates = [0.0, self.balanced, math.inf, self.best().alpha]
        candidates += self._search_minima(self._proved_bound_at, _PROVED_GRID_POINTS)
        bounds = [self.at(alpha) for alpha in sorted(candidates)]
        return min(bounds, key=lambda point: point.proved.total)

    def _search_minima(self, bound: Callable[[float], float], intervals: int) -> list[float]:
        """Return candidates for the weight α that minimises a bound, on either side of the balanced α = b/a.

        The search extends far beyond the typical values of α: the balanced α, 1/N, and ‖v̄‖²/S. Here v̄ is the mean of
        the N clients' optima, and S the sum of their squared distances from it.

        Args:
            bound: the bound as a function of α.
            intervals: number of intervals of the grid over log α on each side. A golden-section search refines the
                best point.

        Returns:
            Four values of α, two on each side.
        """
        equal_share = 1.0 / self.clients
        norm_ratio = 1.0
        if min(self.mean_squared, self.spread_squared) > 0.0:
            norm_ratio = self.mean_squared / self.spread_squared

        # Above the balanced α, the range of log α has at least the length 1.
        smallest = min(self.balanced, equal_share) / _RANGE_MARGIN
        largest = max(self.balanced, equal_share, norm_ratio) * _RANGE_MARGIN
        low = math.log(smallest)
        middle = math.log(self.balanced)
        high = max(math.log(min(largest, _LARGEST_SEARCHED_WEIGHT)), middle + 1.0)

        below = grid_minima(bound, low, middle, intervals)
        above = grid_minima(bound, middle, high, intervals)
        return below + above

    def curve(self, *alphas: float) -> tuple[PersonalizationBounds, ...]:
        """Return the bound at several weights α of the shared part, for a plot.

        The weights are 0, ∞, the requested ones, and the multiples `SHOWN` of the balanced α. A multiple that differs
        from a requested weight only by rounding is left out.

        Args:
            alphas: requested weights, in [0, ∞].

        Returns:
            One bound for each weight, in increasing order of α.
        """
        shown_alphas = {0.0, math.inf, *alphas}
        for multiple in SHOWN:
            alpha = multiple * self.balanced
            is_requested = any(math.isclose(alpha, requested) for requested in alphas)
            if not is_requested:
                shown_alphas.add(alpha)
        return tuple(self.at(alpha) for alpha in sorted(shown_alphas))
