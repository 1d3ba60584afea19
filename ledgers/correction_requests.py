"""Requests that correct a ledger: plan changes, observations that contradict a run, and runs that are taken back."""

from __future__ import annotations

from typing import Annotated, Literal

from epsilond.accountants.errors import InvalidInput, Observation
from epsilond.accountants.json_types import JsonRecord
from epsilond.accountants.quantities import Quantity, request
from epsilond.ledgers.mathematics.amending import Independence
from epsilond.ledgers.mathematics.opening import RequestedItem, item_of
from epsilond.ledgers.requests import APPROVAL, NAME, Count, PlannedAsked, require_name

MOST_OBSERVATIONS = 100
"""Largest number of observations in one request."""
MOST_RESERVATIONS = 10_000
"""Largest number of reservations that one request names."""
LONGEST_TEXT = 2000
"""Largest number of characters of a text of an observation."""


@request
class LowerAsked:
    """An item of the plan with a number of runs that is lowered."""

    name: Annotated[str, NAME]
    planned: Annotated[
        int,
        Quantity(
            description="new number of planned runs. It is at least the number that is reserved or committed",
            ge=0,
            le=1e15,
        ),
    ]


@request
class AmendAsked:
    """A change of a plan: items to add, items with fewer runs, or whether a second person must approve."""

    add: Annotated[
        tuple[PlannedAsked, ...], Quantity(description="items to add to the plan. Their names must be new")
    ] = ()
    lower: Annotated[tuple[LowerAsked, ...], Quantity(description="items whose number of planned runs is lowered")] = ()
    declared: Annotated[
        Independence | None,
        Quantity(
            description="declaration that neither the amendment nor its time depended on outputs. It is needed after a "
            "commit"
        ),
    ] = None
    approval: Annotated[bool | None, Quantity(description=f"{APPROVAL.description}; absent: unchanged")] = None

    def check(self) -> None:
        """Check the names of the items to add.

        Raises:
            InvalidInput: a name is empty, too long, or cannot be read.
        """
        for index, item in enumerate(self.add):
            require_name(item.name, f"/add/{index}/name")

    @property
    def parts(self) -> JsonRecord:
        """The request as keyword arguments of the function `ledgers.mathematics.amending.amend_plan`.

        They are the checked items to add, the lowered numbers of runs by the names of the items, the declaration, and
        whether a second person approves changes.

        Raises:
            InvalidInput: an item to add is not valid. The pointer of the error has the item's index.
        """
        added = []
        for index, item in enumerate(self.add):
            requested = RequestedItem(name=item.name, spec=item.spec)
            added.append(item_of(requested, f"/add/{index}"))
        lowered = {item.name: item.planned for item in self.lower}
        return {
            "add": tuple(added),
            "lower": lowered,
            "declared": self.declared,
            "approval": self.approval,
        }


@request
class ObservationAsked:
    """An observation that contradicts the record of a run."""

    premise: Annotated[str, Quantity(description="id of the condition of the guarantee that does not hold")]
    message: Annotated[str, Quantity(description="what was observed, in words")]
    remedy: Annotated[
        str, Quantity(description="change to the program, or declaration, that would make the condition hold")
    ]
    count: Annotated[
        int,
        Quantity(description="number of times that it was observed; 0 if the number is not disclosed", ge=0, le=1e15),
    ]

    def check(self) -> None:
        """Check the lengths of the three texts.

        Raises:
            InvalidInput: a text is empty or too long.
        """
        texts = {"premise": self.premise, "message": self.message, "remedy": self.remedy}
        for name, text in texts.items():
            if not 0 < len(text) <= LONGEST_TEXT:
                allowed = f"1 to {LONGEST_TEXT} characters"
                raise InvalidInput.at(f"/{name}", "is empty or too long", allowed=allowed)


@request
class ContradictAsked:
    """Observations that contradict a run which was paid from the ledger."""

    observations: Annotated[
        tuple[ObservationAsked, ...], Quantity(description="observations that contradict the run; at least one")
    ]
    reservations: Annotated[
        tuple[str, ...] | None,
        Quantity(
            description="ids of the reservations that paid for the run. Absent: all reservations with committed runs"
        ),
    ] = None

    def check(self) -> None:
        """Check the numbers of observations and reservations, and the ids of the reservations.

        Raises:
            InvalidInput: there is no observation, there are too many observations or reservations, or an id is not
                valid.
        """
        if not 1 <= len(self.observations) <= MOST_OBSERVATIONS:
            raise InvalidInput.at("/observations", "are too few or too many", allowed=f"1 to {MOST_OBSERVATIONS}")
        if len(self.reservations or ()) > MOST_RESERVATIONS:
            raise InvalidInput.at("/reservations", "are too many", allowed=f"at most {MOST_RESERVATIONS}")
        for index, identifier in enumerate(self.reservations or ()):
            require_name(identifier, f"/reservations/{index}")

    @property
    def evidence(self) -> tuple[Observation, ...]:
        """The observations in the form that `ledgers.mathematics.moves.contradict` takes."""
        observations = []
        for item in self.observations:
            observation = Observation(item.premise, item.message, remedy=item.remedy, count=item.count)
            observations.append(observation)
        return tuple(observations)


@request
class VoidAsked:
    """Committed runs that are taken back, on the declaration that no output of them was seen."""

    reservation: Annotated[str, Quantity(description="id of the reservation with the committed runs")]
    count: Count
    declared: Annotated[
        Literal["no-output-observed"], Quantity(description="declaration that nobody has seen an output of these runs")
    ]

    def check(self) -> None:
        """Check the id of the reservation.

        Raises:
            InvalidInput: no reservation can have this id.
        """
        require_name(self.reservation, "/reservation")
