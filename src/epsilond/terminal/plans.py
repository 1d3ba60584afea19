"""Tables of plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.planning.recommendation import is_informative, name_of
from epsilond.terminal.parts import bullets, format_rounded, if_vacuous, sides, table, upward

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from epsilond.calibrators.planning.answer import PlanAnswer, PlanChoice, PlanEntry, Reason, TrustPrice

HEADINGS = {Verdict.YES: "Read as", Verdict.UNDECIDABLE: "Undecidable", Verdict.NO: "Does not apply"}
"""Headings of the reasons, by whether the algorithm applies."""


def plan(answer: PlanAnswer) -> RenderableType:
    """Return the tables of a plan, which compares algorithms for a problem.

    Algorithms are ranked by the remaining share: the bound on the excess risk, divided by the bound at the first model.

    Args:
        answer: the plan.

    Returns:
        Tables and texts for the package rich: the recommended algorithm, the smallest share for each trust model, a
        ranked table for each kind of guarantee, and the reasons why other algorithms do not apply.
    """
    entries = {name_of(entry): entry for entry in answer.entries}
    parts: list[RenderableType] = [
        Text(f"Run {answer.recommended.entry or 'nothing of these'}", style="bold"),
        Text(answer.recommended.why + "\n"),
        table("Bound on the remaining share of the start's risk, for each trust model", map(_trust_row, answer.trusts)),
        table("Other numbers of rounds", map(_choice_row, answer.recommended.choices or ())),
    ]

    for group in answer.groups:
        kind = group.guarantee
        title = f"{kind.definition}: {kind.unit}, {kind.relation}, against {kind.observer}; by {group.compares}"
        names = group.ranked + group.unranked
        parts.append(table(title, [_entry_row(name, entries[name]) for name in names]))

    for applies, heading in HEADINGS.items():
        parts += bullets(heading, _reason_lines(answer.entries, applies))
    return Group(*parts)


def _reason_lines(entries: Iterable[PlanEntry], applies: Verdict) -> list[str]:
    """Return a line for each reason why algorithms do not apply, or may not apply.

    Args:
        entries: entries of the plan.
        applies: whether an algorithm applies; only reasons of algorithms with this verdict are returned.

    Returns:
        The lines, each with the name of the algorithm in front.
    """
    lines = []
    for entry in entries:
        if entry.applies == applies:
            lines += [f"{name_of(entry)}: {_reason_text(reason)}" for reason in entry.why]
    return lines


def _trust_row(price: TrustPrice) -> Mapping[str, str]:
    """Return the table row of a trust model: the best algorithm under it, and its bound compared with the others.

    Args:
        price: the best bound under one trust model.

    Returns:
        The text of each column by its heading. "left" is the remaining share: the bound on the excess risk, divided by
        the bound at the first model. If "by" is "noise", it is a measure of the noise and not a bound. "times the
        least" is this share over the smallest one of all trust models.
    """
    return {
        "trust": price.definition,
        "best": price.best or "none is usable",
        "protects": "" if price.guarantee is None else f"{price.guarantee.unit} ({price.guarantee.relation})",
        "left": _short(price.remaining_share),
        "by": price.basis or "",
        "times the least": _short(price.price),
    }


def _choice_row(choice: PlanChoice) -> Mapping[str, str]:
    """Return the table row of another number of rounds for the recommended algorithm.

    Args:
        choice: the number of rounds, with the bound on the risk and the traffic.

    Returns:
        The text of each column by its heading. "left" is the remaining share: the bound on the excess risk, divided by
        the bound at the first model. Without certified noise it is an estimate, marked by "about".
    """
    return {
        "rounds": str(choice.rounds),
        "batch_size": _text(choice.batch_size),
        "noise / signal": _short(choice.noise_to_signal),
        "left": ("" if choice.certified else "about ") + _short(choice.remaining_share),
        "bytes a client": _short(choice.bytes_per_client),
        "": "recommended" if choice.chosen else "",
    }


def _entry_row(name: str, entry: PlanEntry) -> Mapping[str, str]:
    """Return the table row of an algorithm, among all that give the same kind of guarantee.

    Args:
        name: name of the algorithm, with its variant.
        entry: rank, calibrated parameters, traffic and risk of the algorithm.

    Returns:
        The text of each column by its heading. "says" is the reason if the entry is of no use. "reached at" is a field
        of the request, with the value at which the wanted risk is reached.
    """
    risk, reach = entry.risk, entry.reach
    # "(order)" marks a bound whose constant factor is not stated by the theorem.
    risk_text = ""
    if risk is not None:
        risk_text = upward(risk.value) + (" (order)" if risk.constant == "hidden" else "")
    return {
        "rank": _text(entry.rank),
        "algorithm": name,
        "noise_std": _text(entry.noise_std),
        "rounds": _text(entry.rounds),
        "noise / signal": _short(entry.noise_to_signal),
        "bits": upward(entry.bits),
        "bytes a client": _short(entry.bytes_per_client),
        "risk at most": risk_text,
        "says": _limitation(entry),
        "reached at": "" if reach is None else f"{reach.solve_for} {reach.value:g}",
    }


def _limitation(entry: PlanEntry) -> str:
    """Return the reason why an algorithm's entry in a plan is of no use.

    Args:
        entry: the algorithm, with its calibrated parameters and its bound on the risk.

    Returns:
        A remark that the bound is vacuous or drowned by noise, or the names of the exceeded limits. An empty text if
        the entry is of use.
    """
    if entry.vacuous:
        baseline = None if entry.risk is None else entry.risk.baseline
        return if_vacuous(entry.vacuous, baseline, before="") or "no better than the start"
    if is_informative(entry):
        return ""
    if entry.exceeds:
        return f"exceeds {', '.join(entry.exceeds)}"
    return "drowned by its noise"


def _short(value: float | None) -> str:
    """Return a number rounded up to three digits; an empty text if there is none."""
    return "" if value is None else format_rounded(value, digits=3)


def _text(value: float | None) -> str:
    """Return a number in full; an empty text if there is none."""
    return "" if value is None else str(value)


def _reason_text(why: Reason) -> str:
    """Return a reason as a text, with the sides of its condition and the allowed values if it has them.

    Args:
        why: reason why an algorithm does not fit a problem.

    Returns:
        The text in one line.
    """
    both_sides = sides(why.condition)
    comparison = f" [{both_sides}]" if both_sides else ""
    allowed = f" (would do: {why.allowed})" if why.allowed else ""
    return f"{why.message}{comparison}{allowed}"
