"""`epsilond ledger witness`: the service of a second party that cosigns the heads of logs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from epsilond.accountants.errors import InvalidInput
from epsilond.commands.exits import BAD_INPUT, exit_codes
from epsilond.extras import extra
from epsilond.ledgers.commands.shared import group

if TYPE_CHECKING:
    from epsilond.ledgers.cosigning.folder import WitnessFolder
    from epsilond.ledgers.log.keys import PublicKey


@group.command()
def witness(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="holds the key and the newest head of each log")],
    name: Annotated[str, typer.Option(metavar="TEXT", help="permanent name of the witness")],
    log: Annotated[
        list[str] | None,
        typer.Option(metavar="VKEY", help="key of a log, `note_key` in its published keys; once for each key"),
    ] = None,
    host: Annotated[str, typer.Option(help="address to listen on")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="port to listen on; 0 takes a free one", min=0, max=65535)] = 8030,
    make: Annotated[
        bool, typer.Option("--make", help="make the key if there is none, print its vkey, and end")
    ] = False,
    forget: Annotated[
        str | None, typer.Option(metavar="ORIGIN", help="forget the newest head of this log, print it, and end")
    ] = None,
) -> None:
    """Cosign the heads of logs that continue what was cosigned before (C2SP tlog-witness).

    A witness is run by somebody other than the operator of the log, on a separate machine and storage. It stores the
    newest head of each log on the disk before it answers. It stores no entries.

    \f

    Args:
        folder: folder with the key of the witness and the newest head of each log.
        name: permanent name of the witness.
        log: vkeys of the logs with heads to cosign; at least one, unless `make` or `forget` is given.
        host: address to listen on.
        port: port to listen on, 0 to 65535; 0 takes a free one.
        make: whether to make the key if there is none, print its vkey, and end.
        forget: origin of a log. Its newest head is deleted and printed, and nothing is served.

    Raises:
        typer.Exit: the folder, the key or an option cannot be used; the reason was printed.
    """
    with exit_codes(), extra("service", "a witness"):
        from epsilond.ledgers.cosigning.folder import WitnessFolder  # noqa: PLC0415  only the extra has its packages
        from epsilond.ledgers.log.errors import KeysUnusable, Malformed  # noqa: PLC0415  only the extra has its packages

        try:
            witness_folder = WitnessFolder.open(folder, name)
            if make:
                typer.echo(witness_folder.public.vkey)
            elif forget is not None:
                _forget(witness_folder, forget)
            else:
                _serve(witness_folder, _keys_of_logs(log or ()), host, port)
        except (KeysUnusable, Malformed) as error:
            typer.echo(f"error: {error}", err=True)
            raise typer.Exit(BAD_INPUT) from None
        except OSError as error:
            typer.echo(f"error: {error.filename or folder}: {error.strerror}", err=True)
            raise typer.Exit(BAD_INPUT) from None


def _keys_of_logs(vkeys: list[str] | tuple[str, ...]) -> list[PublicKey]:
    """Parse the public keys of the logs of which a witness signs the heads.

    Args:
        vkeys: keys as texts `name+id+key` of signed notes.

    Returns:
        The public keys, in the order of the texts.

    Raises:
        InvalidInput: no key is given, or a key is malformed.
    """
    from epsilond.ledgers.log.errors import Malformed  # noqa: PLC0415  only the extra has its packages
    from epsilond.ledgers.log.keys import PublicKey  # noqa: PLC0415  only the extra has its packages

    if not vkeys:
        raise InvalidInput.at("/log", "give the key of at least one log")
    try:
        return [PublicKey.of_note_key(vkey) for vkey in vkeys]
    except Malformed as error:
        raise InvalidInput.at("/log", str(error)) from None


def _forget(folder: WitnessFolder, origin: str) -> None:
    """Delete the witness's newest head of a log, and print it.

    Args:
        folder: folder with the key and the heads of the witness, a party that signs heads of logs.
        origin: name of the log.

    Raises:
        InvalidInput: no head of this log was cosigned.
    """
    head = folder.forget(origin)
    if head is None:
        raise InvalidInput.at("/forget", f"no head of {origin} was cosigned")
    typer.echo(head.text, nl=False)


def _serve(folder: WitnessFolder, logs: list[PublicKey], host: str, port: int) -> None:
    """Run the witness until the process is stopped.

    Once it listens, its public key is printed to standard output, and its address to standard error.

    Args:
        folder: folder with the key of the witness and the newest heads.
        logs: keys of the logs with heads to cosign.
        host: address to listen on.
        port: port to listen on; 0 selects a free one.

    Raises:
        OSError: the address cannot be used.
    """
    from epsilond.ledgers.cosigning.server import WitnessService, listener, server  # noqa: PLC0415  only the extra has its packages

    service = WitnessService(folder, logs)
    with listener(host, port) as socket:
        typer.echo(folder.public.vkey)
        typer.echo(f"listens on http://{host}:{socket.getsockname()[1]}", err=True)
        server(service).run(sockets=[socket])
