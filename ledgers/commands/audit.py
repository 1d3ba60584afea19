"""`epsilond ledger entries|export|report|verify`: entries of the log, and their verification without a service."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from epsilond.accountants.errors import InvalidInput
from epsilond.commands.exits import BAD_INPUT, UNEXPECTED, exit_codes
from epsilond.commands.output import AsJson, print_body, show
from epsilond.extras import extra
from epsilond.ledgers.commands.shared import HERE, At, KeyFile, Name, books_at, group

Order = Literal["oldest", "newest"]
DOES_NOT_HOLD, NOT_SHOWN = UNEXPECTED, BAD_INPUT
"""Exit codes of `verify` if a claim does not hold, and if a claim is left open."""
Out = Annotated[Path | None, typer.Option(metavar="FILE", help="write it there; otherwise it is printed")]


@group.command()
def entries(
    ledger: Name,
    start: Annotated[int, typer.Option("--from", metavar="NUMBER", min=0, help="of the log")] = 0,
    order: Annotated[Order, typer.Option(help="which come first")] = "oldest",
    limit: Annotated[int | None, typer.Option(metavar="COUNT", min=1, help="most that are listed")] = None,
    at: At = HERE,
    key_file: KeyFile = None,
    as_body: AsJson = False,
) -> None:
    """List what was written of a ledger."""
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
    """Write what `verify` needs into one file: entries, and the signed head of the log; no keys, and no data."""
    with books_at(at, key_file) as books:
        give(books.bundle(None if ledger is None else books.ledger(ledger)).to_bytes(), out)


@group.command()
def report(
    ledger: Name,
    out: Annotated[Path, typer.Option(metavar="FILE", help="where to write the page")] = Path("ledger-report.html"),
    at: At = HERE,
    key_file: KeyFile = None,
) -> None:
    """Write a ledger as a signed page to be read and kept. `epsilond verify` checks it with the public keys alone."""
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
        typer.Option(metavar="BUNDLE", help="of a receipt: the exported log, which says if its runs were voided later"),
    ] = None,
    witness: Annotated[
        list[str] | None,
        typer.Option(metavar="VKEY", help="key of a witness that must have cosigned the largest head; once for each"),
    ] = None,
    as_body: AsJson = False,
) -> None:
    """Verify, without any service: signatures, the log's roots, cosignatures, and every charge anew.

    Exits with 0 where everything is shown, 1 where something does not hold, 2 where something is not shown, or where
    that is no evidence.
    """
    with exit_codes(), extra("ledger", "a ledger"):
        from epsilond.ledgers.client.auditing import audited  # noqa: PLC0415  only the extra has its packages
        from epsilond.ledgers.commands import tables  # noqa: PLC0415

        verification = audited(bundle, keys, checkpoint or (), log=log, witnesses=witness or ())
        body = {
            "holds": verification.holds,
            "complete": verification.complete,
            "findings": [
                {"outcome": str(finding.outcome), "sentence": finding.sentence} for finding in verification.findings
            ],
            "not_shown": list(verification.not_shown),
        }
        print_body(body) if as_body else show(tables.verification(body))
        if any(finding.outcome == "failed" for finding in verification.findings):
            typer.echo("not verified: something does not hold", err=True)
            raise typer.Exit(DOES_NOT_HOLD)
        if not verification.complete:
            typer.echo("not verified: something is not shown", err=True)
            raise typer.Exit(NOT_SHOWN)
        if not as_body:
            contradicted = any(finding.outcome == "contradicted" for finding in verification.findings)
            typer.echo("\nVerified, and contradicted: there is no ε." if contradicted else "\nVerified.")


def give(text: bytes, out: Path | None) -> None:
    """Write bytes to a file, or to standard output."""
    if out is None:
        sys.stdout.write(text.decode() + "\n")
        return
    try:
        out.write_bytes(text)
    except OSError as error:
        raise InvalidInput.at("/out", f"cannot be written: {error.strerror}") from None
