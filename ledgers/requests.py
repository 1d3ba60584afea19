"""Requests on ledgers: the bodies of the service, which the library and the commands use too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Literal

from epsilond.accountants.errors import InvalidInput, Observation
from epsilond.accountants.guarantee import Setting
from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.accountants.quantities import (
    OBSERVER,
    RELATION,
    UNIT,
    Observer,
    ProtectedUnit,
    Quantity,
    Relation,
    RenyiOrder,
    request,
)
from epsilond.accountants.specs import Spec
from epsilond.ledgers.calibrating.compartment import ChargeTarget
from epsilond.ledgers.mathematics.amending import Independence
from epsilond.ledgers.mathematics.amounts import Amount, exact
from epsilond.ledgers.mathematics.entries import is_blank
from epsilond.ledgers.mathematics.opening import RequestedItem, RequestedSlot, item_of
from epsilond.ledgers.mathematics.state import Declared, SlotKind
from epsilond.ledgers.mathematics.targets.asked import TargetAsked

LONGEST_NAME = 200
Order = Literal["oldest", "newest"]
"""Order of entries: the oldest or the newest come first."""
SECONDS = 86_400.0
"""Seconds after which a reservation expires that states no time: a day."""
MOST_LEDGERS = 1000
MOST_OBSERVATIONS = 100
MOST_RESERVATIONS = 10_000
LONGEST_TEXT = 2000
"""Largest number of characters of a text of an observation."""


@dataclass(frozen=True, kw_only=True)
class AmountQuantity(Quantity):
    """An amount as a decimal string, or as a number, which is read as the decimal that it is written as."""

    longest: int = 64

    def __get_pydantic_core_schema__(
        self, source: object, handler: Callable[[object], dict[str, object]]
    ) -> JsonRecord:
        """Return the schema of a string."""
        return {"type": "str", "strict": True, "max_length": self.longest}

    def convert(self, value: object) -> object:
        """Return a number as a decimal string with all its digits, and any other value as it is."""
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return repr(value) if is_number else value

    def __get_pydantic_json_schema__(
        self, schema: object, handler: Callable[[object], dict[str, object]]
    ) -> JsonRecord:
        """Return the JSON schema, which allows a decimal string or a number."""
        forms = [{"type": "string", "maxLength": self.longest}, {"type": "number", "minimum": 0}]
        return {"anyOf": forms, "description": self.description}


NAME = Quantity(description=f"name for people to read, at most {LONGEST_NAME} characters")
DATASET = Quantity(description="the data set that the budget is of")
BLOCK = Quantity(description="the part of the data set, where each unit lies in exactly one; absent: all of it")
AMOUNT = AmountQuantity(description='an amount: a decimal string of at most 18 places or a number; or "largest"')
COUNT = Quantity(description="number of runs", ge=1, le=1e15)
EXPIRES_IN = Quantity(description="time until the reservation expires; absent: one day", unit="s", gt=0, le=31_536_000)
OF_LEDGER = Quantity(description="must equal the ledger's own; another value is refused")
APPROVAL = Quantity(description="whether a second person approves amendments, voids and reconciliations")
Count = Annotated[int, COUNT]


@request
class Capacity:
    """Capacity of a slot, a budget for runs that are not planned, as the amounts of its parts.

    A gdp slot has `mu_squared`, the sum of μ², and `eta`, the δ that other charges may add. A zcdp slot has `rho` and
    `delta`, a pure slot `epsilon` and `delta`. An rdp slot has `orders`, their `weights` and a `budget`. The first
    amount may be "largest": as much as the ledger's target leaves beside the other parts.
    """

    mu_squared: Annotated[str | None, AMOUNT] = None
    eta: Annotated[str | None, AMOUNT] = None
    rho: Annotated[str | None, AMOUNT] = None
    delta: Annotated[str | None, AMOUNT] = None
    orders: Annotated[tuple[RenyiOrder, ...] | None, Quantity(description="Rényi orders, each above 1")] = None
    weights: Annotated[tuple[float, ...] | None, Quantity(description="weights of the orders; they sum to 1")] = None
    budget: Annotated[str | None, AMOUNT] = None
    epsilon: Annotated[str | None, AMOUNT] = None


@request
class SlotAsked:
    """A slot: its kind, and its capacity by parts; without a capacity the largest that the target allows."""

    kind: Annotated[SlotKind, Quantity(description="gdp: Gaussian; zcdp: zero-concentrated; rdp: Rényi; pure")]
    capacity: Annotated[Literal["largest"] | Capacity, Quantity(description='"largest", or its parts')] = "largest"


@request
class PlannedAsked:
    """A mechanism of the plan, which may be run independently of outputs."""

    name: Annotated[str, NAME]
    spec: Annotated[Spec, Quantity(description="the mechanism")]


@request
class DeclaredAsked:
    """Declarations that no computation can check: see the declared conditions of the ledger."""

    inputs: Annotated[
        Literal["functions-of-releases", "independent-of-outputs"],
        Quantity(description="inputs on which specs, counts and the times of calls depend"),
    ]
    sealed: Annotated[bool, Quantity(description="whether the membership of the block is fixed")]
    released_before: Annotated[bool, Quantity(description="whether anything that reads the block was released")]


@request
class OpenLedger:
    """A ledger to be opened: its data, its target, its plan and its slots."""

    name: Annotated[str, NAME]
    dataset: Annotated[str, DATASET]
    block: Annotated[str | None, BLOCK] = None
    unit: Annotated[ProtectedUnit, UNIT]
    relation: Annotated[Relation, RELATION]
    observer: Annotated[Observer, OBSERVER]
    target: Annotated[TargetAsked, Quantity(description="privacy budget of all runs together")]
    plan: Annotated[
        tuple[PlannedAsked, ...], Quantity(description="runs that are fixed in advance, for all outputs")
    ] = ()
    slots: Annotated[tuple[SlotAsked, ...], Quantity(description="budgets for runs that may be chosen by outputs")] = ()
    declared: Annotated[DeclaredAsked, Quantity(description="declarations of the owner of the data")]
    approval: Annotated[bool, APPROVAL] = False

    def check(self) -> None:
        """Require names that are not empty and not too long."""
        for field, value in (("name", self.name), ("dataset", self.dataset), ("block", self.block)):
            _require_name(value, f"/{field}")
        for index, item in enumerate(self.plan):
            _require_name(item.name, f"/plan/{index}/name")

    @property
    def parts(self) -> JsonRecord:
        """Keyword arguments of the function `ledgers.mathematics.opening.open_ledger`."""
        return {
            "setting": Setting.of(relation=self.relation, unit=self.unit, observer=self.observer),
            "target": self.target.of_ledger,
            "declared": Declared(
                inputs=self.declared.inputs,
                sealed=self.declared.sealed,
                released_before=self.declared.released_before,
            ),
            "plan": tuple(RequestedItem(name=item.name, spec=item.spec) for item in self.plan),
            "slots": tuple(RequestedSlot(kind=slot.kind, capacity=_capacity(slot.capacity)) for slot in self.slots),
            "approval": self.approval,
        }


def _require_name(name: str | None, pointer: str) -> None:
    """Require that a name can be read and is not confused with another. None is allowed.

    Args:
        name: name of a ledger, a data set, a block or an item, or an id.
        pointer: JSON Pointer of the field, for errors.

    Raises:
        InvalidInput: the name is empty or too long, has invisible characters, or begins or ends with a blank.
    """
    if name is None:
        return
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        allowed = f"1 to {LONGEST_NAME} printable characters"
        raise InvalidInput.at(pointer, "is empty or too long, or cannot be printed", allowed=allowed)
    if is_blank(name):
        raise InvalidInput.at(pointer, "has a character that shows nothing", allowed="visible characters and blanks")
    if name != name.strip():
        # It would look like another name, and be another data set with a budget of its own.
        raise InvalidInput.at(pointer, "begins or ends with a blank", allowed="no blanks around it")


def _capacity(capacity: str | Capacity | Mapping[str, object]) -> str | JsonRecord:
    """Return a requested capacity as the word "largest", or as the amounts of its parts without absent ones."""
    if isinstance(capacity, str):
        return capacity
    if isinstance(capacity, Mapping):  # the library does not convert a field with several possible types
        return dict(capacity)
    members = ((field.name, getattr(capacity, field.name)) for field in fields(capacity))
    return {name: value for name, value in members if value is not None}


@request
class JobAsked:
    """Runs that a ledger shall pay for, from an item of its plan or from a slot.

    A slot is a budget for runs that are not planned. If neither is named, the item of the plan with this mechanism
    pays.
    """

    spec: Annotated[Spec | None, Quantity(description="the mechanism")] = None
    item: Annotated[str | None, Quantity(description="the item of the plan that is drawn on")] = None
    slot: Annotated[SlotKind | None, Quantity(description="the slot that is charged")] = None
    count: Annotated[int | None, COUNT] = None
    eta: Annotated[str | None, AmountQuantity(description="largest amount that a residue charge may add to δ")] = None
    delta: Annotated[str | None, AmountQuantity(description="the δ of each run, in a zcdp or pure slot")] = None
    relation: Annotated[Relation | None, OF_LEDGER] = None
    unit: Annotated[ProtectedUnit | None, OF_LEDGER] = None

    @property
    def job(self) -> JsonRecord:
        """Keyword arguments of the function `ledgers.mathematics.moves.reserve`."""
        return {
            "spec": self.spec,
            "item": self.item,
            "slot": self.slot,
            "count": self.count,
            "eta": _read_amount(self.eta, "/eta"),
            "delta": _read_amount(self.delta, "/delta"),
        }


def _read_amount(text: str | None, pointer: str) -> Amount | None:
    """Read an amount from its decimal string; None for None. Errors name the field at `pointer`."""
    return None if text is None else exact(text, pointer)


@request
class WhatIfAsked(JobAsked):
    """A question about the cost of a job, and whether it fits."""


@request
class CalibrateAsked:
    """An algorithm to be calibrated within the remaining budget of a ledger, of a slot or of an item of the plan.

    A slot is a budget for runs that are not planned. If neither is named, the Gaussian slot, or the only slot, is used.
    """

    fields: Annotated[
        JsonObject,
        Quantity(description="fields of the algorithm's calibration, except those that the ledger sets"),
    ]
    slot: Annotated[SlotKind | None, Quantity(description="the slot that would be charged")] = None
    item: Annotated[str | None, Quantity(description="the item of the plan that would be drawn on")] = None
    eta: Annotated[str | None, AmountQuantity(description="largest amount that a residue charge may add to δ")] = None

    @property
    def charge_target(self) -> ChargeTarget:
        """The slot or the plan's item that would be charged."""
        return ChargeTarget(slot=self.slot, item=self.item, eta=_read_amount(self.eta, "/eta"))


@request
class ReserveAsked(JobAsked):
    """Runs to be held, until they are committed, cancelled, or expire."""

    expires_in: Annotated[float | None, EXPIRES_IN] = None


@request
class ReserveManyAsked(ReserveAsked):
    """Runs to be reserved in several ledgers at once: in all of them or in none.

    Each ledger is of one block of a data set, and the runs read all of these blocks.
    """

    ledgers: Annotated[tuple[str, ...], Quantity(description="ids of the ledgers, one for each block that is read")]

    def check(self) -> None:
        """Reject (InvalidInput) an id that is not valid or named twice, no ledger at all, and too many ledgers."""
        for index, identifier in enumerate(self.ledgers):
            _require_name(identifier, f"/ledgers/{index}")
        if not 1 <= len(self.ledgers) <= MOST_LEDGERS:
            raise InvalidInput.at("/ledgers", "are too few or too many", allowed=f"1 to {MOST_LEDGERS}")
        if len(set(self.ledgers)) != len(self.ledgers):
            raise InvalidInput.at("/ledgers", "name a ledger twice", allowed="different ledgers")


@request
class CommitAsked:
    """Runs that may be released from now on; all that are left unless `count` says fewer."""

    count: Annotated[int | None, COUNT] = None


@request
class LowerAsked:
    """An item of the plan that falls to fewer runs."""

    name: Annotated[str, NAME]
    planned: Annotated[int, Quantity(description="runs that stay planned, at least those taken", ge=0, le=1e15)]


@request
class AmendAsked:
    """Another plan: items that are added, and items with fewer runs than before."""

    add: Annotated[tuple[PlannedAsked, ...], Quantity(description="items of new names")] = ()
    lower: Annotated[tuple[LowerAsked, ...], Quantity(description="items that fall to fewer runs")] = ()
    declared: Annotated[
        Independence | None,
        Quantity(
            description="declaration that makes it valid after a commit: neither it nor its time depended on outputs"
        ),
    ] = None
    approval: Annotated[bool | None, Quantity(description=f"{APPROVAL.description}; absent: unchanged")] = None

    def check(self) -> None:
        """Require names that are not empty and not too long."""
        for index, item in enumerate(self.add):
            _require_name(item.name, f"/add/{index}/name")

    @property
    def parts(self) -> JsonRecord:
        """Keyword arguments of the function `ledgers.mathematics.amending.amend_plan`."""
        items = [RequestedItem(name=item.name, spec=item.spec) for item in self.add]
        return {
            "add": tuple(item_of(item, f"/add/{index}") for index, item in enumerate(items)),
            "lower": {item.name: item.planned for item in self.lower},
            "declared": self.declared,
            "approval": self.approval,
        }


@request
class ObservationAsked:
    """An observation that contradicts the record of a run."""

    premise: Annotated[str, Quantity(description="id of the premise that does not hold")]
    message: Annotated[str, Quantity(description="observation")]
    remedy: Annotated[str, Quantity(description="change to the program, or necessary declaration")]
    count: Annotated[int, Quantity(description="number of times observed; 0 if not disclosed", ge=0, le=1e15)]

    def check(self) -> None:
        """Require texts that are not empty and not too long."""
        for name in ("premise", "message", "remedy"):
            if not 0 < len(getattr(self, name)) <= LONGEST_TEXT:
                allowed = f"1 to {LONGEST_TEXT} characters"
                raise InvalidInput.at(f"/{name}", "is empty or too long", allowed=allowed)


@request
class ContradictAsked:
    """Observations that contradict a run which was paid from the ledger."""

    observations: Annotated[tuple[ObservationAsked, ...], Quantity(description="at least one observation")]
    reservations: Annotated[
        tuple[str, ...] | None,
        Quantity(description="ids of those that paid for the run; absent: all with committed runs"),
    ] = None

    def check(self) -> None:
        """Require at least one observation, not too many, and possible ids of reservations.

        Raises:
            InvalidInput: there is no observation, there are too many members, or an id is not valid.
        """
        if not 1 <= len(self.observations) <= MOST_OBSERVATIONS:
            raise InvalidInput.at("/observations", "are too few or too many", allowed=f"1 to {MOST_OBSERVATIONS}")
        if len(self.reservations or ()) > MOST_RESERVATIONS:
            raise InvalidInput.at("/reservations", "are too many", allowed=f"at most {MOST_RESERVATIONS}")
        for index, identifier in enumerate(self.reservations or ()):
            _require_name(identifier, f"/reservations/{index}")

    @property
    def evidence(self) -> tuple[Observation, ...]:
        """Observations, as `ledgers.mathematics.moves.contradict` takes them."""
        return tuple(
            Observation(item.premise, item.message, remedy=item.remedy, count=item.count) for item in self.observations
        )


@request
class VoidAsked:
    """Committed runs that are taken back, on the declaration that no output of them was seen."""

    reservation: Annotated[str, Quantity(description="the reservation")]
    count: Count
    declared: Annotated[Literal["no-output-observed"], Quantity(description="declaration that makes this valid")]

    def check(self) -> None:
        """Require an id that a reservation can have."""
        _require_name(self.reservation, "/reservation")
