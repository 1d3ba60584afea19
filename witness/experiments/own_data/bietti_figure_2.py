"""Figure 2 of Bietti et al.: accuracy against ε at the end of training, on Stack Overflow and federated EMNIST.

Each noise of Appendix A has its certified ε. The line `best` has, in each trial, the step and the personalization of
the best test accuracy, as in the paper. Such a choice on test records is optimistic, and it costs privacy that is not
counted. `bietti_users` has the other choices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Final

from epsilond.simulators.files.folders import DataName
from epsilond.witness.cells import CellAnswer
from epsilond.witness.experiment import Axis, Cell, Finding, Place, Preset
from epsilond.witness.experiments.own_data import bietti_users as users
from epsilond.witness.experiments.ppsgd_grid import TIMES_PARTICIPANTS
from epsilond.witness.experiments.ppsgd_synthetic import personalization_name
from epsilond.witness.findings import judge_pairs
from epsilond.witness.trials.trials import TrialSimulation

PANELS: Final[Mapping[str, DataName]] = {"Stack Overflow": users.STACK_OVERFLOW, "federated EMNIST": users.EMNIST}
LINES: Final[Mapping[str, tuple[float, ...]]] = {
    **{personalization_name(value): (value,) for value in TIMES_PARTICIPANTS},
    "best": TIMES_PARTICIPANTS,
}
"""Personalizations αQ from which each line takes the best."""
RUNS_SHARED: Final = 2
"""Arms that share a run: a personalization, and the best of all."""


def cells(repetitions: int, seed: int) -> tuple[Cell, ...]:
    """Return the simulations for Figure 2 of Bietti et al.: one for each data set, noise and line of the figure.

    A line of the figure has one or several personalizations, of which a trial trains with each and uses the best.
    Personalization is the weight of the model that all users share.

    Args:
        repetitions: number of trials of each simulation, with different randomness.
        seed: seed of all randomness.

    Returns:
        For each combination of the three values, the values and the simulation.
    """
    table = []
    for panel, study in PANELS.items():
        for noise, line in product(users.STUDIES[study].noise_multipliers, LINES):
            arm = users.UserArm(study, LINES[line], noise, runs=RUNS_SHARED)
            simulation = TrialSimulation(arm=arm, repetitions=repetitions, seed=seed)
            place: Place = {"data": panel, "personalization": line, "noise_multiplier": noise}
            table.append(Cell(place=place, simulation=simulation))
    return tuple(table)


def judge(answers: Sequence[CellAnswer]) -> tuple[Finding, ...]:
    """Judge the claim of Bietti et al., Section 6, that personalization improves the accuracy at the same ε.

    Personalization is the weight of the model that all users share. The claim is tested against both extremes: one
    model for all, and only models of one's own.

    Args:
        answers: results of the experiment, one for each data set, noise multiplier and personalization.

    Returns:
        Whether the measured accuracies support the claim against each extreme, and the claim that the best
        personalization falls as the noise grows.
    """
    points = {panel: users.points_by_noise(study, answers, data=panel) for panel, study in PANELS.items()}

    pairs_with_shared = []
    pairs_with_local = []
    for _, *private_points in points.values():  # the first point has no noise
        for point in private_points:
            best = users.find_best_between(point.measured)
            pairs_with_shared.append((best, point.measured[personalization_name(users.SHARED)]))
            pairs_with_local.append((best, point.measured[personalization_name(users.LOCAL)]))
    return (
        judge_pairs(
            "At the same ε the best personalization is more accurate than one model for all.",
            pairs_with_shared,
            names=("the best in between", "one model for all"),
            quantity=users.QUANTITY,
            lower_is_better=False,
        ),
        judge_pairs(
            "At the same ε the best personalization is more accurate than models of one's own only.",
            pairs_with_local,
            names=("the best in between", "models of one's own only"),
            quantity=users.QUANTITY,
            lower_is_better=False,
        ),
        users.judge_less_with_noise(points),
    )


PRESET: Final = Preset(
    name="bietti-figure-2",
    title="PPSGD on users' records: accuracy against ε at the best personalization",
    summary="test accuracy at the end of training, at 12 noises of certified ε, on Stack Overflow and digits by writer",
    source="Bietti et al., Figure 2 and Appendix A",
    stands_in_for="Reproduces Figure 2 on Stack Overflow and federated EMNIST, with the users and grids of Figures 1b "
    "and 1c. The clipping norms are not in the text; here they are 0.01 and 10. The certified ε is that of the user "
    "with most batches, without a gain from sampling.",
    across=users.NOISE_AXIS,
    lines=users.PERSONALIZATION_AXIS,
    panels=Axis(name="data", title="data"),
    measure=users.MEASURE,
    repetitions=users.TRIALS,
    cells=cells,
    data=tuple(PANELS.values()),
    judge=judge,
)
