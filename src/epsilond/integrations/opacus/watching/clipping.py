"""Whether Opacus' own methods clipped the gradients, and whether the clipped sum is right."""

from __future__ import annotations

import math
import secrets
from typing import Final

import numpy as np
import torch
from opacus.grad_sample import GradSampleHooksFastGradientClipping
from opacus.optimizers import (
    AdaClipDPOptimizer,
    DPOptimizer,
    DPOptimizerFastGradientClipping,
    DPPerLayerOptimizer,
)

OBSERVED: Final = (DPOptimizer, DPPerLayerOptimizer, DPOptimizerFastGradientClipping)
"""Classes of optimizers with observation of every step. Those for several processes are not."""

ADAPTIVE: Final = AdaClipDPOptimizer
"""The optimizer with a clipping norm that depends on counts without noise."""

METHODS: Final = (
    "clip_and_accumulate",
    "accumulate",
    "add_noise",
    "scale_grad",
    "pre_step",
    "step",
    "_get_flat_grad_sample",
    "_check_skip_next_step",
    "accumulated_iterations",
    "params",
    "grad_samples",
)
"""Methods and properties of Opacus' optimizers on which the privacy theorem depends."""

_NEVER_OWN: Final = frozenset(METHODS) - {"step"}
"""Methods that no instance may have of its own; schedulers of learning rates wrap `step` of an instance."""

_FACTORS: Final = {
    name: getattr(GradSampleHooksFastGradientClipping, name) for name in ("get_clipping_coef", "get_norm_sample")
}
"""Methods that compute the factors of ghost clipping."""

_ALWAYS: Final = 2
"""Number of first steps of a run in which the clipped sum is recomputed."""

_ONE_IN: Final = 64
"""Mean number of later steps per recomputed clipped sum; the steps are chosen at random."""

_COORDINATES: Final = 16
"""Number of coordinates of each parameter at which the clipped sum is recomputed."""

_ROUNDINGS: Final = 4096
"""Rounding errors of norms and sums that the recomputed sum allows for, in units of the precision."""

_STABILIZER: Final = 1e-6
"""Number that Opacus adds to each norm before it divides by it."""

_TINY: Final = 1e-30
"""Absolute tolerance of sums, in place of a relative one for sums of zeros."""

_RELATIVE: Final = 1e-5
"""Relative tolerance of norms that Opacus computes in single precision."""


def class_methods(kind: type) -> list[object]:
    """Return the observed methods of a class of optimizers, in the order of `METHODS`; None for a missing one."""
    return [getattr(kind, name, None) for name in METHODS]


ORIGINAL: Final = {kind: class_methods(kind) for kind in OBSERVED}
"""Opacus' methods at the time of the import."""


def replaced_method(optimizer: DPOptimizer, name: str, wrapper: object) -> str | None:
    """Return the name of a method of an observed optimizer that the program has replaced, if there is one.

    With a replaced method, the privacy theorem may not hold.

    Args:
        optimizer: an optimizer of one of the classes `OBSERVED`.
        name: name of the method that epsilond itself has replaced by `wrapper` on this optimizer.
        wrapper: the replacement. The method counts as replaced by the program if it is no longer this object.

    Returns:
        The name of such a method; None if all methods are from Opacus or epsilond.
    """
    kind = type(optimizer)
    for method, present, original in zip(METHODS, class_methods(kind), ORIGINAL[kind], strict=True):
        if present != original:
            return method
    attributes = optimizer.__dict__
    if attributes.get(name) is not wrapper:
        return name
    return next((method for method in _NEVER_OWN & attributes.keys() if method != name), None)


def has_own_factors(module: torch.nn.Module | None) -> bool:
    """Return whether Opacus' own methods compute the clipping factors of ghost clipping.

    Ghost clipping computes the norms of per-sample gradients without the gradients themselves.

    Args:
        module: the wrapped model; None if there is no model.

    Returns:
        False if the program has replaced one of these methods, on the class or on the module itself. True without a
        model.
    """
    if module is None:
        return True
    class_is_original = all(getattr(type(module), name, None) is method for name, method in _FACTORS.items())
    instance_replaces = bool(_FACTORS.keys() & module.__dict__.keys())
    return class_is_original and not instance_replaces


def norms_agree(optimizer: DPOptimizer) -> bool:
    """Return whether the clipping norms of all layers together are at most the norm that the noise is scaled to.

    If each layer is clipped to a norm C_l of its own, the norm of a whole gradient is at most (Σ_l C_l²)^½.

    Args:
        optimizer: the private optimizer.

    Returns:
        True if this number is at most the optimizer's clipping norm, up to rounding, or if layers have no norms of
        their own.
    """
    norms = getattr(optimizer, "max_grad_norms", None)
    if norms is None:
        return True
    layer_norms = np.asarray([float(norm) for norm in norms])
    total_norm = float(np.linalg.norm(layer_norms))
    return total_norm <= float(optimizer.max_grad_norm) * (1.0 + _RELATIVE)


class ClippedSums:
    """Choice of the steps in which the sum of clipped gradients is recomputed, and its computation.

    The steps are the first two of a run, and about one of 64 later ones, drawn at random. The sum is recomputed at a
    few coordinates of each parameter.
    """

    def __init__(self) -> None:
        self._steps = 0
        self._next = _ALWAYS + _draw_gap()

    def is_due(self) -> bool:
        """Count a step, and return whether its sum is to be recomputed."""
        self._steps += 1
        if self._steps < self._next:
            return self._steps <= _ALWAYS
        self._next += _draw_gap()
        return True

    def compute_increments(self, optimizer: DPOptimizer) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Recompute by how much the sums of clipped gradients must grow when Opacus adds the next gradients.

        Only a few coordinates are recomputed, in double precision, so that the check costs little time.

        Args:
            optimizer: the private optimizer, with per-sample gradients that are not accumulated yet.

        Returns:
            For each parameter, the increments at a few coordinates, and the rounding errors that are tolerated there.
        """
        with torch.no_grad():
            rows = [_rows(parameter) for parameter in optimizer.params]
            factors = _factors(optimizer, rows)
            increments = []
            for parameter, gradient, factor in zip(optimizer.params, rows, factors, strict=True):
                chosen = gradient[:, _coordinates(gradient)].to(torch.float64)
                clipped = chosen * factor.to(torch.float64)[:, None]
                increment = clipped.sum(dim=0)

                # Opacus adds in a lower precision, with a rounding error in each addition. `_TINY` keeps the tolerance
                # above 0.
                precision = max(torch.finfo(gradient.dtype).eps, torch.finfo(parameter.dtype).eps)
                roundings = max(len(gradient), _ROUNDINGS)
                tolerance = roundings * precision * (clipped.abs().sum(dim=0) + _TINY)
                increments.append((increment, tolerance))
            return increments

    @staticmethod
    def copy_sums(optimizer: DPOptimizer) -> list[torch.Tensor | None]:
        """Return the present sums of clipped gradients at the coordinates that are checked, a few of each parameter.

        Args:
            optimizer: the private optimizer; its parameters have the sums in `summed_grad`.

        Returns:
            For each parameter, the copied values in double precision; None if nothing was accumulated yet.
        """
        values: list[torch.Tensor | None] = []
        for parameter in optimizer.params:
            total = parameter.summed_grad
            if total is None:
                values.append(None)
                continue
            flat = total.detach().reshape(1, -1)
            chosen = flat[0, _coordinates(flat)]
            values.append(chosen.to(torch.float64, copy=True))  # the sum grows in place
        return values


def agrees(
    before: list[torch.Tensor | None],
    after: list[torch.Tensor | None],
    increments: list[tuple[torch.Tensor, torch.Tensor]],
) -> bool:
    """Return whether the sums of clipped gradients grew by the expected amounts.

    Args:
        before: sums of each parameter before the accumulation; None for a parameter without a sum.
        after: sums of each parameter after the accumulation; None for a parameter without a sum.
        increments: expected increment of each sum, and its tolerance.

    Returns:
        True if each sum grew by its increment, up to its tolerance and rounding. False if a sum is missing afterwards.
    """
    for start, end, (increment, tolerance) in zip(before, after, increments, strict=True):
        if end is None:
            return False
        base = torch.zeros_like(increment) if start is None else start
        # Each sum has a relative rounding error of at most eps/2; the factor 4 leaves a margin.
        rounding = 4.0 * torch.finfo(torch.float32).eps * (base.abs() + end.abs())
        deviation = (end - base - increment).abs()
        if not bool((deviation <= tolerance + rounding).all()):
            return False
    return True


def _draw_gap() -> int:
    """Draw the number of steps until the next recomputed sum: a geometric variable with mean `_ONE_IN`.

    The random number is from the operating system, so that a program cannot predict the step.
    """
    resolution = 1 << 53  # a double has 53 bits
    uniform = (secrets.randbelow(resolution) + 1) / resolution  # in (0, 1]
    return 1 + int(math.log(uniform) / math.log1p(-1.0 / _ONE_IN))


def _rows(parameter: torch.nn.Parameter) -> torch.Tensor:
    """Return the per-sample gradients of a parameter as a matrix, one row for each record.

    Args:
        parameter: the parameter. Its gradients may be in several tensors, one for each accumulated batch.

    Returns:
        The matrix, shape (records, coordinates of the parameter).
    """
    gradient = parameter.grad_sample
    if isinstance(gradient, list):
        gradient = torch.cat(gradient, dim=0)
    return gradient.reshape(len(gradient), parameter.numel())


def _factors(optimizer: DPOptimizer, rows: list[torch.Tensor]) -> list[torch.Tensor]:
    """Return the factor that clips each row (per-sample gradient), for each parameter.

    The factor of a row g is min(1, C / (‖g‖₂ + 10⁻⁶)), as Opacus computes it. C is the clipping norm. With clipping per
    layer, each parameter has its own C and norm. Otherwise ‖g‖₂ is the norm over all parameters.

    Args:
        optimizer: the private optimizer.
        rows: per-sample gradients of each parameter, shape (records, coordinates).

    Returns:
        One tensor of shape (records,) for each parameter.
    """
    norms = [gradient.norm(2, dim=1) for gradient in rows]
    if isinstance(optimizer, DPPerLayerOptimizer):
        factors = []
        for clipping_norm, norm in zip(optimizer.max_grad_norms, norms, strict=True):
            factors.append((clipping_norm / (norm + _STABILIZER)).clamp(max=1.0))
        return factors
    # The norm over all parameters is the norm of the parameters' norms.
    total_norm = torch.stack([norm.to(norms[0].device) for norm in norms], dim=1).norm(2, dim=1)
    factor = (optimizer.max_grad_norm / (total_norm + _STABILIZER)).clamp(max=1.0)
    return [factor.to(gradient.device) for gradient in rows]


def _coordinates(gradient: torch.Tensor) -> slice:
    """Return a slice of evenly spaced coordinates of a parameter: 16 to 31, or all if there are fewer.

    Args:
        gradient: gradients of the parameter, shape (records, coordinates).
    """
    return slice(0, None, max(1, gradient.shape[1] // _COORDINATES))
