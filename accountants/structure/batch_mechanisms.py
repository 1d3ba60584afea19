"""Whether the mechanism of a subsampled spec can run on its batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from epsilond.accountants.quantities import Level
from epsilond.accountants.specs import Composed, ProjectedSgd, Repeated, Shuffled, Subsampled
from epsilond.accountants.structure import inner

if TYPE_CHECKING:
    from epsilond.accountants.specs import Spec


def of_the_batch(spec: Spec) -> Iterator[Spec]:
    """Yield the mechanisms of a run that receive the whole batch as their data.

    The search goes through compositions, repetitions and batches of all units, because these pass on the batch
    unchanged. A mechanism that draws a random part of the batch is yielded, but no mechanism that runs on that part.

    Args:
        spec: specification of a mechanism that is run on a batch.

    Yields:
        Specifications of the mechanisms, in their order in the run.
    """
    is_full_batch = isinstance(spec, Subsampled) and spec.sampling == "full"
    if not isinstance(spec, Composed | Repeated) and not is_full_batch:
        yield spec
        return
    for mechanism in inner(spec):
        yield from of_the_batch(mechanism)


def misfit(spec: Subsampled, level: Level) -> str | None:
    """Return the reason why a mechanism does not fit the random batches that it is to run on; None if it does.

    A mechanism may be defined for a certain number of records or clients. Every batch must then have this number.

    Args:
        spec: a mechanism that is run on random batches.
        level: whether the batch is of records or of clients.

    Returns:
        The reason in words, for an error message. It is None if every mechanism inside can run on the batch.
    """
    for part in of_the_batch(spec.mechanism):
        # Find the number of records or clients that the mechanism needs; None if it is not stated.
        if isinstance(part, Subsampled):
            if part.sampling == "poisson" or not _draws_from_batch(part, level):
                continue
            needed_units = part.population
        elif isinstance(part, ProjectedSgd | Shuffled):
            needed_units = part.clients
        else:
            continue

        if spec.sampling == "poisson":
            return f"{part.kind} needs a batch of a fixed number, and the number drawn is random"
        if needed_units is not None and spec.batch_size is not None and needed_units != spec.batch_size:
            return f"{part.kind} is of {needed_units}, and {spec.batch_size} are drawn"
        if isinstance(part, ProjectedSgd) and spec.batch_size is None:
            return "projected_sgd needs a batch of a fixed number: give batch_size and population"
    return None


def _draws_from_batch(part: Subsampled, level: Level) -> bool:
    """Return whether a draw inside a batch is made from the units of the batch, and not among a client's own records.

    Inside a batch of clients, a draw may be of some of these clients, or of records within each client. Inside a batch
    of records it can only be from the batch.

    Args:
        part: the inner draw. If it does not state its level, it is of clients if it cannot be of records.
        level: whether the batch is of records or of clients.
    """
    if level in (part.level, "records"):
        return True
    return part.level is None and not part.may_be_of_records
