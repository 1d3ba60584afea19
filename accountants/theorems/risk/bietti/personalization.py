"""How much of a model to share: the bound of PPSGD over α, for losses of w + θ_i (Lemma 4.6 of Bietti et al.).

With v̄ the mean of the clients' optima and S = Σ‖v_i − v̄‖², the minimiser of least α-norm is w = αN/(αN + 1) v̄,
θ_i = v_i − w, of ‖z*‖²_α = N‖v̄‖²/(αN + 1) + S. At u = αN/(αN + 1), S = 0, smoothness L max{αa, b} and variance
αA + B the bound is

    4L‖v̄‖² max{au, bN(1 − u)}/T + 3‖v̄‖√((Au + BN(1 − u))/T),

concave where the maximum is one of its sides, so that its least value is at α = 0, b/a or ∞. With S > 0 it is
infinite at α = ∞, and an optimum may lie in between: it is searched.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from epsilond.accountants.formula import FormulaRequest, formula
from epsilond.accountants.numerics.minimum import golden_section
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
    parts_at_step,
    simple_bound_at_step,
    theorem_bound,
    theorem_step,
)
from epsilond.accountants.theorems.risk.bietti.sampled_participation import DrawnGradients, GroupOfUsers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_SEARCHED = 400
_SEARCHED_PROVED = 60
_BEYOND = 1e8
SHOWN = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
"""α of the curve, in units of the balanced b/a."""


# The bound as a function of α ---------------------------------------------------------------------------------------
def minimal_norm(*, alpha: float, clients: int, mean_squared: float, spread_squared: float) -> float:
    """‖z*‖²_α of the minimiser of least α-norm: N‖v̄‖²/(αN + 1) + S. Both squares as they stand there."""
    if math.isinf(alpha):
        return spread_squared
    return clients * mean_squared / (alpha * clients + 1.0) + spread_squared


def shared_part(*, alpha: float, clients: int) -> float:
    """w/v̄ = αN/(αN + 1)."""
    return 1.0 if math.isinf(alpha) else alpha * clients / (alpha * clients + 1.0)


@dataclass(frozen=True, kw_only=True)
class AtPersonalization:
    """The bound at one α, and the steps that it is proved for.

    `at_step` is the smaller bound (23) at these very steps; `proved` is the least that is proved there, by (22).
    """

    alpha: float
    optimisation: float
    variance: float
    statistical: float
    privacy: float
    at_step: float
    proved: FullParticipationBound
    step_size: float
    shared_step_size: float

    @property
    def total(self) -> float:
        """The bound (7), or that of Theorems 5.2 and B.4."""
        return self.optimisation + self.variance


@dataclass(frozen=True, kw_only=True)
class Landscape:
    """α ↦ the bound. `mean_squared` is ‖v̄‖², `spread_squared` S; the factors are those of L_α and σ²_α in the text."""

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
        """Of clients whose optima have this mean norm and root mean square spread."""
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
        """b/a, where shared and local steps are limited alike: 1/N with all clients, 1/(qN + 1 − q) drawn."""
        return self.smooth_factors[1] / self.smooth_factors[0]

    def at(self, alpha: float) -> AtPersonalization:
        """The bound at α in [0, ∞]; infinite at ∞ unless all clients share one optimum."""
        shared, steep = self.smooth_factors[0], self.sampled_factors[0]
        if math.isinf(alpha) and self.spread_squared > 0.0:
            nowhere = dict.fromkeys(("optimisation", "variance", "statistical", "privacy", "at_step"), math.inf)
            unproved = FullParticipationBound(optimisation=math.inf, variance=math.inf)
            step = 0.25 / (self.smoothness * shared)
            return AtPersonalization(alpha=alpha, step_size=0.0, shared_step_size=step, proved=unproved, **nowhere)
        if math.isinf(alpha):  # α‖z*‖² has the limit ‖v̄‖², and α times the step one of its own
            squared, weighted, variance = self.mean_squared, self.smoothness * shared, steep + self.noise_factor
            sampled, private = steep * squared, self.noise_factor * squared
        else:
            squared, weighted, variance, sampled, private = self._factors(alpha)
        step = theorem_step(smoothness=weighted, norm=math.sqrt(squared), variance=variance, rounds=self.rounds)
        found = theorem_bound(smooth=weighted * squared, variance=sampled + private, rounds=self.rounds)
        return AtPersonalization(
            alpha=alpha,
            optimisation=found.optimisation,
            variance=found.variance,
            statistical=3.0 * math.sqrt(sampled / self.rounds),
            privacy=3.0 * math.sqrt(private / self.rounds),
            at_step=simple_bound_at_step(step=step, squared_norm=squared, variance=variance, rounds=self.rounds),
            proved=parts_at_step(
                step=step, smoothness=weighted, squared_norm=squared, variance=variance, rounds=self.rounds
            ),
            step_size=0.0 if math.isinf(alpha) else step,
            shared_step_size=step if math.isinf(alpha) else alpha * step,
        )

    def _factors(self, alpha: float) -> tuple[float, float, float, float, float]:
        """‖z*‖², L_α, σ²_α and the parts of σ²_α‖z*‖² that are of sampling and of noise, at a finite α."""
        shared, local = self.smooth_factors
        steep, flat = self.sampled_factors
        squared = minimal_norm(
            alpha=alpha, clients=self.clients, mean_squared=self.mean_squared, spread_squared=self.spread_squared
        )
        weighted = self.smoothness * max(alpha * shared, local)
        variance = alpha * (steep + self.noise_factor) + flat
        return squared, weighted, variance, (alpha * steep + flat) * squared, alpha * self.noise_factor * squared

    def _total(self, alpha: float) -> float:
        """`total` at a finite α, without the rest, for a search."""
        squared, weighted, _, sampled, private = self._factors(alpha)
        return theorem_bound(smooth=weighted * squared, variance=sampled + private, rounds=self.rounds).total

    def _proved_total(self, alpha: float) -> float:
        """`proved.total` at a finite α, without the rest, for a search."""
        squared, weighted, variance, *_ = self._factors(alpha)
        step = theorem_step(smoothness=weighted, norm=math.sqrt(squared), variance=variance, rounds=self.rounds)
        return parts_at_step(
            step=step, smoothness=weighted, squared_norm=squared, variance=variance, rounds=self.rounds
        ).total

    def best(self) -> AtPersonalization:
        """The least bound over α in [0, ∞], both ends included: exact if S = 0, else to about 1e-9 of its value.

        Any α is valid. Ties go to the smaller α.
        """
        alphas = [0.0, self.balanced, math.inf]
        if self.spread_squared > 0.0:
            alphas += self._searched(self._total, _SEARCHED)
        return min((self.at(alpha) for alpha in sorted(alphas)), key=lambda one: one.total)

    def best_proved(self) -> AtPersonalization:
        """The least that is proved at the theorem's steps over α in [0, ∞], both ends included, to within a search.

        Never above what is proved at 0, at the balanced α, at ∞, and at the α of `best`. Any α is valid; ties go to
        the smaller one.
        """
        alphas = [0.0, self.balanced, math.inf, self.best().alpha]
        alphas += self._searched(self._proved_total, _SEARCHED_PROVED)
        return min((self.at(alpha) for alpha in sorted(alphas)), key=lambda one: one.proved.total)

    def _searched(self, figure: Callable[[float], float], points: int) -> list[float]:
        """Local minima of a figure along log α, of either side of the balanced one, from so many points of each."""
        low = math.log(min(self.balanced, 1.0 / self.clients) / _BEYOND)
        scale = self.mean_squared / self.spread_squared if min(self.mean_squared, self.spread_squared) > 0.0 else 1.0
        high = math.log(min(max(self.balanced, 1.0 / self.clients, scale) * _BEYOND, 1e90))
        middle = math.log(self.balanced)
        found = []
        for start, end in ((low, middle), (middle, max(high, middle + 1.0))):
            grid = [start + (end - start) * place / points for place in range(points + 1)]
            values = [figure(math.exp(point)) for point in grid]
            place = min(range(len(grid)), key=values.__getitem__)
            low_side, high_side = grid[max(place - 1, 0)], grid[min(place + 1, points)]
            inner = golden_section(lambda point: figure(math.exp(point)), low_side, high_side, width=0.0, most=24)
            found += [math.exp(inner), math.exp(grid[place])]
        return found

    def curve(self, *beside: float) -> tuple[AtPersonalization, ...]:
        """The bound from local only to global only: both ends, the balanced α and its multiples, and those `beside`.

        A multiple that differs from one of `beside` by rounding alone is left out.
        """
        multiples = (alpha for alpha in self._multiples() if not any(math.isclose(alpha, each) for each in beside))
        return tuple(map(self.at, sorted({0.0, math.inf, *multiples, *beside})))

    def _multiples(self) -> Iterable[float]:
        return (multiple * self.balanced for multiple in SHOWN)


# The minimiser of least norm, and the best α ------------------------------------------------------------------------
def _check_personalization(inputs: FormulaRequest) -> None:
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
    """w = a v̄ and θ_i = v_i − a v̄: a, 1 − a and ‖z*‖²_α."""
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
    """The best α with its bound, and the bounds at 0, at the balanced α and at ∞."""
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
    statement="w = αN/(αN + 1) v̄ and θ_i = v_i − w minimise ‖w‖²/α + Σ‖θ_i‖², to N‖v̄‖²/(αN + 1) + Σ‖v_i − v̄‖²",
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
        "for losses of w + θ_i and clients of one optimum the bound on the excess risk is least at α = 0, at "
        "1/(qN + 1 − q) or at ∞; for others it is minimised over α ≥ 0, as any α is valid"
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
