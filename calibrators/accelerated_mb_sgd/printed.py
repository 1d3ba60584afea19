"""Readings of Theorems E.1 and 2.4, each with the certified guarantee at its parameters."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_reused import (
    THEOREM_2_4,
    THEOREM_E_1,
    EnvelopedInputs,
    ReusedInputs,
    SmoothReusedInputs,
)
from epsilond.calibrators.accelerated_mb_sgd.answer import printed_reading
from epsilond.calibrators.accelerated_mb_sgd.problem import READINGS
from epsilond.calibrators.envelope import TheoremAtInputs, inputs_of
from epsilond.calibrators.mb_sgd.members import members_of
from epsilond.calibrators.mb_sgd.printed_noise import noise_parameters, served_rounds, worst_client
from epsilond.calibrators.mb_sgd.problem import Reading, Run

if TYPE_CHECKING:
    from epsilond.accountants.theorems.papers.lowy_razaviyayn.run import Variant
    from epsilond.calibrators.accelerated_mb_sgd.problem import AcceleratedMbSgdProblem
    from epsilond.calibrators.answer import PrintedReading
    from epsilond.calibrators.certificates import Truth
    from epsilond.calibrators.mb_sgd.members import Member

SHOWN = ("regularization", "envelope_smoothness", "excess_risk_scale")
"""Outputs of a theorem that a reading shows among its parameters. The last is a risk without its hidden constants."""


def printed_readings(problem: AcceleratedMbSgdProblem, run: Run, truth: Truth[Member]) -> tuple[PrintedReading, ...]:
    """Return the parameters that Lowy and Razaviyayn prescribe for a request, with the ε and δ certified for them.

    Their Theorem E.1 is for smooth losses, and Theorem 2.4 for all others. A reading is one interpretation of the
    theorem's text:

        `informal`: the short form, for equal clients.
        `complete`: the full form, as printed.
        `corrected`: the full form without its errors, which docs/errata.md lists.

    Args:
        problem: the request. It names the protected unit, and may select readings and fix the rounds. Without rounds,
            each reading uses those that it prescribes.
        run: the run of the answer, of which only the batch size is used.
        truth: function that certifies a client's ε and δ at a printed noise multiplier.

    Returns:
        The applicable readings. With several groups of clients, a reading is about the group with the largest ratio of
        the true ε to the target ε. Empty if whole clients are protected or if a batch is larger than a client's data
        set, because the theorems are about records in batches without repetition.
    """
    members = members_of(problem, run)
    has_repeated_records = any(member.batch_size > member.samples_per_client for member in members)
    if problem.unit == "client" or has_repeated_records:
        return ()
    applicable = set(READINGS if problem.readings is None else problem.readings)
    # The short form of a theorem is for equal clients.
    if not theorem_inputs(problem, run, "complete").all_equal:
        applicable.discard("informal")
    return tuple(_reading(problem, run, reading, truth) for reading in READINGS if reading in applicable)


def _reading(problem: AcceleratedMbSgdProblem, run: Run, reading: Reading, truth: Truth[Member]) -> PrintedReading:
    """Evaluate Theorem E.1 or 2.4 of Lowy and Razaviyayn for a run, and certify the ε and δ at its parameters.

    Theorem E.1 is for smooth losses, and Theorem 2.4 for all others.

    Args:
        problem: the request; its rounds are used if given, and otherwise those that the theorem prescribes.
        run: the run, of which only the batch size is used.
        reading: interpretation of the theorem: `informal` for the short form, `complete` for the full form as printed,
            or `corrected` for the full form without its errors.
        truth: function that certifies a client's ε and δ at the noise that the theorem prescribes.

    Returns:
        The prescribed parameters, the claimed (ε, δ), the conditions, and the certified ε and δ. With several groups of
        clients, they are those of the group with the largest ratio of the certified ε to the target ε.
    """
    theorem = THEOREM_2_4 if problem.smoothness is None else THEOREM_E_1
    # Two choices make a reading: the form of the theorem, and whether its errors are corrected.
    inputs = theorem_inputs(problem, run, "informal" if reading == "informal" else "complete")
    evaluation = TheoremAtInputs(theorem, inputs, "corrected" if reading == "corrected" else "printed")
    outputs = evaluation.outputs
    rounds = outputs["rounds"]

    # Only the clients with the least protection are shown, because better protected ones would hide a missed target.
    members = [replace(member, rounds=rounds) for member in members_of(problem, run)]
    printed_stds = [group["noise_std"] for group in outputs.get("groups", (outputs,))]
    worst = worst_client(members, printed_stds, truth)

    parameters = noise_parameters(problem, worst, served_rounds(rounds))
    parameters |= {name: outputs[name] for name in SHOWN if name in outputs}
    # Without groups all clients are equal, so that these conditions say nothing.
    equality_conditions = () if problem.client_groups else ("equal-shares", "equal-clients")
    return printed_reading(
        problem,
        evaluation,
        reading,
        parameters=parameters,
        target=worst.member.target,
        true=worst.true,
        excluded=equality_conditions,
    )


def theorem_inputs(
    problem: AcceleratedMbSgdProblem, run: Run, variant: Variant, rounds: int | None = None
) -> ReusedInputs:
    """Return the inputs at which Theorem E.1 or 2.4 of Lowy and Razaviyayn is evaluated for a request.

    Equal distributions of the clients do not imply equal data (E-14 in docs/errata.md). The heterogeneity of their data
    therefore gets its largest possible value: the bound on the standard deviation of gradients.

    Args:
        problem: the request. Its losses are smooth (Theorem E.1) or not (Theorem 2.4).
        run: the run, of which only the batch size is used.
        variant: `complete` for the full statement, `informal` for its short form for equal clients.
        rounds: number of rounds; None for that of the request, which may leave it to the theorem.

    Returns:
        The inputs of Theorem E.1 or 2.4.
    """
    # Without a bound on the heterogeneity, it is at most the largest Lipschitz constant.
    steepest = max(lipschitz for _, lipschitz in problem.weighted_lipschitz)
    heterogeneity = steepest if problem.empirical_gradient_std is None else problem.empirical_gradient_std
    kind: type[ReusedInputs] = EnvelopedInputs if problem.smoothness is None else SmoothReusedInputs
    return inputs_of(
        kind,
        problem,
        variant=variant,
        batch_size=run.batch_size,
        rounds=problem.rounds if rounds is None else rounds,
        empirical_heterogeneity=heterogeneity,
        initial_gap=problem.initial_gap,
        sampling="with-replacement" if problem.sampling == "with-replacement" else "without-replacement",
    )
