"""The spec of a mechanism that runs on batches, of which each unit is in a random set of a fixed size."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import Quantity, Tagged, request
from epsilond.accountants.quantities.mechanisms import ALLOCATED_STEPS, EPOCHS, KEPT, TIMES_CHOSEN
from epsilond.accountants.specs.mechanisms import Mechanism
from epsilond.accountants.specs.primitives import KIND, Primitive

MECHANISM = Quantity(description="mechanism that is run on every batch")


@request
class RandomAllocation:
    """Runs `mechanism` on `steps` batches in each of `epochs` epochs. A unit is in `times_chosen` batches of each.

    The batches of a unit are a uniformly random set of that many batches. If `kept` is false, the set is drawn again in
    every epoch. If `kept` is true, the set of the first epoch serves in all epochs. The unit is the protected one.

    Admits: a set for each unit that is independent of the data and of the sets of all other units. The size of a batch
    is then random. A batch may depend on outputs of earlier batches. The sets stay secret. Under replace-one and
    zero-out-one a mechanism that is no noisy sum may act differently on a batch without the unit. The bound then also
    holds if the sets are public.

    Not covered: batches of a fixed size, such as those of a shuffled list, where the sets depend on each other.
    """

    primitive: ClassVar[Primitive | None] = None
    kind: Annotated[Literal["random_allocation"], KIND] = "random_allocation"
    steps: Annotated[int, ALLOCATED_STEPS]
    times_chosen: Annotated[int, TIMES_CHOSEN]
    kept: Annotated[bool, KEPT]
    epochs: Annotated[int, EPOCHS]
    mechanism: Annotated[Mechanism, Tagged("kind"), MECHANISM]

    def check(self) -> None:
        """Require at most as many chosen batches as there are."""
        if self.times_chosen > self.steps:
            message = "more batches are chosen than an epoch has"
            raise InvalidInput.at("/times_chosen", message, allowed=f"≤ {self.steps}")
