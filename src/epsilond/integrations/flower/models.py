"""Models that rounds released, by their digests."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from flwr.app import Array, ArrayRecord, Message


NPY: Final = b"\x93NUMPY"
"""First bytes of numpy's file format."""
ROWS: Final = b"'fortran_order': False"
"""Part of its header that says that the values are stored row by row."""
LONGEST_HEADER: Final = 4096
"""Bytes of a header of numpy's file format, at most; longer ones are left to numpy."""


class ReleasedModels:
    """Set of the models that clients may receive: the released models of earlier rounds, and the first model.

    Models are stored as digests. If there is none yet, the model of the first call of `contains` is the first model.

    Args:
        digests: digests of models that were released before, from a checkpoint.
    """

    def __init__(self, digests: Iterable[str] = ()) -> None:
        self.digests = set(digests)
        self._latest: tuple[object, ...] = ()

    def release(self, arrays: ArrayRecord) -> None:
        """Add a model that a round released.

        Args:
            arrays: the arrays of the model by name.
        """
        self.digests.add(digest(arrays))
        self._latest = _contents(arrays)

    def contains(self, arrays: ArrayRecord) -> bool:
        """Return whether a model may be sent to clients: it was released before, or is the first model.

        If no model is stored yet, this model counts as the first one, and is stored.

        Args:
            arrays: the model.

        Returns:
            True if the model is the first one, or equals a released one in every byte.
        """
        # This quick comparison saves the hash: tuples compare by identity before they compare by value, and the bytes
        # of a Flower array cannot change.
        if _contents(arrays) == self._latest:
            return True
        if not self.digests:
            self.release(arrays)
            return True
        return digest(arrays) in self.digests


def digest(arrays: ArrayRecord) -> str:
    """Return a digest of a model: a hash of the names, types, shapes and bytes of its arrays.

    Args:
        arrays: the model.

    Returns:
        The hash in 32 hexadecimal digits.
    """
    hashed = hashlib.blake2b(digest_size=16)
    for name, array in arrays.items():
        hashed.update(f"{name}\0{array.dtype}\0{tuple(array.shape)}\0".encode())
        hashed.update(array.data)
    return hashed.hexdigest()


def views(arrays: ArrayRecord) -> dict[str, NDArray[np.number]]:
    """Return the arrays of a model for reading. They are copied only if their bytes are not in numpy's row order.

    Args:
        arrays: the arrays of the model in Flower's form.

    Returns:
        The arrays by name. They must not be written.
    """
    return {name: _view(array) for name, array in arrays.items()}


def model_and_weight(reply: Message, weight_key: str) -> tuple[dict[str, NDArray[np.number]], object]:
    """Return the model of a client's reply, and the weight that the client reported.

    Args:
        reply: the reply.
        weight_key: name of the weight among the metrics.

    Returns:
        The arrays by name, and the weight. There are no arrays if the reply has no model or several, and the weight is
        None if the reply has none.
    """
    models = list(reply.content.array_records.values())
    metrics = list(reply.content.metric_records.values())
    model = views(models[0]) if len(models) == 1 else {}
    weight = metrics[0].get(weight_key) if metrics else None
    return model, weight


def _view(array: Array) -> NDArray[np.number]:
    """Return a view of an array's bytes without a copy, if they are in numpy's file format with rows in C order.

    Otherwise the array is converted by Flower's own `numpy()`, which copies the bytes.

    Args:
        array: an array of Flower.

    Returns:
        The array with the values. It must not be written.
    """
    data, dtype, shape = array.data, np.dtype(array.dtype), tuple(array.shape)
    count = math.prod(shape)
    # In numpy's file format, the values follow a header that describes their type and shape.
    header_bytes = len(data) - count * dtype.itemsize
    has_plain_header = data.startswith(NPY) and 0 < header_bytes <= LONGEST_HEADER
    is_row_major = has_plain_header and ROWS in data[:header_bytes]
    if array.stype != "numpy.ndarray" or dtype.hasobject or not is_row_major:
        copied: NDArray[np.number] = array.numpy()
        return copied
    return np.frombuffer(data, dtype, count, header_bytes).reshape(shape)


def _contents(arrays: ArrayRecord) -> tuple[object, ...]:
    """Return names, types, shapes and bytes of the arrays of a model, without a copy of the bytes."""
    return tuple((name, array.dtype, tuple(array.shape), array.data) for name, array in arrays.items())
