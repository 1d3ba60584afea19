"""The rules of docs/ledger-format.md give every balance of the test vectors. This file shares no code with the ledger."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from decimal import Decimal
from typing import Any

import pytest

from tests.documents import ROOT

VECTORS = json.loads((ROOT / "docs/ledger-format/vectors.json").read_text(encoding="utf-8"))
ENTRIES = [vector["entry"] for vector in VECTORS["entries"]]
Record = dict[str, Any]


def text_of(amount: Decimal) -> str:
    return f"{amount:f}".rstrip("0").rstrip(".") if "." in f"{amount:f}" else f"{amount:f}"


class Balance:
    """One ledger, moved by the table of the page."""

    def __init__(self) -> None:
        self.status, self.sealed, self.approval = "open", False, False
        self.slots: dict[str, dict[str, list[Decimal]]] = {}
        self.items: dict[str, Record] = {}
        self.held: dict[str, Record] = {}

    def add_items(self, items: list[Record]) -> None:
        for item in items:
            self.items[item["name"]] = item | {"reserved": 0, "committed": 0, "credit": 0}

    def move(self, entry: Record) -> None:
        getattr(self, entry["kind"])(entry)

    def opened(self, entry: Record) -> None:
        self.add_items(entry["plan"])
        self.sealed, self.approval = entry["declared"]["sealed"], entry.get("approval", False)
        for slot in entry["slots"]:
            self.slots[slot["kind"]] = {
                part: [Decimal(amount), Decimal(0), Decimal(0)] for part, amount in slot["capacity"].items()
            }

    def amended(self, entry: Record) -> None:
        self.approval = entry.get("approval", self.approval)
        for lowered in entry["lower"]:
            item = self.items[lowered["name"]]
            item["planned"] = lowered["planned"]
            item["credit"] = min(item["credit"], item["planned"] - item["reserved"] - item["committed"])
        self.add_items(entry["add"])

    def reserved(self, entry: Record) -> None:
        held = {name: entry.get(name) for name in ("spec", "item", "slot", "charge", "count")}
        self.held[entry["reservation"]] = held | {"committed": 0, "ended": False}
        if held["item"] is None:
            self.shift(held["slot"], held["charge"]["parts"], reserved=1)
        else:
            item = self.items[held["item"]]
            free = item["planned"] - item["reserved"] - item["committed"] - item["credit"]
            item["credit"] -= max(0, entry["count"] - free)
            item["reserved"] += entry["count"]

    def shift(self, slot: str, amounts: dict[str, str], *, used: int = 0, reserved: int = 0) -> None:
        for part, amount in amounts.items():
            figures = self.slots[slot][part]
            figures[1] += used * Decimal(amount)
            figures[2] += reserved * Decimal(amount)

    def committed(self, entry: Record) -> None:
        held, count = self.held[entry["reservation"]], entry["count"]
        if held["item"] is None and "remaining" in held["charge"]:
            self.shift(held["slot"], held["charge"]["parts"], reserved=-1)
            self.shift(held["slot"], entry["charge"]["parts"], used=1)
            name = f"job {entry['reservation']}"
            self.add_items([{"name": name, "spec": held["spec"], "planned": held["count"]}])
            self.items[name]["reserved"] = held["count"]
            held |= {"charge": entry["charge"], "item": name}
        if held["item"] is None:
            self.shift(held["slot"], held["charge"]["each"], used=count, reserved=-count)
        else:
            self.items[held["item"]]["reserved"] -= count
            self.items[held["item"]]["committed"] += count
        held["committed"] += count

    def cancelled(self, entry: Record) -> None:
        held, count = self.held[entry["reservation"]], entry["count"]
        held["ended"] = True
        if held["item"] is not None:
            self.items[held["item"]]["reserved"] -= count
            self.items[held["item"]]["credit"] += count if held["committed"] else 0
        elif "remaining" in held["charge"]:
            self.shift(held["slot"], held["charge"]["parts"], reserved=-1)
        else:
            self.shift(held["slot"], held["charge"]["each"], reserved=-count)

    expired = cancelled

    def voided(self, entry: Record) -> None:
        held, count = self.held[entry["reservation"]], entry["count"]
        if held["item"] is None:
            self.shift(held["slot"], held["charge"]["each"], used=-count)
        else:
            self.items[held["item"]]["committed"] -= count
            self.items[held["item"]]["credit"] += count

    def contradicted(self, entry: Record) -> None:
        self.status = entry["kind"]

    def closed(self, entry: Record) -> None:
        self.status = self.status if self.status == "contradicted" else entry["kind"]

    def reconciled(self, entry: Record) -> None:
        assert entry["declared"] == "missing-entries-are-accounted-for"

    def sealed_(self) -> None:
        self.sealed = True

    @property
    def digest(self) -> str:
        held = [
            {"id": name} | {member: held[member] for member in ("spec", "item", "slot", "charge", "count", "committed")}
            for name, held in sorted(self.held.items())
            if not held["ended"] and held["committed"] < held["count"]
        ]
        record = {
            "status": self.status,
            "sealed": self.sealed,
            "approval": self.approval,
            "slots": [
                {"kind": kind, "parts": [[part, *map(text_of, figures)] for part, figures in sorted(parts.items())]}
                for kind, parts in self.slots.items()
            ],
            "plan": [
                [item[name] for name in ("name", "spec", "planned", "reserved", "committed", "credit")]
                for item in self.items.values()
            ],
            "held": held,
        }
        canonical = json.dumps(record, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return f"sha256:{hashlib.sha256(canonical.encode()).hexdigest()}"


@pytest.fixture(scope="module")
def digests() -> list[str]:
    ledgers: dict[str, Balance] = defaultdict(Balance)
    found = []
    for entry in ENTRIES:
        ledger = ledgers[entry["ledger"]]
        ledger.sealed_() if entry["kind"] == "sealed" else ledger.move(entry)
        found.append(ledger.digest)
    return found


@pytest.mark.parametrize("place", range(len(ENTRIES)))
def test_the_page_gives_the_balance_of_each_entry(place: int, digests: list[str]) -> None:
    assert digests[place] == ENTRIES[place]["balance"]


def test_the_vectors_have_every_kind() -> None:
    kinds = {"opened", "sealed", "reserved", "committed", "cancelled", "expired", "amended", "voided", "contradicted"}
    assert {entry["kind"] for entry in ENTRIES} == kinds | {"closed", "reconciled"}
