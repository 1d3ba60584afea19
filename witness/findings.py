"""Findings of an experiment on a paper's claims, derived from the measured bands of its cells.

A claim is about settings, for example an ε and a number of silos. In each setting it holds, fails or stays open, and
`tally.RULES` give the verdict. The claim that one run is better than another holds in a setting if its whole 95 % band
is on the better side of the other's. It fails if the band is on the worse side, and stays open if the bands overlap. A
claim on the privacy of noise is judged only by its certified ε.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from itertools import combinations
from typing import NamedTuple

from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.answer import Ends
from epsilond.witness.cells import CellAnswer
from epsilond.witness.experiment import Finding
from epsilond.witness.risks.answer import Measured
from epsilond.witness.tally import Tally

ReadScore = Callable[[CellAnswer], Measured | None]
"""Function that reads a measured mean from a cell, or returns None."""
BETTER, WORSE, LEVEL = "better", "worse", "alike"
"""Results of comparing two bands."""


def private_score(name: str) -> ReadScore:
    """Return a function that reads a score of the private run, the run with noise, from the result of a simulation.

    Args:
        name: name of the score, such as `test_error`.

    Returns:
        The function. It returns the mean of the score with its confidence band, or None if there is no such score.
    """

    def read_score(cell: CellAnswer) -> Measured | None:
        """Return the score, or None if it is missing."""
        scores = cell.scores or {}
        return scores.get(name)

    return read_score


def comparison_score(run: str, name: str) -> ReadScore:
    """Return a function that reads a score of a comparison run from the result of a simulation.

    A comparison run is the same training without noise or with other noise, or another algorithm.

    Args:
        run: name of the run that is compared with the private one.
        name: name of the score, such as `test_error`.

    Returns:
        The function. It returns the mean of the score with its confidence band, or None if there is no such score.
    """

    def read_score(cell: CellAnswer) -> Measured | None:
        """Return the score, or None if the run or the score is missing."""
        scores_of_runs = cell.scores_beside or {}
        scores = scores_of_runs.get(run) or {}
        return scores.get(name)

    return read_score


def compare_bands(first: Measured, second: Measured, *, lower_is_better: bool = True) -> str:
    """Compare two measured means by their 95 % confidence bands.

    Args:
        first: the first mean with its band.
        second: the second mean with its band.
        lower_is_better: whether a lower value is better.

    Returns:
        `better` if the whole band of the first is on the better side of the second's. `worse` if it is on the worse
        side, and `alike` if the bands overlap.
    """
    is_below = first.upper < second.lower
    is_above = first.lower > second.upper
    if not is_below and not is_above:
        return LEVEL
    is_first_better = is_below == lower_is_better
    return BETTER if is_first_better else WORSE


def judge_pairs(
    claim: str,
    pairs: Sequence[tuple[Measured, Measured]],
    *,
    names: tuple[str, str],
    quantity: str,
    lower_is_better: bool = True,
    no_worse: bool = False,
) -> Finding:
    """Judge the claim that one method is better than another, by their measured means in several settings.

    In each setting, such as an ε, the claim holds if the whole confidence band of the first method is on the better
    side of that of the second. It fails if the band is on the worse side, and stays open if the bands overlap.

    Args:
        claim: the paper's claim in words.
        pairs: measured means of both methods with their bands, for each setting.
        names: names of both methods.
        quantity: the measured quantity in words.
        lower_is_better: whether a lower value is better.
        no_worse: whether the claim is only that the first method is no worse. It then also holds if the bands overlap,
            and the finding states the number of these settings.

    Returns:
        The claim with its verdict, the numbers of settings, and both means over all settings.
    """
    comparisons = [compare_bands(first, second, lower_is_better=lower_is_better) for first, second in pairs]
    better = comparisons.count(BETTER)
    # Overlapping bands support only the weaker claim.
    level = comparisons.count(LEVEL) if no_worse else 0
    tally = Tally(holds=better + level, fails=comparisons.count(WORSE), of=len(pairs), level=level)
    if not pairs:
        return tally.finding(claim, "There are no two settings to compare here.")

    first_name, second_name = names
    first_mean = sum(first.mean for first, _ in pairs) / len(pairs)
    second_mean = sum(second.mean for _, second in pairs) / len(pairs)
    words = f"Mean {quantity} over settings: {first_mean:.3g} of {first_name}, {second_mean:.3g} of {second_name}."
    return tally.finding(claim, words)


def judge_printed_noise(cells: Sequence[CellAnswer], claim: str) -> Finding:
    """Judge a paper's claim on the privacy of its noise, by comparing the certified ε with the claimed ε.

    The claim holds at a claimed ε if the certified upper bound is at most the claimed ε in every simulation. It fails
    if a certified lower bound exceeds the claimed ε in any simulation. One failure refutes the claim, because it is
    about every ε.

    Args:
        cells: results of the experiment's simulations. Those without a claim or a certified ε are ignored.
        claim: the paper's claim in words.

    Returns:
        The claim with its verdict, and the certified bounds that decide it.
    """
    largest_bounds = _largest_bounds(cells)
    confirmed = {claimed: bounds.upper for claimed, bounds in largest_bounds.items() if bounds.upper <= claimed}
    refuted = {claimed: bounds.lower for claimed, bounds in largest_bounds.items() if bounds.lower > claimed}
    tally = Tally(
        holds=len(confirmed),
        fails=len(refuted),
        of=len(largest_bounds),
        universal=True,
        noun=("value of ε", "values of ε"),
        open_where="the claimed ε lies between the certified ends",
    )

    # Upper bounds are rounded up and lower bounds down, so that the sentences remain true.
    sentences = []
    if confirmed:
        sentences.append(f"The true ε is at most {_describe_bounds(confirmed, ROUND_CEILING)}.")
    if refuted:
        subject = "It is" if confirmed else "It is the true ε,"
        sentences.append(f"{subject} at least {_describe_bounds(refuted, ROUND_FLOOR)}.")
    if not sentences:
        sentences.append("No noise comes with a claim that could be decided.")
    return tally.finding(claim, " ".join(sentences))


def _largest_bounds(cells: Sequence[CellAnswer]) -> dict[float, Ends]:
    """Find the largest certified lower bound and the largest upper bound on ε of all simulations with the same claim.

    Args:
        cells: results of an experiment. Those without a claim or a certified ε are ignored.

    Returns:
        Both bounds by the claimed ε, in ascending order.
    """
    certified: dict[float, list[Ends]] = {}
    for cell in cells:
        if cell.claimed_epsilon is not None and cell.epsilon is not None:
            certified.setdefault(cell.claimed_epsilon, []).append(cell.epsilon)

    largest_bounds = {}
    for claimed, bounds in sorted(certified.items()):
        largest_lower = max(ends.lower for ends in bounds)
        largest_upper = max(ends.upper for ends in bounds)
        largest_bounds[claimed] = Ends(lower=largest_lower, upper=largest_upper)
    return largest_bounds


def _describe_bounds(bounds: Mapping[float, float], rounding: str) -> str:
    """Describe certified bounds on ε and the claimed ε of each, with commas between them.

    Args:
        bounds: certified bound by the claimed ε.
        rounding: rounding mode of `decimal`: up for upper bounds, down for lower bounds.

    Returns:
        Words such as `1.24 where 1 is claimed, 2.31 where 2 is claimed`.
    """
    return ", ".join(
        f"{format_bound(bound, rounding)} where {claimed:.4g} is claimed" for claimed, bound in bounds.items()
    )


def format_bound(bound: float, rounding: str) -> str:
    """Format a certified bound with three significant digits, rounded to the safe side.

    Args:
        bound: the bound.
        rounding: rounding mode of `decimal`: up for upper bounds, down for lower bounds.

    Returns:
        The digits, or `∞` if the bound is not finite.
    """
    if not math.isfinite(bound):
        return "∞"
    rounded = Context(prec=3, rounding=rounding).create_decimal(bound)
    return f"{float(rounded):.3g}"


def judge_trend(
    claim: str, lines: Sequence[Sequence[Measured]], *, quantity: str, lower_is_better: bool = True
) -> Finding:
    """Judge the claim that a quantity is better at the largest ε than at the smallest, on each line of a figure.

    Args:
        claim: the paper's claim in words.
        lines: measured means of each line, by increasing ε. Lines with one value are ignored.
        quantity: the measured quantity in words.
        lower_is_better: whether a lower value is better.

    Returns:
        The claim with its verdict, the numbers of lines, and the means at the largest and the smallest ε.
    """
    return judge_pairs(
        claim,
        [(line[-1], line[0]) for line in lines if len(line) > 1],
        names=("the largest ε", "the smallest"),
        quantity=quantity,
        lower_is_better=lower_is_better,
    )


class RankRange(NamedTuple):
    """The smallest and the largest of the parameter values that may be best under one condition of an experiment.

    Attributes:
        smallest: index of the smallest one among all values in ascending order, from 0.
        largest: index of the largest one.
    """

    smallest: int
    largest: int


@dataclass(frozen=True)
class MeasuredPoint:
    """A quantity that was measured at several parameter values under one condition, such as a level of noise.

    Attributes:
        name: name of the condition.
        measured: measured mean at each parameter value, by the name of the value, in ascending order of the values.
    """

    name: str
    measured: Mapping[str, Measured]

    def best(self, *, lower_is_better: bool) -> tuple[str, ...]:
        """Return the parameter values that may be best.

        These are the value with the best mean, and all values with confidence bands that overlap its band.

        Args:
            lower_is_better: whether a lower value of the quantity is better.

        Returns:
            Names of the values. The one with the best mean is first.
        """
        means = {value: band.mean for value, band in self.measured.items()}
        if lower_is_better:
            best = min(means, key=lambda value: means[value])
        else:
            best = max(means, key=lambda value: means[value])

        best_band = self.measured[best]
        candidates = [best]
        for value, band in self.measured.items():
            is_level = compare_bands(best_band, band, lower_is_better=lower_is_better) == LEVEL
            if value != best and is_level:
                candidates.append(value)
        return tuple(candidates)

    def ranks(self, *, lower_is_better: bool) -> RankRange:
        """Return the smallest and the largest index of the parameter values that may be best, as `best` returns them.

        Indices count all values in ascending order, from 0.

        Args:
            lower_is_better: whether a lower value of the quantity is better.
        """
        order = list(self.measured)
        indices = [order.index(value) for value in self.best(lower_is_better=lower_is_better)]
        return RankRange(min(indices), max(indices))


def best_unshared(stage: MeasuredPoint, shared: str, *, lower_is_better: bool) -> tuple[Measured, Measured]:
    """Return the best mean of models that are not fully shared by all clients, and the mean of the fully shared model.

    Args:
        stage: measured means of several settings. A setting is the share of the model that all clients have in common.
        shared: name of the setting in which the clients share the whole model.
        lower_is_better: whether a lower value is better.

    Returns:
        Both means with their confidence bands.
    """
    unshared_bands = {value: band for value, band in stage.measured.items() if value != shared}
    unshared_stage = MeasuredPoint(stage.name, unshared_bands)
    best, *_ = unshared_stage.best(lower_is_better=lower_is_better)
    return stage.measured[best], stage.measured[shared]


def judge_order(
    claim: str, lines: Mapping[str, Sequence[MeasuredPoint]], *, quantity: str, lower_is_better: bool = True
) -> Finding:
    """Judge the claim that the best value of a parameter falls along each line of a figure, for example with the noise.

    A line is a sequence of conditions, such as increasing noise. Under each condition a quantity is measured at the
    same parameter values. Several values may be best: that of the best mean, and those with bands that overlap its
    band. The claim holds on a line if all of them are smaller under the last condition than under the first. It fails
    if all of them under some condition are larger than all of them under an earlier one.

    Args:
        claim: the paper's claim in words.
        lines: measurements under the conditions of each line, by the name of the line.
        quantity: the measured quantity in words.
        lower_is_better: whether a lower value of the quantity is better.

    Returns:
        The claim with its verdict, and the best values under every condition in words.
    """
    verdicts = []
    line_words = []
    for name, stages in lines.items():
        ranks = [stage.ranks(lower_is_better=lower_is_better) for stage in stages]
        verdicts.append(_judge_fall(ranks))
        stage_words = ", ".join(_describe_best(stage, lower_is_better) for stage in stages)
        line_words.append(f"{name}: {stage_words}")

    tally = Tally(
        holds=verdicts.count(Verdict.YES),
        fails=verdicts.count(Verdict.NO),
        of=len(lines),
        open_where="the bands of several places meet the best one's",
    )
    best_words = "; ".join(line_words)
    words = f"Best by mean {quantity} (in brackets the values that its band does not exclude): {best_words}."
    return tally.finding(claim, words)


def _judge_fall(stages: Sequence[RankRange]) -> Verdict:
    """Decide whether the best value of a parameter falls along a sequence of conditions, such as increasing noise.

    Args:
        stages: for each condition, the range of the values that may be best; at least one condition.

    Returns:
        NO if the best value certainly rises between two stages, YES if it certainly falls from the first stage to the
        last, and otherwise UNDECIDABLE.
    """
    if any(later.smallest > earlier.largest for earlier, later in combinations(stages, 2)):
        return Verdict.NO
    if stages[-1].largest < stages[0].smallest:
        return Verdict.YES
    return Verdict.UNDECIDABLE


def _describe_best(stage: MeasuredPoint, lower_is_better: bool) -> str:
    """Describe a condition by its name, its best parameter value, and in brackets further values that may be best.

    Args:
        stage: measured means at each parameter value under one condition.
        lower_is_better: whether a lower value of the quantity is better.

    Returns:
        Words such as `no noise 0.1 (1)`, without brackets if no other value may be best.
    """
    best, *overlapping = stage.best(lower_is_better=lower_is_better)
    if not overlapping:
        return f"{stage.name} {best}"
    return f"{stage.name} {best} ({', '.join(overlapping)})"
