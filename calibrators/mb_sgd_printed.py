"""Theorems 2.1 and 2.2 and Appendix H as printed, reading by reading, beside what is true at their parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from accountants.quantities import LARGEST_COUNT
from accountants.theorem import ConditionResult, Sides, Status
from accountants.theorems.lowy_appendix_h import (
    experimental_batch_size,
    experimental_noise_std,
)
from accountants.theorems.lowy_noise import (
    BATCH,
    DRAWN_ONCE,
    epsilon_limit,
    minimal_batch_size_real,
    noise_std,
    proof_chain,
)
from accountants.theorems.lowy_nonsmooth import (
    EnvelopePrescription,
    complete_convex_envelope,
    complete_strongly_convex_envelope,
)
from accountants.theorems.lowy_smooth import Prescription, complete_convex, complete_strongly_convex
from calibrators.answer import PrintedReading, TrueFigures
from calibrators.envelope import claims, condition_answers
from calibrators.mb_sgd_members import Member, federation_of, members_of, scales_of
from calibrators.mb_sgd_problem import READINGS, MbSgdProblem, Reading, Run

if TYPE_CHECKING:
    from accountants.theorem import Condition

EXPERIMENTAL = "lowy.appendix-h"
RANGES: dict[Reading, str] = {"informal": "ε ≤ 2 ln(2/δ)", "complete": "ε ≤ ln(2/δ)"}

Truth = Callable[[Member, int, float], TrueFigures | None]
"""(member, rounds, noise multiplier) ↦ what is true there, for a record under replace-one."""


def theorem_of(problem: MbSgdProblem) -> str:
    """2.1 for smooth losses, 2.2 for others."""
    return "lowy.2.1" if problem.smoothness is not None else "lowy.2.2"


def printed_readings(problem: MbSgdProblem, run: Run, truth: Truth) -> tuple[PrintedReading, ...]:
    """Every reading asked for that there is.

    The complete reading is taken at the rounds the request gives, or else at those it prescribes; the others at the
    run's own rounds. The informal statements are for equal clients. The theorems speak of records: for the unit
    `client` there is nothing to print. Of several groups each reading shows the one whose promise it keeps least.
    """
    if problem.unit == "client":
        return ()
    asked = READINGS if problem.readings is None else problem.readings
    equal = len(federation_of(problem, members_of(problem, run)).groups) == 1
    return tuple(
        _experimental(problem, run, truth) if reading == "experimental" else _reading(problem, run, reading, truth)
        for reading in READINGS
        if reading in asked and (equal or reading != "informal")
    )


# What the theorems prescribe ----------------------------------------------------------------------------------------
def prescription_of(problem: MbSgdProblem, run: Run, rounds: int | None) -> Prescription:
    """The complete statement's rounds, step and risk, at the rounds given or as prescribed."""
    members, scales = members_of(problem, run), scales_of(problem)
    federation = federation_of(problem, members)
    lipschitz, mu = max(member.lipschitz for member in members), min(scales) * problem.strong_convexity
    if problem.smoothness is not None and mu > 0.0:
        return complete_strongly_convex(
            federation=federation,
            dimension=problem.dimension,
            lipschitz=lipschitz,
            diameter=problem.diameter,
            smoothness=max(scales) * problem.smoothness,
            strong_convexity=mu,
            rounds=rounds,
        )
    if problem.smoothness is not None:
        return complete_convex(
            federation=federation,
            dimension=problem.dimension,
            lipschitz=lipschitz,
            diameter=problem.diameter,
            smoothness=max(scales) * problem.smoothness,
            rounds=rounds,
        )
    if mu > 0.0:
        return complete_strongly_convex_envelope(
            federation=federation,
            dimension=problem.dimension,
            lipschitz=lipschitz,
            diameter=problem.diameter,
            strong_convexity=mu,
            rounds=rounds,
        )
    return complete_convex_envelope(
        federation=federation,
        dimension=problem.dimension,
        lipschitz=lipschitz,
        diameter=problem.diameter,
        rounds=rounds,
    )


def printed_noise_std(member: Member, rounds: int) -> float:
    """σ of Theorem 2.1, from the member's own weighted Lipschitz constant (Theorem E.1, Appendix B)."""
    return noise_std(
        lipschitz=member.lipschitz,
        samples_per_client=member.samples_per_client,
        rounds=rounds,
        epsilon=member.target.epsilon,
        log_delta=member.target.log_delta,
    )


# Readings -----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class _At:
    """A member at the printed parameters, and the truth there."""

    member: Member
    std: float
    true: TrueFigures | None

    @property
    def multiplier(self) -> float:
        return self.std * self.member.batch_size / self.member.lipschitz

    @property
    def exceeded(self) -> float:
        """The true ε over the promised one; without the truth, as little as the noise is large."""
        true = self.true.epsilon.upper if self.true else 1.0 / self.multiplier
        return true / self.member.target.epsilon


def _worst(found: Iterable[_At]) -> _At:
    return max(found, key=lambda one: one.exceeded)


def _parameters(problem: MbSgdProblem, at: _At, rounds: int) -> dict[str, float]:
    parameters = {
        "noise_std": at.std,
        "noise_multiplier": at.multiplier,
        "batch_size": at.member.batch_size,
        "rounds": rounds,
    }
    return parameters | ({"group": at.member.place} if problem.client_groups else {})


def _reading(problem: MbSgdProblem, run: Run, reading: Reading, truth: Truth) -> PrintedReading:
    found = None if reading == "informal" else prescription_of(problem, run, _rounds(problem, run, reading))
    rounds = min(found.rounds, LARGEST_COUNT) if found else run.rounds
    members = members_of(problem, run)

    def at(member: Member) -> _At:
        std = printed_noise_std(member, rounds)
        return _At(member, std, truth(member, rounds, std * member.batch_size / member.lipschitz))

    worst = _worst(map(at, members))
    parameters = _parameters(problem, worst, rounds)
    if found and found.step_size is not None:
        parameters["step_size"] = found.step_size
    if isinstance(found, EnvelopePrescription) and found.envelope_smoothness is not None:
        parameters["envelope_smoothness"] = found.envelope_smoothness
    conditions = _conditions(problem, run, reading, rounds)
    if found and reading == "complete":
        conditions.append(_enough_rounds(rounds, found))
    closed = reading != "proof" or all(one.holds is True for one in conditions)
    drawn_apart = problem.sampling in ("without-replacement", "full")
    return PrintedReading(
        theorem=theorem_of(problem),
        reading=reading,
        status=Status.PROVED if drawn_apart and closed else Status.UNPROVED,
        parameters=parameters,
        claims=claims(worst.member.target, _claimed_risk(problem, reading, found)),
        true=worst.true,
        conditions=condition_answers(conditions),
    )


def _rounds(problem: MbSgdProblem, run: Run, reading: Reading) -> int | None:
    return problem.rounds if reading == "complete" else run.rounds


def _claimed_risk(problem: MbSgdProblem, reading: Reading, found: Prescription | None) -> float | None:
    """The explicit bound of the statement; of the proof what it sums up, (27) or Lemma E.9 and the stability."""
    if found is None or not problem.identically_distributed:
        return None
    if reading == "complete":
        return found.excess_risk if found.constants == "explicit" else None
    gap = found.terms.get("smoothing_gap", 0.0)
    if "master" in found.terms:
        return found.terms["master"] + gap
    return found.terms["empirical"] + found.terms["stability"] + gap


def _experimental(problem: MbSgdProblem, run: Run, truth: Truth) -> PrintedReading:
    """Appendix H at the run's rounds: its own σ, and its K rounded up, at most n."""

    def real_batch(member: Member) -> float:
        return experimental_batch_size(
            samples_per_client=member.samples_per_client, rounds=run.rounds, epsilon=member.target.epsilon
        )

    def at(member: Member) -> _At:
        n = member.samples_per_client
        batch = n if problem.sampling == "full" else min(n, max(1, math.ceil(real_batch(member))))
        drawn = replace(member, batch_size=batch)
        std = experimental_noise_std(
            lipschitz=member.lipschitz,
            samples_per_client=n,
            rounds=run.rounds,
            epsilon=member.target.epsilon,
            log_delta=member.target.log_delta,
        )
        return _At(drawn, std, truth(drawn, run.rounds, std * batch / member.lipschitz))

    members = members_of(problem, run)
    worst = _worst(map(at, members))
    fits = (Sides.at_most(real_batch(member), member.samples_per_client) for member in members)
    return PrintedReading(
        theorem=EXPERIMENTAL,
        reading="experimental",
        status=Status.REFUTED,
        parameters=_parameters(problem, worst, run.rounds),
        claims=claims(worst.member.target),
        true=worst.true,
        conditions=condition_answers(
            (
                _binding("batch-of-records", "K = n√ε/(2√R) is at most n", fits),
                ConditionResult(
                    "side-condition",
                    "ε < c₁q²R of the theorem it cites, c₁ unspecified: as q²R = ε/4, that is c₁ > 4",
                    "undecidable",
                ),
            )
        ),
    )


# Conditions ---------------------------------------------------------------------------------------------------------
def _binding(name: str, statement: str, sides: Iterable[Sides]) -> ConditionResult:
    """Of several members the one that fails most, or else the one that comes closest to failing."""
    every = list(sides)
    failing = [one for one in every if one.holds is False]

    def apart(one: Sides) -> float:
        return abs(one.left - one.right) / max(abs(one.left), abs(one.right), 1e-300)

    chosen = max(failing, key=apart) if failing else min(every, key=apart)
    return ConditionResult(name, statement, chosen.holds, chosen.left, chosen.right)


def _conditions(problem: MbSgdProblem, run: Run, reading: Reading, rounds: int) -> list[ConditionResult]:
    members = members_of(problem, run)
    most = max(member.batch_size for member in members) if problem.sampling == "with-replacement" else 1
    once = _of(DRAWN_ONCE, Sides.at_most(most, 1))
    if reading == "proof":
        return [*_proof_conditions(members, rounds), once]

    def in_range(member: Member) -> Sides:
        limit = epsilon_limit(
            log_delta=member.target.log_delta, reading="informal" if reading == "informal" else "complete"
        )
        return Sides.at_most(member.target.epsilon, limit)

    results = [
        _binding("epsilon-range", RANGES[reading], map(in_range, members)),
        _binding(BATCH.id, BATCH.statement, (_batch(member, rounds) for member in members)),
        once,
    ]
    if reading == "complete" and problem.client_groups:
        shares = [Fraction(member.batch_size, member.samples_per_client) for member in members]
        least, largest = min(shares), max(shares)
        statement = "K_i/n_i is the same for all clients (least and largest)"
        results.append(ConditionResult("equal-shares", statement, least == largest, float(least), float(largest)))
    if not problem.identically_distributed:
        statement = "all records are identically distributed, over all clients (for the risk, not for the privacy)"
        results.append(ConditionResult("identical-clients", statement, False))
    return results


def _batch(member: Member, rounds: int) -> Sides:
    least = minimal_batch_size_real(
        samples_per_client=member.samples_per_client,
        rounds=rounds,
        epsilon=member.target.epsilon,
        log_delta=member.target.log_delta,
    )
    return Sides.at_least(member.batch_size, least)


def _proof_conditions(members: tuple[Member, ...], rounds: int) -> list[ConditionResult]:
    chains = [
        (
            member,
            proof_chain(
                samples_per_client=member.samples_per_client,
                batch_size=member.batch_size,
                rounds=rounds,
                epsilon=member.target.epsilon,
                log_delta=member.target.log_delta,
            ),
        )
        for member in members
    ]
    return [
        _binding(
            "inner-epsilon",
            "ε of one round before sampling is at most 1",
            (Sides.at_most(chain.inner_epsilon, 1.0) for _, chain in chains),
        ),
        _binding(
            "composition-closes",
            "the printed composition of the rounds (Dwork and Roth 3.20) is at most ε",
            (Sides.at_most(chain.printed_total, member.target.epsilon) for member, chain in chains),
        ),
    ]


def _of(condition: Condition, sides: Sides) -> ConditionResult:
    return ConditionResult(condition.id, condition.statement, sides.holds, sides.left, sides.right)


def _enough_rounds(rounds: int, found: Prescription) -> ConditionResult:
    enough = Sides.at_least(rounds, found.prescribed_rounds)
    return ConditionResult(
        "enough-rounds",
        "R is at least the prescribed number of rounds (for the risk, not for the privacy)",
        enough.holds,
        enough.left,
        enough.right,
    )
