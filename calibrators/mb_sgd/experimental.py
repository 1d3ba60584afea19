"""The noise of the experiments of Lowy and Razaviyayn (Appendix H), with the guarantee that is certified at it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.theorem import Sides, Status
from epsilond.accountants.theorems.papers.lowy_razaviyayn.conditions import binding_sides
from epsilond.accountants.theorems.papers.lowy_razaviyayn.experiments import (
    APPENDIX_H,
    ExperimentInputs,
)
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.envelope import TheoremAtInputs, claims, make_reading
from epsilond.calibrators.mb_sgd.members import Member
from epsilond.calibrators.mb_sgd.printed_conditions import result_of
from epsilond.calibrators.mb_sgd.printed_noise import PrintedNoise, noise_parameters
from epsilond.calibrators.mb_sgd.problem import MbSgdProblem

if TYPE_CHECKING:
    from epsilond.calibrators.answer import PrintedReading
    from epsilond.calibrators.certificates import Truth

SIDE_CONDITION = ConditionResult(
    "side-condition", "c₁ > 4 for the constant c₁ of the cited theorem", Verdict.UNDECIDABLE
)


def experimental_reading(problem: MbSgdProblem, members: tuple[Member, ...], truth: Truth[Member]) -> PrintedReading:
    """Evaluate the parameters that Lowy and Razaviyayn used in their experiments (Appendix H), at the run's rounds.

    The appendix prescribes the noise and the batch size, and claims (ε, δ) for them. The claim is refuted.

    Args:
        problem: the request, which may have groups of clients.
        members: one entry for each kind of client, with the run's rounds.
        truth: function that certifies a client's ε and δ at a printed noise multiplier.

    Returns:
        The prescribed parameters, the claimed (ε, δ) and the certified ε and δ at these parameters. With several kinds
        of clients, they are those of the kind with the largest ratio of the true ε to the target ε.
    """
    evaluations = [_evaluate_appendix_h(member) for member in members]
    printed = [
        _experimental_noise(member, evaluation, truth) for member, evaluation in zip(members, evaluations, strict=True)
    ]
    # The kind of client that misses its target by most shows the fault of the claim best.
    worst = max(printed, key=PrintedNoise.epsilon_ratio)
    return make_reading(
        evaluations[printed.index(worst)],
        reading="experimental",
        status=Status.REFUTED,
        parameters=noise_parameters(problem, worst, worst.member.rounds),
        claims=claims(worst.member.target),
        true=worst.true,
        conditions=(_batch_condition(evaluations), SIDE_CONDITION),
    )


def _evaluate_appendix_h(member: Member) -> TheoremAtInputs:
    """Evaluate the noise and the batch size of the experiments of Lowy and Razaviyayn for one kind of client.

    Args:
        member: kind of client, with its target (ε, δ), number of records, rounds and Lipschitz constant.

    Returns:
        Appendix H of the paper at the inputs of this client.
    """
    target = member.target
    # The inputs take δ in one form only. The target has no plain δ if it is too small for a double.
    log10_delta = target.log10_delta if target.delta is None else None
    inputs = ExperimentInputs(
        epsilon=target.epsilon,
        delta=target.delta,
        log10_delta=log10_delta,
        samples_per_client=member.samples_per_client,
        rounds=member.rounds,
        lipschitz=member.lipschitz,
    )
    return TheoremAtInputs(APPENDIX_H, inputs)


def _experimental_noise(member: Member, evaluation: TheoremAtInputs, truth: Truth[Member]) -> PrintedNoise:
    """Return the batch size and noise that Appendix H prescribes for one kind of client, with the certified ε and δ.

    Args:
        member: the kind of client.
        evaluation: the appendix at the inputs of this client.
        truth: function that certifies the client's ε and δ at a printed noise multiplier.

    Returns:
        The prescribed standard deviation, with the client at the prescribed batch size.
    """
    outputs = evaluation.outputs
    printed_member = replace(member, batch_size=outputs["batch_size"])
    true_figures = truth(printed_member, outputs["noise_multiplier"])
    return PrintedNoise(printed_member, outputs["noise_std"], true_figures)


def _batch_condition(evaluations: Sequence[TheoremAtInputs]) -> ConditionResult:
    """Evaluate the condition that the paper's batch size K is at most the number n of a client's records.

    K is the real number of the paper's formula, before it is rounded up.

    Args:
        evaluations: Appendix H at the inputs of each kind of client.

    Returns:
        The condition for the client that violates it by most, or without one for the client that is closest to
        violating it. Its sides are K and n of this client.
    """
    (batch_fits,) = APPENDIX_H.conditions  # its only condition
    inputs_of_clients = [evaluation.inputs for evaluation in evaluations]
    sides = binding_sides([Sides.at_most(inputs.real_batch, inputs.samples_per_client) for inputs in inputs_of_clients])
    return result_of(batch_fits.id, batch_fits.statement, sides)
