"""Files of the original data sets, with the checksums that identify them.

MD5 identifies a file here, because the authors of these data sets publish MD5. It protects from truncated and mistaken
files, not from an attacker.
"""

from __future__ import annotations

import gzip
import hashlib
import zlib
from dataclasses import dataclass
from pathlib import Path

from epsilond.accountants.errors import InvalidInput


@dataclass(frozen=True)
class KnownFile:
    """A file that a published data set consists of, with its name and checksum.

    Attributes:
        names: names under which it is published; the first one is the author's.
        md5: MD5 of its content; None if no checksum of the original is known.
    """

    names: tuple[str, ...]
    md5: str | None = None


@dataclass(frozen=True, kw_only=True)
class DataFile:
    """A file of a data set that was read.

    Attributes:
        data: name of the data set.
        name: name of the file in its folder.
        md5: MD5 of its content, unpacked if it is a .gz file.
        original: whether this is the MD5 of the original; None if no checksum of the original is known.
    """

    data: str
    name: str
    md5: str
    original: bool | None = None


@dataclass(frozen=True)
class FileContent:
    """The content of a file of a data set.

    Attributes:
        content: bytes of the file, unpacked if it is a .gz file.
        file: name and checksum of the file.
    """

    content: bytes
    file: DataFile


def read_known(folder: Path, file: KnownFile, *, data: str) -> FileContent:
    """Return the content of a file, unpacked if it is a .gz file, with its checksum.

    Args:
        folder: folder of the data set.
        file: the file.
        data: name of the data set, for the pointer of an error.

    Returns:
        The unpacked bytes, with the name and the MD5 checksum of the file.

    Raises:
        InvalidInput: the file is missing, cannot be read or unpacked, or is not the original.
    """
    path = find_file(folder, file, data=data)
    try:
        content = path.read_bytes()
        if path.suffix == ".gz":
            content = gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:  # zlib.error: the packed data are damaged
        raise InvalidInput.at(f"/data/{data}", f"{path.name} cannot be read: {error}") from None
    checksum = hashlib.md5(content, usedforsecurity=False).hexdigest()
    if file.md5 is not None and checksum != file.md5:
        message = f"{path.name} is not the original file: its MD5 is {checksum}, with {len(content)} bytes"
        raise InvalidInput.at(f"/data/{data}", message, allowed=file.md5)
    # Without a known checksum, it cannot be decided whether the file is the original.
    original = None if file.md5 is None else True
    return FileContent(content, DataFile(data=data, name=path.name, md5=checksum, original=original))


def identify(folder: Path, file: KnownFile, *, data: str) -> DataFile:
    """Return the name and the checksum of a file that may be too large to be held in memory.

    Args:
        folder: folder of the data set.
        file: the file. No checksum of its original is known.
        data: name of the data set, for the pointer of an error.

    Returns:
        The name of the file and its MD5 checksum.

    Raises:
        InvalidInput: the file is missing or cannot be read.
    """
    path = find_file(folder, file, data=data)
    try:
        with path.open("rb") as stream:
            checksum = hashlib.file_digest(stream, "md5").hexdigest()
    except OSError as error:
        raise InvalidInput.at(f"/data/{data}", f"{path.name} cannot be read: {error}") from None
    return DataFile(data=data, name=path.name, md5=checksum)


def find_file(folder: Path, file: KnownFile, *, data: str) -> Path:
    """Return the path of a file of a data set, which may be under another known name or packed (.gz).

    Args:
        folder: folder of the data set.
        file: the file.
        data: name of the data set, for the pointer of an error.

    Returns:
        The path of an existing file.

    Raises:
        InvalidInput: no such file is in the folder.
    """
    for name in file.names:
        for path in (folder / name, folder / f"{name}.gz"):
            if path.is_file():
                return path
    raise InvalidInput.at(f"/data/{data}", f"has no file {file.names[0]} in its folder, plain or with .gz")
