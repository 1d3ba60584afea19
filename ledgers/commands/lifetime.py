"""`epsilond ledger open|list|show|what-if`, and the group of all commands on ledgers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast, get_type_hints

import typer

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.commands.exits import exit_codes
from epsilond.commands.output import AsJson, print_body, show
from epsilond.commands.parsing import REQUIRED, RequestCommand, option_faults
from epsilond.commands.requests import structure_of
from epsilond.ledgers.commands.shared import (
    HERE,
    At,
    By,
    Count,
    Eta,
    Key,
    KeyFile,
    Name,
    Slot,
    SlotDelta,
    Spec,
    assignments,
    books_at,
    group,
    mechanism,
    option_of,
    print_ledger,
    split_assignment,
)

if TYPE_CHECKING:
    from epsilond.accountants.quantities import Observer, ProtectedUnit, Relation
    from epsilond.ledgers.client.books import Inputs
    from epsilond.ledgers.mathematics.state import SlotKind


def add(main: typer.Typer) -> None:
    """Add the command group `ledger`, with all its commands, to the program.

    Args:
        main: the program. It is changed in place.
    """
    # The import of a module adds its commands to the group; the names themselves are not used.
    from epsilond.ledgers.commands import (  # noqa: PLC0415  their commands are listed after those of this file
        audit,  # noqa: F401
        drill,  # noqa: F401
        keys,  # noqa: F401
        moves,  # noqa: F401
        overrides,  # noqa: F401
        pending,  # noqa: F401
        witness,  # noqa: F401
    )

    main.add_typer(group, name="ledger")


@group.command("open", cls=RequestCommand)
def open_ledger(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="name of the ledger for people")],
    dataset: Annotated[str, typer.Option(metavar="TEXT", help="the data that the budget is of")],
    epsilon: Annotated[
        float | None, typer.Option(metavar="NUMBER", help="ε of all that is ever released, in nats, with a δ")
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(
            metavar="record|client|client-day|…",
            help="protected unit; of a day, week or month, such as client-day, if it has a window",
            rich_help_panel=REQUIRED,
        ),
    ] = None,
    relation: Annotated[
        str | None,
        typer.Option(metavar="WORD", help="add-or-remove-one, replace-one or zero-out-one", rich_help_panel=REQUIRED),
    ] = None,
    observer: Annotated[
        str | None,
        typer.Option(metavar="WORD", help="the adversary, such as released-models or server", rich_help_panel=REQUIRED),
    ] = None,
    delta: Annotated[float | None, typer.Option(metavar="NUMBER", help="δ of all that is ever released")] = None,
    log10_delta: Annotated[float | None, typer.Option(metavar="NUMBER", help="instead of --delta")] = None,
    advantage: Annotated[
        float | None, typer.Option(metavar="NUMBER", help="instead of --epsilon: an attacker's largest advantage")
    ] = None,
    true_positive_rate: Annotated[
        float | None,
        typer.Option(metavar="NUMBER", help="instead of --epsilon: largest rate at --false-positive-rate"),
    ] = None,
    false_positive_rate: Annotated[
        float | None, typer.Option(metavar="NUMBER", help="false positive rate of --true-positive-rate")
    ] = None,
    gaussian_dp_mu: Annotated[
        float | None, typer.Option(metavar="NUMBER", help="instead of --epsilon: μ of Gaussian differential privacy")
    ] = None,
    rho: Annotated[
        float | None, typer.Option(metavar="NUMBER", help="instead of --epsilon: ρ of zero-concentrated privacy")
    ] = None,
    plan: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=SPEC", help="mechanism to be run whatever the outputs are; once for each"),
    ] = None,
    slot: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND[=JSON]", help="gdp, zcdp, rdp or pure: budget for other runs; no JSON: the largest"),
    ] = None,
    block: Annotated[str | None, typer.Option(metavar="TEXT", help="part of the data; absent: all of it")] = None,
    sealed: Annotated[bool, typer.Option("--sealed", help="who is in the data is fixed from now on")] = False,
    inputs: Annotated[
        str,
        typer.Option(
            metavar="WORD", help="functions-of-releases or independent-of-outputs: inputs on which specs depend"
        ),
    ] = "functions-of-releases",
    approval: Annotated[
        bool, typer.Option("--approval", help="a second person approves amendments, voids and reconciliations")
    ] = False,
    by: By = None,
    key: Key = None,
    at: At = HERE,
    key_file: KeyFile = None,
    as_body: AsJson = False,
) -> None:
    """Open a ledger, certified to stay within ε and δ. You declare that nothing was released of the data before.

    \f

    Args:
        context: context of the command, with the faults of its options.
        name: name of the ledger for people.
        dataset: name of the data set that the budget belongs to.
        epsilon: ε of the target, in nats, at least 0; give it or one risk.
        unit: protected unit, such as record, client or client-day; required.
        relation: neighbouring relation: add-or-remove-one, replace-one or zero-out-one; required.
        observer: adversary of the guarantee, such as released-models or server; required.
        delta: δ of the target, in (0, 1); give it or `log10_delta`.
        log10_delta: decimal logarithm of δ, negative.
        advantage: largest advantage of an attacker as the target, in (0, 1).
        true_positive_rate: largest true positive rate at `false_positive_rate` as the target, in (0, 1).
        false_positive_rate: false positive rate of that target, in (0, 1).
        gaussian_dp_mu: μ of Gaussian differential privacy as the target, positive.
        rho: ρ of zero-concentrated differential privacy as the target, positive.
        plan: NAME=SPEC for each item, a mechanism that is run independently of all outputs.
        slot: KIND or KIND=JSON for each slot, that is, a budget for runs that are not planned. Without JSON the slot is
            as large as possible.
        block: name of the block of the data set; None for all of it.
        sealed: whether the members of the block are declared to be fixed from now on.
        inputs: declaration of the inputs on which specs depend: functions-of-releases or independent-of-outputs.
        approval: whether a second person approves amendments, voids and reconciliations.
        by: name of the person who acts, for a file of ledgers; a service takes it from the API key.
        key: idempotency key. A repeated request with the same key changes nothing and gets the same answer. None
            makes a new key.
        at: path of the file of ledgers, or URL of a service.
        key_file: file with the API key of the service; None reads the key, if any, from EPSILOND_API_KEY.
        as_body: whether to print JSON as the service answers it; otherwise tables are printed.

    Raises:
        typer.Exit: an option is missing or not valid, or the plan and the slots cannot be certified; the reason was
            printed.
    """
    with exit_codes(option_of):
        _reject_faulty_options(context, unit=unit, relation=relation, observer=observer)
    from epsilond.accountants.quantities.units import unit_named  # noqa: PLC0415  help needs no mathematics

    with books_at(at, key_file) as books:
        ledger = books.open(
            name=name,
            dataset=dataset,
            block=block,
            unit=cast("ProtectedUnit", unit_named(unit or "")),
            relation=cast("Relation", relation),
            observer=cast("Observer", observer),
            epsilon=epsilon,
            delta=delta,
            log10_delta=log10_delta,
            advantage=advantage,
            true_positive_rate=true_positive_rate,
            false_positive_rate=false_positive_rate,
            gaussian_dp_mu=gaussian_dp_mu,
            rho=rho,
            plan={item: structure_of(spec, at="/plan") for item, spec in assignments(plan, "/plan")},
            slots=dict(map(_read_slot, slot or ())),
            sealed=sealed,
            inputs=cast("Inputs", inputs),
            approval=approval,
            by=by,
            key=key,
        )
        print_ledger(ledger, as_body=as_body)


@group.command("list")
def list_ledgers(at: At = HERE, key_file: KeyFile = None, as_body: AsJson = False) -> None:
    """List the ledgers.

    \f

    Args:
        at: path of the file of ledgers, or URL of a service.
        key_file: file with the API key of the service; None reads the key, if any, from EPSILOND_API_KEY.
        as_body: whether to print JSON as the service answers it; otherwise tables are printed.

    Raises:
        typer.Exit: the request is rejected or the place of the ledgers cannot be used; the reason was printed.
    """
    with books_at(at, key_file) as books:
        from epsilond.ledgers.commands import tables  # noqa: PLC0415  few commands use it

        answers = [ledger.told for ledger in books.ledgers()]
        print_body({"ledgers": answers}) if as_body else show(tables.ledgers(answers))


@group.command("show")
def show_ledger(ledger: Name, at: At = HERE, key_file: KeyFile = None, as_body: AsJson = False) -> None:
    """Show what a ledger promises, what is left of it, and what the promise rests on.

    \f

    Args:
        ledger: name or id of the ledger.
        at: path of the file of ledgers, or URL of a service.
        key_file: file with the API key of the service; None reads the key, if any, from EPSILOND_API_KEY.
        as_body: whether to print JSON as the service answers it; otherwise tables are printed.

    Raises:
        typer.Exit: the request is rejected or the place of the ledgers cannot be used; the reason was printed.
    """
    with books_at(at, key_file) as books:
        print_ledger(books.ledger(ledger), as_body=as_body)


@group.command("what-if")
def ask_what_if(
    ledger: Name,
    name: Annotated[str | None, typer.Argument(metavar="ITEM", help="item of the plan")] = None,
    spec: Spec = None,
    slot: Slot = None,
    count: Count = None,
    eta: Eta = None,
    delta: SlotDelta = None,
    at: At = HERE,
    key_file: KeyFile = None,
    as_body: AsJson = False,
) -> None:
    """Show the charge of runs of an item of the plan, or of a mechanism in a slot, and whether they fit.

    Nothing changes. A slot is a part of the budget for runs that are not planned.

    \f

    Args:
        ledger: name or id of the ledger.
        name: item of the plan; a label if a slot is charged.
        spec: mechanism as JSON text, path of a JSON file, or `-` for standard input; needed if a slot is charged.
        slot: kind of the slot that is charged: gdp, zcdp, rdp or pure. None charges the item of the plan.
        count: number of runs, at least 1; None for all that the job has.
        eta: η, the largest δ that the charge of a mechanism that is not Gaussian may add in a Gaussian slot.
        delta: δ of each run in a zcdp or pure slot.
        at: path of the file of ledgers, or URL of a service.
        key_file: file with the API key of the service; None reads the key, if any, from EPSILOND_API_KEY.
        as_body: whether to print JSON as the service answers it; otherwise tables are printed.

    Raises:
        typer.Exit: the request is rejected or the place of the ledgers cannot be used; the reason was printed.
    """
    with books_at(at, key_file) as books:
        from epsilond.ledgers.commands import tables  # noqa: PLC0415  few commands use it

        answer = books.ledger(ledger).what_if(
            name, spec=mechanism(spec), slot=cast("SlotKind | None", slot), count=count, eta=eta, delta=delta
        )
        print_body(answer) if as_body else show(tables.what_if(answer))


def _reject_faulty_options(context: typer.Context, **setting: str | None) -> None:
    """Reject options with faults, and report the missing ones of unit, relation and observer together with them.

    If the options have no faults, missing ones are reported later, when the request is read.

    Args:
        context: context of the command, with the faults of its options.
        setting: values of the options for unit, relation and observer, by name; None if one is missing.

    Raises:
        InvalidInput: an option has a fault.
    """
    faults = option_faults(context).faults
    if not faults:
        return
    from epsilond.ledgers.requests import OpenLedger  # noqa: PLC0415  few commands use it
    from epsilond.reading.shapes import allowed_values  # noqa: PLC0415

    hints = get_type_hints(OpenLedger, include_extras=True)
    missing = [name for name, value in setting.items() if value is None]
    missing_faults = [Fault(f"/{name}", "is required", allowed_values(hints[name])) for name in missing]
    raise InvalidInput(*faults, *missing_faults)


def _read_slot(text: str) -> tuple[str, object]:
    """Parse the option of a slot, a budget for runs that are not planned: KIND, KIND=largest or KIND=JSON.

    Args:
        text: value of the option. KIND, such as `gdp`, is short for KIND=largest.

    Returns:
        The kind; and the capacity, which is the word "largest" or the value of the JSON text.
    """
    if "=" not in text:
        return text.strip(), "largest"
    kind, capacity = split_assignment(text, "/slot")
    if capacity == "largest":
        return kind, capacity
    return kind, structure_of(capacity, at="/slot")
