"""Rows and states of a book as the documents that the service answers."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from typing import Any

from epsilond.accountants.ledger.amounts import ZERO, shown
from epsilond.accountants.ledger.entries import amounts, charged
from epsilond.accountants.ledger.state import LedgerState
from epsilond.accountants.ledger.view import conditions, in_words, plan_curve
from epsilond.accountants.ledger.what_if import WhatIf
from epsilond.ledgers.storage.records import LedgerRow, ReservationRow

Answer = dict[str, Any]


def summary(row: LedgerRow) -> Answer:
    """A ledger among others."""
    record = json.loads(row.record)
    found = {
        "id": row.id,
        "name": row.name,
        "dataset": row.dataset,
        "state": row.status,
        "sealed": row.sealed,
        "unit": record["unit"],
        "relation": record["relation"],
        "observer": record["observer"],
        "target": _target(record["target"]),
        "opened": _time(row.created),
    }
    return found | ({"block": row.block} if row.block else {})


def ledger(row: LedgerRow, state: LedgerState) -> Answer:
    """A ledger with its balances, the exact curve of its plan and what its promise rests on."""
    record = json.loads(row.record)
    return summary(row) | {
        "conditional": state.conditional,
        "guarantee": {**_target(record["target"]), "in_words": in_words(state, row.name)},
        "plan": [
            {
                "name": item.name,
                "spec": json.loads(held.spec),
                "planned": item.planned,
                "reserved": item.reserved,
                "committed": item.committed,
                "credit": item.credit,
            }
            for item, held in zip(state.plan, row.items, strict=True)
        ],
        "slots": [
            {
                "kind": slot.kind,
                "capacity": amounts(slot.capacity),
                "used": {part: shown(slot.used.get(part, ZERO)) for part in slot.capacity},
                "reserved": {part: shown(slot.reserved.get(part, ZERO)) for part in slot.capacity},
                "remaining": {part: shown(slot.free(part)) for part in slot.capacity},
            }
            for slot in state.slots
        ],
        "curve": [{"epsilon": point.epsilon, "log10_delta": point.log10_delta} for point in plan_curve(state)],
        "declared": record["declared"],
        "declared_conditions": [
            {"id": each.id, "statement": each.statement} for each in conditions(state, of_block=bool(row.block))
        ],
    }


def reservation(row: ReservationRow) -> Answer:
    """A reservation, with what it holds in each of its ledgers."""
    first = row.holdings[0]
    found: Answer = {
        "id": row.id,
        "state": row.state,
        "count": first.count,
        "committed": first.committed,
        "holdings": [_holding(each) for each in row.holdings],
    }
    if first.charge is not None:
        found["charge"] = json.loads(first.charge)
    return found | ({} if row.expires is None else {"expires": _time(row.expires)})


def what_if(found: WhatIf) -> Answer:
    """What a job would cost, and whether it fits."""
    told: Mapping[str, Any] = {
        "fits": found.fits,
        "count": found.count,
        "item": found.item,
        "slot": found.slot,
        "charge": None if found.charge is None else charged(found.charge),
        "reason": found.reason,
        "nearest": dict(found.nearest) or None,
    }
    return {name: value for name, value in told.items() if value is not None}


def _holding(held: Any) -> Answer:
    told = {"ledger": held.ledger, "item": held.item, "slot": held.slot, "spec": json.loads(held.spec)}
    told["charge"] = None if held.charge is None else json.loads(held.charge)
    return {name: value for name, value in told.items() if value is not None}


def _target(record: Mapping[str, str]) -> Answer:
    log_delta = float(record["log_delta"])
    delta = math.exp(log_delta)
    told = {"epsilon": float(record["epsilon"]), "log10_delta": log_delta / math.log(10.0)}
    return told | ({"delta": delta} if delta > 0.0 else {})


def _time(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
