"""Every step of every optimizer of torch, compared with the recorded steps.

`torch.optim` calls global hooks before and after each step. They are installed while at least one run is watched.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from epsilond.integrations.opacus.watching.averages import inner_module

if TYPE_CHECKING:
    import torch
    from opacus.optimizers import DPOptimizer
    from torch.utils.hooks import RemovableHandle

    from epsilond.integrations.opacus.watching.part import ObservedPart

_parts: weakref.WeakSet[ObservedPart] = weakref.WeakSet()
_handles: list[RemovableHandle] = []


def add(part: ObservedPart) -> None:
    """Watch the steps of the optimizer of a part, and steps of other optimizers on its parameters.

    A part is a private optimizer with its model. The first part registers hooks that torch calls at each step.

    Args:
        part: the part; it is held by a weak reference only.
    """
    _parts.add(part)
    if not _handles:
        _handles.append(register_optimizer_step_pre_hook(_before_step))
        _handles.append(register_optimizer_step_post_hook(_after_step))


def parts_of(optimizer: DPOptimizer) -> list[ObservedPart]:
    """Return the watched parts, that is, pairs of a private optimizer and its model, with a given optimizer.

    Args:
        optimizer: the private optimizer.

    Returns:
        The parts; empty if the optimizer is not watched.
    """
    parts = list(_parts)  # strong references, so that no part is deleted during the loop
    return [part for part in parts if part.optimizer is optimizer]


def parts_of_model(module: torch.nn.Module) -> list[ObservedPart]:
    """Return the watched parts of a model, without those in the middle of a step.

    Args:
        module: the model, perhaps wrapped by Opacus or torch.

    Returns:
        The parts with parameters that belong to the model.
    """
    inner = inner_module(module)
    return [part for part in list(_parts) if part.parameters.is_of(inner) and not part.pending]


def _before_step(optimizer: torch.optim.Optimizer, _arguments: object, _keywords: object) -> None:
    """Check, before each step of any optimizer of torch, whether it belongs to an observed run.

    If it is the step that a private optimizer of a run has recorded, the gradients are compared. Any other step that
    changes parameters of a run is reported, once for each run. Without an observed run, the hooks of this module are
    removed.

    Args:
        optimizer: the optimizer that is about to make a step.
    """
    parts = list(_parts)
    if not parts:
        _remove_hooks()
        return
    for part in parts:
        # `original` is the torch optimizer that the private optimizer wraps, and calls after the noise is added.
        is_recorded_step = part.original is optimizer and part.pending
        if is_recorded_step:
            part.before_original()
            return
    # An optimizer that wraps another one calls its step, which is then part of the recorded step.
    is_nested = any(part.inside for part in parts)
    if not is_nested:
        _report_foreign_step(optimizer, parts)


def _remove_hooks() -> None:
    """Remove the hooks that this module has registered at torch's optimizers."""
    while _handles:
        _handles.pop().remove()


def _report_foreign_step(optimizer: torch.optim.Optimizer, parts: list[ObservedPart]) -> None:
    """Report a step that no run has recorded. Each run with parameters that the step changes gets one report.

    Such a step may change the parameters by gradients without noise.

    Args:
        optimizer: the optimizer that is about to make the step.
        parts: the private optimizers of all observed runs, each with its model.
    """
    identities: set[int] = set()
    for group in optimizer.param_groups:
        identities.update(id(parameter) for parameter in group["params"])
    reported_runs: set[int] = set()
    for part in parts:
        if id(part.run) in reported_runs or part.optimizer is optimizer:
            continue
        if not identities.isdisjoint(part.parameters.identities):
            reported_runs.add(id(part.run))
            part.see_foreign_step(optimizer)


def _after_step(optimizer: torch.optim.Optimizer, _arguments: object, _keywords: object) -> None:
    """Remember the parameters and the state of an observed optimizer after a recorded step.

    Changes of them outside of steps can then be detected.

    Args:
        optimizer: the optimizer that has just made a step.
    """
    for part in list(_parts):
        if part.original is optimizer:
            if part.inside:
                part.after_original()
            part.update.remember(optimizer)
