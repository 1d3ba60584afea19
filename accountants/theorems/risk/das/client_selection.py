"""The constant by which the draw of clients enters the bounds on FedAvg of Das et al."""

from __future__ import annotations


def selection_constant(*, clients: int, participants: int) -> float:
    """Return the constant c of the draw of r of n clients in the step sizes and bounds of FedAvg in Das et al.

        c = max(2 + 23(n − r)/(r(n − 1)), 64n(r − 1)/(r(n − 1))) for r < n,  and 64 for r = n.

    Args:
        clients: number n of clients, at least 1.
        participants: number r of clients that are drawn in a round, from 1 to n.

    Returns:
        The constant c, without a unit. The bounds grow in proportion to it.
    """
    # For r = n the second number is 64, and the first one is only 2. The early return also avoids 0/0 for n = 1.
    if participants == clients:
        return 64.0
    divisor = participants * (clients - 1)
    by_absent_clients = 2.0 + 23.0 * (clients - participants) / divisor
    by_participants = 64.0 * clients * (participants - 1) / divisor
    return max(by_absent_clients, by_participants)
