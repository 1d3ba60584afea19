"""The statements of one guarantee: protected unit, adversary, trusted parties, and the secrecy of batches.

Each statement depends only on the setting, on the spec's random draws, on the declared conditions, and on who adds the
noise if that is known. A spec does not say who adds its noise, so an account of a bare spec states a condition instead.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import Observer, Relation, Sampling, Unit
from epsilond.accountants.structure import (
    FRESH_DRAW,
    POSSIBLE,
    SECRET_DRAW,
    Definition,
    Draw,
    own_level,
    sees_clients_drawn,
)
from epsilond.accountants.theorem import Condition

About = Literal["protects", "neighbours", "against", "trusted", "condition", "sampling"]

UNITS: Mapping[Unit, str] = {"record": "one record", "client": "all data of one client"}
RELATIONS: Mapping[Relation, str] = {
    "replace-one": "replace-one (one {unit} is replaced by any other)",
    "add-or-remove-one": "add-or-remove-one (one {unit} is present or absent)",
    "zero-out-one": "zero-out-one (the contribution of one {unit} counts as zero)",
}
OBSERVERS: Mapping[Observer, str] = {
    "server": "the server, which sees every client's messages by name",
    "shuffled-server": "the server, which sees every message but not who sent it",
    "released-models": "anyone who sees the model after every round",
    "final-model": "anyone who sees only the last model",
    "other-clients": "all other clients together, which see every model that they are sent",
}
TRUSTED: Mapping[Definition, str] = {
    "local": "only the client itself, which adds the noise before it sends",
    "shuffle": "a shuffler, which mixes the messages of a round and drops their senders",
    "central": "the server, which receives what the clients send",
    "joint": "the server, which receives what the clients send",
}
NOISE_ADDED_BEFORE: Mapping[Observer, str] = {
    "server": "each client adds this noise before it sends",
    "shuffled-server": "each client adds this noise before it sends",
    "released-models": "this noise is added before a model is released",
    "final-model": "this noise is added before the last model is released",
    "other-clients": "this noise is added before a model is sent to the clients",
}
"""Assumption of an account of a bare spec about its noise, for each adversary."""
SAMPLINGS: Mapping[Sampling, str] = {
    "poisson": "each {unit} is drawn independently",
    "without-replacement": "a fixed number of {unit}s is drawn without replacement",
    "with-replacement": "a fixed number of {unit}s is drawn with replacement",
    "full": "",
}
SHUFFLER_ID = "trusted-shuffler"
"""Id of the condition of every theorem that relies on a shuffler."""
NO_DRAW = "Batches: the bound uses no random draw."
HIDDEN_MEMBERS = "Their members must stay secret, because the bound uses amplification."
SEEN_MEMBERS = "The adversary sees their members, so the bound uses no amplification."
PUBLIC_MEMBERS = "Their members may be public, because the bound uses no amplification."


@dataclass(frozen=True, kw_only=True)
class Statement:
    """One plain statement of a guarantee, and its subject."""

    about: About
    text: str


def noise_condition(observer: Observer) -> Condition:
    """Return the condition on the noise of a bare spec, which the caller declares."""
    return Condition(
        "noise-before-sight",
        f"{NOISE_ADDED_BEFORE[observer]}, so that the adversary sees nothing without it",
    )


def state_guarantee(
    *,
    definition: Definition | None,
    observer: Observer,
    unit: Unit,
    relation: Relation,
    draws: Sequence[Draw] = (),
    declared: Collection[Condition] = (),
) -> tuple[Statement, ...]:
    """State the protected unit, the adversary, the trusted parties, and whether batches must stay secret.

    Args:
        definition: the trust model, if it is known who adds the noise; None for an account of a bare spec.
        observer: the adversary.
        unit: the protected unit, a record or a client.
        relation: the neighbouring relation.
        draws: the random draws of the spec, outermost first.
        declared: conditions of the guarantee; they say whether a draw may be public.

    Raises:
        InvalidInput: the definition trusts the observer.
    """
    if definition is not None and observer not in POSSIBLE[definition]:
        allowed = ", ".join(POSSIBLE[definition])
        raise InvalidInput.at("/observer", f"a {definition} guarantee cannot be against this observer", allowed=allowed)
    ids = {condition.id for condition in declared}
    public = FRESH_DRAW.id in ids and SECRET_DRAW.id not in ids
    return _statements(definition, observer, unit, relation, tuple(draws), public, SHUFFLER_ID in ids)


def join_statements(statements: Sequence[Statement]) -> str:
    """Return the statements as one text, in their order."""
    return " ".join(statement.text for statement in statements)


@functools.lru_cache(maxsize=512)
def _statements(
    definition: Definition | None,
    observer: Observer,
    unit: Unit,
    relation: Relation,
    draws: tuple[Draw, ...],
    public: bool,
    shuffled: bool,
) -> tuple[Statement, ...]:
    """Return the statements; there are a few hundred combinations."""
    neighbours = RELATIONS[relation].format(unit=unit)
    return (
        Statement(about="protects", text=f"Protects: {UNITS[unit]}."),
        Statement(about="neighbours", text=f"Neighbours: {neighbours}."),
        Statement(about="against", text=f"Against: {OBSERVERS[observer]}."),
        *_trust(definition, observer, shuffled),
        *_sampling(observer, unit, draws, public),
    )


def _trust(definition: Definition | None, observer: Observer, shuffled: bool) -> Iterator[Statement]:
    """State the trusted parties, or the condition of a bare spec."""
    if definition is not None:
        yield Statement(about="trusted", text=f"Trusted: {TRUSTED[definition]}.")
        return
    if shuffled:
        yield Statement(about="trusted", text=f"Trusted: {TRUSTED['shuffle']}.")
    yield Statement(about="condition", text=f"Condition: {NOISE_ADDED_BEFORE[observer]}.")


def _sampling(observer: Observer, unit: Unit, draws: tuple[Draw, ...], public: bool) -> Iterator[Statement]:
    """State each random draw, and whether its outcome must stay secret."""
    random_draws = [draw for draw in draws if draw.sampling != "full"]
    for draw in random_draws:
        drawn = SAMPLINGS[draw.sampling].format(unit=draw.level.removesuffix("s"))
        yield Statement(about="sampling", text=f"Batches: {drawn}. {_secrecy(draw, observer, unit, public)}")
    if not random_draws:
        yield Statement(about="sampling", text=NO_DRAW)


def _secrecy(draw: Draw, observer: Observer, unit: Unit, public: bool) -> str:
    """Return whether the members of a batch must stay secret.

    A draw of records does not protect a whole client. A draw of clients makes a loss to a record rarer, but no smaller.
    Neither amplifies.
    """
    if draw.level != own_level(unit) and not draw.shuffled:
        return PUBLIC_MEMBERS
    if draw.level == "clients" and sees_clients_drawn(observer, draw.sampling):
        return SEEN_MEMBERS
    return PUBLIC_MEMBERS if public else HIDDEN_MEMBERS
