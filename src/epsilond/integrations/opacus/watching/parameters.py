"""Whether only recorded steps changed the parameters, by digests after each step and before the next one."""

from __future__ import annotations

import functools
import secrets
import weakref
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
import torch

from epsilond.runs.premises import PARAMETERS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epsilond.integrations.opacus.watching.reporting import Reporter

Digest: TypeAlias = "tuple[np.unsignedinteger, bytes] | torch.Tensor"
"""Sum of the bytes of a tensor with the integers at some positions; a tensor that stays on its device elsewhere."""

REMEDY: Final = (
    "Change the parameters by the optimizer that make_private returned only, "
    'or declare("parameters", …) where other changes read released models and public data only.'
)

_LARGEST_MEMORY: Final = 1 << 17
"""Recorded states of a model that are remembered, about 10 MB."""

_POSITIONS: Final = 64
"""Number of positions of each tensor with values in the digest, which therefore depends on their order."""

_SEED: Final = secrets.randbits(63)
"""Seed of the positions, another one in each process."""

_GRADIENTS: Final = ("grad", "grad_sample", "summed_grad")
"""Attributes of a parameter that a backward pass or the private optimizer sets."""


class Digests:
    """Digests (checksums) of the tensors of all models of one run, each after the last recorded optimizer step.

    A digest that has changed shows that the parameters were changed between two recorded steps.

    Attributes:
        by_identity: digest of each tensor, by its `id`.
    """

    def __init__(self) -> None:
        self.by_identity: dict[int, Digest] = {}
        self._known: dict[int, weakref.ref[torch.Tensor]] = {}

    def add(self, tensors: list[torch.Tensor]) -> None:
        """Add tensors by their `id`, and forget the digests of deleted tensors with an `id` that Python has used again.

        Args:
            tensors: parameters and buffers of a model.
        """
        for tensor in tensors:
            reference = self._known.get(id(tensor))
            if reference is None or reference() is not tensor:
                self._known[id(tensor)] = weakref.ref(tensor)
                self.by_identity.pop(id(tensor), None)


class ParameterCheck:
    """Checks that only recorded optimizer steps change the parameters and buffers of one model.

    The digest of a tensor is the sum of its bytes, read as integers of 8 bytes if possible, modulo 2^64. It also
    contains the integers at up to 64 random positions. On a device the digest is a tensor on that device, to which
    these integers are added with random weights.
    """

    def __init__(
        self,
        digests: Digests,
        reporter: Reporter,
        owner: torch.nn.Module | torch.optim.Optimizer,
        tensors: list[torch.Tensor],
    ) -> None:
        """Start to watch the tensors of a model, without keeping the model alive.

        The model is referred to weakly, so that it is freed as soon as the user drops it.

        Args:
            digests: digests of all models of the run. Models may share tensors.
            reporter: collects the changes that are found.
            owner: the model, or the optimizer if the model is not known.
            tensors: its parameters and buffers.
        """
        digests.add(tensors)
        self.identities = [id(tensor) for tensor in tensors]
        self._digests = digests
        self._reporter = reporter
        self._owner = weakref.ref(owner)
        self._tensors = weakref.WeakKeyDictionary({owner: tensors})

        # Views of the tensors as integers, and the addresses in memory for which they were made.
        self._addresses: list[int] = []
        self._views: weakref.WeakKeyDictionary[
            torch.nn.Module | torch.optim.Optimizer, list[NDArray[np.unsignedinteger] | None]
        ] = weakref.WeakKeyDictionary({owner: [None for _ in tensors]})

        # Numbers of writes to the tensors at the last forward pass; None if there was none since the last step.
        self._versions: list[int] | None = None

        # The gradients of the last recorded step, whether there was such a step, and hashes of the states after steps.
        self._gradients: dict[str, weakref.ref[torch.Tensor]] = {}
        self._has_recorded_step = False
        self._states: dict[int, None] = {}

    # Steps ------------------------------------------------------------------------------------------------------------
    def see_forward(self) -> None:
        """Check before the first optimizer step that the tensors have not changed since the first forward pass.

        At every forward pass, torch's counters of writes to the tensors are stored. `check_step` compares them.
        """
        tensors = self._present()
        if not all(identity in self._digests.by_identity for identity in self.identities):
            self._digests.by_identity.update(zip(self.identities, self._digest(tensors), strict=True))
        elif not self._has_recorded_step and not self._has_recorded_values(tensors):
            self.report("before the first recorded step, while the model was trained")
        self._versions = _versions(tensors)

    def check_step(self) -> bool:
        """Check that the parameters have not changed since the last recorded step, and report it if they have.

        A write between the forward pass and the step counts as a change, even if it restored the earlier values.

        Returns:
            True if the parameters did not change.
        """
        tensors = self._present()
        has_other_values = not self._has_recorded_values(tensors)
        was_written = self._versions is not None and self._versions != _versions(tensors)
        if has_other_values:
            self.report("between two recorded steps")
        elif was_written:
            self.report("between the forward pass and the step")
        self._versions = None
        return not has_other_values and not was_written

    def record(self) -> None:
        """Store digests of the present parameters, because a recorded step has just changed them.

        Later checks compare the tensors with these digests. References to the present gradients are stored too, so that
        `has_new_gradients` recognises those of a later backward pass.
        """
        tensors = self._present()
        digests = self._digest(tensors)
        self._digests.by_identity.update(zip(self.identities, digests, strict=True))
        self.accept(digests)
        self._has_recorded_step = True
        self._gradients = {}
        for name, gradient in self._first_gradients().items():
            if isinstance(gradient, torch.Tensor):
                self._gradients[name] = weakref.ref(gradient)

    def accept(self, digests: list[Digest]) -> None:
        """Add the digests of a state that the model may return to: a released one, or an average of released ones."""
        if len(self._states) < _LARGEST_MEMORY:
            self._states[hash(tuple(digests))] = None

    def is_of(self, module: torch.nn.Module | None) -> bool:
        """Return whether these are the parameters of this model."""
        return module is not None and module is self._owner()

    def report(self, when: str) -> None:
        """Report a change of the parameters that is not a recorded step."""
        message = f"parameters or buffers of the model changed {when}"
        self._reporter.contradict(PARAMETERS, when, message, remedy=REMEDY)

    # The present state ------------------------------------------------------------------------------------------------
    def has_other_tensors(self) -> bool:
        """Return whether the model has got other parameters or buffers since the start."""
        owner = self._owner()
        return isinstance(owner, torch.nn.Module) and [id(tensor) for tensor in tensors_of(owner)] != self.identities

    def is_trained(self) -> bool:
        """Return whether a recorded step was taken since the start."""
        return self._has_recorded_step

    def trained_tensors(self) -> list[torch.Tensor]:
        """Return the parameters of the model, in their order and without its buffers."""
        return [tensor for tensor in self._present() if isinstance(tensor, torch.nn.Parameter)]

    def is_settled(self) -> bool:
        """Return whether the parameters are those after the last recorded step, or the starting ones."""
        return self._has_recorded_values(self._present())

    def has_new_gradients(self) -> bool:
        """Return whether gradients were computed since the last recorded step."""
        for name, gradient in self._first_gradients().items():
            earlier = self._gradients.get(name)
            if earlier is None or earlier() is not gradient:
                return True
        return False

    def _present(self) -> list[torch.Tensor]:
        """Return the watched parameters and buffers; an empty list if the model no longer exists."""
        owner = self._owner()
        return self._tensors.get(owner, []) if owner is not None else []

    def _first_gradients(self) -> dict[str, object]:
        """Return the present gradients of the first parameter that is trained, by the names of their attributes."""
        for tensor in self._present():
            if tensor.requires_grad:
                gradients = {name: getattr(tensor, name, None) for name in _GRADIENTS}
                return {name: gradient for name, gradient in gradients.items() if gradient is not None}
        return {}

    def _has_recorded_values(self, tensors: list[torch.Tensor]) -> bool:
        """Return whether the tensors of a model have the values after a recorded step, or an average of such values.

        Args:
            tensors: the present tensors of the model.

        Returns:
            True if their digests were recorded, or if no digests were recorded yet.
        """
        recorded = self._digests.by_identity
        if not tensors or any(identity not in recorded for identity in self.identities):
            return True
        present = self._digest(tensors)
        has_latest_state = [recorded[identity] for identity in self.identities] == present
        return has_latest_state or hash(tuple(present)) in self._states  # the model may return to an earlier state

    def _digest(self, tensors: list[torch.Tensor]) -> list[Digest]:
        """Return the digest (checksum) of each tensor. Views of the memory are kept until a tensor moves.

        Args:
            tensors: the present tensors of the model.

        Returns:
            One digest for each tensor. Empty if the model or optimizer was deleted.
        """
        owner = self._owner()
        if owner is None:
            return []
        addresses = [tensor.data_ptr() for tensor in tensors]
        if addresses != self._addresses:
            self._views[owner] = [_view(tensor) for tensor in tensors]
            self._addresses = addresses
        return _sum_bytes(tensors, self._views[owner])


def tensors_of(module: torch.nn.Module) -> list[torch.Tensor]:
    """Return the tensors of a model with recorded changes: its parameters, and its buffers of real numbers."""
    buffers = [buffer for buffer in module.buffers() if buffer.is_floating_point()]
    return [*module.parameters(), *buffers]


def digests_of(tensors: list[torch.Tensor]) -> list[Digest]:
    """Return the digests (checksums) of tensors that are not watched."""
    return _sum_bytes(tensors, [_view(tensor) for tensor in tensors])


def _sum_bytes(tensors: list[torch.Tensor], views: list[NDArray[np.unsignedinteger] | None]) -> list[Digest]:
    """Return the digest of each tensor, a checksum of its bytes, by which changes are noticed.

    Args:
        tensors: parameters and buffers of a model.
        views: for each tensor, its memory as integers; None for a tensor on a device.

    Returns:
        The digests, in the order of the tensors.
    """
    digests: list[Digest] = []
    for tensor, view in zip(tensors, views, strict=True):
        if view is None:
            digests.append(_device_digest(tensor))
        else:
            digests.append(_host_digest(view))
    return digests


def _host_digest(view: NDArray[np.unsignedinteger]) -> tuple[np.unsignedinteger, bytes]:
    """Return the digest of a tensor on the CPU: the sum of its integers, and the integers at some positions."""
    return np.add.reduce(view), view[_positions(view.size)].tobytes()


@functools.lru_cache(maxsize=4096)
def _positions(size: int) -> NDArray[np.int64]:
    """Return the positions at which a vector of a given size is sampled: up to 64, the same for all such vectors.

    Args:
        size: number of entries of the vector.

    Returns:
        The positions, from 0, in increasing order.
    """
    if size <= _POSITIONS:
        return np.arange(size)
    return np.sort(np.random.default_rng((_SEED, size)).choice(size, _POSITIONS, replace=False))


@functools.lru_cache(maxsize=4096)
def _weighted_positions(size: int, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the positions at which a vector is sampled, and a random even weight for each.

    Both depend only on the size of the vector.

    Args:
        size: number of entries of the vector.
        device: device on which the two tensors are made.

    Returns:
        The positions and the weights, two tensors of 64-bit integers of the same length.
    """
    positions = _positions(size)
    # Even numbers below 2^63. As the weights differ, the sum depends on the order of the sampled entries. As they are
    # even, the factor 1 + weight of an entry in the digest is odd, and every change of one entry changes the digest.
    weights = np.random.default_rng((_SEED, size, 1)).integers(1 << 62, size=len(positions)) * 2
    return torch.from_numpy(positions).to(device), torch.from_numpy(weights).to(device)


def _versions(tensors: list[torch.Tensor]) -> list[int]:
    """Return the number of writes to each tensor."""
    return [tensor._version for tensor in tensors]  # noqa: SLF001  torch has no other counter of writes


def _view(tensor: torch.Tensor) -> NDArray[np.unsignedinteger] | None:
    """Return the memory of a tensor on the CPU as an array of integers, without a copy.

    The integers are as wide as size and alignment of the memory allow, from 1 to 8 bytes.

    Args:
        tensor: a tensor of any type.

    Returns:
        The array, which shows later changes of the tensor too. None for a tensor on another device.
    """
    if tensor.device.type != "cpu":
        return None
    dense = tensor.detach()
    if not dense.is_contiguous():  # view the whole storage instead, because numpy needs consecutive bytes
        elements = dense.untyped_storage().nbytes() // dense.element_size()
        dense = dense.as_strided((elements,), (1,), 0)
    raw: NDArray[np.uint8] = dense.reshape(-1).view(torch.uint8).numpy()
    for width, kind in ((8, np.uint64), (4, np.uint32), (2, np.uint16)):
        if raw.nbytes % width == 0 and raw.ctypes.data % width == 0:
            return raw.view(kind)
    return raw


def _device_digest(tensor: torch.Tensor) -> torch.Tensor:
    """Return the digest of a tensor on a device, as a tensor on that device.

    It is the sum of the tensor's integers, plus the sum of the integers at some positions with random even weights.
    Both sums are modulo 2^64.

    Args:
        tensor: a tensor on an accelerator.

    Returns:
        A tensor with one integer. The program need not wait for its value.
    """
    raw = tensor.detach().contiguous().reshape(-1).view(torch.uint8)
    # Read the bytes as integers of 8, 4 or 2 bytes: the largest of these sizes that divides the number of bytes.
    for width, kind in ((8, torch.int64), (4, torch.int32), (2, torch.int16)):
        if raw.numel() % width == 0:
            raw = raw.view(kind)
            break
    positions, weights = _weighted_positions(raw.numel(), raw.device)
    return raw.sum(dtype=torch.int64) + (raw[positions] * weights).sum()
