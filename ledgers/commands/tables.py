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


_OUTCOME_TITLES = {
    "failed": "Does not hold",
    "contradicted": "Contradicted: there is no ε",
    "voided": "Voided",
    "verified": "Verified",
    "not verified": "Not verified",
}
"""Titles of the lists of claims by their outcome, in the order of the lists."""


def ledgers(answers: Iterable[JsonObject]) -> RenderableType:
    """Return a table with one row for each ledger, the privacy budget of a data set or of a part of it (block).

    The column `state` also says whether the ledger is not sealed, that is, whether its block may still change.

    Args:
        answers: JSON objects of ledgers, as the service returns them.

    Returns:
        The table, which the terminal prints.
    """
    rows = []
    for answer in answers:
        state = answer["state"]
        if not answer.get("sealed", True):  # nothing can be reserved in such a ledger
            state = f"{state}, not sealed"
        row = {
            "name": answer["name"],
            "id": answer["id"],
            "dataset": answer["dataset"],
            "block": answer.get("block", ""),
            "state": state,
            "target": target_text(answer["target"]),
        }
        rows.append(row)
    return table("Ledgers", rows)


def ledger(answer: JsonObject) -> RenderableType:
    """Return a ledger as tables and lists: members, plan, slots, ε of the plan, guarantee and conditions.

    Slots are budgets for runs outside the plan.

    Args:
        answer: JSON object of the ledger. It has observations and no guarantee if a run contradicted its record.

    Returns:
        The tables and lists as one group, which the terminal prints.
    """
    parts = [pairs(f"Ledger {answer['name']}", _ledger_members(answer))]
    parts += bullets("Contradicted: there is no ε", _observations(answer))

    plan = [{"item": item["name"], "runs": runs_text(item)} for item in answer["plan"]]
    parts.append(table("Plan", plan))
    parts.append(table("Slots", _slot_rows(answer)))
    parts.append(table("The plan only", _curve_rows(answer)))

    # A contradicted ledger has no guarantee.
    guarantee = answer.get("guarantee", {})
    promise = [guarantee["in_words"]] if "in_words" in guarantee else []
    conditions = [condition["statement"] for condition in answer.get("declared_conditions", ())]
    parts += bullets("Promised", promise)
    parts += bullets("If", conditions)
    return Group(*parts)


def _ledger_members(answer: JsonObject) -> JsonRecord:
    """Return the members of a ledger that have a single value, by their names in the table.

    Args:
        answer: JSON object of the ledger, as the service returns it. Optional members may be absent.

    Returns:
        The values by name, in the order of the table.
    """
    members = {name: answer[name] for name in _LEDGER_MEMBERS if name in answer}
    members["target"] = target_text(answer["target"])
    if "runs_out_first" in answer:
        members["runs out first"] = scarcest_text(answer["runs_out_first"])
    return members


def _slot_rows(answer: JsonObject) -> list[JsonRecord]:
    """Return a row for each amount of each slot of a ledger, with how much of it is left.

    A slot is a budget for runs that are not planned.

    Args:
        answer: JSON object of the ledger.

    Returns:
        The rows, each with the columns slot, part (name of the amount) and left.
    """
    rows: list[JsonRecord] = []
    for slot in answer["slots"]:
        rows += [{"slot": slot["kind"], "part": part, "left": part_text(slot, part)} for part in slot["capacity"]]
    return rows


def _curve_rows(answer: JsonObject) -> list[JsonRecord]:
    """Return a row for each point of the privacy curve of a ledger's plan: ε, rounded up, at a δ.

    Args:
        answer: JSON object of the ledger. It may have no curve.

    Returns:
        The rows, each with log10 δ and ε as texts; empty if there is no curve.
    """
    rows = []
    for point in answer.get("curve", ()):
        log10_delta = f"{point['log10_delta']:.6g}"
        rows.append({"log10 δ": log10_delta, "ε at most": upward(point["epsilon"])})
    return rows


def _observations(answer: JsonObject) -> list[str]:
    """Return sentences about runs that were observed to differ from the mechanisms that were paid for.

    Args:
        answer: JSON object of the ledger. It may have no observations.
    """
    return [str(Observation(**members)) for members in answer.get("observations", ())]


def what_if(answer: JsonObject) -> RenderableType:
    """Return a table that says whether runs of a mechanism fit a ledger, with their cost or the nearest jobs that fit.

    Args:
        answer: JSON object of the answer to a what-if query.

    Returns:
        A table with a title that says whether the job fits.
    """
    rows = {name: value for name, value in answer.items() if name != "fits"}
    if "runs_out_first" in rows:
        rows["runs_out_first"] = scarcest_text(rows["runs_out_first"])
    title = "It fits" if answer["fits"] else "It does not fit"
    return pairs(title, rows)


def reservation(answer: JsonObject) -> RenderableType:
    """Return a table of the members of a reservation of runs.

    Args:
        answer: JSON object of the reservation. Its parts in single ledgers and its receipts are left out.
    """
    rows = {name: value for name, value in answer.items() if name not in ("holdings", "receipts")}
    return pairs("Reservation", rows)


def pending(moves: Iterable[JsonObject]) -> RenderableType:
    """Return a table with one row for each move (a change of a ledger) that waits for a second person.

    Args:
        moves: JSON objects of the moves. A move without `expires_at` does not expire.

    Returns:
        The table, which the terminal prints.
    """
    rows = []
    for move in moves:
        row = {
            "move": move["id"],
            "kind": move["kind"],
            "requested by": move["requested_by"],
            "at": move["requested_at"],
            "expires": move.get("expires_at", "never"),
            "body": json.dumps(move["body"], ensure_ascii=False),
        }
        rows.append(row)
    return table("Pending moves", rows)


def pending_move(move: JsonObject) -> RenderableType:
    """Return a table of the members of a change of a ledger that waits for a second person, or has ended.

    Args:
        move: JSON object of the change. Its body is shown as JSON text in the last row.
    """
    rows = {name: value for name, value in move.items() if name != "body"}
    return pairs("Pending move", rows | {"body": json.dumps(move["body"], ensure_ascii=False)})


def entries(records: Iterable[JsonObject]) -> RenderableType:
    """Return a table with one row for each entry of a ledger's log.

    The column `of` has the item or the slot that paid or, for an observation, the conditions that do not hold.

    Args:
        records: JSON objects of the entries, in the order of the rows.

    Returns:
        The table, which the terminal prints.
    """
    rows = []
    for record in records:
        kind = record["kind"]
        # The runs of this entry were observed to differ from the mechanism that was paid for.
        if record.get("contradicted"):
            kind = f"{kind}, contradicted"
        row = {
            "entry": str(record["seq"]),
            "at": str(record.get("at", "")),
            "kind": kind,
            "reservation": record.get("reservation", ""),
            "count": str(record.get("count", "")),
            "of": record.get("item") or record.get("slot") or _refuted_conditions(record),
        }
        rows.append(row)
    return table("Entries", rows)


def _refuted_conditions(entry: JsonObject) -> str:
    """Return the names of the conditions that the observations in a log entry refute, each once.

    Args:
        entry: JSON object of the entry. It may have no observations.
    """
    return ", ".join(dict.fromkeys(observation["premise"] for observation in entry.get("observations", ())))


def receipt(record: JsonObject) -> RenderableType:
    """Return a table of the members of a receipt, which proves that a commit is in the log.

    Args:
        record: JSON object of the receipt.
    """
    entry = record["entry"]
    rows = {name: entry[name] for name in ("at", "ledger", "reservation", "count", "charge") if name in entry}
    return pairs(f"Receipt of entry {entry['seq']}: good for one run", rows)


def keys(records: Iterable[JsonObject], is_here: Mapping[str, bool]) -> RenderableType:
    """Return a table with one row for each published key.

    The column of the private key says "here" or "elsewhere". It is empty for a retired key that is not in the folder,
    because retired private keys are normally deleted.

    Args:
        records: JSON objects of the published keys. A retired key has the time `until` which it signed.
        is_here: whether the private key is in the folder, by the id of the key.

    Returns:
        The table, which the terminal prints.
    """
    rows = []
    for record in records:
        is_retired = bool(record["until"])
        location = "here" if is_here[record["kid"]] else "elsewhere"
        if is_retired and location == "elsewhere":
            location = ""
        row = {
            "key": record["kid"],
            "log": record["name"],
            "signs from": record["from"],
            "until": record["until"] or "",
            "private key": location,
        }
        rows.append(row)
    return table("Keys", rows)


def drills(report: JsonObject) -> RenderableType:
    """Return a table with one row for each check of each drill (a rehearsal of a fault).

    A check is a step of the drill with its expected and its actual outcome.

    Args:
        report: JSON object of the drills with their checks. A drill's time is in seconds.

    Returns:
        The table, which the terminal prints.
    """
    rows = []
    for drill in report["drills"]:
        name = drill["name"]
        seconds = f"{drill['seconds']:.1f}"
        for check in drill["checks"]:
            result = "passed" if check["passed"] else "FAILED"
            row = {
                "drill": name,
                "step": check["done"],
                "expected outcome": check["expected"],
                "actual outcome": check["happened"],
                "result": result,
                "seconds": seconds,
            }
            rows.append(row)
            # Only the first row of a drill has its name and its duration.
            name = ""
            seconds = ""
    return table(f"Drills on {report['store']}", rows)


def verification(body: JsonObject) -> RenderableType:
    """Return the results of a verification of a log as one list for each outcome, with the failures first.

    A result is a sentence, such as that all entries of the log have the Merkle root of a signed head. The last list has
    statements that no log can prove.

    Args:
        body: results of a verification: `findings` with outcomes and sentences, and `not_shown`.

    Returns:
        The lists as one group, which the terminal prints.
    """
    sentences: dict[str, list[str]] = {}
    for finding in body["findings"]:
        sentences.setdefault(finding["outcome"], []).append(finding["sentence"])
    lists = []
    for outcome, title in _OUTCOME_TITLES.items():  # the order of the titles is that of the lists
        lists += bullets(title, sentences.get(outcome, []))
    lists += bullets("Not shown by any log", body["not_shown"])
    return Group(*lists)
