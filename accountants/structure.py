"""What a spec is made of: the questions that sampling rules ask of the mechanism they sample for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from accountants.specs import Composed, Repeated, Subsampled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from accountants.quantities import Level, Unit

NORM_BOUNDED = frozenset({"gaussian", "laplace"})
"""Noise on a sum of contributions of bounded norm: the relation fixes the sensitivity, and zero is a contribution."""

SUMS = NORM_BOUNDED | {"discrete_laplace", "truncated_discrete_laplace"}
"""Noise on a sum of contributions: one that is zero is as good as absent."""


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


def kinds(spec: Any) -> frozenset[str]:
    """The kinds that are run in a spec. What only repeats, lists or samples is looked through, nothing else is."""
    if not isinstance(spec, Composed | Repeated | Subsampled):
        return frozenset({spec.kind})
    return frozenset(kind for mechanism in inner(spec) for kind in kinds(mechanism))


def zeroing_is_replacing(spec: Any) -> bool:
    """Whether a zeroed record is replaced by one that contributes zero, within the bound on any contribution's norm."""
    return all(part.kind in NORM_BOUNDED for part in parts(spec) if not inner(part))


def draws(spec: Any) -> bool:
    """Whether anything in it is run on a random batch."""
    return any(isinstance(part, Subsampled) and part.sampling != "full" for part in parts(spec))


def removing_is_replacing(spec: Any) -> bool:
    """Whether removing a record has the effect of replacing it by one that contributes zero.

    So it is for sums of contributions of bounded norm, in batches whose size is not fixed.
    """
    sampled = (part for part in parts(spec) if isinstance(part, Subsampled))
    return kinds(spec) <= NORM_BOUNDED and all(part.sampling in ("poisson", "full") for part in sampled)


def drawn_level(spec: Subsampled, unit: Unit) -> Level:
    """What `spec` draws when `unit` is protected: as it says, or the safe reading if it leaves that open.

    A mechanism that draws again may be a batch of a batch of records, or clients who draw among their own. For a
    record the second reading amplifies less, and its bound covers the first.
    """
    if spec.level is not None:
        return spec.level
    return "clients" if unit == "client" or draws(spec.mechanism) else "records"


def within_clients(spec: Any) -> Any:
    """The same mechanism once clients have been drawn: what it leaves open is drawn among a client's records.

    What cannot be a batch of records, by what is drawn from it, stays open, and is then read as one of clients.
    """
    if isinstance(spec, Composed):
        return replace(spec, mechanisms=tuple(map(within_clients, spec.mechanisms)))
    if isinstance(spec, Subsampled):
        known = replace(spec, mechanism=within_clients(spec.mechanism))
        return replace(known, level="records") if known.level is None and known.may_be_of_records else known
    return replace(spec, mechanism=within_clients(spec.mechanism)) if inner(spec) else spec
