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
from epsilond.accountants.theorem import Sides, Status
from epsilond.accountants.theorems.papers.lowy_razaviyayn.conditions import DRAWN_ONCE, binding_sides
from epsilond.accountants.theorems.papers.lowy_razaviyayn.experiments import (
    APPENDIX_H,
    ExperimentInputs,
)
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import noise_std, proof_chain
from epsilond.accountants.theorems.papers.lowy_razaviyayn.run import Variant
from epsilond.accountants.theorems.risk.lowy_razaviyayn.descent_prescriptions import Prescription
from epsilond.accountants.theorems.risk.lowy_razaviyayn.nonsmooth_losses import THEOREM_2_2, NonsmoothInputs
from epsilond.accountants.theorems.risk.lowy_razaviyayn.smooth_losses import THEOREM_2_1, SmoothInputs
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.envelope import (
    POISSON_BATCHES,
    REASONS,
    TheoremAtInputs,
    claims,
    inputs_of,
    make_reading,
)
from epsilond.calibrators.mb_sgd.members import Member
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
IDENTICAL = ConditionResult(
    "identical-clients",
    "the records of all clients are identically distributed (needed for the risk, not for the privacy)",
    Verdict.NO,
)


def printed_theorem(problem: MbSgdProblem) -> Theorem:
    """Return the printed theorem on the request's losses: Theorem 2.1 for smooth losses, and 2.2 for others."""
    return THEOREM_2_1 if problem.smoothness is not None else THEOREM_2_2


def theorem_of(problem: MbSgdProblem) -> str:
    """Return the id of the theorem of Lowy and Razaviyayn that prints noise for the losses of the request."""
    return printed_theorem(problem).id


def printed_readings(
    problem: MbSgdProblem, run: Run, members: tuple[Member, ...], truth: Truth[Member]
) -> tuple[PrintedReading, ...]:
    """Return the parameters that Lowy and Razaviyayn print for a request, with the guarantee that is certified at them.

    A reading is one interpretation of a printed statement: `informal`, `complete`, `proof` and `corrected` of Theorem
    2.1 or 2.2, and `experimental` of Appendix H. The theorems prescribe no batch size, and the run's is used. Appendix
    H prescribes a batch size but no rounds, and the run's rounds are used. With several groups of clients, a reading
    has the figures of the group with the largest ratio of the true ε to the promised one.

    Args:
        problem: the request; it may restrict the readings and fix the rounds.
        run: the run of the answer.
        members: one entry for each kind of client.
        truth: function that certifies a client's ε and δ at a printed noise multiplier.

    Returns:
        The readings. Empty if whole clients are protected, because all statements are about records.
    """
    readings = []
    for reading in _applicable_readings(problem, run):
        if reading == "experimental":
            readings.append(_experimental(problem, members, truth))
        else:
            readings.append(_reading(problem, run, members, reading, truth))
    return tuple(readings)


def _applicable_readings(problem: MbSgdProblem, run: Run) -> list[Reading]:
    """Select the readings (interpretations of the printed theorems) that are requested and allowed.

    The informal statements are for equal clients. Appendix H is for random batches. All readings are for records.

    Args:
        problem: the request; its `readings` is None if all are requested.
        run: the batch size and the rounds of the run.
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
    """
    sampling: Literal["with-replacement", "without-replacement"]
    sampling = "with-replacement" if problem.sampling == "with-replacement" else "without-replacement"
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
    """Return the rounds, step size and risk that Theorem 2.1 or 2.2 of Lowy and Razaviyayn prescribes in its full form.

    Args:
        problem: the request.
        run: the run, of which only the batch size is used.
        rounds: the number of rounds, or None for the number that the theorem prescribes.
        reading: whether the formula is as printed, or has its known errors corrected.
    """
    return theorem_inputs(problem, run, rounds).prescription(reading)


def printed_noise_std(member: Member) -> float:
    """Return a client's noise standard deviation σ by the formula of Theorem 2.1 of Lowy and Razaviyayn.

    The Lipschitz constant is that of the client's own weighted loss. The paper uses the largest constant of all clients
    for each client, which is corrected here. Both agree if clients are equal.

    Args:
        member: the kind of client, with its target and rounds.
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
    """Evaluate one interpretation ("reading") of Theorem 2.1 or 2.2: its parameters, its claims and the true ε and δ.

    The reading has the status `unproved` if its sampling of batches is not that of the proof. The reading `proof` has
    this status also if a condition of the proof is not known to hold.

    Args:
        problem: the request; its rounds are used if given, and otherwise those that the theorem prescribes.
        run: the run, of which only the batch size is used.
        members: one entry for each kind of client.
        reading: name of the interpretation of the printed theorem.
        truth: function that certifies a client's ε and δ at a printed noise multiplier.
    """
    variant, formula = READ_AS[reading]
    inputs = theorem_inputs(problem, run, problem.rounds, variant)
    evaluation = TheoremAtInputs(printed_theorem(problem), inputs, formula)
    outputs = evaluation.outputs
    members = tuple(replace(member, rounds=outputs["rounds"]) for member in members)
    printed_stds = [group["noise_std"] for group in outputs.get("groups", (outputs,))]
    worst = worst_client(members, printed_stds, truth)
    conditions = _conditions(problem, evaluation, reading, members)
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
    """Return why a printed theorem in one interpretation is not proved for the request; None if it is proved."""
    sampling_reason = REASONS.get(problem.sampling)
    if sampling_reason is not None or reading != "proof":
        return sampling_reason
    not_known_to_hold = [condition.id for condition in conditions if condition.holds != Verdict.YES]
    return f"{PROOF_FAILS}: {', '.join(not_known_to_hold)}" if not_known_to_hold else None


def _prescribed_parameters(
    problem: MbSgdProblem, reading: Reading, worst: PrintedNoise, outputs: Outputs
) -> dict[str, float]:
    """Return the parameters of a reading: noise, batch and rounds of the worst client, and the theorem's step size."""
    extra_names = STEP_PARAMETERS if reading == "proof" else STEP_PARAMETERS + RISK_PARAMETERS
    parameters = noise_parameters(problem, worst, served_rounds(outputs["rounds"]))
    return parameters | {name: outputs[name] for name in extra_names if name in outputs}


def _claimed_risk(problem: MbSgdProblem, reading: Reading, outputs: Outputs) -> float | None:
    """Return the excess risk that the theorem claims, or for the reading `proof` the sum of the terms in its proof.

    Args:
        problem: the request.
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


def _experimental(problem: MbSgdProblem, members: tuple[Member, ...], truth: Truth[Member]) -> PrintedReading:
    """Evaluate the parameters that Lowy and Razaviyayn used in their experiments (Appendix H), at the run's rounds.

    The appendix prescribes σ and a batch size K, which is rounded up and is at most the number of records n. With
    several kinds of clients, the one with the largest ratio of its true ε to the ε of its target is shown.

    Args:
        problem: the request.
        members: one entry for each kind of client, with the run's rounds.
        truth: function that certifies a client's ε and δ at a printed noise multiplier.
    """
    evaluations = [_appendix_h_of(member) for member in members]
    printed = [
        _experimental_noise(member, evaluation, truth) for member, evaluation in zip(members, evaluations, strict=True)
    ]
    worst = max(printed, key=PrintedNoise.epsilon_ratio)
    return make_reading(
        evaluations[printed.index(worst)],
        reading="experimental",
        status=Status.REFUTED,
        parameters=noise_parameters(problem, worst, worst.member.rounds),
        claims=claims(worst.member.target),
        true=worst.true,
        conditions=(
            _batch_condition(evaluations),
            ConditionResult("side-condition", "c₁ > 4 for the constant c₁ of the cited theorem", Verdict.UNDECIDABLE),
        ),
    )


def _appendix_h_of(member: Member) -> TheoremAtInputs:
    """Evaluate Appendix H of Lowy and Razaviyayn, its batch size and σ, for one kind of client.

    Appendix H has the noise of the paper's experiments.

    Args:
        member: kind of client, with its target (ε, δ), number of records, rounds and Lipschitz constant.
    """
    target = member.target
    inputs = ExperimentInputs(
        epsilon=target.epsilon,
        delta=target.delta,
        log10_delta=target.log10_delta if target.delta is None else None,
        samples_per_client=member.samples_per_client,
        rounds=member.rounds,
        lipschitz=member.lipschitz,
    )
    return TheoremAtInputs(APPENDIX_H, inputs)


def _experimental_noise(member: Member, evaluation: TheoremAtInputs, truth: Truth[Member]) -> PrintedNoise:
    """Return the batch and σ that Appendix H prints for one kind of client, with the ε and δ certified there."""
    outputs = evaluation.outputs
    printed_member = replace(member, batch_size=outputs["batch_size"])
    true = truth(printed_member, outputs["noise_multiplier"])
    return PrintedNoise(printed_member, outputs["noise_std"], true)


def _batch_condition(evaluations: Sequence[TheoremAtInputs]) -> ConditionResult:
    """Evaluate the condition that the printed batch K is at most the number of records n.

    It is evaluated for the client with the least margin n − K.
    """
    (batch_fits,) = APPENDIX_H.conditions  # its only condition
    inputs_of_clients = [evaluation.inputs for evaluation in evaluations]
    sides = binding_sides([Sides.at_most(inputs.real_batch, inputs.samples_per_client) for inputs in inputs_of_clients])
    return _result(batch_fits.id, batch_fits.statement, sides)


# Conditions ---------------------------------------------------------------------------------------------------------
def _excluded_conditions(problem: MbSgdProblem, reading: Reading) -> tuple[str, ...]:
    """Return the ids of the printed theorem's conditions that do not apply to a request in one interpretation.

    Args:
        problem: the request.
        reading: name of the interpretation of the theorem's text.
    """
    excluded = []
    if reading == "informal":
        excluded += ["prescribed-rounds", "client-sampling", "equal-shares"]
    if problem.strong_convexity == 0.0:
        excluded.append("logarithm")
    if not problem.client_groups:
        excluded.append("equal-shares")
    return tuple(excluded)


def _conditions(
    problem: MbSgdProblem, evaluation: TheoremAtInputs, reading: Reading, members: tuple[Member, ...]
) -> list[ConditionResult]:
    """Evaluate the conditions of the printed theorem or, for the reading `proof`, of the steps of its proof.

    Poisson batches add a condition that fails. Records that are not identically distributed add another one, except for
    `proof`.

    Args:
        problem: the request.
        evaluation: the theorem at the request's inputs.
        reading: the interpretation of the theorem, which determines the conditions that apply.
        members: one entry for each kind of client, with the printed rounds.
    """
    if reading == "proof":
        results = [*_proof_conditions(members), DRAWN_ONCE.at(evaluation.inputs)]
    else:
        results = list(evaluation.conditions(without=_excluded_conditions(problem, reading)))
    if problem.sampling == "poisson":
        results.append(POISSON_BATCHES)
    if not problem.identically_distributed and reading != "proof":
        results.append(IDENTICAL)
    return results


def _proof_conditions(members: tuple[Member, ...]) -> list[ConditionResult]:
    """Check the two steps by which Lowy and Razaviyayn prove privacy.

    The ε of one round before subsampling must be at most 1. The composition of all rounds must be at most the target ε.
    Each condition is evaluated for one kind of client: the one that violates it most or, if all clients meet it, the
    one with the least margin.

    Args:
        members: one entry for each kind of client, with the printed rounds.
    """
    round_sides, total_sides = [], []
    for member in members:
        target = member.target
        chain = proof_chain(
            samples_per_client=member.samples_per_client,
            batch_size=member.batch_size,
            rounds=member.rounds,
            epsilon=target.epsilon,
            log_delta=target.log_delta,
        )
        round_sides.append(Sides.at_most(chain.inner_epsilon, 1.0))
        total_sides.append(Sides.at_most(chain.printed_total, target.epsilon))
    return [
        _result("inner-epsilon", "the ε of one round before sampling is at most 1", binding_sides(round_sides)),
        _result(
            "composition-closes",
            "the printed composition of the rounds (Dwork and Roth 3.20) is at most ε",
            binding_sides(total_sides),
        ),
    ]


def _result(name: str, statement: str, sides: Sides) -> ConditionResult:
    """Return an evaluated condition with both sides of its inequality."""
    return ConditionResult(name, statement, sides.holds, sides.left, sides.right)
