"""Readings of Theorems 2.1 and 2.2 and Appendix H, each with the certified guarantee at its parameters.

Every reading is an evaluation of a registered theorem:
- `informal`: the informal variant.
- `complete`: the complete statement as printed, at the given rounds or those that it prescribes.
- `proof`: the complete statement, with the claim that the sums in the proof give.
- `corrected`: the complete statement in the corrected reading.
- `experimental`: Appendix H.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.quantities import LARGEST_COUNT
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
from epsilond.calibrators.mb_sgd.problem import READINGS, MbSgdProblem, MiniBatchProblem, Reading, Run

if TYPE_CHECKING:
    from epsilond.accountants.theorem import Outputs, Theorem
    from epsilond.calibrators.answer import PrintedReading, TrueFigures
    from epsilond.calibrators.certificates import Truth

READ_AS: dict[Reading, tuple[Variant, TheoremReading]] = {
    "informal": ("informal", "printed"),
    "complete": ("complete", "printed"),
    "proof": ("complete", "printed"),
    "corrected": ("complete", "corrected"),
}
SHOWN = ("step_size", "envelope_smoothness", "excess_risk_scale")
CLAIMED = ("excess_risk_at_effective_participants",)
"""Further parameters of a statement that claims a risk."""
PROOF_FAILS = "a condition of the printed proof fails at these numbers"
IDENTICAL = ConditionResult(
    "identical-clients",
    "all records are identically distributed, over all clients (for the risk, not for the privacy)",
    Verdict.NO,
)


def printed_theorem(problem: MbSgdProblem) -> Theorem:
    """Return Theorem 2.1 for smooth losses, and Theorem 2.2 for other losses."""
    return THEOREM_2_1 if problem.smoothness is not None else THEOREM_2_2


def theorem_of(problem: MbSgdProblem) -> str:
    """Return the id of the registered theorem."""
    return printed_theorem(problem).id


def printed_readings(
    problem: MbSgdProblem, run: Run, members: tuple[Member, ...], truth: Truth[Member]
) -> tuple[PrintedReading, ...]:
    """Return the parameters that the paper prints for the request, next to the guarantee that is certified at them.

    A reading is one interpretation of a printed statement; the module lists them. The theorems prescribe no batch, so
    that of the run is used. Appendix H prescribes a batch but no rounds, so the rounds of the run are used. The
    informal statements are for equal clients. All statements are about records, so nothing is returned for the unit
    `client`. With several groups each reading shows the group whose true ε exceeds the promised one by the largest
    factor.

    Args:
        problem: the request; it may restrict the readings and fix the rounds.
        run: the run of the answer.
        members: one entry for each kind of client.
        truth: function that certifies a client's ε and δ at a printed noise multiplier.
    """
    if problem.unit == "client":
        return ()
    requested = READINGS if problem.readings is None else problem.readings
    equal = theorem_inputs(problem, run, None).all_equal
    return tuple(
        _experimental(problem, members, truth)
        if reading == "experimental"
        else _reading(problem, run, members, reading, truth)
        for reading in READINGS
        if reading in requested and (equal or reading != "informal") and (reading != "experimental" or _draws(problem))
    )


def _draws(problem: MbSgdProblem) -> bool:
    """Return whether batches are random, as in the experiments."""
    return problem.sampling != "full"


# What the theorems prescribe ----------------------------------------------------------------------------------------
def theorem_inputs(
    problem: MbSgdProblem, run: Run, rounds: int | None, variant: Variant = "complete"
) -> SmoothInputs | NonsmoothInputs:
    """Return the inputs of Theorem 2.1 or 2.2 of Lowy and Razaviyayn for a request.

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
    """Return the rounds, step size and risk of the full statement of Theorem 2.1 or 2.2.

    Args:
        problem: the request.
        run: the run, of which only the batch size is used.
        rounds: the number of rounds, or None for the number that the theorem prescribes.
        reading: whether the formula is as printed, or has its known errors corrected.
    """
    return theorem_inputs(problem, run, rounds).prescription(reading)


def printed_noise_std(member: Member) -> float:
    """Return σ of Theorem 2.1 of Lowy and Razaviyayn, at the member's own weighted Lipschitz constant.

    The paper prints the largest constant of all clients for each client, which is corrected here. Both agree if clients
    are equal.
    """
    return noise_std(
        lipschitz=member.lipschitz,
        samples_per_client=member.samples_per_client,
        rounds=member.rounds,
        epsilon=member.target.epsilon,
        log_delta=member.target.log_delta,
    )


# The client whose true ε exceeds the printed one most --------------------------------------------------------------
@dataclass(frozen=True)
class AtPrinted:
    """A kind of client at the printed parameters: its printed σ, and the ε and δ certified at that σ, if known."""

    member: Member
    std: float
    true: TrueFigures | None

    @property
    def multiplier(self) -> float:
        """σ over the norm bound of one record's contribution."""
        return self.std * self.member.batch_size / self.member.lipschitz

    @property
    def exceeded(self) -> float:
        """Ratio of the true ε to the ε of the target. If the true ε is unknown, 1/multiplier is used for it."""
        true = self.true.epsilon.upper if self.true else 1.0 / self.multiplier
        return true / self.member.target.epsilon


def worst_of(figures: Iterable[AtPrinted]) -> AtPrinted:
    """Return the entry with the largest ratio of its true ε to the ε of its target."""
    return max(figures, key=lambda entry: entry.exceeded)


def noise_parameters(problem: MiniBatchProblem, at: AtPrinted, rounds: float) -> dict[str, float]:
    """Return the parameters that a printed statement prescribes for one kind of client, by their names in the answer.

    Args:
        problem: the request. If it has groups of clients, the index of the client's group is added.
        at: the kind of client with its printed σ.
        rounds: the prescribed number of rounds; a float if it is too large for an integer field.
    """
    parameters = {
        "noise_std": at.std,
        "noise_multiplier": at.multiplier,
        "batch_size": at.member.batch_size,
        "rounds": rounds,
    }
    if problem.client_groups:
        parameters["group"] = at.member.place
    return parameters


def worst_at(members: Sequence[Member], stds: Sequence[float], truth: Truth[Member], *, rounds: int) -> AtPrinted:
    """Return the kind of client with the largest ratio of its true ε to the ε of its target, at the printed noise.

    If the rounds exceed `LARGEST_COUNT`, no true ε is computed, and 1/multiplier is used for it.

    Args:
        members: one entry for each kind of client.
        stds: the printed σ of each.
        truth: function that certifies a client's ε and δ at a printed noise multiplier.
        rounds: the printed number of rounds.
    """

    def at(member: Member, std: float) -> AtPrinted:
        true = None
        if rounds <= LARGEST_COUNT:
            true = truth(member, std * member.batch_size / member.lipschitz)
        return AtPrinted(member, std, true)

    return worst_of(map(at, (replace(member, rounds=rounds) for member in members), stds))


# Readings -----------------------------------------------------------------------------------------------------------
def _reading(
    problem: MbSgdProblem, run: Run, members: tuple[Member, ...], reading: Reading, truth: Truth[Member]
) -> PrintedReading:
    """Evaluate Theorem 2.1 or 2.2 in one reading, and state its parameters, its claims and the true figures.

    The reading has the status `unproved` if its sampling of batches is not that of the proof. The reading `proof` has
    this status also if a condition of the proof is not known to hold.

    Args:
        problem: the request; its rounds are used if given, and otherwise those that the theorem prescribes.
        run: the run, of which only the batch size is used.
        members: one entry for each kind of client.
        reading: the reading.
        truth: function that certifies a client's ε and δ at a printed noise multiplier.
    """
    variant, formula = READ_AS[reading]
    theorem = printed_theorem(problem)
    evaluation = TheoremAtInputs(theorem, theorem_inputs(problem, run, problem.rounds, variant), formula)
    outputs = evaluation.outputs
    rounds = outputs["rounds"]
    members = tuple(replace(member, rounds=rounds) for member in members)
    stds = [group["noise_std"] for group in outputs.get("groups", (outputs,))]
    worst = worst_at(members, stds, truth, rounds=rounds)
    conditions = _conditions(problem, evaluation, reading, members)
    reason = REASONS.get(problem.sampling)
    failing = [condition.id for condition in conditions if condition.holds != Verdict.YES]
    if reading == "proof" and reason is None and failing:
        reason = f"{PROOF_FAILS}: {', '.join(failing)}"
    names = SHOWN if reading == "proof" else SHOWN + CLAIMED
    parameters = noise_parameters(problem, worst, rounds if rounds < LARGEST_COUNT else float(rounds))
    parameters |= {name: outputs[name] for name in names if name in outputs}
    return make_reading(
        evaluation,
        reading=reading,
        status=Status.PROVED if reason is None else Status.UNPROVED,
        parameters=parameters,
        claims=claims(worst.member.target, _claimed_risk(problem, reading, outputs)),
        true=worst.true,
        conditions=conditions,
        reason=reason,
    )


def _claimed_risk(problem: MbSgdProblem, reading: Reading, outputs: Outputs) -> float | None:
    """Return the excess risk that the theorem claims, or for the reading `proof` the sum of the terms in its proof.

    The result is None if records are not identically distributed, because the theorems then claim no risk, or if the
    claim has no explicit constant.
    """
    if not problem.identically_distributed:
        return None
    claimed: float | None = outputs.get("proof_excess_risk" if reading == "proof" else "excess_risk")
    return claimed


def _experimental(problem: MbSgdProblem, members: tuple[Member, ...], truth: Truth[Member]) -> PrintedReading:
    """Evaluate Appendix H of Lowy and Razaviyayn, the parameters of their experiments, at the run's rounds.

    The appendix prescribes σ and a batch size K, which is rounded up and is at most the number of records n. With
    several kinds of clients, the one with the largest ratio of its true ε to the ε of its target is shown.

    Args:
        problem: the request.
        members: one entry for each kind of client, with the run's rounds.
        truth: function that certifies a client's ε and δ at a printed noise multiplier.
    """

    def evaluate(member: Member) -> TheoremAtInputs:
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

    def at_printed(member: Member) -> AtPrinted:
        outputs = evaluate(member).outputs
        with_printed_batch = replace(member, batch_size=outputs["batch_size"])
        true = truth(with_printed_batch, outputs["noise_multiplier"])
        return AtPrinted(with_printed_batch, outputs["noise_std"], true)

    worst = worst_of([at_printed(member) for member in members])
    (batch_fits,) = APPENDIX_H.conditions
    sides = binding_sides(
        [Sides.at_most(evaluate(member).inputs.real_batch, member.samples_per_client) for member in members]
    )
    return make_reading(
        evaluate(worst.member),
        reading="experimental",
        status=Status.REFUTED,
        parameters=noise_parameters(problem, worst, worst.member.rounds),
        claims=claims(worst.member.target),
        true=worst.true,
        conditions=(
            ConditionResult(batch_fits.id, batch_fits.statement, sides.holds, sides.left, sides.right),
            ConditionResult("side-condition", "c₁ > 4; the cited theorem does not give c₁", Verdict.UNDECIDABLE),
        ),
    )


# Conditions ---------------------------------------------------------------------------------------------------------
def _excluded_conditions(problem: MbSgdProblem, reading: Reading) -> tuple[str, ...]:
    """Return the ids of the theorem's conditions that do not apply to a reading of this request."""
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
    """Return the conditions of the printed theorem or, for the reading `proof`, of the steps of its proof.

    Poisson batches add a condition that fails. So do records that are not identically distributed, except for `proof`.

    Args:
        problem: the request.
        evaluation: the theorem at the request's inputs.
        reading: the reading, which determines the conditions that apply.
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
    """Check the two steps of the printed proof of privacy; each condition is shown for the client that is worst.

    The ε of one round before subsampling must be at most 1. The composition of all rounds must be at most ε.
    """
    chains = [
        (
            member,
            proof_chain(
                samples_per_client=member.samples_per_client,
                batch_size=member.batch_size,
                rounds=member.rounds,
                epsilon=member.target.epsilon,
                log_delta=member.target.log_delta,
            ),
        )
        for member in members
    ]
    inner = binding_sides([Sides.at_most(chain.inner_epsilon, 1.0) for _, chain in chains])
    closes = binding_sides([Sides.at_most(chain.printed_total, member.target.epsilon) for member, chain in chains])
    return [
        _result("inner-epsilon", "ε of one round before sampling is at most 1", inner),
        _result(
            "composition-closes", "the printed composition of the rounds (Dwork and Roth 3.20) is at most ε", closes
        ),
    ]


def _result(name: str, statement: str, sides: Sides) -> ConditionResult:
    return ConditionResult(name, statement, sides.holds, sides.left, sides.right)
