"""Readings of Theorem 2.3, each with the certified guarantee at its noise."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from epsilond.accountants.theorem import Reading as TheoremReading
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
    """Evaluate Theorem 2.3 of Lowy and Razaviyayn for the request, in each requested reading.

    A reading is an interpretation of the theorem: `informal` is the statement of the main text, `complete` is that of
    the appendix, and `corrected` has its errors mended.

    Args:
        problem: the request, which may select readings and names the protected unit.
        run: the run of the answer, which decides whether clients differ.
        truth: function that certifies a client's ε and δ at a printed noise multiplier.

    Returns:
        The evaluated readings. Empty if whole clients are protected or clients differ, because the theorem is about
        records of equal clients.
    """
    clients = distinct_clients(members_of(problem, run))
    if problem.unit == "client" or len(clients) > 1:
        return ()
    requested = READINGS if problem.readings is None else problem.readings
    return tuple(_reading(problem, clients[0], reading, truth) for reading in READINGS if reading in requested)


def distinct_clients(members: Sequence[Member]) -> tuple[Member, ...]:
    """Return the kinds of clients that differ in more than the number of clients and the index in the request."""
    return tuple({replace(member, place=0, clients=1): member for member in members}.values())


def _reading(problem: OnePassProblem, member: Member, reading: Reading, truth: Truth[Member]) -> PrintedReading:
    """Evaluate one interpretation of Theorem 2.3 of Lowy and Razaviyayn, with the certified ε and δ, for equal clients.

    Args:
        problem: the request, with the losses and, if it gives them, the batch size and the rounds.
        member: one of the clients, with its target, records and batch size.
        reading: `informal` for the statement of the main text, `complete` for that of the appendix, or `corrected`.
        truth: function that certifies a client's ε and δ at a printed noise multiplier.

    Returns:
        The parameters that the theorem prescribes, the (ε, δ) that it claims, its conditions, and the certified ε and δ
        at its noise. The claimed excess risk is without constants and logarithms that the theorem hides.
    """
    formula: TheoremReading = "corrected" if reading == "corrected" else "printed"
    theorem_at_inputs = TheoremAtInputs(THEOREM_2_3, _inputs(problem, member, reading), formula)
    outputs = theorem_at_inputs.outputs

    # The main text and the appendix claim different orders of the risk.
    is_informal = reading == "informal"
    risk_name = "informal_excess_risk_scale" if is_informal else "excess_risk_scale"
    parameters = {name: outputs[name] for name in (*SHOWN, risk_name)}
    return printed_reading(
        problem,
        theorem_at_inputs,
        reading,
        parameters=parameters,
        target=member.target,
        true=truth(member, outputs["noise_multiplier"]),
        excluded=() if is_informal else ("informal-participation",),
    )


def _inputs(problem: OnePassProblem, member: Member, reading: Reading) -> OnePassInputs:
    """Return the inputs of Theorem 2.3 of Lowy and Razaviyayn for one client.

    The batch size is that of the request. If the request leaves it open, it is ⌊n/R⌋ for n records and the R rounds of
    the request. If these are open too, `informal` takes the R that its statement prescribes. The other readings have no
    batch size (None), because the theorem prescribes it.

    Args:
        problem: the request, with the losses and, if it gives them, the batch size and the rounds.
        member: the kind of client, with its target, records and batch size.
        reading: name of the interpretation of the theorem.

    Returns:
        The inputs, with at least one record in a batch.
    """
    target = member.target
    inputs = inputs_of(
        OnePassInputs,
        problem,
        epsilon=target.epsilon,
        delta=target.delta,
        log10_delta=target.log10_delta if target.delta is None else None,
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
    if rounds is None:
        return inputs
    return replace(inputs, batch_size=max(1, member.samples_per_client // max(1, rounds)))
