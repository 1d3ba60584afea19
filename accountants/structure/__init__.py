"""The structure of a spec: its parts, the mechanisms that it admits, and the observers of a guarantee.

A spec is frozen data that describes a run: one mechanism, or a tree of mechanisms that are composed, repeated, sampled,
shuffled or selected from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from epsilond.accountants.quantities import DrawScheme, Level, Observer, Relation, Unit
from epsilond.accountants.specs import (
    Composed,
    ProjectedSgd,
    Repeated,
    SelectBest,
    Shuffled,
    Subsampled,
)
from epsilond.accountants.specs.primitives import CategoryReport, NoisyIntegers, NoisySum, RandomSum, ShiftedIntegers
from epsilond.accountants.theorem import Condition

if TYPE_CHECKING:
    from epsilond.accountants.specs import Spec
    from epsilond.accountants.specs.primitives import Primitive


def sensitivity_factor(relation: Relation) -> float:
    """Return the sensitivity of a sum of contributions with norms of at most C, in units of C.

    Args:
        relation: the neighbouring relation.

    Returns:
        2 for replace-one, where one contribution becomes another; 1 if a contribution is added, removed or zeroed.
    """
    return 2.0 if relation == "replace-one" else 1.0


def inner(spec: Spec) -> tuple[Spec, ...]:
    """Return the mechanisms that a spec is directly made of, its children in the tree of mechanisms.

    Composition has several children. Sampling, shuffling, repetition and selection have one.

    Args:
        spec: the description of a run.

    Returns:
        The children; empty for a single mechanism.
    """
    if isinstance(spec, Composed):
        return spec.mechanisms
    if isinstance(spec, (Subsampled, Shuffled, Repeated, SelectBest)):
        return (spec.mechanism,)
    return ()


def parts(spec: Spec) -> Iterator[Spec]:
    """Yield the spec and every spec inside it, each before its own children.

    Args:
        spec: the description of a run.

    Yields:
        The nodes of the tree of mechanisms, in the order of a depth-first search.
    """
    pending = [spec]
    while pending:
        part = pending.pop()
        yield part
        pending.extend(reversed(inner(part)))


def leaves(spec: Spec) -> Iterator[Spec]:
    """Yield the mechanisms that a run is built from by composition, repetition and sampling.

    A shuffled mechanism, or a selection among several runs of a mechanism, is yielded as one.

    Args:
        spec: the description of a run.

    Yields:
        The mechanisms, in their order in the run.
    """
    if not isinstance(spec, (Composed, Repeated, Subsampled)):
        yield spec
        return
    for mechanism in inner(spec):
        yield from leaves(mechanism)


def primitives(spec: Spec) -> tuple[Primitive | None, ...]:
    """Return the primitive of each of the `leaves`."""
    return tuple(leaf.primitive for leaf in leaves(spec))


def gaussian_multiplier(spec: Spec) -> float | None:
    """Return the noise multiplier of a single release of a sum with Gaussian noise.

    Args:
        spec: the description of a run.

    Returns:
        The standard deviation of the noise over the bound on the norm of one contribution; None for any other run.
    """
    primitive = spec.primitive
    if isinstance(primitive, NoisySum) and primitive.distribution == "gaussian":
        return primitive.multiplier
    return None


def sums_bounded_contributions(spec: Spec) -> bool:
    """Return whether every mechanism in a spec adds noise to a sum of contributions of bounded norm."""
    return all(isinstance(primitive, (NoisySum, RandomSum)) for primitive in primitives(spec))


def may_sum_contributions(spec: Spec) -> bool:
    """Return whether every mechanism in a spec adds noise to a vector that may be a sum of contributions."""
    return all(isinstance(primitive, (NoisySum, NoisyIntegers, ShiftedIntegers)) for primitive in primitives(spec))


def zeroing_is_replacing(spec: Spec) -> bool:
    """Return whether zeroing a record replaces it by a record that contributes zero, within the bound on the norm."""
    return all(isinstance(part.primitive, (NoisySum, RandomSum)) for part in parts(spec) if not inner(part))


def draws(spec: Spec) -> bool:
    """Return whether any mechanism in a spec is run on a random batch."""
    return any(isinstance(part, Subsampled) and part.sampling != "full" for part in parts(spec))


def removing_is_replacing(spec: Spec, unit: Unit) -> bool:
    """Return whether removing or zeroing a unit has the effect of replacing it by a unit that contributes zero.

    This holds for sums of contributions of bounded norm, if no protected unit is drawn into a batch of fixed size.
    Draws of a client among its own records do not matter, because their result is within its contribution.

    Args:
        spec: the description of a run.
        unit: the protected unit, a record or a client.

    Returns:
        True if a bound for replacing a unit also holds for removing or zeroing it.
    """
    for part in parts(spec):
        if not isinstance(part, Subsampled):
            continue
        draws_units = unit != "client" or part.level != "records"
        # Poisson sampling includes each unit independently of the others, and a full batch has all units.
        if draws_units and part.sampling not in ("poisson", "full"):
            return False
    return sums_bounded_contributions(spec)


def tells_places(spec: Spec) -> bool:
    """Return whether a mechanism in a run shows by definition which unit has which position in a batch.

    This is so for randomized responses, which are reports by name, and for projected gradient descent with batches in a
    cyclic order, which anyone may know.

    Args:
        spec: the description of a run.
    """
    return any(
        isinstance(leaf.primitive, CategoryReport) or (isinstance(leaf, ProjectedSgd) and leaf.batches == "cyclic")
        for leaf in leaves(spec)
    )


def may_tell_places(spec: Spec) -> bool:
    """Return whether the output of a mechanism in a run could depend on the order of the units in a batch.

    Guarantees for a random batch need an output that does not depend on the order. If it could, the caller must declare
    that it does not. Sums do not depend on an order. Projected SGD has a condition of its own on its secret batches.

    Args:
        spec: the description of a run.

    Returns:
        True if some mechanism is neither a noisy sum nor projected SGD.
    """
    return not all(
        isinstance(leaf.primitive, (NoisySum, RandomSum)) or isinstance(leaf, ProjectedSgd) for leaf in leaves(spec)
    )


def left_out_is_the_same(sampling: DrawScheme, relation: Relation) -> bool:
    """Return whether batches without the protected unit have the same distribution on two neighbouring data sets.

    Batches with the unit must be neighbours, too. Drawing a fixed number of n or n − 1 units fails, because another
    unit is drawn in place of a removed one. Drawing with replacement also fails, because a unit may count several
    times.

    Args:
        sampling: the sampling scheme of the batches.
        relation: the neighbouring relation.

    Returns:
        True for Poisson sampling, for full batches, and for sampling without replacement if no unit is removed.
    """
    return sampling in ("poisson", "full") or (sampling == "without-replacement" and relation != "add-or-remove-one")


def drawn_level(spec: Subsampled, unit: Unit) -> Level:
    """Return whether the batches of a subsampled mechanism consist of records or of clients.

    The spec may state this. If it does not, the protected unit is drawn, with an exception. If the batch of a draw is
    itself sampled, the outer draw may be of records or of clients. It is taken as a draw of clients, because this
    amplifies the privacy of a record less.

    Args:
        spec: a mechanism that is run on random batches.
        unit: the protected unit, a record or a client.

    Returns:
        "records" or "clients".
    """
    if spec.level is not None:
        return spec.level
    if unit == "client" or draws(spec.mechanism):
        return "clients"
    return "records"


def open_level(spec: Subsampled) -> bool:
    """Return whether a spec may be a draw of records or a draw of clients, if a record is protected."""
    return spec.level is None and spec.may_be_of_records and draws(spec.mechanism)


def of_records(spec: Spec) -> Spec:
    """Return a copy of a mechanism in which random draws without a stated level are draws of records, not of clients.

    Inside a draw of records, and on the data of one client, only records can be drawn. A draw is left unchanged if a
    draw inside it is not possible from a batch of records. It is then a draw of clients.

    Args:
        spec: a mechanism that runs on a batch of records, or on one client's data.
    """
    if isinstance(spec, Composed):
        return replace(spec, mechanisms=tuple(map(of_records, spec.mechanisms)))
    if isinstance(spec, Subsampled):
        subsampled = replace(spec, mechanism=of_records(spec.mechanism))
        if subsampled.level is None and subsampled.may_be_of_records:
            return replace(subsampled, level="records")
        return subsampled
    if isinstance(spec, Shuffled | Repeated):
        return replace(spec, mechanism=of_records(spec.mechanism))
    return spec


def pools_records(spec: Spec, relation: Relation, *, pooled: bool = False) -> bool:
    """Return whether an absent client affects the draws of other clients through a common pool of records.

    This is so if a batch of fixed size is drawn from the pool and a client may be absent. It is also so for sampling
    with replacement, because a record may count several times.

    Args:
        spec: the description of a run.
        relation: the neighbouring relation.
        pooled: whether a draw from the pool encloses the spec, so that further draws are from the same records.
    """
    # In a shuffled report, each client draws among its own records.
    if isinstance(spec, Shuffled):
        return False
    is_pooled = pooled
    if isinstance(spec, Subsampled) and spec.sampling != "full":
        # After a draw of clients, each client draws among its own records.
        is_of_clients = not pooled and spec.level != "records"
        if is_of_clients:
            return False
        if not left_out_is_the_same(spec.sampling, relation):
            return True
        is_pooled = True
    return any(pools_records(part, relation, pooled=is_pooled) for part in inner(spec))


# Which mechanisms the words of a spec admit, as conditions that the caller declares and every answer repeats --------
#
# A number is valid for every mechanism that these conditions and the spec's docstring admit. A theorem checks any
# further condition on the spec, or does not apply.
ONE_SUM = Condition(
    "sum-of-contributions",
    "noise is added to a sum. Every protected unit adds one contribution of norm at most C to it, for any "
    "contributions of the others. A unit that is absent, not drawn or zeroed adds exactly zero. The noise is the "
    "same with and without it",
)
ANY_INTEGERS = Condition(
    "integer-sensitivity",
    "on any two neighbours in the request's relation and unit the integers differ by at most the sensitivities. They "
    "may depend on the data in any way: a zeroed record may count where a record that is not drawn does not",
)
ANY_SCORES = Condition(
    "score-sensitivity",
    "on any two neighbours in the request's relation and unit each score differs by at most 1. The scores may depend "
    "on the data in any way, and the candidates do not depend on it",
)
ONE_DIRECTION = Condition(
    "one-direction",
    "on any two neighbours in the request's relation and unit all scores or queries rise, or all fall, or stay as they "
    "are. Counts do so where a record is added or removed, and not where it is replaced",
)
ONE_REPORT = Condition("one-report-each", "every protected unit sends one report, drawn from its own category only")
SECRET_DRAW = Condition(
    "secret-draw",
    "every batch is drawn afresh, independently of the data and of earlier batches. Its members and its size show "
    "only in the mechanism's output",
)
FRESH_DRAW = Condition(
    "fresh-draw",
    "every batch is drawn afresh, independently of the data and of earlier batches; its members may be visible",
)
NO_ORDER = Condition(
    "batch-has-no-order",
    "the mechanism gets the batch as a set: its output depends on no order, place or name in the batch",
)


# Who may be the adversary of a guarantee, and what a random draw hides from it ---------------------------------------
Definition = Literal["local", "shuffle", "central", "joint"]
DRAW_UNSEEN: Literal["released-models"] = "released-models"
"""The observer that is proposed if another one sees which clients are drawn."""

POSSIBLE: Mapping[Definition, tuple[Observer, ...]] = {
    "local": ("server", "shuffled-server", "released-models", "final-model", "other-clients"),
    "shuffle": ("shuffled-server", "released-models", "final-model"),
    "central": ("released-models", "final-model", "other-clients"),
    "joint": ("other-clients",),
}
"""Possible observers of a guarantee, by its definition. The parties that the definition trusts are excluded.

A shuffler does not help against all other clients together: they know their own reports and remove them.
"""


def definition_against(observer: Observer) -> Definition:
    """Return the trust model in which an observer is the only party that is not trusted.

    For the server it is local differential privacy, because messages must already protect the data.

    Args:
        observer: the adversary, named after the messages or models that it sees.

    Returns:
        "local", "shuffle", "central" or "joint".
    """
    definitions: Mapping[Observer, Definition] = {
        "server": "local",
        "shuffled-server": "shuffle",
        "released-models": "central",
        "final-model": "central",
        "other-clients": "joint",
    }
    return definitions[observer]


INDEPENDENT_DRAWS: tuple[DrawScheme, ...] = ("poisson", "random-allocation")
"""Schemes that draw each unit independently of all others."""


def sees_clients_drawn(observer: Observer, sampling: DrawScheme) -> bool:
    """Return whether the observer knows which clients were drawn.

    A server receives every message of every client, and so knows the participants. All other clients together know
    whether the last client takes part if the number drawn is fixed.

    Args:
        observer: the adversary, named after the messages or models that it sees.
        sampling: the sampling scheme of the clients.

    Returns:
        True if the participants are visible, so that their random choice hides nothing.
    """
    if observer == "server":
        return True
    return observer == "other-clients" and sampling not in INDEPENDENT_DRAWS


def own_level(unit: Unit) -> Level:
    """Return the level of a draw of units of protection."""
    return "clients" if unit == "client" else "records"
