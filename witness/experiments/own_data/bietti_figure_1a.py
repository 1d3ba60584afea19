"""Figure 1a of Bietti et al. at its own size: 1,000 users, 100 coordinates, and the grids of Appendix A.

A personalization αQ weights the shared model against the users' own models, where Q is the number of users in a round.
The noises and the clipping norm of the figure's plots are not in the text. Here are all ten noises of the appendix, at
the clipping norm 10. As the paper says, the step size is the best of the grid at each number of rounds.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from epsilond.accountants.account import account
from epsilond.accountants.specs import Gaussian, Repeated
from epsilond.calibrators.answer import Ends
from epsilond.simulators.files.folders import DataName
from epsilond.simulators.files.known import DataFile
from epsilond.simulators.silos.personal_models import PersonalRun, PersonalTraining, SyntheticUsers, excess_risks
from epsilond.witness.cells import CellAnswer
from epsilond.witness.experiment import Axis, Cell, Finding, Place, Preset
from epsilond.witness.experiments.ppsgd_grid import DELTA, NOISE_MULTIPLIERS, STEPS, TIMES_PARTICIPANTS
from epsilond.witness.experiments.ppsgd_synthetic import BATCH_SIZE, CLIPPING_NORM, personalization_name
from epsilond.witness.findings import judge_pairs, private_score
from epsilond.witness.risks.answer import Measured
from epsilond.witness.trials.trials import TrialResult, TrialSimulation
from epsilond.witness.trials.work import TrialWork

ROUNDS: Final = (30, 100, 200, 300)
"""Rounds after which the excess is measured. The figure ends after 300."""
SHARED, LOCAL = math.inf, 0.0
"""Personalization with one model for all, and with no shared model."""
LARGE_NOISES: Final = tuple(noise for noise in NOISE_MULTIPLIERS if noise >= 100.0)
TRIALS: Final = 10
PRODUCTS: Final = 4
"""Products of the batches with all models in a round: two for the residuals, and two for the steps. The rest of a round
takes as long as one pass of elementwise arithmetic over the models."""
SEEDS_KEPT: Final = 100
"""Seeds with their risks in memory. All cells of a trial have one seed; its risks take 32 kB."""
BYTES: Final = 500_000_000
"""Personal models of all users in all runs: 360 MB, and the records of a round."""


@dataclass(frozen=True)
class FigureArm:
    """One setting of the figure: a personalization, a noise, and the rounds after which the risk is measured.

    Attributes:
        personalization: weight α of the shared model, times the number Q of users in a round. It is 0 if users only
            have models of their own, and math.inf if they share one model.
        noise_multiplier: standard deviation of the noise in units of the clipping norm.
        rounds: one of `ROUNDS`.
        data: names of needed data sets; none, because the data are drawn.
        algorithm: name of the algorithm.
        bytes: expected memory of a trial.
    """

    personalization: float
    noise_multiplier: float
    rounds: int
    data: tuple[DataName, ...] = ()
    algorithm: str = "ppsgd"
    bytes: int = BYTES

    @property
    def seconds(self) -> float:
        """Estimated time that one trial of this setting takes on one core, in seconds.

        One training computes the results of all settings (noise multiplier, personalization and number of rounds) of
        the paper's Figure 1(a). Each setting is assigned an equal share of its time.
        """
        users = SyntheticUsers()
        rounds, records = max(ROUNDS), users.users * BATCH_SIZE
        # Every user has a model in every run, that is, for each noise multiplier, personalization and step size.
        model_coordinates = float(users.users * users.dimension * len(distinct_runs()))
        # In a round, `PRODUCTS` times each model coordinate is multiplied with a feature of each record of a batch.
        work = TrialWork(
            multiply_adds=rounds * PRODUCTS * BATCH_SIZE * model_coordinates,
            numbers=float(rounds * records * users.dimension),
            coordinates=rounds * model_coordinates,
        )
        settings = len(NOISE_MULTIPLIERS) * len(TIMES_PARTICIPANTS) * len(ROUNDS)
        return work.seconds / settings

    @property
    def grids(self) -> Mapping[str, Sequence[float]]:
        """Values of the step size."""
        return {"step_size": STEPS}

    def check(self, folders: Mapping[DataName, Path]) -> tuple[DataFile, ...]:
        """Return no data files, because the data of this experiment are drawn at random. `folders` is not used."""
        del folders
        return ()

    def run(self, folders: Mapping[DataName, Path], seed: int) -> TrialResult:
        """Return the smallest excess risk over a grid of step sizes, and the step size that attains it.

        All settings with the same seed are trained once, and the results are reused.

        Args:
            folders: not used.
            seed: seed of data and noise.

        Returns:
            The excess risk after `rounds` rounds, in units of the loss, and the step size.
        """
        del folders
        risks_by_run = _train_all_runs(seed)
        measured_index = ROUNDS.index(self.rounds)
        runs = _find_runs(self.personalization, self.noise_multiplier)
        risks = [risks_by_run[run][measured_index] for run in runs]
        best = int(np.argmin(risks))
        return TrialResult({"excess_risk": float(risks[best])}, {"step_size": STEPS[best]})

    def certify(self, folders: Mapping[DataName, Path]) -> Ends | None:
        """Return certified bounds on ε for all data of a user, against an observer of the models of all rounds.

        They are for the longest run of the figure, of which this setting uses the first rounds. Each round releases a
        sum of clipped updates with Gaussian noise. No amplification by the sampling of users is used.

        Args:
            folders: not used.

        Returns:
            Bounds on ε at `DELTA`. None without noise or without a shared model.
        """
        del folders
        if self.noise_multiplier == 0.0 or self.personalization == LOCAL:
            return None
        all_rounds = Repeated(times=max(ROUNDS), mechanism=Gaussian(noise_multiplier=self.noise_multiplier))
        answer = account(all_rounds, relation="replace-one", unit="client", observer="released-models")
        log_delta = math.log(DELTA)
        return Ends.of(answer.guarantee.curve.epsilon(log_delta))


def _find_runs(personalization: float, noise_multiplier: float) -> tuple[PersonalRun, ...]:
    """Return one training run for each step size in `STEPS`, with one personalization and one noise.

    Without a shared model the noise has no effect. It is then set to 0, so that equal runs are trained once.

    Args:
        personalization: weight α of the shared model, times the number of users in a round.
        noise_multiplier: standard deviation of the noise in units of the clipping norm.
    """
    noise = 0.0 if personalization == LOCAL else noise_multiplier
    return tuple(PersonalRun(step_size=step, personalization=personalization, noise_multiplier=noise) for step in STEPS)


def distinct_runs() -> tuple[PersonalRun, ...]:
    """Return the training runs for all noise multipliers, personalizations and step sizes, without repetitions."""
    runs: list[PersonalRun] = []
    for noise, personalization in product(NOISE_MULTIPLIERS, TIMES_PARTICIPANTS):
        runs += _find_runs(personalization, noise)
    return tuple(dict.fromkeys(runs))


@functools.lru_cache(maxsize=SEEDS_KEPT)
def _train_all_runs(seed: int) -> Mapping[PersonalRun, npt.NDArray[np.float64]]:
    """Train with all personalizations, noises and step sizes of Figure 1a of Bietti et al., and measure the risks.

    All runs have the same data, and the same noise up to its scale. The results are stored, because several simulations
    with the same seed need them.

    Args:
        seed: seed of data and noise.

    Returns:
        For each run one excess risk after each number of rounds in `ROUNDS`, in units of the loss.
    """
    training = PersonalTraining(clipping_norm=CLIPPING_NORM, batch_size=BATCH_SIZE, measured=ROUNDS)
    runs = distinct_runs()
    risks = excess_risks(SyntheticUsers(), training, runs, seed)  # one column for each run
    return dict(zip(runs, risks.T, strict=True))


def cells(repetitions: int, seed: int) -> tuple[Cell, ...]:
    """Return the simulations for Figure 1a of Bietti et al.: one for each noise, personalization and number of rounds.

    Personalization is the weight of the model that all users share.

    Args:
        repetitions: number of trials of each simulation, with different randomness.
        seed: seed of all randomness.

    Returns:
        For each combination of the three values, the values and the simulation.
    """
    table = []
    for noise, personalization, rounds in product(NOISE_MULTIPLIERS, TIMES_PARTICIPANTS, ROUNDS):
        place: Place = {
            "noise_multiplier": noise,
            "personalization": personalization_name(personalization),
            "rounds": rounds,
        }
        arm = FigureArm(personalization, noise, rounds)
        simulation = TrialSimulation(arm=arm, repetitions=repetitions, seed=seed)
        table.append(Cell(place=place, simulation=simulation))
    return tuple(table)


@dataclass(frozen=True)
class _Scores:
    """Measured excess risks of all settings of the figure.

    Attributes:
        by_place: mean excess risk with its confidence band, by the noise multiplier, the name of the personalization
            αQ, and the number of rounds. α is the weight of the shared model, and Q the number of users in a round.
    """

    by_place: Mapping[tuple[float, str, int], Measured]

    @classmethod
    def of(cls, answers: Sequence[CellAnswer]) -> Self:
        """Collect the measured excess risks from the results of an experiment.

        Args:
            answers: results of the simulations. Those without a measurement are left out.
        """
        read_excess = private_score("excess_risk")
        by_place = {}
        for cell in answers:
            excess = read_excess(cell)
            if excess is None:
                continue
            noise = float(cell.place["noise_multiplier"])
            personalization = str(cell.place["personalization"])
            rounds = int(cell.place["rounds"])
            by_place[noise, personalization, rounds] = excess
        return cls(by_place)

    def risk_at(self, noise: float, personalization: float, rounds: int) -> Measured:
        """Return the measured excess risk in one setting.

        Args:
            noise: noise multiplier, in units of the clipping norm.
            personalization: αQ, from 0 to math.inf.
            rounds: number of rounds.

        Returns:
            The mean excess risk in units of the loss, with its confidence band.
        """
        return self.by_place[noise, personalization_name(personalization), rounds]

    def compare_with_others(
        self, personalization: float, noises: Sequence[float], rounds: Sequence[int]
    ) -> list[tuple[Measured, Measured]]:
        """Pair the excess risk of one personalization with that of each other one, in every setting.

        Args:
            personalization: weight αQ of the model that all users share; its risk is the first of each pair.
            noises: noise multipliers.
            rounds: numbers of rounds.

        Returns:
            One pair for each noise, number of rounds and other personalization.
        """
        rivals = [value for value in TIMES_PARTICIPANTS if value != personalization]
        pairs = []
        for noise, count, rival in product(noises, rounds, rivals):
            own_risk = self.risk_at(noise, personalization, count)
            rival_risk = self.risk_at(noise, rival, count)
            pairs.append((own_risk, rival_risk))
        return pairs


def judge(answers: Sequence[CellAnswer]) -> tuple[Finding, ...]:
    """Judge the claims that Bietti et al. make in Section 6 about their synthetic data.

    Personalization is the weight of the shared model. It ranges from 0, with users' own models only (`LOCAL`), to
    infinity, with one model for all (`SHARED`).

    Args:
        answers: results of the experiment, one for each noise multiplier, number of rounds, and personalization.

    Returns:
        For each of the three claims, whether the mean excess risks with their confidence bands support it.
    """
    scores = _Scores.of(answers)
    first, last = ROUNDS[0], ROUNDS[-1]
    later_rounds = ROUNDS[2:]  # 200 and 300

    # Without noise, for weights at which users have both a shared model and own models.
    mixed_weights = [weight for weight in TIMES_PARTICIPANTS if LOCAL < weight < SHARED]
    personalized = [scores.risk_at(0.0, weight, last) for weight in mixed_weights]
    best_personalized = min(personalized, key=lambda measured: float(measured.mean))
    return (
        judge_pairs(
            "In early rounds one model for all is best, at every noise.",
            scores.compare_with_others(SHARED, NOISE_MULTIPLIERS, [first]),
            names=("one model for all", "the others"),
            quantity=f"excess risk after {first} rounds",
        ),
        judge_pairs(
            "Later, even without noise, a personalized model is better than one model for all.",
            [(best_personalized, scores.risk_at(0.0, SHARED, last))],
            names=("the best personalization", "one model for all"),
            quantity=f"excess risk after {last} rounds",
        ),
        judge_pairs(
            "With large noise (σ ≥ 100) models of one's own only are best after about 200 rounds.",
            scores.compare_with_others(LOCAL, LARGE_NOISES, later_rounds),
            names=("no shared model", "the others"),
            quantity="excess risk after 200 and 300 rounds",
        ),
    )


PRESET: Final = Preset(
    name="bietti-figure-1a",
    title="PPSGD on its synthetic set at the paper's size and grids",
    summary="excess risk of 9 personalizations at 10 noises, each with the best of 11 steps, after 30 to 300 rounds",
    source="Bietti et al., Figure 1a and Appendix A",
    stands_in_for="Reproduces Figure 1a with its 1,000 users, 100 coordinates and grids. The clipping norm of the "
    "figure is not in the text; here it is 10.",
    across=Axis(name="noise_multiplier", title="noise multiplier σ"),
    lines=Axis(name="personalization", title="αQ"),
    panels=Axis(name="rounds", title="rounds"),
    measure="excess_risk",
    repetitions=TRIALS,
    cells=cells,
    judge=judge,
)
