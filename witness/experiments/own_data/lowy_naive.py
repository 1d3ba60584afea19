"""Statements of Lowy and Razaviyayn, Appendix H.2, that compare private training with the naive predictor.

The naive predictor answers the mean of all training targets. Its error is the unit of relative root mean square errors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from epsilond.witness.cells import CellAnswer
from epsilond.witness.experiment import Finding
from epsilond.witness.experiments.own_data.lowy_arms import NOISY_LOCAL, NOISY_MINI_BATCH, scores_by_setting
from epsilond.witness.findings import judge_pairs
from epsilond.witness.risks.answer import Measured
from epsilond.witness.tally import Tally

NAIVE: Final = Measured(mean=1.0, lower=1.0, upper=1.0, standard_error=0.0)
"""Relative error of the naive predictor."""
LEAST_GAIN, LARGEST_GAIN = 0.3, 0.4
"""Share of the naive error that mini-batch SGD saves at ε = 1, as the text states."""
STATED_EPSILON: Final = 1.0
REVERSED_PANEL, REVERSED_EPSILON = "3 of 3", 3.0
"""Panel and ε that the text names for local SGD being better."""
QUANTITY: Final = "relative root mean square error"


def judge_naive(answers: Sequence[CellAnswer], measure: str) -> tuple[Finding, ...]:
    """Judge the claims of Lowy and Razaviyayn about the naive predictor, and one exception to their other claims.

    The naive predictor always predicts the mean of the training targets. The exception is the panel with 3 of 3 silos
    in a round, at ε = 3. There, local SGD is said to be better than mini-batch SGD. Silos are clients with many
    records.

    Args:
        answers: results of the experiment, one for each panel of the figures, algorithm with its noise, and ε.
        measure: name of the score of the answers that is judged, a relative error.

    Returns:
        One finding for each claim: a verdict, such as confirmed, and the measured numbers in words.
    """
    errors = scores_by_setting(answers, measure)
    private_errors = []
    errors_at_one = []
    for (_, arm, epsilon), error in errors.items():
        if arm in (NOISY_MINI_BATCH, NOISY_LOCAL):
            private_errors.append(error)
        if arm == NOISY_MINI_BATCH and epsilon == STATED_EPSILON:
            errors_at_one.append(error)
    return (
        judge_pairs(
            "For most ε both private algorithms predict better than the mean of the training targets.",
            [(error, NAIVE) for error in private_errors],
            names=("private training", "the naive predictor"),
            quantity=QUANTITY,
        ),
        _judge_gain(errors_at_one),
        judge_pairs(
            "With 3 of 3 silos private local SGD predicts better than private mini-batch SGD at ε = 3.",
            _reversed_pair(errors),
            names=(NOISY_LOCAL, NOISY_MINI_BATCH),
            quantity=QUANTITY,
        ),
    )


def _judge_gain(scores: Sequence[Measured]) -> Finding:
    """Judge whether the error of private training at ε = 1 is from 30 to 40 % below that of the naive predictor.

    The claim holds in a panel of the figure if the confidence band of the error overlaps the stated range. Otherwise it
    fails.

    Args:
        scores: errors of private mini-batch SGD at ε = 1, relative to the naive predictor, one for each panel.

    Returns:
        The claim with its verdict and the measured gains.
    """
    # The naive predictor has the error 1, so that a gain of 30 to 40 % is an error from 0.6 to 0.7.
    least_error, largest_error = 1.0 - LARGEST_GAIN, 1.0 - LEAST_GAIN
    overlaps = [score.lower <= largest_error and score.upper >= least_error for score in scores]
    tally = Tally(holds=overlaps.count(True), fails=overlaps.count(False), of=len(overlaps), noun=("panel", "panels"))
    words = "Nothing was measured."
    if scores:
        gains = ", ".join(f"{1.0 - score.mean:.0%}" for score in scores)
        words = f"The error is lower by {gains}."
    claim = "At ε = 1 private mini-batch SGD is 30 to 40 % better than the mean of the training targets."
    return tally.finding(claim, words)


def _reversed_pair(scores: Mapping[tuple[str, str, float], Measured]) -> list[tuple[Measured, Measured]]:
    """Return the errors of private local and private mini-batch SGD in the case where local SGD is said to be better.

    The paper names one such case: 3 of 3 silos in a round, at ε = 3. A silo is a client with many records.

    Args:
        scores: relative errors by panel of the figure, algorithm with its noise, and ε.

    Returns:
        One pair of errors, with local SGD first; no pair if one of them was not measured.
    """
    local = scores.get((REVERSED_PANEL, NOISY_LOCAL, REVERSED_EPSILON))
    mini_batch = scores.get((REVERSED_PANEL, NOISY_MINI_BATCH, REVERSED_EPSILON))
    if local is None or mini_batch is None:
        return []
    return [(local, mini_batch)]
