"""Answers of ledgers for readers: members by name, and tables as text and in notebooks."""

from __future__ import annotations

from html import escape
from typing import Any

from epsilond.accountants.errors import Observation
from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.calibrators.notebooks import flatten_fields

_OF_A_LEDGER = ("name", "dataset", "block", "state", "sealed", "unit", "relation", "observer")


class ReadableAnswer(JsonRecord):
    """An answer whose members are `answer["fits"]` or `answer.fits`."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the answer has no {name}; it has {', '.join(self)}") from None

    def __str__(self) -> str:
        return "\n".join(f"{name}  {value}" for name, value in _align(rows(self)))

    def _repr_html_(self) -> str:
        cells = (f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in rows(self))
        return f"<table>{''.join(cells)}</table>"


def rows(answer: JsonObject) -> list[tuple[str, str]]:
    """Return the names and values to show an answer as a table.

    A ledger has one row for each item of its plan, each part of its slots, and each condition. Any other answer has a
    row for each of its members.
    """
    if "slots" not in answer or "plan" not in answer:
        return list(flatten_fields(answer, ""))
    table = [(name, str(answer[name])) for name in _OF_A_LEDGER if name in answer]
    table.extend(("contradicted", str(Observation(**observation))) for observation in answer.get("observations", ()))
    table.append(("target", target_text(answer["target"])))
    table.extend((f"plan {item['name']}", runs_text(item)) for item in answer["plan"])
    for slot in answer["slots"]:
        table.extend((f"slot {slot['kind']} {part}", part_text(slot, part)) for part in slot["capacity"])
    if "runs_out_first" in answer:
        table.append(("runs out first", scarcest_text(answer["runs_out_first"])))
    table.extend(("if", condition["statement"]) for condition in answer.get("declared_conditions", ()))
    return table


def target_text(target: JsonObject) -> str:
    """Return the target as text: ε at δ."""
    at = f"δ = {target['delta']:.7g}" if "delta" in target else f"log10 δ = {target['log10_delta']:.7g}"
    return f"ε = {target['epsilon']:g} at {at}"


def runs_text(item: JsonObject) -> str:
    """Return as text how many runs of an item are left, held and committed."""
    free = item["planned"] - item["reserved"] - item["committed"]
    credit = f", {item['credit']} of them credit" if item["credit"] else ""
    return f"{free} of {item['planned']} left{credit}; {item['reserved']} held, {item['committed']} committed"


def part_text(slot: JsonObject, part: str) -> str:
    """Return as text how much of a part of a slot is left, in shortened digits of the exact amounts."""
    free, all_of_it, held = (slot[name][part] for name in ("remaining", "capacity", "reserved"))
    holding = f"; {short(held)} held" if short(held) != "0" else ""
    return f"{short(free)} of {short(all_of_it)} left{holding}"


def scarcest_text(resource: JsonObject) -> str:
    """Return as text which resource runs out first, and how much of it is left."""
    name = " ".join(resource[member] for member in ("slot", "part") if member in resource) or resource["item"]
    unit = " runs" if "item" in resource else ""
    return f"{name}: {100 * resource['share_used']:.3g} % used or held, {short(resource['remaining'])}{unit} left"


def short(amount: str) -> str:
    """Return six digits of an amount, rounded down so that no more is shown than there is."""
    from decimal import ROUND_FLOOR, Context  # noqa: PLC0415  only where something is shown

    rounded = Context(prec=6, rounding=ROUND_FLOOR).create_decimal(amount)
    return f"{float(rounded):g}"


def _align(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the pairs with names of equal width."""
    width = max((len(name) for name, _ in pairs), default=0)
    return [(name.ljust(width), value) for name, value in pairs]
