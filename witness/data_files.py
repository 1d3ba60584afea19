"""Files of data sets that an experiment read, as the answer of the experiment lists them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from epsilond.calibrators.answer import Served
from epsilond.simulators.files.known import DataFile


@dataclass(frozen=True, kw_only=True)
class DataFileAnswer:
    """A file of a data set that an experiment read, with its checksum. Each field has a description of its own."""

    data: Annotated[str, Served("name of the data set")]
    name: Annotated[str, Served("name of the file in the folder of the data set")]
    md5: Annotated[str, Served("MD5 of its content, unpacked if it is a .gz file")]
    original: Annotated[
        bool | None, Served("whether this is the MD5 of the original; absent if no MD5 of the original is known")
    ] = None


def list_data_files(files: Iterable[DataFile]) -> tuple[DataFileAnswer, ...] | None:
    """List the data files that an experiment read, each once, in the order of their first reading.

    Args:
        files: the files, in the order of reading.

    Returns:
        The files in the form that an answer shows; None if there are none.
    """
    distinct_files = dict.fromkeys(files)
    listed = [
        DataFileAnswer(data=file.data, name=file.name, md5=file.md5, original=file.original) for file in distinct_files
    ]
    return tuple(listed) or None
