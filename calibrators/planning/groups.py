"""Groups of a plan's entries that can be compared, and the ranking of entries within a group."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import get_args

from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.planning.answer import GuaranteeKind, PlanEntry
from epsilond.calibrators.planning.problem import PlanProblem, RankBy, Trust
from epsilond.calibrators.planning.recommendation import is_informative, name_of

FIGURES: Mapping[RankBy, Callable[[PlanEntry], object]] = {
    "risk": lambda entry: entry.risk.value if entry.risk is not None and entry.risk.constant == "explicit" else None,
    "noise": lambda entry: entry.noise_std,
    "signal": lambda entry: entry.noise_to_signal,
    "bits": lambda entry: entry.bits,
    "rounds": lambda entry: entry.rounds,
}
"""Figures that entries are ranked by, None if an entry has none; a rate with a hidden constant is not a figure."""


def figure_of(plan: PlanProblem, entry: PlanEntry) -> float | None:
    """Return the number by which an algorithm is ranked in the answer of a plan.

    Args:
        plan: the plan, which names the figure (`rank_by`), such as the noise.
        entry: the entry of the algorithm.

    Returns:
        The figure; or, if the plan solves for a field, the value of this field. None if the number is unknown or
        infinite.
    """
    value = FIGURES[plan.rank_by](entry) if entry.reach is None else entry.reach.value
    if not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return value


def _describe_figure(plan: PlanProblem, entry: PlanEntry) -> str:
    """Return the name, in words, of the quantity by which an algorithm is ranked in the answer of a plan.

    Args:
        plan: the plan, which names the figure (`rank_by`) or a field to solve for.
        entry: the entry of the algorithm, with the objective of its bound.

    Returns:
        A phrase. Entries are compared only if their phrases are equal.
    """
    risk = f"the bound on the excess risk ({entry.objective or 'none is known'})"
    if plan.unknown is not None:
        return f"the {plan.unknown} that takes {risk} to the target"
    words: Mapping[RankBy, str] = {
        "risk": risk,
        "noise": f"noise_std per coordinate, added to {entry.noise_added_to}",
        "signal": "noise in the mean of a round, over the bound on that mean",
        "bits": "bits that all clients send over the run",
        "rounds": "rounds",
    }
    return words[plan.rank_by]


def group_entries(
    plan: PlanProblem, entries: Iterable[PlanEntry]
) -> list[tuple[tuple[GuaranteeKind, str], list[PlanEntry]]]:
    """Group algorithms that can be compared: with the same kind of guarantee, ranked by the same quantity.

    Entries of algorithms that do not apply are left out.

    Args:
        plan: the requested plan, which names the quantity.
        entries: one entry for each algorithm.

    Returns:
        The key of each group (the kind and the quantity) with its entries. Groups that need less trust come first.
    """
    groups: dict[tuple[GuaranteeKind, str], list[PlanEntry]] = {}
    for entry in entries:
        if entry.applies == Verdict.YES:
            groups.setdefault((entry.guarantee, _describe_figure(plan, entry)), []).append(entry)
    return sorted(groups.items(), key=lambda item: _trust_key(item[0]))


def _trust_key(key: tuple[GuaranteeKind, str]) -> tuple[int, str]:
    """Return the sorting key of a group: its kind of trust, then all of its key for a fixed order.

    Args:
        key: kind of guarantee of the group, and the quantity that it compares.
    """
    kind, _ = key
    return get_args(Trust).index(kind.definition), repr(key)


def rank_entries(plan: PlanProblem, members: Sequence[PlanEntry]) -> tuple[list[PlanEntry], list[PlanEntry]]:
    """Rank entries with one kind of guarantee by their figures, the smallest first.

    An entry is ranked if it has a finite figure and passes `is_informative`: it keeps to the plan's limits, its bound
    is better than that of the initial model, and its noise does not hide the updates. Equal figures have equal ranks.

    Args:
        plan: the plan, which determines the figure.
        members: entries with figures of the same quantity.

    Returns:
        The ranked entries by rank, and the entries without a rank. Of the latter, those that fail `is_informative`
        come first, by their figures, and the others have no figure.
    """
    figures = {name_of(entry): figure_of(plan, entry) for entry in members}

    def is_ranked(entry: PlanEntry) -> bool:
        """Decide whether an entry gets a rank."""
        return figures[name_of(entry)] is not None and is_informative(entry)

    def figure_or_infinity(entry: PlanEntry) -> float:
        """Return the figure of an entry; infinite if it has none."""
        figure = figures[name_of(entry)]
        return math.inf if figure is None else figure

    rankable = [entry for entry in members if is_ranked(entry)]
    ascending_figures = sorted(figure_or_infinity(entry) for entry in rankable)
    # The index of the first equal figure gives equal figures the same rank.
    ranked = [replace(entry, rank=ascending_figures.index(figure_or_infinity(entry)) + 1) for entry in rankable]
    ranked.sort(key=lambda entry: (entry.rank, name_of(entry)))
    unranked = [entry for entry in members if not is_ranked(entry)]
    unranked.sort(key=lambda entry: (is_informative(entry), figure_or_infinity(entry)))
    return ranked, unranked
