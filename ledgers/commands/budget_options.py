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
    """Return the parameters of the option --given and of the options that go with it.

    A command with a changing set of options adds them to its signature. The help shows them in a panel of their own.

    Returns:
        The parameters, for a signature that the command line reads.
    """
    result = []
    for name, (annotation, default) in _OPTIONS.items():
        parameter = inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=_in_panel(annotation)
        )
        result.append(parameter)
    return result


def _in_panel(annotation: object) -> object:
    """Return a copy of an option's annotation with which the help shows the option in the panel `PANEL`.

    Args:
        annotation: `Annotated[type, option]`. It is not changed, because other commands share the option.

    Returns:
        `Annotated[type, copy of the option]`.
    """
    declared_type, option = get_args(annotation)
    option_in_panel = copy.copy(option)
    option_in_panel.rich_help_panel = PANEL
    return Annotated[declared_type, option_in_panel]


@dataclass(frozen=True)
class LedgerReference:
    """Ledger that a command uses, and the part of its budget that pays for the run.

    The part is a slot, for runs that are not planned, or an item of the ledger's plan.

    Attributes:
        name: name or id of the ledger.
        at: path of the file, or URL of the service, that has the ledger.
        key_file: file with the API key of the service.
        place: the options that were given of `slot` (its kind), `item` (its name) and `eta` (the largest δ that the
            charge may add).
    """

    name: str
    at: str
    key_file: Path | None
    place: JsonRecord

    @contextmanager
    def open_ledger(self, **without: object) -> Iterator[Ledger]:
        """Open the ledger, as a context manager. Errors in the block are printed and end the program.

        Args:
            without: values of options that cannot be combined with --given, by their names; None for absent ones.

        Yields:
            The ledger.

        Raises:
            typer.Exit: one of these options has a value, or the ledger cannot be used. The reason was printed.
        """
        with books_at(self.at, self.key_file) as books:
            for name, value in without.items():
                if value is not None:
                    raise InvalidInput.at(f"/{name}", "does not go with --given")
            yield books.ledger(self.name)


def take_budget(texts: JsonRecord) -> LedgerReference | None:
    """Remove the options of the ledger from the given mapping of all options, and return the ledger.

    Args:
        texts: values of all options by name, texts or paths. The mapping is changed.

    Returns:
        The ledger, with the slot or item of its budget that pays and `eta`, the largest δ that the charge may add. None
        without --given. These three options then stay in the mapping, so that the algorithm rejects them as unknown.
    """
    options = {name: texts.pop(name) for name in _OPTIONS}
    place = {name: options[name] for name in PLACE if options[name] is not None}
    if options["given"] is None:
        texts.update(place)
        return None
    return LedgerReference(options["given"], options["at"], options["key_file"], place)
