"""What the cells of an experiment say of a paper's claims: verdicts and words, made of the measured bands.

A claim speaks of settings: an ε and a number of silos, say. In each it holds, fails or stays open, and `tally.RULES`
say which verdict follows. That one run is better than another holds in a setting if its whole 95 % band lies on the
better side of the other's, fails if it lies on the worse, and stays open where the bands overlap. That a noise is
private is read off its certified ε alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from itertools import combinations

from epsilond.witness.cells import CellAnswer
from epsilond.witness.experiment import Finding
from epsilond.witness.risks.answer import Measured
from epsilond.witness.tally import Tally

Read = Callable[[CellAnswer], Measured | None]
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
    no_worse: bool = False,
) -> Finding:
    """Whether the first of each pair is better: the claim holds where its whole band is, and fails where it is worse.

    Where bands overlap the claim stays open. With `no_worse` it only says that the first is no worse: then it holds
    there, and the verdict says in how many settings it does so without being better.
    """
    found = [compared(*pair, lower_is_better=lower_is_better) for pair in pairs]
    better, worse, alike = (found.count(verdict) for verdict in (BETTER, WORSE, ALIKE))
    level = alike if no_worse else 0
    tally = Tally(holds=better + level, fails=worse, of=len(pairs), level=level)
    if not pairs:
        return tally.finding(claim, "There are no two settings to compare here.")
    first, second = names
    mean = [sum(pair[place].mean for pair in pairs) / len(pairs) for place in (0, 1)]
    words = f"Mean {what} over settings: {mean[0]:.3g} of {first}, {mean[1]:.3g} of {second}."
    return tally.finding(claim, words)


def printed_noise(cells: Sequence[CellAnswer], claim: str) -> Finding:
    """Whether what a paper claims of its noise is true: the certified ε of that noise beside the claimed one.

    At each claimed ε it holds if the upper end is at most the claim in every cell, and fails if a lower end is above
    it in any. A guarantee that fails once is refuted.
    """
    told: dict[float, tuple[float, float]] = {}
    for cell in cells:
        if cell.claimed_epsilon is not None and cell.epsilon is not None:
            lower, upper = told.get(cell.claimed_epsilon, (0.0, 0.0))
            told[cell.claimed_epsilon] = max(lower, cell.epsilon.lower), max(upper, cell.epsilon.upper)
    true = {claimed: upper for claimed, (_, upper) in sorted(told.items()) if upper <= claimed}
    false = {claimed: lower for claimed, (lower, _) in sorted(told.items()) if lower > claimed}
    tally = Tally(
        holds=len(true),
        fails=len(false),
        of=len(told),
        universal=True,
        noun=("value of ε", "values of ε"),
        open_where="the claimed ε lies between the certified ends",
    )
    words = []
    if true:
        listed = _listed(true, ROUND_CEILING)
        words.append(f"The true ε is at most {listed}.")
    if false:
        listed = _listed(false, ROUND_FLOOR)
        words.append(f"It is {'' if true else 'the true ε, '}at least {listed}.")
    return tally.finding(claim, " ".join(words) or "No noise comes with a claim that could be decided.")


def _listed(ends: Mapping[float, float], direction: str) -> str:
    """Ends of what is certified, rounded outward, beside what is claimed."""
    return ", ".join(f"{shown(end, direction)} where {claimed:.4g} is claimed" for claimed, end in ends.items())


def shown(end: float, direction: str) -> str:
    """An end of what is certified in three digits, rounded in a direction of `decimal`."""
    return f"{float(Context(prec=3, rounding=direction).create_decimal(end)):.3g}" if math.isfinite(end) else "∞"


def falling(claim: str, lines: Sequence[Sequence[Measured]], *, what: str, lower_is_better: bool = True) -> Finding:
    """Whether each line gets better from its first to its last value."""
    return duel(
        claim,
        [(line[-1], line[0]) for line in lines if len(line) > 1],
        names=("the largest ε", "the smallest"),
        what=what,
        lower_is_better=lower_is_better,
    )


@dataclass(frozen=True)
class MeasuredPoint:
    """One point of a line: its name, and what was measured at each place, in the order of places."""

    name: str
    measured: Mapping[str, Measured]

    def best(self, *, lower_is_better: bool) -> tuple[str, ...]:
        """The place of the best mean, and after it those whose bands meet its band."""
        sign = 1.0 if lower_is_better else -1.0
        first = min(self.measured, key=lambda place: sign * self.measured[place].mean)
        met = (
            place
            for place, one in self.measured.items()
            if place != first and compared(self.measured[first], one, lower_is_better=lower_is_better) == ALIKE
        )
        return (first, *met)

    def ranks(self, *, lower_is_better: bool) -> tuple[int, int]:
        """The lowest and the highest of the places that may be best."""
        order = list(self.measured)
        found = [order.index(place) for place in self.best(lower_is_better=lower_is_better)]
        return min(found), max(found)


def best_of_own(stage: MeasuredPoint, shared: str, *, lower_is_better: bool) -> tuple[Measured, Measured]:
    """The best place but the one where all is shared, and that one."""
    own = MeasuredPoint(stage.name, {place: one for place, one in stage.measured.items() if place != shared})
    return stage.measured[own.best(lower_is_better=lower_is_better)[0]], stage.measured[shared]


def descending(
    claim: str, lines: Mapping[str, Sequence[MeasuredPoint]], *, what: str, lower_is_better: bool = True
) -> Finding:
    """Whether the best place comes earlier in the order of places from stage to stage of each line.

    What may be best at a stage are the place of the best mean and those whose bands meet its band. On a line the claim
    holds if all of these come earlier at the last stage than at the first, and fails if all of some stage come later
    than all of one before it.
    """
    holds, fails, told = 0, 0, []
    for name, stages in lines.items():
        ranks = [stage.ranks(lower_is_better=lower_is_better) for stage in stages]
        back = any(later[0] > earlier[1] for earlier, later in combinations(ranks, 2))
        fails += back
        holds += not back and ranks[-1][1] < ranks[0][0]
        told.append(f"{name}: " + ", ".join(_best_words(stage, lower_is_better) for stage in stages))
    tally = Tally(holds=holds, fails=fails, of=len(lines), open_where="the bands of several places meet the best one's")
    return tally.finding(claim, f"Best by mean {what} (in brackets what its band does not exclude): {'; '.join(told)}.")


def _best_words(stage: MeasuredPoint, lower_is_better: bool) -> str:
    first, *met = stage.best(lower_is_better=lower_is_better)
    return f"{stage.name} {first}" + (f" ({', '.join(met)})" if met else "")
