"""The (ε, δ) that a calibrator is asked to meet, and what its setting demands of clients that are absent."""

from __future__ import annotations

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.estimates.target import Target
from epsilond.accountants.quantities import BudgetFields, SettingFields, request
from epsilond.accountants.structure import Definition
from epsilond.accountants.theorem import Condition


@request
class TargetedProblem(SettingFields, BudgetFields):
    """A problem whose answer meets a given (ε, δ) in a given setting."""

    @property
    def target(self) -> Target:
        """The (ε, δ) asked for."""
        return Target.of(self.epsilon, self.delta, self.log10_delta)


NOISE_OF_CLIENTS: tuple[Definition, ...] = ("local", "shuffle")
"""Definitions under which each client adds its own noise."""
ZEROED_CLIENT_SENDS_NOISE = Condition(
    "zeroed-client-sends-noise",
    "a client whose contribution counts as zero still sends every message, with its noise",
)


def require_present_clients(setting: SettingFields, definition: Definition) -> None:
    """Reject a setting in which a protected client may be absent, where each client adds its own noise.

    An absent client sends neither messages nor noise. Whoever counts the messages of a round then tells the two cases
    apart, and even a sum of messages has less noise in one of them.

    Args:
        setting: the unit, the relation and the observer.
        definition: the trust model of the guarantee; it says who adds the noise.

    Raises:
        InvalidInput: the unit is a client, the relation is add-or-remove-one, and each client adds its own noise.
    """
    if setting.unit == "client" and setting.relation == "add-or-remove-one" and definition in NOISE_OF_CLIENTS:
        message = (
            "cannot be add-or-remove-one if the unit is a client that adds its own noise: an absent client sends "
            "nothing, so the number of messages shows whether it takes part. The nearest choice is replace-one"
        )
        raise InvalidInput.at("/relation", message, allowed="replace-one, zero-out-one")


def absence_conditions(setting: SettingFields, definition: Definition) -> tuple[Condition, ...]:
    """Return what a guarantee for a zeroed client assumes of it, where each client adds its own noise.

    Args:
        setting: the unit, the relation and the observer.
        definition: the trust model of the guarantee; it says who adds the noise.
    """
    if setting.unit == "client" and setting.relation == "zero-out-one" and definition in NOISE_OF_CLIENTS:
        return (ZEROED_CLIENT_SENDS_NOISE,)
    return ()
