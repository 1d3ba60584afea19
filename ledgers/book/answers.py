"""Answers about ledgers and reservations: balances as decimal strings, promises in words, never a spend."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Literal

from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.accountants.quantities import Observer, ProtectedUnit, Relation
from epsilond.calibrators.answer import Calibration, Caution, DeclaredCondition, Served, TargetAnswer, as_json
from epsilond.ledgers.book.contradictions import ObservationAnswer
from epsilond.ledgers.book.figures import (
    ChargeAnswer,
    HoldingAnswer,
    ItemAnswer,
    ReceiptAnswer,
    ReservationAnswer,
    ResourceAnswer,
    SlotAnswer,
    above,
    charge_answer,
    holding_charge,
    item_answer,
    log10_above,
    resource_answer,
    slot_answer,
    target_answer_of,
)
from epsilond.ledgers.book.promises.ledger import LedgerPromise
from epsilond.ledgers.calibrating.within import Within
from epsilond.ledgers.mathematics.amounts import format_amounts
from epsilond.ledgers.mathematics.entries import read_target
from epsilond.ledgers.mathematics.state import LedgerState
from epsilond.ledgers.mathematics.view import find_scarcest, in_words
from epsilond.ledgers.mathematics.what_if import WhatIf
from epsilond.ledgers.store.records import LedgerRow, ReservationRow

INVARIANT = "epsilond.ledger"
"""Name of the theorem that proves every promise of a ledger."""


@dataclass(frozen=True, kw_only=True)
class GuaranteeOfLedger:
    """The guarantee for all runs that the ledger ever allows, certified when it was opened or last amended."""

    in_words: Annotated[str, Served("the guarantee in one sentence")]
    epsilon: Annotated[float, Served("upper bound on ε of all runs together that the ledger allows, at the target's δ")]
    log10_delta: Annotated[
        float,
        Served(
            "upper bound on the base-10 logarithm of δ of all runs together that the ledger allows, at the target's ε"
        ),
    ]
    theorems: Annotated[
        tuple[str, ...], Served("ids of the theorems that prove the guarantee and the charges of the reservations")
    ]


@dataclass(frozen=True, kw_only=True)
class PlanCurvePoint:
    """Upper bound on ε at one δ, if only the plan is run and no slot is used."""

    log10_delta: float
    epsilon: float


@dataclass(frozen=True, kw_only=True)
class LedgerSummary:
    """A ledger with its balances."""

    id: str
    name: str
    dataset: str
    block: Annotated[str | None, Served("name of the part of the data set (block); absent: the whole data set")] = None
    unit: ProtectedUnit
    relation: Relation
    observer: Observer
    opened: Annotated[str, Served("time at which the ledger was opened (RFC 3339, UTC)")]
    state: Annotated[
        Literal["open", "closed", "contradicted"],
        Served(
            "state of the ledger. open: runs can be reserved. closed: nothing more can be reserved. "
            "contradicted: a run differed from its record, and no ε holds"
        ),
    ]
    sealed: Annotated[bool, Served("true: the membership of the block is fixed. Runs can be reserved only then")]
    conditional: Annotated[
        bool,
        Served("true: the guarantee also depends on declarations that were made for voided runs or for amendments"),
    ]
    approval: Annotated[
        bool,
        Served("true: amendments, voids and reconciliations take effect only when a second person has approved them"),
    ] = False
    target: Annotated[TargetAnswer, Served("privacy budget (ε, δ) of all runs together")]
    plan: tuple[ItemAnswer, ...]
    slots: tuple[SlotAnswer, ...]


@dataclass(frozen=True, kw_only=True)
class LedgerAnswer(LedgerSummary):
    """A ledger with its guarantee and conditions. A contradicted ledger has observations and no guarantee."""

    guarantee: Annotated[
        GuaranteeOfLedger | None,
        Served("guarantee for all runs that the ledger allows; absent if the ledger is contradicted"),
    ] = None
    observations: Annotated[
        tuple[ObservationAnswer, ...], Served("observations that contradict runs; empty if there are none")
    ]
    runs_out_first: Annotated[
        ResourceAnswer | None,
        Served(
            "part of a slot or item of the plan of which the largest share is used or reserved; absent if there is none"
        ),
    ] = None
    declared_conditions: tuple[DeclaredCondition, ...]
    curve: Annotated[
        tuple[PlanCurvePoint, ...],
        Served(
            "upper bounds on ε at several δ, if only the whole plan is run. Empty without a plan, or if "
            "the ledger is contradicted"
        ),
    ]
    warnings: tuple[Caution, ...]


@dataclass(frozen=True, kw_only=True)
class LedgerList:
    """A page of ledgers, in the order in which they were opened."""

    ledgers: tuple[LedgerSummary, ...]
    next: Annotated[str | None, Served("position at which the next page starts; absent on the last page")] = None
    warnings: Annotated[tuple[Caution, ...] | None, Served("warnings; absent if there are none")] = None


@dataclass(frozen=True, kw_only=True)
class WhatIfAnswer:
    """Whether a job fits. Nothing was changed, and nothing is held."""

    fits: bool
    count: Annotated[int, Served("number of runs in the question")]
    charge: Annotated[ChargeAnswer | None, Served("cost of the job; absent if it does not fit")] = None
    reason: Annotated[str | None, Served("why the job does not fit; absent if it fits")] = None
    nearest: Annotated[Mapping[str, float | str], Served("values of fields with which a similar job would fit")]
    runs_out_first: Annotated[
        ResourceAnswer | None,
        Served(
            "part of a slot or item of the plan with the largest share used or reserved, counting the job "
            "if it fits; absent if there is none"
        ),
    ] = None
    held_by_others: Annotated[
        Mapping[str, Mapping[str, str]],
        Served("amounts that existing reservations hold, by kind of slot and name of part"),
    ]
    warnings: Annotated[tuple[Caution, ...] | None, Served("warnings; absent if there are none")] = None


@dataclass(frozen=True, kw_only=True)
class WithinAnswer:
    """A calibration of a run within the remaining budget of a ledger. Nothing was changed or reserved."""

    algorithm: str
    request: Annotated[
        JsonObject, Served("body of POST /v1/calibrations/{algorithm} that returns the same calibration")
    ]
    spec: Annotated[JsonObject, Served("description of the calibrated run, to be reserved without changes")]
    count: Annotated[int, Served("number of runs to reserve for the spec")]
    charge: Annotated[ChargeAnswer, Served("cost of the job if it is reserved")]
    slack: Annotated[
        float | None,
        Served(
            "fraction of the noise. With so much less noise the ledger provably rejects the run. Absent if "
            "no such fraction is known"
        ),
    ] = None
    calibration: Annotated[
        Calibration,
        Served("complete answer to request. Its guarantee is for this run by itself, without the ledger's other runs"),
    ]
    warnings: Annotated[tuple[Caution, ...] | None, Served("warnings; absent if there are none")] = None


def summary(row: LedgerRow) -> LedgerSummary:
    """Summarise a ledger for an answer: its names, protected unit, relation, observer, state, target and balances.

    Args:
        row: database rows of the ledger.
    """
    return LedgerSummary(**_row_members(row))


def answer(
    row: LedgerRow, state: LedgerState, promise: LedgerPromise, warnings: Sequence[Caution] = ()
) -> LedgerAnswer:
    """Return the service's full answer about a ledger, with its balances, guarantee and conditions.

    Args:
        row: database rows of the ledger.
        state: state of the ledger, read at the same moment.
        promise: conditions, curve of the plan and certificate, which take long to compute.
        warnings: warnings about the ledger and of the service.

    Returns:
        The answer. Its guarantee is None if an observation contradicts a run, because the ledger then has no ε.
    """
    guarantee = None if state.observations else _guarantee(row, state, promise)
    curve = [PlanCurvePoint(log10_delta=above(point.log10_delta), epsilon=point.epsilon) for point in promise.curve]
    return LedgerAnswer(
        **_row_members(row),
        guarantee=guarantee,
        observations=tuple(map(ObservationAnswer.of, state.observations)),
        runs_out_first=resource_answer(find_scarcest(state)),
        declared_conditions=promise.conditions,
        curve=tuple(curve),
        warnings=tuple(warnings),
    )


def _guarantee(row: LedgerRow, state: LedgerState, promise: LedgerPromise) -> GuaranteeOfLedger:
    """Return the guarantee of a ledger, in words and with the ε and δ that were certified last.

    Args:
        row: database rows of the ledger. The record of its opening has the certificate of that time.
        state: state of the ledger.
        promise: the parts of the answer that take long to compute, with a newer certificate if the ledger was amended.
    """
    certified = promise.certified or json.loads(row.record)["certified"]
    charges = [held.charge for held in state.reservations.values() if held.charge is not None]
    theorems_of_charges = sorted({charge.theorem for charge in charges})
    return GuaranteeOfLedger(
        in_words=in_words(state, row.name),
        epsilon=float(certified["epsilon"]),
        log10_delta=log10_above(float(certified["log_delta"])),
        theorems=(INVARIANT, *theorems_of_charges),
    )


def reservation(
    row: ReservationRow, receipts: Sequence[JsonObject] | None = None, warnings: Sequence[Caution] = ()
) -> ReservationAnswer:
    """Return the service's answer about a reservation of runs, from its database rows.

    All ledgers of a reservation hold the same number of runs. If the numbers of committed runs differ, the answer has
    the smallest.

    Args:
        row: the reservation with its holdings, that is, with its part in each ledger.
        receipts: receipts of its newest commits; None to leave them out.
        warnings: warnings about the reservation and of the service.

    Returns:
        State, numbers of reserved and committed runs, charge in the first ledger, times, and the part in each ledger.
    """
    holdings = []
    for holding in row.holdings:
        charge = holding_charge(holding)
        holdings.append(HoldingAnswer(ledger=holding.ledger, committed=holding.committed, charge=charge))
    first_holding, *_ = row.holdings
    receipt_answers = None
    if receipts is not None:
        receipt_answers = tuple(ReceiptAnswer(**receipt) for receipt in receipts)
    expires = None if row.expires is None else when(row.expires)
    return ReservationAnswer(
        id=row.id,
        state=row.state,
        count=first_holding.count,
        committed=min(holding.committed for holding in row.holdings),
        charge=holding_charge(first_holding),
        created=when(row.created),
        expires=expires,
        ledgers=row.ledgers,
        holdings=tuple(holdings),
        receipts=receipt_answers,
        warnings=tuple(warnings),
    )


def what_if(result: WhatIf, warnings: Sequence[Caution] = ()) -> WhatIfAnswer:
    """Convert the result of a what-if query to the service's answer, with amounts as decimal strings.

    Args:
        result: whether a ledger could pay for some runs, their charge, and similar runs that it could pay for.
        warnings: warnings of the service.

    Returns:
        The answer. `charge` is None if the runs do not fit.
    """
    charge = None
    if result.fits:
        charge = charge_answer(result.item, result.slot, result.count, result.charge)
    return WhatIfAnswer(
        fits=result.fits,
        count=result.count,
        charge=charge,
        reason=result.reason,
        nearest=dict(result.nearest),
        runs_out_first=resource_answer(result.scarcest),
        held_by_others={kind: format_amounts(parts) for kind, parts in result.held_by_others.items()},
        warnings=tuple(warnings) or None,
    )


def within_record(result: Within) -> JsonObject:
    """Return a calibration within the remaining budget of a ledger as a JSON object.

    Args:
        result: the calibrated run, with the reservation that the ledger would make for it.

    Returns:
        The JSON object, with the members algorithm, request, spec, count, charge and slack. Those that are None, such
        as a slack that the search could not determine, are left out.
    """
    held = result.held
    members = {
        "algorithm": result.algorithm,
        "request": as_json(result.request),
        "spec": as_json(result.spec),
        "count": held.count,
        "charge": charge_answer(held.item, held.slot, held.count, held.charge),
        "slack": result.slack,
    }
    return {name: value for name, value in members.items() if value is not None}


def within(result: Within, calibration: Calibration, warnings: Sequence[Caution] = ()) -> WithinAnswer:
    """Return the service's answer to a calibration within the remaining budget of a ledger.

    Args:
        result: the calibrated run, with the reservation that the ledger would make for it.
        calibration: the complete answer to the calibration's own request.
        warnings: warnings of the service.

    Returns:
        The answer. `warnings` is None if there are none.
    """
    return WithinAnswer(**within_record(result), calibration=calibration, warnings=tuple(warnings) or None)


def when(seconds: float) -> str:
    """Format a time as RFC 3339 text in UTC, to the millisecond, such as `2026-01-31T08:30:00.125Z`.

    Args:
        seconds: time in seconds since 1970.
    """
    text = datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def _row_members(row: LedgerRow) -> JsonRecord:
    """Return the fields of an answer about a ledger that follow from its database rows, by name.

    The state is `contradicted` if a run was observed to differ from the mechanism that was paid for.

    Args:
        row: database rows of the ledger. The record of its opening has the unit, the relation, the observer and the
            target.
    """
    opening = json.loads(row.record)
    slot_kinds = dict.fromkeys(part.kind for part in row.parts)  # each once, in the order of the rows
    return {
        "id": row.id,
        "name": row.name,
        "dataset": row.dataset,
        "block": row.block or None,
        "unit": opening["unit"],
        "relation": opening["relation"],
        "observer": opening["observer"],
        "opened": when(row.created),
        "state": "contradicted" if row.contradicted else row.status,
        "sealed": row.sealed,
        "conditional": row.conditional,
        "approval": row.approval_from is not None,
        "target": target_answer_of(read_target(opening["target"])),
        "plan": tuple(map(item_answer, row.items)),
        "slots": tuple(slot_answer(row, kind) for kind in slot_kinds),
    }
