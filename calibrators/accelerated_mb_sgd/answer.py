"""The answers of both accelerated algorithms: the stages with their risk bound, and the printed readings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from epsilond.accountants.theorem import Status
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_bound import (
    ACCELERATED_RISK_BOUND,
    accelerated_risk,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_unequal import (
    FEDERATED_ACCELERATED_RISK,
    UnequalAcceleratedProblem,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.runs.accelerated_run import AcceleratedProblem
from epsilond.calibrators.answer import (
    PrintedReading,
    Risk,
    RiskBound,
    Served,
)
from epsilond.calibrators.envelope import (
    POISSON_BATCHES,
    REASONS,
    claims,
    make_reading,
)
from epsilond.calibrators.mb_sgd.solution import GroupParameters, MembersParameters

if TYPE_CHECKING:
    from collections.abc import Mapping

    from epsilond.accountants.target import Target
    from epsilond.accountants.theorem import Condition
    from epsilond.calibrators.accelerated_mb_sgd.problem import AcceleratedMbSgdProblem
    from epsilond.calibrators.answer import TrueFigures
    from epsilond.calibrators.envelope import TheoremAtInputs
    from epsilond.calibrators.mb_sgd.problem import Reading


@dataclass(frozen=True, kw_only=True)
class StageAnswer:
    """One stage of Algorithm 2 of Lowy and Razaviyayn, with the algorithm's parameters α and η.

    In round t of the stage, α is 2/(t + 1) and η is 4 · prox_weight/(t(t + 1)).
    """

    rounds: Annotated[int, Served("number of rounds of the stage")]
    prox_weight: Annotated[
        float, Served("weight of the proximal term in the steps of this stage. A larger weight gives shorter steps")
    ]


@dataclass(frozen=True, kw_only=True)
class AcceleratedParameters(MembersParameters):
    """Parameters of a run of accelerated noisy SGD, which is divided into stages.

    Every stage starts at the output of the one before, and the output of the last stage is the model. A noise
    parameter that differs between client groups is absent here, and `groups` has its value for each group.
    """

    stages: Annotated[
        tuple[StageAnswer, ...] | None, Served("stages of the run, in their order; absent if no risk bound is proved")
    ] = None
    envelope_smoothness: Annotated[
        float | None,
        Served(
            "smoothness constant of the Moreau envelope that is minimised in place of the loss; absent if "
            "the loss is smooth"
        ),
    ] = None
    strong_convexity: Annotated[
        float | None, Served("strong convexity constant in the steps of Algorithm 2 of Lowy and Razaviyayn")
    ] = None
    groups: Annotated[
        tuple[GroupParameters, ...] | None,
        Served("parameters of each client group, in the order of client_groups; absent without client groups"),
    ] = None


@dataclass(frozen=True, kw_only=True)
class AcceleratedPlan:
    """The stages of accelerated SGD for a given noise, and the bound on the excess risk that they nearly minimise.

    Attributes:
        stages: the stages, in the order of the run.
        envelope_smoothness: smoothness of the Moreau envelope that is minimised; None if the loss itself is smooth.
        strong_convexity: strong convexity μ that the steps use.
        risk: the bound on the excess risk.
        declared: conditions of the theorem that gives the bound; the caller declares that they hold.
    """

    stages: tuple[StageAnswer, ...]
    envelope_smoothness: float | None
    strong_convexity: float
    risk: Risk
    declared: tuple[Condition, ...]

    @property
    def excess_risk(self) -> float:
        """The upper bound on the excess risk, in units of the loss."""
        assert self.risk.upper is not None  # `plan_at` always states one
        return self.risk.upper.value


def plan_at(problem: AcceleratedProblem, *, noise_std: float, rounds: int) -> AcceleratedPlan:
    """Return the stages of a run that nearly minimise the bound on its excess risk, with the bound.

    Args:
        problem: the inputs of the risk bound. For losses that are not smooth, its Moreau envelope is already chosen.
        noise_std: standard deviation σ of the noise per coordinate, root mean square over clients.
        rounds: total number of rounds of all stages.

    Returns:
        The rounds and step sizes of each stage, and the bound, which has explicit constants.
    """
    bound = accelerated_risk(problem, noise_std=noise_std, rounds=rounds)
    is_unequal = isinstance(problem, UnequalAcceleratedProblem)
    theorem = FEDERATED_ACCELERATED_RISK if is_unequal else ACCELERATED_RISK_BOUND
    upper = RiskBound(value=bound.total, constant="explicit", theorem=theorem.id, terms=dict(bound.terms))
    return AcceleratedPlan(
        stages=tuple(StageAnswer(rounds=stage.rounds, prox_weight=stage.prox_weight) for stage in bound.stages),
        envelope_smoothness=problem.envelope_smoothness,
        strong_convexity=problem.descent.strong_convexity,
        risk=Risk(upper=upper),
        declared=theorem.conditions,
    )


def printed_reading(
    problem: AcceleratedMbSgdProblem,
    evaluation: TheoremAtInputs,
    reading: Reading,
    *,
    parameters: Mapping[str, float],
    target: Target,
    true: TrueFigures | None,
    excluded: tuple[str, ...] = (),
) -> PrintedReading:
    """Return an evaluated interpretation ("reading") of a paper's theorem, in the form of the answer.

    The reading claims the target (ε, δ). It claims no risk, because the theorem's bounds on the risk hide constants.
    Its status is `unproved` if batches are sampled in another way than in the paper's proof.

    Args:
        problem: the request, with its sampling of batches and the strong convexity of the losses.
        evaluation: the theorem, evaluated at the inputs of the reading.
        reading: name of the reading, for example `corrected`.
        parameters: the parameters of the run that the reading prescribes.
        target: the claimed (ε, δ).
        true: the true ε and δ at these parameters, if they are known.
        excluded: ids of conditions that do not apply to the reading.

    Returns:
        The reading, with its conditions and with the reason if it is unproved.
    """
    reason_unproved = REASONS.get(problem.sampling)

    # The theorem's rounds have a logarithm only for strongly convex losses.
    left_out = excluded
    if problem.strong_convexity == 0.0:
        left_out = (*excluded, "logarithm")
    conditions = evaluation.conditions(without=left_out)
    if problem.sampling == "poisson":
        conditions = (*conditions, POISSON_BATCHES)

    return make_reading(
        evaluation,
        reading=reading,
        status=evaluation.theorem.status if reason_unproved is None else Status.UNPROVED,
        parameters=parameters,
        claims=claims(target),
        true=true,
        conditions=conditions,
        reason=reason_unproved,
    )
