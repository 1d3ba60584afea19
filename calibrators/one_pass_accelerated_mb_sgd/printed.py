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

    A reading is an interpretation of the theorem: `informal` in the main text, `complete` in the appendix, `corrected`.
    The batch size is the requested one, or follows from the requested rounds. If both are open, the reading prescribes
    it. `excess_risk_scale` is the claimed risk up to hidden constants and logarithms, and `informal_excess_risk_scale`
    is the one of the main text.

    Args:
        problem: the request, which may select readings and names the protected unit.
        run: the run of the answer.
        truth: function that certifies a client's ε and δ at a printed noise multiplier.

    Returns:
        The readings. Empty if whole clients are protected or clients differ, because the theorem is about records of
        equal clients.
    """
    clients = distinct_clients(members_of(problem, run))
    if problem.unit == "client" or len(clients) > 1:
        return ()
    requested = READINGS if problem.readings is None else problem.readings
    return tuple(_reading(problem, clients[0], reading, truth) for reading in READINGS if reading in requested)


def distinct_clients(members: Sequence[Member]) -> tuple[Member, ...]:
    """Return the distinct kinds of clients, where their number and their index in the request do not count."""
    return tuple({replace(member, place=0, clients=1): member for member in members}.values())


def _reading(problem: OnePassProblem, member: Member, reading: Reading, truth: Truth[Member]) -> PrintedReading:
    """Evaluate one interpretation of Theorem 2.3 of Lowy and Razaviyayn, with the certified ε and δ, for equal clients.

    Args:
        problem: the request, with the losses and, if it gives them, the batch size and the rounds.
        member: one of the clients, with its target, records and batch size.
        reading: `informal` for the statement of the main text, `complete` for that of the appendix, or `corrected`.
        truth: function that certifies a client's ε and δ at a printed noise multiplier.

    Returns:
        The interpretation ("reading"): the parameters that it prescribes, the (ε, δ) that it claims, its conditions,
        and the certified ε and δ at its parameters.
    """
    # Evaluate the theorem with the formulas of the paper, or with its errors corrected.
    formula: TheoremReading = "corrected" if reading == "corrected" else "printed"
    theorem_at_inputs = TheoremAtInputs(THEOREM_2_3, _inputs(problem, member, reading), formula)
    outputs = theorem_at_inputs.outputs

    # The prescribed parameters, with the order of the risk in the main text or in the appendix.
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

    The batch size is the one of the request if given. Otherwise it is ⌊n/R⌋, for n records and the R rounds of the
    request; for `informal`, R may be the number that the statement prescribes. If neither is given, the batch size is
    None, and the theorem prescribes it.

    Args:
        problem: the request, with the losses and, if it gives them, the batch size and the rounds.
        member: the kind of client, with its target, records and batch size.
        reading: name of the interpretation of the theorem.

    Returns:
        The inputs, with at least one record in a batch.
    """
    # The inputs with the batch size of the request, if it states one.
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

    # Divide the records by the rounds: those of the request, or those that the informal statement prescribes.
    rounds = problem.rounds
    if rounds is None and reading == "informal":
        rounds = math.ceil(informal_rounds(inputs.run))
    if rounds is None:
        return inputs
    return replace(inputs, batch_size=max(1, member.samples_per_client // max(1, rounds)))
