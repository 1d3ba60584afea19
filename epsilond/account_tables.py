"""Accounts and verified reports for a reader at a terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from calibrators.accounting import AccountAnswer, ClaimAnswer
from epsilond.reporting import Verification
from epsilond.tables import bullets, new_table, outward, pairs


def account(answer: AccountAnswer) -> RenderableType:
    """The curve where it was asked, the verdict on the claim, its meaning, what was tried and assumed, and warnings."""
    guarantee = answer.guarantee
    table = new_table("Guaranteed", "ε", "δ", "log10 δ")
    for point in answer.points or (guarantee,):
        table.add_row(outward(point.epsilon), outward(point.delta), outward(point.log10_delta))
    whom = f"of one {guarantee.unit} ({guarantee.relation}), against {guarantee.observer}; lower end {guarantee.tight}"
    parts: list[RenderableType] = [table, Text(whom)]
    if answer.claim is not None:
        parts.append(_claim(answer.claim))
    meaning = {"largest advantage of an attacker": outward(answer.meaning.advantage)}
    for one in answer.meaning.true_positive_rates:
        meaning[f"true positives at {one.false_positive_rate:g} false ones"] = outward(one.true_positive_rate)
    parts.append(pairs("Meaning", meaning))
    tried = new_table("Considered", "theorem", "applies", "why not")
    for each in answer.considered:
        tried.add_row(each.theorem, "yes" if each.applies else "no", each.reason or "")
    parts.append(tried)
    parts += bullets("If", [condition.statement for condition in answer.declared_conditions])
    parts += bullets("Mind", [warning.message for warning in answer.warnings])
    parts.append(Text("\nProved by " + ", ".join(dict.fromkeys(step.theorem for step in answer.derivation))))
    return Group(*parts)


def _claim(claim: ClaimAnswer) -> RenderableType:
    verdicts: dict[Any, str] = {True: "holds", False: "does not hold", "undecidable": "undecidable"}
    return pairs(
        "Claim",
        {
            "verdict": verdicts[claim.holds],
            "claimed": f"ε = {claim.epsilon:g} at log10 δ = {claim.log10_delta:g}",
            "claimed ε minus the true one": outward(claim.margin_epsilon),
            "claimed log10 δ minus the true one": outward(claim.margin_log10_delta),
        },
    )


def verification(found: Verification) -> RenderableType:
    """The outcome, what the report is about, and where today's engine differs."""
    rows = {
        "outcome": found.outcome,
        "that is": found.reason,
        "about": " ".join(part for part in (found.kind, found.name) if part),
        "date": found.date or "none",
        "made by engine": found.report_engine or "unknown",
        "today's engine": found.engine_version,
        "hash": found.hash or "unknown",
    }
    return Group(pairs("Report", rows), *bullets("Differs at", found.differences))
