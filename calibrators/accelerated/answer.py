"""What both accelerated algorithms answer: the plan of stages with its risk, and the envelope around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from epsilond.accountants import ENGINE_VERSION
from epsilond.accountants.theorem import Status
from epsilond.accountants.theorems.mechanisms.gaussian import sensitivity_factor
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_bound import (
    ACCELERATED_RISK_BOUND,
    AcceleratedProblem,
    accelerated_risk,
)
from epsilond.calibrators.answer import (
    Calibration,
    Caution,
    Communication,
    PrintedReading,
    Risk,
    RiskBound,
    Served,
    derivation_of,
)
from epsilond.calibrators.envelope import (
    claims,
    condition_answers,
    declared_answers,
    guarantee_answer,
    numerical_answer,
)
from epsilond.calibrators.mb_sgd.members import contribution_norm, only_member, start_of_run
from epsilond.calibrators.mb_sgd.warnings import warnings_of
from epsilond.calibrators.printed import POISSON_BATCHES, REASONS
from epsilond.calibrators.risk.baseline import measured

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from epsilond.accountants.theorem import Condition
    from epsilond.accountants.trust import Draw
    from epsilond.calibrators.accelerated.problem import AcceleratedMbSgdProblem
    from epsilond.calibrators.answer import Objective, TrueFigures
    from epsilond.calibrators.frontier import Choice
    from epsilond.calibrators.mb_sgd.problem import Reading
    from epsilond.calibrators.printed import Asked
    from epsilond.calibrators.search import Certified


@dataclass(frozen=True, kw_only=True)
class StageAnswer:
    """One stage of Algorithm 2: in its round t, α = 2/(t + 1) and η = 4 · prox_weight/(t(t + 1))."""

    rounds: Annotated[int, Served("rounds of the stage")]
    prox_weight: Annotated[float, Served("v; the larger, the shorter the steps")]


@dataclass(frozen=True, kw_only=True)
class AcceleratedParameters:
    """What to run with. Every stage starts at the output of the one before; the last one's output is the model."""

    noise_std: Annotated[float, Served("σ per coordinate, added by each client to its mean of batch_size gradients")]
    noise_multiplier: Annotated[float, Served("σ over the norm bound of one protected contribution to that mean")]
    batch_size: Annotated[int, Served("records of one client per round")]
    rounds: Annotated[int, Served("communication rounds")]
    stages: Annotated[tuple[StageAnswer, ...] | None, Served("absent where no risk bound is proved")] = None
    envelope_smoothness: Annotated[
        float | None, Served("smoothness b of the Moreau envelope that is descended; absent for a smooth loss")
    ] = None
    strong_convexity: Annotated[float | None, Served("μ to use in the steps of Algorithm 2")] = None


@dataclass(frozen=True, kw_only=True)
class AcceleratedPlan:
    """The stages that nearly minimise the bound at a noise, and the bound."""

    stages: tuple[StageAnswer, ...]
    envelope_smoothness: float | None
    strong_convexity: float
    risk: Risk
    declared: tuple[Condition, ...] = ACCELERATED_RISK_BOUND.conditions


def plan_at(problem: AcceleratedProblem, *, noise_std: float, rounds: int) -> AcceleratedPlan:
    """The plan of a run at its noise."""
    found = accelerated_risk(problem, noise_std=noise_std, rounds=rounds)
    upper = RiskBound(
        value=found.total, constant="explicit", theorem=ACCELERATED_RISK_BOUND.id, terms=dict(found.terms)
    )
    return AcceleratedPlan(
        stages=tuple(StageAnswer(rounds=one.rounds, prox_weight=one.prox_weight) for one in found.stages),
        envelope_smoothness=problem.envelope_smoothness,
        strong_convexity=problem.descent.strong_convexity,
        risk=Risk(upper=upper),
    )


def printed_reading(
    problem: AcceleratedMbSgdProblem,
    asked: Asked,
    reading: Reading,
    *,
    parameters: Mapping[str, float],
    true: TrueFigures | None,
    beside: tuple[str, ...] = (),
) -> PrintedReading:
    """A reading of a theorem whose risks hide constants, so that it claims the target alone.

    `beside` names conditions that are not of this reading.
    """
    if problem.strong_convexity == 0.0:
        beside = (*beside, "logarithm")
    reason = REASONS.get(problem.sampling)
    return PrintedReading(
        theorem=asked.theorem.id,
        reading=reading,
        status=asked.theorem.status if reason is None else Status.UNPROVED,
        parameters=parameters,
        claims=claims(problem.target),
        true=true,
        conditions=condition_answers(
            (*asked.conditions(without=beside), *((POISSON_BATCHES,) if problem.sampling == "poisson" else ()))
        ),
        reason=reason,
        evaluations=(asked.served,),
    )


def answer(
    algorithm: str,
    problem: AcceleratedMbSgdProblem,
    choice: Choice,
    certified: Certified,
    *,
    draws: Sequence[Draw],
    printed: tuple[PrintedReading, ...],
    plan: AcceleratedPlan | None,
    objective: Objective,
    declared: Iterable[Condition],
    unused: Iterable[str],
) -> Calibration:
    """The whole answer.

    `draws` are those that the guarantee counts; `unused` names fields that say nothing to this algorithm.
    """
    run = choice.run
    norm = contribution_norm(problem, only_member(problem, run))
    noise_std = certified.noise * norm
    bits = problem.bits_per_round
    whole = Calibration(
        algorithm=algorithm,
        parameters=AcceleratedParameters(
            noise_std=noise_std,
            noise_multiplier=certified.noise,
            batch_size=run.batch_size,
            rounds=run.rounds,
            stages=plan.stages if plan else None,
            envelope_smoothness=plan.envelope_smoothness if plan else None,
            strong_convexity=plan.strong_convexity if plan else None,
        ),
        guarantee=guarantee_answer(
            certified,
            problem.target,
            definition="local",
            sampling=problem.sampling,
            sensitivity=sensitivity_factor(problem.relation) * norm,
            draws=draws,
        ),
        numerical=numerical_answer(certified.guarantee, problem.target),
        as_printed=printed,
        risk=plan.risk if plan else None,
        communication=Communication(
            bits_per_coordinate=32.0,
            bits_per_round_per_client=bits // problem.reporting,
            total_bits=bits * run.rounds,
        ),
        frontier=choice.frontier,
        derivation=derivation_of(certified.guarantee.derivation),
        declared_conditions=declared_answers((*declared, *(plan.declared if plan else ()))),
        warnings=(
            *(one for one in warnings_of(problem, (certified,), (noise_std,), printed) if one.code not in _NOT_HERE),
            *_assumptions(problem, unused),
        ),
        engine_version=ENGINE_VERSION,
    )
    return measured(whole, start_of_run(problem, objective, gap=problem.initial_gap))


_NOT_HERE = ("no-risk-without-smoothness",)
"""Warnings of mb-sgd that are untrue here: the envelope stands in for a loss that is not smooth."""


def _assumptions(problem: AcceleratedMbSgdProblem, unused: Iterable[str]) -> Iterator[Caution]:
    if problem.initial_gap is None:
        yield Caution(code="assumed-initial-gap", message="initial_gap was taken to be lipschitz · diameter")
    for name in unused:
        if getattr(problem, name) is not None:
            yield Caution(code="field-not-used", message=f"{name} has no part in this algorithm's bounds")
