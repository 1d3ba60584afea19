"""Figures 3, 5 and 6 of Lowy and Razaviyayn on MNIST: odd against even digits in 25 silos.

Choices where the text is open, made as in the authors' program: the 60,000 training images, pixels from 0 to 1, and
principal components of all of them. The first ⌊5421/7⌋ = 774 images of each digit are used, 5421 being the number of
images of the rarest digit. Each of the 25 pairs of an even and an odd digit is one silo, so that an image is in five
silos. Each silo keeps four fifths of its 1,548 images for training, which are 1,238.

The authors' program draws each silo's images with replacement from its pair, and adds the reports of the silos where
the text takes their mean. It takes the last eight iterates' mean as output, and has one K for all ε. Here the text is
followed in these points. The grid of step sizes is the paper's, extended by four larger steps, because its largest is
the best one for little noise.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from scipy.special import expit

from epsilond.accountants.theorems.papers.lowy_razaviyayn.experiments import SETTINGS
from epsilond.calibrators.answer import Ends
from epsilond.simulators.files.folders import DataName
from epsilond.simulators.files.images import CLASSES, read_images
from epsilond.simulators.files.known import DataFile
from epsilond.simulators.problems.problem import Floats
from epsilond.simulators.silos.silos import SiloRecords, split_silos
from epsilond.witness.cells import CellAnswer
from epsilond.witness.experiment import Axis, Cell, Finding, Preset
from epsilond.witness.experiments.own_data.lowy_arms import (
    CERTIFIED_LOCAL,
    CERTIFIED_MINI_BATCH,
    LOCAL,
    MINI_BATCH,
    NOISY_LOCAL,
    NOISY_MINI_BATCH,
    ArmClaim,
    arm_cells,
    judge_arms,
)
from epsilond.witness.experiments.own_data.lowy_protocol import TEST_SHARE, Algorithm, ArmSettings
from epsilond.witness.trials.trials import TrialResult, TrialSimulation

MNIST: Final = SETTINGS["mnist"]
DATA: Final[tuple[DataName, ...]] = ("mnist",)
USED_SHARE: Final = 7
"""The experiment uses one seventh of the images."""
COMPONENTS: Final = 50
"""Principal components of an image."""
LARGEST_PREDICTION: Final = 15.0
"""Bound on |⟨w, x⟩| in the loss."""
LIPSCHITZ_RATIO: Final = 2.0
"""The constant L = 2 max‖x‖ of the printed noise, over the Lipschitz constant max‖x‖ of the logistic loss."""
STEP_SIZES: Final[Mapping[Algorithm, tuple[float, ...]]] = {
    "mini-batch": tuple(np.exp(np.linspace(-6.0, 0.0, 10))) + tuple(np.exp([2.0 / 3.0, 4.0 / 3.0, 2.0, 8.0 / 3.0])),
    "local": tuple(np.exp(np.linspace(-8.0, -1.0, 10))),
}
BYTES: Final = 700_000_000
"""Memory of a trial, mostly the images."""
MIXED: Final = "12, mixed"
PANELS: Final[Mapping[str, tuple[int, bool]]] = {
    "12": (12, False),
    "18": (18, False),
    "25": (25, False),
    MIXED: (12, True),
}
"""Number M of silos in a round, and whether the digits are mixed over the silos, for each panel: Figures 3, 6, 3, 5."""

PAIRED: Final = tuple(panel for panel, (_, mixed) in PANELS.items() if not mixed)
CLAIMS: Final = (
    ArmClaim(
        text="From ε = 12 on, private mini-batch SGD predicts better than local SGD without noise.",
        first=NOISY_MINI_BATCH,
        second=LOCAL,
        panels=PAIRED,
        least_epsilon=12.0,
    ),
    ArmClaim(
        text="Private mini-batch SGD predicts better than private local SGD.",
        first=NOISY_MINI_BATCH,
        second=NOISY_LOCAL,
        panels=PAIRED,
    ),
    ArmClaim(
        text="At the same certified ε, private mini-batch SGD predicts better than private local SGD.",
        first=CERTIFIED_MINI_BATCH,
        second=CERTIFIED_LOCAL,
        panels=PAIRED,
    ),
    ArmClaim(
        text="At ε = 18 privacy costs almost nothing.",
        first=NOISY_MINI_BATCH,
        second=MINI_BATCH,
        panels=PAIRED,
        least_epsilon=18.0,
        no_worse=True,
    ),
    ArmClaim(
        text="With mixed digits and ε of at most 1.5, private mini-batch SGD predicts better than private local SGD.",
        first=NOISY_MINI_BATCH,
        second=NOISY_LOCAL,
        panels=(MIXED,),
        largest_epsilon=1.5,
    ),
    ArmClaim(
        text="With mixed digits and larger ε, both predict almost equally.",
        first=NOISY_MINI_BATCH,
        second=NOISY_LOCAL,
        panels=(MIXED,),
        least_epsilon=3.0,
        no_worse=True,
    ),
)
"""Statements of Section 5 and Appendix H.1."""


@dataclass(frozen=True)
class MnistArm:
    """Training on MNIST with one algorithm, one noise and one ε, in 25 silos.

    A silo is a client with many records. Without mixing, a silo has the images of one even and one odd digit.

    Attributes:
        settings: algorithm, noise, ε and number of silos in a round.
        mixed: True if the images of all silos are mixed, so that all silos have the same distribution.
        data: names of the data sets that a trial reads.
        bytes: expected memory of a trial.
    """

    settings: ArmSettings
    mixed: bool
    data: tuple[DataName, ...] = DATA
    bytes: int = BYTES

    @property
    def algorithm(self) -> str:
        """Name of the algorithm."""
        return f"{self.settings.algorithm} SGD"

    @property
    def seconds(self) -> float:
        """Estimated time of one trial on one core, in seconds."""
        points = len(STEP_SIZES[self.settings.algorithm])
        work = self.settings.estimate_work(MNIST["samples_per_client"], COMPONENTS, points)
        return work.seconds

    @property
    def grids(self) -> Mapping[str, Sequence[float]]:
        """Values of the step size among which a trial chooses."""
        return {"step_size": STEP_SIZES[self.settings.algorithm]}

    def check(self, folders: Mapping[DataName, Path]) -> tuple[DataFile, ...]:
        """Check that the files of MNIST are present and original, and return them with their checksums.

        Args:
            folders: folder of MNIST, with the key "mnist".

        Raises:
            InvalidInput: a file is missing or is not the original.
        """
        return read_images("mnist", folders["mnist"]).files

    def run(self, folders: Mapping[DataName, Path], seed: int) -> TrialResult:
        """Run one trial: train with each step size of a grid, and test the best model.

        Args:
            folders: folder of MNIST, with the key "mnist".
            seed: seed of the split and of all randomness.

        Returns:
            The share of misclassified test records, and the chosen step size.
        """
        return _run_trial(self, folders["mnist"], seed)

    def certify(self, folders: Mapping[DataName, Path]) -> Ends | None:
        """Return certified bounds on ε at δ = n⁻², for an image in one silo, a client with n training images.

        Only this silo's use of the image counts. Unless images are distributed at random (mixed), an image is in five
        silos, one for each digit of the other parity. Its ε for all five is larger.

        Args:
            folders: not used; the numbers of records are known.

        Returns:
            A lower and an upper bound on ε; None without noise.
        """
        del folders
        return self.settings.certify(MNIST["samples_per_client"], LIPSCHITZ_RATIO)


@functools.lru_cache(maxsize=64)
def _run_trial(arm: MnistArm, folder: Path, seed: int) -> TrialResult:
    """Run one trial on MNIST: train on a random part of the records, and test on the rest.

    Results are kept in memory, because simulations without noise are the same at several ε.

    Args:
        arm: algorithm, noise, and how silos get their records.
        folder: folder of MNIST.
        seed: seed of the split and of all randomness.

    Returns:
        The share of misclassified test records, and the chosen step size.
    """
    silos = deal_digits(folder, seed, mixed=arm.mixed)
    largest_norms = [float(np.linalg.norm(features, axis=1).max()) for features in silos.features]
    choice = arm.settings.choose(
        silos,
        value=logistic_value,
        slope=logistic_slope,
        lipschitz=2.0 * max(largest_norms),  # the constant L of the paper's noise
        lipschitz_ratio=LIPSCHITZ_RATIO,
        step_sizes=STEP_SIZES[arm.settings.algorithm],
        clipping_norms=(math.inf,),
        seed=seed,
    )
    # The target is 1 or −1. A prediction of 0 counts as wrong.
    is_wrong = silos.test_targets * (silos.test_features @ choice.model) <= 0.0
    return TrialResult({"test_error": float(np.mean(is_wrong))}, {"step_size": choice.step_size})


def logistic_value(predictions: Floats, targets: Floats) -> Floats:
    """Return the logistic loss ln(1 + e^(−yz)) of targets y = ±1 and predictions z, which are clipped to [−15, 15]."""
    bounded_predictions = np.clip(predictions, -LARGEST_PREDICTION, LARGEST_PREDICTION)
    return np.logaddexp(0.0, -targets * bounded_predictions)


def logistic_slope(predictions: Floats, targets: Floats) -> Floats:
    """Return the derivative −y/(1 + e^(yz)) of the logistic loss, at predictions z that are clipped to [−15, 15]."""
    bounded_predictions = np.clip(predictions, -LARGEST_PREDICTION, LARGEST_PREDICTION)
    return -targets * expit(-targets * bounded_predictions)


@functools.lru_cache(maxsize=1)
def read_components(folder: Path) -> tuple[Floats, Floats]:
    """Return the first 50 principal components of each training image of MNIST, and its digit.

    Pixels are scaled to [0, 1] and centred. They are projected onto the 50 eigenvectors of their covariance matrix that
    have the largest eigenvalues.

    Args:
        folder: folder of MNIST.

    Returns:
        The projections, (60000, 50), and one digit for each image.
    """
    images = read_images("mnist", folder).training
    pixels = images.pixels.astype(np.float64) / 255.0
    centred = pixels - pixels.mean(axis=0)
    _, directions = np.linalg.eigh(centred.T @ centred)  # eigenvalues are ascending
    largest_first = directions[:, ::-1]
    return centred @ largest_first[:, :COMPONENTS], images.labels.astype(np.float64)


@functools.lru_cache(maxsize=4)
def deal_digits(folder: Path, seed: int, *, mixed: bool) -> SiloRecords:
    """Divide MNIST among the 25 silos of a trial, one for each pair of an even and an odd digit.

    A silo is a client with many records. Features are principal components of the images. The target is 1 for an even
    and −1 for an odd digit.

    Args:
        folder: folder of MNIST.
        seed: seed of the split into training and test records, and of the mixing.
        mixed: True to mix the records of all 25 pairs, and to deal them to silos of the same size at random.

    Returns:
        Features and targets of each silo, with a part of its records held out for tests.
    """
    features_by_digit = _features_by_digit(folder)
    images_of_digit = len(features_by_digit[0])
    even_digits, odd_digits = range(0, CLASSES, 2), range(1, CLASSES, 2)
    pairs = list(itertools.product(even_digits, odd_digits))
    features = [np.concatenate([features_by_digit[even], features_by_digit[odd]]) for even, odd in pairs]
    targets = [np.repeat([1.0, -1.0], images_of_digit) for _ in pairs]
    if mixed:
        # The mixing has a generator of its own, so that it does not change the split into training and test records.
        generator = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(2,)))
        order = generator.permutation(2 * images_of_digit * len(pairs))
        features = np.split(np.concatenate(features)[order], len(pairs))
        targets = np.split(np.concatenate(targets)[order], len(pairs))
    return split_silos(features, targets, TEST_SHARE, seed)


def _features_by_digit(folder: Path) -> list[Floats]:
    """Return the features of the first images of each digit, equally many for each.

    The number is one seventh (1/`USED_SHARE`) of the number of images of the rarest digit.

    Args:
        folder: folder of MNIST.

    Returns:
        One array for each digit from 0 to 9, with one row per image.
    """
    features, digits = read_components(folder)
    images_of_rarest = int(np.bincount(digits.astype(np.int64), minlength=CLASSES).min())
    size = images_of_rarest // USED_SHARE
    return [features[digits == digit][:size] for digit in range(CLASSES)]


def cells(repetitions: int, seed: int) -> tuple[Cell, ...]:
    """Return the simulations for the figures of Lowy and Razaviyayn on MNIST.

    There is one simulation for each panel of the figures, algorithm with its noise, and ε. A panel has a number of
    silos, that is, of clients with many records, in a round. The silos have either two digits each or mixed ones.

    Args:
        repetitions: number of trials of each simulation.
        seed: seed of all randomness.

    Returns:
        The simulations with their panel, algorithm and ε.
    """

    def simulate(panel: str, settings: ArmSettings) -> TrialSimulation:
        """Return the repeated trials of one algorithm and noise in a panel of the figure."""
        _, mixed = PANELS[panel]
        return TrialSimulation(arm=MnistArm(settings, mixed), repetitions=repetitions, seed=seed)

    participants = {panel: count for panel, (count, _) in PANELS.items()}
    records = {panel: int(MNIST["samples_per_client"]) for panel in PANELS}
    return arm_cells(participants, MNIST["epsilons"], records=records, simulate=simulate)


def judge(answers: Sequence[CellAnswer]) -> tuple[Finding, ...]:
    """Judge the claims of Lowy and Razaviyayn in Section 5 and Appendix H.1 about MNIST.

    Args:
        answers: results of the experiment, one for each panel of the figures, algorithm with its noise, and ε.

    Returns:
        One finding for each claim: a verdict, such as confirmed, and the measured numbers in words.
    """
    return judge_arms(answers, CLAIMS, measure="test_error", quantity="test error")


PRESET: Final = Preset(
    name="lowy-mnist",
    title="Odd against even digits of MNIST in 25 silos",
    summary="test error of mini-batch and local SGD, with the printed noise and without noise",
    source="Lowy and Razaviyayn 2023, Figures 3, 5 and 6",
    stands_in_for="Reproduces Figures 3, 5 and 6 on MNIST with 25 silos of 1,238 images. "
    "The text does not say how often an image is used: as in the authors' program, it is in five silos. The certified "
    "ε is that of one silo's copy. An image loses more, because five silos report on it.",
    across=Axis(name="epsilon", title="ε that the paper claims at δ = n⁻²", scale="log"),
    lines=Axis(name="arm", title="printed noise, unless said"),
    panels=Axis(name="participants", title="silos in a round"),
    measure="test_error",
    repetitions=MNIST["trials"],
    cells=cells,
    data=DATA,
    judge=judge,
)
