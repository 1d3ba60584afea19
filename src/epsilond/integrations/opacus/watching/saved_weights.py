"""The weights of models at checkpoints, and whether a resumed run starts with them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final, TypedDict

import torch

_LARGEST_MEMORY: Final = 256
"""Digests of earlier checkpoints that a checkpoint keeps, about 10 kB."""

_BYTES: Final = 16
"""Size of a digest [bytes]; two models have the same one with probability 2^-128."""

DIFFERENT: Final = "the resumed model does not have the weights that were saved with the accountant"
"""The observation that contradicts a resumed run."""

DIFFERENT_REMEDY: Final = (
    "Load the weights of the same checkpoint, "
    'or declare("parameters", …) where the model starts anew or other changes read public data only.'
)


class WeightsState(TypedDict):
    """Digests of the weights of a run's models, as JSON values for a checkpoint.

    Attributes:
        latest: for each model, two digests in hexadecimal digits: of its shapes and types, and of its weights. The
            second is None if the weights are not those after a recorded step.
        known: digests of the weights of this checkpoint and of earlier ones, oldest first.
    """

    latest: Sequence[list[str | None]]
    known: Sequence[str]


class SavedWeights:
    """Digests of the weights of a run's models at its checkpoints, by which a resumed run is recognised.

    Attributes:
        waiting: number of models of the loaded checkpoint that no step has continued yet.
    """

    def __init__(self) -> None:
        self.waiting = 0
        self._latest: list[tuple[str, str | None]] = []
        self._earlier: dict[str, None] = {}

    def compare(self, parameters: Sequence[torch.Tensor]) -> str | None:
        """Check that a resumed model has weights that were saved at a checkpoint of the run.

        Weights from elsewhere may have been trained on the private data without noise.

        Args:
            parameters: parameters of the model.

        Returns:
            None if the weights were saved at the loaded checkpoint or an earlier one, or if no checkpoint was loaded.
            `DIFFERENT` if the loaded checkpoint has a single model, of the same shapes, with other weights. Another
            reason if the loaded checkpoint does not determine the weights.
        """
        if not self.waiting:
            return None
        # Weights of this or an earlier checkpoint were released.
        shapes, digest = digest_of(parameters)
        if digest in self._earlier:
            return None
        if len(self._latest) > 1:
            return "the checkpoint has several models, and the resumed model has the weights of none of them"
        if not self._latest:
            return "the checkpoint has no model of these shapes"
        # The checkpoint has a single model. Other weights differ from it only if its shapes are the same.
        saved_shapes, saved_digest = self._latest[0]
        if saved_shapes != shapes:
            return "the checkpoint has no model of these shapes"
        if saved_digest is None:
            return "the weights at the checkpoint differ from the weights after every recorded step"
        return DIFFERENT

    def take_step(self) -> None:
        """Note that one more model of the loaded checkpoint has taken its first step after the resumption."""
        self.waiting = max(0, self.waiting - 1)

    def save(self, models: Iterable[tuple[Sequence[torch.Tensor], bool]]) -> WeightsState:
        """Add the digests of the models' present weights, and return all digests as JSON values for a checkpoint.

        A resumed run must start from weights that were released, which these digests show without storing the weights.

        Args:
            models: for each model that has taken a step, its parameters, and whether they are those after a recorded
                step. Without any model, the digests of the loaded checkpoint are returned again.

        Returns:
            The digests of the latest weights of each model, and of all earlier ones.
        """
        latest: list[tuple[str, str | None]] = []
        for parameters, is_recorded in models:
            shapes, digest = digest_of(parameters)
            # Weights that no recorded step gave have no digest, so that a resumed model cannot match them.
            if is_recorded:
                latest.append((shapes, digest))
            else:
                latest.append((shapes, None))
        if latest:
            self._remember(digest for _, digest in latest)
        else:
            latest = self._latest
        return {"latest": [list(model) for model in latest], "known": list(self._earlier)}

    def load(self, state: WeightsState | None) -> None:
        """Continue from the digests of a checkpoint.

        Args:
            state: value of `save`. None if the checkpoint has no digests of weights.
        """
        if state is None:
            self._latest, self.waiting = [], 0
            return
        self._latest = [(str(shapes), digest) for shapes, digest in state["latest"]]
        self._remember(str(digest) for digest in state["known"])
        self.waiting = len(self._latest)

    def _remember(self, digests: Iterable[str | None]) -> None:
        """Add digests of weights as the latest ones, and forget the oldest if there are too many.

        Args:
            digests: digests of the weights of models; None for a model without known weights.
        """
        for digest in digests:
            if digest is not None:
                self._earlier.pop(digest, None)  # a digest that is known moves to the end
                self._earlier[digest] = None
        # A checkpoint keeps a limited number of digests, about 10 kB.
        while len(self._earlier) > _LARGEST_MEMORY:
            oldest = next(iter(self._earlier))
            self._earlier.pop(oldest)


def digest_of(parameters: Sequence[torch.Tensor]) -> tuple[str, str]:
    """Return digests of the shapes and types of parameters, and of their values, in their order.

    The digests do not depend on the device or on the layout in memory.

    Args:
        parameters: parameters of a model, in their order.

    Returns:
        Two hashes in hexadecimal digits: of shapes and types, and of the values together with these.
    """
    # With 16 bytes, two models have equal digests with probability 2^−128.
    shapes = hashlib.blake2b(digest_size=_BYTES)
    values = hashlib.blake2b(digest_size=_BYTES)
    for parameter in parameters:
        shapes.update(f"{tuple(parameter.shape)} {parameter.dtype};".encode())
        dense = parameter.detach().to("cpu").contiguous().reshape(-1)
        values.update(dense.view(torch.uint8).numpy().data)
    values.update(shapes.digest())
    return shapes.hexdigest(), values.hexdigest()
