"""`epsilond ledger keys`: publish, make, list, rotate and retire the keys that sign a log."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from epsilond.commands.exits import BAD_INPUT, exit_codes
from epsilond.commands.output import AsJson, print_body, show
from epsilond.commands.parsing import CommandLine
from epsilond.extras import extra
from epsilond.ledgers.commands.audit import Out, give
from epsilond.ledgers.commands.shared import HERE, At, KeyFile, books_at, group

if TYPE_CHECKING:
    from epsilond.ledgers.log.signing import PublishedKey

keys = CommandLine(help="Give out, make, list, rotate and retire the keys that sign.")
group.add_typer(keys, name="keys")
Folder = Annotated[
    Path,
    typer.Argument(metavar="FOLDER", help="the folder of the keys: FILE.keys next to a file, EPSILOND_LEDGER_KEYS"),
]
Secret = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="of the private key, where it is kept apart: EPSILOND_LEDGER_KEY_FILE"),
]


@keys.callback(invoke_without_command=True)
def publish(context: typer.Context, out: Out = None, at: At = HERE, key_file: KeyFile = None) -> None:
    """Write the public keys that signatures are verified with. Give them to whoever verifies, by a way they trust.

    \f

    Args:
        context: context of the command. If it names a subcommand, nothing is written here.
        out: file of the public keys; None prints them.
        at: path of the file of ledgers, or URL of a service.
        key_file: file with the API key of the service; None reads the key, if any, from EPSILOND_API_KEY.

    Raises:
        typer.Exit: the request is rejected or the place of the ledgers cannot be used; the reason was printed.
    """
    if context.invoked_subcommand is not None:
        return
    with books_at(at, key_file) as books:
        from epsilond.ledgers.log.canonical import canonical  # noqa: PLC0415  few commands use it

        give(canonical(books.keys()), out)


@keys.command()
def make(
    folder: Folder,
    name: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="permanent name of the log, EPSILOND_LEDGER_ORIGIN; absent: random"),
    ] = None,
    secret: Secret = None,
    as_body: AsJson = False,
) -> None:
    """Make the first key of a log, or a new one after the last was retired. A service without keys makes its own.

    With --secret the private key goes into that file and not into the folder, whose keys.json may then be published.

    \f

    Args:
        folder: folder of the keys.
        name: permanent name of the log. None takes the name of the folder's earlier keys, or makes a random one.
        secret: file of the private key, if it is kept apart from the folder; None keeps it in the folder.
        as_body: whether to print the keys as JSON; otherwise a table is printed.

    Raises:
        typer.Exit: the keys cannot be read or written; the reason was printed.
    """
    with _exit_on_errors():
        from epsilond.ledgers.log import key_files  # noqa: PLC0415  only the extra has its packages

        log_name = name or key_files.origin_of(folder) or f"ledgers.local/{secrets.token_hex(8)}"
        keyring = key_files.make(folder, log_name, _now(), secret=secret)
        _print(folder, keyring.published, as_body=as_body)


@keys.command("list")
def list_keys(folder: Folder, as_body: AsJson = False) -> None:
    """List every key, from when until when it signs, and whether its private key is in the folder.

    \f

    Args:
        folder: folder of the keys.
        as_body: whether to print the keys as JSON; otherwise a table is printed.

    Raises:
        typer.Exit: the keys cannot be read; the reason was printed.
    """
    with _exit_on_errors():
        from epsilond.ledgers.log import key_files  # noqa: PLC0415  only the extra has its packages

        _print(folder, key_files.listed(folder), as_body=as_body)


@keys.command()
def rotate(folder: Folder, secret: Secret = None, as_body: AsJson = False) -> None:
    """Let a new key sign from now on. The one before stays published, so that what it signed is verified as before.

    A running service takes the new one up by itself. Give out the public keys again.

    \f

    Args:
        folder: folder of the keys.
        secret: file of the new private key, if it is kept apart from the folder; None keeps it in the folder.
        as_body: whether to print the keys as JSON; otherwise a table is printed.

    Raises:
        typer.Exit: the keys cannot be read or written; the reason was printed.
    """
    with _exit_on_errors():
        from epsilond.ledgers.log import key_files  # noqa: PLC0415  only the extra has its packages

        first_key, *_ = key_files.listed(folder)  # any key will do, because all have the name of the log
        keyring = key_files.rotate(folder, first_key.key.name, _now(), secret=secret)
        _print(folder, keyring.published, as_body=as_body)


@keys.command(context_settings={"ignore_unknown_options": True})  # a key's id may begin with -
def retire(
    folder: Folder,
    kid: Annotated[str, typer.Argument(metavar="KEY", help="the id of the key that signs, as `list` has it")],
    as_body: AsJson = False,
) -> None:
    """Stop the use of the signing key, for example because it was stolen or lost.

    Nothing is signed, and no ledger changes, until `make` makes a new key. The old key stays published, to verify old
    signatures. A thief may sign with it, under any date. Such a log differs from the checkpoints that were kept
    elsewhere: compare them.

    \f

    Args:
        folder: folder of the keys.
        kid: id of the key that signs now.
        as_body: whether to print the keys as JSON; otherwise a table is printed.

    Raises:
        typer.Exit: the keys cannot be read or written; the reason was printed.
    """
    with _exit_on_errors():
        from epsilond.ledgers.log import key_files  # noqa: PLC0415  only the extra has its packages

        first_key, *_ = key_files.listed(folder)  # all keys have the name of the log
        published = key_files.retire(folder, first_key.key.name, kid, _now())
        _print(folder, published, as_body=as_body)


@contextmanager
def _exit_on_errors() -> Iterator[None]:
    """Print errors of a block and exit with code 2, as a context manager.

    It handles unusable and malformed keys, missing packages, and files that cannot be read or written.

    Yields:
        None, once.
    """
    with exit_codes(), extra("ledger", "a ledger"):
        from epsilond.ledgers.log.errors import KeysUnusable, Malformed  # noqa: PLC0415  only the extra has its packages

        try:
            yield
        except (KeysUnusable, Malformed) as error:
            typer.echo(f"error: {error}", err=True)
            raise typer.Exit(BAD_INPUT) from None
        except OSError as error:
            typer.echo(f"error: {error.filename}: {error.strerror}", err=True)
            raise typer.Exit(BAD_INPUT) from None


def _print(folder: Path, published: tuple[PublishedKey, ...], *, as_body: bool) -> None:
    """Print published keys as JSON or as a table, and for each whether its private key is in the folder.

    Args:
        folder: folder of the keys.
        published: published keys, oldest first.
        as_body: whether to print JSON.
    """
    from epsilond.ledgers.commands import tables  # noqa: PLC0415
    from epsilond.ledgers.log import key_files  # noqa: PLC0415  only the extra has its packages

    is_here = {key.key.kid: key_files.has_private(folder, key.key.kid) for key in published}
    if as_body:
        records = [key.record | {"private_key_here": is_here[key.key.kid]} for key in published]
        print_body({"keys": records})
    else:
        show(tables.keys([key.record for key in published], is_here))


def _now() -> datetime:
    """Return the present time in UTC."""
    return datetime.now(UTC)
