"""The parts of a spec at any depth, and the parts that the specs around them reject."""

from __future__ import annotations

from collections.abc import Iterator

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.specs.integers.poisson_binomial import PoissonBinomial


def parts_of(spec: object) -> Iterator[object]:
    """Yield the spec of a run and every spec inside it, each before those inside it (depth-first search).

    Args:
        spec: data that describe a run: one mechanism, or several that are composed, repeated, sampled or shuffled. The
            field `mechanisms` or `mechanism` has the specs inside it, if there are any.
    """
    yield spec
    children = getattr(spec, "mechanisms", None) or (getattr(spec, "mechanism", None),)
    for mechanism in children:
        if mechanism is not None:
            yield from parts_of(mechanism)


def most_summed_clients(spec: object) -> int:
    """Return the largest number of clients of a sum in the spec of a run; 1 if it has no sum over clients."""
    sums = [part for part in parts_of(spec) if isinstance(part, PoissonBinomial)]
    return max((each_sum.clients for each_sum in sums), default=1)


def reject_enclosed_draws(mechanism: object) -> None:
    """Reject a draw with `largest_batch` or `records_of_one_client` in the mechanism of a batch or of a report.

    Such a draw is made from the whole data set, which is not available within a batch or to one client.

    Args:
        mechanism: spec of the mechanism of the batch or of the report.

    Raises:
        InvalidInput: the mechanism, or one inside it, has one of these fields.
    """
    for part in parts_of(mechanism):
        for name in ("largest_batch", "records_of_one_client"):
            if getattr(part, name, None) is not None:
                message = (
                    "a draw with this field is made from all records, and cannot be inside another draw or a report"
                )
                raise InvalidInput.at(f"/mechanism/{name}", message)


def reject_selection(spec: object) -> None:
    """Reject a selection of the best run in the mechanism of a batch or of a shuffled report.

    Args:
        spec: spec of the mechanism of the batch or of the report.

    Raises:
        InvalidInput: the mechanism, or one inside it, is `select_best`.
    """
    if any(getattr(part, "kind", None) == "select_best" for part in parts_of(spec)):
        message = "no theorem covers a selection that is run on a batch or in a report: put the batches inside it"
        raise InvalidInput.at("/mechanism/kind", message)
