"""The structure of a spec: its parts, the mechanisms that it admits, its draws, and the observers of a guarantee."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from epsilond.accountants.quantities import Level, Observer, Relation, Sampling, Unit
from epsilond.accountants.specs import Composed, ProjectedSgd, Repeated, Shuffled, Subsampled
from epsilond.accountants.specs.primitives import CategoryReport, NoisyIntegers, NoisySum
from epsilond.accountants.theorem import Condition

if TYPE_CHECKING:
    from epsilond.accountants.specs import Spec
    from epsilond.accountants.specs.primitives import Primitive


def sensitivity_factor(relation: Relation) -> float:
    """Return the sensitivity of a sum of contributions of norm at most C, in units of C.

    It is a ball's diameter for replace-one, and its radius where a contribution is added, removed or zeroed.
    """
    return 2.0 if relation == "replace-one" else 1.0


def inner(spec: Spec) -> tuple[Spec, ...]:
    """Return the mechanisms that a spec is directly made of."""
    if isinstance(spec, Composed):
        return spec.mechanisms
    return (spec.mechanism,) if isinstance(spec, Subsampled | Shuffled | Repeated) else ()


def parts(spec: Spec) -> Iterator[Spec]:
    """Yield the spec and every spec inside it."""
    pending = [spec]
    while pending:
        part = pending.pop()
        yield part
        pending.extend(reversed(inner(part)))


def leaves(spec: Spec) -> Iterator[Spec]:
    """Yield the mechanisms that are run in a spec, below everything that only repeats, lists or samples them."""
    if not isinstance(spec, Composed | Repeated | Subsampled):
        yield spec
        return
    for mechanism in inner(spec):
        yield from leaves(mechanism)


def primitives(spec: Spec) -> tuple[Primitive | None, ...]:
    """Return the primitive of each of the `leaves`."""
    return tuple(leaf.primitive for leaf in leaves(spec))


def gaussian_multiplier(spec: Spec) -> float | None:
    """Return the noise multiplier of a single release with Gaussian noise on a sum, or None for any other spec."""
    primitive = spec.primitive
    return primitive.multiplier if isinstance(primitive, NoisySum) and primitive.distribution == "gaussian" else None


def sums_bounded_contributions(spec: Spec) -> bool:
    """Return whether every mechanism in it adds noise to a sum of contributions of bounded norm."""
    return all(isinstance(primitive, NoisySum) for primitive in primitives(spec))


def may_sum_contributions(spec: Spec) -> bool:
    """Return whether every mechanism in it adds noise to a vector that may be a sum of contributions."""
    return all(isinstance(primitive, NoisySum | NoisyIntegers) for primitive in primitives(spec))


def zeroing_is_replacing(spec: Spec) -> bool:
    """Return whether zeroing a record replaces it by a record that contributes zero, within the bound on the norm."""
    return all(isinstance(part.primitive, NoisySum) for part in parts(spec) if not inner(part))


def draws(spec: Spec) -> bool:
    """Return whether any mechanism in it is run on a random batch."""
    return any(isinstance(part, Subsampled) and part.sampling != "full" for part in parts(spec))


def removing_is_replacing(spec: Spec, unit: Unit) -> bool:
    """Return whether removing or zeroing a unit has the effect of replacing it by a unit that contributes zero.

    This holds for sums of contributions of bounded norm, in batches whose size is not fixed. The records that a client
    draws among its own are within its contribution.
    """
    sampled = (part for part in parts(spec) if isinstance(part, Subsampled))
    of_the_unit = (part for part in sampled if not (unit == "client" and part.level == "records"))
    return sums_bounded_contributions(spec) and all(part.sampling in ("poisson", "full") for part in of_the_unit)


def tells_places(spec: Spec) -> bool:
    """Return whether a mechanism in it shows by definition which place in a batch belongs to whom.

    Randomized responses are reports by name, and anyone may know a cyclic order of batches.
    """
    return any(
        isinstance(leaf.primitive, CategoryReport) or (isinstance(leaf, ProjectedSgd) and leaf.batches == "cyclic")
        for leaf in leaves(spec)
    )


def may_tell_places(spec: Spec) -> bool:
    """Return whether a mechanism in it could show an order of the batch unless a condition excludes it.

    Sums cannot. Projected SGD declares a secret order of batches itself.
    """
    return not all(isinstance(leaf.primitive, NoisySum) or isinstance(leaf, ProjectedSgd) for leaf in leaves(spec))


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


def of_records(spec: Spec) -> Spec:
    """The same mechanism where what it leaves open is drawn among records: below a draw of records, or in one client.

    What cannot be a batch of records, by what is drawn from it, stays open, and is then read as one of clients.
    """
    if isinstance(spec, Composed):
        return replace(spec, mechanisms=tuple(map(of_records, spec.mechanisms)))
    if isinstance(spec, Subsampled):
        known = replace(spec, mechanism=of_records(spec.mechanism))
        return replace(known, level="records") if known.level is None and known.may_be_of_records else known
    if isinstance(spec, Shuffled | Repeated):
        return replace(spec, mechanism=of_records(spec.mechanism))
    return spec


def pools_records(spec: Spec, relation: Relation, *, pooled: bool = False) -> bool:
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


def of_the_batch(spec: Spec) -> Iterator[Spec]:
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


# Which mechanisms the words of a spec admit, as conditions that the caller declares and every answer repeats --------
#
# A number holds for every mechanism that these conditions and the spec's docstring admit. What a theorem needs beyond
# them, it checks on the spec, or does not apply.
ONE_SUM = Condition(
    "sum-of-contributions",
    "noise is added to a sum to which every protected unit adds one contribution of norm at most C, whatever others "
    "add; a unit that is absent, not drawn or zeroed adds exactly zero, and the noise is the same with and without it",
)
ANY_INTEGERS = Condition(
    "integer-sensitivity",
    "on any two neighbours in the request's relation and unit the integers differ by at most the sensitivities; they "
    "may depend on the data in any way, so that a zeroed record may count where one that is not drawn does not",
)
ONE_REPORT = Condition("one-report-each", "every protected unit sends one report, drawn from its own category alone")
SECRET_DRAW = Condition(
    "secret-draw",
    "every batch is drawn afresh, whatever the data and earlier batches are; who is in it, and how many, shows only in "
    "what the mechanism puts out",
)
FRESH_DRAW = Condition(
    "fresh-draw", "every batch is drawn afresh, whatever the data and earlier batches are; it may be seen who is in it"
)
NO_ORDER = Condition(
    "batch-has-no-order",
    "the mechanism is told what was drawn as a set: what it puts out depends on no order, place or name in the batch",
)


# Who may be the adversary of a guarantee, and what a random draw hides from it ---------------------------------------
Definition = Literal["local", "shuffle", "central", "joint"]
DRAW_UNSEEN: Literal["released-models"] = "released-models"
"""The observer who is proposed where another one sees which clients are drawn."""

POSSIBLE: Mapping[Definition, tuple[Observer, ...]] = {
    "local": ("server", "shuffled-server", "released-models", "final-model", "other-clients"),
    "shuffle": ("shuffled-server", "released-models", "final-model"),
    "central": ("released-models", "final-model", "other-clients"),
    "joint": ("other-clients",),
}
"""Whom a guarantee of that definition can be against: never against those whom it trusts.

Against all other clients together a shuffler is no help: they know their own reports and take them out.
"""


class Draw(NamedTuple):
    """A random draw: how, of what, and whether a shuffler hides whose report is missing."""

    sampling: Sampling
    level: Level
    shuffled: bool = False


def definition_against(observer: Observer) -> Definition:
    """The definition of a guarantee of which only the observer is known: nobody who looks is trusted.

    Against the server it is local, since what protects the data is in the messages already.
    """
    definitions: Mapping[Observer, Definition] = {
        "server": "local",
        "shuffled-server": "shuffle",
        "released-models": "central",
        "final-model": "central",
        "other-clients": "joint",
    }
    return definitions[observer]


def sees_clients_drawn(observer: Observer, sampling: Sampling) -> bool:
    """Whether the observer knows which clients were drawn.

    A server receives every message of every client and so sees who takes part. All other clients together know who else
    does if the number drawn is fixed.
    """
    return observer == "server" or (observer == "other-clients" and sampling != "poisson")


def draws_of(spec: Spec, unit: Unit) -> tuple[Draw, ...]:
    """The random draws in a spec as its guarantee reads them, outermost first, each kind once."""
    return tuple(dict.fromkeys(_draws(spec, unit, outermost=True)))


def _draws(spec: Spec, unit: Unit, *, outermost: bool) -> Iterator[Draw]:
    below, outside = inner(spec), outermost
    if isinstance(spec, Subsampled) and (spec.sampling == "with-replacement" or spec.inclusion_probability < 1.0):
        left_to_records = spec.level is None and not outermost and spec.may_be_of_records
        level = "records" if left_to_records else drawn_level(spec, unit)
        outside = False
        yield Draw(spec.sampling, level, any(isinstance(each, Shuffled) for each in below))
    elif isinstance(spec, ProjectedSgd) and spec.batches != "cyclic" and spec.participants < spec.clients:
        yield Draw("without-replacement", own_level(unit))
    for each in below:
        yield from _draws(each, unit, outermost=outside)


def loses_amplification(draws: Sequence[Draw], observer: Observer, unit: Unit) -> bool:
    """Whether the observer sees a draw that would amplify for this unit against one who does not."""
    return any(
        draw.level == "clients"
        and (unit == "client" or draw.shuffled)
        and draw.sampling != "full"
        and sees_clients_drawn(observer, draw.sampling)
        for draw in draws
    )


def own_level(unit: Unit) -> Level:
    """What is drawn when units of protection are."""
    return "clients" if unit == "client" else "records"
