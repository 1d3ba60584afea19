"""The heterogeneity v*² of silos at the minimiser of the logistic loss (Lowy and Razaviyayn, Appendices E.1 and H.1).

v*² is the mean over silos i of |∇F̂_i(w*)|². Here F̂_i is the mean loss of the silo's records, and w* minimises the
mean of these losses over the silos. Appendix H.1 finds w* by Newton's method, and states v*² of about 0.17 for silos of
two digits each.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.special import expit

from epsilond.simulators.problems.problem import Floats
from epsilond.simulators.silos.silos import SiloRecords

MOST_STEPS: Final = 100
"""Largest number of Newton steps; eight suffice for the images of digits."""
SMALLEST_GRADIENT: Final = 1e-12
"""Norm of the mean gradient at which the search ends; it is far below v* of silos with records of their own."""


def heterogeneity_at_minimiser(silos: SiloRecords) -> float:
    """Compute the mean of the silos' squared gradient norms at the minimiser of their mean logistic loss.

    The result measures how much the silos' data differs. If all silos have the same data, it is 0. Newton's method,
    from the model 0, finds the minimiser.

    Args:
        silos: training records with targets ±1. If a hyperplane through 0 separates the targets, there is no minimiser.

    Returns:
        The mean square v*², in the squared unit of the loss over the squared unit of the model.

    Raises:
        ArithmeticError: the mean gradient is still above `SMALLEST_GRADIENT` after `MOST_STEPS` Newton steps.
    """
    model = np.zeros(silos.features[0].shape[1])
    for _ in range(MOST_STEPS):
        gradients = silo_gradients(silos, model)
        mean = gradients.mean(axis=0)
        if np.linalg.norm(mean) <= SMALLEST_GRADIENT:
            return float(np.mean(np.sum(gradients * gradients, axis=1)))
        model = model - np.linalg.solve(_mean_hessian(silos, model), mean)
    message = "Newton's method does not find the minimiser of the logistic loss"
    raise ArithmeticError(message)


def silo_gradients(silos: SiloRecords, model: Floats) -> Floats:
    """Return the gradient of each silo's mean logistic loss ln(1 + e^(−y⟨w, x⟩)) at a model w.

    Args:
        silos: training records with features x and targets y = ±1.
        model: model w, (d), for d coordinates.

    Returns:
        Gradients of the N silos, (N, d).
    """
    gradients = []
    for features, targets in zip(silos.features, silos.targets, strict=True):
        slopes = -targets * expit(-targets * (features @ model))  # derivatives of the losses by the predictions
        gradients.append(features.T @ slopes / len(targets))
    return np.stack(gradients)


def _mean_hessian(silos: SiloRecords, model: Floats) -> Floats:
    """Return the Hessian of the silos' mean logistic loss, each silo with equal weight.

    With p = 1/(1 + e^(−⟨w, x⟩)), the Hessian for one record is p(1 − p)xxᵀ for both targets.

    Args:
        silos: records of all silos.
        model: the model w, (d), for d coordinates.

    Returns:
        The Hessian, (d, d).
    """
    hessians = []
    for features in silos.features:
        predictions = features @ model
        weights = expit(predictions) * expit(-predictions)
        hessians.append((features.T * weights) @ features / len(features))
    return np.asarray(np.mean(hessians, axis=0))
