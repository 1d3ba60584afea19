"""The noise of an Opacus run for a target, certified."""

from __future__ import annotations

import math
from typing import Any

from epsilond.accountants.errors import InvalidInput
from epsilond.questions.calibrate import calibrate


def get_noise_multiplier(
    *,
    target_epsilon: float,
    target_delta: float,
    sample_rate: float,
    epochs: float | None = None,
    steps: int | None = None,
    **ignored: Any,
) -> float:
    """The least noise multiplier that keeps a target: `opacus.accountants.utils.get_noise_multiplier`, certified.

    Opacus' own stops up to `epsilon_tolerance` = 0.01 short of the target in ε; this one meets it within what the
    calibrator `gaussian` certifies, and its upper end is at most `target_epsilon`. `epochs` are as many steps as begin
    in them, `epochs / sample_rate` rounded up. Opacus' other arguments, `accountant` among them, are ignored.

    Example:
        >>> from epsilond.integrations.opacus import get_noise_multiplier
        >>> f"{get_noise_multiplier(target_epsilon=1.0, target_delta=1e-5, sample_rate=0.01, steps=1000):.5f}"
        '1.41462'

    Raises:
        InvalidInput: neither or both of epochs and steps are given, or a number is out of range.
        Infeasible: no noise multiplier keeps the target.
    """
    del ignored
    if (epochs is None) == (steps is None):
        raise InvalidInput.at("/steps", "give either steps or epochs")
    rounds = steps if steps is not None else _steps(epochs, sample_rate)
    sampling = {"sampling": "full"} if sample_rate == 1.0 else {"sampling": "poisson", "rate": sample_rate}
    fields: dict[str, Any] = {"epsilon": target_epsilon, "delta": target_delta, "rounds": rounds, **sampling}
    answer = calibrate("gaussian", solve_for="noise_multiplier", relation="add-or-remove-one", **fields)
    return float(answer.parameters.noise_multiplier)


def _steps(epochs: float | None, sample_rate: float) -> int:
    """The steps of these epochs, up; a product that is whole but for rounding is that."""
    assert epochs is not None
    if not (0.0 < sample_rate <= 1.0 and epochs > 0.0):
        raise InvalidInput.at("/epochs", "are no steps", allowed="epochs > 0 and 0 < sample_rate ≤ 1")
    exact = epochs / sample_rate
    return round(exact) if math.isclose(exact, round(exact), rel_tol=1e-9) else math.ceil(exact)
