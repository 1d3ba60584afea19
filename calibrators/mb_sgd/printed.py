"""Readings of Theorems 2.1 and 2.2 and Appendix H, each with the certified guarantee at its parameters.

Every reading is an evaluation of a registered theorem:
- `informal`: the informal variant.
- `complete`: the complete statement as printed, at the given rounds or those that it prescribes.
- `proof`: the complete statement, with the claim that the sums in the proof give.
- `corrected`: the complete statement in the corrected reading.
- `experimental`: Appendix H.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.theorem import Reading as TheoremReading
from epsilond.accountants.theorem import Status
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import noise_std
from epsilond.accountants.theorems.papers.lowy_razaviyayn.run import Variant
from epsilond.accountants.theorems.risk.lowy_razaviyayn.descent_prescriptions import Prescription
from epsilond.accountants.theorems.risk.lowy_razaviyayn.nonsmooth_losses import THEOREM_2_2, NonsmoothInputs
from epsilond.accountants.theorems.risk.lowy_razaviyayn.smooth_losses import THEOREM_2_1, SmoothInputs
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.envelope import REASONS, TheoremAtInputs, claims, inputs_of, make_reading
from epsilond.calibrators.mb_sgd.experimental import experimental_reading
from epsilond.calibrators.mb_sgd.members import Member
from epsilond.calibrators.mb_sgd.printed_conditions import conditions_of
from epsilond.calibrators.mb_sgd.printed_noise import PrintedNoise, noise_parameters, served_rounds, worst_client
from epsilond.calibrators.mb_sgd.problem import READINGS, MbSgdProblem, Reading, Run

if TYPE_CHECKING:
    from epsilond.accountants.theorem import Outputs, Theorem
    from epsilond.calibrators.answer import PrintedReading
    from epsilond.calibrators.certificates import Truth

READ_AS: dict[Reading, tuple[Variant, TheoremReading]] = {
    "informal": ("informal", "printed"),
    "complete": ("complete", "printed"),
    "proof": ("complete", "printed"),
    "corrected": ("complete", "corrected"),
}
"""Statement of the theorem that each reading evaluates, and whether its known errors are corrected."""
STEP_PARAMETERS = ("step_size", "envelope_smoothness", "excess_risk_scale")
"""Outputs of a theorem that a reading shows among its parameters, if the theorem has them."""
RISK_PARAMETERS = ("excess_risk_at_effective_participants",)
"""Further outputs of this kind, for readings other than `proof`."""
PROOF_FAILS = "a condition of the printed proof fails at these numbers"


def printed_theorem(problem: MbSgdProblem) -> Theorem:
    """Return the printed theorem on the request's losses: Theorem 2.1 for smooth losses, and 2.2 for others."""
    return THEOREM_2_1 if problem.smoothness is not None else THEOREM_2_2


def theorem_of(problem: MbSgdProblem) -> str:
    """Return the id of the theorem of Lowy and Razaviyayn that prints noise for the losses of the request."""
    return printed_theorem(problem).id


def printed_readings(
    problem: MbSgdProblem, run: Run, members: tuple[Member, ...], truth: Truth[Member]
) -> tuple[PrintedReading, ...]:
    """Return the parameters that Lowy and Razaviyayn prescribe for a request, with the ε and δ certified for them.

    A reading is one interpretation of the paper. There are `informal`, `complete`, `proof` and `corrected` of Theorem
    2.1 or 2.2, and `experimental` of Appendix H. The theorems prescribe the rounds and no batch size, and Appendix H
    the batch size and no rounds. The other value is that of the run.

    Args:
        problem: the request; it may restrict the readings and fix the rounds.
        run: the run of the answer.
        members: one entry for each kind of client.
        truth: function that certifies a client's ε and δ at a printed noise multiplier.

    Returns:
        The readings. With several groups of clients, a reading is about the group with the largest ratio of the true ε
        to the target ε. Empty if whole clients are protected, because all statements are about records.
    """
    readings = []
    for reading in _applicable_readings(problem, run):
        if reading == "experimental":
            readings.append(experimental_reading(problem, members, truth))
        else:
            readings.append(_reading(problem, run, members, reading, truth))
    return tuple(readings)


def _applicable_readings(problem: MbSgdProblem, run: Run) -> list[Reading]:
    """Select the interpretations ("readings") of the paper's theorems that are requested and that apply to the run.

    The informal statements are for equal clients. Appendix H is for random batches. All readings are for records.

    Args:
        problem: the request; its `readings` is None if all are requested.
        run: the batch size and the rounds of the run.

    Returns:
        Names of readings, in the order of `READINGS`.
    """
    if problem.unit == "client":
        return []
    applicable = set(READINGS if problem.readings is None else problem.readings)
    if not theorem_inputs(problem, run, None).all_equal:
        applicable.discard("informal")
    if problem.sampling == "full":
        applicable.discard("experimental")
    return [reading for reading in READINGS if reading in applicable]


# What the theorems prescribe ----------------------------------------------------------------------------------------
def theorem_inputs(
    problem: MbSgdProblem, run: Run, rounds: int | None, variant: Variant = "complete"
) -> SmoothInputs | NonsmoothInputs:
    """Return the inputs at which Theorem 2.1 or 2.2 of Lowy and Razaviyayn is evaluated for a request.

    Args:
        problem: the request. Its losses are smooth (Theorem 2.1) or not (Theorem 2.2).
        run: the run, of which only the batch size is used.
        rounds: the number of rounds, or None for the number that the theorem prescribes.
        variant: `complete` for the full statement, `informal` for its short form for equal clients.

    Returns:
        The inputs. Batches that are not drawn with replacement count as drawn without it, because the theorems have
        only these two kinds of sampling.
    """
    sampling: Literal["with-replacement", "without-replacement"] = "without-replacement"
    if problem.sampling == "with-replacement":
        sampling = "with-replacement"
    if problem.smoothness is None:
        return inputs_of(
            NonsmoothInputs, problem, variant=variant, batch_size=run.batch_size, rounds=rounds, sampling=sampling
        )
    return inputs_of(
        SmoothInputs, problem, variant=variant, batch_size=run.batch_size, rounds=rounds, sampling=sampling
    )


def prescription_of(
    problem: MbSgdProblem, run: Run, rounds: int | None, reading: TheoremReading = "corrected"
) -> Prescription:
    """Return the rounds and step size that Theorem 2.1 or 2.2 of Lowy and Razaviyayn prescribes in its full form.

    Args:
        problem: the request, with the constants of the losses, the clients and the privacy target.
        run: the run, of which only the batch size is used.
        rounds: the number of rounds, or None for the number that the theorem prescribes.
        reading: interpretation of the formula: `printed`, or `corrected` without its known errors.

    Returns:
        The prescription: rounds, step size, smoothness of the envelope if losses are not smooth, and claimed excess
        risk.
    """
    return theorem_inputs(problem, run, rounds).prescription(reading)


def printed_noise_std(member: Member) -> float:
    """Return a client's noise standard deviation σ by the formula of Theorem 2.1 of Lowy and Razaviyayn.

    The Lipschitz constant is that of the client's own weighted loss. The paper uses the largest constant of all clients
    for each client, which is corrected here. Both agree if clients are equal.

    Args:
        member: the kind of client, with its target and rounds.

    Returns:
        σ per coordinate, in units of a gradient.
    """
    return noise_std(
        lipschitz=member.lipschitz,
        samples_per_client=member.samples_per_client,
        rounds=member.rounds,
        epsilon=member.target.epsilon,
        log_delta=member.target.log_delta,
    )


# Readings -----------------------------------------------------------------------------------------------------------
def _reading(
    problem: MbSgdProblem, run: Run, members: tuple[Member, ...], reading: Reading, truth: Truth[Member]
) -> PrintedReading:
    """Evaluate Theorem 2.1 or 2.2 of Lowy and Razaviyayn for a run, and certify the ε and δ at its parameters.

    The theorem is evaluated in one interpretation of its text, called a reading. The reading has the status
    `unproved` if its sampling of batches is not that of the proof. The reading `proof` has this status also if a
    condition of the proof is not known to hold.

    Args:
        problem: the request; its rounds are used if given, and otherwise those that the theorem prescribes.
        run: the run, of which only the batch size is used.
        members: one entry for each kind of client.
        reading: name of the interpretation of the printed theorem.
        truth: function that certifies a client's ε and δ at a printed noise multiplier.

    Returns:
        The reading: its parameters, its claimed (ε, δ) and risk, its conditions, and the certified ε and δ. With
        several kinds of clients, it is about the kind with the largest ratio of the true ε to the target ε.
    """
    variant, formula = READ_AS[reading]
    inputs = theorem_inputs(problem, run, problem.rounds, variant)
    evaluation = TheoremAtInputs(printed_theorem(problem), inputs, formula)
    outputs = evaluation.outputs
    members = tuple(replace(member, rounds=outputs["rounds"]) for member in members)

    # The answer shows one kind of client, so that a miss of the target is not hidden by better protected clients.
    printed_stds = [group["noise_std"] for group in outputs.get("groups", (outputs,))]
    worst = worst_client(members, printed_stds, truth)

    conditions = conditions_of(problem, evaluation, reading, members)
    reason = _reason_unproved(problem, reading, conditions)
    return make_reading(
        evaluation,
        reading=reading,
        status=Status.PROVED if reason is None else Status.UNPROVED,
        parameters=_prescribed_parameters(problem, reading, worst, outputs),
        claims=claims(worst.member.target, _claimed_risk(problem, reading, outputs)),
        true=worst.true,
        conditions=conditions,
        reason=reason,
    )


def _reason_unproved(problem: MbSgdProblem, reading: Reading, conditions: Sequence[ConditionResult]) -> str | None:
    """Return why one interpretation of a paper's theorem is not proved for the request; None if it is proved.

    It is not proved if batches are sampled in another way than in the proof. The interpretation `proof` must also meet
    the conditions of the proof's steps.

    Args:
        problem: the request, with its sampling of batches.
        reading: name of the interpretation. Only for `proof` are the conditions examined.
        conditions: the evaluated conditions.

    Returns:
        The reason in words, or None.
    """
    sampling_reason = REASONS.get(problem.sampling)
    if sampling_reason is not None or reading != "proof":
        return sampling_reason
    not_known_to_hold = [condition.id for condition in conditions if condition.holds != Verdict.YES]
    if not not_known_to_hold:
        return None
    return f"{PROOF_FAILS}: {', '.join(not_known_to_hold)}"


def _prescribed_parameters(
    problem: MbSgdProblem, reading: Reading, worst: PrintedNoise, outputs: Outputs
) -> dict[str, float]:
    """Return the parameters that a theorem of the paper prescribes, in one interpretation of its text.

    Args:
        problem: the request, which may have groups of clients.
        reading: name of the interpretation of the theorem.
        worst: the kind of client that the answer shows, with its printed noise.
        outputs: the values of the theorem's formula.

    Returns:
        Noise, batch size and rounds of this client, the theorem's step size, and the scale of its risk, by their names
        in the answer. Values that the theorem does not have are left out.
    """
    extra_names: tuple[str, ...] = STEP_PARAMETERS
    if reading != "proof":
        extra_names = STEP_PARAMETERS + RISK_PARAMETERS
    parameters = noise_parameters(problem, worst, served_rounds(outputs["rounds"]))
    return parameters | {name: outputs[name] for name in extra_names if name in outputs}


def _claimed_risk(problem: MbSgdProblem, reading: Reading, outputs: Outputs) -> float | None:
    """Return the excess risk that a theorem of the paper claims, in one interpretation of its text.

    For the interpretation `proof`, it is the sum of the terms in the proof.

    Args:
        problem: the request, which says whether all records have one distribution.
        reading: name of the interpretation of the theorem.
        outputs: the values of the theorem's formula.

    Returns:
        The risk. None if records are not identically distributed, because the theorems then claim no risk, or if the
        claim has no explicit constant.
    """
    if not problem.identically_distributed:
        return None
    name = "proof_excess_risk" if reading == "proof" else "excess_risk"
    claimed_risk: float | None = outputs.get(name)
    return claimed_risk
