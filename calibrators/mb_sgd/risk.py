"""Risk bounds of mb-sgd: explicit at the run's noise, Theorems 2.1 and 2.2 as printed, and Theorem 3.1 from below."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.quantities import request
from epsilond.accountants.quantities.risks import PairTarget
from epsilond.accountants.theorem import Reading as TheoremReading
from epsilond.accountants.theorem import Sides
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import aggregates
from epsilond.accountants.theorems.papers.lowy_razaviyayn.run import of_same_fields
from epsilond.accountants.theorems.risk.lowy_razaviyayn.descent_prescriptions import (
    DescentRun,
    Prescription,
    informal,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.explicit_bound import EXCESS_RISK_BOUND
from epsilond.accountants.theorems.risk.lowy_razaviyayn.unequal_clients import FEDERATED_RISK
from epsilond.calibrators.answer import Caution
from epsilond.calibrators.cautions import absence_cautions
from epsilond.calibrators.envelope import condition_answers
from epsilond.calibrators.mb_sgd.members import (
    federation_of,
    members_of,
    root_mean_square,
    start_of_run,
)
from epsilond.calibrators.mb_sgd.printed import printed_noise_std, printed_theorem, theorem_inputs, theorem_of
from epsilond.calibrators.mb_sgd.problem import MbSgdProblem, PacedProblem, Run
from epsilond.calibrators.mb_sgd.schedule import risk_problem, risk_theorem
from epsilond.calibrators.risk.answer import AggregatesAnswer, UpperBound
from epsilond.calibrators.risk.mini_batch import MiniBatchRiskPart
from epsilond.calibrators.risk.part import Bounds
from epsilond.calibrators.risk.parts import (
    ExplicitBound,
    LowerBoundSetting,
    SteppedRiskFields,
    check_run,
    explicit_bound,
)

if TYPE_CHECKING:
    from epsilond.calibrators.accelerated_mb_sgd.answer import AcceleratedParameters
    from epsilond.calibrators.mb_sgd.solution import MbSgdParameters

RISK_CONDITIONS = ("client-sampling", "claim-proved", "equal-shares")
"""Conditions of the printed theorems that are about the risk, except for the rounds."""


@request
class MbSgdRiskProblem(PairTarget, MbSgdProblem, SteppedRiskFields):
    """A run of mb-sgd, and the lower bounds to compare with its upper ones."""

    def check(self) -> None:
        """Check the fields of mb-sgd, and that a noise comes with a batch size and rounds."""
        super().check()
        check_run(self)


def bounds(problem: MbSgdRiskProblem, run: Run, noise_std: float) -> Bounds:
    """Return upper bounds on the excess risk of a run, the inputs of lower bounds, and the risk of the initial model.

    The first upper bound has explicit constants and holds at the run's noise. It is absent if batches are not drawn
    without replacement. The other upper bounds are those that Lowy and Razaviyayn state in Theorem 2.1 or 2.2.

    Args:
        problem: losses, clients and target of the request.
        run: its batch size and number of rounds.
        noise_std: standard deviation σ per coordinate, root mean square over clients.

    Returns:
        The bounds, with the conditions that the caller declares and the warnings that apply.
    """
    inputs = risk_problem(problem, run)
    explicit = None
    if inputs is not None:
        explicit = explicit_bound(
            inputs, objective=problem.problem, noise_std=noise_std, rounds=run.rounds, step_size=problem.step_size
        )
    without_explicit = Bounds(
        upper=tuple(_printed_bounds(problem, run, noise_std)),
        setting=setting_of(problem),
        start=start_of_run(problem, problem.problem),
        aggregates=_aggregates(problem, run),
        cautions=tuple(_cautions(problem, explicit)),
    )
    if explicit is None:
        return without_explicit
    theorem = risk_theorem(problem)
    answer = explicit.answer(theorem, problem.smoothness or 0.0, heaviest=max(1.0, *problem.scales))
    return replace(
        without_explicit,
        upper=(answer, *without_explicit.upper),
        declared=theorem.conditions,
        step_size=explicit.step_size,
        envelope_smoothness=explicit.envelope_smoothness,
    )


def setting_of(problem: PacedProblem) -> LowerBoundSetting:
    """Return the inputs of the lower bounds on the excess risk.

    The lower bounds are for equal clients. If clients differ, the largest ε, the smallest δ and the largest number of
    records of any client are returned.

    Args:
        problem: the request, with the clients, the domain and the constants of the losses.

    Returns:
        The target, the sizes and the constants of the losses. δ is given as log₁₀ δ.
    """
    any_run = Run(batch_size=1, rounds=1)  # Targets and numbers of records do not depend on the run.
    members = members_of(problem, any_run)
    targets = [member.target for member in members]
    samples = [member.samples_per_client for member in members]
    return LowerBoundSetting(
        epsilon=max(target.epsilon for target in targets),
        log10_delta=min(target.log10_delta for target in targets),
        samples_per_client=max(samples),
        clients=problem.clients,
        dimension=problem.dimension,
        lipschitz=problem.lipschitz,
        diameter=problem.diameter,
        strong_convexity=problem.strong_convexity,
    )


def noise_of(problem: PacedProblem, run: Run, parameters: MbSgdParameters | AcceleratedParameters) -> float:
    """Return the standard deviation σ of a calibrated run's noise per coordinate, root mean square over clients.

    Args:
        problem: the request, which groups the clients.
        run: the calibrated run.
        parameters: parameters of the calibration. They state σ for each group if there are groups, and once otherwise.

    Returns:
        The standard deviation, in units of a gradient.
    """
    if parameters.groups is None:
        assert parameters.noise_std is not None
        return parameters.noise_std
    stds = (group.noise_std for group in parameters.groups)
    return root_mean_square(zip(stds, members_of(problem, run), strict=True))


def _printed_bounds(problem: MbSgdRiskProblem, run: Run, noise_std: float) -> Iterator[UpperBound]:
    """Yield the bounds on the excess risk that Lowy and Razaviyayn state in Theorem 2.1 or 2.2.

    The paper states each theorem twice: in full ("complete") and in a short form for equal clients ("informal"). The
    full statement is evaluated as printed, and again with the printed errors corrected. The short form is evaluated
    only if all clients are equal, their number per round is fixed, and losses are smooth.

    The theorems bound the population risk under a guarantee for records. Nothing is yielded for the empirical risk, or
    if the protected unit is a client.

    Args:
        problem: losses, clients and target of the request.
        run: its batch size and number of rounds.
        noise_std: standard deviation σ per coordinate, root mean square over clients.

    Yields:
        At most three bounds, with the conditions on rounds and noise.
    """
    if problem.problem != "population" or problem.unit != "record":
        return
    yield _full_statement(problem, run, noise_std, "complete")
    yield _full_statement(problem, run, noise_std, "corrected")

    federation = federation_of(problem, members_of(problem, run))
    are_equal = len(federation.groups) == 1
    has_fixed_participation = len(federation.counts) == 1
    if are_equal and has_fixed_participation and problem.smoothness is not None:
        inputs_of_short_form = of_same_fields(DescentRun, problem, federation=federation)
        prescription = informal(inputs_of_short_form, rounds=run.rounds)
        yield _printed_bound(problem, run, noise_std, prescription, "informal")


def _full_statement(
    problem: MbSgdRiskProblem, run: Run, noise_std: float, reading: Literal["complete", "corrected"]
) -> UpperBound:
    """Evaluate the risk bound of Theorem 2.1 or 2.2 of Lowy and Razaviyayn in its full form.

    Args:
        problem: losses, clients and target of the request.
        run: its batch size and number of rounds.
        noise_std: standard deviation σ per coordinate, root mean square over clients.
        reading: `complete` for the statement as printed, `corrected` for the one without its known errors.

    Returns:
        The bound, with the conditions of the theorem that are about the risk.
    """
    formula: TheoremReading = "printed" if reading == "complete" else "corrected"
    inputs = theorem_inputs(problem, run, run.rounds)
    evaluation = printed_theorem(problem).evaluate(inputs, formula)
    conditions = [condition for condition in evaluation.conditions if condition.id in RISK_CONDITIONS]
    return _printed_bound(problem, run, noise_std, inputs.prescription(formula), reading, conditions)


def _printed_bound(
    problem: MbSgdRiskProblem,
    run: Run,
    noise_std: float,
    prescription: Prescription,
    reading: Literal["informal", "complete", "corrected"],
    further_conditions: Iterable[ConditionResult] = (),
) -> UpperBound:
    """Return a bound on the excess risk that the paper states, with the conditions on the run's rounds and noise.

    The bound holds only for at least the rounds, and at most the noise, that the paper prescribes.

    Args:
        problem: losses, clients and target of the request.
        run: its batch size and number of rounds.
        noise_std: standard deviation σ per coordinate, root mean square over clients.
        prescription: the risk that the statement claims, and the rounds that it prescribes.
        reading: name of the statement in the answer.
        further_conditions: conditions of the theorem, already evaluated.

    Returns:
        The bound. The claimed risk is its `value` if the constants are explicit, and otherwise its `scale`.
    """
    members = members_of(problem, run)
    # The noise of the run is a root mean square over clients, so the prescribed noise is averaged in the same way.
    printed_std = root_mean_square((printed_noise_std(member), member) for member in members)

    rounds = Sides.at_least(run.rounds, prescription.prescribed_rounds)
    noise = Sides.at_most(noise_std, printed_std)
    conditions = [
        ConditionResult(
            "enough-rounds", "R is at least the prescribed number of rounds", rounds.holds, rounds.left, rounds.right
        ),
        ConditionResult(
            "at-most-the-printed-noise", "σ is at most the printed one", noise.holds, noise.left, noise.right
        ),
        *further_conditions,
    ]

    # A bound with hidden constants gives only an order of growth.
    is_explicit = prescription.constants == "explicit"
    # Answers have no infinite numbers.
    finite_terms = {name: term for name, term in prescription.terms.items() if abs(term) < math.inf}
    return UpperBound(
        theorem=theorem_of(problem),
        reading=reading,
        constant=prescription.constants,
        value=prescription.excess_risk if is_explicit else None,
        scale=None if is_explicit else prescription.excess_risk,
        terms=finite_terms,
        conditions=condition_answers(conditions),
    )


def _aggregates(problem: MbSgdRiskProblem, run: Run) -> AggregatesAnswer:
    """Return the averages over clients that Theorems 2.1 and 2.2 of Lowy and Razaviyayn depend on.

    The noise variance of a client is proportional to a number ξ, which the paper computes from the client's target, its
    records and the rounds. M_r is the random number of participants of a round, and L the largest Lipschitz constant of
    a weighted loss.

    Args:
        problem: losses, clients and target of the request.
        run: its batch size and number of rounds.

    Returns:
        `participants`, `rms_participants`: 1/E[1/M_r], and 1/√E[1/M_r²].
        `average_xi`: the root mean square, over M_r, of the mean of the M_r largest ξ.
        `largest_xi`: the largest ξ.
        `average_psi`, `largest_psi`: `average_xi` L², and `largest_xi` L².
        `branch`: whether the average or the largest ξ gives the smaller bound.
    """
    members = members_of(problem, run)
    federation = federation_of(problem, members)
    totals = aggregates(federation, run.rounds)
    participation = federation.participation
    squared_lipschitz = max(member.lipschitz for member in members) ** 2
    return AggregatesAnswer(
        participants=participation.mean,
        rms_participants=participation.rms,
        average_xi=totals.average_xi,
        largest_xi=totals.largest_xi,
        average_psi=squared_lipschitz * totals.average_xi,
        largest_psi=squared_lipschitz * totals.largest_xi,
        branch=totals.branch,
    )


def _cautions(problem: MbSgdRiskProblem, explicit: ExplicitBound | None) -> Iterator[Caution]:
    """Warn of a missing bound, of lower bounds that are for equal clients, and of values assumed for absent fields.

    Args:
        problem: the request, of which some fields may be absent.
        explicit: the bound with explicit constants; None if it does not apply.

    Yields:
        The warnings that apply, each with a code and a message.
    """
    if explicit is None:
        yield Caution(
            code="no-risk-for-this-sampling",
            message="the excess-risk bound is proved for batches drawn without replacement",
        )
    yield from equal_clients_cautions(problem)
    yield from absence_cautions(problem, "initial_distance", "gradient_std")


def equal_clients_cautions(problem: PacedProblem) -> Iterator[Caution]:
    """Warn that lower bounds are for equal clients, if the request has client groups.

    Args:
        problem: the request, which may have groups of clients.

    Yields:
        At most one warning.
    """
    if problem.client_groups:
        yield Caution(
            code="lower-bound-for-equal-clients",
            message="the lower bound is for equal clients; it is taken at the largest samples_per_client and epsilon",
        )


RISK = MiniBatchRiskPart(
    title="Excess risk of noisy mini-batch SGD without a trusted server",
    summary=(
        "Upper bounds at the run's noise, explicit and as orders. Lower bounds on the cost of privacy against "
        "everyone are given for comparison (Lowy and Razaviyayn, Theorems 2.1, 2.2, 3.1, F.3 to F.5, Section 3)."
    ),
    problem=MbSgdRiskProblem,
    bounds=bounds,
    noise_std=noise_of,
    theorems=("lowy.2.1", "lowy.2.2", EXCESS_RISK_BOUND.id, FEDERATED_RISK.id),
    example_fields={"noise_std": 0.02, "gradient_std": 0.5},
)
