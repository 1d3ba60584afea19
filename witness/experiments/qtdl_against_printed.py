"""Quantised updates with integer noise: certified noise compared with printed noise at the same true ε."""

from __future__ import annotations

from epsilond.simulators.algorithms.norm_fedavg import NormFedavgRun
from epsilond.simulators.problems.kinds import LeastSquaresProblem
from epsilond.witness.experiment import Axis, Cell, Preset, format_scientific
from epsilond.witness.risks.request import RiskSimulation

EPSILONS = (4.0, 8.0, 16.0, 32.0)
DELTA = 1e-5
PROBLEM = LeastSquaresProblem(clients=50, samples_per_client=10, dimension=10, own_share=0.2, objective="empirical")
RUN = NormFedavgRun(participants=50, rounds=30, local_steps=2, quantization_levels=64)


def cells(repetitions: int, seed: int) -> tuple[Cell, ...]:
    """Return the simulations that compare certified with printed noise for quantised updates, one for each ε.

    Each simulation runs the algorithm of Das et al. with noise that is certified for ε. It also runs the algorithm
    without noise, and with noise that has the decay rate of the paper and enough levels for ε.

    Args:
        repetitions: number of independent runs of each simulation, at least 2.
        seed: seed of all randomness.
    """
    simulations = []
    for epsilon in EPSILONS:
        simulation = RiskSimulation(
            run=RUN,
            problem=PROBLEM,
            epsilon=epsilon,
            delta=DELTA,
            repetitions=repetitions,
            seed=seed,
            points=1,
            alternatives=("non-private", "as-printed-raised"),  # without noise, and with the printed decay rate
        )
        simulations.append(Cell(place={"epsilon": epsilon}, simulation=simulation))
    return tuple(simulations)


PRESET = Preset(
    name="qtdl-against-printed",
    title="Certified integer noise against the printed one, at the same true ε",
    summary="DP-NormFedAvg with the least certified noise, and with the printed decay at levels that make it true",
    source="Das et al., Theorems 1 and 2",
    across=Axis(name="epsilon", title=f"ε of each client's data at δ = {format_scientific(DELTA)}", scale="log"),
    repetitions=50,
    cells=cells,
)
