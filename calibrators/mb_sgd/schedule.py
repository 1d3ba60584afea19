"""The schedule of an mb-sgd run: batch size, rounds, step size, averaging, and the bound on the excess risk.

If the request leaves batch size or rounds open, the smallest run with a nearly least explicit risk bound is chosen,
within the budgets of gradients and communication. The rule is in `calibrators/frontier.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

from epsilond.accountants.federation import ClientGroup
from epsilond.accountants.quantities import LARGEST_COUNT
from epsilond.accountants.theorems.risk.lowy_razaviyayn.descent_prescriptions import effective_samples
from epsilond.accountants.theorems.risk.lowy_razaviyayn.envelope import (
    best_envelope,
    enveloped_excess_risk,
    on_envelope,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.explicit_bound import EXCESS_RISK_BOUND
from epsilond.accountants.theorems.risk.lowy_razaviyayn.runs.sgd_bound import (
    ExcessRiskProblem,
    best_step_size,
    closed_step_size,
    excess_risk,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.unequal_clients import FEDERATED_RISK
from epsilond.accountants.theorems.risk.lowy_razaviyayn.unequal_problem import UnequalProblem
from epsilond.calibrators.answer import PrescribedRisk, Risk, RiskBound, Served
from epsilond.calibrators.frontier import Choice
from epsilond.calibrators.mb_sgd.groups import own_epsilons
from epsilond.calibrators.mb_sgd.members import members_of, root_mean_square
from epsilond.calibrators.mb_sgd.printed import prescription_of, printed_noise_std, theorem_of
from epsilond.calibrators.mb_sgd.problem import MbSgdProblem, PacedProblem, Run
from epsilond.calibrators.mb_sgd.run_choice import choose_among, most_rounds

if TYPE_CHECKING:
    from epsilond.accountants.theorem import Condition, Theorem
    from epsilond.accountants.theorems.risk.lowy_razaviyayn.runs.sgd_bound import ExcessRisk
    from epsilond.calibrators.certificates import Certificates
    from epsilond.calibrators.mb_sgd.members import Member


@dataclass(frozen=True, kw_only=True)
class Averaging:
    """The average of the models w_1, …, w_R of all rounds. Each weight is `ratio` times that of the model before."""

    kind: Literal["uniform", "geometric"]
    ratio: Annotated[
        float | None,
        Served(
            "weight of a model in the average, divided by the weight of the model before it; absent if all "
            "weights are equal"
        ),
    ] = None


@dataclass(frozen=True)
class StepPlan:
    """The step size that minimises the bound on the excess risk at a given noise, with its averaging and the bound.

    Attributes:
        step_size: the step size η.
        averaging: the average of the iterates that is output.
        risk: the bound on the excess risk of the output.
        declared: conditions of the bound's theorem, which the caller declares to hold.
        envelope_smoothness: smoothness of the Moreau envelope that is minimised; None if the loss itself is smooth.
    """

    step_size: float
    averaging: Averaging
    risk: Risk
    declared: tuple[Condition, ...]
    envelope_smoothness: float | None = None


@dataclass(frozen=True)
class _Step:
    """A step size and, for a loss that is not smooth, the smooth function that is minimised in place of the loss.

    Attributes:
        step_size: the step size η.
        envelope_smoothness: smoothness of the Moreau envelope that is minimised; None if the loss itself is smooth.
    """

    step_size: float
    envelope_smoothness: float | None


def risk_problem(problem: PacedProblem, run: Run) -> ExcessRiskProblem | None:
    """Return the inputs of the bound on the excess risk of noisy mini-batch SGD.

    A loss that is not smooth has infinite smoothness here; a smooth envelope of it is chosen later. Standard deviations
    of gradients have the largest values that the Lipschitz constant allows. The request's heterogeneity is not used,
    because it describes the populations, and the bound needs that of the data set.

    Args:
        problem: the request, with the clients, the sampling of batches and the constants of the losses.
        run: the run, of which only the batch size is used.

    Returns:
        The inputs; None if the bound does not apply, because batches are not drawn without replacement.
    """
    if problem.sampling not in ("without-replacement", "full"):
        return None
    if problem.client_groups:
        return _risk_problem_of_groups(problem, run)
    smoothness = math.inf if problem.smoothness is None else problem.smoothness
    return ExcessRiskProblem(
        clients=problem.clients,
        participants=problem.moments.mean,
        samples_per_client=problem.samples_per_client,
        batch_size=run.batch_size,
        dimension=problem.dimension,
        lipschitz=problem.lipschitz,
        smoothness=smoothness,
        strong_convexity=problem.strong_convexity,
        initial_distance=problem.initial_distance or problem.diameter,
    )


def _risk_problem_of_groups(problem: PacedProblem, run: Run) -> UnequalProblem:
    """Return the inputs of the bound on the excess risk for groups of clients with weighted losses.

    The objective is the mean of the scaled losses of all N clients. A client's loss is multiplied by p N, for the
    weight p of its group (`PacedProblem.scales`), and so are its smoothness and strong convexity.

    Args:
        problem: the request, with client groups.
        run: the run, of which only the batch size is used: the rounds and the noise enter the bound later.

    Returns:
        The inputs. `smoothness` is that of the mean of the scaled losses, and `steepest` the largest of a single one.
    """
    groups = [
        ClientGroup(
            clients=member.clients,
            samples_per_client=member.samples_per_client,
            batch_size=member.batch_size,
            lipschitz=member.lipschitz,
        )
        for member in members_of(problem, run)
    ]
    if problem.smoothness is None:
        smoothness, steepest = math.inf, None
    else:
        smoothness = problem.smoothness
        steepest = max(problem.scales) * problem.smoothness
    return UnequalProblem.of(
        groups,
        participants=problem.moments.mean,
        dimension=problem.dimension,
        smoothness=smoothness,
        strong_convexity=min(problem.scales) * problem.strong_convexity,
        initial_distance=problem.initial_distance or problem.diameter,
        steepest=steepest,
    )


def _bound(inputs: ExcessRiskProblem, step: _Step, *, noise_std: float, rounds: int) -> ExcessRisk:
    """Return the bound on the excess risk at a step size, for the loss or for its Moreau envelope if there is one.

    Args:
        inputs: sizes and constants of the loss.
        step: the step size, and the smoothness of the envelope or None.
        noise_std: σ per coordinate, root mean square over clients.
        rounds: number of rounds.

    Returns:
        The bound with its terms, in units of the loss.
    """
    if step.envelope_smoothness is None:
        return excess_risk(inputs, noise_std=noise_std, rounds=rounds, step_size=step.step_size)
    return enveloped_excess_risk(
        inputs,
        envelope_smoothness=step.envelope_smoothness,
        noise_std=noise_std,
        rounds=rounds,
        step_size=step.step_size,
    )


def _best_step(inputs: ExcessRiskProblem, *, noise_std: float, rounds: int, quick: bool = False) -> _Step:
    """Return the step size that minimises the bound on the excess risk.

    For a loss that is not smooth, the smoothness of its Moreau envelope is chosen too.

    Args:
        inputs: sizes and constants of the loss; its smoothness is infinite if it is not smooth.
        noise_std: σ per coordinate, root mean square over clients.
        rounds: number of rounds.
        quick: whether to approximate the minimum in less time.

    Returns:
        The step size, with the smoothness of the envelope or None.
    """
    if math.isinf(inputs.smoothness):
        envelope = best_envelope(inputs, noise_std=noise_std, rounds=rounds, quick=quick)
        return _Step(envelope.step_size, envelope.envelope_smoothness)
    choose_step = closed_step_size if quick else best_step_size
    return _Step(choose_step(inputs, noise_std=noise_std, rounds=rounds), None)


def plan_of(problem: PacedProblem, run: Run, noise_std: float) -> StepPlan | None:
    """Choose the step size and the averaging of a run at its noise, and bound its excess risk.

    Args:
        problem: the request, with the clients, the sampling of batches and the constants of the losses.
        run: the batch size and the rounds of the run.
        noise_std: σ per coordinate, root mean square over clients.

    Returns:
        The steps with the bound, which has explicit constants; None if no bound applies.
    """
    inputs = risk_problem(problem, run)
    if inputs is None:
        return None
    step = _best_step(inputs, noise_std=noise_std, rounds=run.rounds)
    bound = _bound(inputs, step, noise_std=noise_std, rounds=run.rounds)
    theorem = risk_theorem(problem)
    upper = RiskBound(value=bound.total, constant="explicit", theorem=theorem.id, terms=bound.terms)
    contraction = step.step_size * _curvature(inputs, step)
    return StepPlan(
        step_size=step.step_size,
        averaging=_averaging(contraction),
        risk=Risk(upper=upper),
        declared=theorem.conditions,
        envelope_smoothness=step.envelope_smoothness,
    )


def _averaging(contraction: float) -> Averaging:
    """Return the weights of the averaged iterates. Each weight is 1/(1 − ημ) times that of the iterate before.

    Args:
        contraction: the step size η times the strong convexity μ, at least 0. From 1 on, only the last iterate has
            weight, and the ratio is infinite.

    Returns:
        The kind of the average. It is uniform if ημ is 0, and otherwise geometric with the ratio of successive weights.
    """
    ratio = 1.0 / (1.0 - contraction) if contraction < 1.0 else math.inf
    if ratio > 1.0:
        return Averaging(kind="geometric", ratio=ratio)
    return Averaging(kind="uniform")


def risk_theorem(problem: PacedProblem) -> Theorem:
    """Return the theorem of the explicit risk bound. Client groups, or losses that are not smooth, need another one."""
    if problem.client_groups or problem.smoothness is None:
        return FEDERATED_RISK
    return EXCESS_RISK_BOUND


def _curvature(inputs: ExcessRiskProblem, step: _Step) -> float:
    """Return the strong convexity of the minimised function: the loss or, if there is one, its Moreau envelope.

    Args:
        inputs: constants of the loss.
        step: the step size, with the smoothness of the envelope if there is one.

    Returns:
        The strong convexity μ, at least 0.
    """
    if step.envelope_smoothness is None:
        return inputs.strong_convexity
    return on_envelope(inputs, step.envelope_smoothness).strong_convexity


def prescribed_run(problem: MbSgdProblem, run: Run) -> Run | None:
    """Return the run with the rounds that Lowy and Razaviyayn prescribe in Theorem 2.1 or 2.2, corrected.

    Args:
        problem: the request, with the protected unit, and with the rounds if it fixes them.
        run: the run of the answer, of which the batch size is used.

    Returns:
        The run. None if the request fixes the rounds, if whole clients are protected, if the ε of the request or of a
        group is 0, or if the number of rounds exceeds `LARGEST_COUNT`.
    """
    if problem.rounds is not None or problem.unit == "client":
        return None
    # The prescription divides by ε.
    if any(epsilon == 0.0 for epsilon in own_epsilons(problem, problem.client_groups or ())):
        return None
    rounds = prescription_of(problem, run, None).rounds
    if rounds > LARGEST_COUNT:
        return None
    return Run(batch_size=run.batch_size, rounds=rounds)


def add_prescribed_risk(plan: StepPlan, problem: MbSgdProblem, prescribed: Run, noise_std: float) -> StepPlan:
    """Compare the risk bound of a plan with those of the run that the paper prescribes.

    The explicit risk bound is evaluated at the paper's rounds, step size and smoothness of a smoothed loss (envelope):
    with the certified noise, and with that of the paper's formula. `ratio` is the former over the bound of the plan.

    Args:
        plan: the chosen steps with their bound.
        problem: the request, with the clients, the budgets and the constants of the losses.
        prescribed: the run that the paper prescribes.
        noise_std: certified σ of the prescribed run, root mean square over clients.

    Returns:
        A copy of the plan with the comparison in `risk.as_prescribed`.
    """
    prescription = prescription_of(problem, prescribed, prescribed.rounds)
    inputs = risk_problem(problem, prescribed)
    assert inputs is not None  # there is a plan, so that a theorem bounds the risk
    assert plan.risk.upper is not None
    assert prescription.step_size is not None  # only the informal statements leave it out
    step = _Step(prescription.step_size, prescription.envelope_smoothness)

    def bound_at(std: float) -> float:
        """Return the bound on the excess risk with noise of standard deviation `std`."""
        return _bound(inputs, step, noise_std=std, rounds=prescribed.rounds).total

    members = members_of(problem, prescribed)
    printed_std = root_mean_square((printed_noise_std(member), member) for member in members)
    certified = bound_at(noise_std)
    answer = PrescribedRisk(
        theorem=theorem_of(problem),
        reading="corrected",
        batch_size=prescribed.batch_size,
        rounds=prescribed.rounds,
        step_size=prescription.step_size,
        envelope_smoothness=prescription.envelope_smoothness,
        within_budget=prescribed.rounds <= most_rounds(problem, prescribed.batch_size),
        certified_noise=certified,
        printed_noise=bound_at(printed_std),
        ratio=certified / plan.risk.upper.value,
    )
    return replace(plan, risk=replace(plan.risk, as_prescribed=answer))


def choose_run(problem: MbSgdProblem, certificates: Certificates[MbSgdProblem, Member]) -> Choice[Run]:
    """Choose the batch size and rounds: the smallest run with nearly the least bound on the excess risk.

    "Nearly" means within a factor of 1 + `within`, a field of the request. If no theorem bounds the risk, the run has
    the largest batch, and about the rounds that Theorem 2.2 of Lowy and Razaviyayn prescribes.

    Args:
        problem: the request. Its budgets limit the runs.
        certificates: the certified noise of each kind of client.

    Returns:
        The run, with the alternatives that it was chosen from.

    Raises:
        InvalidInput: the budgets leave no run.
        EpsilondError: no noise can be certified for a run that is tried.
    """
    return choose_among(
        problem,
        certificates,
        has_bound=lambda run: risk_problem(problem, run) is not None,
        closeness=partial(_closeness, problem),
        quick_risk=partial(risk_at, problem, quick=True),
        risk=partial(risk_at, problem),
    )


def _closeness(problem: MbSgdProblem, run: Run) -> float:
    """Score how close a run's number of rounds is to the one that Theorem 2.2 of Lowy and Razaviyayn prescribes.

    It prescribes M min{n, ε²n²/d} rounds, for M participants, n records per client and dimension d.

    Args:
        problem: the request, with its privacy target, the dimension and the sizes of the federation.
        run: the run, of which only the rounds are used.

    Returns:
        −|ln(rounds/prescribed)|, which is 0 at best. A prescribed number below 1 counts as 1.
    """
    effective = effective_samples(
        samples_per_client=problem.samples_per_client, epsilon=problem.target.epsilon, dimension=problem.dimension
    )
    prescribed_rounds = max(1.0, problem.reporting * effective)
    return -abs(math.log(run.rounds / prescribed_rounds))


def risk_at(problem: PacedProblem, run: Run, noise_std: float, *, quick: bool = False) -> float:
    """Return the explicit bound on the excess risk of a run at its best step size; infinite if no bound applies.

    Args:
        problem: the request, with the clients, the sampling of batches and the constants of the losses.
        run: the run.
        noise_std: σ per coordinate, root mean square over clients.
        quick: whether to approximate the best step size in less time.

    Returns:
        The bound in units of the loss, or inf.
    """
    inputs = risk_problem(problem, run)
    if inputs is None:
        return math.inf
    step = _best_step(inputs, noise_std=noise_std, rounds=run.rounds, quick=quick)
    return _bound(inputs, step, noise_std=noise_std, rounds=run.rounds).total
