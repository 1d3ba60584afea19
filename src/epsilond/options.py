"""The options that the command line has for the fields of request classes.

`options.json` lists them, and `python -m scripts.typed_face` writes it from the classes. The help of a command
therefore imports no mathematics.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Self

from epsilond.accountants.json_types import JsonObject, JsonRecord

FILE = Path(__file__).with_name("options.json")
"""The list of commands that have an option for each field of a request class."""


@dataclass(frozen=True, kw_only=True)
class FieldOption:
    """Command-line option for one field of a request class.

    Attributes:
        field: name of the field.
        metavar: placeholder of the value in the help, such as NUMBER.
        required: whether the request class requires the field.
        help: description of the field in the help.
    """

    field: str
    metavar: str
    required: bool
    help: str


@dataclass(frozen=True, kw_only=True)
class ListedCommand:
    """Command of the command line that has an option for each field of a request class.

    Attributes:
        name: name of the command, such as the name of an algorithm.
        title: title of the command in its help.
        summary: description of the command in its help.
        options: one option for each field, in the order of the fields.
    """

    name: str
    title: str
    summary: str
    options: tuple[FieldOption, ...]

    @classmethod
    def of_json(cls, body: JsonObject) -> Self:
        """Read a command from its JSON object in `options.json`.

        Args:
            body: the object, as `as_json` returns it.

        Returns:
            The command, with an object for each of its options.
        """
        options = tuple(FieldOption(**option) for option in body["options"])
        return cls(**{**body, "options": options})

    def as_json(self) -> JsonRecord:
        """Return the command as it is written to `options.json`."""
        return asdict(self)


@cache
def listed_commands(group: str) -> Mapping[str, ListedCommand]:
    """Return the commands of a group by their names.

    Args:
        group: `calibrate`, `risk-bound`, or `""` for commands that belong to no group.

    Returns:
        The commands, read from `options.json`, so that printing help does not import the numerical libraries.
    """
    body = json.loads(FILE.read_text(encoding="utf-8"))
    return {entry["name"]: ListedCommand.of_json(entry) for entry in body[group]}


def option_name(field_name: str) -> str:
    """Return the name of the command-line option for a field, such as `--samples-per-client` for `samples_per_client`.

    Args:
        field_name: name of the field.
    """
    return "--" + field_name.replace("_", "-")
