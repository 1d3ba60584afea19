"""The arms of Lowy and Razaviyayn's figures, and the statements about them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from epsilond.witness.cells import CellAnswer
from epsilond.witness.experiment import Cell, Claimed, Finding
from epsilond.witness.experiments.own_data.lowy_protocol import Algorithm, ArmSettings, Noise
from epsilond.witness.findings import judge_pairs, judge_printed_noise, private_score
from epsilond.witness.risks.answer import Measured
from epsilond.witness.trials.trials import TrialSimulation

NOISY_MINI_BATCH, NOISY_LOCAL = "noisy mini-batch SGD", "noisy local SGD"
CERTIFIED_MINI_BATCH, CERTIFIED_LOCAL = "mini-batch SGD, certified noise", "local SGD, certified noise"
MINI_BATCH, LOCAL = "mini-batch SGD, no noise", "local SGD, no noise"
ARMS: Final[Mapping[str, tuple[Algorithm, Noise]]] = {
    NOISY_MINI_BATCH: ("mini-batch", "printed"),
    NOISY_LOCAL: ("local", "printed"),
    CERTIFIED_MINI_BATCH: ("mini-batch", "certified"),
    CERTIFIED_LOCAL: ("local", "certified"),
    MINI_BATCH: ("mini-batch", "none"),
    LOCAL: ("local", "none"),
}
"""Algorithm and noise of each arm."""


@dataclass(frozen=True, kw_only=True)
class ArmClaim:
    """A claim of the paper that compares two arms, which are algorithms with their noise.

    The claim `text` says that the arm `first` is better than the arm `second`, for ε within two limits.
    """

    text: str
    first: str
    second: str
    panels: tuple[str, ...] | None = None
    """Panels of the statement; None for all."""
    least_epsilon: float = 0.0
    largest_epsilon: float = float("inf")
    no_worse: bool = False
    """True if the first arm is only said to be as good."""


def arm_cells(
    participants: Mapping[str, int],
    epsilons: Sequence[float],
    *,
    records: Mapping[str, int],
    simulate: Callable[[str, ArmSettings], TrialSimulation],
) -> tuple[Cell, ...]:
    """Return the simulations of a figure: one for each panel, arm and ε. Arms without noise are the same at each ε.

    An arm is an algorithm with its noise. The paper claims an ε for the noise of mini-batch SGD only, because it does
    not print that of local SGD.

    Args:
        participants: number of silos (clients) in a round, by panel.
        epsilons: values of ε of the noise.
        records: number n of training records of a silo, by panel; δ = n⁻².
        simulate: returns the trials of an arm in a panel.

    Returns:
        One table cell for each place of the grid, with its trials.
    """
    cells = []
    for panel, arm, epsilon in itertools.product(participants, ARMS, epsilons):
        algorithm, noise = ARMS[arm]
        settings = ArmSettings(
            algorithm=algorithm,
            noise=noise,
            epsilon=max(epsilons) if noise == "none" else epsilon,
            participants=participants[panel],
        )
        claim = Claimed(epsilon=epsilon, delta=records[panel] ** -2.0)
        cells.append(
            Cell(
                place={"participants": panel, "arm": arm, "epsilon": epsilon},
                simulation=simulate(panel, settings),
                claimed=claim if arm == NOISY_MINI_BATCH else None,
            )
        )
    return tuple(cells)


def judge_arms(
    answers: Sequence[CellAnswer], claims: Sequence[ArmClaim], *, measure: str, quantity: str
) -> tuple[Finding, ...]:
    """Judge the paper's claims about arms (algorithms with their noise), and the privacy of the printed noise.

    Args:
        answers: the table cells of the experiment.
        claims: the claims about arms, each that one arm is better or no worse than another.
        measure: name of the score.
        quantity: the score in words.

    Returns:
        One finding for each claim, and then one for the printed noise.
    """
    scores = scores_by_setting(answers, measure)
    findings = [  # one for each statement
        judge_pairs(
            claim.text,
            _pairs(scores, claim),
            names=(claim.first, claim.second),
            quantity=quantity,
            no_worse=claim.no_worse,
        )
        for claim in claims
    ]
    printed = judge_printed_noise(answers, "The printed noise of the experiments is private at the ε on their axes.")
    return (*findings, printed)


def scores_by_setting(answers: Sequence[CellAnswer], measure: str) -> Mapping[tuple[str, str, float], Measured]:
    """Return the measured score by panel, arm and ε, for the cells that have it.

    A panel is a number of silos in a round, and an arm is an algorithm with its noise.

    Args:
        answers: the cells of the experiment.
        measure: name of the score.

    Returns:
        The mean score with its band, by the three.
    """
    read = private_score(measure)
    scores = {}
    for cell in answers:
        score = read(cell)
        if score is not None:
            place = cell.place
            scores[str(place["participants"]), str(place["arm"]), float(place["epsilon"])] = score
    return scores


def _pairs(scores: Mapping[tuple[str, str, float], Measured], claim: ArmClaim) -> list[tuple[Measured, Measured]]:
    """Return the scores of the two arms of a claim, in each setting for which the paper makes the claim.

    An arm is an algorithm with its noise, and a panel is a number of silos in a round.

    Args:
        scores: measured score by panel of the figure, arm, and ε.
        claim: both arms, with the panels and the range of ε.

    Returns:
        Pairs of means: first the arm that is claimed to be better.
    """
    pairs = []
    for (panel, arm, epsilon), first in scores.items():
        if arm != claim.first or (claim.panels is not None and panel not in claim.panels):
            continue
        if not claim.least_epsilon <= epsilon <= claim.largest_epsilon:
            continue
        pairs.append((first, scores[panel, claim.second, epsilon]))
    return pairs
