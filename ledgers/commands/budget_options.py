"""`--given LEDGER`: a calibration or a plan within the remaining budget of a ledger, in a file or on a service."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.json_types import JsonRecord
from epsilond.ledgers.commands.shared import HERE, At, Eta, KeyFile, books_at

if TYPE_CHECKING:
    from epsilond.ledgers.client.ledgers import Ledger

PANEL = "Within the remaining budget of a ledger"
"""Title of the help's panel."""
_GIVEN = Annotated[
    str | None,
    typer.Option("--given", metavar="LEDGER", help="name or id of the ledger"),
]
_SLOT = Annotated[str | None, typer.Option(metavar="gdp|zcdp|rdp|pure", help="the slot; absent: gdp")]
_ITEM = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="the item of the ledger's plan that pays for the run"),
]
_OPTIONS: dict[str, tuple[object, object]] = {
    "given": (_GIVEN, None),
    "slot": (_SLOT, None),
    "item": (_ITEM, None),
    "eta": (Eta, None),
    "at": (At, HERE),
    "key_file": (KeyFile, None),
}
"""Annotation and default of each option."""
PLACE = ("slot", "item", "eta")
"""Names of the options that choose the part of the ledger that pays."""


def parameters() -> list[inspect.Parameter]:
    """Return the option --given, and the options that are valid only with it, as parameters of a function.

    Commands that build their signature at run time add these parameters to it. The help shows them in a separate panel.
    """
    result = []
    for name, (annotation, default) in _OPTIONS.items():
        parameter = inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=_in_panel(annotation)
        )
        result.append(parameter)
    return result


def _in_panel(annotation: object) -> object:
    """Return a copy of an option's annotation that shows the option in the panel `PANEL` of the help.

    Args:
        annotation: `Annotated[type, option]`. It is copied, because other commands share the option.
    """
    declared_type, option = get_args(annotation)
    option_in_panel = copy.copy(option)
    option_in_panel.rich_help_panel = PANEL
    return Annotated[declared_type, option_in_panel]


@dataclass(frozen=True)
class LedgerReference:
    """Ledger that a command uses, and the part of its budget that pays for the run.

    The part is an item of the ledger's plan, or a slot, that is, a budget for runs that are not planned.

    Attributes:
        name: name or id of the ledger.
        at: path of the file, or URL of the service, that has the ledger.
        key_file: file with the API key of the service.
        place: values of those of the options `slot` (kind of the slot), `item` (name of the item) and `eta` (largest δ
            that the charge may add) that were given.
    """

    name: str
    at: str
    key_file: Path | None
    place: JsonRecord

    @contextmanager
    def open_ledger(self, **without: object) -> Iterator[Ledger]:
        """Open the ledger, as a context manager that prints errors of its block and ends the program.

        Args:
            without: options that cannot be combined with --given, by name; they must be None.

        Yields:
            The ledger.

        Raises:
            typer.Exit: one of these options is not None, or the ledger cannot be used; the reason was printed.
        """
        with books_at(self.at, self.key_file) as books:
            for name, value in without.items():
                if value is not None:
                    raise InvalidInput.at(f"/{name}", "does not go with --given")
            yield books.ledger(self.name)


def take_budget(texts: JsonRecord) -> LedgerReference | None:
    """Remove the options about a ledger from a mapping of all options, and return the ledger that they name.

    Args:
        texts: values of all options by name, texts or paths. The mapping is changed.

    Returns:
        The ledger, with the part of its budget that pays; None without --given. Then `slot`, `item` and `eta` stay in
        the mapping if they have a value, so that they are rejected as unknown options.
    """
    options = {name: texts.pop(name) for name in _OPTIONS}
    place = {name: options[name] for name in PLACE if options[name] is not None}
    if options["given"] is None:
        texts.update(place)
        return None
    return LedgerReference(options["given"], options["at"], options["key_file"], place)
