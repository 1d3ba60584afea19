"""Tables of ledgers, reservations, keys, and results of verification."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from rich.console import Group, RenderableType

from epsilond.accountants.errors import Observation
from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.ledgers.client.answers import part_text, runs_text, scarcest_text, target_text
from epsilond.terminal.parts import bullets, pairs, table, upward

_LEDGER_MEMBERS = (
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


def ledgers(answers: Iterable[JsonObject]) -> RenderableType:
    """Return a table with one row for each ledger, a privacy budget of a data set or of a block (part) of one.

    Args:
        answers: JSON objects of ledgers, as the service returns them.
    """
    return table(
        "Ledgers",
        (
            {
                "name": answer["name"],
                "id": answer["id"],
                "dataset": answer["dataset"],
                "block": answer.get("block", ""),
                # Nothing can be reserved in a ledger that is not sealed, so the table says so.
                "state": answer["state"] if answer.get("sealed", True) else f"{answer['state']}, not sealed",
                "target": target_text(answer["target"]),
            }
            for answer in answers
        ),
    )


def ledger(answer: JsonObject) -> RenderableType:
    """Return a ledger as tables and lists: members, plan, slots, ε of the plan, guarantee and conditions.

    Slots are budgets for runs outside the plan.

    Args:
        answer: JSON object of the ledger. It has observations and no guarantee if a run contradicted its record.
    """
    guarantee = answer.get("guarantee", {})
    promise = [guarantee["in_words"]] if "in_words" in guarantee else []
    conditions = [condition["statement"] for condition in answer.get("declared_conditions", ())]
    plan = [{"item": item["name"], "runs": runs_text(item)} for item in answer["plan"]]
    parts = [pairs(f"Ledger {answer['name']}", _ledger_members(answer))]
    parts += bullets("Contradicted: there is no ε", _observations(answer))
    parts += [table("Plan", plan), table("Slots", _slot_rows(answer)), table("The plan only", _curve_rows(answer))]
    parts += bullets("Promised", promise)
    parts += bullets("If", conditions)
    return Group(*parts)


def _ledger_members(answer: JsonObject) -> JsonRecord:
    """Return the members of a ledger that have a single value, by their names in the table."""
    members = {name: answer[name] for name in _LEDGER_MEMBERS if name in answer}
    members["target"] = target_text(answer["target"])
    if "runs_out_first" in answer:
        members["runs out first"] = scarcest_text(answer["runs_out_first"])
    return members


def _slot_rows(answer: JsonObject) -> list[JsonRecord]:
    """Return a row for each part of each slot of a ledger."""
    rows: list[JsonRecord] = []
    for slot in answer["slots"]:
        rows += [{"slot": slot["kind"], "part": part, "left": part_text(slot, part)} for part in slot["capacity"]]
    return rows


def _curve_rows(answer: JsonObject) -> list[JsonRecord]:
    """Return a row for each point of the curve of a ledger's plan. ε is rounded up."""
    return [
        {"log10 δ": f"{point['log10_delta']:.6g}", "ε at most": upward(point["epsilon"])}
        for point in answer.get("curve", ())
    ]


def _observations(answer: JsonObject) -> list[str]:
    """Return sentences about runs that were observed to differ from the mechanisms that were paid for."""
    return [str(Observation(**members)) for members in answer.get("observations", ())]


def what_if(answer: JsonObject) -> RenderableType:
    """Return a table that says whether a job fits, with its cost or the nearest jobs that fit."""
    rows = {name: value for name, value in answer.items() if name != "fits"}
    if "runs_out_first" in rows:
        rows["runs_out_first"] = scarcest_text(rows["runs_out_first"])
    return pairs("It fits" if answer["fits"] else "It does not fit", rows)


def reservation(answer: JsonObject) -> RenderableType:
    """Return the members of a reservation."""
    rows = {name: value for name, value in answer.items() if name not in ("holdings", "receipts")}
    return pairs("Reservation", rows)


def pending(moves: Iterable[JsonObject]) -> RenderableType:
    """Return a table with one row for each move (a change of a ledger) that waits for a second person.

    Args:
        moves: JSON objects of the moves. A move without `expires_at` does not expire.
    """
    return table(
        "Pending moves",
        (
            {
                "move": move["id"],
                "kind": move["kind"],
                "requested by": move["requested_by"],
                "at": move["requested_at"],
                "expires": move.get("expires_at", "never"),
                "body": json.dumps(move["body"], ensure_ascii=False),
            }
            for move in moves
        ),
    )


def pending_move(move: JsonObject) -> RenderableType:
    """Return the members of a move that waits for a second person, or has ended."""
    rows = {name: value for name, value in move.items() if name != "body"}
    return pairs("Pending move", rows | {"body": json.dumps(move["body"], ensure_ascii=False)})


def entries(records: Iterable[JsonObject]) -> RenderableType:
    """Return a table with one row for each entry of a ledger's log.

    The column `of` has the item or the slot that paid or, for an observation, the conditions that do not hold.

    Args:
        records: JSON objects of the entries, in the order of the rows.
    """
    return table(
        "Entries",
        (
            {
                "entry": str(record["seq"]),
                "at": str(record.get("at", "")),
                "kind": f"{record['kind']}, contradicted" if record.get("contradicted") else record["kind"],
                "reservation": record.get("reservation", ""),
                "count": str(record.get("count", "")),
                "of": record.get("item") or record.get("slot") or _premises(record),
            }
            for record in records
        ),
    )


def _premises(entry: JsonObject) -> str:
    """Return the names of the assumptions that the observations in an entry refute, without repetitions."""
    return ", ".join(dict.fromkeys(observation["premise"] for observation in entry.get("observations", ())))


def receipt(record: JsonObject) -> RenderableType:
    """Return the members of a receipt."""
    entry = record["entry"]
    rows = {name: entry[name] for name in ("at", "ledger", "reservation", "count", "charge") if name in entry}
    return pairs(f"Receipt of entry {entry['seq']}: good for one run", rows)


def keys(records: Iterable[JsonObject], is_here: Mapping[str, bool]) -> RenderableType:
    """Return a table with one row for each published key.

    The column of the private key says "here" or "elsewhere". It is empty for a retired key that is not in the folder,
    because retired private keys are deleted.

    Args:
        records: the published keys.
        is_here: whether the private key is in the folder, by the id of the key.
    """
    rows = []
    for record in records:
        location = "here" if is_here[record["kid"]] else "elsewhere"
        is_deleted = bool(record["until"]) and location == "elsewhere"  # as retired keys are
        rows.append(
            {
                "key": record["kid"],
                "log": record["name"],
                "signs from": record["from"],
                "until": record["until"] or "",
                "private key": "" if is_deleted else location,
            }
        )
    return table("Keys", rows)


def drills(report: JsonObject) -> RenderableType:
    """Return a table with one row for each check of each drill (a rehearsal of a fault).

    Args:
        report: JSON object of the drills with their checks. A drill's time is in seconds.
    """
    rows = []
    for drill in report["drills"]:
        name, seconds = drill["name"], f"{drill['seconds']:.1f}"
        for check in drill["checks"]:
            rows.append(
                {
                    "drill": name,
                    "step": check["done"],
                    "expected outcome": check["expected"],
                    "actual outcome": check["happened"],
                    "result": "passed" if check["passed"] else "FAILED",
                    "seconds": seconds,
                }
            )
            name, seconds = "", ""  # only the first row of a drill has them
    return table(f"Drills on {report['store']}", rows)


def verification(body: JsonObject) -> RenderableType:
    """Return lists of the claims of a verification, one list for each outcome, with the failures first.

    The last list has the claims that no log can show.

    A claim is a statement about the log, such as that all its entries have the Merkle root of a signed head.

    Args:
        body: results of a verification: `findings` with outcomes and sentences, and `not_shown`.
    """
    sentences: dict[str, list[str]] = {}
    for finding in body["findings"]:
        sentences.setdefault(finding["outcome"], []).append(finding["sentence"])
    lists = []
    for title, outcome in (
        ("Does not hold", "failed"),
        ("Contradicted: there is no ε", "contradicted"),
        ("Voided", "voided"),
        ("Verified", "verified"),
        ("Not verified", "not verified"),
    ):
        lists += bullets(title, sentences.get(outcome, []))
    return Group(*lists, *bullets("Not shown by any log", body["not_shown"]))
