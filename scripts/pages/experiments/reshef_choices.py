"""Accuracy of Lowy and Razaviyayn's algorithm in Table 1 of Reshef and Levy, by choices that the text leaves open.

`python -m scripts.pages.experiments.reshef_choices FOLDER [CHOICE ...] [--rho RHO]` takes the folder of MNIST. It
prints mean accuracies on the test images with 50 of 100 machines in a round: of the mean and of the last iterate with
the best step of the grid, and of the mean iterate with the step of projected SGD.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from epsilond.accountants.theorems.papers.reshef_levy.conversions import exact_epsilon
from epsilond.simulators.files.images import CLASSES
from epsilond.simulators.silos.full_batches import balanced_schedule
from epsilond.simulators.silos.single_pass import (
    Floats,
    LabelledRecords,
    SinglePass,
    accuracies,
    into_ball,
    mean_gradients,
)
from epsilond.witness.experiments.own_data import reshef_mnist as table
from epsilond.witness.trials.trials import trial_seed

SIZE, DELTA = 50, 1e-5
SHARE = table.TRAINING_RECORDS // table.MACHINES
"""Records of a machine."""
SETTINGS = SinglePass(machines=table.MACHINES, participants=SIZE, radius=0.5 * table.DIAMETER, classes=CLASSES)


@dataclass(frozen=True)
class SeveralPassesChoice:
    """A choice for the algorithm with several passes: its rounds, its batches and its noise.

    Attributes:
        rho: ρ, the μ of μ-Gaussian differential privacy.
        rounds: number of rounds.
        batch: records of a machine in a round.
        printed_noise: whether the noise is that of the printed theorem, and not that of ρ-Gaussian differential
            privacy.
        trials: number of trainings.
    """

    rho: float
    rounds: int
    batch: int
    printed_noise: bool = False
    trials: int = 2

    @property
    def noise_std(self) -> float:
        """Noise of a report. Theorem 2.1 has the ε that ρ implies at δ; otherwise each pass is counted."""
        if self.printed_noise:
            epsilon = exact_epsilon(mu=self.rho, log_delta=math.log(DELTA))
            logs = math.log(2.5 * self.rounds / DELTA) * math.log(2.0 / DELTA)
            return 16.0 * table.LIPSCHITZ * math.sqrt(self.rounds * logs) / (SHARE * epsilon)
        passes = math.ceil(self.rounds * SIZE * self.batch / table.TRAINING_RECORDS)
        return 2.0 * table.LIPSCHITZ * math.sqrt(passes) / (self.batch * self.rho)


def list_choices(rho: float) -> dict[str, SeveralPassesChoice]:
    """Return the choices to compare. Those with smaller batches take as many gradients as full batches do.

    Args:
        rho: ρ, the μ of μ-Gaussian differential privacy.

    Returns:
        The choices by name.
    """
    base = round(table.ROUNDS_PER_SQUARED_RHO * rho**2)
    return {
        "full batches": SeveralPassesChoice(rho, base, SHARE),
        "5 rounds": SeveralPassesChoice(rho, 5, SHARE),
        "2 rounds": SeveralPassesChoice(rho, 2, SHARE),
        "batches of 50": SeveralPassesChoice(rho, base * SHARE // 50, 50),
        "batches of 1": SeveralPassesChoice(rho, base * SHARE, 1, trials=1),
        "printed noise": SeveralPassesChoice(rho, base, SHARE, printed_noise=True),
        "printed noise, batches of 50": SeveralPassesChoice(rho, base * SHARE // 50, 50, printed_noise=True),
    }


def train(
    records: LabelledRecords, choice: SeveralPassesChoice, generator: np.random.Generator
) -> tuple[Floats, Floats]:
    """Train with each step size of the grid, and return the last and the mean iterate.

    In each pass over its records, the batches of a machine are disjoint.

    Args:
        records: training records with labels; machine m has records m·SHARE to (m + 1)·SHARE − 1.
        choice: number of rounds, batch size and standard deviation of the noise.
        generator: source of all random numbers: schedule, batches and noise.

    Returns:
        The last iterates and the means of the iterates, one model for each step size.
    """
    steps = table.FACTORS * table.sgd_step(choice.noise_std, SIZE, choice.rounds)
    steps = steps.astype(np.float32)[:, None, None]
    model = np.zeros((len(steps), table.FEATURES, CLASSES), dtype=np.float32)
    total = np.zeros_like(model)
    used = [0] * table.MACHINES
    orders = [generator.permutation(SHARE) for _ in used]
    # The noise of the mean of `SIZE` reports.
    mean_std = np.float32(choice.noise_std / math.sqrt(SIZE))
    for machines in balanced_schedule(table.MACHINES, SIZE, choice.rounds, generator):
        noise = mean_std * generator.standard_normal(model.shape[1:], dtype=np.float32)
        gradient = np.zeros_like(model)
        batches = []
        for machine in machines:
            # A machine that has used its records begins a new pass, in a new order.
            if used[machine] + choice.batch > SHARE:
                used[machine], orders[machine] = 0, generator.permutation(SHARE)
            first = used[machine]
            batches.append(machine * SHARE + orders[machine][first : first + choice.batch])
            used[machine] += choice.batch
        rows = np.concatenate(batches)
        parts = np.array_split(rows, SIZE if choice.batch == SHARE else 1)  # parts bound the memory
        for part in parts:
            gradient += mean_gradients(model, records.features[part], records.labels[part]) / np.float32(len(parts))
        model = into_ball(model - steps * (gradient + noise), SETTINGS.radius)
        total += model
    return model, total / np.float32(choice.rounds)


def _choose(models: Floats, records: LabelledRecords, checked: slice) -> Floats:
    """Return the model with the best accuracy on the checked records."""
    scores = accuracies(models, records.features[checked], records.labels[checked])
    best: Floats = models[int(np.argmax(scores))]
    return best


def measure(folder: Path, choice: SeveralPassesChoice) -> npt.NDArray[np.float64]:
    """Measure the mean test accuracies of one choice over its trials.

    Args:
        folder: folder of MNIST.
        choice: number of rounds, batch size and noise.

    Returns:
        Three accuracies, from 0 to 1: of the best mean iterate, of the best last iterate, and of the mean iterate at
        the theorem's step.
    """
    training, test = table.read_features(folder)
    # Index of the theorem's own step size in the grid.
    own = int(np.flatnonzero(table.FACTORS == 1.0)[0])
    rows = []
    for trial in range(choice.trials):
        generator = np.random.default_rng(np.random.SeedSequence(trial_seed(0, trial)))
        order = generator.permutation(len(training.labels))
        records = LabelledRecords(training.features[order], training.labels[order])
        checked = slice(0, table.MOST_CHECKED)
        last, mean = train(records, choice, generator)
        chosen = np.stack([_choose(mean, records, checked), _choose(last, records, checked), mean[own]])
        rows.append(accuracies(chosen, test.features, test.labels))
    return np.asarray(np.mean(rows, axis=0))


def main() -> None:
    """Print the test accuracies of each choice as rows of a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("choices", nargs="*", metavar="choice", help="; ".join(list_choices(4.0)))
    parser.add_argument("--rho", type=float, default=4.0)
    arguments = parser.parse_args()
    choices = list_choices(arguments.rho)
    for name in arguments.choices or choices:
        figures = " | ".join(f"{figure:.3f}" for figure in measure(arguments.folder, choices[name]))
        print(f"| {name} | {choices[name].rounds} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
