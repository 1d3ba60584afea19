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
    """Select the client that decides whether an inequality holds for all clients, and return its two sides.

    If the inequality fails for some clients, it is the failing client with the largest relative difference of the two
    sides. Otherwise it is the client with the smallest difference, which is the closest to failing.

    Args:
        sides_of_clients: left and right side for each client, at least one client.

    Returns:
        Left and right side for the selected client, and whether the inequality holds for it.
    """
    all_sides = list(sides_of_clients)
    failing = [sides for sides in all_sides if sides.holds == Verdict.NO]

    def relative_difference(sides: Sides) -> float:
        """Return |left − right| divided by the larger absolute value; 0 if both sides are 0."""
        smallest_divisor = 1e-300  # avoids a division by 0
        magnitude = max(abs(sides.left), abs(sides.right), smallest_divisor)
        return abs(sides.left - sides.right) / magnitude

    if failing:
        return max(failing, key=relative_difference)
    return min(all_sides, key=relative_difference)


def epsilon_range(inputs: BatchRunInputs) -> Sides:
    """Compare the ε of each client with the largest ε for which the requested theorem is stated.

    Args:
        inputs: the run and the requested statement (`variant`), of the main text or of the appendix.

    Returns:
        ε, its limit, and whether ε is at most the limit, for the client that is the closest to failing, or fails most.
    """
    return binding_sides(
        Sides.at_most(kind.epsilon, epsilon_limit(log_delta=kind.log_delta, reading=inputs.variant))
        for kind in inputs.kinds
    )


def _compare_batch_size(inputs: BatchRunInputs, outputs: Outputs) -> Sides:
    """Compare each client's batch size with the least one for which the privacy proof holds at the rounds of the run.

    Args:
        inputs: the run.
        outputs: the evaluated theorem, with the number of `rounds`.

    Returns:
        The batch size, its minimum, and whether the size is at least the minimum, for the client that is the closest to
        failing, or fails most.
    """
    return binding_sides(
        Sides.at_least(kind.batch_size, minimal_batch_size_real(rounds=outputs["rounds"], **kind.records_and_target))
        for kind in inputs.kinds
    )


def _compare_times_drawn(inputs: BatchRunInputs) -> Sides:
    """Compare the largest number of times that a record may be drawn into one batch with 1.

    Args:
        inputs: the run. With replacement, a batch may consist of one record only, repeated.

    Returns:
        The largest number of times, 1, and whether no record is drawn twice.
    """
    times_drawn = 1
    if inputs.sampling == "with-replacement":
        times_drawn = max(kind.batch_size for kind in inputs.kinds)
    return Sides.at_most(times_drawn, 1)


def _compare_sampling_rates(inputs: BatchRunInputs) -> Sides:
    """Compare the least and the largest sampling rate K_i/n_i of the clients, exactly.

    Args:
        inputs: the run, with batches of K_i of n_i records for client i.

    Returns:
        The least rate, the largest rate, and whether the condition holds: they are equal, or the statement is the
        informal one, in which all clients are equal.
    """
    rates = [Fraction(kind.batch_size, kind.samples_per_client) for kind in inputs.kinds]
    least, largest = min(rates), max(rates)
    are_equal = least == largest or inputs.variant == "informal"
    return Sides(Verdict.of(are_equal), float(least), float(largest))


def _compare_logarithm_argument(*, outputs: Outputs) -> Sides:
    """Compare the argument of the logarithm in the prescribed number of rounds with 1.

    The argument counts as infinite if the prescription has no logarithm.
    """
    argument = outputs.get("logarithm_argument_term", math.inf)
    return Sides.above(argument, 1.0)


MINIMAL_BATCH = Condition(
    "minimal-batch-size",
    "a batch of a run of R rounds has K ≥ ε n/(4 √(2R ln(2/δ))) of the client's own n records",
    _compare_batch_size,
    of_outputs=True,
)
DRAWN_ONCE = Condition(
    "drawn-once", "no record is drawn into a batch more than once (times drawn ≤ 1)", _compare_times_drawn
)
PRESCRIBED_ROUNDS = Condition(
    "prescribed-rounds",
    "R is at least the prescribed number of rounds",
    lambda _inputs, outputs: Sides.at_least(outputs["rounds"], outputs["prescribed_rounds"]),
    of_outputs=True,
)
EQUAL_SHARES = Condition(
    "equal-shares",
    "the share K_i/n_i of a client's records in its batch is the same for all clients (least and largest)",
    _compare_sampling_rates,
)
LOGARITHM_ABOVE_ONE = Condition(
    "logarithm",
    "the argument of the logarithm in the prescription exceeds 1 (it is unbounded without strong convexity)",
    _compare_logarithm_argument,
    of_outputs=True,
)
