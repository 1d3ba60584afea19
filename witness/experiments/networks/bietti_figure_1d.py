"""Figure 1d of Bietti et al. on federated EMNIST: a convolutional network with personal output layers.

From the paper's Section 6 and Appendix A: there are 1,000 users, and 20 epochs of rounds with Q = 10 users and 10
images of each. The network has 4 layers, with a shared representation and an additive output layer. The step sizes, the
personalizations α and the noises are those of the paper's grids. The step size is the best of the grid at each number
of rounds. The privacy of a whole user's data is at δ = 10⁻⁴.

Choices where the text is silent. As in the authors' program (github.com/albietz/ppsgd, main_nn.py): the layers, the
squared loss on targets of 0.9 and −0.1, pixels as they are published, and a random initial output layer. Its clipping
norms are 0.1, 1 and 10; here the norm is 1. The users are the first ones in the order of their names. An epoch is 1,000
rounds, because a user has about 100 images. As in Figure 1a, αQ is the shared step over the personal step, by the text,
and the larger of both is the step of the grid. In the authors' program personal steps are Q times larger.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Final

import numpy as np

from epsilond.accountants.account import account
from epsilond.accountants.specs import Gaussian, Repeated, Subsampled
from epsilond.calibrators.answer import Ends
from epsilond.simulators.files.federated_emnist import DIGIT_FILES, DIGITS, WrittenImages, read_writers
from epsilond.simulators.files.folders import DataName
from epsilond.simulators.files.known import DataFile, identify
from epsilond.simulators.networks.backend import choose_device
from epsilond.simulators.networks.personal import PersonalOutputs, UserFederation, UserImages, train_personal
from epsilond.witness.cells import CellAnswer
from epsilond.witness.experiment import Axis, Cell, Finding, Place, Preset
from epsilond.witness.experiments.ppsgd_grid import DELTA, TIMES_PARTICIPANTS
from epsilond.witness.experiments.ppsgd_synthetic import personalization_name
from epsilond.witness.findings import MeasuredPoint, judge_order, judge_pairs, private_score
from epsilond.witness.risks.answer import Measured
from epsilond.witness.trials.curves import name_at
from epsilond.witness.trials.trials import TrialResult, TrialSimulation

DATA: Final[DataName] = "federated-emnist"
USERS: Final = 1000
PARTICIPANTS: Final = 10
BATCH_SIZE: Final = 10
CLIPPING_NORM: Final = 1.0
STEPS: Final = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
NOISE_MULTIPLIERS: Final = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
MEASURED: Final = tuple(range(2_000, 20_001, 2_000))
"""Rounds after which the accuracy is measured, two epochs apart."""
ACCURACY: Final = "test_accuracy"
TRIALS: Final = 3
SECONDS: Final = 2_500.0
"""Time of a trial on one core."""
BYTES: Final = 2_000_000_000


@dataclass(frozen=True)
class EmnistArm:
    """Trainings of the network with one personalization and one noise, an arm of the experiment of Bietti et al.

    Attributes:
        personalization: weight α of the shared weights, times the number Q of users in a round.
        noise_multiplier: standard deviation of the noise in units of the clipping norm.
        data: names of the data sets that a trial reads.
        algorithm: name of the algorithm.
        seconds: expected time of a trial on one core, in seconds.
        bytes: expected memory of a trial.
    """

    personalization: float
    noise_multiplier: float
    data: tuple[DataName, ...] = (DATA,)
    algorithm: str = "ppsgd"
    seconds: float = SECONDS
    bytes: int = BYTES

    @property
    def grids(self) -> Mapping[str, Sequence[float]]:
        """Values of the step size."""
        return {"step_size": STEPS}

    def check(self, folders: Mapping[DataName, Path]) -> tuple[DataFile, ...]:
        """Check that the device and the data for the training are available, and return the data files.

        The images are read and kept in memory.

        Args:
            folders: folder of federated EMNIST, by the name of the data set.

        Returns:
            The files with their checksums.

        Raises:
            InvalidInput: torch or the device is missing, or a file is missing or of another format.
        """
        choose_device()
        read_users(folders[DATA])
        return tuple(identify(folders[DATA], file, data=DATA) for file in DIGIT_FILES)

    def run(self, folders: Mapping[DataName, Path], seed: int) -> TrialResult:
        """Train the network once with each step size of a grid, and return the best test accuracies.

        Args:
            folders: folder of federated EMNIST, by the name of the data set.
            seed: seed of initial weights, users, batches and noise.

        Returns:
            The best test accuracy over all step sizes after each measured number of rounds. The step size is the best
            one after the last round.
        """
        training = PersonalOutputs(
            personalization=self.personalization,
            noise_multiplier=self.noise_multiplier,
            clipping_norm=CLIPPING_NORM,
            participants=PARTICIPANTS,
            batch_size=BATCH_SIZE,
            classes=DIGITS,
            measured=MEASURED,
        )
        # Rows belong to measured numbers of rounds, and columns to step sizes.
        accuracies = train_personal(read_users(folders[DATA]), training, STEPS, seed)
        best_accuracies = accuracies.max(axis=1)
        scores = {}
        for rounds, accuracy in zip(MEASURED, best_accuracies, strict=True):
            scores[name_at(ACCURACY, rounds)] = float(accuracy)
        best_last_step = STEPS[int(np.argmax(accuracies[-1]))]
        return TrialResult(scores, {"step_size": best_last_step})

    def certify(self, folders: Mapping[DataName, Path]) -> Ends | None:
        """Return certified bounds on the ε of a user's whole data towards an observer of the models of all rounds.

        Each round draws `PARTICIPANTS` of `USERS` users without replacement, and adds Gaussian noise to the sum of
        their clipped updates.

        Args:
            folders: not used.

        Returns:
            A lower and an upper bound on ε at `DELTA`; None without noise, or if no shared model is trained.
        """
        del folders
        if self.noise_multiplier == 0.0 or self.personalization == 0.0:
            return None
        one_round = Subsampled(
            sampling="without-replacement",
            batch_size=PARTICIPANTS,
            population=USERS,
            level="clients",
            mechanism=Gaussian(noise_multiplier=self.noise_multiplier),
        )
        all_rounds = Repeated(times=max(MEASURED), mechanism=one_round)
        answer = account(all_rounds, relation="replace-one", unit="client", observer="released-models")
        return Ends.of(answer.guarantee.curve.epsilon(math.log(DELTA)))


@functools.lru_cache(maxsize=1)
def read_users(folder: Path) -> UserFederation:
    """Read the images of the first `USERS` users, that is, writers of digits, in the order of their names.

    Args:
        folder: folder of federated EMNIST.

    Returns:
        Training and test images of each user. They are kept in memory for the next call.
    """
    writers = read_writers(folder, USERS)
    return UserFederation(
        training=tuple(_images(writer.training) for writer in writers),
        test=tuple(_images(writer.test) for writer in writers),
    )


def _images(written: WrittenImages) -> UserImages:
    """Convert the images of a writer to the form that the training takes."""
    return UserImages(written.images, written.labels)


def cells(repetitions: int, seed: int) -> tuple[Cell, ...]:
    """Return the simulations for Figure 1d of Bietti et al.: one for each noise and personalization.

    Each simulation trains the network repeatedly, and measures its test accuracy after several numbers of rounds.
    Personalization is the weight of the model that all users share.

    Args:
        repetitions: number of trials of each simulation; a trial trains once with each step size of a grid.
        seed: seed of all randomness.

    Returns:
        The simulations with their noise multiplier and personalization.
    """
    simulations = []
    for noise, personalization in product(NOISE_MULTIPLIERS, TIMES_PARTICIPANTS):
        place: Place = {"noise_multiplier": noise, "personalization": personalization_name(personalization)}
        arm = EmnistArm(personalization, noise)
        simulation = TrialSimulation(arm=arm, repetitions=repetitions, seed=seed)
        simulations.append(Cell(place=place, simulation=simulation))
    return tuple(simulations)


def judge(answers: Sequence[CellAnswer]) -> tuple[Finding, ...]:
    """Judge the two claims that Bietti et al. make in Section 6 about the network.

    Personalization is the weight of the model that all users share. At its least value, 0, the shared representation is
    not trained. Users then train their output layers on a random representation.

    Args:
        answers: results of the experiment, one for each noise, personalization and measured number of rounds.

    Returns:
        One finding for each claim, with its verdict from the test accuracies after the last measured round.
    """
    last_rounds = max(MEASURED)
    scores = _accuracies_after(last_rounds, answers)
    names = [personalization_name(value) for value in TIMES_PARTICIPANTS]
    stages = []
    for noise in NOISE_MULTIPLIERS:
        accuracies = {name: scores[noise, name] for name in names}
        stages.append(MeasuredPoint(f"σ = {noise:g}", accuracies))

    # Without noise, each trained representation is compared with the random one.
    random_representation, *trained_representations = names
    pairs = [(scores[0.0, name], scores[0.0, random_representation]) for name in trained_representations]
    quantity = f"test accuracy after {last_rounds} rounds"
    return (
        judge_pairs(
            "Without a shared model that learns, accuracy is very poor.",
            pairs,
            names=("with a trained representation", "with a random one"),
            quantity=f"{quantity}, without noise",
            lower_is_better=False,
        ),
        judge_order(
            "The best share of the common model falls as the noise grows.",
            {"network": stages},
            quantity=quantity,
            lower_is_better=False,
        ),
    )


def _accuracies_after(rounds: int, answers: Sequence[CellAnswer]) -> dict[tuple[float, str], Measured]:
    """Return the mean test accuracies after a number of rounds, by noise and personalization.

    Personalization is the weight of the model that all users share.

    Args:
        rounds: number of rounds after which the accuracy was measured.
        answers: results of the experiment. Those without an accuracy are left out.

    Returns:
        Mean accuracies with their confidence bands, by pairs of a noise multiplier and the name of a personalization.
    """
    read_accuracy = private_score(ACCURACY)
    accuracies = {}
    for cell in answers:
        accuracy = read_accuracy(cell)
        if cell.place["rounds"] != rounds or accuracy is None:
            continue
        noise, personalization = float(cell.place["noise_multiplier"]), str(cell.place["personalization"])
        accuracies[noise, personalization] = accuracy
    return accuracies


PRESET: Final = Preset(
    name="bietti-figure-1d",
    title="PPSGD on federated EMNIST: a network with personal output layers",
    summary="test accuracy over rounds of 9 personalizations at 8 noises, each with the best of 7 steps",
    source="Bietti et al., Figure 1d and Appendix A",
    stands_in_for="Reproduces Figure 1d with its 1,000 users and grids. The layers follow the authors' program, and "
    "the clipping norm is 1, because the text does not state them.",
    across=Axis(name="rounds", title="rounds", scale="linear"),
    lines=Axis(name="personalization", title="αQ"),
    panels=Axis(name="noise_multiplier", title="noise multiplier σ"),
    curve=True,
    measure=ACCURACY,
    repetitions=TRIALS,
    cells=cells,
    data=(DATA,),
    judge=judge,
)
