"""Ledgers, reservations, and what was verified of a log."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from rich.console import Group, RenderableType

from epsilond.accountants.errors import Observation
from epsilond.accountants.json_types import JsonObject
from epsilond.ledgers.client.answers import part_text, runs_text, scarcest_text, target_text
from epsilond.terminal.parts import bullets, pairs, table, upward

_OF_A_LEDGER = (
    "id",
    "dataset",
    "block",
    "state",
    "sealed",
    "conditional",
    "approval",
    "unit",
    "relation",
    "observer",
    "opened",
)


def ledgers(listed: Iterable[JsonObject]) -> RenderableType:
    """One row for each ledger."""
    return table(
        "Ledgers",
        (
            {
                "name": each["name"],
                "id": each["id"],
                "dataset": each["dataset"],
                "block": each.get("block", ""),
                "state": each["state"] if each.get("sealed", True) else f"{each['state']}, not sealed",
                "target": target_text(each["target"]),
            }
            for each in listed
        ),
    )


def ledger(told: JsonObject) -> RenderableType:
    """What it promises, what is left of its plan and its slots, the plan's curve, and what the promise rests on."""
    rows = {name: told[name] for name in _OF_A_LEDGER if name in told} | {"target": target_text(told["target"])}
    if "runs_out_first" in told:
        rows["runs out first"] = scarcest_text(told["runs_out_first"])
    slots = (
        {"slot": slot["kind"], "part": part, "left": part_text(slot, part)}
        for slot in told["slots"]
        for part in slot["capacity"]
    )
    curve = (
        {"log10 δ": f"{point['log10_delta']:.6g}", "ε at most": upward(point["epsilon"])}
        for point in told.get("curve", ())
    )
    return Group(
        pairs(f"Ledger {told['name']}", rows),
        *bullets("Contradicted: there is no ε", _observations(told)),
        table("Plan", ({"item": item["name"], "runs": runs_text(item)} for item in told["plan"])),
        table("Slots", slots),
        table("The plan alone", curve),
        *bullets("Promised", [told["guarantee"]["in_words"]] if "in_words" in told.get("guarantee", {}) else []),
        *bullets("If", [each["statement"] for each in told.get("declared_conditions", ())]),
    )


def _observations(told: JsonObject) -> list[str]:
    """Return the observations that contradict runs of a ledger, as sentences."""
    return [str(Observation(**members)) for members in told.get("observations", ())]


def what_if(told: JsonObject) -> RenderableType:
    """Whether it fits, and what it would cost or what would fit."""
    rows = {name: value for name, value in told.items() if name != "fits"}
    if "runs_out_first" in rows:
        rows["runs_out_first"] = scarcest_text(rows["runs_out_first"])
    return pairs("It fits" if told["fits"] else "It does not fit", rows)


def reservation(told: JsonObject) -> RenderableType:
    """What is held, and until when."""
    rows = {name: value for name, value in told.items() if name not in ("holdings", "receipts")}
    return pairs("Reservation", rows)


def pending(listed: Iterable[JsonObject]) -> RenderableType:
    """Return a table with one row for each move that waits for a second person."""
    return table(
        "Pending moves",
        (
            {
                "move": each["id"],
                "kind": each["kind"],
                "requested by": each["requested_by"],
                "at": each["requested_at"],
                "expires": each.get("expires_at", "never"),
                "body": json.dumps(each["body"], ensure_ascii=False),
            }
            for each in listed
        ),
    )


def pending_move(told: JsonObject) -> RenderableType:
    """Return the members of a move that waits for a second person, or did."""
    rows = {name: value for name, value in told.items() if name != "body"}
    return pairs("Pending move", rows | {"body": json.dumps(told["body"], ensure_ascii=False)})


def entries(listed: Iterable[JsonObject]) -> RenderableType:
    """One row for each entry of a ledger."""
    return table(
        "Entries",
        (
            {
                "entry": str(each["seq"]),
                "at": str(each.get("at", "")),
                "kind": f"{each['kind']}, contradicted" if each.get("contradicted") else each["kind"],
                "reservation": each.get("reservation", ""),
                "count": str(each.get("count", "")),
                "of": each.get("item") or each.get("slot") or _premises(each),
            }
            for each in listed
        ),
    )


def _premises(entry: JsonObject) -> str:
    """Premises that an entry contradicts."""
    return ", ".join(dict.fromkeys(each["premise"] for each in entry.get("observations", ())))


def receipt(told: JsonObject) -> RenderableType:
    """What a receipt is of."""
    entry = told["entry"]
    rows = {name: entry[name] for name in ("at", "ledger", "reservation", "count", "charge") if name in entry}
    return pairs(f"Receipt of entry {entry['seq']}: good for one run", rows)


def keys(listed: Iterable[JsonObject], here: Mapping[str, bool]) -> RenderableType:
    """One row for each key; `here` says of which the private key is in the folder."""
    return table(
        "Keys",
        (
            {
                "key": each["kid"],
                "log": each["name"],
                "signs from": each["from"],
                "until": each["until"] or "",
                "private key": "here" if here[each["kid"]] else "" if each["until"] else "elsewhere",
            }
            for each in listed
        ),
    )


def drills(report: JsonObject) -> RenderableType:
    """Return a table with one row for each check of each drill."""
    rows = []
    for drill in report["drills"]:
        for place, check in enumerate(drill["checks"]):
            rows.append(
                {
                    "drill": "" if place else drill["name"],
                    "step": check["done"],
                    "expected outcome": check["expected"],
                    "actual outcome": check["happened"],
                    "result": "passed" if check["passed"] else "FAILED",
                    "seconds": "" if place else f"{drill['seconds']:.1f}",
                }
            )
    return table(f"Drills on {report['store']}", rows)


def verification(told: JsonObject) -> RenderableType:
    """What holds, what does not, what was left open, and what no log shows."""
    found: dict[str, list[str]] = {
        outcome: [] for outcome in ("verified", "failed", "not verified", "voided", "contradicted")
    }
    for each in told["findings"]:
        found[each["outcome"]].append(each["sentence"])
    return Group(
        *bullets("Does not hold", found["failed"]),
        *bullets("Contradicted: there is no ε", found["contradicted"]),
        *bullets("Voided", found["voided"]),
        *bullets("Verified", found["verified"]),
        *bullets("Not verified", found["not verified"]),
        *bullets("Not shown by any log", told["not_shown"]),
    )
