"""The parts of a spec at any depth, and the parts that the specs around them reject."""

from __future__ import annotations

from collections.abc import Iterator

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.specs.integers.poisson_binomial import PoissonBinomial


def parts_of(spec: object) -> Iterator[object]:
    """Yield the spec and every spec inside it, each before its own children.

    A spec is data that describes a run: one mechanism, or several that are composed, repeated, sampled or shuffled.

    Args:
        spec: the description of a run. Its field `mechanisms` or `mechanism` has the specs inside it, if there are any.

    Yields:
        The nodes of the tree of mechanisms, in the order of a depth-first search.
    """
    yield spec
    children = getattr(spec, "mechanisms", None) or (getattr(spec, "mechanism", None),)
    for mechanism in children:
        if mechanism is not None:
            yield from parts_of(mechanism)


def most_summed_clients(spec: object) -> int:
    """Return the largest number of clients that a sum in a spec needs; 1 if the spec has no sum over clients.

    Args:
        spec: the description of a run.
    """
    sums = [part for part in parts_of(spec) if isinstance(part, PoissonBinomial)]
    return max((each_sum.clients for each_sum in sums), default=1)


def reject_enclosed_draws(mechanism: object) -> None:
    """Reject a draw from all records, by `largest_batch` or `records_of_one_client`, inside a batch or a report.

    Both fields refer to the whole data set, which a mechanism does not have inside a batch or on one client.

    Args:
        mechanism: specification of the mechanism of the batch or of the report.

    Raises:
        InvalidInput: if the mechanism, or one inside it, has one of these fields.
    """
    for part in parts_of(mechanism):
        for name in ("largest_batch", "records_of_one_client"):
            if getattr(part, name, None) is not None:
                message = (
                    "a draw with this field is made from all records, and cannot be inside another draw or a report"
                )
                raise InvalidInput.at(f"/mechanism/{name}", message)


def reject_selection(spec: object) -> None:
    """Reject a selection of the best run inside a batch or a shuffled report.

    Args:
        spec: specification of the mechanism of the batch or of the report.

    Raises:
        InvalidInput: if the specification contains `select_best`.
    """
    if any(getattr(part, "kind", None) == "select_best" for part in parts_of(spec)):
        message = "no theorem covers a selection that is run on a batch or in a report: put the batches inside it"
        raise InvalidInput.at("/mechanism/kind", message)
