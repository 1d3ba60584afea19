"""What a spec is made of: what its words admit, what sampling rules ask of it, and whom it protects against whom."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import Level, Observer, Relation, Sampling, Unit
from epsilond.accountants.specs import Composed, ProjectedSgd, Repeated, Shuffled, Subsampled
from epsilond.accountants.theorem import Condition

if TYPE_CHECKING:
    from epsilond.accountants.specs import Spec


NORM_BOUNDED = frozenset({"gaussian", "laplace"})
"""Noise on a sum of contributions of bounded norm: the relation fixes the sensitivity, and zero is a contribution."""

SUMS = NORM_BOUNDED | {"discrete_laplace", "truncated_discrete_laplace"}
"""Noise on a vector that may be a sum of contributions. That it is one, the first two kinds say, and the others not."""


def inner(spec: Any) -> tuple[Any, ...]:
    """The mechanisms that a spec is directly made of."""
    if isinstance(spec, Composed):
        return spec.mechanisms
    below = getattr(spec, "mechanism", None)
    return () if below is None else (below,)


def parts(spec: Any) -> Iterator[Any]:
    """The spec and everything inside it."""
    pending = [spec]
    while pending:
        part = pending.pop()
        yield part
        pending.extend(reversed(inner(part)))


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


# Who is protected against whom, who is trusted for it, and what a random draw hides -----------------------------------
# One sentence, built from the definition, the observer, the unit, the relation and the draws together, so that no part
# of it can say what another denies. Pages, reports and the command line print it as it is served.
Definition = Literal["local", "shuffle", "central", "joint"]
DRAW_UNSEEN: Observer = "released-models"
"""The observer who is proposed where another one sees which clients are drawn."""

UNITS: Mapping[Unit, str] = {"record": "any one record", "client": "everything that any one client holds"}
RELATIONS: Mapping[Relation, str] = {
    "replace-one": "which may be replaced by any other",
    "add-or-remove-one": "which may be there or not",
    "zero-out-one": "which may count as nothing",
}
OBSERVERS: Mapping[Observer, str] = {
    "server": "the server, who sees every message of every client by name",
    "shuffled-server": "a server who sees every message, but not who sent it",
    "released-models": "anyone who sees the model after each round",
    "final-model": "anyone who sees the last model and nothing else",
    "other-clients": "all other clients together, who see every model that they are sent",
}
TRUSTED: Mapping[Definition, str] = {
    "local": "nobody but the client itself is trusted, for noise is added before a message leaves it",
    "shuffle": "a shuffler is trusted to mix the messages of a round and to drop their senders, and nobody else is",
    "central": "the server is trusted with what the clients send it",
    "joint": "the server is trusted with what the clients send it",
}
POSSIBLE: Mapping[Definition, tuple[Observer, ...]] = {
    "local": ("server", "shuffled-server", "released-models", "final-model", "other-clients"),
    "shuffle": ("shuffled-server", "released-models", "final-model"),
    "central": ("released-models", "final-model", "other-clients"),
    "joint": ("other-clients",),
}
"""Whom a guarantee of that definition can be against: never against those whom it trusts.

Against all other clients together a shuffler is no help: they know their own reports and take them out.
"""
SAMPLINGS: Mapping[Sampling, str] = {
    "poisson": "each of the {level} is drawn by a coin of its own",
    "without-replacement": "a fixed number of {level} is drawn without replacement",
    "with-replacement": "a fixed number of {level} is drawn with replacement",
    "full": "",
}
NOT_COUNTED = "no random draw is counted"


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


def _draws(spec: Any, unit: Unit, *, outermost: bool) -> Iterator[Draw]:
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


def in_words(
    *,
    definition: Definition,
    observer: Observer,
    unit: Unit,
    relation: Relation,
    draws: Sequence[Draw] = (),
    declared: Collection[Condition] = (),
) -> str:
    """What is protected, against whom, who is trusted for it and what the draws hide, as one sentence.

    `declared` are the conditions of the guarantee: a draw that was counted as one that may be seen is told as such.

    Raises:
        InvalidInput: a guarantee of that definition cannot be against that observer, whom it trusts.
    """
    if observer not in POSSIBLE[definition]:
        allowed = ", ".join(POSSIBLE[definition])
        raise InvalidInput.at("/observer", f"a {definition} guarantee cannot be against this observer", allowed=allowed)
    ids = [condition.id for condition in declared]
    open_to_all = FRESH_DRAW.id in ids and SECRET_DRAW.id not in ids
    return _sentence(definition, observer, unit, relation, tuple(draws), open_to_all)


@functools.lru_cache(maxsize=512)
def _sentence(
    definition: Definition,
    observer: Observer,
    unit: Unit,
    relation: Relation,
    draws: tuple[Draw, ...],
    open_to_all: bool,
) -> str:
    """There are a few hundred of them."""
    drawn = [_drawn(draw, observer, unit, open_to_all) for draw in draws if draw.sampling != "full"]
    promise = f"{UNITS[unit]}, {RELATIONS[relation]}, is protected against {OBSERVERS[observer]}"
    sentence = f"{promise}: {TRUSTED[definition]}; {'; '.join(drawn or [NOT_COUNTED])}."
    return sentence[0].upper() + sentence[1:]


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


def _drawn(draw: Draw, observer: Observer, unit: Unit, open_to_all: bool) -> str:
    """How something is drawn, and whether that counts."""
    how = SAMPLINGS[draw.sampling].format(level=draw.level)
    if draw.level != own_level(unit) and not draw.shuffled:
        worth = "makes a loss to a record rarer but no smaller" if unit == "record" else "protects no client as a whole"
        return f"{how}, which {worth}"
    if draw.level == "clients" and sees_clients_drawn(observer, draw.sampling):
        return f"{how} in sight of this observer, which makes a loss rarer but no smaller"
    if open_to_all:
        return f"{how}, which makes a loss rarer but no smaller, so that it may be seen which ones"
    return f"{how}, and which ones must stay hidden from this observer"
