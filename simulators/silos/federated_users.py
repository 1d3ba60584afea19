"""Users of federated EMNIST and of Stack Overflow, as Bietti et al. use them (Section 6).

The paper gives only the numbers of users, words and tags, and not which of them. As in the authors' program, the users
are the first by identifier; of Stack Overflow the first in the test split, with at most 500 training documents. The
features of a document are the relative frequencies of the most frequent words in its text and title; other words count
in the denominator. The features of an image are its pixels as the file has them, 1 for paper. There is no constant
feature.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from scipy import sparse

from epsilond.accountants.errors import InvalidInput
from epsilond.simulators.files.federated_emnist import DIGIT_FILES, DIGITS, WrittenImages, read_writers
from epsilond.simulators.files.stack_overflow import (
    DATABASE,
    TaggedText,
    read_authors,
    read_frequent_tags,
    read_frequent_words,
)
from epsilond.simulators.silos.personal_classifiers import ClassifiedRecords, ClassifiedUsers, Indices

MOST_DOCUMENTS = 500
"""Largest number of training documents of a user."""


@functools.lru_cache(maxsize=1)
def read_digit_writers(folder: Path, count: int) -> ClassifiedUsers:
    """Return writers of digits with their images: 784 pixels as features, and ten classes.

    Args:
        folder: folder of federated EMNIST.
        count: number of writers.

    Returns:
        The training and the test images of the first writers by identifier.

    Raises:
        InvalidInput: a file is missing or malformed, or has fewer writers.
        MissingExtra: h5py is not installed.
    """
    writers = read_writers(folder, count)
    if len(writers) < count:
        name = DIGIT_FILES[0].names[0]
        raise InvalidInput.at("/data/federated-emnist", f"{name} has {len(writers)} writers, and {count} are needed")
    return ClassifiedUsers(
        training=_join_images([writer.training for writer in writers]),
        test=_join_images([writer.test for writer in writers]),
    )


def _join_images(parts: Sequence[WrittenImages]) -> ClassifiedRecords:
    """Join the images of all writers into one table of records, one writer after another.

    Args:
        parts: images and labels of each writer.

    Returns:
        The records. Features are the pixels of an image, and targets are 1 for its digit and 0 for the others.
    """
    images = np.concatenate([part.images for part in parts])
    labels = np.concatenate([part.labels for part in parts])
    return ClassifiedRecords(
        features=images.reshape(len(images), -1),
        targets=np.eye(DIGITS, dtype=np.float32)[labels],
        bounds=_bounds([len(part.labels) for part in parts]),
    )


@functools.lru_cache(maxsize=1)
def read_tagging_users(folder: Path, count: int, words: int, tags: int) -> ClassifiedUsers:
    """Return users of Stack Overflow with their documents: frequencies of words as features, and tags as classes.

    Args:
        folder: folder of Stack Overflow.
        count: number of users.
        words: number of the most frequent words.
        tags: number of the most frequent tags.

    Returns:
        The training and the test documents of the users.

    Raises:
        InvalidInput: a file is missing or malformed, or has fewer users, words or tags.
        MissingExtra: protobuf is not installed.
    """
    word_columns = {word: column for column, word in enumerate(read_frequent_words(folder, words))}
    tag_columns = {tag: column for column, tag in enumerate(read_frequent_tags(folder, tags))}
    authors = read_authors(folder, count, MOST_DOCUMENTS)
    if len(authors) < count:
        message = f"{DATABASE.names[0]} has {len(authors)} users of both splits, and {count} are needed"
        raise InvalidInput.at("/data/stack-overflow", message)
    return ClassifiedUsers(
        training=_join_texts([author.training for author in authors], word_columns, tag_columns),
        test=_join_texts([author.test for author in authors], word_columns, tag_columns),
    )


def _join_texts(
    users: Sequence[Sequence[TaggedText]], word_columns: Mapping[str, int], tag_columns: Mapping[str, int]
) -> ClassifiedRecords:
    """Convert the documents of all users to one table of records, one user after another.

    The features of a document are the shares of its words. Its targets are 1 for each of its tags and 0 for the others.
    Words and tags without a column are left out of the features and of the targets.

    Args:
        users: documents of each user.
        word_columns: column of the features for each word.
        tag_columns: column of the targets for each tag.

    Returns:
        Features and targets with one row per document.
    """
    documents = [document for user in users for document in user]
    targets = np.zeros((len(documents), len(tag_columns)), dtype=np.float32)
    for row, document in enumerate(documents):
        columns = [tag_columns[tag] for tag in document.tags if tag in tag_columns]
        targets[row, columns] = 1.0
    bounds = _bounds([len(user) for user in users])
    return ClassifiedRecords(features=_word_shares(documents, word_columns), targets=targets, bounds=bounds)


def _word_shares(documents: Sequence[TaggedText], word_columns: Mapping[str, int]) -> sparse.csr_array:
    """Return the share of each word among all words of a document, as a sparse array with one row per document.

    Args:
        documents: the documents.
        word_columns: column of each word; other words only count in the number of words.

    Returns:
        The shares, (documents, columns).
    """
    columns: list[int] = []
    shares: list[float] = []
    row_starts = [0]  # start of each row in `columns` and `shares`, and the end of the last row
    for document in documents:
        for word, times in Counter(document.words).items():
            if word in word_columns:
                columns.append(word_columns[word])
                shares.append(times / len(document.words))
        row_starts.append(len(columns))
    entries = (np.array(shares, dtype=np.float32), np.array(columns), np.array(row_starts))
    return sparse.csr_array(entries, shape=(len(documents), len(word_columns)))


def _bounds(sizes: Sequence[int]) -> Indices:
    """Return the index of each user's first record in the table of all users, followed by the number of all records.

    Args:
        sizes: number of records of each user.
    """
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
