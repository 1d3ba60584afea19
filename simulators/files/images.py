"""Labelled images of MNIST, Fashion-MNIST and CIFAR-10, read from the authors' files."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from epsilond.accountants.errors import InvalidInput
from epsilond.simulators.files.folders import DataName
from epsilond.simulators.files.idx import parse_idx
from epsilond.simulators.files.known import DataFile, KnownFile, read_known

CLASSES = 10
"""Number of classes of each of the three data sets."""


@dataclass(frozen=True)
class Images:
    """Images as unsigned bytes, one row of pixels each, with the class of each image.

    Attributes:
        pixels: values from 0 to 255, (records, pixels). CIFAR-10 has the red, the green and the blue plane of an image
            one after another.
        labels: class of each image, 0 to 9, (records).
    """

    pixels: npt.NDArray[np.uint8]
    labels: npt.NDArray[np.uint8]


@dataclass(frozen=True)
class LabelledImages:
    """The training images and the test images of a data set.

    Attributes:
        training: images for training, with their classes.
        test: images for tests, with their classes.
        files: the files that they were read from, with their checksums.
    """

    training: Images
    test: Images
    files: tuple[DataFile, ...]


IdxFiles = tuple[tuple[KnownFile, KnownFile], tuple[KnownFile, KnownFile]]
"""Images and labels of the training part, then of the test part."""
MNIST_FILES: IdxFiles = (
    (
        KnownFile(("train-images-idx3-ubyte", "train-images.idx3-ubyte"), "6bbc9ace898e44ae57da46a324031adb"),
        KnownFile(("train-labels-idx1-ubyte", "train-labels.idx1-ubyte"), "a25bea736e30d166cdddb491f175f624"),
    ),
    (
        KnownFile(("t10k-images-idx3-ubyte", "t10k-images.idx3-ubyte"), "2646ac647ad5339dbf082846283269ea"),
        KnownFile(("t10k-labels-idx1-ubyte", "t10k-labels.idx1-ubyte"), "27ae3e4e09519cfbb04c329615203637"),
    ),
)
FASHION_FILES: IdxFiles = (
    (KnownFile(("train-images-idx3-ubyte",)), KnownFile(("train-labels-idx1-ubyte",))),
    (KnownFile(("t10k-images-idx3-ubyte",)), KnownFile(("t10k-labels-idx1-ubyte",))),
)
CIFAR_TRAINING = tuple(KnownFile((f"data_batch_{number}.bin",)) for number in range(1, 6))
CIFAR_TEST = (KnownFile(("test_batch.bin",)),)
CIFAR_PIXELS = 3 * 32 * 32


@functools.lru_cache(maxsize=2)
def read_images(data: DataName, folder: Path) -> LabelledImages:
    """Read the training and test images of a data set, with their labels.

    Args:
        data: `mnist`, `fashion-mnist` or `cifar-10`.
        folder: folder with the original files of the data set.

    Returns:
        The images, with the files that they were read from. The last two results are kept in memory.

    Raises:
        InvalidInput: a file is missing, truncated, of another format, or not the original.
    """
    if data == "cifar-10":
        parts = [_read_cifar(folder, files) for files in (CIFAR_TRAINING, CIFAR_TEST)]
    else:
        pairs = MNIST_FILES if data == "mnist" else FASHION_FILES
        parts = [_read_idx_pair(folder, pair, data) for pair in pairs]
    (training, training_files), (test, test_files) = parts
    return LabelledImages(training, test, (*training_files, *test_files))


def _read_idx_pair(folder: Path, pair: tuple[KnownFile, KnownFile], data: str) -> tuple[Images, tuple[DataFile, ...]]:
    """Read the images of a pair of IDX files.

    Args:
        folder: folder of the data set.
        pair: the files with the images and with their labels.
        data: name of the data set, for the pointer of an error.

    Returns:
        The images with their labels, and the names and checksums of both files.

    Raises:
        InvalidInput: a file is missing or malformed, or the numbers of images and labels differ.
    """
    image_file, label_file = pair
    image_name, label_name = image_file.names[0], label_file.names[0]
    image_source = read_known(folder, image_file, data=data)
    label_source = read_known(folder, label_file, data=data)
    images = parse_idx(image_source.content, axes=3, name=image_name, data=data)
    labels = parse_idx(label_source.content, axes=1, name=label_name, data=data)
    if len(images) != len(labels):
        message = f"{image_name} has {len(images)} images, and {label_name} has {len(labels)} labels"
        raise InvalidInput.at(f"/data/{data}", message)
    _check_labels(labels, label_name, data)
    pixels = images.reshape(len(images), -1)
    return Images(pixels, labels), (image_source.file, label_source.file)


def _read_cifar(folder: Path, files: tuple[KnownFile, ...]) -> tuple[Images, tuple[DataFile, ...]]:
    """Read the images of CIFAR-10's binary batches.

    Each row of a file has one byte for the label and 3,072 bytes for the pixels.

    Args:
        folder: folder of the data set.
        files: the files with the batches.

    Returns:
        The images with their labels, and the names and checksums of the files.

    Raises:
        InvalidInput: a file is missing or truncated, or a label is not a class.
    """
    # Read all files before their contents are checked, so that a missing file is reported first.
    row_bytes = 1 + CIFAR_PIXELS
    sources = [read_known(folder, file, data="cifar-10") for file in files]
    batches = []
    for file, source in zip(files, sources, strict=True):
        content = source.content
        if not content or len(content) % row_bytes:
            message = f"{file.names[0]} has {len(content)} bytes, no multiple of {row_bytes}: it is truncated"
            raise InvalidInput.at("/data/cifar-10", message)
        batches.append(np.frombuffer(content, dtype=np.uint8).reshape(-1, row_bytes))

    # Separate the labels, the first byte of each row, from the pixels.
    rows = np.concatenate(batches)
    labels, pixels = rows[:, 0], rows[:, 1:]
    _check_labels(labels, files[0].names[0], "cifar-10")
    return Images(pixels, labels), tuple(source.file for source in sources)


def _check_labels(labels: npt.NDArray[np.uint8], name: str, data: str) -> None:
    """Check that every label is a class, a number from 0 to 9.

    Args:
        labels: labels of the images, as bytes of the file.
        name: name of the file with the labels, for an error.
        data: name of the data set, for the pointer of an error.

    Raises:
        InvalidInput: a label is above 9.
    """
    if labels.size and int(labels.max()) >= CLASSES:
        raise InvalidInput.at(f"/data/{data}", f"{name} has a label above {CLASSES - 1}: {int(labels.max())}")
