"""Federated EMNIST: handwritten characters by writer, in the HDF5 files of TensorFlow Federated.

A file has the group `examples`, with a group for each writer, which has the data sets `pixels` and `label`. The pixels
are from 0, the ink, to 1, the paper. The files of all characters have 62 classes, of which the first ten are the
digits. Those of digits only have their own split into training and test images. TensorFlow Federated publishes a
checksum of the packed archives, and none of these files. So the files are checked by their structure.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from epsilond.accountants.errors import InvalidInput
from epsilond.extras import extra
from epsilond.simulators.files.known import KnownFile, find_file

if TYPE_CHECKING:
    import h5py

DATA: Final = "federated-emnist"
DIGITS: Final = 10
CHARACTERS: Final = 62
SIDE: Final = 28
"""Rows of an image, and its columns."""
DIGIT_FILES: Final = (KnownFile(("fed_emnist_digitsonly_train.h5",)), KnownFile(("fed_emnist_digitsonly_test.h5",)))
CHARACTER_FILES: Final = (KnownFile(("fed_emnist_train.h5",)), KnownFile(("fed_emnist_test.h5",)))


@dataclass(frozen=True)
class WrittenImages:
    """Images of characters by one writer, with the class of each.

    Attributes:
        images: gray values from 0, the ink, to 1, the paper, (images, 28, 28).
        labels: class of each image, (images), 0 to 9 for digits and 0 to 61 for all characters.
    """

    images: npt.NDArray[np.float32]
    labels: npt.NDArray[np.int64]


@dataclass(frozen=True)
class Writer:
    """One writer of federated EMNIST, who is one client.

    Attributes:
        name: identifier of the writer.
        training: images for training.
        test: images for tests.
    """

    name: str
    training: WrittenImages
    test: WrittenImages


@functools.lru_cache(maxsize=2)
def read_writers(folder: Path, most: int | None = None, *, digits_only: bool = True) -> tuple[Writer, ...]:
    """Read the writers of federated EMNIST, in the order of their names. The last two results are kept in memory.

    Args:
        folder: folder with the files.
        most: largest number of writers; None for all.
        digits_only: whether the files of digits are read, instead of the files of all characters.

    Returns:
        Writers with their names, training images and test images.

    Raises:
        InvalidInput: a file is missing or is not an HDF5 file of this structure, or a writer has no test images.
        MissingExtra: h5py is not installed.
    """
    training, test = DIGIT_FILES if digits_only else CHARACTER_FILES
    classes = DIGITS if digits_only else CHARACTERS
    with _open_examples(folder, training) as training_group, _open_examples(folder, test) as test_group:
        names = sorted(training_group)[:most]
        _check_names(names, test_group, test.names[0])
        return tuple(
            Writer(
                name,
                training=_read_images(training_group, name, training.names[0], classes),
                test=_read_images(test_group, name, test.names[0], classes),
            )
            for name in names
        )


@contextmanager
def _open_examples(folder: Path, file: KnownFile) -> Iterator[h5py.Group]:
    """Open an HDF5 file of writers' images, and yield its group `examples`.

    Args:
        folder: folder of the data set.
        file: the file of one split.

    Yields:
        The group, with one entry for each writer.

    Raises:
        InvalidInput: the file is missing, is not an HDF5 file, or has no writers.
    """
    with extra("data", "federated EMNIST"):
        import h5py  # noqa: PLC0415  only this data set needs it
    path = find_file(folder, file, data=DATA)
    try:
        opened = h5py.File(path, "r")
    except OSError as error:
        raise _fault(f"{path.name} is not a complete HDF5 file: {error}") from None
    with opened:
        examples = opened.get("examples")
        if not isinstance(examples, h5py.Group):
            raise _fault(f"{path.name} has no group examples")
        if not len(examples):
            raise _fault(f"{path.name} has no writer in the group examples")
        yield examples


def _check_names(names: Sequence[str], group: h5py.Group, file: str) -> None:
    """Check that every writer has images in a file.

    Args:
        names: names of the writers.
        group: the group `examples` of the file.
        file: name of the file, for an error.

    Raises:
        InvalidInput: a writer is missing.
    """
    for name in names:
        if name not in group:
            raise _fault(f"{file} has no writer examples/{name}")


def _read_images(examples: h5py.Group, name: str, file: str, classes: int) -> WrittenImages:
    """Read the images of a writer, and check their type, shape and values.

    Args:
        examples: the group `examples` of the file.
        name: name of the writer.
        file: name of the file, for an error.
        classes: number of classes.

    Returns:
        Images as 32-bit floats from 0 to 1, with their labels as integers.

    Raises:
        InvalidInput: a field is missing, cannot be read, or has another shape or other values.
    """
    pixels = _read_field(examples, f"{name}/pixels", file)
    labels = _read_field(examples, f"{name}/label", file)

    # Types and shapes are checked first, so that the values can be compared.
    prefix = f"{file} has examples/{name}"
    if pixels.shape[1:] != (SIDE, SIDE) or pixels.dtype.kind != "f" or not len(pixels):
        raise _fault(f"{prefix}/pixels of type {pixels.dtype} and shape {pixels.shape}, not images of 28 × 28 numbers")
    if labels.shape not in ((len(pixels),), (len(pixels), 1)) or labels.dtype.kind not in "iu":
        raise _fault(f"{prefix}/label of type {labels.dtype} and shape {labels.shape}, for {len(pixels)} images")
    if not (pixels.min() >= 0.0 and pixels.max() <= 1.0):
        raise _fault(f"{prefix}/pixels from {pixels.min()} to {pixels.max()}, not from 0 to 1")
    if labels.min() < 0 or labels.max() >= classes:
        raise _fault(f"{prefix}/label from {labels.min()} to {labels.max()}, not from 0 to {classes - 1}")
    return WrittenImages(pixels.astype(np.float32), labels.reshape(-1).astype(np.int64))


def _read_field(examples: h5py.Group, path: str, file: str) -> npt.NDArray[Any]:
    """Read the values of a data set of an HDF5 file.

    Args:
        examples: the group `examples` of the file.
        path: path of the data set in the group.
        file: name of the file, for an error.

    Returns:
        The values as an array of the type that they have in the file.

    Raises:
        InvalidInput: it is missing, or cannot be read.
    """
    field = examples.get(path)
    if not hasattr(field, "shape"):
        raise _fault(f"{file} has no field examples/{path}")
    try:
        return np.asarray(field[()])
    except OSError as error:
        raise _fault(f"{file} has examples/{path}, which cannot be read: {error}") from None


def _fault(message: str) -> InvalidInput:
    """Return the error that a file has another structure, with a message that names the file."""
    return InvalidInput.at(f"/data/{DATA}", message)
