"""Traffic of a plan's calibrations: bits of the whole run, and bytes and reports of a client."""

from __future__ import annotations

import math

from epsilond.accountants.json_types import JsonObject
from epsilond.calibrators.planning.limits import participation_rate
from epsilond.calibrators.planning.problem import PlanProblem


def bytes_per_client(plan: PlanProblem, bits: int | None) -> float | None:
    """Return the bytes that one client sends over the run on average, from the bits of all clients.

    Args:
        plan: the plan, with the number of clients.
        bits: bits of all clients; None if unknown.

    Returns:
        The mean number of bytes; None if the bits or the number of clients is unknown.
    """
    if bits is None or not plan.clients:
        return None
    return bits / 8 / plan.clients


def reports_per_client(plan: PlanProblem, rounds: int | None) -> float | None:
    """Return the expected number of rounds in which a client reports.

    Args:
        plan: the plan, with the number of clients and of participants.
        rounds: rounds of the run; None if unknown.

    Returns:
        The number; None if the rounds or the number of clients is unknown.
    """
    if rounds is None or not plan.clients:
        return None
    return float(rounds * participation_rate(plan))


def total_bits(communication: JsonObject) -> int | None:
    """Read the bits that all clients send over the run from the JSON form of an answer's communication.

    Args:
        communication: the JSON object; empty if the answer states no traffic.

    Returns:
        The number of bits: the expectation, rounded up, if the number of participants is random. None if the answer
        states no traffic.
    """
    if "expected_total_bits" in communication:
        return math.ceil(float(communication["expected_total_bits"]))
    exact: str | int | None = communication.get("total_bits_exact", communication.get("total_bits"))
    return None if exact is None else int(exact)
