"""Checks that the settings of a step are fixed before its batch is read, and that torch's own optimizer uses them."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Final

import torch
from torch.optim.optimizer import _global_optimizer_post_hooks, _global_optimizer_pre_hooks

from epsilond.runs.premises import CLIPPING, NOISE, PARAMETERS

if TYPE_CHECKING:
    from opacus.optimizers import DPOptimizer

    from epsilond.integrations.opacus.watching.reporting import Reporter
    from epsilond.runs.premises import Premise

_Values = tuple[object, ...]
"""Values of the settings on which one condition of the privacy theorem depends."""

_NOT_VALUES: Final = ("params", "param_names")
"""Entries of an optimizer's group of parameters that are not hyperparameters."""

_TRUSTED: Final = ("torch.", "opacus.", "epsilond.")
"""Beginnings of the modules whose hooks around a step of an optimizer read no private records."""

_SETTING_NAMES: Final = {
    NOISE: "the noise multiplier",
    CLIPPING: "the clipping norm",
    PARAMETERS: "the learning rate or another hyperparameter",
}
"""Names of the settings of a step, by the condition of the privacy theorem that depends on them."""


class SettingsCheck:
    """A check that noise multiplier, clipping norm and hyperparameters do not change between forward pass and step.

    Schedulers change these settings before the model reads the next batch. A later change may depend on the batch, and
    then reveals something about its records.

    Args:
        reporter: takes the conditions for which the caller must vouch.
    """

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter
        self._start: dict[Premise, _Values] | None = None

    def see_forward(self, optimizer: DPOptimizer) -> None:
        """Store the settings at the first forward pass of a step.

        Later forward passes of the same step store nothing, because the model has then read records.

        Args:
            optimizer: the private optimizer.
        """
        if self._start is None:
            self._start = _settings_of(optimizer)

    def compare(self, optimizer: DPOptimizer) -> set[Premise]:
        """Compare an optimizer's settings with those at the first forward pass of a step, and report changes.

        Such a change may depend on the batch, which the privacy theorem does not allow. It concerns the noise, the
        clipping, or the update of the parameters.

        Args:
            optimizer: the private optimizer, after the step's forward and backward passes.

        Returns:
            The conditions of the theorem on the settings that changed; the user of the run must declare them instead.
            Empty if there was no forward pass.
        """
        start = self._start
        self._start = None
        if start is None:
            return set()
        present = _settings_of(optimizer)
        premises = set()
        for premise, name in _SETTING_NAMES.items():
            if start[premise] != present[premise]:
                premises.add(premise)
                reason = f"{name} changed after the model had read the batch, on which the change may depend"
                self._reporter.rest_on_caller(premise, reason)
        return premises


class UpdateCheck:
    """A check that new parameters are computed from the noisy gradients only.

    This holds for the optimizers of torch, which read the gradients, their own state and the hyperparameters. Other
    optimizers, and hooks around a step, may read private records. The caller must vouch for them, because they are not
    observed.

    Args:
        reporter: takes the reasons for which the caller must vouch for the parameters.
    """

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter
        self._tensors: list[weakref.ref[torch.Tensor]] | None = None
        self._values: list[object] = []

    def remember(self, original: torch.optim.Optimizer) -> None:
        """Store the present state of an optimizer that has just taken a recorded step.

        Args:
            original: the optimizer that the private one wraps.
        """
        tensors, self._values = _state_of(original)
        self._tensors = [weakref.ref(tensor) for tensor in tensors]

    def check_update(self, original: torch.optim.Optimizer) -> bool:
        """Return whether the next step is one of torch's own optimizers, from the state that the last step left.

        Otherwise each reason is reported, and the caller must vouch for the parameters.

        Args:
            original: the optimizer that the private one wraps.
        """
        reasons = []
        if not _has_own_step(original):
            reasons.append(f"the step of the optimizer {type(original).__name__} is not observed")
        if _has_other_hooks(original):
            reasons.append("hooks around the step of the optimizer are not observed")
        if not self._continues_state(original):
            reasons.append("the state of the optimizer changed between two steps")
        for reason in reasons:
            self._reporter.rest_on_caller(PARAMETERS, reason)
        return not reasons

    def _continues_state(self, original: torch.optim.Optimizer) -> bool:
        """Return whether the state of an optimizer has not changed since its last recorded step.

        Args:
            original: the optimizer that the private one wraps.

        Returns:
            True if the tensors are the same objects with equal fingerprints, or if there was no recorded step.
        """
        if self._tensors is None:
            return True
        tensors, values = _state_of(original)
        if values != self._values or len(tensors) != len(self._tensors):
            return False
        # The weak reference to a deleted tensor returns None.
        pairs = zip(self._tensors, tensors, strict=True)
        return all(reference() is tensor for reference, tensor in pairs)


def _has_own_step(optimizer: torch.optim.Optimizer) -> bool:
    """Return whether an optimizer is one of torch, with the method `step` of its class.

    Args:
        optimizer: the optimizer that the private one wraps.

    Returns:
        False if the class or its `step` comes from outside `torch.optim`, or if the instance has another `step`.
    """
    kind = type(optimizer)
    instance_step = vars(optimizer).get("step")
    if getattr(instance_step, "_wrapped_by_lr_sched", False):  # torch's schedulers wrap `step` to count its calls
        instance_step = getattr(instance_step, "__wrapped__", None)
    if instance_step is not None and instance_step is not kind.step:
        return False
    modules = [str(kind.__module__), str(kind.step.__module__)]
    return all(module.startswith("torch.optim.") for module in modules)


def _has_other_hooks(optimizer: torch.optim.Optimizer) -> bool:
    """Return whether hooks from outside torch, Opacus and epsilond run before or after each step of an optimizer.

    The hooks include those that are registered for all optimizers.

    Args:
        optimizer: the optimizer that the private one wraps.
    """
    registries = [
        getattr(optimizer, "_optimizer_step_pre_hooks", {}),
        getattr(optimizer, "_optimizer_step_post_hooks", {}),
        _global_optimizer_pre_hooks,
        _global_optimizer_post_hooks,
    ]
    for registry in registries:
        for hook in registry.values():
            module = str(getattr(hook, "__module__", None))
            if not module.startswith(_TRUSTED):
                return True
    return False


def _state_of(optimizer: torch.optim.Optimizer) -> tuple[list[torch.Tensor], list[object]]:
    """Return the tensors in the state of an optimizer, such as momenta, and a fingerprint of each entry of the state.

    Args:
        optimizer: the optimizer that the private one wraps.
    """
    states = [state for state in getattr(optimizer, "state", {}).values() if isinstance(state, dict)]
    entries = [value for state in states for value in state.values()]
    tensors = [value for value in entries if isinstance(value, torch.Tensor)]
    return tensors, [_fingerprint(value, by_identity=False) for value in entries]


def _settings_of(optimizer: DPOptimizer) -> dict[Premise, _Values]:
    """Return the settings of a private optimizer, by the condition of the privacy theorem that depends on them.

    The settings are the noise multiplier, the clipping norms and the hyperparameters. They can be compared by `==`.

    Args:
        optimizer: the private optimizer.
    """
    norms_of_layers = getattr(optimizer, "max_grad_norms", None) or ()
    return {
        NOISE: (optimizer.noise_multiplier,),
        CLIPPING: (optimizer.max_grad_norm, *norms_of_layers),
        PARAMETERS: _hyperparameters_of(optimizer),
    }


def _hyperparameters_of(optimizer: DPOptimizer) -> _Values:
    """Return the hyperparameters of each group of parameters, and the parameters to which they apply.

    Args:
        optimizer: the private optimizer.

    Returns:
        For each group, the identities of its parameters, and then names and fingerprints of its hyperparameters.
    """
    values: list[object] = []
    for group in optimizer.param_groups:
        parameter_identities = tuple(id(parameter) for parameter in group["params"])
        values.append(parameter_identities)
        for name, value in group.items():
            if name not in _NOT_VALUES:
                values.append((name, _fingerprint(value)))
    return tuple(values)


def _fingerprint(value: object, *, by_identity: bool = True) -> object:
    """Return a fingerprint of a value, by which changes of tensors, numbers and texts are noticed.

    The fingerprint of a tensor contains the number of writes to it. A number or text is its own fingerprint. For
    objects of other types, the fingerprint is None.

    Args:
        value: a hyperparameter, or an entry of an optimizer's state.
        by_identity: whether the fingerprint of a tensor also contains its identity.

    Returns:
        A value that can be compared with an earlier fingerprint; for a list or tuple, the fingerprints of its items.
    """
    if isinstance(value, torch.Tensor):
        writes = value._version  # noqa: SLF001  torch has no other counter of writes
        if by_identity:
            return (id(value), writes)
        return (None, writes)
    if isinstance(value, list | tuple):
        return tuple(_fingerprint(item, by_identity=by_identity) for item in value)
    if isinstance(value, bool | int | float | str):
        return value
    return None
