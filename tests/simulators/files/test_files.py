"""Test the readers of data sets: small files of the right format are read, and faulty ones are named."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.simulators.files import images, medical_costs
from epsilond.simulators.files.folders import VARIABLE, find_folder, use_folders
from epsilond.simulators.files.idx import parse_idx
from epsilond.simulators.files.images import read_images
from epsilond.simulators.files.known import KnownFile, read_known
from epsilond.simulators.files.medical_costs import read_medical_costs
from tests.simulators.files.small_files import idx_bytes, write_costs, write_digits


@pytest.fixture(autouse=True)
def _read_each_time() -> Iterator[None]:
    yield
    read_images.cache_clear()
    read_medical_costs.cache_clear()


def fault_of(error: pytest.ExceptionInfo[InvalidInput]) -> tuple[str, str]:
    (fault,) = error.value.faults
    return fault.pointer, fault.message


# Folders --------------------------------------------------------------------------------------------------------------
def test_a_given_folder_is_used_before_the_configured_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    configured, given = tmp_path / "all" / "mnist", tmp_path / "given"
    configured.mkdir(parents=True)
    given.mkdir()
    monkeypatch.setenv(VARIABLE, str(tmp_path / "all"))
    assert find_folder("mnist") == configured
    with use_folders({"mnist": given}):
        assert find_folder("mnist") == given
    assert find_folder("mnist") == configured


def test_a_data_set_without_a_folder_says_how_to_name_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(InvalidInput) as error:
        find_folder("mnist")
    pointer, message = fault_of(error)
    assert pointer == "/data/mnist"
    assert "--data mnist=FOLDER" in message
    assert VARIABLE in message
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    with pytest.raises(InvalidInput, match="no subfolder mnist"):
        find_folder("mnist")


def test_every_unknown_name_and_missing_folder_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as error, use_folders({"minst": tmp_path, "mnist": tmp_path / "none"}):
        pass
    assert [fault.pointer for fault in error.value.faults] == ["/data/minst", "/data/mnist"]


# Known files ----------------------------------------------------------------------------------------------------------
def test_a_file_is_read_by_any_of_its_names_plain_or_packed(tmp_path: Path) -> None:
    known = KnownFile(("first", "second"), hashlib.md5(b"content", usedforsecurity=False).hexdigest())
    (tmp_path / "second.gz").write_bytes(gzip.compress(b"content"))
    assert read_known(tmp_path, known, data="mnist").content == b"content"
    (tmp_path / "first").write_bytes(b"content")
    assert read_known(tmp_path, known, data="mnist").content == b"content"


@pytest.mark.parametrize("content", [b"", b"conten", b"Content"])
def test_a_truncated_or_altered_file_is_refused_with_both_checksums(tmp_path: Path, content: bytes) -> None:
    expected = hashlib.md5(b"content", usedforsecurity=False).hexdigest()
    (tmp_path / "first").write_bytes(content)
    with pytest.raises(InvalidInput) as error:
        read_known(tmp_path, KnownFile(("first",), expected), data="mnist")
    assert error.value.faults[0].allowed == expected
    assert hashlib.md5(content, usedforsecurity=False).hexdigest() in error.value.faults[0].message


def test_a_packed_file_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    (tmp_path / "first.gz").write_bytes(gzip.compress(b"content" * 100)[:-9])
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_known(tmp_path, KnownFile(("first",)), data="mnist")


def test_a_packed_file_with_altered_bytes_is_refused(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(np.random.default_rng(0).bytes(500)))
    packed[10] ^= 0b111  # the type of the first block, which is then one that does not exist
    (tmp_path / "first.gz").write_bytes(packed)
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_known(tmp_path, KnownFile(("first",)), data="mnist")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="has no file first"):
        read_known(tmp_path, KnownFile(("first", "second")), data="mnist")


# Images ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("shape", [(5,), (4, 3, 2)])
def test_an_idx_file_is_read_as_it_was_written(shape: tuple[int, ...]) -> None:
    array = np.random.default_rng(0).integers(256, size=shape).astype(np.uint8)
    assert np.array_equal(parse_idx(idx_bytes(array), axes=len(shape), name="file", data="mnist"), array)


@pytest.mark.parametrize("change", [lambda file: file[:-1], lambda file: file + b"x", lambda file: file[:6]])
def test_an_idx_file_of_another_length_is_refused(change: object) -> None:
    file = idx_bytes(np.zeros((4, 3, 2), dtype=np.uint8))
    with pytest.raises(InvalidInput, match="file"):
        parse_idx(change(file), axes=3, name="file", data="mnist")  # type: ignore[operator]


def test_an_idx_file_of_labels_is_no_file_of_images() -> None:
    with pytest.raises(InvalidInput, match="3 axes"):
        parse_idx(idx_bytes(np.zeros(4, dtype=np.uint8)), axes=3, name="file", data="mnist")


def test_fashion_mnist_is_read_and_its_files_are_not_taken_for_mnist(tmp_path: Path) -> None:
    write_digits(tmp_path, per_class=3, test=7)
    read = read_images("fashion-mnist", tmp_path)
    assert read.training.pixels.shape == (30, 784)
    assert np.bincount(read.training.labels).tolist() == [3] * 10
    assert read.test.pixels.shape == (7, 784)
    with pytest.raises(InvalidInput, match="not the original"):
        read_images("mnist", tmp_path)


def test_as_many_labels_as_images_are_needed_and_each_is_a_class(tmp_path: Path) -> None:
    write_digits(tmp_path, per_class=3, test=7)
    labels = tmp_path / "t10k-labels-idx1-ubyte"
    labels.write_bytes(idx_bytes(np.zeros(6, dtype=np.uint8)))
    with pytest.raises(InvalidInput, match=r"7 images, and .* has 6 labels"):
        read_images("fashion-mnist", tmp_path)
    labels.write_bytes(idx_bytes(np.full(7, 10, dtype=np.uint8)))
    with pytest.raises(InvalidInput, match="label above 9"):
        read_images("fashion-mnist", tmp_path)


def test_cifar_10_is_read_and_a_truncated_batch_is_refused(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).integers(10, size=(2, 1 + images.CIFAR_PIXELS)).astype(np.uint8)
    for known in (*images.CIFAR_TRAINING, *images.CIFAR_TEST):
        (tmp_path / known.names[0]).write_bytes(rows.tobytes())
    read = read_images("cifar-10", tmp_path)
    assert read.training.pixels.shape == (10, images.CIFAR_PIXELS)
    assert np.array_equal(read.test.labels, rows[:, 0])
    read_images.cache_clear()
    (tmp_path / "test_batch.bin").write_bytes(rows.tobytes()[:-1])
    with pytest.raises(InvalidInput, match="truncated"):
        read_images("cifar-10", tmp_path)


# Medical costs --------------------------------------------------------------------------------------------------------
def test_categories_are_read_as_codes_in_alphabetical_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(medical_costs, "FILE", KnownFile(("insurance.csv",)))
    text = "age,sex,bmi,children,smoker,region,charges\n19,female,27.9,0,yes,southwest,16884.924\n"
    (tmp_path / "insurance.csv").write_text(text, encoding="utf-8")
    costs = read_medical_costs(tmp_path)
    assert costs.features.tolist() == [[19.0, 0.0, 27.9, 0.0, 1.0, 3.0]]
    assert costs.charges.tolist() == [16884.924]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("age,sex,bmi,children,smoker,charges\n", "no column region"),
        ("age,sex,bmi,children,smoker,region,charges\n19,female,27.9,0,perhaps,southwest,1\n", "line 2.*smoker"),
        ("age,sex,bmi,children,smoker,region,charges\n19,female,27.9,0,yes\n", "line 2.*region"),
    ],
)
def test_a_faulty_line_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str) -> None:
    monkeypatch.setattr(medical_costs, "FILE", KnownFile(("insurance.csv",)))
    (tmp_path / "insurance.csv").write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput, match=message):
        read_medical_costs(tmp_path)


def test_an_altered_file_of_costs_is_refused(tmp_path: Path) -> None:
    write_costs(tmp_path, records=20)
    with pytest.raises(InvalidInput, match="not the original"):
        read_medical_costs(tmp_path)
