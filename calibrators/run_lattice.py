"""The runs within a budget that are compared: a lattice of numbers of rounds and batch sizes."""

from __future__ import annotations

import functools
from collections.abc import Callable

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.numerics.root_search import bisect_integers
from epsilond.calibrators.mb_sgd.problem import Run

ROUNDS_RATIO, BATCH_RATIO = 1.1, 2.0
"""Ratios of neighbouring values of rounds and of batch sizes in the lattice that is searched."""
MOST_ROUNDS = 10**9
"""Largest number of rounds that is chosen. A longer run is answered only if the request gives its rounds."""


def lattice(most: int, ratio: float) -> tuple[int, ...]:
    """Return integers from 1 to `most`, both included, that grow nearly geometrically.

    Each integer is about `ratio` times the previous one, and at least 1 larger. The last step may be shorter.

    Args:
        most: the largest integer; the result is empty if it is below 1.
        ratio: ratio of neighbouring integers, above 1.

    Returns:
        The integers in ascending order.
    """
    if most < 1:
        return ()
    values = [1]
    while values[-1] < most:
        next_value = max(values[-1] + 1, int(values[-1] * ratio))
        values.append(min(most, next_value))
    return tuple(values)


def runs_within(
    most_rounds: Callable[[int], int], *, rounds: int | None, batch_size: int | None, largest_batch: int
) -> list[Run]:
    """List the runs to compare: rounds and batch sizes that grow geometrically, within the budgets.

    The rounds have a ratio of `ROUNDS_RATIO`, and the batch sizes one of `BATCH_RATIO`. At each number of rounds the
    largest batch that the budgets allow is included.

    Args:
        most_rounds: function that returns the largest number of rounds that the budgets allow at a batch size. It must
            not increase with the batch size.
        rounds: the number of rounds; None if it is open.
        batch_size: the batch size; None if it is open.
        largest_batch: the largest batch size to try.

    Returns:
        The runs by increasing rounds, and by increasing batch size among runs with equal rounds.

    Raises:
        InvalidInput: the budgets leave no run.
    """
    rounds_limit = functools.cache(most_rounds)
    if rounds is None:
        longest = min(rounds_limit(batch_size or 1), MOST_ROUNDS)
        all_rounds = lattice(longest, ROUNDS_RATIO)
    else:
        all_rounds = (rounds,)

    runs = []
    for count in all_rounds:
        if batch_size is None:
            sizes = lattice(_largest_batch(rounds_limit, count, largest_batch), BATCH_RATIO)
        else:
            sizes = (batch_size,)
        runs += [Run(batch_size=size, rounds=count) for size in sizes if count <= rounds_limit(size)]
    if not runs:
        raise InvalidInput.at("/max_gradients", "does not pay for the rounds; its default is 1000 · samples_per_client")
    return runs


def _largest_batch(most_rounds: Callable[[int], int], rounds: int, largest_batch: int) -> int:
    """Return the largest batch size with which the budgets pay for a number of rounds.

    Args:
        most_rounds: function that returns the largest number of rounds that the budgets allow at a batch size. It must
            not increase with the batch size.
        rounds: number of rounds.
        largest_batch: the largest batch size to try.

    Returns:
        The batch size, by bisection; 0 if there is none.
    """
    return bisect_integers(lambda size: rounds <= most_rounds(size), 0, largest_batch + 1)
