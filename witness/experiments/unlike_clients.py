"""The mini-batch algorithms on clients that differ, and on a random number of them, compared with explicit bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from epsilond.accountants.json_types import Fields
from epsilond.accountants.verdict import Verdict
from epsilond.simulators.algorithms.accelerated_mb_sgd import AcceleratedMbSgdRun
from epsilond.simulators.algorithms.mb_sgd import MbSgdRun
from epsilond.simulators.algorithms.one_pass_accelerated_mb_sgd import OnePassAcceleratedMbSgdRun
from epsilond.simulators.algorithms.random_participation import ReportingCount
from epsilond.simulators.federations.groups import RunGroup
from epsilond.simulators.problems.kinds import LogisticProblem
from epsilond.witness.cells import CellAnswer
from epsilond.witness.experiment import Axis, Cell, Finding, Preset, format_scientific
from epsilond.witness.risks.answer import BoundAnswer
from epsilond.witness.risks.request import RiskSimulation
from epsilond.witness.tally import Tally

EPSILONS = (1.0, 2.0, 4.0, 8.0)
DELTA = 1e-5
CLIENTS, SAMPLES = 20, 200
LAW = (ReportingCount(participants=5, probability=0.5), ReportingCount(participants=15, probability=0.5))
"""Distribution of the number of participants, with mean 10."""
EQUAL, DIFFERENT, RANDOM = "alike", "unlike", "unlike, random number"
RUNS: Mapping[str, tuple[Any, Fields]] = {
    "mb-sgd": (MbSgdRun, {"rounds": 40, "batch_size": 20}),
    "accelerated-mb-sgd": (AcceleratedMbSgdRun, {"rounds": 40, "batch_size": 20}),
    "one-pass-accelerated-mb-sgd": (OnePassAcceleratedMbSgdRun, {"rounds": 10, "batch_size": 20}),
}


def build_groups(epsilon: float) -> tuple[RunGroup, ...]:
    """Return two equally large groups of clients. The second has half the records, twice the weight and half the ε.

    Args:
        epsilon: ε of the first group. Its clients have `SAMPLES` records each.
    """
    half = CLIENTS // 2
    first_group = RunGroup(clients=half, samples_per_client=SAMPLES)
    second_group = RunGroup(clients=half, samples_per_client=SAMPLES // 2, weight=2.0, epsilon=epsilon / 2.0)
    return (first_group, second_group)


def cells(repetitions: int, seed: int) -> tuple[Cell, ...]:
    """Return the simulations of mini-batch algorithms: one for each kind of clients, algorithm and ε.

    Clients are all equal, or of two different groups, or of two groups with a random number of participants in a round.

    Args:
        repetitions: number of independent runs of each simulation, at least 2.
        seed: seed of all randomness.
    """
    grid = product((EQUAL, DIFFERENT, RANDOM), RUNS, EPSILONS)
    return tuple(_cell(clients, algorithm, epsilon, repetitions, seed) for clients, algorithm, epsilon in grid)


def _cell(clients: str, algorithm: str, epsilon: float, repetitions: int, seed: int) -> Cell:
    """Return the simulation of one kind of clients and one algorithm at an ε.

    The noise is calibrated to ε, and the measured excess risk is compared with the bound of the algorithm's theorem.

    Args:
        clients: `EQUAL`; `DIFFERENT` for two groups; or `RANDOM` for two groups and a random number of participants.
        algorithm: a name in `RUNS`.
        epsilon: ε of each record. The second group has half of it.
        repetitions: number of independent runs, at least 2.
        seed: seed of all randomness.
    """
    run_type, run_fields = RUNS[algorithm]
    participants: dict[str, object] = {"participants": CLIENTS // 2}
    if clients == RANDOM:
        participants = {"participation": LAW}
    if clients != EQUAL:
        participants["client_groups"] = build_groups(epsilon)

    # The objective is that of the algorithm's bound.
    problem = LogisticProblem(
        clients=CLIENTS,
        samples_per_client=SAMPLES,
        dimension=5,
        own_share=0.5,
        objective="empirical" if algorithm == "accelerated-mb-sgd" else "population",
    )
    simulation = RiskSimulation(
        run=run_type(**run_fields, **participants),
        problem=problem,
        epsilon=epsilon,
        delta=DELTA,
        repetitions=repetitions,
        seed=seed,
        points=1,
    )
    return Cell(place={"clients": clients, "algorithm": algorithm, "epsilon": epsilon}, simulation=simulation)


def judge(answers: Sequence[CellAnswer]) -> tuple[Finding, ...]:
    """Judge for each kind of clients whether the measured excess risk satisfies the theorems' bounds.

    Args:
        answers: results of all simulations of the experiment.

    Returns:
        One finding for each kind of clients: a verdict, such as confirmed, and the measured numbers in words.
    """
    return tuple(_judge_bounds(clients, answers) for clients in CLAIMS)


CLAIMS: Mapping[str, str] = {
    EQUAL: "Bounds for equal clients hold.",
    DIFFERENT: "Bounds for clients that differ in records, weight and ε are kept.",
    RANDOM: "They are kept where the number of clients that report is random.",
}
"""The claim about each kind of clients."""


def _judge_bounds(clients: str, answers: Sequence[CellAnswer]) -> Finding:
    """Judge whether the measured risk satisfies the theorems' bounds for one kind of clients.

    A bound is satisfied if it is above the whole confidence band of the risk, and violated if it is below the band.

    Args:
        clients: kind of clients, a key of `CLAIMS`.
        answers: all results of the experiment.

    Returns:
        The claim with its verdict. One violated bound refutes the claim.
    """
    bounds: list[BoundAnswer] = []
    for cell in answers:
        if cell.place["clients"] == clients:
            bounds += [bound for bound in cell.bounds or () if bound.compared]
    satisfied_count = sum(bound.holds == Verdict.YES for bound in bounds)
    violated_count = sum(bound.holds == Verdict.NO for bound in bounds)
    tally = Tally(
        holds=satisfied_count,
        fails=violated_count,
        of=len(bounds),
        universal=True,
        noun=("bound", "bounds"),
        open_where="the band contains it",
    )

    words = (
        f"{satisfied_count} of {len(bounds)} bounds are above the whole band of the measured risk, "
        f"and {violated_count} below it."
    )
    ratios = [bound.ratio for bound in bounds if bound.ratio is not None]
    if ratios:
        words += f" They are {min(ratios):.3g} to {max(ratios):.3g} times the mean."
    return tally.finding(CLAIMS[clients], words)


PRESET = Preset(
    name="unlike-clients",
    title="Mini-batch algorithms on clients that differ",
    summary="excess risk of three algorithms on clients of unlike records, weight and ε, in random number",
    source="Lowy and Razaviyayn 2023, Theorems 2.1, 2.3 and E.1",
    across=Axis(
        name="epsilon", title=f"ε at δ = {format_scientific(DELTA)}, of each record against the server", scale="log"
    ),
    lines=Axis(name="algorithm", title="algorithm"),
    panels=Axis(name="clients", title="clients"),
    repetitions=50,
    cells=cells,
    judge=judge,
)
