"""Whether the model read the batches that the loader handed out."""

from __future__ import annotations

import itertools
import weakref
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Final, Protocol

import torch
from torch._C._functorch import get_unwrapped, is_functorch_wrapped_tensor

_HELD: Final = 4
"""Number of batches that are kept alive for comparison with a copy on another device."""

_TENSORS: Final = 16
"""Tensors of one batch, or of one call of the model, that are looked at."""

_LARGEST_MEMORY: Final = 4096
"""Tensors that are remembered after their batch was used."""


class SamplerPass(Protocol):
    """One pass over a sampler: `draws.Epoch`."""

    def use(self, draw: IndexBatch) -> int:
        """Mark a draw as used, and return the number of earlier draws that were handed out and not used."""


class IndexBatch:
    """One draw of the sampler: a batch of indices of records.

    Attributes:
        epoch: the pass over the sampler to which it belongs.
        place: number of earlier draws of that pass.
        size: number of records.
        rate: sampling rate of the sampler when it drew.
        used: whether a step has used it.
        skipped: whether a later draw of the same pass was used before it.
        handed_out: whether the loader has returned its last part.
    """

    __slots__ = ("epoch", "handed_out", "place", "rate", "size", "skipped", "used")

    def __init__(self, epoch: SamplerPass, place: int, size: int, rate: float) -> None:
        self.epoch = epoch
        self.place = place
        self.size = size
        self.rate = rate
        self.used = False
        self.skipped = False
        self.handed_out = False


class HandedBatch:
    """One batch that the loader returned.

    Attributes:
        draw: the draw that it holds, or a part of it; None if the loader's sampler is not known.
        used: whether an earlier step used it.
    """

    __slots__ = ("__weakref__", "draw", "used")

    def __init__(self, draw: IndexBatch | None) -> None:
        self.draw = draw
        self.used = False


class Contents:
    """Recognises batches of a data loader among the inputs of a model.

    An input is recognised if it shares its memory with a tensor of the batch that was not changed since. It is also
    recognised if its rows have the same values, which remain equal if the tensor is moved, cast or reshaped. On a
    device, only three rows are compared.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[weakref.ref[torch.Tensor], int, HandedBatch]] = {}
        self._held: deque[list[tuple[torch.Tensor, int, HandedBatch]]] = deque(maxlen=_HELD)

    def hand_out(self, batch: object, draw: IndexBatch | None) -> None:
        """Remember the tensors of a batch that the loader returns, each by the address of its storage.

        Args:
            batch: the tensors, in nested lists, tuples and mappings.
            draw: the draw that the batch holds; None if it is not known.
        """
        handed = HandedBatch(draw)
        entries = []
        for tensor in _tensors(batch):
            place = _place_of(tensor)
            version = tensor._version  # noqa: SLF001  torch has no other counter of writes
            self._known.pop(place, None)
            self._known[place] = (weakref.ref(tensor), version, handed)
            entries.append((tensor, version, handed))
        self._held.append(entries)
        if len(self._known) > _LARGEST_MEMORY:
            self._known = {place: entry for place, entry in self._known.items() if entry[0]() is not None}

    def recognise(self, inputs: object, *, by_value: bool) -> tuple[HandedBatch | None, bool]:
        """Find the batch that a model reads, and find out whether the model reads other data too.

        Args:
            inputs: arguments of the model.
            by_value: whether values are compared if no memory is shared. On a device this waits for the device.

        Returns:
            The batch, or None; and whether there is another input of real numbers, not all zero, that is no part of the
            batch.
        """
        tensors = list(_tensors(inputs))
        shared = [self._share_storage(tensor) for tensor in tensors]
        batch = next((handed for handed in shared if handed is not None), None)
        if batch is None and by_value:
            batch = self._find_values(tensors)
        if batch is None:
            return None, False
        separate = [tensor for tensor, handed in zip(tensors, shared, strict=True) if handed is None]
        if any(handed is not None and handed is not batch for handed in shared):
            return batch, True
        return batch, by_value and any(self._is_foreign(tensor, batch) for tensor in separate)

    def _share_storage(self, tensor: torch.Tensor) -> HandedBatch | None:
        """Return the batch with a tensor in the same memory; None if there is none, or if it was changed."""
        entry = self._known.get(_place_of(tensor))
        if entry is None:
            return None
        source, version, handed = entry
        same = source() is not None and tensor._version == version  # noqa: SLF001  as above
        return handed if same else None

    def _find_values(self, tensors: list[torch.Tensor]) -> HandedBatch | None:
        """Return the batch with a tensor of the same values as one of these."""
        empty = all(tensor.numel() == 0 for tensor in tensors)
        for value, version, handed in self._list_unused() if empty else self._candidates():
            unchanged = value._version == version  # noqa: SLF001  as above
            if unchanged and any(_same_rows(tensor, value) for tensor in tensors):
                return handed
        return None

    def _is_foreign(self, tensor: torch.Tensor, batch: HandedBatch) -> bool:
        """Return whether a tensor has real numbers, not only zeros, that are not those of a tensor of this batch.

        Args:
            tensor: an input of the model.
            batch: the batch that the model read.
        """
        if not tensor.is_floating_point() or not tensor.any():
            return False
        entries = ((source(), version, handed) for source, version, handed in self._known.values())
        for value, version, handed in itertools.chain(*self._held, entries):
            if handed is not batch or value is None:
                continue
            unchanged = value._version == version  # noqa: SLF001  as above
            if unchanged and _same_rows(tensor, value):
                return False
        return True

    def _candidates(self) -> Iterator[tuple[torch.Tensor, int, HandedBatch]]:
        """Yield the tensors of the latest batches, and then those of unused batches that the loop still holds."""
        for entries in reversed(self._held):
            yield from entries
        yield from self._list_unused()

    def _list_unused(self) -> Iterator[tuple[torch.Tensor, int, HandedBatch]]:
        """Yield the tensors of unused batches that the loop still holds, in the order of their draws."""
        for source, version, handed in self._known.values():
            value = None if handed.used else source()
            if value is not None:
                yield value, version, handed


def has_numbers(inputs: object) -> bool:
    """Return whether one of these inputs is a tensor that is not empty."""
    return any(tensor.numel() for tensor in _tensors(inputs))


def _place_of(tensor: torch.Tensor) -> int:
    """Return a key for the memory of a tensor: its address, or a number of the object if the tensor is empty."""
    return tensor.untyped_storage().data_ptr() or -id(tensor)


def _tensors(batch: object) -> Iterator[torch.Tensor]:
    """Yield at most `_TENSORS` dense tensors of nested lists, tuples and mappings.

    Of inputs that `torch.func.vmap` maps over records, the underlying tensors with all records are returned.
    """
    waiting, count = [batch], 0
    while waiting and count < _TENSORS:
        value = waiting.pop()
        if isinstance(value, torch.Tensor):
            while is_functorch_wrapped_tensor(value):  # inputs of a function that torch.func.vmap maps over records
                value = get_unwrapped(value)
            if value.layout is torch.strided:
                count += 1
                yield value
        elif isinstance(value, Mapping):
            waiting.extend(value.values())
        elif isinstance(value, list | tuple):
            waiting.extend(reversed(value))


def _same_rows(tensor: torch.Tensor, value: torch.Tensor) -> bool:
    """Return whether each row of a tensor has the same values as that row of a tensor of the batch, in any order.

    On a device, only the first, the middle and the last row are compared.

    Args:
        tensor: an input of the model.
        value: a tensor of the batch, which is cast to the type of the input.
    """
    if tensor.ndim == 0 or value.ndim == 0:
        return False
    if len(tensor) != len(value) or tensor.numel() != value.numel():
        return False
    if tensor.numel() == 0:
        return True
    with torch.no_grad():
        for row in {0, len(tensor) // 2, len(tensor) - 1}:
            first = tensor[row].reshape(-1).to("cpu")
            second = value[row].reshape(-1).to(device="cpu", dtype=tensor.dtype)
            if not torch.equal(first.sort().values, second.sort().values):
                return False
        if tensor.device.type != "cpu" or value.device.type != "cpu":
            return True
        rows = tensor.reshape(len(tensor), -1)
        expected = value.reshape(len(value), -1).to(dtype=tensor.dtype)
        same = torch.equal(rows, expected) or torch.equal(rows.sort(dim=1).values, expected.sort(dim=1).values)
        return bool(same)
