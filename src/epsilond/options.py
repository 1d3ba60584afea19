"""Command-line options made from a request dataclass: one for each field, described by its quantity."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer

from epsilond import strict_json
from epsilond.accountants.quantities import quantity_of
from epsilond.reading import allowed

METAVARS = {float: "NUMBER", int: "COUNT", bool: "true|false", str: "TEXT"}


def parameters(request: type) -> list[inspect.Parameter]:
    """One keyword-only parameter for each field. All default to None, so that a request file may give them instead."""
    hints = get_type_hints(request, include_extras=True)
    return [_parameter(field, hints[field.name]) for field in fields(request)]


def read_options(request: type, given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that were given on the command line, as values; unknown names are left for the request to refuse.

    Raises:
        InvalidInput: a structure's text is not JSON.
    """
    hints = get_type_hints(request, include_extras=True)
    return {
        name: _value(hints[name], text, at=f"/{name}") if isinstance(text, str) and name in hints else text
        for name, text in given.items()
        if text is not None
    }


def option_name(field_name: str) -> str:
    """`--samples-per-client` for `samples_per_client`."""
    return "--" + field_name.replace("_", "-")


def described(annotation: Any) -> str:
    """A field in words: description, symbol, unit and range."""
    _, quantity = quantity_of(annotation)
    if quantity is None:
        return allowed(annotation) or ""
    unit = f"in {quantity.unit}" if quantity.unit else ""
    details = ", ".join(part for part in (quantity.symbol, unit, allowed(annotation)) if part)
    return f"{quantity.description} ({details})" if details else quantity.description


def _parameter(field: Field[Any], annotation: Any) -> inspect.Parameter:
    bare, _ = quantity_of(annotation)
    required = field.default is MISSING and field.default_factory is MISSING
    help_text = described(annotation)
    if field.default is not MISSING and field.default is not None:
        help_text += f" · default {str(field.default).lower() if bare is bool else field.default}"
    option = typer.Option(
        option_name(field.name),
        help=help_text,
        metavar=_metavar(bare),
        show_default=False,
        rich_help_panel="Required" if required else "Optional",
    )
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(field.name, keyword, default=None, annotation=Annotated[str | None, option])


def _metavar(bare: Any) -> str:
    if get_origin(bare) is Literal:
        return "WORD"
    members = [METAVARS[member] for member in (bare, *get_args(bare)) if member in METAVARS]
    return "JSON" if get_origin(bare) is tuple or not members else "|".join(members)


def _value(annotation: Any, text: str, *, at: str) -> Any:
    bare, _ = quantity_of(annotation)
    if _metavar(bare) == "JSON":
        return strict_json.parse(text, at=at)
    if bare is str or get_origin(bare) is Literal:
        return text
    if bare is bool:
        return {"true": True, "false": False}.get(text, text)
    for number in (int, float):
        with contextlib.suppress(ValueError):
            return number(text)
    return text
