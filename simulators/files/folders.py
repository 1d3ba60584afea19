"""Folders with the files of data sets: given by a caller, or configured for the whole process.

`EPSILOND_DATA` names one folder with a subfolder for each data set, for example `mnist`. A service reads files from
there only. The library and the command line also take a folder for each data set.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Final, Literal, get_args

from epsilond.accountants.errors import Fault, InvalidInput

DataName = Literal["mnist", "fashion-mnist", "cifar-10", "federated-emnist", "stack-overflow", "medical-costs"]
"""Name of a data set that is read from files."""
DATA_NAMES: Final[tuple[DataName, ...]] = get_args(DataName)
VARIABLE: Final = "EPSILOND_DATA"
"""Environment variable with the folder of all data sets."""

_given_folders: ContextVar[Mapping[str, Path] | None] = ContextVar("given_folders", default=None)


@contextmanager
def use_folders(folders: Mapping[str, str | Path]) -> Iterator[None]:
    """Look for data sets in the given folders within this context.

    Args:
        folders: folder of each data set, by the name of the data set.

    Yields:
        Nothing; the former folders apply again after the context.

    Raises:
        InvalidInput: a name is unknown, or a folder does not exist. The error has a fault for each such folder.
    """
    faults = []
    for name, folder in folders.items():
        if name not in DATA_NAMES:
            faults.append(Fault(f"/data/{name}", "is not one of the allowed values", ", ".join(DATA_NAMES)))
        elif not Path(folder).is_dir():
            message = f"{folder} is not a folder"
            faults.append(Fault(f"/data/{name}", message, "the folder with the files of the data set"))
    if faults:
        raise InvalidInput(*faults)

    token = _given_folders.set({name: Path(folder).resolve() for name, folder in folders.items()})
    try:
        yield
    finally:
        _given_folders.reset(token)


def find_folder(name: DataName) -> Path:
    """Return the folder of a data set: the one that the caller gave, or the subfolder of `EPSILOND_DATA`.

    Args:
        name: name of the data set.

    Returns:
        The path of the folder.

    Raises:
        InvalidInput: no folder is given or configured, or the configured one does not exist.
    """
    folder_of_caller = (_given_folders.get() or {}).get(name)
    if folder_of_caller is not None:
        return folder_of_caller

    root = os.environ.get(VARIABLE)
    if not root:
        message = f"has no folder: {VARIABLE} is not set, and --data {name}=FOLDER is not given"
        raise InvalidInput.at(f"/data/{name}", message)
    folder = Path(root) / name
    if not folder.is_dir():
        raise InvalidInput.at(f"/data/{name}", f"has no folder: the folder of {VARIABLE} has no subfolder {name}")
    return folder
