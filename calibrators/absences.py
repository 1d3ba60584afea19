"""Clients that add their own noise, and may be absent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.theorem import Condition

if TYPE_CHECKING:
    from epsilond.accountants.quantities import SettingFields
    from epsilond.accountants.structure import Definition

NOISE_OF_CLIENTS: tuple[Definition, ...] = ("local", "shuffle")
"""Definitions under which each client adds its own noise."""
ZEROED_CLIENT_SENDS_NOISE = Condition(
    "zeroed-client-sends-noise",
    "a client with a contribution of zero still sends every message, with its noise",
)


def require_present_clients(setting: SettingFields, definition: Definition) -> None:
    """Reject the neighbouring relation add-or-remove-one for clients that add their own noise.

    An absent client sends neither messages nor noise. The number of messages in a round then shows whether the client
    takes part. Even a sum of messages has less noise without the client.

    Args:
        setting: the protected unit, the neighbouring relation and the observer.
        definition: the trust model of the guarantee, which determines who adds the noise.

    Raises:
        InvalidInput: the unit is a client, the relation is add-or-remove-one, and each client adds its own noise.
    """
    may_be_absent = setting.unit == "client" and setting.relation == "add-or-remove-one"
    if may_be_absent and definition in NOISE_OF_CLIENTS:
        message = (
            "cannot be add-or-remove-one if the unit is a client that adds its own noise. An absent client sends "
            "nothing, so the number of messages shows whether it takes part. The nearest choice is replace-one"
        )
        raise InvalidInput.at("/relation", message, allowed="replace-one, zero-out-one")


def absence_conditions(setting: SettingFields, definition: Definition) -> tuple[Condition, ...]:
    """Return the condition that a client with zeroed data still sends its noise, if the guarantee requires it.

    The relation zero-out-one of clients that add their own noise requires it, because an observer would otherwise
    notice the missing message.

    Args:
        setting: the protected unit, the neighbouring relation and the observer.
        definition: the trust model of the guarantee, which determines who adds the noise.

    Returns:
        A tuple with the condition; empty if it is not required.
    """
    may_be_zeroed = setting.unit == "client" and setting.relation == "zero-out-one"
    if may_be_zeroed and definition in NOISE_OF_CLIENTS:
        return (ZEROED_CLIENT_SENDS_NOISE,)
    return ()
