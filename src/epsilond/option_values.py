"""Options of the command line for the fields of request classes: their descriptions, and the reading of their texts."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from typing import Literal, get_args, get_origin, get_type_hints

from epsilond import strict_json
from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.accountants.quantities import WindowedUnit, quantity_of
from epsilond.accountants.quantities.units import unit_named
from epsilond.options import FieldOption
from epsilond.reading.shapes import allowed_values

JSON_METAVAR = "JSON"
"""Placeholder of an option with a JSON text as its value."""
METAVARS = {float: "NUMBER", int: "COUNT", bool: "true|false", str: "TEXT"}
"""Placeholder of an option's value in the help, by the field's type."""


def describe_options(request: type) -> list[FieldOption]:
    """Describe the command-line options of a request class: one for each field, in the order of the fields.

    Args:
        request: the request class, a data class with annotated fields.

    Returns:
        One description for each field.
    """
    hints = get_type_hints(request, include_extras=True)
    return [_describe_option(field, hints[field.name]) for field in fields(request)]


def read_texts(request: type, texts: JsonObject) -> tuple[JsonRecord, list[Fault]]:
    """Convert the texts of options to values of a request's fields, as far as possible.

    All faults are collected, so that the user sees them together with the faults of the request.

    Args:
        request: the request class.
        texts: the text of each option by the name of its field; None for an option that was left out.

    Returns:
        The values of the given options, and a fault for each text that must be JSON and is not. Texts that do not fit
        the type of their field, or have an unknown name, stay texts. The request class rejects them later.
    """
    hints = get_type_hints(request, include_extras=True)
    values: JsonRecord = {}
    faults: list[Fault] = []
    for name, text in texts.items():
        if text is None:
            continue
        # Values that are no texts, or have an unknown name, are left to the request class.
        if not isinstance(text, str) or name not in hints:
            values[name] = text
            continue
        try:
            values[name] = _read_text(hints[name], text, at=f"/{name}")
        except InvalidInput as error:
            faults.extend(error.faults)
    return values, faults


def read_options(request: type, texts: Mapping[str, object]) -> JsonRecord:
    """Convert the texts of options to values of a request's fields.

    Args:
        request: the request class.
        texts: the text of each option by the name of its field; None for an option that was left out.

    Returns:
        The values by the name of their field, without the options that were left out.

    Raises:
        InvalidInput: the text of an option that takes JSON is not JSON. The error lists all such options.
    """
    values, faults = read_texts(request, texts)
    if faults:
        raise InvalidInput(*faults)
    return values


def _describe_option(field: Field[object], annotation: object) -> FieldOption:
    """Describe the command-line option of a request's field: its type, the placeholder of its value, and its help.

    Args:
        field: the field of a request class.
        annotation: its type, with its metadata, such as a range.

    Returns:
        The description. The help ends with the default value if there is one.
    """
    bare_type, _quantity = quantity_of(annotation)
    help_text = _describe_field(annotation)
    has_default = field.default is not MISSING
    if has_default and field.default is not None:
        default_text = str(field.default)
        if bare_type is bool:
            default_text = default_text.lower()
        help_text += f" · default {default_text}"
    is_required = not has_default and field.default_factory is MISSING
    return FieldOption(field=field.name, metavar=_metavar(bare_type), required=is_required, help=help_text)


def _describe_field(annotation: object) -> str:
    """Return the help text of a field: its description, and in brackets its symbol, unit and allowed values.

    Args:
        annotation: type of the field, with its metadata.

    Returns:
        The text. If the field has no description, only its allowed values, or an empty text.
    """
    _bare_type, quantity = quantity_of(annotation)
    if quantity is None:
        return allowed_values(annotation) or ""
    unit = f"in {quantity.unit}" if quantity.unit else ""
    parts = (quantity.symbol, unit, allowed_values(annotation))
    details = ", ".join(part for part in parts if part)
    if not details:
        return quantity.description
    return f"{quantity.description} ({details})"


def _metavar(bare_type: object) -> str:
    """Return the placeholder of an option's value in its help, such as NUMBER.

    Args:
        bare_type: type of the field, without metadata.

    Returns:
        WORD for a choice of words or a protected unit, JSON for a structure or tuple. Otherwise the placeholders of the
        possible types, with "|" between them.
    """
    member_types = get_args(bare_type)
    # A protected unit with a window of time is an object, but the option also accepts its name.
    if get_origin(bare_type) is Literal or WindowedUnit in member_types:
        return "WORD"
    placeholders = [METAVARS[member] for member in (bare_type, *member_types) if member in METAVARS]
    if get_origin(bare_type) is tuple or not placeholders:
        return JSON_METAVAR
    return "|".join(placeholders)


def _read_text(annotation: object, text: str, *, at: str) -> object:
    """Convert the text of an option to a number, a truth value or JSON, as the type of its field requires.

    A text that cannot be converted is returned unchanged, and the request class rejects it later. Invalid JSON is
    rejected at once.

    Args:
        annotation: type of the field, with its metadata.
        text: the text of the option.
        at: JSON pointer of the field, for errors.

    Returns:
        The value. Its range is not checked.

    Raises:
        InvalidInput: the field takes JSON, and the text is not JSON.
    """
    bare_type, _quantity = quantity_of(annotation)
    if WindowedUnit in get_args(bare_type) and not text.lstrip().startswith("{"):
        return unit_named(text)
    if _metavar(bare_type) == JSON_METAVAR:
        return strict_json.parse(text, at=at)
    if bare_type is str or get_origin(bare_type) is Literal:
        return text
    if bare_type is bool:
        return {"true": True, "false": False}.get(text, text)

    # Integers first: `float` would round an integer above 2⁵³.
    for number in (int, float):
        with contextlib.suppress(ValueError):
            return number(text)
    return text
