"""Cancelled noise compared with fresh noise at the same privacy, over ρ and the number of participants in a round.

Cancelled noise is that of DP-μ²-FL (Reshef and Levy): each client subtracts the noise of its last report when it adds
new noise. ρ is the paper's name of the μ in μ-Gaussian differential privacy.
"""

from __future__ import annotations

import math
from itertools import product

from epsilond.accountants.theorems.papers.reshef_levy.conversions import exact_epsilon
from epsilond.simulators.algorithms.mu2_sgd.run import Mu2SgdRun
from epsilond.simulators.problems.kinds import LogisticProblem
from epsilond.witness.experiment import Axis, Cell, Preset
from epsilond.witness.risks.request import RiskSimulation

MUS = (0.5, 1.0, 2.0, 4.0, 8.0)
PARTICIPANTS = (4, 20)
DELTA = 1e-5
ROUNDS = 1000
PROBLEM = LogisticProblem(clients=20, samples_per_client=100, dimension=10, diameter=2.0, own_share=0.3)


def cells(repetitions: int, seed: int) -> tuple[Cell, ...]:
    """Return the simulations that compare DP-μ²-FL with fresh noise and noisy SGD at the same privacy.

    There is one for each number of participants and each μ of μ-Gaussian differential privacy, which the paper calls ρ.
    DP-μ²-FL is the algorithm of Reshef and Levy, in which a client's next report takes back its last noise. The run's
    target is the smallest ε that μ implies at `DELTA`. Each simulation also runs the algorithms that it is compared
    with, noisy SGD among them.

    Args:
        repetitions: independent runs of each simulation.
        seed: seed of all randomness.

    Returns:
        One simulation for each combination of the values, with its position on the grid.
    """
    log_delta = math.log(DELTA)
    grid = []
    for participants, mu in product(PARTICIPANTS, MUS):
        simulation = RiskSimulation(
            run=Mu2SgdRun(rounds=ROUNDS, participants=participants),
            problem=PROBLEM,
            epsilon=exact_epsilon(mu=mu, log_delta=log_delta),
            delta=DELTA,
            repetitions=repetitions,
            seed=seed,
            points=1,
        )
        grid.append(Cell(place={"gaussian_dp_mu": mu, "participants": participants}, simulation=simulation))
    return tuple(grid)


PRESET = Preset(
    name="mu2-against-noisy-sgd",
    title="Noise that is taken back, fresh noise, and noisy SGD, at the same privacy",
    summary="logistic regression by DP-μ²-FL and by the algorithms compared with it, over ρ and the clients of a round",
    source="Reshef and Levy, Section 5",
    across=Axis(name="gaussian_dp_mu", title="ρ of Gaussian differential privacy, of each record", scale="log"),
    lines=Axis(name="participants", title="clients in a round"),
    repetitions=50,
    cells=cells,
)
