"""Digests of the weights of models at checkpoints, and the check that a resumed run starts with these weights."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final, TypedDict

import torch

_MOST_DIGESTS: Final = 256
"""Largest number of digests that a checkpoint keeps, about 10 kB."""

_BYTES: Final = 16
"""Size of a digest [bytes]; two different models have equal digests with probability 2⁻¹²⁸."""

DIFFERENT: Final = "the resumed model does not have the weights that were saved with the accountant"
"""The reason of `SavedWeights.compare` that contradicts the record of a resumed run."""

DIFFERENT_REMEDY: Final = (
    "Load the weights of the same checkpoint, "
    'or declare("parameters", …) where the model starts anew or other changes read public data only.'
)


class WeightsState(TypedDict):
    """Digests of the weights of a run's models, as JSON values for a checkpoint.

    Attributes:
        latest: for each model, a digest of its shapes and types, and one of its weights, in hexadecimal digits. The
            second is None if the weights are not those after a recorded step.
        known: digests of the weights at this checkpoint and at earlier ones, oldest first.
    """

    latest: Sequence[list[str | None]]
    known: Sequence[str]


class SavedWeights:
    """Digests of the weights of a run's models at its checkpoints, by which a resumed model is recognised.

    Attributes:
        waiting: number of models of the loaded checkpoint that have taken no step since then.
    """

    def __init__(self) -> None:
        self.waiting = 0
        self._latest: list[tuple[str, str | None]] = []
        self._earlier: dict[str, None] = {}

    def compare(self, parameters: Sequence[torch.Tensor]) -> str | None:
        """Return why a resumed model may have other weights than those that were saved at a checkpoint of the run.

        Other weights may have been trained on the private data without noise.

        Args:
            parameters: parameters of the model.

        Returns:
            None if the weights were saved at some checkpoint, or if no model of a loaded checkpoint waits for its first
            step. `DIFFERENT` if the loaded checkpoint has a single model, of the same shapes, with other weights.
            Another reason if the loaded checkpoint does not determine the weights.
        """
        if not self.waiting:
            return None
        shapes, digest = digest_of(parameters)
        if digest in self._earlier:
            return None
        if len(self._latest) > 1:
            return "the checkpoint has several models, and the resumed model has the weights of none of them"
        if not self._latest:
            return "the checkpoint has no model of these shapes"
        # The only model of the checkpoint determines the weights if it has the same shapes.
        saved_shapes, saved_digest = self._latest[0]
        if saved_shapes != shapes:
            return "the checkpoint has no model of these shapes"
        if saved_digest is None:
            return "the weights at the checkpoint differ from the weights after every recorded step"
        return DIFFERENT

    def take_step(self) -> None:
        """Note that one more model of the loaded checkpoint has taken its first step since then."""
        self.waiting = max(0, self.waiting - 1)

    def save(self, models: Iterable[tuple[Sequence[torch.Tensor], bool]]) -> WeightsState:
        """Add digests of the models' present weights, and return all digests as JSON values for a checkpoint.

        A resumed run must start from released weights, which these digests show although the weights are not stored.

        Args:
            models: for each model that has taken a step, its parameters, and whether they are those after a recorded
                step. Without any model, the digests of the loaded checkpoint are returned again.

        Returns:
            Digests of the present weights of each model, and of weights at earlier checkpoints.
        """
        latest: list[tuple[str, str | None]] = []
        for parameters, is_recorded in models:
            shapes, digest = digest_of(parameters)
            # Without a digest, no resumed model matches weights that are not those after a recorded step.
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
        """Take over the digests (checksums) of weights in a checkpoint, when a run is resumed from it.

        Args:
            state: value of `save`; None if the checkpoint has no digests of weights.
        """
        if state is None:
            self._latest, self.waiting = [], 0
            return
        self._latest = [(str(shapes), digest) for shapes, digest in state["latest"]]
        self._remember(str(digest) for digest in state["known"])
        self.waiting = len(self._latest)  # no model has taken a step since the checkpoint

    def _remember(self, digests: Iterable[str | None]) -> None:
        """Add digests of weights as the latest ones, and forget the oldest if there are too many.

        Args:
            digests: digests of the weights of models; None for a model without known weights.
        """
        for digest in digests:
            if digest is not None:
                # The keys of the dictionary are an ordered set. A digest that is known moves to the end.
                self._earlier.pop(digest, None)
                self._earlier[digest] = None
        while len(self._earlier) > _MOST_DIGESTS:
            oldest = next(iter(self._earlier))
            self._earlier.pop(oldest)


def digest_of(parameters: Sequence[torch.Tensor]) -> tuple[str, str]:
    """Return a digest of the shapes and types of parameters, and one that also covers their values.

    The digests do not depend on the device or on the layout in memory.

    Args:
        parameters: parameters of a model, in their order.

    Returns:
        The two digests in hexadecimal digits.
    """
    shapes = hashlib.blake2b(digest_size=_BYTES)
    values = hashlib.blake2b(digest_size=_BYTES)
    for parameter in parameters:
        shapes.update(f"{tuple(parameter.shape)} {parameter.dtype};".encode())
        dense = parameter.detach().to("cpu").contiguous().reshape(-1)
        values.update(dense.view(torch.uint8).numpy().data)
    values.update(shapes.digest())
    return shapes.hexdigest(), values.hexdigest()
