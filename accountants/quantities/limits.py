"""Quantities that limit the choice of a run: budgets, traffic, and the tolerance of the choice."""

from __future__ import annotations

from typing import Annotated

from epsilond.accountants.quantities.ranges import count, positive
from epsilond.accountants.quantity import Quantity

MAX_GRADIENTS = count("", "largest number of gradient evaluations of one client, which limits batch_size · rounds")


COMMUNICATION_BUDGET = count("", "largest number of bits that all clients together may send during the run", unit="bit")


MAX_ROUNDS = count("", "largest number of rounds that may be chosen, if rounds is absent")


MAX_BYTES_PER_CLIENT = count(
    "",
    "largest expected number of bytes that one client sends during the run, over the random draw of participants",
    unit="byte",
)


MAX_REPORTS_PER_CLIENT = positive(
    "", "largest expected number of rounds in which one client takes part, over the random draw of participants"
)


WITHIN = Quantity(
    ge=0,
    le=1e6,
    description="tolerance of the choice of absent rounds or batch_size. The smallest run is chosen whose risk "
    "bound is at most 1 + within times the least within the budgets",
)


Within = Annotated[float, WITHIN]
