"""Requests on ledgers: the bodies of the service, which the library and the commands use too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Literal

from epsilond.accountants.errors import InvalidInput
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
from epsilond.ledgers.mathematics.amounts import Amount, exact
from epsilond.ledgers.mathematics.checks.people import is_blank
from epsilond.ledgers.mathematics.opening import RequestedItem, RequestedSlot
from epsilond.ledgers.mathematics.state import Declared, SlotKind
from epsilond.ledgers.mathematics.targets.asked import TargetAsked

LONGEST_NAME = 200
"""Largest number of characters of the name of a ledger, a data set, a block or an item."""
Order = Literal["oldest", "newest"]
"""Order of entries: the oldest or the newest come first."""
SECONDS = 86_400.0
"""Seconds until a reservation expires for which no time was requested: a day."""
MOST_LEDGERS = 1000
"""Largest number of ledgers in which one request reserves runs."""


@dataclass(frozen=True, kw_only=True)
class AmountQuantity(Quantity):
    """Type of a request's field that holds an exact amount of budget, such as a δ.

    The amount is a decimal string, or a number, which is read as the decimal that it is written as: 0.1 is one tenth.

    Attributes:
        longest: largest number of characters of the string.
    """

    longest: int = 64

    def __get_pydantic_core_schema__(
        self, source: object, handler: Callable[[object], dict[str, object]]
    ) -> JsonRecord:
        """Return pydantic's schema of a string, because amounts are kept as decimal strings."""
        return {"type": "str", "strict": True, "max_length": self.longest}

    def convert(self, value: object) -> object:
        """Return a number as a decimal string with all its digits, and any other value as it is.

        Args:
            value: value of the field in a request.
        """
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number:
            return value
        return repr(value)

    def __get_pydantic_json_schema__(
        self, schema: object, handler: Callable[[object], dict[str, object]]
    ) -> JsonRecord:
        """Return the JSON schema of the field, which allows a decimal string or a number."""
        forms = [{"type": "string", "maxLength": self.longest}, {"type": "number", "minimum": 0}]
        return {"anyOf": forms, "description": self.description}


NAME = Quantity(description=f"name that people read, with at most {LONGEST_NAME} characters")
DATASET = Quantity(description="name of the data set to which the privacy budget belongs")
BLOCK = Quantity(
    description="name of the part of the data set (block). Each protected unit is in exactly one block. "
    "Absent: the whole data set"
)
AMOUNT = AmountQuantity(
    description='amount of this part: a decimal string with at most 18 decimal places, or a number; or "largest"'
)
COUNT = Quantity(description="number of runs", ge=1, le=1e15)
EXPIRES_IN = Quantity(
    description="time in seconds until the reservation expires; absent: one day", unit="s", gt=0, le=31_536_000
)
OF_LEDGER = Quantity(
    description="value that the caller assumes the ledger to have. Another value than the ledger's is rejected"
)
APPROVAL = Quantity(
    description="true: amendments, voids and reconciliations take effect only when a second person has approved them"
)
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
    weights: Annotated[
        tuple[float, ...] | None,
        Quantity(description="weights of the orders in the slot's bound, in the order of orders. They add up to 1"),
    ] = None
    budget: Annotated[str | None, AMOUNT] = None
    epsilon: Annotated[str | None, AMOUNT] = None


@request
class SlotAsked:
    """A slot: its kind, and its capacity by parts; without a capacity the largest that the target allows."""

    kind: Annotated[
        SlotKind,
        Quantity(
            description="how the slot measures privacy loss. gdp: Gaussian differential privacy. zcdp: "
            "zero-concentrated. rdp: Rényi divergences. pure: pure differential privacy"
        ),
    ]
    capacity: Annotated[
        Literal["largest"] | Capacity,
        Quantity(
            description='capacity as the amounts of its parts; or "largest", which is as much as the target leaves'
        ),
    ] = "largest"


@request
class PlannedAsked:
    """A mechanism of the plan, which may be run independently of outputs."""

    name: Annotated[str, NAME]
    spec: Annotated[Spec, Quantity(description="mechanism of the planned run")]


@request
class DeclaredAsked:
    """Declarations about the data and its use, which no computation can check. The guarantee depends on them."""

    inputs: Annotated[
        Literal["functions-of-releases", "independent-of-outputs"],
        Quantity(
            description="what the choice of mechanisms, numbers of runs and times of calls may depend on. "
            "functions-of-releases: earlier outputs of the ledger's runs. independent-of-outputs: no "
            "outputs"
        ),
    ]
    sealed: Annotated[bool, Quantity(description="true: it is declared that the membership of the block is fixed")]
    released_before: Annotated[
        bool, Quantity(description="true: outputs that were computed from the block have been released before")
    ]


@request
class OpenLedger:
    """A ledger to be opened: its data, its target, its plan and its slots."""

    name: Annotated[str, NAME]
    dataset: Annotated[str, DATASET]
    block: Annotated[str | None, BLOCK] = None
    unit: Annotated[ProtectedUnit, UNIT]
    relation: Annotated[Relation, RELATION]
    observer: Annotated[Observer, OBSERVER]
    target: Annotated[TargetAsked, Quantity(description="privacy budget (ε, δ) of all runs together")]
    plan: Annotated[
        tuple[PlannedAsked, ...],
        Quantity(description="planned runs, which are fixed in advance and do not depend on outputs"),
    ] = ()
    slots: Annotated[
        tuple[SlotAsked, ...],
        Quantity(description="slots: budgets for runs that are not planned and may be chosen by earlier outputs"),
    ] = ()
    declared: Annotated[
        DeclaredAsked, Quantity(description="declarations by the owner of the data, on which the guarantee depends")
    ]
    approval: Annotated[bool, APPROVAL] = False

    def check(self) -> None:
        """Check the names of the ledger, its data set, its block and the items of its plan.

        Raises:
            InvalidInput: a name is empty, too long, or cannot be read.
        """
        for field, value in (("name", self.name), ("dataset", self.dataset), ("block", self.block)):
            require_name(value, f"/{field}")
        for index, item in enumerate(self.plan):
            require_name(item.name, f"/plan/{index}/name")

    @property
    def parts(self) -> JsonRecord:
        """The request as the keyword arguments of the function `ledgers.mathematics.opening.open_ledger`.

        They are relation, unit and observer of the guarantee, the privacy target, the owner's declarations, the plan,
        the slots (budgets for runs outside the plan), and whether a second person must approve changes.
        """
        declared = Declared(
            inputs=self.declared.inputs,
            sealed=self.declared.sealed,
            released_before=self.declared.released_before,
        )
        plan = [RequestedItem(name=item.name, spec=item.spec) for item in self.plan]
        slots = [RequestedSlot(kind=slot.kind, capacity=_capacity(slot.capacity)) for slot in self.slots]
        return {
            "setting": Setting.of(relation=self.relation, unit=self.unit, observer=self.observer),
            "target": self.target.of_ledger,
            "declared": declared,
            "plan": tuple(plan),
            "slots": tuple(slots),
            "approval": self.approval,
        }


def require_name(name: str | None, pointer: str) -> None:
    """Require that a name can be read and cannot be confused with another one.

    Args:
        name: name of a ledger, a data set, a block or an item, or an id. None is allowed.
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
    """Return the requested capacity of a slot (a budget for runs that are not planned), without absent amounts.

    Args:
        capacity: the word "largest", or the amounts of the slot's parts: as a request, or as a mapping by their names.

    Returns:
        The word, or the amounts by name.
    """
    if isinstance(capacity, str):
        return capacity
    if isinstance(capacity, Mapping):  # the library does not convert a field with several possible types
        return dict(capacity)
    members = {field.name: getattr(capacity, field.name) for field in fields(capacity)}
    return {name: value for name, value in members.items() if value is not None}


@request
class JobAsked:
    """Runs that a ledger shall pay for, from an item of its plan or from a slot.

    A slot is a budget for runs that are not planned. If neither is named, the item of the plan with this mechanism
    pays.
    """

    spec: Annotated[Spec | None, Quantity(description="mechanism of one run")] = None
    item: Annotated[str | None, Quantity(description="name of the item of the plan that pays for the runs")] = None
    slot: Annotated[SlotKind | None, Quantity(description="kind of the slot that pays for the runs")] = None
    count: Annotated[int | None, COUNT] = None
    eta: Annotated[
        str | None,
        AmountQuantity(
            description="largest amount that the job may add to δ, if it is not Gaussian and is charged to the "
            "Gaussian slot"
        ),
    ] = None
    delta: Annotated[str | None, AmountQuantity(description="δ of each run, if a zcdp or pure slot pays")] = None
    relation: Annotated[Relation | None, OF_LEDGER] = None
    unit: Annotated[ProtectedUnit | None, OF_LEDGER] = None

    @property
    def job(self) -> JsonRecord:
        """The request as keyword arguments of `ledgers.mathematics.moves.reserve`, which reserves the runs of a job.

        `eta` and `delta` are exact decimals or None: the δ that may be charged for the whole job, and for each run.

        Raises:
            InvalidInput: `eta` or `delta` is not an amount.
        """
        return {
            "spec": self.spec,
            "item": self.item,
            "slot": self.slot,
            "count": self.count,
            "eta": _read_amount(self.eta, "/eta"),
            "delta": _read_amount(self.delta, "/delta"),
        }


def _read_amount(text: str | None, pointer: str) -> Amount | None:
    """Read an exact amount of a request from its decimal string.

    Args:
        text: the string; None if the field is absent.
        pointer: JSON Pointer of the field, for errors.

    Returns:
        The amount; None if the field is absent.

    Raises:
        InvalidInput: the string is not an amount, or has more than 18 decimal places.
    """
    if text is None:
        return None
    return exact(text, pointer)


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
        Quantity(
            description="fields of the calibration's request, except those that the ledger sets: target, unit, "
            "relation and observer"
        ),
    ]
    slot: Annotated[
        SlotKind | None, Quantity(description="kind of the slot from whose remaining budget the run would be paid")
    ] = None
    item: Annotated[
        str | None, Quantity(description="name of the item of the plan from which the run would be paid")
    ] = None
    eta: Annotated[
        str | None,
        AmountQuantity(
            description="largest amount that the job may add to δ, if it is not Gaussian and is charged to the "
            "Gaussian slot"
        ),
    ] = None

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

    ledgers: Annotated[
        tuple[str, ...], Quantity(description="ids of the ledgers, one for each block that the runs read")
    ]

    def check(self) -> None:
        """Check the ids of the ledgers.

        Raises:
            InvalidInput: an id is not valid or named twice, or there are no ledgers or too many.
        """
        for index, identifier in enumerate(self.ledgers):
            require_name(identifier, f"/ledgers/{index}")
        if not 1 <= len(self.ledgers) <= MOST_LEDGERS:
            raise InvalidInput.at("/ledgers", "are too few or too many", allowed=f"1 to {MOST_LEDGERS}")
        if len(set(self.ledgers)) != len(self.ledgers):
            raise InvalidInput.at("/ledgers", "name a ledger twice", allowed="different ledgers")


@request
class CommitAsked:
    """Runs to be committed, after which their outputs may be released. Without `count`, all that are left."""

    count: Annotated[int | None, COUNT] = None
