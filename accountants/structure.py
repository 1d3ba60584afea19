"""What a spec is made of: the questions that sampling rules ask of the mechanism they sample for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from epsilond.accountants.specs import Composed, Repeated, Shuffled, Subsampled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from epsilond.accountants.quantities import Level, Relation, Sampling, Unit

NORM_BOUNDED = frozenset({"gaussian", "laplace"})
"""Noise on a sum of contributions of bounded norm: the relation fixes the sensitivity, and zero is a contribution."""

SUMS = NORM_BOUNDED | {"discrete_laplace", "truncated_discrete_laplace"}
"""Noise on a vector that may be a sum of contributions. That it is one, the first two kinds say, and the others not."""


def inner(spec: Any) -> tuple[Any, ...]:
    """The mechanisms that a spec is directly made of."""
    if isinstance(spec, Composed):
        return spec.mechanisms
    return (spec.mechanism,) if hasattr(spec, "mechanism") else ()


def parts(spec: Any) -> Iterator[Any]:
    """The spec and everything inside it."""
    yield spec
    for mechanism in inner(spec):
        yield from parts(mechanism)


def leaves(spec: Any) -> Iterator[Any]:
    """The mechanisms that are run in a spec. What only repeats, lists or samples is looked through, nothing else is."""
    if not isinstance(spec, Composed | Repeated | Subsampled):
        yield spec
        return
    for mechanism in inner(spec):
        yield from leaves(mechanism)


def kinds(spec: Any) -> frozenset[str]:
    """The kinds of `leaves`."""
    return frozenset(leaf.kind for leaf in leaves(spec))


def zeroing_is_replacing(spec: Any) -> bool:
    """Whether a zeroed record is replaced by one that contributes zero, within the bound on any contribution's norm."""
    return all(part.kind in NORM_BOUNDED for part in parts(spec) if not inner(part))


def draws(spec: Any) -> bool:
    """Whether anything in it is run on a random batch."""
    return any(isinstance(part, Subsampled) and part.sampling != "full" for part in parts(spec))


def removing_is_replacing(spec: Any, unit: Unit) -> bool:
    """Whether removing a unit has the effect of replacing it by one that contributes zero, and zeroing it likewise.

    So it is for sums of contributions of bounded norm, in batches whose size is not fixed. What a client draws among
    its own records is within its contribution.
    """
    sampled = (part for part in parts(spec) if isinstance(part, Subsampled))
    of_the_unit = (part for part in sampled if not (unit == "client" and part.level == "records"))
    return kinds(spec) <= NORM_BOUNDED and all(part.sampling in ("poisson", "full") for part in of_the_unit)


def tells_places(spec: Any) -> bool:
    """Whether a kind in it shows, by its own words, which place in a batch belongs to whom.

    Randomized responses are reports by name, and a cyclic order of batches may be known to anyone.
    """
    return any(
        leaf.kind == "randomized_response" or (leaf.kind == "projected_sgd" and leaf.batches == "cyclic")
        for leaf in leaves(spec)
    )


def may_tell_places(spec: Any) -> bool:
    """Whether a kind in it could show an order of the batch unless that is ruled out.

    Sums cannot; an order of batches that is secret, projected SGD declares itself.
    """
    return not kinds(spec) <= NORM_BOUNDED | {"projected_sgd"}


def left_out_is_the_same(sampling: Sampling, relation: Relation) -> bool:
    """Whether a draw compares like with like: without the unit in the batch one law in both worlds, with it neighbours.

    A fixed number of n or of n − 1 is not: in place of a unit that was removed another one is drawn. Nor is drawing
    with replacement, where a unit may count several times.
    """
    return sampling in ("poisson", "full") or (sampling == "without-replacement" and relation != "add-or-remove-one")


def drawn_level(spec: Subsampled, unit: Unit) -> Level:
    """What `spec` draws when `unit` is protected: as it says, or the safe reading if it leaves that open.

    A mechanism that draws again may be a batch of a batch of records, or clients who draw among their own. For a
    record the second reading amplifies less; its bound covers the first where `left_out_is_the_same`.
    """
    if spec.level is not None:
        return spec.level
    return "clients" if unit == "client" or draws(spec.mechanism) else "records"


def open_level(spec: Subsampled) -> bool:
    """Whether `spec` may be read as a draw of records and as one of clients, for a record."""
    return spec.level is None and spec.may_be_of_records and draws(spec.mechanism)


def of_records(spec: Any) -> Any:
    """The same mechanism where what it leaves open is drawn among records: below a draw of records, or in one client.

    What cannot be a batch of records, by what is drawn from it, stays open, and is then read as one of clients.
    """
    if isinstance(spec, Composed):
        return replace(spec, mechanisms=tuple(map(of_records, spec.mechanisms)))
    if isinstance(spec, Subsampled):
        known = replace(spec, mechanism=of_records(spec.mechanism))
        return replace(known, level="records") if known.level is None and known.may_be_of_records else known
    return replace(spec, mechanism=of_records(spec.mechanism)) if inner(spec) else spec


def pools_records(spec: Any, relation: Relation, *, pooled: bool = False) -> bool:
    """Whether records are drawn in it from those of all clients together, so that a client's absence shows in others'.

    So it is for a fixed number of them where a client may be absent, and with replacement, where a record may count
    several times. Below a draw of clients, and in a shuffled report, a client draws among its own records; below a
    draw from the pool, from what that drew.
    """
    if isinstance(spec, Shuffled):
        return False
    if isinstance(spec, Subsampled) and spec.sampling != "full":
        if not pooled and spec.level != "records":
            return False
        if not left_out_is_the_same(spec.sampling, relation):
            return True
        pooled = True
    return any(pools_records(part, relation, pooled=pooled) for part in inner(spec))


def of_the_batch(spec: Any) -> Iterator[Any]:
    """What is run on a batch as it is: through lists, repetitions and full batches, and no further."""
    if isinstance(spec, Composed | Repeated) or (isinstance(spec, Subsampled) and spec.sampling == "full"):
        for mechanism in inner(spec):
            yield from of_the_batch(mechanism)
    else:
        yield spec


def misfit(spec: Subsampled, level: Level) -> str | None:
    """Why what is run on a batch of `level` cannot be: it needs a number of records or clients that the batch lacks."""
    for part in of_the_batch(spec.mechanism):
        if isinstance(part, Subsampled):
            same = level in (part.level, "records") or not (part.level or part.may_be_of_records)
            if not same or part.sampling == "poisson":
                continue
            needed = part.population
        elif part.kind in ("projected_sgd", "shuffled"):
            needed = part.clients
        else:
            continue
        if spec.sampling == "poisson":
            return f"{part.kind} needs a batch of a fixed number, and the number drawn is random"
        if needed is not None and spec.batch_size is not None and needed != spec.batch_size:
            return f"{part.kind} is of {needed}, and {spec.batch_size} are drawn"
        if part.kind == "projected_sgd" and spec.batch_size is None:
            return "projected_sgd needs a batch of a fixed number: give batch_size and population"
    return None
