"""Averages of the weights of a watched model that torch's `AveragedModel` computed."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Final

import torch
from torch.optim import swa_utils

from epsilond.integrations.opacus.watching.parameters import digests_of, tensors_of

if TYPE_CHECKING:
    from epsilond.integrations.opacus.watching.parameters import Digest, ParameterCheck

_FUNCTIONS: Final = ("avg_fn", "multi_avg_fn")
"""Attributes of an averaged model that may be functions of the caller."""


class Averages:
    """Averages of the weights of one model over its training steps, as torch's `AveragedModel` computes them.

    An average of released weights is as private as these, so the model may take its values. Hence an average is
    accepted if each of its updates used the weights after a recorded step and torch's own averaging function. Nothing
    else may have written to it.
    """

    def __init__(self, check: ParameterCheck) -> None:
        """Start without any average.

        Args:
            check: the check of the model's parameters, to which accepted averages are added.
        """
        self._check = check
        self._digests: weakref.WeakKeyDictionary[swa_utils.AveragedModel, list[Digest]] = weakref.WeakKeyDictionary()

    def continues(self, averaged: swa_utils.AveragedModel) -> bool:
        """Return whether an average of weights will consist of released weights only, after its next update.

        Args:
            averaged: torch's averaged model, before the update.

        Returns:
            True if the model has released weights, the average is new or unchanged since its last accepted update, and
            torch's own function computes it.
        """
        functions = [getattr(averaged, name) for name in _FUNCTIONS]
        are_of_torch = all(function is None or function.__module__ == swa_utils.__name__ for function in functions)
        if not are_of_torch:
            return False
        if not self._check.is_settled():  # the model does not have the weights of a recorded step
            return False
        is_first_update = int(averaged.n_averaged) == 0
        return is_first_update or self._digests.get(averaged) == _digests_of(averaged)

    def record(self, averaged: swa_utils.AveragedModel) -> None:
        """Accept the present values of an averaged model as weights that were computed from released models only.

        Args:
            averaged: the average, after an update that `continues` allowed.
        """
        digests = _digests_of(averaged)
        self._digests[averaged] = digests
        self._check.accept(digests)


def inner_module(module: torch.nn.Module | None) -> torch.nn.Module | None:
    """Return the module that Opacus has wrapped, or the module itself if it is not wrapped.

    Args:
        module: a module, which may be a wrapper of Opacus. For None, the result is None.
    """
    return getattr(module, "_module", module)


def _digests_of(averaged: swa_utils.AveragedModel) -> list[Digest]:
    """Return the digests (hashes) of the tensors of an average, by which later changes are noticed.

    Args:
        averaged: torch's averaged model.
    """
    return digests_of(tensors_of(inner_module(averaged.module)))
