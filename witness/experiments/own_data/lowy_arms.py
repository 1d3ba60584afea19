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
    """A claim of the paper that one arm of the experiment, an algorithm with its noise, is better than another arm.

    Attributes:
        text: the claim in words.
        first: name of the arm that is claimed to be better.
        second: name of the arm that it is compared with.
        panels: panels of the figure that the claim is about; None for all.
        least_epsilon: smallest ε for which the claim is made.
        largest_epsilon: largest ε for which the claim is made.
        no_worse: True if the first arm is only claimed to be at least as good.
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
    """Return the simulations of a figure of Lowy and Razaviyayn: one for each panel, arm and ε.

    An arm is an algorithm with its noise. Only for the noise of mini-batch SGD does the paper claim an ε, because it
    does not print the noise of local SGD.

    Args:
        participants: number of silos (clients) in a round, by panel.
        epsilons: values of ε of the noise.
        records: number n of training records of a silo, by panel; δ = n⁻².
        simulate: function that returns the simulation of an arm in a panel.

    Returns:
        For each combination of the three values, the values, the simulation and the ε that the paper claims.
    """
    cells = []
    for panel, arm, epsilon in itertools.product(participants, ARMS, epsilons):
        algorithm, noise = ARMS[arm]
        # Without noise, an arm is the same at each ε. The largest ε determines its number of gradients in a round.
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
    """Judge the claims of Lowy and Razaviyayn on which algorithms are better, and on the privacy of their noise.

    Two algorithms are compared by the confidence bands of their mean scores in the same settings.

    Args:
        answers: results of the experiment.
        claims: the claims on pairs of algorithms with their noise.
        measure: name of the score.
        quantity: the score in words.

    Returns:
        For each claim, and then for the privacy of the paper's noise, whether the results support it.
    """
    scores = scores_by_setting(answers, measure)
    findings = []
    for claim in claims:
        finding = judge_pairs(
            claim.text,
            _collect_pairs(scores, claim),
            names=(claim.first, claim.second),
            quantity=quantity,
            no_worse=claim.no_worse,
        )
        findings.append(finding)
    printed = judge_printed_noise(answers, "The printed noise of the experiments is private at the ε on their axes.")
    return (*findings, printed)


def scores_by_setting(answers: Sequence[CellAnswer], measure: str) -> Mapping[tuple[str, str, float], Measured]:
    """Collect the measured scores of an experiment.

    Args:
        answers: results of the experiment. Those without the score are left out.
        measure: name of the score.

    Returns:
        The mean scores with their confidence bands. The keys are the panel of the figure (the number of clients in a
        round), the arm (the algorithm with its noise) and ε.
    """
    read = private_score(measure)
    scores = {}
    for cell in answers:
        score = read(cell)
        if score is not None:
            place = cell.place
            scores[str(place["participants"]), str(place["arm"]), float(place["epsilon"])] = score
    return scores


def _collect_pairs(
    scores: Mapping[tuple[str, str, float], Measured], claim: ArmClaim
) -> list[tuple[Measured, Measured]]:
    """Pair the scores of the two arms (algorithms with their noise) that a claim compares, wherever it is made.

    Args:
        scores: mean scores with their confidence bands, by panel of the figure, arm, and ε.
        claim: the claim, with the panels and the range of ε for which it is made.

    Returns:
        One pair for each panel and ε. The first score is that of the arm that is claimed to be better.
    """
    pairs = []
    for (panel, arm, epsilon), first_score in scores.items():
        is_in_panels = claim.panels is None or panel in claim.panels
        is_in_range = claim.least_epsilon <= epsilon <= claim.largest_epsilon
        if arm == claim.first and is_in_panels and is_in_range:
            second_score = scores[panel, claim.second, epsilon]
            pairs.append((first_score, second_score))
    return pairs
