"""`epsilond account`: the guarantee of a run, and the check of a claim."""

from __future__ import annotations

import inspect
from typing import Annotated

import typer

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.commands.exits import exit_codes
from epsilond.commands.output import print_answer, show_progress
from epsilond.commands.parsing import OPTIONAL, REQUIRED, RequestCommand, option_faults
from epsilond.commands.requests import (
    SPEC_HELP,
    RequestFields,
    field_parameters,
    request_parameters,
    structure_of,
    with_parameters,
)
from epsilond.options import listed_commands

QUERIES = ("epsilon", "delta", "log10_delta")
LIST_OPTIONS = {
    "false_positive_rates": "false_positive_rate",
    "priors": "prior",
    "orders": "order",
    "signed_epsilons": "signed_epsilon",
}
"""Option of each member of the query that is a list."""
CLAIM = "claim_"
"""Prefix of the options of a claim."""
STRUCTURES = ("spec", "query", "claim")
"""Fields of the request that have options of their own here."""
QUERY_PANEL = f"{REQUIRED}: one of these, once or several times, or a figure of an attacker"

Numbers = list[float] | None
_OPTIONS: JsonObject = {
    "epsilon": Annotated[
        Numbers, typer.Option("--epsilon", metavar="NUMBER", help="give δ at this ε", rich_help_panel=QUERY_PANEL)
    ],
    "delta": Annotated[
        Numbers, typer.Option("--delta", metavar="NUMBER", help="give ε at this δ", rich_help_panel=QUERY_PANEL)
    ],
    "log10_delta": Annotated[
        Numbers,
        typer.Option("--log10-delta", metavar="NUMBER", help="give ε at this log10 δ", rich_help_panel=QUERY_PANEL),
    ],
    "false_positive_rates": Annotated[
        Numbers,
        typer.Option(
            "--false-positive-rate",
            metavar="NUMBER",
            help="give the true positive rate at this false positive rate",
            rich_help_panel=OPTIONAL,
        ),
    ],
    "priors": Annotated[
        Numbers,
        typer.Option(
            "--prior",
            metavar="NUMBER",
            help="give the least error of an attacker with this prior",
            rich_help_panel=OPTIONAL,
        ),
    ],
    "orders": Annotated[
        Numbers,
        typer.Option(
            "--order", metavar="NUMBER", help="give the Rényi divergence at this order", rich_help_panel=OPTIONAL
        ),
    ],
    "signed_epsilons": Annotated[
        Numbers,
        typer.Option(
            "--signed-epsilon",
            metavar="NUMBER",
            help="give δ of each direction at this ε of any sign",
            rich_help_panel=OPTIONAL,
        ),
    ],
    "claim_epsilon": Annotated[
        float | None, typer.Option(metavar="NUMBER", help="ε of a claim to check", rich_help_panel=OPTIONAL)
    ],
    "claim_delta": Annotated[
        float | None, typer.Option(metavar="NUMBER", help="δ of a claim to check", rich_help_panel=OPTIONAL)
    ],
    "claim_log10_delta": Annotated[
        float | None, typer.Option(metavar="NUMBER", help="log10 δ of a claim to check", rich_help_panel=OPTIONAL)
    ],
}
_ARGUMENT = Annotated[str | None, typer.Argument(metavar="SPEC", help=f"{SPEC_HELP}; the same as --spec")]
_SPEC = Annotated[str | None, typer.Option("--spec", metavar="JSON|FILE|-", help=SPEC_HELP, rich_help_panel=REQUIRED)]


def add(main: typer.Typer) -> None:
    """Add the command `epsilond account` to the command line.

    Its argument is the spec, that is, the description of the mechanisms of a run. Options are the relation, unit and
    observer of the guarantee, the values of ε or δ at which figures are shown, and a claimed (ε, δ) to check.

    Args:
        main: the command line.
    """
    options = listed_commands("")["account"].options
    setting = field_parameters([option for option in options if option.field not in STRUCTURES])
    keyword = inspect.Parameter.KEYWORD_ONLY
    # The two forms of the spec come first, then the setting, the queries and the claim.
    specs = [
        inspect.Parameter("spec", keyword, default=None, annotation=_ARGUMENT),
        inspect.Parameter("spec_option", keyword, default=None, annotation=_SPEC),
    ]
    queries_and_claim = [
        inspect.Parameter(name, keyword, default=None, annotation=option) for name, option in _OPTIONS.items()
    ]
    parameters = specs + setting + queries_and_claim + request_parameters()
    text = "Show the guarantee of a run at an ε or δ, and whether a claim about it holds."
    main.command(cls=RequestCommand)(with_parameters(account, parameters, text))


def account(
    *,
    context: typer.Context,
    spec: str | None,
    spec_option: str | None,
    request: str | None,
    as_body: bool,
    **texts: object,
) -> None:
    """Account for a run, and print its guarantee.

    Args:
        context: context of the command, with the faults of its options.
        spec: the argument SPEC: a spec as JSON text, path of a file, or `-` for standard input; None if absent.
        spec_option: the text of --spec, likewise. At most one of the two is given.
        request: JSON text or path of a JSON file with fields, or `-` for standard input; options override them.
        as_body: whether to print JSON; otherwise tables are printed.
        **texts: values of the other options, by the names of the fields; None if an option is absent.

    Raises:
        typer.Exit: the request is not valid, or nothing can be certified; the reason was printed.
    """
    with exit_codes(_option):
        from epsilond.calibrators import accounts  # noqa: PLC0415  help needs no mathematics
        from epsilond.reading import read  # noqa: PLC0415
        from epsilond.terminal.accounts import account as show_account  # noqa: PLC0415

        fields = _read_fields(accounts.AccountProblem, context, _choose_spec(spec, spec_option), request, texts)
        with show_progress("account"):
            answer = accounts.answer(read(accounts.AccountProblem, fields))
        print_answer(answer, show_account, as_body=as_body)


def _read_fields(
    problem: type, context: typer.Context, spec: str | None, request: str | None, texts: JsonObject
) -> JsonRecord:
    """Return the fields of the request; options override fields of the request file.

    Two fields are objects that are put together from several options: the `query`, which says at which ε, δ or other
    points the answer is computed, and the `claim`, an (ε, δ) that the answer judges (--claim-epsilon, --claim-delta).

    Args:
        problem: the request class.
        context: context of the command, with the faults of its options.
        spec: the mechanism as JSON, the name of a file that contains it, or `-` for standard input; None if absent.
        request: value of --request; None if it is not given.
        texts: values of the other options, by name.

    Returns:
        The fields of the request by name, which were checked as a whole.

    Raises:
        InvalidInput: with the faults of the options and of the request.
    """
    other_texts = {name: text for name, text in texts.items() if name not in _OPTIONS}
    fields = RequestFields.from_options(problem, request, other_texts, option_faults(context))
    if spec is not None:
        fields.values["spec"] = _read_spec(spec)

    # An absent option of the query is None or an empty list.
    query = dict(_query_field(name, texts[name]) for name in QUERIES if texts[name])
    query |= {name: texts[name] for name in LIST_OPTIONS if texts[name]}
    if query:
        fields.values["query"] = query
    claim_texts = {name: texts[f"{CLAIM}{name}"] for name in QUERIES}
    claim = {name: text for name, text in claim_texts.items() if text is not None}
    if claim:
        fields.values["claim"] = claim

    if "kind" in fields.values and "spec" not in fields.values:
        raise InvalidInput.at("/request", "holds a spec and no request: give it as SPEC")
    fields.check()
    return fields.values


def _choose_spec(argument: str | None, option: str | None) -> str | None:
    """Return the text of the spec, which is given either as the argument SPEC or as the option --spec.

    Args:
        argument: value of the argument; None if absent.
        option: value of the option; None if absent.

    Returns:
        The text; None if both are absent.

    Raises:
        InvalidInput: both are given.
    """
    if argument is not None and option is not None:
        raise InvalidInput.at("/spec", "is given twice: as an argument and as --spec")
    return argument if option is None else option


def _read_spec(text: str) -> JsonRecord:
    """Read the spec, the description of a mechanism, from a JSON text or from a JSON file.

    Args:
        text: the JSON text, the path of the file, or `-` for standard input.

    Returns:
        The members of the JSON object, which are not checked yet.

    Raises:
        InvalidInput: it cannot be read, or is a whole request that contains a spec.
    """
    spec = structure_of(text, at="/spec")
    # A request contains a spec and further fields, and has no kind itself.
    if "spec" in spec and "kind" not in spec:
        file = "FILE" if text.lstrip().startswith("{") else text
        raise InvalidInput.at("/spec", f"is a request and no spec: use --request {file}")
    return spec


def _query_field(name: str, values: list[float]) -> tuple[str, object]:
    """Return name and value of a field of the request's query: `delta` for one value, `deltas` for several.

    Args:
        name: name of the option, such as `delta`.
        values: its values; at least one.

    Returns:
        The name in the request, and the value or the list of values.
    """
    if len(values) == 1:
        return name, values[0]
    return f"{name}s", values


def _option(pointer: str) -> str:
    """Convert a JSON pointer of a fault in the request to a pointer that names the command-line option.

    For example, /query/deltas/3 becomes /delta/3, and /claim/epsilon becomes /claim_epsilon.

    Args:
        pointer: JSON pointer of a fault.

    Returns:
        The pointer with the name of the option as its first part. Other pointers are returned unchanged.
    """
    structure, _, rest = pointer.removeprefix("/").partition("/")
    field, _, index = rest.partition("/")
    if structure == "claim" and field:
        return f"/{CLAIM}{field}"
    if structure != "query":
        return pointer
    option = LIST_OPTIONS.get(field) or field.removesuffix("s")
    if option not in (*QUERIES, *LIST_OPTIONS.values()):
        return "/epsilon, --delta or --log10-delta"  # a fault of the whole query; the message gets "--" in front
    return f"/{option}/{index}" if index else f"/{option}"
