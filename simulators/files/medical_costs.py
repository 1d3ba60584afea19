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
"""Words of the categorical columns, in the order of their codes 0, 1, …: the alphabetical order."""
FEATURES = ("age", "sex", "bmi", "children", "smoker", "region")
TARGET = "charges"


@dataclass(frozen=True)
class MedicalCosts:
    """Features of insured persons, and their charges in dollars.

    Attributes:
        features: age, sex, body mass index, children, smoker and region, with categories as codes, (records, 6).
        charges: charges of each person in dollars, (records).
        files: the file that they were read from.
    """

    features: Floats
    charges: Floats
    files: tuple[DataFile, ...]


@functools.cache
def read_medical_costs(folder: Path) -> MedicalCosts:
    """Return the features and the charges of all insured persons in the data set.

    Args:
        folder: folder with the original `insurance.csv`.

    Returns:
        Features, (persons, features), and charges in dollars, (persons,), with their file. Results are
        kept in memory.

    Raises:
        InvalidInput: the file is missing, not the original, or of another format.
    """
    source = read_known(folder, FILE, data="medical-costs")
    text = source.content.decode("utf-8", errors="replace")
    reader = csv.DictReader(io.StringIO(text))
    column_names = reader.fieldnames or ()
    missing = [name for name in (*FEATURES, TARGET) if name not in column_names]
    if missing:
        raise InvalidInput.at("/data/medical-costs", f"{FILE.names[0]} has no column {', '.join(missing)}")

    # Line 1 of the file has the names of the columns.
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
        The number; for a categorical column, the position of the value in the list of known words, from 0.

    Raises:
        InvalidInput: the value is not a number, or none of the known words.
    """
    value = row[name] or ""
    try:
        return float(CODES[name].index(value)) if name in CODES else float(value)
    except ValueError:
        message = f"line {line} of {FILE.names[0]} has {name} {value!r}"
        raise InvalidInput.at("/data/medical-costs", message) from None
