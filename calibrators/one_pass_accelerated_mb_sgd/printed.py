"""Readings of Theorem 2.3, each with the certified guarantee at its noise."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from epsilond.accountants.theorems.risk.lowy_razaviyayn.one_pass import THEOREM_2_3, OnePassInputs
from epsilond.accountants.theorems.risk.lowy_razaviyayn.one_pass_rates import informal_rounds
from epsilond.calibrators.accelerated_mb_sgd.answer import printed_reading
from epsilond.calibrators.accelerated_mb_sgd.problem import READINGS
from epsilond.calibrators.envelope import TheoremAtInputs, inputs_of
from epsilond.calibrators.mb_sgd.members import Member, members_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.calibrators.answer import PrintedReading
    from epsilond.calibrators.certificates import Truth
    from epsilond.calibrators.mb_sgd.problem import Reading, Run
    from epsilond.calibrators.one_pass_accelerated_mb_sgd.problem import OnePassProblem

SHOWN = ("noise_std", "noise_multiplier", "batch_size", "rounds", "regularization")


def printed_readings(problem: OnePassProblem, run: Run, truth: Truth[Member]) -> tuple[PrintedReading, ...]:
    """Return the readings of Theorem 2.3 at the request's batch or rounds, or at those that the reading prescribes.

    `excess_risk_scale` is its risk up to the constants and logarithms that it hides. `informal_excess_risk_scale` is
    that of the main text. The theorem is about records of equal clients. Other requests have no readings.

    Args:
        problem: the request.
        run: the run of the answer.
        truth: returns the figures certified of a member at a printed noise multiplier.
    """
    clients = distinct_clients(members_of(problem, run))
    if problem.unit == "client" or len(clients) > 1:
        return ()
    requested = READINGS if problem.readings is None else problem.readings
    return tuple(_reading(problem, clients[0], reading, truth) for reading in READINGS if reading in requested)


def distinct_clients(members: Sequence[Member]) -> tuple[Member, ...]:
    """Return the members that differ in more than their number of clients and their group."""
    return tuple({replace(member, place=0, clients=1): member for member in members}.values())


def _reading(problem: OnePassProblem, member: Member, reading: Reading, truth: Truth[Member]) -> PrintedReading:
    question = TheoremAtInputs(
        THEOREM_2_3, _inputs(problem, member, reading), "corrected" if reading == "corrected" else "printed"
    )
    outputs = question.outputs
    informal = reading == "informal"
    names = [*SHOWN, "informal_excess_risk_scale" if informal else "excess_risk_scale"]
    return printed_reading(
        problem,
        question,
        reading,
        parameters={name: outputs[name] for name in names},
        target=member.target,
        true=truth(member, outputs["noise_multiplier"]),
        excluded=() if informal else ("informal-participation",),
    )


def _inputs(problem: OnePassProblem, member: Member, reading: Reading) -> OnePassInputs:
    inputs = inputs_of(
        OnePassInputs,
        problem,
        epsilon=member.target.epsilon,
        delta=member.target.delta,
        log10_delta=member.target.log10_delta if member.target.delta is None else None,
        samples_per_client=member.samples_per_client,
        lipschitz=member.lipschitz,
        batch_size=None if problem.batch_size is None else member.batch_size,
        heterogeneity=problem.spread,
        initial_gap=problem.gap,
    )
    if problem.batch_size is not None:
        return inputs
    rounds = problem.rounds
    if rounds is None and reading == "informal":
        rounds = math.ceil(informal_rounds(inputs.run))
    return inputs if rounds is None else replace(inputs, batch_size=max(1, member.samples_per_client // max(1, rounds)))
