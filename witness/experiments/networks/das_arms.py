"""The arms of Das et al.'s experiments: a network on CIFAR-10 or Fashion-MNIST, trained by one algorithm.

From the paper's Section 6 and Appendix H: two hidden layers of 600 (CIFAR-10) or 300 (Fashion-MNIST) ReLU units,
cross-entropy and weight decay 10⁻⁴. The training images, sorted by class, are cut into 250 shards, and each of the 50
clients has 5 of them. In a round 25 clients take 20 steps on batches of 256 records. The step size of clients is
multiplied by 0.99 after each round.

Choices where the text is silent: 400 rounds, because a step size of Figure 4 changes at 350, and Figure 5 speaks of the
first 300 and the last 100. The text applies the default momentum of PyTorch, which is 0; here it is 0.9, as in
PyTorch's examples. Momentum starts anew in each round. A batch is drawn without replacement. Pixels are from −1 to 1.
Initial weights are those of PyTorch. Messages of "full precision (32 bits)" are on a grid of 2²⁴ steps in a unit, which
is the resolution of 32-bit floating point below 1.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import numpy as np

from epsilond.calibrators.answer import Ends
from epsilond.simulators.files.folders import DataName
from epsilond.simulators.files.images import CLASSES, Images, read_images
from epsilond.simulators.files.known import DataFile
from epsilond.simulators.networks.architectures import connected_dimension
from epsilond.simulators.networks.backend import choose_device
from epsilond.simulators.networks.federated import (
    FederatedTraining,
    ImageFederation,
    ImageVectors,
    ModelQuality,
    train_federated,
)
from epsilond.simulators.networks.shards import deal_shards
from epsilond.simulators.networks.updates import UpdateRule, UpdateScaling
from epsilond.witness.experiments.networks.das_noise import NoiseChoice, certified_epsilon, noise_of
from epsilond.witness.trials.curves import name_at
from epsilond.witness.trials.trials import TrialResult

ImageName = Literal["cifar-10", "fashion-mnist"]
"""Name of a data set of the experiments."""
HIDDEN: Final[Mapping[str, tuple[int, ...]]] = {"cifar-10": (600, 600), "fashion-mnist": (300, 300)}
"""Units of the hidden layers, by data set."""
PIXELS: Final[Mapping[str, int]] = {"cifar-10": 3072, "fashion-mnist": 784}
CLIENTS, SHARDS_PER_CLIENT = 50, 5
PARTICIPANTS: Final = 25
LOCAL_STEPS: Final = 20
BATCH_SIZE: Final = 256
MOMENTUM: Final = 0.9
WEIGHT_DECAY: Final = 1e-4
STEP_DECAY: Final = 0.99
ROUNDS: Final = 400
LAST: Final = 5
"""Rounds at the end over which the tables' test error is a mean."""
CURVE_ROUNDS: Final = tuple(range(40, 401, 40))
"""Rounds after which the curves are measured."""
FULL_PRECISION: Final = 2**24
"""Grid steps of messages of full precision. The noise of experiments (ii) and (iii) has 2 units at any grid."""
SECONDS: Final[Mapping[str, float]] = {"cifar-10": 25_000.0, "fashion-mnist": 4_000.0}
"""Time of a trial on one core."""
BYTES: Final = 3_000_000_000
TEST_ERROR, TRAINING_LOSS, LAST_ERROR = "test_error", "training_loss", "last_test_error"
"""Names of the scores."""
Steps = tuple[tuple[int, float], ...]
"""Step sizes of the server, each with the first round of its use, from 0."""


@dataclass(frozen=True, kw_only=True)
class DasArm:
    """A training of a network by one algorithm on one data set, with its step sizes, noise and update rule.

    Attributes:
        algorithm: name of the algorithm.
        images: the data set.
        local_step: η₀, step size of the clients in the first round.
        server_steps: β_k of the server; None if it is `server_ratio` times the clients' step.
        server_ratio: β_k/η_k; None if the server has steps of its own.
        scaling: scaling of updates.
        clipping_norm: C, or None.
        quantization_levels: grid steps s in a unit, or None.
        noise: the noise.
        noise_at: the party that adds it.
    """

    algorithm: str
    images: ImageName
    local_step: float
    server_steps: Steps | None = None
    server_ratio: float | None = None
    scaling: UpdateScaling = "normalised"
    clipping_norm: float | None = None
    quantization_levels: int | None = None
    noise: NoiseChoice = "none"
    noise_at: Literal["clients", "server"] = "clients"

    @property
    def data(self) -> tuple[DataName, ...]:
        """The data set that it reads."""
        return (self.images,)

    @property
    def seconds(self) -> float:
        """Expected time of a trial on one core."""
        return SECONDS[self.images]

    @property
    def bytes(self) -> int:
        """Expected memory of a trial."""
        return BYTES

    @property
    def grids(self) -> Mapping[str, Sequence[float]]:
        """No tuned parameter, because the paper states the steps that its search has chosen."""
        return {}

    @property
    def dimension(self) -> int:
        """Number of weights of the network."""
        return connected_dimension((PIXELS[self.images], *HIDDEN[self.images], CLASSES))

    def check(self, folders: Mapping[DataName, Path]) -> tuple[DataFile, ...]:
        """Check that the device and the data for the training are available, and return the data files.

        Args:
            folders: folder of the data set, by its name.

        Returns:
            The files with their checksums.

        Raises:
            InvalidInput: torch or the device is missing, or a file is missing or is not the original.
        """
        choose_device()
        return read_images(self.images, folders[self.images]).files

    def run(self, folders: Mapping[DataName, Path], seed: int) -> TrialResult:
        """Train the network once, and return its test errors and training losses.

        Args:
            folders: folder of the data set, by its name.
            seed: seed of the assignment of images to clients, and of all other randomness.

        Returns:
            Test error and training loss after several numbers of rounds, and the mean test error of the last rounds. No
            parameter is tuned.
        """
        federation = deal_images(self.images, folders[self.images], seed)
        qualities = train_federated(federation, self._training(), classes=CLASSES, seed=seed)
        return TrialResult(_scores(qualities), {})

    def _training(self) -> FederatedTraining:
        """Return the settings of the training: network, batches, step sizes by round, and the rule for updates.

        The clients' step size is multiplied by `STEP_DECAY` after each round. The network is measured at the rounds of
        the curve, and at the last rounds, over which the paper takes the mean error.
        """
        local_steps = [self.local_step * STEP_DECAY**index for index in range(ROUNDS)]
        last_rounds = range(ROUNDS - LAST + 1, ROUNDS + 1)
        return FederatedTraining(
            hidden=HIDDEN[self.images],
            participants=PARTICIPANTS,
            local_steps=LOCAL_STEPS,
            batch_size=BATCH_SIZE,
            momentum=MOMENTUM,
            weight_decay=WEIGHT_DECAY,
            local_step_sizes=local_steps,
            server_step_sizes=self._server_step_sizes(local_steps),
            rule=self.rule,
            measured=sorted({*CURVE_ROUNDS, *last_rounds}),
        )

    def _server_step_sizes(self, local_steps: Sequence[float]) -> list[float]:
        """Return the server's step size in each round.

        It is the multiple `server_ratio` of the clients' step size, or follows the schedule `server_steps`. Without
        either it is 1, as in FedAvg, in which the server takes the mean of the clients' weights.

        Args:
            local_steps: the clients' step size in each round.
        """
        if self.server_ratio is not None:
            return [self.server_ratio * step for step in local_steps]

        # Pairs of a step size's first round, from 0 and ascending, and the step size.
        schedule = self.server_steps or ((0, 1.0),)
        step_sizes = []
        for round_index in range(len(local_steps)):
            steps_so_far = [step for first_round, step in schedule if first_round <= round_index]
            step_sizes.append(steps_so_far[-1])
        return step_sizes

    @property
    def rule(self) -> UpdateRule:
        """The rule by which updates are scaled, clipped, rounded to a grid, and made noisy.

        An update is the difference of weights that a client sends in a round. Only updates on a grid get noise, either
        by the clients or by the server.
        """
        noise = None
        if self.quantization_levels is not None:
            noise = noise_of(self.noise, dimension=self.dimension, levels=self.quantization_levels, rounds=ROUNDS)
        return UpdateRule(
            scaling=self.scaling,
            clipping_norm=self.clipping_norm,
            quantization_levels=self.quantization_levels,
            noise=noise,
            noise_at=self.noise_at,
        )

    def certify(self, folders: Mapping[DataName, Path]) -> Ends | None:
        """Return certified bounds on the ε of truncated discrete Laplace noise, at the δ of its target.

        Noise with a target for the whole run protects any two updates. For noise with a target for one round, the
        sensitivities are those that the paper assumes, which do not hold for all data.

        Args:
            folders: not used.

        Returns:
            A lower and an upper bound on ε, for a round or for the run like the target; None for other noise or none.
        """
        del folders
        if self.quantization_levels is None:
            return None
        return certified_epsilon(
            self.noise,
            dimension=self.dimension,
            levels=self.quantization_levels,
            rounds=ROUNDS,
            at_server=self.noise_at == "server",
        )


def _scores(qualities: Sequence[ModelQuality]) -> dict[str, float]:
    """Return the scores of a run by name: both curves at `CURVE_ROUNDS`, and the mean test error of the last rounds.

    Args:
        qualities: test error and training loss after each measured round, in order.

    Returns:
        The scores by name. An error is a share of records, from 0 to 1.
    """
    scores = {}
    for quality in qualities:
        if quality.rounds in CURVE_ROUNDS:
            scores[name_at(TEST_ERROR, quality.rounds)] = quality.test_error
            scores[name_at(TRAINING_LOSS, quality.rounds)] = quality.training_loss
    last_errors = [quality.test_error for quality in qualities[-LAST:]]
    scores[LAST_ERROR] = float(np.mean(last_errors))
    return scores


@functools.lru_cache(maxsize=1)
def deal_images(images: ImageName, folder: Path, seed: int) -> ImageFederation:
    """Read the images of a data set, and divide the training images among the clients so that each has few classes.

    The images are sorted by class and cut into parts of equal size, the shards. Each client gets `SHARDS_PER_CLIENT` of
    them at random.

    Args:
        images: the data set.
        folder: folder of the data set.
        seed: seed of the assignment.

    Returns:
        Training images with the assignment to clients, and the test images. The last result is kept in memory.
    """
    data = read_images(images, folder)
    # The assignment has a generator of its own, so that it does not depend on other random numbers of the trial.
    generator = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0,)))
    clients = deal_shards(
        data.training.labels, clients=CLIENTS, shards_per_client=SHARDS_PER_CLIENT, generator=generator
    )
    return ImageFederation(_vectors(data.training), clients, _vectors(data.test))


def _vectors(images: Images) -> ImageVectors:
    """Convert images to vectors of pixels from −1 to 1, with their labels as integers."""
    # Half of the largest byte, 255, is 127.5.
    pixels = images.pixels.astype(np.float32) / np.float32(127.5) - np.float32(1.0)
    return ImageVectors(pixels, images.labels.astype(np.int64))
