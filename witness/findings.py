"""What the cells of an experiment say of a paper's claims: verdicts and words, made of the measured bands."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from epsilond.witness.cells import CellAnswer
from epsilond.witness.experiment import Finding
from epsilond.witness.risks.answer import Measured

Read = Callable[[CellAnswer], Measured | None]
Verdicts = dict[str, int]
BETTER, WORSE, ALIKE = "better", "worse", "alike"


def score(name: str) -> Read:
    """That score of the private run."""
    return lambda cell: (cell.scores or {}).get(name)


def score_beside(run: str, name: str) -> Read:
    """That score of a run set beside it."""
    return lambda cell: ((cell.scores_beside or {}).get(run) or {}).get(name)


def compared(first: Measured, second: Measured, *, lower_is_better: bool = True) -> str:
    """`better` if the first's whole band is on the better side of the second's, `worse` if on the other, or `alike`."""
    below, above = first.upper < second.lower, first.lower > second.upper
    if not (below or above):
        return ALIKE
    return BETTER if below == lower_is_better else WORSE


def duel(
    claim: str,
    pairs: Sequence[tuple[Measured, Measured]],
    *,
    names: tuple[str, str],
    what: str,
    lower_is_better: bool = True,
    ties_confirm: bool = False,
) -> Finding:
    """Whether the first of each pair is better, by bands that do not overlap.

    Confirmed: nowhere worse, and better in half of the settings at least. Refuted: worse more often than better. In
    part: between the two. Undecided: all bands overlap, unless `ties_confirm`: the claim is that it is no worse.
    """
    if not pairs:
        return Finding(claim=claim, verdict="undecided", words="There are no two settings to compare here.")
    found = [compared(*pair, lower_is_better=lower_is_better) for pair in pairs]
    better, worse, alike = (found.count(verdict) for verdict in (BETTER, WORSE, ALIKE))
    first, second = names
    mean = [sum(pair[place].mean for pair in pairs) / len(pairs) for place in (0, 1)]
    words = (
        f"{first} has the better {what} in {better} of {len(pairs)} settings and the worse in {worse}; in {alike} the "
        f"bands overlap. Means over settings: {mean[0]:.3g} against {mean[1]:.3g} of {second}."
    )
    if better + worse == 0:
        return Finding(claim=claim, verdict="confirmed" if ties_confirm else "undecided", words=words)
    if worse == 0 and (ties_confirm or 2 * better >= len(pairs)):
        return Finding(claim=claim, verdict="confirmed", words=words)
    return Finding(claim=claim, verdict="refuted" if worse > better else "confirmed in part", words=words)


def printed_noise(cells: Sequence[CellAnswer], claim: str) -> Finding:
    """Whether what a paper claims of its noise is true: the certified ε of that noise beside the claimed one."""
    told: dict[float, tuple[float, float]] = {}
    for cell in cells:
        if cell.claimed_epsilon is not None and cell.epsilon is not None:
            lower, upper = told.get(cell.claimed_epsilon, (0.0, 0.0))
            told[cell.claimed_epsilon] = max(lower, cell.epsilon.lower), max(upper, cell.epsilon.upper)
    true = [claimed for claimed, (_, upper) in told.items() if upper <= claimed]
    false = {claimed: lower for claimed, (lower, _) in sorted(told.items()) if lower > claimed}
    words = f"The certified ε is at most the claimed one at {len(true)} of {len(told)} values."
    if not false:
        return Finding(
            claim=claim, verdict="confirmed" if told and len(true) == len(told) else "undecided", words=words
        )
    listed = ", ".join(f"{lower:.3g} where {claimed:g} is claimed" for claimed, lower in false.items())
    words += f" At {len(false)} the true ε is higher: it reaches at least {listed}."
    return Finding(claim=claim, verdict="confirmed in part" if true else "refuted", words=words)


def falling(claim: str, lines: Sequence[Sequence[Measured]], *, what: str, lower_is_better: bool = True) -> Finding:
    """Whether each line gets better from its first to its last value."""
    return duel(
        claim,
        [(line[-1], line[0]) for line in lines if len(line) > 1],
        names=("the largest ε", "the smallest"),
        what=what,
        lower_is_better=lower_is_better,
    )
