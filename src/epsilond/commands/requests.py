"""Requests from files, standard input or the command line."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Self

import typer

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.commands.output import AsJson
from epsilond.commands.parsing import COMMON, OPTIONAL, REQUIRED
from epsilond.options import FieldOption, option_name

SPEC_HELP = "the run: a JSON object with a `kind`, a file that holds one, or - for standard input"
"""Help of the options and arguments that take a spec."""


def fields_of(source: str | None, *, at: str = "/request") -> JsonRecord:
    """Read a JSON object from a file or from standard input.

    Args:
        source: path of the file, or `-` for standard input. None gives an empty object.
        at: JSON pointer of the option in error messages.

    Returns:
        The members of the object by name, which are not checked yet.

    Raises:
        InvalidInput: the file cannot be read, or its text is not a JSON object.
    """
    if source is None:
        return {}
    try:
        text = sys.stdin.read() if source == "-" else Path(source).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput.at(at, f"cannot be read: {error}") from None
    return _parse_object(text, at=at, inner_at="")


def structure_of(text: str, *, at: str) -> JsonRecord:
    """Read the JSON object that an option contains, or that is in the file that the option names.

    Args:
        text: the JSON object itself, the path of a file, or `-` for standard input. A text that begins with `{` is an
            object.
        at: JSON pointer of the option in error messages.

    Returns:
        The members of the object by name, which are not checked yet.

    Raises:
        InvalidInput: the file cannot be read, or the text is not a JSON object. If the option contains the object
            itself, pointers to faults inside it begin with `at`.
    """
    if text.lstrip().startswith("{"):
        return _parse_object(text, at=at, inner_at=at)
    return fields_of(text, at=at)


@dataclass
class RequestFields:
    """The fields of a request, as they were read from its file and the command-line options, with the errors found.

    Attributes:
        problem: request class, which defines the fields.
        values: values of the fields by name, not checked yet.
        faults: faults of the options.
    """

    problem: type
    values: JsonRecord
    faults: tuple[Fault, ...]

    @classmethod
    def from_options(cls, problem: type, request: str | None, texts: JsonObject, error: InvalidInput) -> Self:
        """Read the fields of a request from a file and from the options of the command.

        An option overrides the same field of the file.

        Args:
            problem: the request class.
            request: path of the request file, or `-` for standard input; None without a file.
            texts: texts of the options by the names of the fields; None for an option that is not given.
            error: faults of the options that the parser of the command line detected; it may have none.

        Returns:
            The values of the fields, and all faults of the options. `check` reports the faults later, together with
            those of the request itself.

        Raises:
            InvalidInput: the request file cannot be read, or is not a JSON object. The error also lists the parser's
                faults.
        """
        from epsilond.option_values import read_texts  # noqa: PLC0415  help reads no fields

        try:
            fields = fields_of(request)
        except InvalidInput as unreadable:
            raise InvalidInput(*error.faults, *unreadable.faults) from None
        values, faults = read_texts(problem, texts)
        return cls(problem, fields | values, (*error.faults, *faults))

    def check(self, **further: object) -> None:
        """Raise an error if an option has a fault. The error also lists the faults of the request as a whole.

        If no option has a fault, this does nothing, because the function that answers the request checks it anyway.

        Args:
            **further: values of further fields of the request, such as a value of a swept field.

        Raises:
            InvalidInput: an option has a fault.
        """
        if not self.faults:
            return
        from epsilond.reading import read  # noqa: PLC0415  help reads no request

        faulty_options = {fault.pointer for fault in self.faults}
        try:
            read(self.problem, {**self.values, **further})
        except InvalidInput as error:
            # A faulty option is reported once, although its value also makes the request invalid.
            request_faults = [fault for fault in error.faults if fault.pointer not in faulty_options]
            raise InvalidInput(*self.faults, *request_faults) from None
        raise InvalidInput(*self.faults)

    def without_check(self) -> JsonRecord:
        """Return the values of the fields without a check of the request as a whole.

        A command uses it if a ledger later sets some of the fields: until then, the request is incomplete.

        Returns:
            The values of the fields by name.

        Raises:
            InvalidInput: an option has a fault.
        """
        if self.faults:
            raise InvalidInput(*self.faults)
        return self.values


def _parse_object(text: str, *, at: str, inner_at: str) -> JsonRecord:
    """Parse the JSON object of an option.

    Args:
        text: the JSON text.
        at: JSON pointer of the error for JSON that is not an object.
        inner_at: beginning of the JSON pointers to faults in the text.

    Returns:
        The members of the object by name.

    Raises:
        InvalidInput: the text is not JSON, or is JSON other than an object.
    """
    from epsilond import strict_json  # noqa: PLC0415  help reads no request

    body = strict_json.parse(text, at=inner_at)
    if not isinstance(body, dict):
        raise InvalidInput.at(at, "must hold a JSON object")
    return body


def assignment(text: str, *, at: str) -> tuple[str, str]:
    """Split a text NAME=VALUE at its first `=`. Hyphens in the name become underscores, as in names of fields.

    Args:
        text: the text NAME=VALUE.
        at: JSON pointer for the error.

    Returns:
        The name without surrounding spaces, and the value unchanged.

    Raises:
        InvalidInput: there is no `=`.
    """
    name, separator, value = text.partition("=")
    if not separator:
        raise InvalidInput.at(at, "must be NAME=VALUE")
    return name.strip().replace("-", "_"), value


def field_parameters(options: Iterable[FieldOption]) -> list[inspect.Parameter]:
    """Return a keyword-only parameter of a function for each option of a request.

    From these parameters typer, the library for command lines, makes the options of the command. All parameters default
    to None, because a request file may give the fields instead.

    Args:
        options: descriptions of the options.

    Returns:
        The parameters, with the required fields first.
    """
    ordered = sorted(options, key=lambda option: not option.required)
    return [_field_parameter(option) for option in ordered]


def _field_parameter(field: FieldOption) -> inspect.Parameter:
    """Return a keyword-only parameter of a command, annotated for typer, the library for command lines.

    Args:
        field: description of the option: field, help, placeholder, and whether the field is required.

    Returns:
        The parameter; its default None means that the option was not given.
    """
    panel = REQUIRED if field.required else OPTIONAL
    option = typer.Option(
        option_name(field.field), help=field.help, metavar=field.metavar, show_default=False, rich_help_panel=panel
    )
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(field.field, keyword, default=None, annotation=Annotated[str | None, option])


def request_parameters() -> list[inspect.Parameter]:
    """Return the parameters that every command with a request has in addition to the fields of the request.

    Returns:
        Keyword-only parameters with annotations for typer, the library for command lines: the `context` of the command,
        `request` for the option --request, and `as_body` for the option --json.
    """
    keyword = inspect.Parameter.KEYWORD_ONLY
    source_help = "a JSON request, - for standard input; options override its fields"
    source = typer.Option("--request", metavar="FILE", help=source_help, rich_help_panel=COMMON)
    return [
        inspect.Parameter("context", keyword, annotation=typer.Context),
        inspect.Parameter("request", keyword, default=None, annotation=Annotated[str | None, source]),
        inspect.Parameter("as_body", keyword, default=False, annotation=AsJson),
    ]


def with_parameters(
    command: Callable[..., None], parameters: list[inspect.Parameter], text: str | None
) -> Callable[..., None]:
    """Set the signature and the help of a command. From the signature, typer makes the options of the command.

    Args:
        command: function of the command, which is changed in place.
        parameters: parameters of the new signature.
        text: help of the command; None for no help.

    Returns:
        The same function.
    """
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command.__doc__ = text
    return command
