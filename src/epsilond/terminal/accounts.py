"""Accounts, and reports that were verified."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from epsilond.accountants.json_types import JsonObject
from epsilond.terminal.parts import at_delta, bullets, outward, pairs, remarks, table
from epsilond.witness.reports import numbers
from epsilond.witness.reports.meanings import ADVANTAGE, true_positives

if TYPE_CHECKING:
    from epsilond.calibrators.accounts import AccountAnswer, ClaimAnswer
    from epsilond.questions.report import Verification

FIGURES = {"ε": "epsilon", "δ": "delta", "log10 δ": "log10_delta"}
NOT_CHECKED = (
    "the conditions under If, which only those who run it can vouch for",
    "that what is described was what was run",
    "the date",
)
UNSIGNED = "who made the report: a hash is no signature"


def account(answer: AccountAnswer) -> RenderableType:
    """The curve where it was asked, the verdict on the claim, its meaning, what was tried and assumed, and warnings."""
    guarantee = answer.guarantee
    points = answer.points or (guarantee,)
    whom = f"of one {guarantee.unit} ({guarantee.relation}), against {guarantee.observer}; lower end {guarantee.tight}"
    meaning = {ADVANTAGE: outward(answer.meaning.advantage)}
    for one in answer.meaning.true_positive_rates:
        meaning[true_positives(one.false_positive_rate)] = outward(one.true_positive_rate)
    tried = (
        {"theorem": one.theorem, "applies": one.applies.value, "why not": one.reason or ""} for one in answer.considered
    )
    return Group(
        table("Guaranteed", ({name: outward(getattr(at, one)) for name, one in FIGURES.items()} for at in points)),
        Text(whom),
        Text(guarantee.in_words),
        *(() if answer.claim is None else (_claim(answer.claim),)),
        pairs("Meaning", meaning),
        table("Considered", tried),
        *remarks(answer.declared_conditions, answer.warnings),
        Text("\nProved by " + ", ".join(dict.fromkeys(step.theorem for step in answer.derivation))),
    )


def _claim(claim: ClaimAnswer) -> RenderableType:
    return pairs(
        "Claim",
        {
            "holds": claim.holds.value,
            "claimed": f"ε = {claim.epsilon:g} at {at_delta(claim.delta, claim.log10_delta)}",
            "claimed ε minus the true one": outward(claim.margin_epsilon),
            "claimed log10 δ minus the true one": outward(claim.margin_log10_delta),
        },
    )


def verification(found: Verification) -> RenderableType:
    """The outcome, what the report is about, what was computed anew, and where today's engine differs."""
    rows = {
        "outcome": found.outcome,
        "that is": found.reason,
        "about": " ".join(dict.fromkeys(part for part in (found.kind, found.name) if part)),
        "date": f"{found.date} (as given; not checked)" if found.date else "none",
        "made by engine": found.report_engine or "unknown",
        "today's engine": found.engine_version,
        "hash": found.hash or "unknown",
        "signed by": found.signed_by or "nobody that was asked about",
    }
    parts = [pairs("Report", rows), *bullets("Differs at", found.differences)]
    parts += bullets("Told otherwise today, and not confirmed", found.explained_otherwise)
    if found.recomputed:
        parts += bullets("Computed anew by today's engine from the request in the report", found.headline)
        parts.append(pairs("Its figures", _figures(found.recomputed)))
        parts += bullets("If", found.declared_conditions)
        parts += bullets("Not checked", NOT_CHECKED if found.signed_by else (*NOT_CHECKED, UNSIGNED))
    elif found.headline:
        parts += bullets("It says", found.headline)
        parts += bullets("If", found.declared_conditions)
    return Group(*parts)


def _figures(recomputed: JsonObject) -> JsonObject:
    """Parameters in full, then every enclosure of the guarantee, of further points and of a claim."""
    guarantee = recomputed["guarantee"]
    figures = dict(recomputed.get("parameters", {}))
    if target := guarantee.get("target"):
        figures |= {"target ε": target["epsilon"], "target log10 δ": target["log10_delta"]}
    for place, point in enumerate(recomputed.get("points", (guarantee,)), start=1):
        at = f"point {place}: " if "points" in recomputed else ""
        figures |= {f"{at}{name}": numbers.outward(point[key]) for name, key in FIGURES.items()}
    if claim := recomputed.get("claim"):
        figures["claim"] = f"ε = {claim['epsilon']:g} at log10 δ = {claim['log10_delta']:g}: holds {claim['holds']}"
    return figures
