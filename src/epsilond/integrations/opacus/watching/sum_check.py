"""Whether each step summed clipped gradients, and divided the noisy sum by a number that was fixed before the run."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Final, NamedTuple

from opacus.grad_sample import GradSampleHooks, GradSampleModule
from opacus.optimizers import DPOptimizer, DPOptimizerFastGradientClipping

from epsilond.integrations.opacus.watching import clipping
from epsilond.integrations.opacus.watching.rows import ClippedRows, are_marked, marks_of, rows_of
from epsilond.runs.premises import CLIPPING, DIVISOR, NOISE

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

    from epsilond.integrations.opacus.watching.reporting import Reporter

_PREMISE_OF: Final = {"add_noise": NOISE, "scale_grad": DIVISOR}
"""Premises (conditions of the privacy theorem) by the optimizer's methods on which they depend. Default: clipping."""

_NORM_TOLERANCE: Final = 1e-6
"""Relative tolerance of clipping norms, for rounding errors."""

_KEEP_OPTIMIZER: Final = "Use the optimizer as make_private returned it."


class SumCheck:
    """Checks that the sum to which the noise is added consists of correctly clipped gradients.

    It replaces the method of the optimizer that accumulates gradients by one that also checks them.

    Args:
        reporter: receives deviations from the recorded steps.
        optimizer: the private optimizer.
        module: the wrapped model; None if it is not known.

    Attributes:
        rows: the per-sample gradients that were added to the sum since the last step.
    """

    def __init__(self, reporter: Reporter, optimizer: DPOptimizer, module: torch.nn.Module | None) -> None:
        """Start to check the sums of clipped gradients of an optimizer, by wrapping its method that computes them.

        Args:
            reporter: receives deviations from the recorded steps.
            optimizer: private optimizer of Opacus.
            module: model with the parameters; None if it is not known.
        """
        self.rows = ClippedRows()
        self._reporter = reporter
        # A weak reference, so that the check does not keep the model alive.
        self._module: weakref.ref[torch.nn.Module] | None = None
        if module is not None:
            self._module = weakref.ref(module)
        self._sums = clipping.ClippedSums()
        # Ghost clipping: the records of its backward passes, and marks by which later writes to gradients are noticed.
        self._is_ghost = isinstance(optimizer, DPOptimizerFastGradientClipping)
        self._ghost_rows: int | None = None
        self._marks_after_backward: list[tuple[int, int]] = []
        self._sum_differs = False  # from the sum that the check expects
        self._divisor = divisor_of(optimizer, 1)
        self._method = "accumulate" if self._is_ghost else "clip_and_accumulate"
        self._wrapper = self._wrap(optimizer)

    def _wrap(self, optimizer: DPOptimizer) -> Callable[[], None]:
        """Replace the method that sums an optimizer's clipped gradients by one that also checks the sum.

        Args:
            optimizer: the private optimizer.

        Returns:
            The new method, by which a later replacement is recognised.
        """
        accumulate = getattr(optimizer, self._method)
        # Weak references, so that the optimizer and this check do not keep each other alive.
        check_reference = weakref.ref(self)
        optimizer_reference = weakref.ref(optimizer)

        def accumulate_and_check() -> None:
            """Call the original accumulating method. Its sum is checked as long as the check exists."""
            check = check_reference()
            owner = optimizer_reference()
            if check is None or owner is None:
                accumulate()
            else:
                check.follow(owner, accumulate)

        setattr(optimizer, self._method, accumulate_and_check)
        return accumulate_and_check

    # Accumulation -----------------------------------------------------------------------------------------------------
    def see_ghost_backward(self, optimizer: DPOptimizer, rows: int) -> None:
        """Note a backward pass of ghost clipping, in which Opacus weighted each loss by its clipping factor.

        Args:
            optimizer: the private optimizer. Writes to its gradients after this pass are noticed.
            rows: number of records of the pass.
        """
        earlier_rows = self._ghost_rows or 0
        self._ghost_rows = earlier_rows + rows
        self._marks_after_backward = gradient_marks(optimizer.params)

    def follow(self, optimizer: DPOptimizer, accumulate: Callable[[], None]) -> None:
        """Call the optimizer's own accumulating method, and check the sum before and after it.

        Args:
            optimizer: the private optimizer.
            accumulate: the optimizer's own method, without arguments.
        """
        if self._is_ghost:
            self._accumulate_ghost(optimizer, accumulate)
        else:
            self._accumulate(optimizer, accumulate)

    def _accumulate(self, optimizer: DPOptimizer, accumulate: Callable[[], None]) -> None:
        """Let the optimizer clip and add per-sample gradients, and compare its sum with a recomputed one.

        Only some of the sums are compared, because a comparison costs as much as the clipping itself.

        Args:
            optimizer: the private optimizer.
            accumulate: the optimizer's own method.
        """
        parameters = optimizer.params
        rows, passes, unequal = rows_of(parameters)
        norm = float(optimizer.max_grad_norm)
        self.rows.before(parameters, rows=rows, passes=passes, norm=norm, unequal=unequal)
        if self._has_hooks() and not are_marked(parameters):
            self.rows.rewritten = True
        if unequal or not rows or not self._sums.is_due():
            accumulate()
            self.rows.after(parameters)
            return
        # The growth of the sum is compared at a few coordinates of each parameter only.
        increments = self._sums.compute_increments(optimizer)
        sums_before = self._sums.copy_sums(optimizer)
        accumulate()
        self.rows.after(parameters)
        if not clipping.agrees(sums_before, self._sums.copy_sums(optimizer), increments):
            self._sum_differs = True

    def _has_hooks(self) -> bool:
        """Return whether Opacus' hooks compute the per-sample gradients of the model."""
        return type(self._known_module()) in (GradSampleHooks, GradSampleModule)

    def _known_module(self) -> torch.nn.Module | None:
        """Return the wrapped model, or None if it is not known or was deleted."""
        if self._module is None:
            return None
        return self._module()

    def _accumulate_ghost(self, optimizer: DPOptimizer, accumulate: Callable[[], None]) -> None:
        """Let the optimizer add gradients of ghost clipping, and check that Opacus itself has clipped them.

        Ghost clipping computes the clipped sum in a second backward pass, in which the loss of each record has its
        clipping factor. The gradient of a single record is never stored.

        Args:
            optimizer: the private optimizer.
            accumulate: the optimizer's own method.
        """
        parameters = optimizer.params
        rows = self._ghost_rows
        self._ghost_rows = None
        # The model computes the clipping factors, so its clipping norm counts.
        module = self._known_module()
        norm = float(getattr(module, "max_grad_norm", optimizer.max_grad_norm))
        self.rows.before(parameters, rows=rows or 0, passes=1, norm=norm, unequal=False)
        has_own_backward = rows is not None and clipping.has_own_factors(module)
        was_changed_since = self._marks_after_backward != gradient_marks(parameters)
        if not has_own_backward or was_changed_since:
            self._sum_differs = True
        accumulate()
        self.rows.after(parameters)

    # Steps ------------------------------------------------------------------------------------------------------------
    def check_clipping(self, optimizer: DPOptimizer, parameters: list[torch.nn.Parameter]) -> bool:
        """Check that Opacus' own methods clipped the gradients, to the norm that the noise is scaled to.

        The first deviation is reported: a replaced method, a sum that differs, or a larger clipping norm. Without one,
        the condition `CLIPPING` of the privacy theorem was observed to hold for this step.

        Args:
            optimizer: the private optimizer, with the clipping norm to which the noise is scaled.
            parameters: its parameters, each with the clipped sum in `summed_grad`.

        Returns:
            True if no deviation was observed.
        """
        if not self._has_own_methods(optimizer):
            return False
        if not self._has_clipped_sum(parameters):
            return False
        return self._has_right_norm(optimizer)

    def _has_own_methods(self, optimizer: DPOptimizer) -> bool:
        """Check that the methods of the optimizer are Opacus' own, and report one that was replaced.

        Args:
            optimizer: the private optimizer.

        Returns:
            True if no method was replaced, and the step has summed gradients by Opacus' own method.
        """
        replaced = clipping.replaced_method(optimizer, self._method, self._wrapper)
        if replaced is None and self.rows.calls == 0:
            replaced = self._method  # the step did not call it
        if replaced is None:
            return True
        premise = _PREMISE_OF.get(replaced, CLIPPING)
        message = f"the method {replaced} of the optimizer was replaced"
        self._reporter.contradict(premise, "replaced", message, remedy=_KEEP_OPTIMIZER)
        return False

    def _has_clipped_sum(self, parameters: list[torch.nn.Parameter]) -> bool:
        """Check that the sum of a step is the sum of the clipped gradients, and report a difference.

        Args:
            parameters: parameters of the private optimizer, each with its clipped sum.

        Returns:
            True if no difference was observed. The sum is recomputed at some coordinates only.
        """
        if self._sum_differs or not self.rows.intact(parameters):
            self._reporter.contradict(
                CLIPPING,
                "sum",
                "the sum is not a sum of gradients clipped to the recorded norm",
                remedy="Use the criterion that make_private returned, and do not change gradients before the step.",
            )
            return False
        return True

    def _has_right_norm(self, optimizer: DPOptimizer) -> bool:
        """Check that gradients were clipped to at most the norm that scales the noise, and report a larger norm.

        Args:
            optimizer: the private optimizer.

        Returns:
            True if no larger norm was observed.
        """
        norm = float(optimizer.max_grad_norm)
        if self.rows.norm > norm * (1.0 + _NORM_TOLERANCE) or not clipping.norms_agree(optimizer):
            self._reporter.contradict(
                CLIPPING,
                "norm",
                f"gradients were clipped to norms above {norm:.6g}, which the noise is scaled to",
                remedy="Change the clipping norm between steps only, and that of the module of ghost clipping with it.",
            )
            return False
        return True

    def check_divisor(self, divisor: Divisor) -> bool:
        """Check that the noisy sum has the same divisor as at the start of the run, and report a change.

        A divisor that follows the random size of a batch would reveal this size, which the noise does not cover.

        Args:
            divisor: the present divisor, with the reduction of the loss.

        Returns:
            True if the divisor has not changed.
        """
        if divisor == self._divisor:
            return True
        before, now = self._divisor.number, divisor.number
        self._reporter.contradict(
            DIVISOR,
            "changed",
            f"the divisor of the noisy sum changed from {before:.6g} to {now:.6g} during the run",
            remedy="Leave expected_batch_size and loss_reduction of the optimizer as make_private set them.",
        )
        return False

    def restart(self) -> None:
        """Start the next step."""
        self.rows.restart()
        self._sum_differs = False


class Divisor(NamedTuple):
    """The number by which the noisy sum of gradients is divided in one step, with its reason.

    Attributes:
        reduction: reduction of the loss, "mean" or "sum".
        number: number by which Opacus divides the noisy sum. It is 1 unless the reduction is "mean".
    """

    reduction: str
    number: float


def divisor_of(optimizer: DPOptimizer, batches: int) -> Divisor:
    """Return the number by which Opacus divides the noisy sum, with the reduction of the loss.

    Args:
        optimizer: the private optimizer.
        batches: number of batches with gradients that one step accumulates.

    Returns:
        The divisor, which is 1 if the loss sums over records.
    """
    if optimizer.loss_reduction != "mean":
        return Divisor(optimizer.loss_reduction, 1.0)
    return Divisor("mean", float(optimizer.expected_batch_size * batches))


def gradient_marks(parameters: list[torch.nn.Parameter]) -> list[tuple[int, int]]:
    """Return the identity of each gradient and the number of writes to it, by which changes are noticed.

    Args:
        parameters: parameters of a model.

    Returns:
        A pair for each parameter, in their order.
    """
    return marks_of([parameter.grad for parameter in parameters])
