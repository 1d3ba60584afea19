"""Statements of Reshef and Levy about Tables 1 and 2 (Section 5.3), judged by the measured accuracies.

A statement about two accuracies holds if their bands lie apart in the stated order. Statements about running times are
not judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from epsilond.witness.cells import CellAnswer
from epsilond.witness.experiment import Finding
from epsilond.witness.experiments.mu2_digits import ONE_PASS, TABLE_1, TABLE_2, TAKEN_BACK
from epsilond.witness.findings import judge_pairs, private_score
from epsilond.witness.risks.answer import Measured
from epsilond.witness.tally import Tally

NOISY_SGD, SEVERAL_PASSES = "noisy SGD", "Lowy and Razaviyayn, several passes"
ARMS: Final = (TAKEN_BACK, NOISY_SGD, SEVERAL_PASSES)
QUANTITY: Final = "test accuracy"
Setting = tuple[str, float]
"""Name of an algorithm, and ρ or the number m of machines in a round."""
Scores = Mapping[Setting, Measured]
PrintedRow = Mapping[str, Mapping[str, float]]
PrintedTable = Mapping[float, PrintedRow] | Mapping[int, PrintedRow]


def printed_accuracy(row: PrintedRow, name: str) -> float:
    """Return the accuracy that Reshef and Levy print for an algorithm, at one value of a table's parameter.

    Args:
        row: the printed accuracies at this value, such as `TABLE_1[8.0]`.
        name: name of the algorithm, one of `ARMS`.

    Returns:
        The share of test records that are classified correctly, in [0, 1].
    """
    # The accuracy of noisy SGD is stored with that of the paper's own algorithm.
    if name == NOISY_SGD:
        return row[TAKEN_BACK]["noisy-sgd"]
    if name == TAKEN_BACK:
        return row[TAKEN_BACK]["private"]
    return row[ONE_PASS]["private"]


def judge_over_rho(answers: Sequence[CellAnswer]) -> tuple[Finding, ...]:
    """Judge the claims of Reshef and Levy about Table 1, which prints accuracies for several privacy levels ρ.

    ρ is the μ of μ-Gaussian differential privacy. The table compares three algorithms: the paper's own one, in which a
    machine takes back its earlier noise (`TAKEN_BACK`), noisy SGD, and that of Lowy and Razaviyayn
    (`SEVERAL_PASSES`).

    Args:
        answers: results of the experiment, one for each ρ and algorithm.

    Returns:
        One finding for each claim, with its verdict from the measured test accuracies.
    """
    scores = read_scores(answers, "gaussian_dp_mu")
    all_rho = sorted(TABLE_1)
    smallest, largest = all_rho[0], all_rho[-1]

    # In the table, the paper's own algorithm is the more accurate one at every ρ except the largest.
    table_order = [((TAKEN_BACK, rho), (SEVERAL_PASSES, rho)) for rho in all_rho[:-1]]
    table_order.append(((SEVERAL_PASSES, largest), (TAKEN_BACK, largest)))
    return (
        *_judge_algorithms(scores, TABLE_1),  # compare the algorithms in pairs
        _judge(
            "The accuracy of all three algorithms rises with ρ.",
            scores,
            _rising_pairs(all_rho),
            names=("the larger ρ", "the next smaller one"),
        ),
        _judge(
            f"Lowy and Razaviyayn's algorithm overtakes noise that is taken back only at ρ = {largest:g}.",
            scores,
            table_order,
            names=("the algorithm that the table has ahead", "the other one"),
        ),
        _judge_nearness(scores, smallest),
        *judge_printed(scores, TABLE_1),
    )


def judge_over_participants(answers: Sequence[CellAnswer]) -> tuple[Finding, ...]:
    """Judge the claims of Reshef and Levy about Table 2, which prints accuracies for several numbers m of machines.

    In each round m machines report. The table compares the paper's own algorithm, in which a machine takes back its
    earlier noise, with noisy SGD and with the algorithm of Lowy and Razaviyayn.

    Args:
        answers: results of the experiment, one for each m and algorithm.

    Returns:
        One finding for each claim, with its verdict from the measured test accuracies.
    """
    scores = read_scores(answers, "participants")
    sizes = sorted(TABLE_2)
    middle, largest = sizes[-2:]

    rising_pairs = _rising_pairs(sizes)
    # The paper states one exception, which is a claim of its own below.
    rising_pairs.remove(((NOISY_SGD, largest), (NOISY_SGD, middle)))
    most_accurate = [((SEVERAL_PASSES, largest), (name, largest)) for name in (TAKEN_BACK, NOISY_SGD)]
    return (
        *_judge_algorithms(scores, TABLE_2),
        _judge(
            f"Accuracy rises with m, except that of noisy SGD from m = {middle} to {largest}.",
            scores,
            rising_pairs,
            names=("the larger m", "the next smaller one"),
        ),
        _judge(
            f"Noisy SGD is less accurate at m = {largest} than at m = {middle}.",
            scores,
            [((NOISY_SGD, middle), (NOISY_SGD, largest))],
            names=(f"m = {middle}", f"m = {largest}"),
        ),
        _judge(
            f"At m = {largest} Lowy and Razaviyayn's algorithm is the most accurate.",
            scores,
            most_accurate,
            names=(SEVERAL_PASSES, "the two others"),
        ),
        _judge_change(scores),
        *judge_printed(scores, TABLE_2),
    )


def _rising_pairs(values: Sequence[float]) -> list[tuple[Setting, Setting]]:
    """Return the pairs of settings with a comparison that tests the claim that accuracy rises with a parameter.

    A setting is an algorithm at one value of the parameter.

    Args:
        values: values of the parameter, ascending.

    Returns:
        For each algorithm and each two consecutive values, the setting with the larger value and then the setting with
        the smaller value.
    """
    pairs: list[tuple[Setting, Setting]] = []
    for name in ARMS:
        pairs += [((name, larger), (name, smaller)) for smaller, larger in pairwise(values)]
    return pairs


def read_scores(answers: Sequence[CellAnswer], axis: str) -> Scores:
    """Collect the measured test accuracies of an experiment with several algorithms and values of a parameter.

    Args:
        answers: results of the experiment's simulations.
        axis: name of the parameter in the results: "gaussian_dp_mu", or "participants" for the machines in a round.

    Returns:
        Mean accuracies with their confidence bands, by pairs of an algorithm and a value. A simulation without a
        measured accuracy is left out.
    """
    read_accuracy = private_score("test_accuracy")
    scores = {}
    for cell in answers:
        score = read_accuracy(cell)
        if score is not None:
            scores[str(cell.place["algorithm"]), float(cell.place[axis])] = score
    return scores


def _judge(
    claim: str, scores: Scores, settings: Iterable[tuple[Setting, Setting]], *, names: tuple[str, str], **options: bool
) -> Finding:
    """Judge the claim that one setting is more accurate than another, for several pairs of settings.

    A setting is an algorithm at one value of a parameter. The claim holds for a pair if the confidence band of the
    first accuracy is above that of the second. It stays open if the bands overlap.

    Args:
        claim: the claim in words.
        scores: measured accuracies with their bands.
        settings: pairs of settings. A pair with a setting that was not measured is left out.
        names: words for the first and for the second settings.
        **options: `no_worse=True` for a claim that also holds if the bands overlap.

    Returns:
        The claim with its verdict.
    """
    pairs = [(scores[first], scores[second]) for first, second in settings if first in scores and second in scores]
    return judge_pairs(claim, pairs, names=names, quantity=QUANTITY, lower_is_better=False, **options)


def _judge_algorithms(scores: Scores, table: Iterable[float]) -> tuple[Finding, Finding]:
    """Judge the two comparisons that Reshef and Levy make at every value of a table's parameter.

    Their algorithm, in which a machine takes back its earlier noise, is stated to be more accurate than noisy SGD, and
    as accurate as the algorithm of Lowy and Razaviyayn.

    Args:
        scores: measured accuracies.
        table: values of the privacy parameter ρ, or of the number m of machines in a round.

    Returns:
        One finding for each comparison, with its verdict from the confidence bands of the accuracies.
    """
    to_noisy_sgd = [((TAKEN_BACK, value), (NOISY_SGD, value)) for value in table]
    to_several_passes = [((TAKEN_BACK, value), (SEVERAL_PASSES, value)) for value in table]
    return (
        _judge(
            "At the same privacy noise that is taken back is more accurate than noisy SGD.",
            scores,
            to_noisy_sgd,
            names=(TAKEN_BACK, NOISY_SGD),
        ),
        _judge(
            "At the same privacy it is as accurate as Lowy and Razaviyayn's algorithm.",
            scores,
            to_several_passes,
            names=(TAKEN_BACK, SEVERAL_PASSES),
            no_worse=True,
        ),
    )


def _judge_nearness(scores: Scores, rho: float) -> Finding:
    """Judge whether the algorithm of Lowy and Razaviyayn is closer to noisy SGD than to that of Reshef and Levy.

    Noisy SGD is stated to be the least accurate one. The accuracy of Lowy and Razaviyayn is therefore closer to it if
    it is below the midpoint of the two others. The bounds of the midpoint's confidence band are the means of the bounds
    of both bands. If both bands cover their means, so does that of the midpoint.

    Args:
        scores: measured accuracies.
        rho: the ρ of the comparison, the smallest in Table 1.

    Returns:
        The claim with its verdict; it stays open if one of the three accuracies was not measured.
    """
    own, noisy_sgd, several_passes = (scores.get((name, rho)) for name in ARMS)
    pairs = []
    if own is not None and noisy_sgd is not None and several_passes is not None:
        pairs.append((several_passes, _midpoint(own, noisy_sgd)))

    return judge_pairs(
        f"At ρ = {rho:g} Lowy and Razaviyayn's algorithm is closer to noisy SGD than to noise that is taken back.",
        pairs,
        names=(SEVERAL_PASSES, "the midpoint of both"),
        quantity=QUANTITY,
        lower_is_better=True,
    )


def _midpoint(first: Measured, second: Measured) -> Measured:
    """Return the mean of two measurements, with the means of their bounds and of their standard errors."""
    return Measured(
        mean=0.5 * (first.mean + second.mean),
        lower=0.5 * (first.lower + second.lower),
        upper=0.5 * (first.upper + second.upper),
        standard_error=0.5 * (first.standard_error + second.standard_error),
    )


def _judge_change(scores: Scores) -> Finding:
    """Judge whether the accuracy depends less on the number m of machines in a round than on the privacy parameter ρ.

    The change over m is measured between the smallest and the largest m of Table 2. It is compared with the change over
    ρ that Table 1 prints for the same algorithm, because this experiment has only one ρ. The claim holds for an
    algorithm if every change over m that the confidence bands allow is smaller, and fails if every one is larger.

    Args:
        scores: measured accuracies by algorithm and m.

    Returns:
        The claim with its verdict, and both changes of each algorithm in words.
    """
    changes = _changes(scores)
    tally = Tally(
        holds=sum(change.largest < change.printed for change in changes),
        fails=sum(change.smallest > change.printed for change in changes),
        of=len(changes),
        noun=("algorithm", "algorithms"),
        open_where="the bands allow both",
    )
    claim = "The change in accuracy over m is smaller than the one over ρ in Table 1."
    words = "; ".join(f"{change.algorithm} {change.mean:.3f} and {change.printed:.3f}" for change in changes)
    return tally.finding(claim, f"Measured change over m, and printed change over ρ: {words}.")


class _AccuracyChange(NamedTuple):
    """Change of an algorithm's accuracy from the smallest to the largest number m of machines in a round.

    Attributes:
        algorithm: name of the algorithm.
        smallest: smallest absolute change that the confidence bands allow; 0 if they overlap.
        mean: absolute difference of the measured means.
        largest: largest absolute change that the confidence bands allow.
        printed: absolute change that Table 1 prints from the smallest to the largest ρ, for comparison.
    """

    algorithm: str
    smallest: float
    mean: float
    largest: float
    printed: float


def _changes(scores: Scores) -> list[_AccuracyChange]:
    """Return the change of each algorithm's accuracy from the smallest to the largest m of Table 2.

    Here m is the number of machines in a round. If the confidence bands at both m cover the true means, the absolute
    change of the true mean is between `smallest` and `largest`.

    Args:
        scores: measured accuracies by algorithm and m. An algorithm that was not measured at both m is left out.
    """
    smallest_m, largest_m = min(TABLE_2), max(TABLE_2)
    row_of_smallest_rho, row_of_largest_rho = TABLE_1[min(TABLE_1)], TABLE_1[max(TABLE_1)]
    changes = []
    for name in ARMS:
        before, after = scores.get((name, smallest_m)), scores.get((name, largest_m))
        if before is None or after is None:
            continue
        # Largest rise and largest fall that both confidence bands allow. A negative value excludes the direction.
        largest_rise = after.upper - before.lower
        largest_fall = before.upper - after.lower
        printed_change = abs(printed_accuracy(row_of_largest_rho, name) - printed_accuracy(row_of_smallest_rho, name))
        change = _AccuracyChange(
            algorithm=name,
            smallest=max(0.0, -largest_rise, -largest_fall),
            mean=abs(after.mean - before.mean),
            largest=max(largest_rise, largest_fall),
            printed=printed_change,
        )
        changes.append(change)
    return changes


def judge_printed(scores: Scores, table: PrintedTable) -> tuple[Finding, ...]:
    """Judge for each algorithm whether the printed accuracies are within the confidence bands of the measured means.

    Args:
        scores: measured accuracies.
        table: the printed accuracies by ρ or m.

    Returns:
        One finding for each algorithm that the tables compare.
    """
    return tuple(_judge_printed_accuracies(name, scores, table) for name in ARMS)


def _judge_printed_accuracies(name: str, scores: Scores, table: PrintedTable) -> Finding:
    """Judge for one algorithm whether the printed accuracies are within the confidence bands of the measured means.

    Args:
        name: name of the algorithm.
        scores: measured accuracies.
        table: the printed accuracies by ρ or m. Values that were not measured are left out.

    Returns:
        The finding, with the largest distance between a printed accuracy and the measured mean.
    """
    is_inside = []
    differences = []
    for value, accuracies in table.items():
        measured = scores.get((name, value))
        if measured is None:
            continue
        printed = printed_accuracy(accuracies, name)
        is_inside.append(measured.lower <= printed <= measured.upper)
        differences.append(abs(measured.mean - printed))

    tally = Tally(holds=is_inside.count(True), fails=is_inside.count(False), of=len(is_inside))
    words = "Nothing was measured."
    if differences:
        words = f"The mean is at most {max(differences):.3f} away."
    return tally.finding(f"The printed accuracy of {name} lies in the band of the measured mean.", words)
