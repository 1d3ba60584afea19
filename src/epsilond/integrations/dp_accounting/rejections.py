"""Why an event of dp-accounting is rejected: the part at fault, and the relations that have a guarantee."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import dp_accounting

from epsilond.accountants.errors import InvalidInput, NoCertificate
from epsilond.accountants.quantities import Relation
from epsilond.integrations.dp_accounting.events import parts_of
from epsilond.integrations.dp_accounting.placed import NotPrivate, name_of
from epsilond.integrations.setting import StatedSetting
from epsilond.questions.account import account

_Relations = dp_accounting.NeighboringRelation

RELATIONS: Mapping[dp_accounting.NeighboringRelation, Relation] = {
    _Relations.ADD_OR_REMOVE_ONE: "add-or-remove-one",
    _Relations.REPLACE_ONE: "replace-one",
    _Relations.REPLACE_SPECIAL: "zero-out-one",
}
"""Neighbouring relations of dp-accounting, and their names here."""
_COMPOSITIONS = {"ComposedDpEvent": "events", "SelfComposedDpEvent": "event"}
"""Attribute with the composed events, by the class of the composition."""


def leaves_of(event: dp_accounting.DpEvent) -> Iterator[dp_accounting.DpEvent]:
    """Yield the events in an event that are not compositions, so that a rejection can name the event that causes it.

    Args:
        event: an event of dp-accounting, which may be composed of others at any depth.
    """
    attribute = _COMPOSITIONS.get(name_of(event))
    if attribute is None:
        yield event
        return
    inner = getattr(event, attribute)
    parts = inner if isinstance(inner, list | tuple) else [inner]
    for part in parts:
        yield from leaves_of(part)


def follow_pointer(event: dp_accounting.DpEvent, pointer: str) -> dp_accounting.DpEvent:
    """Return the innermost dp-accounting event on a path into a composed event, to name it in a rejection.

    Args:
        event: the event that the path starts from.
        pointer: path of attributes and indices, such as `/events/1/event/noise_multiplier`. If it ends in a number of
            an event, this event is returned.
    """
    innermost = event
    value = event
    for name in pointer.split("/")[1:]:
        value = value[int(name)] if name.isdigit() else getattr(value, name, None)
        if isinstance(value, dp_accounting.DpEvent):
            innermost = value
        elif not isinstance(value, list | tuple):
            break
    return innermost


def relations_in_words(event: dp_accounting.DpEvent, setting: StatedSetting) -> str:
    """Name the neighbouring relations in which a rejected event has a guarantee, as the beginning of a message.

    Args:
        event: the event that is rejected.
        setting: relation, unit and observer of the account that rejects it.

    Returns:
        The text, with dp-accounting's names of the relations. It is empty if there is no such relation, or if the
        relation is not the reason for the rejection.
    """
    covered = []
    for their_relation, our_relation in RELATIONS.items():
        if _is_covered(event, {**setting, "relation": our_relation}):
            covered.append(their_relation)
    current = next(theirs for theirs, ours in RELATIONS.items() if ours == setting["relation"])
    if not covered or current in covered:
        return ""
    choices = " or ".join(f"`{relation.name}`" for relation in covered)
    return f"neighboring_relation must be {choices} for `{name_of(event)}`. Found {current}. "


def _is_covered(event: dp_accounting.DpEvent, setting: StatedSetting) -> bool:
    """Return whether a dp-accounting event can be accounted for under a relation, unit and observer.

    Args:
        event: an event of dp-accounting.
        setting: neighbouring relation, protected unit and observer.

    Returns:
        True if every mechanism of the event has a guarantee, or if the event has no noise, so that ε is ∞.
    """
    try:
        for part, _ in parts_of(event, relation=setting["relation"]):
            account(part, **setting)
    except NotPrivate:
        return True
    except (InvalidInput, NoCertificate):
        return False
    return True
