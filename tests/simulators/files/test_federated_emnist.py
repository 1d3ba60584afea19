"""Test the reader of federated EMNIST: files of the right structure are read, and faulty ones are named."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import h5py
import numpy as np
import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.extras import MissingExtra
from epsilond.simulators.files.federated_emnist import read_writers
from tests.simulators.files.small_files import write_writers

TRAINING, TEST = "fed_emnist_digitsonly_train.h5", "fed_emnist_digitsonly_test.h5"
WRITER = "examples/f0001_00"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Yield a folder with the images of three writers."""
    write_writers(tmp_path, writers=3, training=12, test=4)
    read_writers.cache_clear()
    yield tmp_path
    read_writers.cache_clear()


def replace_field(folder: Path, file: str, name: str, values: object) -> None:
    """Replace a data set of the second writer; None removes it."""
    with h5py.File(folder / file, "a") as opened:
        del opened[f"{WRITER}/{name}"]
        if values is not None:
            opened[f"{WRITER}/{name}"] = values


def test_writers_come_in_the_order_of_their_names_with_both_parts(folder: Path) -> None:
    writers = read_writers(folder)
    assert [writer.name for writer in writers] == ["f0000_00", "f0001_00", "f0002_00"]
    for writer in writers:
        assert writer.training.images.shape == (12, 28, 28)
        assert writer.training.images.dtype == np.float32
        assert writer.training.labels.tolist() == [*range(10), 0, 1]
        assert writer.test.labels.tolist() == [0, 1, 2, 3]
    with h5py.File(folder / TEST) as file:
        assert np.array_equal(writers[1].test.images, file[f"{WRITER}/pixels"][()])


def test_only_the_first_writers_are_read(folder: Path) -> None:
    replace_field(folder, TRAINING, "pixels", None)
    assert [writer.name for writer in read_writers(folder, 1)] == ["f0000_00"]


def test_the_files_of_all_characters_have_62_classes(tmp_path: Path) -> None:
    write_writers(tmp_path, writers=2, training=62, test=2, digits_only=False)
    assert int(read_writers(tmp_path, digits_only=False)[0].training.labels.max()) == 61
    with pytest.raises(InvalidInput, match=f"has no file {TRAINING}"):
        read_writers(tmp_path)


def test_labels_in_a_column_are_read(folder: Path) -> None:
    replace_field(folder, TEST, "label", np.arange(4).reshape(4, 1))
    assert read_writers(folder)[1].test.labels.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("pixels", None, "has no field examples/f0001_00/pixels"),
        ("label", None, "has no field examples/f0001_00/label"),
        ("pixels", np.zeros((4, 784), dtype=np.float32), r"pixels of type float32 and shape \(4, 784\)"),
        ("pixels", np.zeros((4, 28, 28), dtype=np.uint8), "pixels of type uint8"),
        ("pixels", np.zeros((0, 28, 28), dtype=np.float32), r"pixels .* shape \(0, 28, 28\)"),
        ("pixels", h5py.Empty("f"), "pixels of type"),
        ("pixels", np.full((4, 28, 28), 255.0, dtype=np.float32), r"pixels from 255.0 to 255.0, not from 0 to 1"),
        ("pixels", np.full((4, 28, 28), np.nan, dtype=np.float32), "pixels from nan"),
        ("label", np.zeros(3, dtype=np.int32), r"label of type int32 and shape \(3,\), for 4 images"),
        ("label", np.zeros(4, dtype=np.float32), "label of type float32"),
        ("label", np.full(4, 10), "label from 10 to 10, not from 0 to 9"),
        ("label", np.full(4, -1), "label from -1"),
    ],
)
def test_a_faulty_field_is_named_with_its_file(folder: Path, name: str, values: object, message: str) -> None:
    replace_field(folder, TEST, name, values)
    with pytest.raises(InvalidInput, match=message) as error:
        read_writers(folder)
    (fault,) = error.value.faults
    assert fault.pointer == "/data/federated-emnist"
    assert TEST in fault.message


def drop_examples(path: Path) -> None:
    """Rename the group of all writers."""
    with h5py.File(path, "a") as file:
        file.move("examples", "records")


def drop_writers(path: Path) -> None:
    """Remove every writer."""
    with h5py.File(path, "a") as file:
        del file["examples"]
        file.create_group("examples")


def flatten_writer(path: Path) -> None:
    """Put an array where the group of a writer should be."""
    with h5py.File(path, "a") as file:
        del file[WRITER]
        file[WRITER] = np.zeros(3)


def drop_writer(path: Path) -> None:
    """Remove the second writer."""
    with h5py.File(path, "a") as file:
        del file[WRITER]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda path: path.write_bytes(b""), "not a complete HDF5 file"),
        (lambda path: path.write_bytes(b"SQLite format 3\0" * 100), "not a complete HDF5 file"),
        (lambda path: path.write_bytes(path.read_bytes()[:-1000]), "not a complete HDF5 file"),
        (lambda path: path.unlink(), "has no file"),
        (drop_examples, "has no group examples"),
        (drop_writers, "has no writer"),
        (flatten_writer, "has no field examples/f0001_00/pixels"),
        (drop_writer, "has no writer examples/f0001_00"),
    ],
)
def test_a_wrong_truncated_empty_or_foreign_file_is_named(
    folder: Path, change: Callable[[Path], object], message: str
) -> None:
    change(folder / TEST)
    with pytest.raises(InvalidInput, match=message) as error:
        read_writers(folder)
    assert TEST in error.value.faults[0].message


def test_a_damaged_block_of_pixels_is_named(folder: Path) -> None:
    pixels = np.random.default_rng(0).random((4, 28, 28)).astype(np.float32)
    with h5py.File(folder / TEST, "a") as file:
        del file[f"{WRITER}/pixels"]
        field = file.create_dataset(f"{WRITER}/pixels", data=pixels, compression="gzip", fletcher32=True)
        place = field.id.get_chunk_info(0).byte_offset
    content = bytearray((folder / TEST).read_bytes())
    content[place + 20 : place + 60] = bytes(40)
    (folder / TEST).write_bytes(content)
    with pytest.raises(InvalidInput, match=f"{TEST} has {WRITER}/pixels, which cannot be read"):
        read_writers(folder)


def test_a_missing_package_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(MissingExtra, match=r"epsilond\[data\]"):
        read_writers(folder)
