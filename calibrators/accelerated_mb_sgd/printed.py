"""Readings of Theorems E.1 and 2.4, each with the certified guarantee at its parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilond.accountants.quantities import LARGEST_COUNT
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
from epsilond.calibrators.mb_sgd.printed import noise_parameters, worst_at
from epsilond.calibrators.mb_sgd.problem import Reading, Run

if TYPE_CHECKING:
    from epsilond.accountants.theorems.papers.lowy_razaviyayn.run import Variant
    from epsilond.calibrators.accelerated_mb_sgd.problem import AcceleratedMbSgdProblem
    from epsilond.calibrators.answer import PrintedReading
    from epsilond.calibrators.certificates import Truth
    from epsilond.calibrators.mb_sgd.members import Member

SHOWN = (
    "regularization",
    "envelope_smoothness",
    "excess_risk_scale",
)


def printed_readings(problem: AcceleratedMbSgdProblem, run: Run, truth: Truth[Member]) -> tuple[PrintedReading, ...]:
    """Return every requested reading: Theorem E.1 for a smooth loss, 2.4 otherwise, at the run's own batch size.

    Each is at the request's rounds, or at those that the reading prescribes. The corrected reading divides them by the
    batch size K, and counts the term for client sampling that the text leaves out. `excess_risk_scale` is the risk of
    the statement up to the constants and logarithms that it hides. The theorems are about records, in batches of at
    most n; the informal theorems are about equal clients. With several groups each reading shows the group for which
    its promise is exceeded most.

    Args:
        problem: the request.
        run: the run of the answer.
        truth: returns the figures certified of a member at a printed noise multiplier.
    """
    members = members_of(problem, run)
    if problem.unit == "client" or any(member.batch_size > member.samples_per_client for member in members):
        return ()
    requested = READINGS if problem.readings is None else problem.readings
    equal = theorem_inputs(problem, run, "complete").all_equal
    return tuple(
        _reading(problem, run, reading, truth)
        for reading in READINGS
        if reading in requested and (equal or reading != "informal")
    )


def _reading(problem: AcceleratedMbSgdProblem, run: Run, reading: Reading, truth: Truth[Member]) -> PrintedReading:
    """Evaluate Theorem E.1 (smooth losses) or 2.4 (other losses) of Lowy and Razaviyayn in one reading.

    With several groups of clients, the parameters and the true figures are those of the group with the largest ratio of
    its true ε to the ε of its target.

    Args:
        problem: the request; its rounds are used if given, and otherwise those that the theorem prescribes.
        run: the run, of which only the batch size is used.
        reading: `informal` for the short form of the statement, `complete` for the full one, or `corrected`.
        truth: function that certifies a client's ε and δ at a printed noise multiplier.
    """
    theorem = THEOREM_2_4 if problem.smoothness is None else THEOREM_E_1
    inputs = theorem_inputs(problem, run, "informal" if reading == "informal" else "complete")
    evaluation = TheoremAtInputs(theorem, inputs, "corrected" if reading == "corrected" else "printed")
    outputs = evaluation.outputs
    rounds = outputs["rounds"]
    stds = [group["noise_std"] for group in outputs.get("groups", (outputs,))]
    worst = worst_at(members_of(problem, run), stds, truth, rounds=rounds)
    parameters = noise_parameters(problem, worst, rounds if rounds < LARGEST_COUNT else float(rounds))
    parameters |= {name: outputs[name] for name in SHOWN if name in outputs}
    return printed_reading(
        problem,
        evaluation,
        reading,
        parameters=parameters,
        target=worst.member.target,
        true=worst.true,
        excluded=() if problem.client_groups else ("equal-shares", "equal-clients"),
    )


def theorem_inputs(
    problem: AcceleratedMbSgdProblem, run: Run, variant: Variant, rounds: int | None = None
) -> ReusedInputs:
    """Return the inputs of Theorem E.1 or 2.4 of Lowy and Razaviyayn for a request.

    Identical distributions do not imply equal data (erratum E-14). The heterogeneity v̂ of the clients' data therefore
    has its largest possible value, the bound Φ̂ on the standard deviation of gradients.

    Args:
        problem: the request. Its losses are smooth (Theorem E.1) or not (Theorem 2.4).
        run: the run, of which only the batch size is used.
        variant: `complete` for the full statement, `informal` for its short form for equal clients.
        rounds: number of rounds; None for that of the request, which may leave it to the theorem.
    """
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
