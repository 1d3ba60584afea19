"""Figures 4, 7 and 8 of Lowy and Razaviyayn on the medical costs: linear regression in silos sorted by charges.

The text gives the numbers of silos of one figure only (N = M = 3 in Figure 8). The panels here are that one and the
others that the authors' program has. Features are a constant 1, age, sex, body mass index, children, smoker and region.
Age and body mass index are standardised over all records. Each record's gradient is clipped, as in [ACG+16]. The
authors' program clips the mean gradient of a batch instead, for which the printed noise would be too small.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from epsilond.accountants.theorems.papers.lowy_razaviyayn.experiments import SETTINGS, group_sizes, relative_error
from epsilond.calibrators.answer import Ends
from epsilond.simulators.files.folders import DataName
from epsilond.simulators.files.known import DataFile
from epsilond.simulators.files.medical_costs import FEATURES, read_medical_costs
from epsilond.simulators.problems.problem import Floats
from epsilond.simulators.silos.silos import SiloRecords, split_silos
from epsilond.witness.cells import CellAnswer
from epsilond.witness.experiment import Axis, Cell, Finding, Preset
from epsilond.witness.experiments.own_data.lowy_arms import (
    CERTIFIED_LOCAL,
    CERTIFIED_MINI_BATCH,
    LOCAL,
    NOISY_LOCAL,
    NOISY_MINI_BATCH,
    ArmClaim,
    arm_cells,
    judge_arms,
)
from epsilond.witness.experiments.own_data.lowy_naive import judge_naive
from epsilond.witness.experiments.own_data.lowy_protocol import TEST_SHARE, Algorithm, ArmSettings
from epsilond.witness.trials.trials import TrialResult, TrialSimulation

INSURANCE: Final = SETTINGS["insurance"]
DATA: Final[tuple[DataName, ...]] = ("medical-costs",)
STEP_SIZES: Final[Mapping[Algorithm, tuple[float, ...]]] = {
    "mini-batch": tuple(np.exp(np.linspace(-8.0, 1.0, 10))) + tuple(np.exp([2.0, 3.0, 4.0])),
    "local": tuple(np.exp(np.linspace(-10.0, 0.0, 10))) + tuple(np.exp([10.0 / 9.0, 20.0 / 9.0, 30.0 / 9.0])),
}
"""The paper's grids, extended by three larger steps each, because the largest are the best ones for much noise."""
CLIPPING_NORMS: Final = (1e1, 1e2, 1e4, 1e6, 1e8, 1e32)
"""The paper's grid and a smaller norm. The last one clips nothing."""
BYTES: Final = 100_000_000
PANELS: Final[Mapping[str, tuple[int, int]]] = {
    "3 of 3": (3, 3),
    "2 of 3": (3, 2),
    "5 of 5": (5, 5),
    "10 of 10": (10, 10),
    "5 of 10": (10, 5),
}
"""Number N of silos, and number M of silos in a round, for each panel."""
CLAIMS: Final = (
    ArmClaim(
        text="For most ε, private mini-batch SGD predicts better than private local SGD.",
        first=NOISY_MINI_BATCH,
        second=NOISY_LOCAL,
    ),
    ArmClaim(
        text="Up to ε = 2, private mini-batch SGD predicts better than private local SGD.",
        first=NOISY_MINI_BATCH,
        second=NOISY_LOCAL,
        largest_epsilon=2.0,
    ),
    ArmClaim(
        text="At the same certified ε, private mini-batch SGD predicts better than private local SGD.",
        first=CERTIFIED_MINI_BATCH,
        second=CERTIFIED_LOCAL,
    ),
    ArmClaim(
        text="From ε = 2 on, private mini-batch SGD predicts essentially as well as local SGD without noise.",
        first=NOISY_MINI_BATCH,
        second=LOCAL,
        least_epsilon=2.0,
        no_worse=True,
    ),
)
"""Statements of Section 5 and Appendix H.2. The paper gives no margin for "essentially"."""


@dataclass(frozen=True)
class InsuranceArm:
    """Training on medical costs with one algorithm, one noise and one ε, in several silos.

    A silo is a client with many records.

    Attributes:
        settings: algorithm, noise, ε and participants.
        silos: number of silos.
        data: names of the data sets that a trial reads.
        bytes: expected memory of a trial.
    """

    settings: ArmSettings
    silos: int
    data: tuple[DataName, ...] = DATA
    bytes: int = BYTES

    @property
    def algorithm(self) -> str:
        """Name of the algorithm."""
        return f"{self.settings.algorithm} SGD"

    @property
    def seconds(self) -> float:
        """Estimated time of one trial on one core, in seconds."""
        points = len(STEP_SIZES[self.settings.algorithm]) * len(CLIPPING_NORMS)
        dimension = 1 + len(FEATURES)
        work = self.settings.estimate_work(training_records(self.silos), dimension, points)
        return work.seconds

    @property
    def grids(self) -> Mapping[str, Sequence[float]]:
        """Values of the step size and of the clipping norm among which a trial chooses."""
        return {"step_size": STEP_SIZES[self.settings.algorithm], "clipping_norm": CLIPPING_NORMS}

    def check(self, folders: Mapping[DataName, Path]) -> tuple[DataFile, ...]:
        """Check that the files of the medical costs are present and original, and return them with their checksums.

        Args:
            folders: folder of the medical costs, with the key "medical-costs".

        Raises:
            InvalidInput: a file is missing or is not the original.
        """
        return read_medical_costs(folders["medical-costs"]).files

    def run(self, folders: Mapping[DataName, Path], seed: int) -> TrialResult:
        """Run one trial: train with each step size and clipping norm of a grid, and test the best model.

        Args:
            folders: folder of the medical costs, with the key "medical-costs".
            seed: seed of the split and of all randomness.

        Returns:
            The relative root mean square error on test records, and the chosen step size and clipping norm.
        """
        return _run_trial(self, folders["medical-costs"], seed)

    def certify(self, folders: Mapping[DataName, Path]) -> Ends | None:
        """Return certified bounds on ε at δ = n⁻², for a record of the first silo with its n training records.

        Args:
            folders: not used; the numbers of records are known.

        Returns:
            A lower and an upper bound on ε; None without noise.
        """
        del folders
        largest_size, *_, smallest_size = group_sizes(self.silos)
        return self.settings.certify(
            without_test_records(largest_size), lipschitz_ratio=1.0, smallest_client=without_test_records(smallest_size)
        )


@functools.lru_cache(maxsize=64)
def _run_trial(arm: InsuranceArm, folder: Path, seed: int) -> TrialResult:
    """Run one trial on medical costs: train on a random part of the records, and test on the rest.

    Results are kept in memory, because simulations without noise are the same at several ε.

    Args:
        arm: algorithm, noise and number of silos. A silo is a client with many records.
        folder: folder of the medical costs.
        seed: seed of the split and of all randomness.

    Returns:
        The relative root mean square error on test records, and the chosen values of the tuned parameters.
    """
    silos = sort_into_silos(folder, arm.silos, seed)
    choice = arm.settings.choose(
        silos,
        value=squared_value,
        slope=squared_slope,
        lipschitz=None,
        lipschitz_ratio=1.0,
        step_sizes=STEP_SIZES[arm.settings.algorithm],
        clipping_norms=CLIPPING_NORMS,
        seed=seed,
    )

    # The error is relative to that of the naive predictor, which always predicts the mean of the training targets.
    _, training_targets = silos.all_training()
    predictions = silos.test_features @ choice.model
    error = relative_error(tuple(silos.test_targets), tuple(predictions), float(np.mean(training_targets)))
    chosen = {"step_size": choice.step_size, "clipping_norm": choice.clipping_norm}
    return TrialResult({"test_rrmse": error}, chosen)


def training_records(silos: int) -> int:
    """Return the number of training records of the first silo. A silo is a client with many records.

    Args:
        silos: number of silos among which the medical costs are divided.

    Returns:
        The number of records of the silo that are not held out for tests.
    """
    first_size, *_ = group_sizes(silos)
    return without_test_records(first_size)


def without_test_records(size: int) -> int:
    """Return how many of the records of a silo are not held out for tests."""
    return size - math.ceil(TEST_SHARE * size)


def squared_value(predictions: Floats, targets: Floats) -> Floats:
    """Return the squared loss ½(z − y)² of predictions z and targets y."""
    return np.asarray(0.5 * np.square(predictions - targets))


def squared_slope(predictions: Floats, targets: Floats) -> Floats:
    """Return the derivative z − y of the squared loss in the prediction z, at targets y."""
    return predictions - targets


@functools.lru_cache(maxsize=4)
def sort_into_silos(folder: Path, silos: int, seed: int) -> SiloRecords:
    """Sort the medical costs by charges, and divide them among the N silos of a trial.

    A silo is a client with many records. N − 1 silos have ⌈1338/N⌉ records, and the last one has the rest. Age and body
    mass index are standardised over all records, and a constant feature 1 is added.

    Args:
        folder: folder of the medical costs.
        silos: number N of silos.
        seed: seed of the split into training and test records.

    Returns:
        Features and charges of each silo, with a part of its records held out for tests.
    """
    costs = read_medical_costs(folder)
    features = costs.features.copy()
    for name in ("age", "bmi"):
        column = features[:, FEATURES.index(name)]
        column[:] = (column - column.mean()) / column.std()
    features = np.column_stack([np.ones(len(features)), features])

    order = np.argsort(costs.charges, kind="stable")
    bounds = np.cumsum(group_sizes(silos))[:-1]
    silo_features = np.split(features[order], bounds)
    silo_charges = np.split(costs.charges[order], bounds)
    return split_silos(silo_features, silo_charges, TEST_SHARE, seed)


def cells(repetitions: int, seed: int) -> tuple[Cell, ...]:
    """Return the simulations for the figures of Lowy and Razaviyayn on medical costs.

    There is one simulation for each panel of the figures, algorithm with its noise, and ε. A panel has a number of
    silos, that is, of clients with many records, and a number of silos in a round.

    Args:
        repetitions: number of trials of each simulation.
        seed: seed of all randomness.

    Returns:
        The simulations with their panel, algorithm and ε.
    """

    def simulate(panel: str, settings: ArmSettings) -> TrialSimulation:
        """Return the repeated trials of one algorithm and noise in a panel of the figure."""
        silos, _ = PANELS[panel]
        return TrialSimulation(arm=InsuranceArm(settings, silos), repetitions=repetitions, seed=seed)

    participants = {panel: count for panel, (_, count) in PANELS.items()}
    records = {panel: training_records(silos) for panel, (silos, _) in PANELS.items()}
    return arm_cells(participants, INSURANCE["epsilons"], records=records, simulate=simulate)


def judge(answers: Sequence[CellAnswer]) -> tuple[Finding, ...]:
    """Judge the claims of Lowy and Razaviyayn in Section 5 and Appendix H.2 about linear regression.

    Some claims compare algorithms with their noise (arms). The others are about the naive predictor, which always
    predicts the mean of the training targets.

    Args:
        answers: results of the experiment, one for each panel of the figures, algorithm with its noise, and ε.

    Returns:
        One finding for each claim: a verdict, such as confirmed, and the measured numbers in words.
    """
    arm_findings = judge_arms(answers, CLAIMS, measure="test_rrmse", quantity="relative root mean square error")
    naive_findings = judge_naive(answers, "test_rrmse")
    return (*arm_findings, *naive_findings)


PRESET: Final = Preset(
    name="lowy-insurance",
    title="Linear regression of medical costs in silos sorted by charges",
    summary="relative error of mini-batch and local SGD, with the printed noise and without noise",
    source="Lowy and Razaviyayn 2023, Figures 4, 7 and 8",
    stands_in_for="Reproduces Figures 4, 7 and 8 on the 1,338 medical costs. The text names the silos of one panel "
    "only; the others are those of the authors' program. The grids are the paper's, with three larger steps and a "
    "smaller clipping norm.",
    across=Axis(name="epsilon", title="ε that the paper claims at δ = n⁻²", scale="log"),
    lines=Axis(name="arm", title="printed noise, unless said"),
    panels=Axis(name="participants", title="silos in a round"),
    measure="test_rrmse",
    repetitions=INSURANCE["trials"],
    cells=cells,
    data=DATA,
    judge=judge,
)
