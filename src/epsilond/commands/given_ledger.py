"""`--given LEDGER`: a calibration or a plan within what is left of a ledger, in a file or on a service."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from epsilond.accountants.errors import InvalidInput
from epsilond.commands.ledger import HERE, At, Eta, KeyFile, books_at

if TYPE_CHECKING:
    from epsilond.ledgers.client.ledgers import Ledger

_GIVEN = Annotated[
    str | None, typer.Option("--given", metavar="LEDGER", help="within what is left of this ledger, its name or id")
]
_SLOT = Annotated[str | None, typer.Option(metavar="gdp|zcdp|rdp|pure", help="with --given: the slot; absent: gdp")]
_ITEM = Annotated[str | None, typer.Option(metavar="NAME", help="with --given: the item of the plan that is drawn on")]
_OPTIONS: dict[str, tuple[Any, Any]] = {
    "given": (_GIVEN, None),
    "slot": (_SLOT, None),
    "item": (_ITEM, None),
    "eta": (Eta, None),
    "at": (At, HERE),
    "key_file": (KeyFile, None),
}
PLACE = ("slot", "item", "eta")


def parameters() -> list[inspect.Parameter]:
    """--given, and where the ledger is."""
    return [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, (annotation, default) in _OPTIONS.items()
    ]


@dataclass(frozen=True)
class Budget:
    """A ledger as it is named, and the slot or item of it."""

    name: str
    at: str
    key_file: Path | None
    place: dict[str, Any]

    @contextmanager
    def found(self, **without: object) -> Iterator[Ledger]:
        """The ledger; what is refused becomes a message and an exit code. No option `without` goes with it."""
        with books_at(self.at, self.key_file) as books:
            for name, value in without.items():
                if value is not None:
                    raise InvalidInput.at(f"/{name}", "does not go with --given")
            yield books.ledger(self.name)


def taken(given: dict[str, Any]) -> Budget | None:
    """What these options say, taken out of the others; None without --given.

    Of the place only what was named is left among the fields then, for the algorithm to refuse.
    """
    told = {name: given.pop(name) for name in _OPTIONS}
    place = {name: told[name] for name in PLACE if told[name] is not None}
    if told["given"] is None:
        given.update(place)
        return None
    return Budget(told["given"], told["at"], told["key_file"], place)
