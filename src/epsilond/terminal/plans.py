"""Plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType

from epsilond.calibrators.planning.rankings import name_of
from epsilond.terminal.parts import bullets, if_vacuous, sides, table, upward

if TYPE_CHECKING:
    from collections.abc import Mapping

    from epsilond.calibrators.planning.answer import PlanAnswer, PlanEntry, Reason

HEADINGS = {True: "Read as", "undecided": "Undecided", False: "Does not apply"}
"""Of the reasons, by whether the algorithm applies."""


def plan(answer: PlanAnswer) -> RenderableType:
    """A table for each kind of guarantee, ranked; then what does not apply, and why."""
    named = {name_of(entry): entry for entry in answer.entries}
    parts: list[RenderableType] = []
    for group in answer.groups:
        kind = group.guarantee
        title = f"{kind.definition}: {kind.unit}, {kind.relation}, against {kind.observer}; by {group.compares}"
        parts.append(table(title, (_row(name, named[name]) for name in (*group.ranked, *group.unranked))))
    for applies, heading in HEADINGS.items():
        reasons = [(name, why) for name, one in named.items() if one.applies == applies for why in one.why]
        parts += bullets(heading, [f"{name}: {_reason(why)}" for name, why in reasons])
    return Group(*parts)


def _row(name: str, entry: PlanEntry) -> Mapping[str, str]:
    risk, reached = entry.risk, entry.reach
    hidden = " (order)" if risk is not None and risk.constant == "hidden" else ""
    baseline = None if risk is None else risk.baseline
    says = if_vacuous(entry.vacuous, baseline, before="") or ("no better than the start" if entry.vacuous else "")
    return {
        "rank": "" if entry.rank is None else str(entry.rank),
        "algorithm": name,
        "noise_std": "" if entry.noise_std is None else str(entry.noise_std),
        "rounds": "" if entry.rounds is None else str(entry.rounds),
        "bits": upward(entry.bits),
        "risk at most": "" if risk is None else upward(risk.value) + hidden,
        "says": says,
        "reached at": "" if reached is None else f"{reached.solve_for} {reached.value:g}",
    }


def _reason(why: Reason) -> str:
    compared = f" [{sides(why.condition)}]" if sides(why.condition) else ""
    allowed = f" (would do: {why.allowed})" if why.allowed else ""
    return f"{why.message}{compared}{allowed}"
