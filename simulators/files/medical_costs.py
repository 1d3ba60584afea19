"""Medical costs: 1,338 records of insured persons, the file `insurance.csv`."""

from __future__ import annotations

import csv
import functools
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.simulators.files.known import DataFile, KnownFile, read_known
from epsilond.simulators.problems.problem import Floats

FILE = KnownFile(("insurance.csv",), "f86198943bbad63258a06f54f847265b")
NUMBERS = ("age", "bmi", "children")
"""Columns with numbers."""
CODES: Mapping[str, tuple[str, ...]] = {
    "sex": ("female", "male"),
    "smoker": ("no", "yes"),
    "region": ("northeast", "northwest", "southeast", "southwest"),
}
"""Values of the categorical columns, in alphabetical order; a value is encoded as its position 0, 1, … here."""
FEATURES = ("age", "sex", "bmi", "children", "smoker", "region")
TARGET = "charges"


@dataclass(frozen=True)
class MedicalCosts:
    """Features of insured persons, and their medical charges.

    Attributes:
        features: age, sex, body mass index, number of children, smoker and region, one row for each person, (n, 6).
            Sex, smoker and region are encoded as integers 0, 1, ….
        charges: charges of each person in dollars, (n,).
        files: name and checksum of the file with the data.
    """

    features: Floats
    charges: Floats
    files: tuple[DataFile, ...]


@functools.cache
def read_medical_costs(folder: Path) -> MedicalCosts:
    """Read the features and the charges of all insured persons in the data set.

    Results are kept in memory, so that a folder is read once.

    Args:
        folder: folder with the original `insurance.csv`, plain or packed (.gz).

    Returns:
        The features and the charges in dollars, one row for each person.

    Raises:
        InvalidInput: the file is missing, cannot be read, or differs from the original.
    """
    source = read_known(folder, FILE, data="medical-costs")
    text = source.content.decode("utf-8", errors="replace")
    reader = csv.DictReader(io.StringIO(text))
    column_names = reader.fieldnames or ()
    missing = [name for name in (*FEATURES, TARGET) if name not in column_names]
    if missing:
        raise InvalidInput.at("/data/medical-costs", f"{FILE.names[0]} has no column {', '.join(missing)}")

    # Line 1 of the file is the header.
    numbered_rows = list(enumerate(reader, start=2))
    features = [[_number(row, name, line) for name in FEATURES] for line, row in numbered_rows]
    charges = [_number(row, TARGET, line) for line, row in numbered_rows]
    return MedicalCosts(features=np.array(features), charges=np.array(charges), files=(source.file,))


def _number(row: Mapping[str, str | None], name: str, line: int) -> float:
    """Return the value of a column as a number, or its code if the column is categorical.

    Args:
        row: a row of the file, by column.
        name: name of the column.
        line: number of the row's line in the file, for errors.

    Returns:
        The number; for a categorical column, the position of the value in `CODES`, from 0.

    Raises:
        InvalidInput: the value is not a number or, in a categorical column, is not in `CODES`.
    """
    value = row[name] or ""  # a row that is too short has None
    try:
        if name in CODES:
            return float(CODES[name].index(value))
        return float(value)
    except ValueError:
        message = f"line {line} of {FILE.names[0]} has {name} {value!r}"
        raise InvalidInput.at("/data/medical-costs", message) from None
