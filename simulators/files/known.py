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
    """File of a published data set, by its names and the checksum of its content.

    Attributes:
        names: file names under which it is published, without `.gz`; the first one is the author's.
        md5: MD5 of its unpacked content, in hexadecimal digits; None if no checksum of the original is known.
    """

    names: tuple[str, ...]
    md5: str | None = None


@dataclass(frozen=True, kw_only=True)
class DataFile:
    """Record of which file of a data set was read.

    Attributes:
        data: name of the data set.
        name: name of the file in its folder.
        md5: MD5 of the bytes that were read, after unpacking if they were unpacked.
        original: True if this is the MD5 of the original; None if no checksum of the original is known.
    """

    data: str
    name: str
    md5: str
    original: bool | None = None


@dataclass(frozen=True)
class FileContent:
    """Bytes of a file of a data set, with the record of which file they are from.

    Attributes:
        content: bytes of the file, unpacked if it is a .gz file.
        file: name and checksum of the file.
    """

    content: bytes
    file: DataFile


def read_known(folder: Path, file: KnownFile, *, data: str) -> FileContent:
    """Read a file of a data set, unpack it if it is a .gz file, and compare its checksum with that of the original.

    Args:
        folder: folder of the data set.
        file: names of the file, and the MD5 of the original if that is known.
        data: name of the data set, for error messages.

    Returns:
        The unpacked bytes, with the name and the MD5 checksum of the file.

    Raises:
        InvalidInput: the file is missing, cannot be read, or differs from the original.
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
    # A file that differs from a known checksum was rejected above, so that `original` is never False.
    original = None if file.md5 is None else True
    return FileContent(content, DataFile(data=data, name=path.name, md5=checksum, original=original))


def identify(folder: Path, file: KnownFile, *, data: str) -> DataFile:
    """Compute the checksum of a file that may be too large for the memory.

    Unlike `read_known`, this function neither unpacks a .gz file nor compares its checksum with the original's.

    Args:
        folder: folder of the data set.
        file: names of the file.
        data: name of the data set, for error messages.

    Returns:
        The name of the file and the MD5 of its bytes; `original` is None.

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
    """Find a file of a data set in a folder, under any of its known names, plain or packed (.gz).

    Args:
        folder: folder of the data set.
        file: names of the file, which are tried in order. Each plain file is tried before the packed one.
        data: name of the data set, for error messages.

    Returns:
        The path of the first file that exists.

    Raises:
        InvalidInput: the folder has no file under these names.
    """
    for name in file.names:
        for path in (folder / name, folder / f"{name}.gz"):
            if path.is_file():
                return path
    raise InvalidInput.at(f"/data/{data}", f"has no file {file.names[0]} in its folder, plain or with .gz")
