"""Write small data sets in the formats of the originals."""

from __future__ import annotations

import json
import sqlite3
import struct
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import h5py
import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]


def idx_bytes(array: Bytes) -> bytes:
    """Return an array in the IDX format."""
    return bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()


def write_digits(folder: Path, *, per_class: int, test: int, seed: int = 0) -> None:
    """Write a small data set with the file names of MNIST: in each class one bright column of pixels, and noise.

    Args:
        folder: the folder, which is made.
        per_class: training images of each class.
        test: number of test images.
        seed: seed of labels and pixels.
    """
    folder.mkdir(parents=True, exist_ok=True)
    generator = np.random.default_rng(seed)
    for prefix, labels in (
        ("train", generator.permutation(np.repeat(np.arange(10), per_class))),
        ("t10k", generator.integers(10, size=test)),
    ):
        images = generator.integers(60, size=(len(labels), 28, 28))
        images[np.arange(len(labels)), :, 2 * labels] = 255
        (folder / f"{prefix}-images-idx3-ubyte").write_bytes(idx_bytes(images.astype(np.uint8)))
        (folder / f"{prefix}-labels-idx1-ubyte").write_bytes(idx_bytes(labels.astype(np.uint8)))


def write_colours(folder: Path, *, per_class: int, test: int, seed: int = 0) -> None:
    """Write small batches of CIFAR-10: in each class one bright row of pixels of one colour, and noise.

    Args:
        folder: the folder, which is made.
        per_class: training images of each class in each of the five batches.
        test: number of test images.
        seed: seed of labels and pixels.
    """
    folder.mkdir(parents=True, exist_ok=True)
    generator = np.random.default_rng(seed)
    parts = {
        f"data_batch_{number}.bin": generator.permutation(np.repeat(np.arange(10), per_class)) for number in range(1, 6)
    }
    parts["test_batch.bin"] = generator.integers(10, size=test)
    for name, labels in parts.items():
        pixels = generator.integers(60, size=(len(labels), 3, 32, 32))
        pixels[np.arange(len(labels)), labels % 3, 3 * labels] = 255
        rows = np.concatenate([labels[:, None], pixels.reshape(len(labels), -1)], axis=1)
        (folder / name).write_bytes(rows.astype(np.uint8).tobytes())


def write_costs(folder: Path, *, records: int, seed: int = 0) -> None:
    """Write a small file of medical costs, which depend on age and smoking.

    Args:
        folder: the folder, which is made.
        records: number of records.
        seed: seed of the records.
    """
    folder.mkdir(parents=True, exist_ok=True)
    generator = np.random.default_rng(seed)
    lines = ["age,sex,bmi,children,smoker,region,charges"]
    for _ in range(records):
        age, smoker = int(generator.integers(18, 65)), bool(generator.integers(2))
        charges = 200.0 * age + 20_000.0 * smoker + 500.0 * generator.standard_normal()
        sex, region = generator.choice(["female", "male"]), generator.choice(["northeast", "southwest"])
        smokes = "yes" if smoker else "no"
        lines.append(
            f"{age},{sex},{25.0 + generator.random():.2f},{generator.integers(4)},{smokes},{region},{charges:.2f}"
        )
    (folder / "insurance.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_writers(folder: Path, *, writers: int, training: int, test: int, digits_only: bool = True) -> None:
    """Write small files of federated EMNIST: in each class one dark column of pixels, shifted by the writer.

    Args:
        folder: the folder, which is made.
        writers: number of writers.
        training: training images of each writer.
        test: test images of each writer.
        digits_only: whether the files have the names of those of digits.
    """
    folder.mkdir(parents=True, exist_ok=True)
    prefix, classes = ("fed_emnist_digitsonly", 10) if digits_only else ("fed_emnist", 62)
    for part, size, seed in (("train", training, 0), ("test", test, 1)):
        generator = np.random.default_rng(seed)
        with h5py.File(folder / f"{prefix}_{part}.h5", "w") as file:
            for writer in reversed(range(writers)):
                labels = np.arange(size) % classes
                images = 1.0 - 0.1 * generator.random((size, 28, 28))
                images[np.arange(size), :, (2 * labels + writer % 2) % 28] = 0.0
                group = file.create_group(f"examples/f{writer:04d}_00")
                group.create_dataset("pixels", data=images.astype(np.float32))
                group.create_dataset("label", data=labels.astype(np.int32))


def write_authors(folder: Path, *, authors: int, training: int, test: int, words: int = 30, tags: int = 4) -> None:
    """Write small files of Stack Overflow: the tag of a document decides on the word that it has most often.

    Args:
        folder: folder, which is made.
        authors: number of users with both splits. One more has no document for training.
        training: training documents of each user.
        test: test documents of each user.
        words: number of words.
        tags: number of tags.
    """
    folder.mkdir(parents=True, exist_ok=True)
    generator = np.random.default_rng(0)
    lines = [f"w{index} {10 * words - index}\n" for index in range(words)]
    (folder / "stackoverflow.word_count").write_text("".join(lines), encoding="utf-8")
    counts = {f"t{index}": 100 - index for index in reversed(range(tags))}
    (folder / "stackoverflow.tag_count").write_text(json.dumps(counts), encoding="utf-8")
    with closing(sqlite3.connect(folder / "stackoverflow.sqlite")) as database, database:
        database.execute("CREATE TABLE examples (split_name TEXT, client_id TEXT, serialized_example_proto BLOB)")
        database.execute("CREATE TABLE client_metadata (client_id TEXT, split_name TEXT, num_examples INTEGER)")
        for author in reversed(range(authors + 1)):
            for split, size in (("train", training), ("test", test)):
                if split == "train" and author == authors:
                    continue
                database.execute("INSERT INTO client_metadata VALUES (?, ?, ?)", (f"u{author:03d}", split, size))
                for _ in range(size):
                    tag = int(generator.integers(tags))
                    others = " ".join(f"w{word}" for word in generator.integers(tags, words + 5, size=3))
                    fields = {"tokens": f"w{tag} {others} w{tag}", "title": f"w{tag}", "tags": f"t{tag}|other"}
                    row = (split, f"u{author:03d}", example_bytes(fields))
                    database.execute("INSERT INTO examples VALUES (?, ?, ?)", row)


def example_bytes(texts: Mapping[str, str]) -> bytes:
    """Return a serialized `tf.train.Example` with texts, encoded by hand: each value is preceded by key and length."""
    entries = []
    for name, text in texts.items():
        feature = _pack(0x0A, _pack(0x0A, text.encode()))  # bytes_list, value
        entries.append(_pack(0x0A, _pack(0x0A, name.encode()) + _pack(0x12, feature)))  # feature: key, value
    return _pack(0x0A, b"".join(entries))  # features


def _pack(key: int, content: bytes) -> bytes:
    """Return a field of a protocol buffer: its key, its length in groups of seven bits, and its content."""
    length, groups = len(content), []
    while length > 0x7F:
        groups.append(length & 0x7F | 0x80)
        length >>= 7
    return bytes([key, *groups, length]) + content
