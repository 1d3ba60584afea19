"""Stack Overflow: documents by user, with their tags, in the SQLite file of TensorFlow Federated.

The table `client_metadata` has the identifiers of the users of each split: `train`, `heldout` and `test`. The table
`examples` has a row for each document, a serialized `tf.train.Example` with the texts `tokens`, `title` and `tags`.
Two smaller files have the most frequent words and tags. TensorFlow Federated publishes checksums of packed archives
only, so the files are checked by their structure.
"""

from __future__ import annotations

import functools
import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from epsilond.accountants.errors import InvalidInput
from epsilond.extras import extra
from epsilond.simulators.files.known import KnownFile, find_file, read_known

DATA: Final = "stack-overflow"
DATABASE: Final = KnownFile(("stackoverflow.sqlite",))
WORD_COUNTS: Final = KnownFile(("stackoverflow.word_count",))
TAG_COUNTS: Final = KnownFile(("stackoverflow.tag_count",))
COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "client_metadata": ("client_id", "split_name"),
    "examples": ("client_id", "split_name", "serialized_example_proto"),
}
"""Needed columns of each table."""
FIELDS: Final = ("tokens", "title", "tags")
IDENTIFIERS: Final = """
    SELECT DISTINCT client_id FROM client_metadata WHERE split_name = 'test' AND client_id IN
    (SELECT client_id FROM client_metadata WHERE split_name = 'train') ORDER BY client_id LIMIT ?
"""
"""Users of both splits, in the order of their identifiers."""
DOCUMENTS: Final = """
    SELECT client_id, serialized_example_proto FROM examples
    WHERE split_name = ? AND client_id IN (SELECT value FROM json_each(?))
"""
"""Documents of a split and of the users in a JSON list: by an index if the table has one, or in one pass over it."""


@dataclass(frozen=True)
class TaggedText:
    """Words and tags of a question or an answer on Stack Overflow.

    Attributes:
        words: words of the text, then words of the title of the question.
        tags: tags of the question.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]


@dataclass(frozen=True)
class Author:
    """One user of Stack Overflow, who is one client.

    Attributes:
        name: identifier of the user.
        training: documents for training.
        test: documents for tests.
    """

    name: str
    training: tuple[TaggedText, ...]
    test: tuple[TaggedText, ...]


@functools.lru_cache(maxsize=1)
def read_authors(folder: Path, most: int, most_documents: int) -> tuple[Author, ...]:
    """Read the first users of Stack Overflow, by identifier, who have both training and test documents.

    Args:
        folder: folder with `stackoverflow.sqlite`.
        most: largest number of users.
        most_documents: largest number of training documents of a user; the first ones are kept. All test documents
            are kept.

    Returns:
        At most `most` users in the order of their identifiers, each with training and test documents.

    Raises:
        InvalidInput: the file is missing, is not a SQLite database of this structure, has no such user, or has a
            malformed document.
        MissingExtra: protobuf is not installed.
    """
    with _open_database(folder) as database:
        names = [str(name) for (name,) in database.execute(IDENTIFIERS, (most,))]
        if not names:
            raise _structure_error(f"{DATABASE.names[0]} has no user with both splits in the table client_metadata")
        training = _read_split(database, "train", names, most_documents)
        test = _read_split(database, "test", names, None)
    return tuple(Author(name, tuple(training[name]), tuple(test[name])) for name in names)


@contextmanager
def _open_database(folder: Path) -> Iterator[sqlite3.Connection]:
    """Open the database of the data set for reading, check its tables, and close it at the end of the context.

    Args:
        folder: folder with `stackoverflow.sqlite`.

    Yields:
        The connection.

    Raises:
        InvalidInput: the file is missing, cannot be read, or lacks a table or a column; or an SQLite error occurs
            within the context.
    """
    path = find_file(folder, DATABASE, data=DATA)
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            for table, columns in COLUMNS.items():
                _check_table(database, path.name, table, columns)
            yield database
    except sqlite3.Error as error:
        raise _structure_error(f"{path.name} is not a complete SQLite database: {error}") from None


def _check_table(database: sqlite3.Connection, file: str, table: str, columns: Iterable[str]) -> None:
    """Check that a table exists and has the required columns.

    Args:
        database: the open database.
        file: name of its file, for the message.
        table: name of the table; it becomes part of the SQL text.
        columns: names of the required columns.

    Raises:
        InvalidInput: the table or a column is missing.
    """
    present = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
    if not present:
        raise _structure_error(f"{file} has no table {table}")
    missing = [column for column in columns if column not in present]
    if missing:
        raise _structure_error(f"{file} has no column {', '.join(missing)} in the table {table}")


def _read_split(
    database: sqlite3.Connection, split: str, names: Sequence[str], most: int | None
) -> Mapping[str, list[TaggedText]]:
    """Read the documents of the given users in one split.

    Args:
        database: the open database.
        split: name of the split: train, heldout or test.
        names: identifiers of the users.
        most: largest number of documents of a user; None for all.

    Returns:
        The documents by user, in the order in which the database returns them.

    Raises:
        InvalidInput: a user has no documents in the split, or a document is malformed.
        MissingExtra: protobuf is not installed.
    """
    with extra("data", "Stack Overflow"):
        from epsilond.simulators.files.tf_example import MalformedExample, parse_texts  # noqa: PLC0415
    documents: dict[str, list[TaggedText]] = defaultdict(list)
    for name, content in database.execute(DOCUMENTS, (split, json.dumps(names))):
        documents_of_user = documents[name]
        if most is not None and len(documents_of_user) >= most:
            continue
        try:
            tokens, title, tags = parse_texts(content, FIELDS)
        except MalformedExample as error:
            document = f"document {len(documents_of_user) + 1} of user {name} in the split {split}"
            raise _structure_error(f"{DATABASE.names[0]}: {document} {error}") from None
        words = (*tokens.split(), *title.split())
        documents_of_user.append(TaggedText(words, tuple(tags.split("|"))))
    for name in names:
        if name not in documents:
            raise _structure_error(f"{DATABASE.names[0]} has no documents of user {name} in the split {split}")
    return documents


def read_frequent_words(folder: Path, count: int) -> tuple[str, ...]:
    """Read the most frequent words of the data set from the first lines of its file of word counts.

    Each line of the file has a word, a space, and the number of its occurrences. The file has the most frequent word
    in its first line; this function does not check the order.

    Args:
        folder: folder with `stackoverflow.word_count`.
        count: number of words to return, at least 0.

    Returns:
        The words, the most frequent one first.

    Raises:
        InvalidInput: the file is missing, has a malformed line, or has too few words.
    """
    name = WORD_COUNTS.names[0]
    source = read_known(folder, WORD_COUNTS, data=DATA)
    lines = source.content.decode("utf-8", errors="replace").splitlines()
    words = []
    for number, line in enumerate(lines[:count], start=1):
        # The count follows the last space of the line.
        word, _, times = line.rpartition(" ")
        if not word or not times.isdecimal():
            raise _structure_error(f"line {number} of {name} has no word and count: {line[:80]!r}")
        words.append(word.strip())
    if len(words) < count:
        raise _structure_error(f"{name} has {len(words)} words, and {count} are needed: it is truncated")
    return tuple(words)


def read_frequent_tags(folder: Path, count: int) -> tuple[str, ...]:
    """Read the most frequent tags of the data set from its file of tag counts.

    The file is a JSON object that maps each tag to the number of its occurrences.

    Args:
        folder: folder with `stackoverflow.tag_count`.
        count: number of tags to return, at least 0.

    Returns:
        The tags, the most frequent one first. Equally frequent tags are in the order of the file.

    Raises:
        InvalidInput: the file is missing, is not a JSON object of counts, or has too few tags.
    """
    name = TAG_COUNTS.names[0]
    source = read_known(folder, TAG_COUNTS, data=DATA)
    try:
        counts = json.loads(source.content)
    except ValueError:
        raise _structure_error(f"{name} is not a complete JSON file") from None
    if not isinstance(counts, dict) or not all(isinstance(times, int) for times in counts.values()):
        raise _structure_error(f"{name} is not a JSON object with a count for each tag")
    if len(counts) < count:
        raise _structure_error(f"{name} has {len(counts)} tags, and {count} are needed: it is truncated")
    # The sort is stable, also in reverse: equally frequent tags stay in the order of the file.
    by_frequency = sorted(counts, key=counts.__getitem__, reverse=True)
    return tuple(by_frequency[:count])


def _structure_error(message: str) -> InvalidInput:
    """Return the error that a file of the data set does not have the expected structure."""
    return InvalidInput.at(f"/data/{DATA}", message)
