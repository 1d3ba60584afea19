"""Plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.planning.recommendation import name_of, says_something
from epsilond.terminal.parts import bullets, if_vacuous, rounded, sides, table, upward

if TYPE_CHECKING:
    from collections.abc import Mapping

    from epsilond.calibrators.planning.answer import PlanAnswer, PlanChoice, PlanEntry, Reason, TrustPrice

HEADINGS = {Verdict.YES: "Read as", Verdict.UNDECIDABLE: "Undecidable", Verdict.NO: "Does not apply"}
"""Headings of the reasons, by whether the algorithm applies."""


def plan(answer: PlanAnswer) -> RenderableType:
    """What to run and why; a table for each kind of guarantee, ranked; then what does not apply, and why."""
    named = {name_of(entry): entry for entry in answer.entries}
    parts: list[RenderableType] = [
        Text(f"Run {answer.recommended.entry or 'nothing of these'}", style="bold"),
        Text(answer.recommended.why + "\n"),
        table("What each kind of trust leaves at most of what the start may lose", map(_price, answer.trusts)),
        table("Other numbers of rounds", map(_choice, answer.recommended.choices or ())),
    ]
    for group in answer.groups:
        kind = group.guarantee
        title = f"{kind.definition}: {kind.unit}, {kind.relation}, against {kind.observer}; by {group.compares}"
        parts.append(table(title, (_row(name, named[name]) for name in (*group.ranked, *group.unranked))))
    for applies, heading in HEADINGS.items():
        reasons = [(name, why) for name, one in named.items() if one.applies == applies for why in one.why]
        parts += bullets(heading, [f"{name}: {_reason(why)}" for name, why in reasons])
    return Group(*parts)


def _price(price: TrustPrice) -> Mapping[str, str]:
    return {
        "trust": price.definition,
        "best": price.best or "none is usable",
        "protects": "" if price.guarantee is None else f"{price.guarantee.unit} ({price.guarantee.relation})",
        "left": "" if price.remaining_share is None else rounded(price.remaining_share, digits=3),
        "by": price.basis or "",
        "times the least": "" if price.price is None else rounded(price.price, digits=3),
    }


def _choice(choice: PlanChoice) -> Mapping[str, str]:
    return {
        "rounds": str(choice.rounds),
        "batch_size": "" if choice.batch_size is None else str(choice.batch_size),
        "noise / signal": "" if choice.noise_to_signal is None else rounded(choice.noise_to_signal, digits=3),
        "left": ("" if choice.certified else "about ") + rounded(choice.remaining_share, digits=3),
        "bytes a client": rounded(choice.bytes_per_client, digits=3),
        "": "recommended" if choice.chosen else "",
    }


def _row(name: str, entry: PlanEntry) -> Mapping[str, str]:
    risk, reached = entry.risk, entry.reach
    hidden = " (order)" if risk is not None and risk.constant == "hidden" else ""
    baseline = None if risk is None else risk.baseline
    says = if_vacuous(entry.vacuous, baseline, before="") or ("no better than the start" if entry.vacuous else "")
    if not says and not says_something(entry):
        says = f"exceeds {', '.join(entry.exceeds)}" if entry.exceeds else "drowned by its noise"
    return {
        "rank": "" if entry.rank is None else str(entry.rank),
        "algorithm": name,
        "noise_std": "" if entry.noise_std is None else str(entry.noise_std),
        "rounds": "" if entry.rounds is None else str(entry.rounds),
        "noise / signal": "" if entry.noise_to_signal is None else rounded(entry.noise_to_signal, digits=3),
        "bits": upward(entry.bits),
        "bytes a client": "" if entry.bytes_per_client is None else rounded(entry.bytes_per_client, digits=3),
        "risk at most": "" if risk is None else upward(risk.value) + hidden,
        "says": says,
        "reached at": "" if reached is None else f"{reached.solve_for} {reached.value:g}",
    }


def _reason(why: Reason) -> str:
    compared = f" [{sides(why.condition)}]" if sides(why.condition) else ""
    allowed = f" (would do: {why.allowed})" if why.allowed else ""
    return f"{why.message}{compared}{allowed}"
