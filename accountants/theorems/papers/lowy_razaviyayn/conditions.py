"""Conditions that the statements of Lowy and Razaviyayn share: the range of ε, batches, rounds and shares."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from epsilond.accountants.theorem import Condition, Outputs, Sides
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import epsilon_limit, minimal_batch_size_real
from epsilond.accountants.theorems.papers.lowy_razaviyayn.run import BatchRunInputs
from epsilond.accountants.verdict import Verdict


def binding_sides(sides_of_clients: Iterable[Sides]) -> Sides:
    """Return the two sides of an inequality for the client that decides whether it holds for all clients.

    If the inequality fails for some clients, the failing client with the largest relative difference of the sides
    decides. Otherwise it is the client with the smallest difference, which is the closest to failing.

    Args:
        sides_of_clients: left and right side for each client, at least one.

    Returns:
        Left and right side for the deciding client, and whether the inequality holds for it.
    """
    instances = list(sides_of_clients)
    failing = [sides for sides in instances if sides.holds == Verdict.NO]

    def relative_difference(sides: Sides) -> float:
        """Return |left − right| over the larger absolute value; 0 if both sides are 0."""
        smallest_divisor = 1e-300  # avoids 0/0
        magnitude = max(abs(sides.left), abs(sides.right), smallest_divisor)
        return abs(sides.left - sides.right) / magnitude

    if failing:
        return max(failing, key=relative_difference)
    return min(instances, key=relative_difference)


def epsilon_range(inputs: BatchRunInputs) -> Sides:
    """Compare ε of each client with the largest ε for which the requested theorem is stated.

    Args:
        inputs: the run and the requested statement (`variant`), in the main text or in the appendix.

    Returns:
        ε and its limit, and whether ε is at most the limit, for the client that decides it for all.
    """
    return binding_sides(
        Sides.at_most(kind.epsilon, epsilon_limit(log_delta=kind.log_delta, reading=inputs.variant))
        for kind in inputs.kinds
    )


def _large_enough_batch(inputs: BatchRunInputs, outputs: Outputs) -> Sides:
    """Compare each client's batch size with the least one for which the privacy proof holds at the rounds of the run.

    Args:
        inputs: the run.
        outputs: the evaluated theorem, with the number of `rounds`.

    Returns:
        The batch size, its minimum, and whether the size is large enough, for the client that decides it for all.
    """
    return binding_sides(
        Sides.at_least(kind.batch_size, minimal_batch_size_real(rounds=outputs["rounds"], **kind.records_and_target))
        for kind in inputs.kinds
    )


def _drawn_once(inputs: BatchRunInputs) -> Sides:
    """Compare the largest number of times that a record may be drawn into one batch with 1.

    Args:
        inputs: the run. With replacement, a record may be drawn as often as a batch has places.

    Returns:
        The largest number of times, the number 1, and whether no record is drawn twice.
    """
    times_drawn = 1
    if inputs.sampling == "with-replacement":
        times_drawn = max(kind.batch_size for kind in inputs.kinds)
    return Sides.at_most(times_drawn, 1)


def _shares(inputs: BatchRunInputs) -> Sides:
    """Compare the least and the largest sampling rate K_i/n_i of the clients, exactly.

    The condition holds if they are equal, and for the informal statement, where all clients are equal.

    Args:
        inputs: the run, with batches of K_i of n_i records for client i.

    Returns:
        The least rate, the largest rate, and whether they are equal.
    """
    shares = [Fraction(kind.batch_size, kind.samples_per_client) for kind in inputs.kinds]
    least, largest = min(shares), max(shares)
    are_equal = least == largest or inputs.variant == "informal"
    return Sides(Verdict.of(are_equal), float(least), float(largest))


def _logarithm(*, outputs: Outputs) -> Sides:
    """Compare the argument of the logarithm in the prescription with 1.

    The argument counts as infinite if the prescription has no logarithm.
    """
    argument = outputs.get("logarithm_argument_term", math.inf)
    return Sides.above(argument, 1.0)


MINIMAL_BATCH = Condition(
    "minimal-batch-size",
    "a batch of a run of R rounds has K ≥ ε n/(4 √(2R ln(2/δ))) of the client's own n records",
    _large_enough_batch,
    of_outputs=True,
)
DRAWN_ONCE = Condition("drawn-once", "no record is drawn into a batch more than once (times drawn ≤ 1)", _drawn_once)
PRESCRIBED_ROUNDS = Condition(
    "prescribed-rounds",
    "R is at least the prescribed number of rounds",
    lambda _inputs, outputs: Sides.at_least(outputs["rounds"], outputs["prescribed_rounds"]),
    of_outputs=True,
)
EQUAL_SHARES = Condition(
    "equal-shares",
    "the share K_i/n_i of a client's records in its batch is the same for all clients (least and largest)",
    _shares,
)
LOGARITHM_ABOVE_ONE = Condition(
    "logarithm",
    "the argument of the logarithm in the prescription exceeds 1 (it is unbounded without strong convexity)",
    _logarithm,
    of_outputs=True,
)
