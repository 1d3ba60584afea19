"""Risk bounds of qtdl: the squared error of the mean of rounded and noisy messages."""

from __future__ import annotations

from typing import Annotated

from epsilond.accountants.quantities import request
from epsilond.accountants.theorems.risk.mean_error import MEAN_OF_MESSAGES
from epsilond.calibrators.answer import Baseline
from epsilond.calibrators.envelope import TheoremAtInputs
from epsilond.calibrators.qtdl.problem import QtdlProblem
from epsilond.calibrators.risk.baseline import Start
from epsilond.calibrators.risk.given_noise import (
    GivenNoiseRiskPart,
    NoisyRun,
    explicit_upper,
    noise_quantity,
    run_at_certified_noise,
)
from epsilond.calibrators.risk.part import Bounds


@request
class QtdlRiskProblem(QtdlProblem):
    """Messages of `participants` clients. `noise_std` is that of a coordinate, in units of the update."""

    noise_std: Annotated[float | None, noise_quantity("on one message, in units of the update")] = None


def given_run(problem: QtdlRiskProblem) -> NoisyRun | None:
    """Return the noise and the rounds of the request; None if the request gives no noise.

    Args:
        problem: the request. Its `noise_std` is that of a coordinate, in units of the update.
    """
    if problem.noise_std is None:
        return None
    return NoisyRun(noise_std=problem.noise_std, rounds=problem.rounds)


def bounds(problem: QtdlRiskProblem, run: NoisyRun) -> Bounds:
    """Bound the mean squared error of the mean of all messages of one round.

    Messages have no loss function. Their mean estimates the mean of the clients' unit updates, so its squared error is
    the risk. The baseline is the estimate 0, which has a squared error of at most 1.

    Args:
        problem: the request, with the grid and the dimension of the updates.
        run: the standard deviation of a message's noise, in units of the update.

    Returns:
        The bound, as a sum of a term of rounding and one of noise, in squared units of the update.
    """
    outputs = TheoremAtInputs.of(MEAN_OF_MESSAGES, problem, noise_std=run.noise_std).outputs
    terms = {"rounding": outputs["rounding_term"], "noise": outputs["noise_term"]}
    baseline = Baseline(
        value=outputs["squared_error_of_zero"], theorem=MEAN_OF_MESSAGES.id, formula="‖ū‖² of unit updates"
    )
    return Bounds(
        upper=(explicit_upper(MEAN_OF_MESSAGES, terms, value=outputs["squared_error"]),),
        start=Start(objective="empirical", baseline=baseline),
        declared=MEAN_OF_MESSAGES.conditions,
    )


RISK = GivenNoiseRiskPart(
    title="Squared error of the mean of quantised messages with noise",
    summary=(
        "An upper bound with explicit constants on the mean squared error of one round's mean message. Messages have "
        "no loss function, so that this is the risk of estimating the clients' mean update."
    ),
    problem=QtdlRiskProblem,
    theorems=(MEAN_OF_MESSAGES.id,),
    example_fields={"noise_std": 0.02, "participants": 100},
    measure="squared-error",
    given_run=given_run,
    certified_run=run_at_certified_noise,
    bounds=bounds,
)
