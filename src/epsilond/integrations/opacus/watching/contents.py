"""Whether the model read the batches that the loader handed out."""

from __future__ import annotations

import itertools
import weakref
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple, Protocol

import torch
from torch._C._functorch import get_unwrapped, is_functorch_wrapped_tensor

_KEPT_BATCHES: Final = 4
"""Number of batches that are kept alive for comparison with a copy on another device."""

_TENSORS: Final = 16
"""Largest number of tensors of one batch, or of one call of the model, that are compared."""

_LARGEST_MEMORY: Final = 4096
"""Number of remembered tensors above which those that the program has deleted are forgotten."""


class SamplerPass(Protocol):
    """One pass over a sampler, in which the sampler draws batches in order; `draws.Epoch` is one."""

    def use(self, draw: IndexBatch) -> int:
        """Mark a draw as used, and return the number of earlier draws that were handed out and not used."""


class IndexBatch:
    """One draw of the sampler: a batch of indices of records, from which a data loader loads a batch of data.

    Attributes:
        epoch: the pass over the sampler to which it belongs.
        position: number of earlier draws of that pass.
        size: number of records.
        rate: sampling rate of the sampler when it drew.
        used: whether a step has used it.
        skipped: whether a later draw of the same pass was used before it.
        handed_out: whether the loader has returned its last part.
    """

    __slots__ = ("epoch", "handed_out", "position", "rate", "size", "skipped", "used")

    def __init__(self, epoch: SamplerPass, position: int, size: int, rate: float) -> None:
        self.epoch = epoch
        self.position = position
        self.size = size
        self.rate = rate
        self.used = False
        self.skipped = False
        self.handed_out = False


class HandedBatch:
    """One batch of data that the data loader returned to the program.

    Attributes:
        draw: the draw with the records that the batch has, all or a part of them; None if the loader's sampler is not
            known.
        used: whether an earlier step used it.
    """

    __slots__ = ("__weakref__", "draw", "used")

    def __init__(self, draw: IndexBatch | None) -> None:
        self.draw = draw
        self.used = False


class _KnownTensor(NamedTuple):
    """A tensor of a batch that the data loader returned, by which the batch is recognised in the model's input.

    Attributes:
        tensor: a tensor that the loader returned.
        version: number of writes to it when the loader returned it.
        batch: the batch that contains the tensor.
    """

    tensor: torch.Tensor
    version: int
    batch: HandedBatch

    def is_unchanged(self) -> bool:
        """Return whether nothing was written to the tensor since the loader returned it."""
        return bool(self.tensor._version == self.version)  # noqa: SLF001  torch has no other counter of writes


class Contents:
    """Recognises batches of a data loader among the inputs of a model.

    An input is recognised if it shares its memory with a tensor of the batch that was not changed since. It is also
    recognised if its rows have the same values, which remain equal if the tensor is moved, cast or reshaped. On a
    device, only three rows are compared.
    """

    def __init__(self) -> None:
        # For each address: the tensor there, the number of writes to it when it was returned, and its batch.
        self._known: dict[int, tuple[weakref.ref[torch.Tensor], int, HandedBatch]] = {}
        # The tensors of the latest batches, kept in memory for comparison with a copy on another device.
        self._latest_batches: deque[list[_KnownTensor]] = deque(maxlen=_KEPT_BATCHES)

    def hand_out(self, batch: object, draw: IndexBatch | None) -> None:
        """Remember the tensors of a batch that the loader returns, each by the address of its storage.

        Args:
            batch: the tensors, in nested lists, tuples and mappings.
            draw: the draw with the records that the batch has; None if it is not known.
        """
        handed = HandedBatch(draw)
        entries = []
        for tensor in _tensors(batch):
            address = _address_of(tensor)
            version = tensor._version  # noqa: SLF001  torch has no other counter of writes
            self._known.pop(address, None)  # so that the new entry comes last
            self._known[address] = (weakref.ref(tensor), version, handed)
            entries.append(_KnownTensor(tensor, version, handed))
        self._latest_batches.append(entries)
        if len(self._known) > _LARGEST_MEMORY:
            self._known = {address: entry for address, entry in self._known.items() if entry[0]() is not None}

    def recognise(self, inputs: object, *, by_value: bool) -> tuple[HandedBatch | None, bool]:
        """Return the batch that a model reads, and whether the model also reads other data.

        A model that reads records outside the drawn batch releases more than the account covers.

        Args:
            inputs: arguments of the model.
            by_value: whether values are compared if no memory is shared. On a device this waits for the device.

        Returns:
            The batch; None if no batch is recognised. And whether the model also reads another batch or, if values are
            compared, other real numbers that are not all zero. The second value is False without a batch.
        """
        tensors = list(_tensors(inputs))
        batches = [self._find_by_address(tensor) for tensor in tensors]
        batch = next((handed for handed in batches if handed is not None), None)
        if batch is None and by_value:
            batch = self._find_by_value(tensors)
        if batch is None:
            return None, False
        reads_other_batch = any(handed is not None and handed is not batch for handed in batches)
        if reads_other_batch:
            return batch, True
        copies = [tensor for tensor, handed in zip(tensors, batches, strict=True) if handed is None]
        reads_other_data = by_value and any(self._is_foreign(tensor, batch) for tensor in copies)
        return batch, reads_other_data

    def _find_by_address(self, tensor: torch.Tensor) -> HandedBatch | None:
        """Return the batch with a tensor that is in the same memory as a given tensor.

        Args:
            tensor: an input of the model.

        Returns:
            The batch; None if there is none, or if its tensor was deleted or changed.
        """
        entry = self._known.get(_address_of(tensor))
        if entry is None:
            return None
        source, version, handed = entry
        is_unchanged = tensor._version == version  # noqa: SLF001  torch has no other counter of writes
        if source() is None or not is_unchanged:
            return None
        return handed

    def _find_by_value(self, tensors: list[torch.Tensor]) -> HandedBatch | None:
        """Return the first batch with a tensor that has the values of one of the given tensors.

        Empty tensors all have the same values. They are therefore compared only with batches that no step has used.

        Args:
            tensors: inputs of the model.

        Returns:
            The batch, if its tensors were not changed since the loader returned it; None if there is no such batch.
        """
        are_empty = all(tensor.numel() == 0 for tensor in tensors)
        candidates = self._list_unused() if are_empty else self._list_candidates()
        for candidate in candidates:
            if candidate.is_unchanged() and any(_same_rows(tensor, candidate.tensor) for tensor in tensors):
                return candidate.batch
        return None

    def _is_foreign(self, tensor: torch.Tensor, batch: HandedBatch) -> bool:
        """Return whether a tensor has data of other records than this batch.

        Such a tensor has real numbers that are not all zero, and agrees with no tensor of the batch in all rows. The
        tensors of the latest batches are kept for this comparison. Older ones are compared if the program still holds
        them.

        Args:
            tensor: an input of the model.
            batch: the batch that the model read.

        Returns:
            True if the tensor agrees with no tensor of the batch that can still be compared.
        """
        if not tensor.is_floating_point() or not tensor.any():
            return False
        for candidate in itertools.chain(*self._latest_batches, self._list_alive()):
            is_of_batch = candidate.batch is batch and candidate.is_unchanged()
            if is_of_batch and _same_rows(tensor, candidate.tensor):
                return False
        return True

    def _list_candidates(self) -> Iterator[_KnownTensor]:
        """Yield the tensors of the latest batches, and then those of unused batches that the loop still holds."""
        for entries in reversed(self._latest_batches):
            yield from entries
        yield from self._list_unused()

    def _list_unused(self) -> Iterator[_KnownTensor]:
        """Yield the tensors of unused batches that the loop still holds, in the order of their draws."""
        return (entry for entry in self._list_alive() if not entry.batch.used)

    def _list_alive(self) -> Iterator[_KnownTensor]:
        """Yield the tensors that the program still holds, in the order in which the loader returned them."""
        for source, version, handed in self._known.values():
            tensor = source()
            if tensor is not None:
                yield _KnownTensor(tensor, version, handed)


def has_numbers(inputs: object) -> bool:
    """Return whether one of the inputs of a model is a tensor that is not empty.

    Args:
        inputs: tensors in nested lists, tuples and mappings.
    """
    return any(tensor.numel() for tensor in _tensors(inputs))


def _address_of(tensor: torch.Tensor) -> int:
    """Return a key for the memory of a tensor: its address or, for an empty tensor, minus the id of the object.

    Args:
        tensor: a dense tensor.
    """
    return tensor.untyped_storage().data_ptr() or -id(tensor)


def _tensors(batch: object) -> Iterator[torch.Tensor]:
    """Yield at most `_TENSORS` dense tensors of nested lists, tuples and mappings.

    If `torch.func.vmap` maps an input over records, the underlying tensor with all records is yielded.

    Args:
        batch: nested lists, tuples and mappings; other values are skipped.

    Yields:
        A dense tensor. Items of lists and tuples come in order, and those of mappings in reverse order.
    """
    stack = [batch]  # in place of a recursion, which deep nesting would exhaust
    count = 0
    while stack and count < _TENSORS:
        value = stack.pop()
        if isinstance(value, torch.Tensor):
            while is_functorch_wrapped_tensor(value):
                value = get_unwrapped(value)
            if value.layout is torch.strided:
                count += 1
                yield value
        elif isinstance(value, Mapping):
            stack.extend(value.values())
        elif isinstance(value, list | tuple):
            stack.extend(reversed(value))


def _same_rows(tensor: torch.Tensor, value: torch.Tensor) -> bool:
    """Return whether each row of an input has the same values as the same row of a tensor of the batch.

    A row has the values of one record. The values are sorted before the comparison, because a program may transpose the
    axes of a record. On a device, only the first, the middle and the last row are compared.

    Args:
        tensor: an input of the model.
        value: a tensor of the batch, which is cast to the type of the input.

    Returns:
        True if all compared rows agree.
    """
    if tensor.ndim == 0 or value.ndim == 0:
        return False
    if len(tensor) != len(value) or tensor.numel() != value.numel():
        return False
    if tensor.numel() == 0:
        return True
    with torch.no_grad():
        # Comparing three rows on the CPU copies little from a device.
        for row in {0, len(tensor) // 2, len(tensor) - 1}:
            input_row = tensor[row].reshape(-1).to("cpu")
            batch_row = value[row].reshape(-1).to(device="cpu", dtype=tensor.dtype)
            if not torch.equal(input_row.sort().values, batch_row.sort().values):
                return False
        if tensor.device.type != "cpu" or value.device.type != "cpu":
            return True
        # Compare all rows, first without the sorting, which takes more time.
        rows = tensor.reshape(len(tensor), -1)
        expected = value.reshape(len(value), -1).to(dtype=tensor.dtype)
        if torch.equal(rows, expected):
            return True
        return bool(torch.equal(rows.sort(dim=1).values, expected.sort(dim=1).values))
