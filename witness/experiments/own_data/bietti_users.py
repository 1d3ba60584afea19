"""Common parts of Figures 1b, 1c and 2 of Bietti et al.: PPSGD on users of Stack Overflow and EMNIST.

Section 6 of the paper states the numbers of users, words and tags, and the passes. It has Q = 10 users in a round, with
m = 10 records each, and the squared loss of one class against all others. Appendix A has the grids. The step size is
the best of the grid at each number of rounds, by test accuracy.

Where the text is silent, the choices are those of the authors' program. These are the users and features of
`federated_users`, whole batches only, and averages over a batch, as in Algorithm 3. The program subtracts 0.1 from
every target and omits the factor 2 of the gradient. One clipping norm is for the matrix of all classes. The clipping
norms of the figures are not in the text either. Here they are 0.01 on Stack Overflow and 10 on EMNIST, both from the
program.

The paper computes ε for users who are drawn independently in each round. Its draws have a fixed size, and a user takes
part once for each of its batches. So here ε is certified for the user with most batches, from their number only.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from epsilond.accountants.account import account
from epsilond.accountants.specs import Gaussian, Repeated
from epsilond.calibrators.answer import Ends
from epsilond.simulators.files.federated_emnist import DIGIT_FILES
from epsilond.simulators.files.folders import DataName
from epsilond.simulators.files.known import DataFile, KnownFile, identify
from epsilond.simulators.files.stack_overflow import DATABASE, TAG_COUNTS, WORD_COUNTS
from epsilond.simulators.silos.federated_users import read_digit_writers, read_tagging_users
from epsilond.simulators.silos.personal_classifiers import ClassifiedUsers, ClassifierTraining, train_classifiers
from epsilond.witness.cells import CellAnswer
from epsilond.witness.experiment import Axis, Cell, Finding, Place
from epsilond.witness.experiments.ppsgd_grid import DELTA, TIMES_PARTICIPANTS
from epsilond.witness.experiments.ppsgd_synthetic import LESS_CLAIM, personalization_name
from epsilond.witness.findings import MeasuredPoint, judge_order, private_score
from epsilond.witness.risks.answer import Measured
from epsilond.witness.trials.trials import TrialResult, TrialSimulation

STACK_OVERFLOW: Final[DataName] = "stack-overflow"
EMNIST: Final[DataName] = "federated-emnist"
PARTICIPANTS, BATCH_SIZE = 10, 10
SHARES: Final = (0.1, 0.25, 0.5, 1.0)
"""Shares of the rounds after which the accuracy is measured."""
TARGET_OFFSET: Final = 0.1
SHARED, LOCAL = math.inf, 0.0
"""Personalization with one model for all, and with no shared model."""
TRIALS: Final = 3
"""The text does not say how often a run is repeated."""
MEASURE: Final = "test_accuracy"
QUANTITY: Final = "test accuracy"
SHARE_AXIS: Final = Axis(name="share", title="share of the rounds")
PERSONALIZATION_AXIS: Final = Axis(name="personalization", title="αQ")
NOISE_AXIS: Final = Axis(name="noise_multiplier", title="noise multiplier σ")


@dataclass(frozen=True, kw_only=True)
class UserStudy:
    """Settings of the experiment on one data set, and the costs of a run.

    Attributes:
        files: files of the data set.
        read: function that reads the users and their records from a folder.
        step_sizes: grid of step sizes.
        noise_multipliers: standard deviations of the noise in units of the clipping norm.
        clipping_norm: largest norm of a user's message.
        passes: number of passes over the records.
        seconds: time of one run on one core, at all step sizes, in seconds.
        bytes: memory of one run, in bytes.
    """

    files: Sequence[KnownFile]
    read: Callable[[Path], ClassifiedUsers]
    step_sizes: Sequence[float]
    noise_multipliers: Sequence[float]
    clipping_norm: float
    passes: int
    seconds: float
    bytes: int


def read_stack_overflow(folder: Path) -> ClassifiedUsers:
    """Read the training and test records of 500 users of Stack Overflow, with 5,000 words and 80 tags.

    Args:
        folder: folder of the data set Stack Overflow.
    """
    return read_tagging_users(folder, 500, words=5000, tags=80)


def read_emnist(folder: Path) -> ClassifiedUsers:
    """Read the training and test records of 1,000 writers of digits.

    Args:
        folder: folder of federated EMNIST.
    """
    return read_digit_writers(folder, 1000)


STUDIES: Final[dict[DataName, UserStudy]] = {
    STACK_OVERFLOW: UserStudy(
        files=(DATABASE, WORD_COUNTS, TAG_COUNTS),
        read=read_stack_overflow,
        step_sizes=(2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 150.0, 200.0, 250.0),
        noise_multipliers=(0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 100.0),
        clipping_norm=0.01,
        passes=1,
        seconds=20.0,
        bytes=1_500_000_000,
    ),
    EMNIST: UserStudy(
        files=DIGIT_FILES,
        read=read_emnist,
        step_sizes=(0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01),
        noise_multipliers=(0.0, 0.1, 0.3, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0, 50.0, 100.0),
        clipping_norm=10.0,
        passes=20,
        seconds=20.0,
        bytes=1_000_000_000,
    ),
}
"""Grids of Appendix A, and sizes of Section 6."""


@dataclass(frozen=True)
class UserArm:
    """A setting of the experiment: PPSGD on one data set with one noise, at the best step size and personalization.

    Attributes:
        study: name of the data set.
        personalizations: values of αQ, of which the best is chosen. α is the step size of the shared model over that of
            the users' own models, and Q the number of users in a round.
        noise_multiplier: standard deviation of the noise in units of the clipping norm.
        share: fraction of the rounds after which the accuracy is measured, one of `SHARES`.
        runs: number of settings that share a training, by which the time of a trial is divided.
        algorithm: name of the algorithm.
    """

    study: DataName
    personalizations: tuple[float, ...]
    noise_multiplier: float
    share: float = 1.0
    runs: int = 1
    algorithm: str = "ppsgd"

    @property
    def data(self) -> tuple[DataName, ...]:
        """The data set."""
        return (self.study,)

    @property
    def seconds(self) -> float:
        """Expected time of a trial on one core."""
        return STUDIES[self.study].seconds * len(self.personalizations) / self.runs

    @property
    def bytes(self) -> int:
        """Expected memory of a trial."""
        return STUDIES[self.study].bytes

    @property
    def grids(self) -> Mapping[str, Sequence[float]]:
        """Values of the step size. A chosen one should not be at an end. Personalization has no such ends."""
        return {"step_size": STUDIES[self.study].step_sizes, "personalization": ()}

    def check(self, folders: Mapping[DataName, Path]) -> tuple[DataFile, ...]:
        """Read the users once, so that a missing or wrong file is found, and return their files.

        Args:
            folders: folder of the data set.

        Returns:
            The files with their checksums.

        Raises:
            InvalidInput: a file is missing or is not the original.
        """
        study, folder = STUDIES[self.study], folders[self.study]
        study.read(folder)
        return tuple(identify(folder, file, data=self.study) for file in study.files)

    def run(self, folders: Mapping[DataName, Path], seed: int) -> TrialResult:
        """Train with each personalization and each step size, and return the best test accuracy.

        Args:
            folders: folder of the data set.
            seed: seed of rounds and noise.

        Returns:
            The accuracy after the arm's share of the rounds, with its step size and, if there are several, its
            personalization.
        """
        folder = folders[self.study]
        share_index = SHARES.index(self.share)
        rows = []
        for personalization in self.personalizations:
            by_share_and_step = _accuracies(self.study, folder, personalization, self.noise_multiplier, seed)
            rows.append(by_share_and_step[share_index])
        accuracies = np.array(rows)  # one row for each personalization, one column for each step size

        # A single personalization is not a choice, so it is not in the result.
        best_row, best_column = np.unravel_index(int(np.argmax(accuracies)), accuracies.shape)
        step_sizes = STUDIES[self.study].step_sizes
        chosen = {"step_size": step_sizes[int(best_column)]}
        if len(self.personalizations) > 1:
            chosen["personalization"] = self.personalizations[int(best_row)]
        return TrialResult({MEASURE: float(accuracies.max())}, chosen)

    def certify(self, folders: Mapping[DataName, Path]) -> Ends | None:
        """Return certified bounds on ε for all data of a user, against an observer of the models of all rounds.

        They are for the user with the most batches, who takes part in the most rounds.

        Args:
            folders: folder of the data set.

        Returns:
            Bounds on ε at `DELTA`. None without noise or without a shared model.
        """
        if self.noise_multiplier == 0.0 or self.personalizations == (LOCAL,):
            return None
        study = STUDIES[self.study]
        users = study.read(folders[self.study])
        most_batches = int(users.batches(BATCH_SIZE).max())
        return certified_epsilon(self.noise_multiplier, study.passes * most_batches)


@functools.lru_cache(maxsize=64)
def certified_epsilon(noise_multiplier: float, times: int) -> Ends:
    """Return certified bounds on the ε of a user at `DELTA`, if clipped gradients are released in noisy sums.

    Args:
        noise_multiplier: standard deviation of the noise in units of the clipping norm.
        times: number of sums, one for each round in which the user takes part.

    Returns:
        A lower and an upper bound on ε, in nats.
    """
    all_rounds = Repeated(times=times, mechanism=Gaussian(noise_multiplier=noise_multiplier))
    answer = account(all_rounds, relation="replace-one", unit="client", observer="released-models")
    return Ends.of(answer.guarantee.curve.epsilon(math.log(DELTA)))


def _accuracies(
    study: DataName, folder: Path, personalization: float, noise_multiplier: float, seed: int
) -> npt.NDArray[np.float64]:
    """Return the test accuracies of a training after each fraction of the rounds in `SHARES`, for each step size.

    Without a shared model the noise has no effect, so one training serves all noises.

    Args:
        study: name of the data set.
        folder: folder of the data set.
        personalization: αQ, the weight of the shared model times the users in a round.
        noise_multiplier: standard deviation of the noise in units of the clipping norm.
        seed: seed of rounds and noise.

    Returns:
        Accuracies from 0 to 1, of shape (number of `SHARES`, number of step sizes).
    """
    noise = 0.0 if personalization == LOCAL else noise_multiplier
    return _train(study, folder, personalization, noise, seed)


@functools.lru_cache(maxsize=64)
def _train(
    study: DataName, folder: Path, personalization: float, noise_multiplier: float, seed: int
) -> npt.NDArray[np.float64]:
    """Train with all step sizes of the grid, and measure the test accuracies after some fractions of the rounds.

    A cache keeps recent results, because several simulations need the same training.

    Args:
        study: name of the data set.
        folder: folder of its files.
        personalization: the product αQ. α is the weight of the model that all users share, Q the number of users in a
            round.
        noise_multiplier: standard deviation of the noise in units of the clipping norm.
        seed: seed of all randomness.

    Returns:
        Accuracies from 0 to 1, with one row for each fraction in `SHARES` and one column for each step size.
    """
    settings = STUDIES[study]
    training = ClassifierTraining(
        personalization=personalization,
        noise_multiplier=noise_multiplier,
        clipping_norm=settings.clipping_norm,
        participants=PARTICIPANTS,
        batch_size=BATCH_SIZE,
        passes=settings.passes,
        target_offset=TARGET_OFFSET,
        measured=SHARES,
    )
    return train_classifiers(settings.read(folder), training, settings.step_sizes, seed)


# Figures 1b and 1c ----------------------------------------------------------------------------------------------------
def figure_cells(study: DataName, repetitions: int, seed: int) -> tuple[Cell, ...]:
    """Return the simulations for Figure 1b or 1c of Bietti et al.: each noise, personalization and share of rounds.

    Personalization is the weight of the model that all users share.

    Args:
        study: name of the data set.
        repetitions: number of trials of each simulation, with different randomness.
        seed: seed of all randomness.

    Returns:
        For each combination of the three values, the values and the simulation.
    """
    table = []
    for noise, value, share in product(STUDIES[study].noise_multipliers, TIMES_PARTICIPANTS, SHARES):
        place: Place = {"noise_multiplier": noise, "personalization": personalization_name(value), "share": share}
        # One training serves all fractions of the rounds, so its time is divided by their number.
        arm = UserArm(study, (value,), noise, share, runs=len(SHARES))
        simulation = TrialSimulation(arm=arm, repetitions=repetitions, seed=seed)
        table.append(Cell(place=place, simulation=simulation))
    return tuple(table)


def select_accuracies(answers: Sequence[CellAnswer], **place: float | str) -> dict[str, Measured]:
    """Return the test accuracies of one setting of the experiment, by ascending personalization.

    Personalization is the weight of the model that all users share.

    Args:
        answers: results of an experiment.
        **place: values of the axes other than the personalization.

    Returns:
        Mean accuracies with their confidence bands, by the name of the personalization.

    Raises:
        KeyError: a personalization was not measured in this setting.
    """
    read_accuracy = private_score(MEASURE)
    by_name = {}
    for cell in answers:
        accuracy = read_accuracy(cell)
        is_selected = all(cell.place[name] == value for name, value in place.items())
        if accuracy is not None and is_selected:
            by_name[str(cell.place["personalization"])] = accuracy
    names = [personalization_name(value) for value in TIMES_PARTICIPANTS]
    return {name: by_name[name] for name in names}


def find_best_between(accuracies: Mapping[str, Measured]) -> Measured:
    """Find the best mean accuracy, with its confidence band, over all personalizations between the two extremes.

    The extremes are one model for all users, and models of the users' own only.

    Args:
        accuracies: accuracy by name of the personalization (the weight of the shared model).
    """
    extremes = {personalization_name(SHARED), personalization_name(LOCAL)}
    combined = [score for name, score in accuracies.items() if name not in extremes]
    return max(combined, key=lambda score: float(score.mean))


def judge_less_with_noise(lines: Mapping[str, Sequence[MeasuredPoint]]) -> Finding:
    """Judge the claim that the best personalization, the weight of the shared model, falls as the noise grows.

    Args:
        lines: accuracies by increasing noise, for each data set.

    Returns:
        The claim, and whether the accuracies with their confidence bands support it.
    """
    return judge_order(LESS_CLAIM, lines, quantity=QUANTITY, lower_is_better=False)


def points_by_noise(study: DataName, answers: Sequence[CellAnswer], **place: float | str) -> list[MeasuredPoint]:
    """Return the accuracies of all personalizations at each noise of a data set, by increasing noise.

    Personalization is the weight of the model that all users share.

    Args:
        study: name of the data set.
        answers: results of an experiment.
        **place: values of the axes other than the noise and the personalization.

    Returns:
        One point for each noise, with the accuracies by the name of the personalization.
    """
    points = []
    for noise in STUDIES[study].noise_multipliers:
        accuracies = select_accuracies(answers, noise_multiplier=noise, **place)
        points.append(MeasuredPoint(f"σ = {noise:g}", accuracies))
    return points
