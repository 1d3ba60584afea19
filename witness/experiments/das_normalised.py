"""Das et al.'s experiment without noise on digits: normalised updates compared with FedAvg.

Records are assigned to clients at random or sorted by digit. The task and its sizes are those of `das_digits_task`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from epsilond.accountants.json_types import Fields
from epsilond.simulators.algorithms.fedavg import FedavgRun
from epsilond.simulators.algorithms.norm_fedavg import NormFedavgRun
from epsilond.simulators.problems.data_sets import Split
from epsilond.witness.cells import CellAnswer
from epsilond.witness.experiment import Axis, Cell, Finding, Place, Preset
from epsilond.witness.experiments.das_digits_task import (
    ACCURACY,
    CLIENTS,
    DIGITS,
    LOCAL_STEP,
    QUANTITY,
    ROUNDS,
    TUNED,
    digits_problem,
)
from epsilond.witness.findings import judge_pairs, private_score
from epsilond.witness.risks.answer import Measured
from epsilond.witness.risks.request import RiskSimulation

NORMALISED, PLAIN = "NormFedAvg", "FedAvg"
SPLITS: tuple[Split, ...] = ("iid", "by-label")
LOCAL = (1, 3, 8)
PLAIN_STEPS = (1.0, 4.0, 16.0, 64.0, 256.0, 1024.0, 4096.0)
"""Multiples of a client's step in FedAvg, and of the server's step in NormFedAvg."""


def plain_cells(repetitions: int, seed: int) -> tuple[Cell, ...]:
    """Return the simulations that compare normalised updates with FedAvg, without noise.

    There is one for each combination of the split of the records among clients, the algorithm, the number of local
    steps, and the step size.

    Args:
        repetitions: independent runs of each simulation.
        seed: seed of all randomness.

    Returns:
        The simulations, each with its position on the grid of parameters.
    """
    shared: Fields = {"repetitions": repetitions, "seed": seed, "points": 1}
    grid = []
    for split, arm, local_steps, step in product(SPLITS, (NORMALISED, PLAIN), LOCAL, PLAIN_STEPS):
        run = _plain_run(arm, local_steps, step)
        simulation = RiskSimulation(run=run, problem=digits_problem(split), **shared)
        place: Place = {"split": split, "arm": arm, "local_steps": local_steps, "step": step}
        grid.append(Cell(place=place, simulation=simulation))
    return tuple(grid)


def _plain_run(arm: str, local_steps: int, step: float) -> Any:
    """Return the parameters of a training by FedAvg, or by NormFedAvg without noise.

    Half of the clients take part in a round. NormFedAvg divides the update of each client by its norm.

    Args:
        arm: `PLAIN` for FedAvg, or `NORMALISED`.
        local_steps: number of local steps in a round.
        step: step size: a multiple of the clients' step in FedAvg, and the server's step in NormFedAvg.

    Returns:
        The algorithm with its parameters.
    """
    shape: Fields = {"participants": CLIENTS // 2, "rounds": ROUNDS, "local_steps": local_steps}
    if arm == PLAIN:
        return FedavgRun(**shape, local_step_size=LOCAL_STEP * step)
    return NormFedavgRun(**shape, local_step_size=LOCAL_STEP, server_step_size=step, noise_levels=0)


def judge_plain(cells: Sequence[CellAnswer]) -> tuple[Finding, ...]:
    """Judge the claim that normalising updates costs no accuracy, once for each split of the records.

    A normalised update is divided by its norm. A split is the way in which records are divided among clients.

    Args:
        cells: results of the experiment without noise.

    Returns:
        One finding for each split. The claim also holds where the confidence bands overlap.
    """
    words_of_splits = {"iid": "at random", "by-label": "by digit"}
    findings = []
    for split in SPLITS:
        normalised = _accuracies(cells, NORMALISED, split)
        plain = _accuracies(cells, PLAIN, split)
        # A pair has the accuracies of both algorithms for one number of local steps.
        finding = judge_pairs(
            f"Normalising updates costs no accuracy, on records dealt {words_of_splits[split]}.",
            list(zip(normalised, plain, strict=True)),
            names=(NORMALISED, PLAIN),
            quantity=QUANTITY,
            lower_is_better=False,
            no_worse=True,
        )
        findings.append(finding)
    return tuple(findings)


def _accuracies(cells: Sequence[CellAnswer], arm: str, split: str) -> list[Measured]:
    """Return the measured accuracies of an algorithm on one split of the records.

    Args:
        cells: results of the experiment. Those without a measured accuracy are left out.
        arm: name of the algorithm.
        split: name of the split, that is, of the way in which records are divided among clients.

    Returns:
        Mean accuracies with their confidence bands, in the order of the results.
    """
    read_accuracy = private_score(ACCURACY)
    selected = [cell for cell in cells if cell.place["arm"] == arm and cell.place["split"] == split]
    accuracies = [read_accuracy(cell) for cell in selected]
    return [accuracy for accuracy in accuracies if accuracy is not None]


PLAIN_STANDS_FOR = (
    "Stand-in for Table 6, experiment (iv): updates scaled to length one compared with FedAvg's own, without noise. It "
    "tests the claim that normalised updates cost no accuracy. In the paper the accuracies differ by at most 0.3 "
    "points." + DIGITS + " Dealt"
    " at random (`iid`) and sorted by digit (`by-label`), half of the clients in a round."
)

PRESET = Preset(
    name="das-normalised",
    title="Digits by NormFedAvg and FedAvg, without noise",
    summary="accuracy of normalised updates and of FedAvg over local steps, on similar and on different clients",
    source="Das et al., Table 6",
    stands_in_for=PLAIN_STANDS_FOR,
    across=Axis(name="local_steps", title="local steps in a round", scale="log"),
    lines=Axis(name="arm", title="algorithm"),
    panels=Axis(name="split", title="records dealt"),
    tuned=TUNED,
    measure=ACCURACY,
    repetitions=6,
    cells=plain_cells,
    judge=judge_plain,
)
