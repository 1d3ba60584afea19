"""Mini-batch SGD at several values of ε, compared with the explicit bound; it is small enough for a first look."""

from __future__ import annotations

from epsilond.simulators.algorithms.mb_sgd import MbSgdRun
from epsilond.simulators.problems.kinds import MeanEstimationProblem
from epsilond.witness.experiment import Axis, Cell, Preset, format_scientific
from epsilond.witness.risks.request import RiskSimulation

EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
DELTA = 1e-5
PROBLEM = MeanEstimationProblem(clients=10, samples_per_client=200, dimension=5)
RUN = MbSgdRun(rounds=40, batch_size=20)


def cells(repetitions: int, seed: int) -> tuple[Cell, ...]:
    """Return the simulations that compare the excess risk of noisy mini-batch SGD with its bound, one for each ε.

    Each estimates a mean by mini-batch SGD, with noise that is calibrated to the ε.

    Args:
        repetitions: independent runs of each simulation, at least 2.
        seed: seed of all randomness.

    Returns:
        One simulation for each ε, with its position on the axis of ε.
    """
    table = []
    for epsilon in EPSILONS:
        simulation = RiskSimulation(
            run=RUN, problem=PROBLEM, epsilon=epsilon, delta=DELTA, repetitions=repetitions, seed=seed, points=1
        )
        table.append(Cell(place={"epsilon": epsilon}, simulation=simulation))
    return tuple(table)


PRESET = Preset(
    name="mb-sgd-bound",
    title="Noisy mini-batch SGD compared with its bound",
    summary="excess risk of mean estimation at five values of ε, with the explicit bound and the non-private run",
    source="Lowy and Razaviyayn 2023, Algorithm 1",
    across=Axis(
        name="epsilon", title=f"ε at δ = {format_scientific(DELTA)}, of each record against the server", scale="log"
    ),
    repetitions=100,
    cells=cells,
)
