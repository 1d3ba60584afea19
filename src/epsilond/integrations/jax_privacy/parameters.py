"""The check that the parameters change by noisy sums only, from one call of the gradient function to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, TypedDict

import numpy as np
from numpy.typing import NDArray

from epsilond.runs.evidence import Evidence
from epsilond.runs.premises import PARAMETERS

_RESIDUAL: Final = 1e-3
"""Largest difference of a coordinate from the result of the update rule, relative to the size of its terms."""
_RMS_SHARE: Final = 1e-2
"""Share of an update's root mean square that is added to the size of each coordinate, to bound rounding errors."""
_LARGEST_ROUNDING: Final = 0.1
"""Largest rounding error of the parameters, relative to their change, at which the change is compared."""
_COORDINATES_EACH: Final = 4
"""Least number of coordinates per update, for the step size of each update to be computed from them."""
_CLEAN_RESIDUAL: Final = 0.01
"""Largest share of a change that differs from a multiple of the sum without noise, if the change is such a multiple."""
_NOISE_SHARE: Final = 0.2
"""Least norm of the noise, relative to the norm of the sum, at which the sum and the noisy sum are distinguished."""
_FEWEST_COORDINATES: Final = 16
"""Least number of coordinates to look for noise-free sums; a noisy sum passes as one with probability below 1e-19."""
_ROUNDING: Final = 1e-6
"""Largest relative change of a parameter that is attributed to rounding to single precision."""
_REMEDY: Final = "Change the parameters by the noisy sums only."
_SHAPES: Final = "gradients have other shapes than the parameters"
_COARSE: Final = "the parameters have too few digits, or too few coordinates, to compare their change"
_OTHER_RULE: Final = (
    "the change of the parameters is not a multiple of the noisy sum; pass the optimizer to observe(…) as optimizer="
)
_OTHER_UPDATE: Final = "the change of the parameters is neither the optimizer's update nor a multiple of the noisy sum"

Vector = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class _Update:
    """A noisy sum of gradients at the observed coordinates, before the change of the parameters by it is known.

    Attributes:
        sums: sum of clipped gradients.
        noise: noise that was added to the sum.
        step: change of the parameters that an observed optimizer computed from the noisy sum; None without one.
    """

    sums: Vector
    noise: Vector
    step: Vector | None = None

    @property
    def noisy(self) -> Vector:
        """The sum of clipped gradients with the noise."""
        return self.sums + self.noise


class ChangesState(TypedDict):
    """State of a `ParameterChanges` as JSON values.

    Attributes:
        latest: the parameters that were seen last; None if there were none.
        updates: the sum, the noise and the step of each later update.
    """

    latest: Sequence[float] | None
    updates: Sequence[Sequence[Sequence[float] | None]]


class ParameterChanges:
    """A check that the parameters change by noisy sums only, from one call of the gradient function to the next.

    A change is accepted if it is a linear combination of the noisy sums, or the sum of the updates of an observed
    optimizer. A change contradicts the guarantee if there was no noisy sum, or if it is a multiple of the latest sum
    without noise. For any other change the caller must vouch.

    Args:
        evidence: record of the conditions of the guarantee, which takes the results of the check.
    """

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._latest: Vector | None = None
        self._updates: list[_Update] = []

    @property
    def waiting(self) -> int:
        """Number of noisy sums since the parameters were last seen."""
        return len(self._updates)

    def observe_parameters(self, values: Vector, *, aligned: bool, precision: float) -> None:
        """Check that only the noisy sums since the last call have changed the parameters.

        Args:
            values: the parameters at the coordinates that are compared.
            aligned: whether gradients have the shapes of the parameters, so that coordinates correspond.
            precision: distance from 1 to the next larger number of the parameters' type.
        """
        latest = self._latest
        updates = self._updates
        self._latest = values
        self._updates = []
        if latest is None:
            self._record_result(len(updates), None)
            return
        if latest.shape != values.shape:
            self._record_result(len(updates), _SHAPES)
            return
        change = values - latest
        if not updates:
            if np.any(np.abs(change) > _ROUNDING * np.abs(latest)):
                message = "the parameters changed between two gradients without an update of the noise"
                self._evidence.contradict(PARAMETERS, message, remedy=_REMEDY)
            return
        if not aligned or any(update.sums.shape != change.shape for update in updates):
            self._record_result(len(updates), _SHAPES)
            return
        if np.any(change):
            self._exclude_noise_free_sum(change, updates[-1])
        # Samples have single precision at best. Both values are rounded, hence the factor 2.
        precision = max(precision, float(np.finfo(np.float32).eps))
        rounding = 2.0 * precision * np.maximum(np.abs(values), np.abs(latest))
        self._record_result(len(updates), _find_difference(change, updates, rounding))

    def observe_update(self, sums: Vector, noise: Vector) -> None:
        """Note the sum and the noise of an update, with which the next change of the parameters is compared.

        Args:
            sums: sum of clipped gradients at the observed coordinates.
            noise: noise that was added at these coordinates.
        """
        self._updates.append(_Update(sums=sums, noise=noise))

    def observe_optimizer(self, gradient: Vector, step: Vector, parameters: Vector) -> None:
        """Note an update of the observed optimizer, if its input is a multiple of the latest noisy sum.

        If the input is another value, or the optimizer got other parameters than the gradient function, the update is
        not noted. The caller must then vouch that only noisy sums change the parameters.

        Args:
            gradient: input of the optimizer, at the observed coordinates.
            step: result of the optimizer, the change of the parameters.
            parameters: the parameters that the optimizer got; empty if it got none.
        """
        update = self._updates[-1] if self._updates else None
        if update is None or not _is_multiple_of_noisy_sum(gradient, update):
            self._evidence.rest_on_caller(PARAMETERS, "the optimizer was given another value than the noisy sum")
            return
        if parameters.size and not self._are_present(parameters):
            self._evidence.rest_on_caller(PARAMETERS, "the optimizer was given other parameters than the gradient")
            return
        self._updates[-1] = replace(update, step=step)

    def _are_present(self, parameters: Vector) -> bool:
        """Return whether only the optimizer has changed the parameters since the latest call of the gradient function.

        Args:
            parameters: present parameters of the model, at the observed coordinates.

        Returns:
            True also if the gradient function was not called before.
        """
        latest = self._latest
        if latest is None:
            return True
        # The latest update has not changed the parameters yet.
        steps = [update.step for update in self._updates[:-1]]
        if not steps:
            return np.array_equal(parameters, latest)
        if any(step is None or step.shape != latest.shape for step in steps):
            return False
        expected = latest + sum(step for step in steps if step is not None)
        tolerance = _ROUNDING * np.abs(latest) + _ROUNDING
        return bool(np.all(np.abs(parameters - expected) <= tolerance))

    def _record_result(self, count: int, reason: str | None) -> None:
        """Note for some updates that the parameters changed by noisy sums only, or that the caller must vouch for it.

        Args:
            count: number of updates; without any, nothing is noted.
            reason: why the caller must vouch for the change; None if the updates explain it.
        """
        if count and reason is not None:
            self._evidence.rest_on_caller(PARAMETERS, reason, count=count)
        elif count:
            self._evidence.show({PARAMETERS}, count=count)

    def _exclude_noise_free_sum(self, change: Vector, update: _Update) -> None:
        """Report a change of the parameters that is a multiple of the sum of gradients without the noise.

        The change Δ is such a multiple if its part that is orthogonal to the sum s is negligible. This part is:

            Δ − s (Δ·s)/‖s‖².

        Nothing is compared if the noise is too small, or the coordinates are too few, to distinguish the sum from the
        noisy sum.

        Args:
            change: change Δ of the parameters.
            update: the latest update, with the sum s and its noise.
        """
        sums = update.sums
        norm = float(np.linalg.norm(sums))
        has_small_noise = np.linalg.norm(update.noise) < _NOISE_SHARE * norm
        if len(change) < _FEWEST_COORDINATES or norm == 0.0 or has_small_noise:
            return
        residual = change - sums * float(change @ sums) / norm**2
        if np.linalg.norm(residual) <= _CLEAN_RESIDUAL * np.linalg.norm(change):
            message = "the parameters changed by the sum of clipped gradients without its noise"
            self._evidence.contradict(PARAMETERS, message, remedy=_REMEDY)

    def state_dict(self) -> ChangesState:
        """Return the parameters that were seen last, and the updates since then, as JSON values."""
        updates = [[_to_list(update.sums), _to_list(update.noise), _to_list(update.step)] for update in self._updates]
        return {"latest": _to_list(self._latest), "updates": updates}

    def load_state_dict(self, state: ChangesState) -> None:
        """Restore the state of a checkpoint.

        Args:
            state: value of `state_dict`.
        """
        self._latest = _to_vector(state["latest"])
        self._updates = [
            _Update(
                sums=np.asarray(sums, dtype=np.float64),
                noise=np.asarray(noise, dtype=np.float64),
                step=_to_vector(step),
            )
            for sums, noise, step in state["updates"]
        ]


def _find_difference(change: Vector, updates: list[_Update], rounding: Vector) -> str | None:
    """Return why the noisy sums of gradients do not explain a change of the parameters, or None if they do.

    Parameters that change in another way may depend on private data without noise.

    Args:
        change: change of the parameters.
        updates: the noisy sums since the parameters were last seen.
        rounding: largest rounding error of each coordinate of `change`.

    Returns:
        None if the change is 0, the sum of the optimizer's updates, or a linear combination of the noisy sums.
    """
    if not np.any(change):
        return None
    size = float(np.linalg.norm(change))
    # Larger rounding errors would hide the direction of the change.
    if not np.linalg.norm(rounding) <= _LARGEST_ROUNDING * size:
        return _COARSE
    steps = [update.step for update in updates if update.step is not None]
    if len(steps) == len(updates) and _is_sum_of_steps(change, steps, rounding):
        return None
    # With too few coordinates, a linear combination would fit any change.
    if len(change) < _COORDINATES_EACH * len(updates):
        return _COARSE
    if _is_combination(change, updates, rounding):
        return None
    return _OTHER_UPDATE if steps else _OTHER_RULE


def _is_sum_of_steps(change: Vector, steps: list[Vector], rounding: Vector) -> bool:
    """Return whether a change of the parameters is the sum of the optimizer's updates, up to rounding errors.

    Args:
        change: change of the parameters.
        steps: the updates of the optimizer, at least one.
        rounding: largest rounding error of each coordinate of `change`.
    """
    if any(step.shape != change.shape for step in steps):
        return False
    # The tolerance is relative to the size of each coordinate. A coordinate near 0 may be a difference of large terms.
    # Therefore a share of the root mean square of the step is added to the size.
    sizes = sum(np.abs(step) + _RMS_SHARE * np.sqrt(np.mean(step**2)) for step in steps)
    tolerance = _RESIDUAL * sizes + rounding
    return bool(np.all(np.abs(change - sum(steps)) <= tolerance))


def _is_multiple_of_noisy_sum(gradient: Vector, update: _Update) -> bool:
    """Return whether a vector is a multiple of the noisy sum of an update, up to rounding errors.

    Args:
        gradient: the vector, at the observed coordinates.
        update: the update with the noisy sum.
    """
    return gradient.shape == update.sums.shape and _is_combination(gradient, [update], 0.0)


def _is_combination(change: Vector, updates: list[_Update], rounding: Vector | float) -> bool:
    """Return whether a vector Δ is a linear combination of the noisy sums of updates, up to rounding errors.

    The coefficients x minimize ‖Δ − A x‖₂, where the columns of A are the noisy sums.

    Args:
        change: the vector Δ.
        updates: the updates, at least one.
        rounding: largest rounding error of each coordinate of `change`.
    """
    noisy = np.stack([update.noisy for update in updates], axis=1)
    sizes = np.stack([np.abs(update.sums) + np.abs(update.noise) for update in updates], axis=1)
    coefficients = np.linalg.lstsq(noisy, change)[0]
    residuals = np.abs(change - noisy @ coefficients)
    # A coordinate may be a small difference of large terms, so the tolerance is relative to the sizes of the terms.
    tolerance = _RESIDUAL * (sizes @ np.abs(coefficients)) + rounding
    return bool(np.all(residuals <= tolerance))


def _to_list(values: Vector | None) -> list[float] | None:
    """Return a vector as a list for JSON; None for None."""
    return None if values is None else values.tolist()


def _to_vector(values: Sequence[float] | None) -> Vector | None:
    """Return a list of numbers from JSON as a vector; None for None."""
    return None if values is None else np.asarray(values, dtype=np.float64)
