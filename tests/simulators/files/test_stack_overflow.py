"""Test the reader of Stack Overflow: files of the right structure are read, and faulty ones are named."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.extras import MissingExtra
from epsilond.simulators.files.stack_overflow import read_authors, read_frequent_tags, read_frequent_words
from epsilond.simulators.files.tf_example import MalformedExample, example_type, parse_texts
from tests.simulators.files.small_files import example_bytes, write_authors

DATABASE = "stackoverflow.sqlite"
TEXTS = {"tokens": "how do i", "title": "sort a list", "tags": "python|sorting"}


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Yield a folder with the documents of three users."""
    write_authors(tmp_path, authors=3, training=6, test=2)
    read_authors.cache_clear()
    yield tmp_path
    read_authors.cache_clear()


def change_database(folder: Path, *statements: str, values: tuple[object, ...] = ()) -> None:
    """Execute statements on the database."""
    with closing(sqlite3.connect(folder / DATABASE)) as database, database:
        for statement in statements:
            database.execute(statement, values)


# Messages -------------------------------------------------------------------------------------------------------------
def test_a_message_has_the_encoding_of_tensorflow() -> None:
    """The bytes are those that the definition of protocol buffers gives, by hand."""
    message = example_type()()
    for name, text in TEXTS.items():
        message.features.feature[name].bytes_list.value.append(text.encode())  # type: ignore[attr-defined]
    assert parse_texts(message.SerializeToString(), tuple(TEXTS)) == tuple(TEXTS.values())
    assert parse_texts(example_bytes(TEXTS), tuple(TEXTS)) == tuple(TEXTS.values())
    long = {"tokens": "word " * 1000}
    assert parse_texts(example_bytes(long), ("tokens",)) == (long["tokens"],)


def test_numbers_beside_the_texts_are_left_alone() -> None:
    message = example_type()()
    features = message.features.feature  # type: ignore[attr-defined]
    features["score"].int64_list.value.append(-3)
    features["weights"].float_list.value.extend([0.5, 1.5])
    features["title"].bytes_list.value.append("größe".encode())
    content = message.SerializeToString()
    assert parse_texts(content, ("title",)) == ("größe",)
    with pytest.raises(MalformedExample, match="field score"):
        parse_texts(content, ("score",))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x0a\x80", "not a tf.train.Example"),
        (example_bytes(TEXTS)[:-1], "not a tf.train.Example"),
        (b"", "field tokens"),
        (example_bytes({"tokens": "x"}), "field title"),
        (example_bytes(TEXTS).replace(b"how", b"\xff\xfe\xfd"), "tokens that is not UTF-8"),
    ],
)
def test_a_malformed_message_is_refused(content: bytes, message: str) -> None:
    with pytest.raises(MalformedExample, match=message):
        parse_texts(content, tuple(TEXTS))


# Documents ------------------------------------------------------------------------------------------------------------
def test_users_of_both_splits_come_in_the_order_of_their_identifiers(folder: Path) -> None:
    authors = read_authors(folder, 10, 500)
    assert [author.name for author in authors] == ["u000", "u001", "u002"], "u003 has no document for training"
    for author in authors:
        assert len(author.training) == 6
        assert len(author.test) == 2
        for document in author.training:
            tag, other = document.tags
            assert other == "other"
            assert document.words.count(f"w{tag[1:]}") >= 3, "of tokens and title"
    assert [author.name for author in read_authors(folder, 2, 500)] == ["u000", "u001"]


def test_the_first_training_documents_are_kept(folder: Path) -> None:
    whole, cut = read_authors(folder, 10, 500), read_authors(folder, 10, 4)
    assert [author.training[:4] for author in whole] == [author.training for author in cut]
    assert [author.test for author in whole] == [author.test for author in cut]


def test_an_index_does_not_change_what_is_read(folder: Path) -> None:
    whole = read_authors(folder, 10, 500)
    read_authors.cache_clear()
    change_database(folder, "CREATE INDEX fast ON examples (split_name, client_id)")
    assert read_authors(folder, 10, 500) == whole


def test_users_of_the_held_out_split_are_not_read(folder: Path) -> None:
    change_database(folder, "UPDATE client_metadata SET split_name = 'heldout' WHERE client_id = 'u000'")
    assert [author.name for author in read_authors(folder, 10, 500)] == ["u001", "u002"]


def test_reading_changes_no_file(folder: Path) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    read_authors(folder, 10, 500)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda path: path.write_bytes(b""), "no table client_metadata"),
        (lambda path: path.write_bytes(b"\x89HDF\r\n\x1a\n" * 1000), "not a complete SQLite database"),
        (lambda path: path.write_bytes(path.read_bytes()[:4096]), "not a complete SQLite database"),
        (lambda path: path.unlink(), f"has no file {DATABASE}"),
        (lambda path: change_database(path.parent, "DROP TABLE examples"), "no table examples"),
        (
            lambda path: change_database(path.parent, "ALTER TABLE examples RENAME split_name TO part"),
            "no column split_name in the table examples",
        ),
        (lambda path: change_database(path.parent, "DELETE FROM client_metadata"), "no user with both splits"),
        (
            lambda path: change_database(path.parent, "DELETE FROM examples WHERE client_id = 'u001'"),
            "no documents of user u001 in the split train",
        ),
        (
            lambda path: change_database(path.parent, "UPDATE examples SET serialized_example_proto = 'text'"),
            "document 1 of user u00. in the split train is not a tf.train.Example",
        ),
        (
            lambda path: change_database(
                path.parent,
                "UPDATE examples SET serialized_example_proto = ? WHERE split_name = 'test'",
                values=(example_bytes({"tokens": "x", "title": "y"}),),
            ),
            "document 1 of user u00. in the split test has no single text in the field tags",
        ),
    ],
)
def test_a_wrong_truncated_empty_or_foreign_database_is_named(
    folder: Path, change: Callable[[Path], object], message: str
) -> None:
    change(folder / DATABASE)
    with pytest.raises(InvalidInput, match=message) as error:
        read_authors(folder, 10, 500)
    (fault,) = error.value.faults
    assert fault.pointer == "/data/stack-overflow"
    assert DATABASE in fault.message


def test_a_missing_package_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "epsilond.simulators.files.tf_example")
    monkeypatch.setitem(sys.modules, "google.protobuf", None)
    with pytest.raises(MissingExtra, match=r"epsilond\[data\]"):
        read_authors(folder, 10, 500)


# Words and tags -------------------------------------------------------------------------------------------------------
def test_frequent_words_are_the_first_lines_and_frequent_tags_the_largest_counts(folder: Path) -> None:
    assert read_frequent_words(folder, 3) == ("w0", "w1", "w2")
    assert read_frequent_tags(folder, 3) == ("t0", "t1", "t2")
    (folder / "stackoverflow.tag_count").write_text(json.dumps({"b": 2, "a": 2, "c": 3}), encoding="utf-8")
    assert read_frequent_tags(folder, 3) == ("c", "b", "a")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("word_count", "the 5\nof\n", "line 2 of stackoverflow.word_count"),
        ("word_count", "the five\n", "line 1 of stackoverflow.word_count"),
        ("word_count", "the 5\n", "word_count has 1 words, and 2 are needed"),
        ("word_count", "", "word_count has 0 words"),
        ("tag_count", '{"python": 5, "ja', "tag_count is not a complete JSON file"),
        ("tag_count", "", "tag_count is not a complete JSON file"),
        ("tag_count", '["python", "java"]', "tag_count is not a JSON object"),
        ("tag_count", '{"python": "many", "java": 2}', "tag_count is not a JSON object"),
        ("tag_count", '{"python": 5}', "tag_count has 1 tags, and 2 are needed"),
    ],
)
def test_a_faulty_list_is_named(folder: Path, name: str, content: str, message: str) -> None:
    (folder / f"stackoverflow.{name}").write_text(content, encoding="utf-8")
    read = read_frequent_words if name == "word_count" else read_frequent_tags
    with pytest.raises(InvalidInput, match=message):
        read(folder, 2)
