"""Who is protected against whom, who is trusted for it, and what a random draw hides: one sentence, from one place.

The sentence is built from the definition, the observer, the unit, the relation and the draws together, so that no part
of it can say what another denies. Pages, reports and the command line print it as it is served.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from epsilond.accountants.admitted import FRESH_DRAW, SECRET_DRAW
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import Level, Observer, Relation, Sampling, Unit
from epsilond.accountants.specs import ProjectedSgd, Shuffled, Subsampled
from epsilond.accountants.structure import drawn_level, inner

if TYPE_CHECKING:
    from epsilond.accountants.specs import Spec
    from epsilond.accountants.theorem import Condition

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
    open_to_all = FRESH_DRAW in declared and SECRET_DRAW not in declared
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
