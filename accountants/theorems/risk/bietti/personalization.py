"""Choice of the shared part of a model: the bound of PPSGD over α for losses of w + θ_i (Bietti et al., Lemma 4.6).

Let v̄ be the mean of the clients' optima and S = Σ‖v_i − v̄‖². The minimiser of least α-norm is w = αN/(αN + 1) v̄,
θ_i = v_i − w. It has ‖z*‖²_α = N‖v̄‖²/(αN + 1) + S. Let u = αN/(αN + 1), S = 0, smoothness L max{αa, b} and variance
αA + B. Then the bound is

    4L‖v̄‖² max{au, bN(1 − u)}/T + 3‖v̄‖√((Au + BN(1 − u))/T).

It is concave where the maximum is one of its two sides, so its least value is at α = 0, b/a or ∞. With S > 0 the bound
is infinite at α = ∞, and the best α may be any number; a search finds it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from epsilond.accountants.formula import FormulaRequest, formula
from epsilond.accountants.quantities import BatchSize, Clients, Rate, Rounds, Smoothness
from epsilond.accountants.quantities.algorithms import (
    LOCAL_GRADIENT_STD,
    OPTIMUM_NORM,
    OPTIMUM_SPREAD,
    SHARED_GRADIENT_STD,
    SHARED_NOISE_STD,
    Personalization,
    SharedDimension,
    personalization_value,
)
from epsilond.accountants.theorem import Outputs, Source, Status, Theorem
from epsilond.accountants.theorems.risk.bietti.full_participation import (
    ADDITIVE,
    CONVEX_SMOOTH,
    FRESH,
    FullParticipationBound,
    simple_bound_at_step,
)
from epsilond.accountants.theorems.risk.bietti.minimal_norm import (
    BoundFactors,
    PersonalizationBounds,
    minimal_norm,
    shared_part,
)
from epsilond.accountants.theorems.risk.bietti.sampled_participation import DrawnGradients, GroupOfUsers
from epsilond.accountants.theorems.risk.bietti.weight_search import grid_minima

if TYPE_CHECKING:
    from collections.abc import Callable

_GRID_POINTS = 400
"""Points of the search grid of the theorem's bound, on either side of the balanced α."""
_PROVED_GRID_POINTS = 60
"""Points of the search grid of the proved bound, which is more expensive."""
_RANGE_MARGIN = 1e8
"""Factor by which the range of the search extends beyond the scales of the problem, on both sides."""
_LARGEST_SEARCHED_WEIGHT = 1e90
"""Largest α of the search; products of α with the constants of a problem stay finite doubles."""
SHOWN = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
"""Multiples of the balanced α = b/a at which `Landscape.curve` evaluates the bound."""


# The bound as a function of α ---------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Landscape:
    """The bound on the excess risk as a function of α, the weight of the shared part of the model.

    Attributes:
        clients: number N of clients.
        rounds: number T of rounds.
        smoothness: smoothness L of the losses.
        mean_squared: ‖v̄‖², the squared norm of the mean of the clients' optima.
        spread_squared: S, the sum of the squared distances of the optima from their mean.
        smooth_factors: (a, b) of the smoothness L max{αa, b}.
        sampled_factors: (A, B) of the variance αA + B by sampling.
        noise_factor: d_w σ_ζ², which the noise adds to A.
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
        """Return the bound as a function of α, for clients with a given mean and standard deviation of their optima.

        Args:
            federation: the clients, their gradients, and their sampling.
            rounds: number T of rounds.
            smoothness: smoothness L of the losses.
            optimum_norm: norm ‖v̄‖ of the mean of the optima.
            optimum_spread: root mean square distance of the optima from their mean.
            noise_std: standard deviation σ_ζ of the noise per shared coordinate.
            dimension: number d_w of shared coordinates.
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
        """The α = b/a at which the shared part and the local parts are equally smooth, 1/(qN + 1 − q) at rate q."""
        return self.smooth_factors[1] / self.smooth_factors[0]

    def at(self, alpha: float) -> PersonalizationBounds:
        """Return the bounds on the excess risk at α in [0, ∞]; infinite at ∞ unless all clients have one optimum."""
        is_infinite = math.isinf(alpha)
        if is_infinite and self.spread_squared > 0.0:
            return self._infinite_bound()
        factors = self._limit_factors() if is_infinite else self._factors(alpha)
        step = factors.step(self.rounds)
        # In the limit α = ∞ only the shared part moves.
        step_size, shared_step_size = (0.0, step) if is_infinite else (step, alpha * step)
        bound = factors.bound(self.rounds)
        return PersonalizationBounds(
            alpha=alpha,
            optimisation=bound.optimisation,
            variance=bound.variance,
            statistical=3.0 * math.sqrt(factors.sampled / self.rounds),
            privacy=3.0 * math.sqrt(factors.private / self.rounds),
            bound_23=simple_bound_at_step(
                step=step, squared_norm=factors.squared_norm, variance=factors.variance, rounds=self.rounds
            ),
            proved=factors.proved_bound(self.rounds),
            step_size=step_size,
            shared_step_size=shared_step_size,
        )

    def _infinite_bound(self) -> PersonalizationBounds:
        """Return the bound for clients with different optima at α = ∞, where all its parts are infinite."""
        return PersonalizationBounds(
            alpha=math.inf,
            optimisation=math.inf,
            variance=math.inf,
            statistical=math.inf,
            privacy=math.inf,
            bound_23=math.inf,
            proved=FullParticipationBound(optimisation=math.inf, variance=math.inf),
            step_size=0.0,
            shared_step_size=0.25 / (self.smoothness * self.smooth_factors[0]),
        )

    def _limit_factors(self) -> BoundFactors:
        """Return the factors of the bound in the limit α = ∞, where all clients have one optimum v̄.

        As α grows, α‖z*‖² tends to ‖v̄‖² for the minimiser z* of least α-norm. The factors have this limit as squared
        norm, and smoothness and variance divided by α. The bound depends on their products only.
        """
        shared_variance = self.sampled_factors[0]
        return BoundFactors(
            squared_norm=self.mean_squared,
            smoothness=self.smoothness * self.smooth_factors[0],
            variance=shared_variance + self.noise_factor,
            sampled=shared_variance * self.mean_squared,
            private=self.noise_factor * self.mean_squared,
        )

    def _factors(self, alpha: float) -> BoundFactors:
        """Return the bound's factors at α: least ‖z*‖²_α of a minimiser, smoothness L max{αa, b}, variance αA + B."""
        shared_smoothness, local_smoothness = self.smooth_factors
        shared_variance, local_variance = self.sampled_factors
        squared = minimal_norm(
            alpha=alpha, clients=self.clients, mean_squared=self.mean_squared, spread_squared=self.spread_squared
        )
        return BoundFactors(
            squared_norm=squared,
            smoothness=self.smoothness * max(alpha * shared_smoothness, local_smoothness),
            variance=alpha * (shared_variance + self.noise_factor) + local_variance,
            sampled=(alpha * shared_variance + local_variance) * squared,
            private=alpha * self.noise_factor * squared,
        )

    def _total(self, alpha: float) -> float:
        """Return the bound of the theorem at a finite α, without the other parts of `at`, for the search."""
        return self._factors(alpha).bound(self.rounds).total

    def _proved_total(self, alpha: float) -> float:
        """Return the smaller bound `proved` at a finite α, without the other parts of `at`, for the search."""
        return self._factors(alpha).proved_bound(self.rounds).total

    def best(self) -> PersonalizationBounds:
        """Return the smallest bound on the excess risk over the weights α in [0, ∞]; on a tie, the smaller α.

        If all clients have one optimum (S = 0), the minimum is exact, at 0, the balanced α or ∞. Otherwise a search
        finds it to a relative accuracy of about 1e-9. The bound is valid at every α.
        """
        alphas = [0.0, self.balanced, math.inf]
        if self.spread_squared > 0.0:
            alphas += self._search_minima(self._total, _GRID_POINTS)
        return min((self.at(alpha) for alpha in sorted(alphas)), key=lambda point: point.total)

    def best_proved(self) -> PersonalizationBounds:
        """Return the smallest value that a search over α in [0, ∞] finds for the sharper risk bound `proved`.

        The step sizes are as in the theorem. The bound is valid at every α; on a tie, the smaller α is returned.

        Guarantees:
            The result is at most the proved bound at 0, at the balanced α, at ∞, and at the α of `best`.
        """
        alphas = [0.0, self.balanced, math.inf, self.best().alpha]
        alphas += self._search_minima(self._proved_total, _PROVED_GRID_POINTS)
        return min((self.at(alpha) for alpha in sorted(alphas)), key=lambda point: point.proved.total)

    def _search_minima(self, bound: Callable[[float], float], intervals: int) -> list[float]:
        """Return candidates for the α that minimises a bound, on either side of the balanced α.

        The search extends far beyond the scales of α: the balanced α, 1/N, and ‖v̄‖²/S.

        Args:
            bound: the bound as a function of α.
            intervals: intervals of the grid over log α on each side; a golden section refines its best point.
        """
        equal_share = 1.0 / self.clients
        norm_ratio = 1.0
        if min(self.mean_squared, self.spread_squared) > 0.0:
            norm_ratio = self.mean_squared / self.spread_squared
        largest = max(self.balanced, equal_share, norm_ratio) * _RANGE_MARGIN
        low = math.log(min(self.balanced, equal_share) / _RANGE_MARGIN)
        middle = math.log(self.balanced)
        high = max(math.log(min(largest, _LARGEST_SEARCHED_WEIGHT)), middle + 1.0)
        return grid_minima(bound, low, middle, intervals) + grid_minima(bound, middle, high, intervals)

    def curve(self, *alphas: float) -> tuple[PersonalizationBounds, ...]:
        """Return the bound at 0, ∞, `alphas` and the multiples `SHOWN` of the balanced α, in increasing order of α.

        A multiple that differs from a member of `alphas` only by rounding is left out.
        """
        shown_alphas = {0.0, math.inf, *alphas}
        for multiple in SHOWN:
            alpha = multiple * self.balanced
            if not any(math.isclose(alpha, requested) for requested in alphas):
                shown_alphas.add(alpha)
        return tuple(self.at(alpha) for alpha in sorted(shown_alphas))


# The minimiser of least norm, and the best α ------------------------------------------------------------------------
def _check_personalization(inputs: FormulaRequest) -> None:
    """Check that α is a number from 0 to 1e100 or "unbounded"."""
    personalization_value(inputs.personalization)


@formula(
    given="Clients whose own optima have a mean of norm `optimum_norm` and a root mean square spread about it.",
    checks=(_check_personalization,),
)
def minimal_norm_optimum(
    *,
    clients: Clients,
    personalization: Personalization,
    optimum_norm: Annotated[float, OPTIMUM_NORM],
    optimum_spread: Annotated[float, OPTIMUM_SPREAD] = 0.0,
) -> Outputs:
    """Return the minimiser z* of least α-norm for given optima of the clients: its shared share, local share and norm.

    With the optimum v_i of client i and the mean v̄ of all, the minimiser is w = a v̄ and θ_i = v_i − a v̄. The outputs
    are a, 1 − a and ‖z*‖²_α = ‖w‖²/α + Σ‖θ_i‖².

    Args:
        clients: number N of clients.
        personalization: weight α of the shared part in the norm ‖w‖²/α + Σ‖θ_i‖², or "unbounded" for ∞.
        optimum_norm: norm ‖v̄‖ of the mean of the optima.
        optimum_spread: root mean square distance of the optima from their mean.
    """
    alpha = personalization_value(personalization)
    return {
        "shared_share": shared_part(alpha=alpha, clients=clients),
        "local_share": 0.0 if math.isinf(alpha) else 1.0 / (alpha * clients + 1.0),
        "squared_norm": minimal_norm(
            alpha=alpha,
            clients=clients,
            mean_squared=optimum_norm**2,
            spread_squared=clients * optimum_spread**2,
        ),
    }


@formula(
    given="Equal clients, each drawn with probability q in a round, and what is known of their optima and gradients."
)
def optimum(
    *,
    clients: Clients,
    rounds: Rounds,
    participation_rate: Rate = 1.0,
    batch_size: BatchSize = 1,
    smoothness: Smoothness,
    optimum_norm: Annotated[float, OPTIMUM_NORM],
    optimum_spread: Annotated[float, OPTIMUM_SPREAD] = 0.0,
    shared_gradient_std: Annotated[float, SHARED_GRADIENT_STD],
    local_gradient_std: Annotated[float, LOCAL_GRADIENT_STD],
    shared_dimension: SharedDimension,
    noise_std: Annotated[float, SHARED_NOISE_STD],
) -> Outputs:
    """Return the weight α of the shared part that minimises the bound on the excess risk, and the bound there.

    Args:
        clients: number N of clients.
        rounds: number T of rounds.
        participation_rate: probability q that a client is drawn in a round.
        batch_size: records m of a batch.
        smoothness: smoothness L of the losses.
        optimum_norm: norm ‖v̄‖ of the mean of the optima.
        optimum_spread: root mean square distance of the optima from their mean.
        shared_gradient_std: standard deviation σ̄_w of one record's shared gradient.
        local_gradient_std: standard deviation σ̄_θ of one record's local gradient.
        shared_dimension: number d_w of shared coordinates.
        noise_std: standard deviation σ_ζ of the noise per shared coordinate.
    """
    group = GroupOfUsers(
        clients=clients,
        batch_size=batch_size,
        shared_gradient_std=shared_gradient_std,
        local_gradient_std=local_gradient_std,
    )
    landscape = Landscape.of(
        DrawnGradients(groups=(group,), weighting="clients", rate=participation_rate),
        rounds=rounds,
        smoothness=smoothness,
        optimum_norm=optimum_norm,
        optimum_spread=optimum_spread,
        noise_std=noise_std,
        dimension=shared_dimension,
    )
    best = landscape.best()
    return {
        "personalization": best.alpha,
        "excess_risk": best.total,
        "step_size": best.step_size,
        "shared_step_size": best.shared_step_size,
        "local_excess_risk": landscape.at(0.0).total,
        "balanced_personalization": landscape.balanced,
        "balanced_excess_risk": landscape.at(landscape.balanced).total,
        "global_excess_risk": landscape.at(math.inf).total,
    }


MINIMAL_NORM = Theorem(
    id="epsilond.minimal-norm-optimum",
    title="The optimum that PPSGD pays least for",
    statement=(
        "Let v_i be the optimum of client i, and v̄ the mean of all N optima. The parts w = αN/(αN + 1) v̄ and θ_i = "
        "v_i − w minimise ‖w‖²/α + Σ‖θ_i‖². The minimum is N‖v̄‖²/(αN + 1) + Σ‖v_i − v̄‖²"
    ),
    source=Source("epsilond", "accountants/theorems/risk/bietti/personalization.py"),
    status=Status.PROVED,
    conditions=(ADDITIVE,),
    formula=minimal_norm_optimum,
    examples=({"clients": 7, "personalization": 0.5, "optimum_norm": 1.5, "optimum_spread": 0.1},),
)
OPTIMUM = Theorem(
    id="epsilond.optimal-personalization",
    title="How much of a model to share",
    statement=(
        "Let the losses depend on w + θ_i, and let all N clients share one optimum. The bound on the excess risk is "
        "least at α = 0, at 1/(qN + 1 − q) or at ∞. For clients with different optima, a search minimises the bound "
        "over α ≥ 0. Every α gives a valid bound"
    ),
    source=Source("epsilond", "accountants/theorems/risk/bietti/personalization.py"),
    status=Status.PROVED,
    conditions=(CONVEX_SMOOTH, FRESH, ADDITIVE),
    formula=optimum,
    examples=(
        {
            "clients": 50,
            "rounds": 2000,
            "batch_size": 10,
            "smoothness": 2.0,
            "optimum_norm": 44.0,
            "shared_gradient_std": 0.02,
            "local_gradient_std": 0.02,
            "shared_dimension": 20,
            "noise_std": 0.001,
        },
    ),
)
THEOREMS: tuple[Theorem, ...] = (MINIMAL_NORM, OPTIMUM)
