"""Answers of ledgers for readers: members by name, and tables as text and in notebooks."""

from __future__ import annotations

from html import escape
from typing import Any

from epsilond.accountants.errors import Observation
from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.accountants.quantities.risks import RISK_FIELDS
from epsilond.calibrators.notebooks import flatten_fields

_LEDGER_MEMBERS = ("name", "dataset", "block", "state", "sealed", "unit", "relation", "observer")


class ReadableAnswer(JsonRecord):
    """JSON object of a ledger's answer. Its members can be read as `answer["fits"]` or as `answer.fits`.

    A notebook shows the answer as a table of names and values.
    """

    def __getattr__(self, name: str) -> Any:  # only for names that are not attributes of a dictionary
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the answer has no {name}; it has {', '.join(self)}") from None

    def __str__(self) -> str:
        table = rows(self)
        width = max((len(name) for name, _ in table), default=0)
        lines = [f"{name.ljust(width)}  {value}" for name, value in table]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return the answer as a table in HTML. Notebooks call this method to display it."""
        html_rows = [f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in rows(self)]
        return f"<table>{''.join(html_rows)}</table>"


def rows(answer: JsonObject) -> list[tuple[str, str]]:
    """Return the rows of a table that shows an answer of a ledger, as pairs of a name and a value.

    If the answer is a ledger, there is a row for each item of its plan, each amount of its slots (budgets) and each
    condition. Any other answer has a row for each member. The name of a nested member is a path of names.

    Args:
        answer: JSON object of the answer, as the service returns it.

    Returns:
        The rows, in the order of the answer.
    """
    is_ledger = "slots" in answer and "plan" in answer
    if is_ledger:
        return _ledger_rows(answer)
    return list(flatten_fields(answer, ""))


def _ledger_rows(ledger: JsonObject) -> list[tuple[str, str]]:
    """Return the rows of a table that shows a ledger, as pairs of a name and a value.

    Args:
        ledger: JSON object of a ledger, as the service returns it. Optional members may be absent.

    Returns:
        Rows for these, in this order: general members, observations that contradict the ledger, the target, the items
        of the plan, the amounts of the slots (budgets), the scarcest of these, and the declared conditions.
    """
    table = [(name, str(ledger[name])) for name in _LEDGER_MEMBERS if name in ledger]
    table += [("contradicted", str(Observation(**item))) for item in ledger.get("observations", ())]
    table.append(("target", target_text(ledger["target"])))

    table += [(f"plan {item['name']}", runs_text(item)) for item in ledger["plan"]]
    for slot in ledger["slots"]:
        table += [(f"slot {slot['kind']} {part}", part_text(slot, part)) for part in slot["capacity"]]
    if "runs_out_first" in ledger:
        table.append(("runs out first", scarcest_text(ledger["runs_out_first"])))
    table += [("if", condition["statement"]) for condition in ledger.get("declared_conditions", ())]
    return table


def target_text(target: JsonObject) -> str:
    """Return the privacy target of a ledger as text: ε at δ, and the risk if the target is a risk.

    Args:
        target: JSON object with `epsilon` and `log10_delta`. It has `delta` if δ is not too small for a double, and the
            members of the risk, such as `advantage`.

    Returns:
        For example `ε = 1 at δ = 1e-06`.
    """
    delta = f"log10 δ = {target['log10_delta']:.7g}"
    if "delta" in target:
        delta = f"δ = {target['delta']:.7g}"
    point = f"ε = {target['epsilon']:g} at {delta}"
    risks = ", ".join(f"{name} = {target[name]:g}" for name in RISK_FIELDS if name in target)
    if not risks:
        return point
    return f"{risks}, which implies {point}"


def runs_text(item: JsonObject) -> str:
    """Describe how many runs of an item of the plan are left, reserved and committed.

    Args:
        item: JSON object of the item, with its numbers of runs. `credit` counts runs that were given back.

    Returns:
        For example `3 of 10 left; 2 held, 5 committed`.
    """
    free = item["planned"] - item["reserved"] - item["committed"]
    credit = f", {item['credit']} of them credit" if item["credit"] else ""
    return f"{free} of {item['planned']} left{credit}; {item['reserved']} held, {item['committed']} committed"


def part_text(slot: JsonObject, part: str) -> str:
    """Describe how much of one amount of a slot is left and reserved, with six significant digits.

    A slot is a budget for runs that are not planned. Its parts are amounts, such as `mu_squared` and `eta`.

    Args:
        slot: JSON object of the slot, with the amounts `remaining`, `capacity` and `reserved` by the names of its
            parts.
        part: name of the part.

    Returns:
        For example `0.4 of 1 left; 0.1 held`.
    """
    remaining = short(slot["remaining"][part])
    capacity = short(slot["capacity"][part])
    reserved = short(slot["reserved"][part])
    holding = f"; {reserved} held" if reserved != "0" else ""
    return f"{remaining} of {capacity} left{holding}"


def scarcest_text(resource: JsonObject) -> str:
    """Describe the resource of a ledger of which the largest fraction is used or reserved.

    Args:
        resource: JSON object of an item of the plan (planned runs) or of an amount of a slot (a budget), with its rest
            and the fraction that is used or reserved.

    Returns:
        For example `gdp mu_squared: 40 % used or held, 0.6 left`.
    """
    remaining = short(resource["remaining"])
    if "item" in resource:
        name = resource["item"]
        remaining += " runs"
    else:
        name = " ".join(resource[member] for member in ("slot", "part") if member in resource)
    return f"{name}: {100 * resource['share_used']:.3g} % used or held, {remaining} left"


def short(amount: str) -> str:
    """Round an amount down to six significant digits, for display.

    Args:
        amount: decimal number as text.

    Returns:
        The rounded number as text.
    """
    from decimal import ROUND_FLOOR, Context  # noqa: PLC0415  only where something is shown

    rounded = Context(prec=6, rounding=ROUND_FLOOR).create_decimal(amount)
    return f"{float(rounded):g}"
