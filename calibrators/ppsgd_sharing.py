"""How much of the model ppsgd shares: the bound over α at the certified noise, its best, its ends and its curve."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from accountants.quantities import personalization_value
from accountants.theorems.bietti_lemma_4_6 import VarianceTermInputs, threshold_epsilon
from accountants.theorems.bietti_personalization import AtPersonalization, Landscape
from accountants.theorems.bietti_sampled_bound import PERSONALIZED_RISK
from calibrators.answer import Number, Risk, RiskBound, Served

if TYPE_CHECKING:
    from calibrators.ppsgd_problem import PpsgdProblem

ROUNDING = 2.0**-44
"""Charged on a bound, relative: far more than a dozen operations can lose."""

Alpha = Annotated[float | Literal["unbounded"], Served("α: 0 learns locally only, unbounded globally only")]


@dataclass(frozen=True, kw_only=True)
class SharingPoint:
    """The bound on the excess risk at one α: optimisation + √(statistical² + privacy²), and the steps it is for."""

    personalization: Alpha
    excess_risk: Number
    optimisation: Number
    statistical: Number
    privacy: Number
    excess_risk_at_step: Annotated[Number, Served("a smaller bound, at these very steps", may_be_unbounded=True)]
    step_size: Annotated[float, Served("η of the theorem, 0 where only the shared part learns")]
    shared_step_size: Annotated[float, Served("αη, of the noisy average of the shared gradients")]
    local_step_size: Annotated[float, Served("η/(qW), of one client's message for its own part")]


@dataclass(frozen=True, kw_only=True)
class SharingThreshold:
    """Lemma 4.6 at the least noise: where sharing nothing has the least variance term."""

    rounds: Annotated[float, Served("the rounds from which on it has, N(N − 1)σ²μ*²/(k²d_wC²m)")]
    epsilon: Annotated[Number, Served("the ε up to which it has, at these rounds", may_be_unbounded=True)]


@dataclass(frozen=True, kw_only=True)
class Sharing:
    """The bound over α: where it is least, at both ends and in between."""

    optimised: Annotated[bool, Served("whether α was chosen here")]
    best: Annotated[SharingPoint, Served("where the bound is least over α from 0 to unbounded")]
    local_only: Annotated[SharingPoint, Served("α = 0: nothing is shared, and no noise is needed")]
    balanced: Annotated[SharingPoint, Served("the α that limits shared and local steps alike, 1/N with all clients")]
    global_only: Annotated[SharingPoint, Served("α unbounded: everything is shared")]
    curve: Annotated[tuple[SharingPoint, ...], Served("from local only to global only")]
    threshold: Annotated[
        SharingThreshold | None,
        Served("for equal clients that all take part, if shared and local gradients vary alike"),
    ] = None


@dataclass(frozen=True, kw_only=True)
class SharingPlan:
    """The α to run with, its bound, and the landscape around it."""

    chosen: SharingPoint
    sharing: Sharing
    risk: Risk


def landscape_of(problem: PpsgdProblem, noise_std: float) -> Landscape | None:
    """The bound as a function of α; None where what it needs is not known, or clipping may bind."""
    if problem.smoothness is None or problem.optimum_norm is None or problem.clipping_may_bind:
        return None
    return Landscape.of(
        problem.federation,
        rounds=problem.rounds,
        smoothness=problem.smoothness,
        optimum_norm=problem.optimum_norm,
        optimum_spread=problem.optimum_spread,
        noise_std=noise_std,
        dimension=problem.shared_dimension,
    )


def plan_of(problem: PpsgdProblem, noise_std: float) -> SharingPlan | None:
    """The α asked for, or that of the least bound, at the certified noise."""
    landscape = landscape_of(problem, noise_std)
    if landscape is None:
        return None
    given = problem.personalization
    best = landscape.best()
    chosen = best if given is None else landscape.at(personalization_value(given))
    drawn = problem.rate * problem.federation.weight

    def point(one: AtPersonalization) -> SharingPoint:
        return _point(one, drawn)

    return SharingPlan(
        chosen=point(chosen),
        sharing=Sharing(
            optimised=given is None,
            best=point(best),
            local_only=point(landscape.at(0.0)),
            balanced=point(landscape.at(landscape.balanced)),
            global_only=point(landscape.at(math.inf)),
            curve=tuple(map(point, landscape.curve(best.alpha, chosen.alpha))),
            threshold=_threshold(problem),
        ),
        risk=Risk(
            upper=RiskBound(
                value=chosen.total * (1.0 + ROUNDING),
                constant="explicit",
                theorem=PERSONALIZED_RISK.id,
                terms={"optimisation": chosen.optimisation, "variance": chosen.variance},
            )
        ),
    )


def _threshold(problem: PpsgdProblem) -> SharingThreshold | None:
    groups = problem.federation.groups
    alike = len({group.batch_size for group in groups}) == 1
    if problem.sampling != "full" or not alike or groups[0].shared_gradient_std != groups[0].local_gradient_std:
        return None
    inputs = VarianceTermInputs(
        clients=problem.clients,
        rounds=problem.rounds,
        personalization=0.0,
        optimum_norm=problem.optimum_norm or 0.0,
        gradient_std=groups[0].shared_gradient_std,
        batch_size=groups[0].batch_size,
        shared_dimension=problem.shared_dimension,
        lipschitz=problem.clipping_norm / problem.federation.largest_message,
        epsilon=problem.epsilon,
        delta=problem.delta,
        log10_delta=problem.log10_delta,
        relation=problem.relation,
    )
    return SharingThreshold(rounds=inputs.threshold("corrected"), epsilon=threshold_epsilon(inputs))


def _point(one: AtPersonalization, drawn: float) -> SharingPoint:
    return SharingPoint(
        personalization="unbounded" if math.isinf(one.alpha) else one.alpha,
        excess_risk=one.total * (1.0 + ROUNDING),
        optimisation=one.optimisation,
        statistical=one.statistical,
        privacy=one.privacy,
        excess_risk_at_step=one.at_step * (1.0 + ROUNDING),
        step_size=one.step_size,
        shared_step_size=one.shared_step_size,
        local_step_size=one.step_size / drawn,
    )
