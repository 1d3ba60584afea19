"""Trials as a kind of simulation: one block is one trial of one arm of a paper's experiment.

A trial has its own split of the data, and its own choice among step sizes. Its seed follows from the request's seed and
its number only, so that all arms of an experiment have the same splits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median_low
from typing import Any, Literal, Protocol

import numpy as np

from epsilond.calibrators.answer import Caution, Ends
from epsilond.simulators.files.folders import DataName, find_folder
from epsilond.simulators.files.known import DataFile
from epsilond.simulators.problems.problem import Floats
from epsilond.witness.kind import SimulationKind, SimulationPlan
from epsilond.witness.risks.answer import Measured
from epsilond.witness.risks.report import mean_over_repetitions

CONFIDENCE = 0.95
"""Confidence level of the band of a score's mean over the trials."""
MOST_AT_AN_END = 0.5
"""Share of the trials with their best value at an end of a grid, above which a warning is given."""


@dataclass(frozen=True)
class TrialResult:
    """Scores of one trial on test records, and the values of the parameters that it tuned.

    Attributes:
        scores: scores of the trained model on test records, by name.
        chosen: chosen value of each tuned parameter, by name.
    """

    scores: Mapping[str, float]
    chosen: Mapping[str, float]


class TrialArm(Protocol):
    """One arm of an experiment, that is, an algorithm with fixed noise and settings.

    A trial splits the data at random, trains the algorithm on one part, and scores its output on the other. Arms must
    be picklable, because trials run in other processes.
    """

    @property
    def data(self) -> tuple[DataName, ...]:
        """Names of the data sets that the trials read."""

    @property
    def algorithm(self) -> str:
        """Name of the algorithm."""

    @property
    def seconds(self) -> float:
        """Estimated time of one trial on one core, in seconds."""

    @property
    def bytes(self) -> int:
        """Estimated memory of one trial, in bytes."""

    def check(self, folders: Mapping[DataName, Path]) -> tuple[DataFile, ...]:
        """Read the data files once, and return them with their checksums.

        Args:
            folders: folder of each data set.

        Returns:
            For each file its data set, name and checksum.

        Raises:
            InvalidInput: a file is missing or is not the original.
        """

    @property
    def grids(self) -> Mapping[str, Sequence[float]]:
        """Candidate values of each tuned parameter, by name.

        A grid is empty if its ends are the smallest and the largest possible value. No warning is then due at them.
        """

    def run(self, folders: Mapping[DataName, Path], seed: int) -> TrialResult:
        """Run one trial: split the data, train the algorithm, and score its output on test records.

        Args:
            folders: folder of each data set.
            seed: seed of the split and of all other randomness.

        Returns:
            Scores by name, and the chosen value of each tuned parameter by name.
        """

    def certify(self, folders: Mapping[DataName, Path]) -> Ends | None:
        """Return certified bounds on the ε that the noise of the algorithm gives.

        Args:
            folders: folder of each data set, for the numbers of records.

        Returns:
            A lower and an upper bound on ε; None if the arm has no noise, or if the paper claims no ε for it.
        """


@dataclass(frozen=True, kw_only=True)
class TrialSimulation:
    """Request for independent trials of one arm, that is, of one algorithm with fixed noise and settings.

    A trial splits the data at random, trains the algorithm on one part, and scores its output on the other.

    Attributes:
        arm: the algorithm with its settings.
        repetitions: number of trials.
        seed: seed of all trials.
        kind: name of the kind of simulation.
    """

    arm: TrialArm
    repetitions: int
    seed: int
    kind: Literal["trials"] = "trials"


@dataclass(frozen=True, kw_only=True)
class TrialsAnswer:
    """Scores of an algorithm with fixed settings over repeated trainings, with the certified ε of its noise.

    Attributes:
        algorithm: name of the algorithm.
        scores: mean of each score over the trials with its confidence band, by name.
        chosen: lower median over the trials of the chosen value of each tuned parameter, which is a value of its grid.
        data_files: files that the trials read.
        epsilon: certified bounds on the ε of the noise; None if there is none to certify.
        warnings: warnings about best values at the ends of their grids.
        kind: name of the kind of simulation.
    """

    algorithm: str
    scores: Mapping[str, Measured]
    chosen: Mapping[str, float]
    data_files: tuple[DataFile, ...]
    epsilon: Ends | None
    warnings: tuple[Caution, ...]
    kind: Literal["trials"] = "trials"


@dataclass(frozen=True)
class PreparedTrials:
    """Trials that are ready to run, with the folders of their data, so that other processes find the files.

    Attributes:
        arm: the algorithm with its settings.
        folders: folder of each data set.
        seed: seed of all trials.
        data_files: the data files with their verified checksums.
    """

    arm: TrialArm
    folders: Mapping[DataName, Path]
    seed: int
    data_files: tuple[DataFile, ...] = ()


def plan(request: TrialSimulation) -> SimulationPlan:
    """Estimate the time and the memory of all trials; a block is one trial.

    Args:
        request: the trials.

    Returns:
        The number of trials, their time in seconds on one core, and the memory of one trial in bytes.
    """
    arm = request.arm
    all_seconds = arm.seconds * request.repetitions
    return SimulationPlan(blocks=request.repetitions, seconds=all_seconds, bytes=arm.bytes)


def prepare(request: TrialSimulation) -> PreparedTrials:
    """Find the files of the data sets that the trials read, and verify their checksums.

    The papers' own data sets are read from folders on this machine. Some arms need none.

    Args:
        request: the trials.

    Returns:
        The trials with the folders of their data, and the files with their checksums.

    Raises:
        InvalidInput: a folder or a file is missing, or a file is not the original.
    """
    arm = request.arm
    folders = {name: find_folder(name) for name in arm.data}
    data_files = arm.check(folders)
    return PreparedTrials(arm, folders, request.seed, data_files)


def run_block(prepared: PreparedTrials, index: int) -> TrialResult:
    """Run one trial: split the data, train the algorithm, and score its output on test records.

    Args:
        prepared: the prepared trials.
        index: number of the trial, from 0.

    Returns:
        The scores, and the chosen values of the tuned parameters.
    """
    return prepared.arm.run(prepared.folders, trial_seed(prepared.seed, index))


def trial_seed(seed: int, trial: int) -> int:
    """Return the seed of one trial, that is, of one training with its own split of the data.

    It depends only on the arguments. The trials with one number therefore have the same split for all algorithms of an
    experiment.

    Args:
        seed: seed of the request.
        trial: number of the trial, from 0.

    Returns:
        A nonnegative integer below 2^63.
    """
    sequence = np.random.SeedSequence(seed, spawn_key=(trial,))
    (word,) = sequence.generate_state(1, np.uint64)
    return int(word >> np.uint64(1))  # a signed integer of 64 bits can hold it


def assemble(request: TrialSimulation, prepared: PreparedTrials, blocks: Sequence[TrialResult]) -> TrialsAnswer:
    """Summarise the trials of one algorithm, in each of which it was trained on another random split of the data.

    Args:
        request: the request for the trials.
        prepared: the same trials with the folders of their data.
        blocks: results of all trials, at least one.

    Returns:
        The mean of each score with its confidence band, the lower median of the chosen value of each tuned parameter,
        and the certified ε of the noise.
    """
    first_result = blocks[0]
    scores = {}
    for name in first_result.scores:
        values = np.array([block.scores[name] for block in blocks])
        scores[name] = mean_over_repetitions(values, CONFIDENCE)

    # The lower median is the choice of some trial, unlike the mean.
    chosen_values = {name: np.array([block.chosen[name] for block in blocks]) for name in first_result.chosen}
    medians = {name: median_low(values.tolist()) for name, values in chosen_values.items()}
    return TrialsAnswer(
        algorithm=request.arm.algorithm,
        scores=scores,
        chosen=medians,
        data_files=prepared.data_files,
        epsilon=request.arm.certify(prepared.folders),
        warnings=tuple(_edge_warnings(request.arm, chosen_values)),
    )


def _edge_warnings(arm: TrialArm, chosen: Mapping[str, Floats]) -> Iterator[Caution]:
    """Warn of each tuned parameter with a best value at the same end of its grid in most trials.

    A wider grid might then give a better result.

    Args:
        arm: the arm, with the grid of each parameter.
        chosen: best value in each trial, by name of the parameter.

    Yields:
        At most one warning for each end of a grid.
    """
    for name, values in chosen.items():
        grid = arm.grids[name]
        if len(grid) < 2:
            continue
        for extreme in {min(grid), max(grid)}:
            share = float(np.mean(values == extreme))
            if share > MOST_AT_AN_END:
                message = f"in {share:.0%} of the trials the best {name} is {extreme:g}, at an end of the grid"
                yield Caution(code="best-at-end-of-grid", message=message)


TRIALS: SimulationKind[Any, Any, Any] = SimulationKind(
    request=TrialSimulation, plan=plan, prepare=prepare, run_block=run_block, assemble=assemble, answer=TrialsAnswer
)
"""Trials are cells of an experiment only. No request names them."""
