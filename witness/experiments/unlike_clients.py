"""The mini-batch algorithms on clients that differ, and on a random number of them, beside their explicit bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from epsilond.witness.risks.measurement import RiskSimulation
from epsilond.witness.tally import Tally

EPSILONS = (1.0, 2.0, 4.0, 8.0)
DELTA = 1e-5
CLIENTS, SAMPLES = 20, 200
LAW = (ReportingCount(participants=5, probability=0.5), ReportingCount(participants=15, probability=0.5))
"""Ten of them in the mean."""
ALIKE, UNLIKE, RANDOM = "alike", "unlike", "unlike, random number"
RUNS: Mapping[str, tuple[Any, Fields]] = {
    "mb-sgd": (MbSgdRun, {"rounds": 40, "batch_size": 20}),
    "accelerated-mb-sgd": (AcceleratedMbSgdRun, {"rounds": 40, "batch_size": 20}),
    "one-pass-accelerated-mb-sgd": (OnePassAcceleratedMbSgdRun, {"rounds": 10, "batch_size": 20}),
}


def groups(epsilon: float) -> tuple[RunGroup, ...]:
    """Half of the clients, and others with half the records, twice the weight and half the ε."""
    half = CLIENTS // 2
    small = RunGroup(clients=half, samples_per_client=SAMPLES // 2, weight=2.0, epsilon=epsilon / 2.0)
    return (RunGroup(clients=half, samples_per_client=SAMPLES), small)


def cells(repetitions: int, seed: int) -> tuple[Cell, ...]:
    """One for each kind of clients, algorithm and ε."""
    return tuple(
        _cell(clients, algorithm, epsilon, repetitions, seed)
        for clients in (ALIKE, UNLIKE, RANDOM)
        for algorithm in RUNS
        for epsilon in EPSILONS
    )


def _cell(clients: str, algorithm: str, epsilon: float, repetitions: int, seed: int) -> Cell:
    kind, shape = RUNS[algorithm]
    who: dict[str, object] = {"participation": LAW} if clients == RANDOM else {"participants": CLIENTS // 2}
    if clients != ALIKE:
        who["client_groups"] = groups(epsilon)
    problem = LogisticProblem(
        clients=CLIENTS,
        samples_per_client=SAMPLES,
        dimension=5,
        own_share=0.5,
        # What each algorithm's bound is of.
        objective="empirical" if algorithm == "accelerated-mb-sgd" else "population",
    )
    return Cell(
        place={"clients": clients, "algorithm": algorithm, "epsilon": epsilon},
        simulation=RiskSimulation(
            run=kind(**shape, **who),
            problem=problem,
            epsilon=epsilon,
            delta=DELTA,
            repetitions=repetitions,
            seed=seed,
            points=1,
        ),
    )


def judge(answers: Sequence[CellAnswer]) -> tuple[Finding, ...]:
    """Whether bounds are kept, of each kind of clients."""
    return tuple(_kept(clients, [cell for cell in answers if cell.place["clients"] == clients]) for clients in KINDS)


KINDS: Mapping[str, str] = {
    ALIKE: "Bounds for clients that are alike are kept.",
    UNLIKE: "Bounds for clients that differ in records, weight and ε are kept.",
    RANDOM: "They are kept where the number of clients that report is random.",
}


def _kept(clients: str, answers: Sequence[CellAnswer]) -> Finding:
    told = [bound for cell in answers for bound in cell.bounds or () if bound.compared]
    broken = sum(bound.holds == Verdict.NO for bound in told)
    kept = sum(bound.holds == Verdict.YES for bound in told)
    ratios = [bound.ratio for bound in told if bound.ratio is not None]
    words = f"{kept} of {len(told)} bounds are above the whole band of what was measured, and {broken} below it."
    if ratios:
        words += f" They are {min(ratios):.3g} to {max(ratios):.3g} times the mean."
    tally = Tally(
        holds=kept,
        fails=broken,
        of=len(told),
        universal=True,
        noun=("bound", "bounds"),
        open_where="the band contains it",
    )
    return tally.finding(KINDS[clients], words)


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
