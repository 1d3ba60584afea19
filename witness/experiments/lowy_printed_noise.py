"""The noise that Appendix H of Lowy and Razaviyayn prescribes, with its Lipschitz constant for each loss."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from epsilond.accountants.theorems.papers.lowy_razaviyayn.experiments import APPENDIX_H, ExperimentInputs
from epsilond.simulators.problems.data_sets import DataSetProblem


@lru_cache(maxsize=64)
def twice_the_largest_norm(problem: DataSetProblem) -> float:
    """Return the constant L = 2 max‖x‖ that Appendix H.1 of Lowy and Razaviyayn puts into its noise.

    The maximum is over the feature vectors x of the training records. L is twice the Lipschitz constant of the logistic
    loss. Recent results are kept, because an experiment uses the same problem repeatedly.

    Args:
        problem: the data set problem.

    Returns:
        L, in the unit of the features.
    """
    features = problem.build().population.features
    norms = np.linalg.norm(features, axis=-1)
    return 2.0 * float(np.max(norms))


@lru_cache(maxsize=64)
def loss_lipschitz(problem: DataSetProblem) -> float:
    """Return the Lipschitz constant of a problem's loss.

    It replaces the clipping threshold that Appendix H.2 of Lowy and Razaviyayn tunes.

    Args:
        problem: the data set problem.

    Returns:
        The constant: largest change of the loss per unit of distance between models.
    """
    return problem.build().constants.lipschitz


def printed_parameters(lipschitz: float, samples: int, rounds: int, epsilon: float, delta: float) -> tuple[int, float]:
    """Return the batch size K and the noise σ that Appendix H of Lowy and Razaviyayn prescribes for their experiments.

    The noise is Gaussian, and is added by each client to the mean gradient of its batch in every round.

    Args:
        lipschitz: Lipschitz constant L in the formula of the noise.
        samples: number n of records of each client.
        rounds: number R of rounds.
        epsilon: claimed ε.
        delta: claimed δ.

    Returns:
        K, and the standard deviation σ per coordinate.
    """
    inputs = ExperimentInputs(
        epsilon=epsilon, delta=delta, samples_per_client=samples, rounds=rounds, lipschitz=lipschitz
    )
    prescription = APPENDIX_H.evaluate(inputs).outputs
    return int(prescription["batch_size"]), float(prescription["noise_std"])
