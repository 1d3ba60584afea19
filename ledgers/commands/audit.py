"""`epsilond ledger entries|export|report|verify`: entries of the log, and their verification without a service."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.json_types import JsonRecord
from epsilond.commands.exits import BAD_INPUT, UNEXPECTED, exit_codes
from epsilond.commands.output import AsJson, print_body, show
from epsilond.extras import extra
from epsilond.ledgers.commands.shared import HERE, At, KeyFile, Name, books_at, group

if TYPE_CHECKING:
    from epsilond.ledgers.log.findings import LogVerification

Order = Literal["oldest", "newest"]
DOES_NOT_HOLD, NOT_SHOWN = UNEXPECTED, BAD_INPUT
"""Exit codes of `verify`: a claim is false, or a claim could be neither confirmed nor refuted."""
Out = Annotated[Path | None, typer.Option(metavar="FILE", help="write it there; otherwise it is printed")]


@group.command()
def entries(
    ledger: Name,
    start: Annotated[int, typer.Option("--from", metavar="NUMBER", min=0, help="number of the first entry")] = 0,
    order: Annotated[Order, typer.Option(help="which entries come first: the oldest or the newest")] = "oldest",
    limit: Annotated[int | None, typer.Option(metavar="COUNT", min=1, help="most that are listed")] = None,
    at: At = HERE,
    key_file: KeyFile = None,
    as_body: AsJson = False,
) -> None:
    """List the entries of the log about a ledger, such as its opening, reservations and commits.

    \f

    Args:
        ledger: name or id of the ledger.
        start: number of the first entry, from 0.
        order: whether the oldest or the newest entries come first.
        limit: largest number of entries, at least 1; None for all.
        at: path of the file of ledgers, or URL of a service.
        key_file: file with the API key of the service; None reads the key, if any, from EPSILOND_API_KEY.
        as_body: whether to print JSON as the service answers it; otherwise tables are printed.

    Raises:
        typer.Exit: the request is rejected or the place of the ledgers cannot be used; the reason was printed.
    """
    with books_at(at, key_file) as books:
        from epsilond.ledgers.commands import tables  # noqa: PLC0415  few commands use it

        entry_list = books.ledger(ledger).entries(start, order=order, limit=limit)
        print_body({"entries": entry_list}) if as_body else show(tables.entries(entry_list))


@group.command()
def export(
    ledger: Annotated[
        str | None,
        typer.Argument(metavar="LEDGER", help="on a service; absent: all of the organisation's, for its auditor"),
    ] = None,
    out: Out = None,
    at: At = HERE,
    key_file: KeyFile = None,
) -> None:
    """Write what `verify` needs into one file: entries, and the signed head of the log; no keys, and no data.

    \f

    Args:
        ledger: name or id of a ledger on a service; only its entries are exported. None exports all entries of the
            organisation, for its auditor.
        out: file of the bundle; None prints it.
        at: path of the file of ledgers, or URL of a service.
        key_file: file with the API key of the service; None reads the key, if any, from EPSILOND_API_KEY.

    Raises:
        typer.Exit: the request is rejected or the place of the ledgers cannot be used; the reason was printed.
    """
    with books_at(at, key_file) as books:
        chosen = None if ledger is None else books.ledger(ledger)
        give(books.bundle(chosen).to_bytes(), out)


@group.command()
def report(
    ledger: Name,
    out: Annotated[Path, typer.Option(metavar="FILE", help="where to write the page")] = Path("ledger-report.html"),
    at: At = HERE,
    key_file: KeyFile = None,
) -> None:
    """Write a ledger as a signed page to be read and kept. `epsilond verify` checks it with the public keys alone.

    \f

    Args:
        ledger: name or id of the ledger.
        out: file of the page.
        at: path of the file of ledgers, or URL of a service.
        key_file: file with the API key of the service; None reads the key, if any, from EPSILOND_API_KEY.

    Raises:
        typer.Exit: the request is rejected or the place of the ledgers cannot be used; the reason was printed.
    """
    with books_at(at, key_file) as books:
        give(books.ledger(ledger).report().encode(), out)
        typer.echo(f"report: {out}")


@group.command()
def verify(
    bundle: Annotated[Path, typer.Argument(metavar="BUNDLE|RECEIPT|FILE", help="document to verify")],
    keys: Annotated[
        Path,
        typer.Option(metavar="KEYS", help="the public keys that you trust: a file, or the folder next to a ledger"),
    ],
    checkpoint: Annotated[
        list[Path] | None,
        typer.Option(metavar="OLD", help="an earlier checkpoint, receipt or bundle that you kept; once for each"),
    ] = None,
    log: Annotated[
        Path | None,
        typer.Option(metavar="BUNDLE", help="exported log, which shows if a receipt's runs were voided later"),
    ] = None,
    witness: Annotated[
        list[str] | None,
        typer.Option(metavar="VKEY", help="key of a witness that must have cosigned the largest head; once for each"),
    ] = None,
    as_body: AsJson = False,
) -> None:
    """Verify evidence without any service: signatures, the log's roots, cosignatures, and every charge anew.

    The exit code is 0 if everything is shown, and 1 if something does not hold. It is 2 if something is not shown, or
    if the document is not evidence.

    \f

    Args:
        bundle: file with a bundle (exported entries and the signed head of the log), a receipt, or ledgers.
        keys: file or folder of the public keys that the verifier trusts.
        checkpoint: files with signed heads that the verifier kept earlier. The log must continue each of them.
        log: exported log that shows whether runs of a receipt were voided later.
        witness: public keys of witnesses, each of which must have cosigned the largest head.
        as_body: whether to print JSON as the service answers it; otherwise tables are printed.

    Raises:
        typer.Exit: a claim is false (code 1); or a claim could be neither confirmed nor refuted, or the document is of
            another kind (code 2).
    """
    with exit_codes(), extra("ledger", "a ledger"):
        from epsilond.ledgers.client.auditing import audited  # noqa: PLC0415  only the extra has its packages
        from epsilond.ledgers.commands import tables  # noqa: PLC0415

        verification = audited(bundle, keys, checkpoint or (), log=log, witnesses=witness or ())
        body = _verification_body(verification)
        print_body(body) if as_body else show(tables.verification(body))
        outcomes = {str(finding.outcome) for finding in verification.findings}
        if "failed" in outcomes:
            typer.echo("not verified: something does not hold", err=True)
            raise typer.Exit(DOES_NOT_HOLD)
        if not verification.complete:
            typer.echo("not verified: something is not shown", err=True)
            raise typer.Exit(NOT_SHOWN)
        if not as_body:
            is_contradicted = "contradicted" in outcomes
            conclusion = "Verified, and contradicted: there is no ε." if is_contradicted else "Verified."
            typer.echo(f"\n{conclusion}")


def _verification_body(verification: LogVerification) -> JsonRecord:
    """Return the results of a verification as a JSON object.

    Args:
        verification: the checked claims, and the facts that no verification can show.

    Returns:
        `holds`: whether no claim is false.
        `complete`: whether no claim is false, and the document leaves no claim open.
        `findings`: the checked claims with their outcomes.
        `not_shown`: the facts that no verification can show.
    """
    findings = [{"outcome": str(finding.outcome), "sentence": finding.sentence} for finding in verification.findings]
    return {
        "holds": verification.holds,
        "complete": verification.complete,
        "findings": findings,
        "not_shown": list(verification.not_shown),
    }


def give(text: bytes, out: Path | None) -> None:
    """Write a text to a file or, with a line break at its end, to standard output.

    Args:
        text: the text in UTF-8.
        out: path of the file; None for standard output.

    Raises:
        InvalidInput: the file cannot be written.
    """
    if out is None:
        sys.stdout.write(text.decode() + "\n")
        return
    try:
        out.write_bytes(text)
    except OSError as error:
        raise InvalidInput.at("/out", f"cannot be written: {error.strerror}") from None
