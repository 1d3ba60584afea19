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
    """A claim of the paper that one algorithm with its noise is better than another one.

    An algorithm with its noise is called an arm of the experiment.

    Attributes:
        text: the claim in words.
        first: name of the arm that is said to be better.
        second: name of the arm that it is compared with.
        panels: panels of the figure that the claim is about; None for all.
        least_epsilon: smallest ε of the claim.
        largest_epsilon: largest ε of the claim.
        no_worse: True if the first arm is only said to be as good.
    """

    text: str
    first: str
    second: str
    panels: tuple[str, ...] | None = None
    least_epsilon: float = 0.0
    largest_epsilon: float = float("inf")
    no_worse: bool = False


def arm_cells(
    participants: Mapping[str, int],
    epsilons: Sequence[float],
    *,
    records: Mapping[str, int],
    simulate: Callable[[str, ArmSettings], TrialSimulation],
) -> tuple[Cell, ...]:
    """Return the simulations of a figure of Lowy and Razaviyayn: one for each panel, algorithm with its noise, and ε.

    An algorithm with its noise is an arm of the experiment. Without noise it is the same at each ε. The paper claims an
    ε for the noise of mini-batch SGD only, because it does not print that of local SGD.

    Args:
        participants: number of silos (clients) in a round, by panel.
        epsilons: values of ε of the noise.
        records: number n of training records of a silo, by panel; δ = n⁻².
        simulate: function that returns the repeated trainings of an arm in a panel.

    Returns:
        For each combination of the values, the repeated trainings with their position on the grid.
    """
    cells = []
    for panel, arm, epsilon in itertools.product(participants, ARMS, epsilons):
        algorithm, noise = ARMS[arm]
        # Without noise, the largest ε fixes the number of gradients in a round.
        settings = ArmSettings(
            algorithm=algorithm,
            noise=noise,
            epsilon=max(epsilons) if noise == "none" else epsilon,
            participants=participants[panel],
        )
        claim = None
        if arm == NOISY_MINI_BATCH:
            claim = Claimed(epsilon=epsilon, delta=records[panel] ** -2.0)
        cell = Cell(
            place={"participants": panel, "arm": arm, "epsilon": epsilon},
            simulation=simulate(panel, settings),
            claimed=claim,
        )
        cells.append(cell)
    return tuple(cells)


def judge_arms(
    answers: Sequence[CellAnswer], claims: Sequence[ArmClaim], *, measure: str, quantity: str
) -> tuple[Finding, ...]:
    """Judge the claims of Lowy and Razaviyayn that one algorithm is better than another, and their noise's privacy.

    Two algorithms are compared by the confidence bands of their mean scores in the same settings.

    Args:
        answers: results of the experiment.
        claims: the claims, each that one algorithm with its noise is better or no worse than another one.
        measure: name of the score.
        quantity: the score in words.

    Returns:
        One finding for each claim, and then one for the printed noise.
    """
    scores = scores_by_setting(answers, measure)
    findings = []
    for claim in claims:
        finding = judge_pairs(
            claim.text,
            _pairs(scores, claim),
            names=(claim.first, claim.second),
            quantity=quantity,
            no_worse=claim.no_worse,
        )
        findings.append(finding)
    # The last finding is about the privacy of the paper's noise.
    printed = judge_printed_noise(answers, "The printed noise of the experiments is private at the ε on their axes.")
    return (*findings, printed)


def scores_by_setting(answers: Sequence[CellAnswer], measure: str) -> Mapping[tuple[str, str, float], Measured]:
    """Return the measured scores of an experiment by number of silos in a round, algorithm and ε.

    A silo is a client with many records. A panel of the figure shows one number of silos in a round. An algorithm with
    its noise is an arm of the experiment.

    Args:
        answers: results of the experiment. Those without the score are left out.
        measure: name of the score.

    Returns:
        The mean scores with their confidence bands. The keys are the panel, the arm and ε.
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
    """Return the scores of the two algorithms that a claim compares, wherever the paper makes the claim.

    An algorithm with its noise is an arm of the experiment. A panel is a number of silos (clients with many records) in
    a round.

    Args:
        scores: measured score by panel of the figure, arm, and ε.
        claim: both arms, with the panels and the range of ε.

    Returns:
        Pairs of mean scores with their confidence bands: first the arm that is claimed to be better.
    """
    pairs = []
    for (panel, arm, epsilon), first_score in scores.items():
        is_in_panels = claim.panels is None or panel in claim.panels
        is_in_range = claim.least_epsilon <= epsilon <= claim.largest_epsilon
        # The second score belongs to the same panel and ε.
        if arm == claim.first and is_in_panels and is_in_range:
            second_score = scores[panel, claim.second, epsilon]
            pairs.append((first_score, second_score))
    return pairs
