"""The rows of per-sample gradients that a step accumulates, over all of its backward passes and virtual steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import torch

_MARK: Final = "epsilond_version"
"""Attribute of per-sample gradients: the number of writes to them at the end of the backward pass."""


class ClippedRows:
    """Counts of the per-sample gradients (rows) that were added to the sum of clipped gradients since the last step.

    Attributes:
        count: number of rows in the present sum.
        passes: number of backward passes that gave them.
        norm: largest clipping norm that was used.
        unequal: whether parameters had different numbers of rows.
        altered: whether the sum changed by other means than clipping and accumulation.
        rewritten: whether per-sample gradients were changed between a backward pass and the clipping.
        calls: number of observed accumulations.
    """

    def __init__(self) -> None:
        self.restart()
        self._marks: list[tuple[int, int]] = []

    def restart(self) -> None:
        """Reset all counts and flags, for the next step."""
        self.count = self.passes = self.calls = 0
        self.norm = 0.0
        self.unequal = self.altered = self.rewritten = False

    def before(
        self, parameters: list[torch.nn.Parameter], *, rows: int, passes: int, norm: float, unequal: bool
    ) -> None:
        """Count the per-sample gradients that the optimizer is about to add to its clipped sum.

        If the optimizer has cleared its sum since the last call, the counts start again. If the sum was changed by
        other code in between, `altered` is set.

        Args:
            parameters: parameters of the optimizer, each with its clipped sum in `summed_grad`.
            rows: number of per-sample gradients of each parameter.
            passes: number of backward passes that computed them.
            norm: clipping norm.
            unequal: whether parameters have different numbers of per-sample gradients.
        """
        sums = [parameter.summed_grad for parameter in parameters]
        was_cleared = bool(sums) and sums[0] is None
        if self.calls and was_cleared:
            self.restart()
        # Before the first call of a step, the optimizer has no sums.
        expected_marks = self._marks if self.calls else marks_of([None for _ in sums])
        if marks_of(sums) != expected_marks:
            self.altered = True
        self.count += rows
        self.passes += passes
        self.calls += 1
        self.norm = max(self.norm, norm)
        self.unequal = self.unequal or unequal

    def after(self, parameters: list[torch.nn.Parameter]) -> None:
        """Store marks of the sum that the optimizer has accumulated, to notice later changes."""
        self._marks = marks_of([parameter.summed_grad for parameter in parameters])

    def intact(self, parameters: list[torch.nn.Parameter]) -> bool:
        """Return whether only clipping and accumulation have changed the sum of clipped gradients."""
        return not self.altered and self._marks == marks_of([parameter.summed_grad for parameter in parameters])


def marks_of(tensors: list[torch.Tensor | None]) -> list[tuple[int, int]]:
    """Return the identity of each tensor and the number of writes to it, −1 for None."""
    return [(id(tensor), -1 if tensor is None else tensor._version) for tensor in tensors]  # noqa: SLF001  torch has no other


def has_rows(parameters: list[torch.nn.Parameter], *, ghost: bool) -> bool:
    """Return whether the model has processed records since the last step, which the next step will use.

    This is the case if a forward pass awaits its backward pass, or if gradients of a backward pass are stored.

    Args:
        parameters: parameters of the private optimizer.
        ghost: whether the clipped sum is stored in `grad`, as in ghost clipping.

    Returns:
        True if there are such records.
    """
    stored_gradients = ["grad_sample", "summed_grad"]
    if ghost:
        stored_gradients.append("grad")
    for parameter in parameters:
        forward_passes = getattr(parameter, "_forward_counter", 0)
        if forward_passes > 0:
            return True
        if any(getattr(parameter, name, None) is not None for name in stored_gradients):
            return True
    return False


def rows_of(parameters: list[torch.nn.Parameter]) -> tuple[int, int, bool]:
    """Count the per-sample gradients that are stored for the next step.

    Args:
        parameters: parameters of the private optimizer. Each has in `grad_sample` one tensor, or a list with a tensor
            for each backward pass. The first dimension of a tensor counts the records.

    Returns:
        The largest number of per-sample gradients of a parameter, the number of backward passes that computed them, and
        whether the parameters have different numbers.
    """
    counts: set[int] = set()
    passes = 1
    for parameter in parameters:
        gradient = parameter.grad_sample
        tensors = gradient if isinstance(gradient, list) else [gradient]
        counts.add(sum(tensor.shape[0] for tensor in tensors))
        passes = max(passes, len(tensors))
    are_unequal = len(counts) > 1
    return max(counts, default=0), passes, are_unequal


def mark_rows(gradient: torch.Tensor | None) -> None:
    """Mark the per-sample gradients that a backward pass has computed, so that later changes of them are noticed."""
    if gradient is not None:
        setattr(gradient, _MARK, gradient._version)  # noqa: SLF001  torch has no other counter of writes


def are_marked(parameters: list[torch.nn.Parameter]) -> bool:
    """Return whether the per-sample gradients are those that Opacus' hooks computed, without later changes.

    Args:
        parameters: parameters with their per-sample gradients.

    Returns:
        True if each gradient has its mark, with the number of writes at which it was marked.
    """
    gradients: list[torch.Tensor] = []
    for parameter in parameters:
        gradient = parameter.grad_sample
        if isinstance(gradient, list):
            gradients.extend(gradient)
        else:
            gradients.append(gradient)
    return all(getattr(gradient, _MARK, None) == gradient._version for gradient in gradients)  # noqa: SLF001
