"""The places where Opacus and torch are changed, once, so that a run is observed.

`install` wraps six functions. Each calls the original one and returns its result unchanged.

* `PrivacyEngine.make_private` shows its result to the accountant.
* `PrivacyEngine.get_epsilon` rejects an engine with another accountant; so does the attribute `accountant`.
* `DPTensorFastGradientClipping.backward` counts the rows that ghost clipping weighted.
* `promote_current_grad_sample` marks per-sample gradients at the end of the backward pass.
* `__next__` of the iterators of `torch.utils.data.DataLoader` notes the batches of watched samplers.
* `torch.optim.swa_utils.AveragedModel.update_parameters` notes averages of the weights of watched models.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Protocol

from opacus import PrivacyEngine
from opacus.grad_sample import grad_sample_module
from opacus.utils.fast_gradient_clipping_utils import DPTensorFastGradientClipping
from torch.optim.swa_utils import AveragedModel
from torch.utils.data.dataloader import _BaseDataLoaderIter

from epsilond.integrations.opacus.watching import watch
from epsilond.integrations.opacus.watching.draws import recorded_epoch
from epsilond.integrations.opacus.watching.rows import mark_rows

if TYPE_CHECKING:
    import torch
    from opacus.accountants import IAccountant

    from epsilond.integrations.opacus.watching.run import ObservedRun

_MARK: Final = "epsilond_wrapped"
"""Attribute of a wrapped function."""

_ACCOUNTANT: Final = "epsilond_accountant"
"""Attribute of an engine: the accountant that watches the result of its `make_private`."""

REPLACED: Final = "the accountant of the engine was replaced after make_private"


class Observer(Protocol):
    """An accountant that observes the run of its engine.

    Attributes:
        run: its observations.
    """

    run: ObservedRun


def install(kind: type[Observer]) -> None:
    """Replace six functions of Opacus and torch by wrappers that report calls to observed runs.

    The wrappers call the original functions and return their results unchanged. A second call of `install` changes
    nothing.

    Args:
        kind: class of the accountants that observe their runs. Engines with other accountants are not observed.
    """
    _wrap(PrivacyEngine, "make_private", functools.partial(_make_private, kind))
    _wrap(PrivacyEngine, "get_epsilon", _get_epsilon)
    _wrap(DPTensorFastGradientClipping, "backward", _backward)
    _wrap(grad_sample_module, "promote_current_grad_sample", _end_backward)
    _wrap(_BaseDataLoaderIter, "__next__", _next_batch)
    _wrap(AveragedModel, "update_parameters", _update_average)
    if not isinstance(PrivacyEngine.__dict__.get("accountant"), property):
        PrivacyEngine.accountant = property(_get_accountant, _set_accountant)


def _wrap(owner: object, name: str, wrapper: Callable[..., object]) -> None:
    """Replace a function by one that calls `wrapper` with the original function and the arguments.

    A function that was already replaced in this way is left unchanged.

    Args:
        owner: class or module that has the function as an attribute.
        name: name of the function.
        wrapper: called with the original function and the arguments of each call.
    """
    original = getattr(owner, name)
    if getattr(original, _MARK, False):
        return

    @functools.wraps(original)
    def call(*arguments: object, **keywords: object) -> object:
        """Call the wrapper with the original function."""
        return wrapper(original, *arguments, **keywords)

    setattr(call, _MARK, True)
    setattr(owner, name, call)


def _make_private(
    kind: type[Observer], original: Callable[..., tuple[object, ...]], engine: PrivacyEngine, **arguments: object
) -> tuple[object, ...]:
    """Call the original `make_private`, and let the engine's accountant observe the returned objects.

    Opacus makes the private optimizer and the sampler in this method, so that they are observed from the first step.

    Args:
        kind: class of the accountants that observe their runs.
        original: the original method.
        engine: the privacy engine of Opacus.
        **arguments: arguments of the call.

    Returns:
        The objects that the original method returns: module, optimizer, perhaps a criterion, and data loader.
    """
    private_objects = original(engine, **arguments)
    accountant = engine.accountant
    if not isinstance(accountant, kind):
        return private_objects
    engine.__dict__[_ACCOUNTANT] = accountant
    # With ghost clipping, a criterion is returned between optimizer and loader.
    module, optimizer, *_, loader = private_objects
    uses_poisson_sampling = bool(arguments.get("poisson_sampling", True))
    accountant.run.watch_made(module=module, optimizer=optimizer, loader=loader, poisson_sampling=uses_poisson_sampling)
    return private_objects


def _get_epsilon(
    original: Callable[..., float], engine: PrivacyEngine, *arguments: object, **keywords: object
) -> float:
    """Return the engine's ε, unless the accountant that observes its run was replaced.

    Args:
        original: the original method.
        engine: the privacy engine of Opacus.
        *arguments: arguments of the call.
        **keywords: keyword arguments of the call.

    Returns:
        ε [nat], as the engine's accountant computes it.

    Raises:
        RunDiffers: the accountant was replaced, which contradicts the record of the run.
    """
    observer = engine.__dict__.get(_ACCOUNTANT)
    if observer is not None and observer is not engine.accountant:
        observer.evidence.require_consistent()
    return original(engine, *arguments, **keywords)


def _get_accountant(engine: PrivacyEngine) -> IAccountant:
    """Return the accountant of an engine, as the plain attribute `accountant` of Opacus did."""
    return engine.__dict__["accountant"]


def _set_accountant(engine: PrivacyEngine, accountant: IAccountant) -> None:
    """Set the accountant of an engine, and report it if the accountant that observes the run is replaced.

    A new accountant does not know the earlier steps, so its ε would be too low.

    Args:
        engine: the privacy engine of Opacus.
        accountant: the new accountant of the engine.
    """
    observer = engine.__dict__.get(_ACCOUNTANT)
    engine.__dict__["accountant"] = accountant
    if observer is None or accountant is observer:
        return
    observer.run.contradict_parts("accountant", REPLACED)
    if isinstance(accountant, type(observer)):
        accountant.run.contradict_parts("accountant", REPLACED)


def _backward(original: Callable[[DPTensorFastGradientClipping], object], loss: DPTensorFastGradientClipping) -> object:
    """Run a backward pass of ghost clipping, and report its number of records to the checks of the optimizer.

    Args:
        original: Opacus' own method `backward` of the loss.
        loss: loss of one batch, with one value per record.

    Returns:
        The result of the original method.
    """
    returned = original(loss)
    for part in watch.parts_of(loss.optimizer):
        if part.sums is not None:
            part.sums.see_ghost_backward(loss.optimizer, len(loss.loss_per_sample))
    return returned


def _end_backward(original: Callable[[torch.nn.Parameter], object], parameter: torch.nn.Parameter) -> None:
    """Mark the per-sample gradients of a parameter, so that later changes of them are noticed.

    The marks are set before Opacus' own function ends the backward pass.

    Args:
        original: Opacus' own function.
        parameter: a parameter of the model.
    """
    mark_rows(getattr(parameter, "_current_grad_sample", None))
    original(parameter)


def _update_average(
    original: Callable[[AveragedModel, torch.nn.Module], object], averaged: AveragedModel, model: torch.nn.Module
) -> object:
    """Update torch's average of a model's weights, and record it if it averages released weights only.

    Such an average reveals nothing beyond the released models, so the model may take its values.

    Args:
        original: torch's own method `AveragedModel.update_parameters`.
        averaged: torch's averaged model.
        model: the model that is averaged.

    Returns:
        The result of torch's own method.
    """
    # The checks must be made before the update, which changes the average.
    parts = [part for part in watch.parts_of_model(model) if part.averages.continues(averaged)]
    returned = original(averaged, model)
    for part in parts:
        part.averages.record(averaged)
    return returned


def _next_batch(original: Callable[[_BaseDataLoaderIter], object], iterator: _BaseDataLoaderIter) -> object:
    """Return the next batch of a data loader, and note from which draw of the sampler it was loaded.

    Args:
        original: torch's own method, which loads the batch.
        iterator: iterator over one pass of a data loader.

    Returns:
        The batch as the loader made it.
    """
    batch = original(iterator)
    recording = recorded_epoch(iterator)
    # Loaders of runs that are not observed have no recording.
    if recording is not None:
        epoch, largest_part = recording
        epoch.hand_out(batch, largest_part)
    return batch
