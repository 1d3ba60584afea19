"""Das et al.'s task on digits: softmax regression at client level, with the noises and updates that are compared.

The task is softmax regression on ten digits, with one client's whole data protected. A client changes the mean of r
messages by Δ∞ = 2s/r at most, so the server's noise is added once to their sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from epsilond.accountants.json_types import Fields
from epsilond.simulators.algorithms.grid_fedavg import GridFedavgRun
from epsilond.simulators.algorithms.norm_fedavg import NormFedavgRun
from epsilond.simulators.problems.data_sets import DataSetProblem, Split
from epsilond.witness.experiment import Axis, Cell, Claimed, Place
from epsilond.witness.joins.grid_fedavg import binomial_trials
from epsilond.witness.risks.request import RiskSimulation

EPSILONS = (8.0, 16.0, 32.0, 100.0, 300.0)
DELTA = 1e-5
CLIENTS, ROUNDS, LOCAL_STEPS, LEVELS = 50, 16, 2, 16
CLIPPING_NORM = 0.4
"""Approximate norm of a client's update in the first rounds; later updates are shorter."""
LOCAL_STEP = 1.0
STEPS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
"""Largest distances that the server moves in a round, if all unit messages have the same direction."""
TUNED = Axis(name="step", title="step size", scale="log")
ACCURACY, QUANTITY = "test_accuracy", "accuracy"
TARGETS = ("value of ε", "values of ε")
QTDL, BINOMIAL, CLIPPED = "QTDL, normalised", "Binomial, normalised", "QTDL, clipped"
SERVER, SERVER_CLIPPED = "server's noise, normalised", "server's noise, clipped"
ARMS = (QTDL, BINOMIAL, CLIPPED, SERVER, SERVER_CLIPPED)
SHAPE: Fields = {
    "participants": CLIENTS,
    "rounds": ROUNDS,
    "local_steps": LOCAL_STEPS,
    "local_step_size": LOCAL_STEP,
    "quantization_levels": LEVELS,
}
DIMENSION = 640
DIGITS = (
    " The paper trains networks on CIFAR-10 and FMNIST, on batches with momentum. The images need files of their own, "
    "and the theorems need convex losses and full local gradients. Used instead is a softmax model of 640 weights on "
    "1797 of scikit-learn's digits, split among 50 clients, with a fifth of the digits held out."
)


def digits_problem(split: Split = "iid") -> DataSetProblem:
    """Return softmax regression on the digits, divided among 50 clients, with a fifth of the records held out.

    Args:
        split: how records are assigned to clients: at random (`iid`), or sorted by digit (`by-label`).

    Returns:
        The learning problem, with models in a ball of diameter 100.
    """
    return DataSetProblem(data_set="digits", loss="softmax", clients=CLIENTS, split=split, held_out=0.2, diameter=100.0)


def noisy_cells(repetitions: int, seed: int, *, epsilons: Sequence[float]) -> tuple[Cell, ...]:
    """Return the simulations of the experiment on noise: one for each method, ε and step size of the server.

    A method, or arm, is a combination of a kind of noise, a kind of update, and the party that adds the noise.

    Args:
        repetitions: independent runs of each simulation.
        seed: seed of all randomness.
        epsilons: values of ε.

    Returns:
        The simulations, each with its position on the grid.
    """
    grid = product(ARMS, epsilons, STEPS)
    return tuple(_noisy_cell(arm, epsilon, step, repetitions, seed) for arm, epsilon, step in grid)


def _noisy_cell(arm: str, epsilon: float, step: float, repetitions: int, seed: int) -> Cell:
    """Return the simulation of one method, at one ε and one step size of the server.

    Binomial noise is prescribed by its own theorem for the target ε, and its certified ε is computed afterwards. All
    other noise is calibrated to ε.

    Args:
        arm: name of the method, that is, of its noise and updates; one of `ARMS`.
        epsilon: ε of each client's data, for all rounds.
        step: largest distance that the server moves in a round.
        repetitions: independent runs.
        seed: seed of all randomness.

    Returns:
        The simulation with its position on the grid, and with the claimed ε for Binomial noise.
    """
    run = _noisy_run(arm, epsilon, step)
    place: Place = {"arm": arm, "epsilon": epsilon, "step": step}
    shared: Fields = {"problem": digits_problem(), "repetitions": repetitions, "seed": seed, "points": 1}
    if arm == BINOMIAL:
        simulation = RiskSimulation(run=run, alternatives=(), **shared)
        return Cell(place=place, simulation=simulation, claimed=Claimed(epsilon=epsilon, delta=DELTA))

    # Calibrated noise of the paper's kind is compared with no noise, and with the amount that the paper prints.
    alternatives = ("non-private", "as-printed") if arm == QTDL else ()
    simulation = RiskSimulation(run=run, epsilon=epsilon, delta=DELTA, alternatives=alternatives, **shared)
    return Cell(place=place, simulation=simulation)


def _noisy_run(arm: str, epsilon: float, step: float) -> Any:
    """Return the parameters of a training by one method of the experiment.

    A method, or arm, is a combination of a kind of noise, a kind of update, and the party that adds the noise. Only
    the amount of Binomial noise is set here; other noise is calibrated to ε later.

    Args:
        arm: name of the method, one of `ARMS`.
        epsilon: ε of a client's data over all rounds; used for Binomial noise.
        step: distance that the server moves in a round if all messages have the same direction and full length.

    Returns:
        The algorithm with its parameters.
    """
    if arm == QTDL:
        return NormFedavgRun(**SHAPE, server_step_size=step)
    if arm == BINOMIAL:
        trials = binomial_trials(DIMENSION, LEVELS, ROUNDS, epsilon, DELTA)
        return GridFedavgRun(**SHAPE, server_step_size=step, trials=trials)
    if arm == SERVER:
        return GridFedavgRun(**SHAPE, server_step_size=step, scaling="normalised", noise_at="server")

    # The other two arms clip updates. Clipped messages have at most the clipping norm instead of the norm 1, and the
    # step is scaled to match.
    return GridFedavgRun(
        **SHAPE,
        server_step_size=step / CLIPPING_NORM,
        scaling="clipped",
        clipping_norm=CLIPPING_NORM,
        noise_at="clients" if arm == CLIPPED else "server",
    )
