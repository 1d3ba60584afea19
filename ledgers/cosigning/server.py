"""The HTTP service of a witness (c2sp.org/tlog-witness): it cosigns heads that continue the last cosigned one."""

from __future__ import annotations

import logging
import re
import socket
import time
from collections.abc import Callable, Iterable
from typing import Final

import anyio
import uvicorn
from anyio import to_thread
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from epsilond.ledgers.cosigning.folder import WitnessFolder
from epsilond.ledgers.cosigning.submissions import ADD_CHECKPOINT, SIZE_TYPE, Submission
from epsilond.ledgers.log import checkpoints, notes
from epsilond.ledgers.log.checkpoints import Checkpoint
from epsilond.ledgers.log.errors import KeysUnusable, Malformed, NotVerified
from epsilond.ledgers.log.keys import PublicKey
from epsilond.ledgers.log.notes import Note, NoteSignature
from epsilond.ledgers.log.proofs import verify_consistency
from epsilond.ledgers.log.tree import EMPTY_ROOT

LARGEST_BODY: Final = 65_536
"""Largest body of a request in bytes: 63 hashes and a note with some dozens of signatures."""
MOST_CONNECTIONS: Final = 256
"""Most connections and requests at one time; a further request is answered 503."""
BODY_SECONDS: Final = 10.0
"""Longest time in seconds for the body of a request to arrive."""
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_LOG = logging.getLogger("epsilond.witness")


class _Answer(Exception):
    """Rejection of a submitted checkpoint, a signed head of a log, as the HTTP answer to its sender.

    Attributes:
        response: the HTTP answer, with a text of one line.
    """

    def __init__(self, status: int, text: str, media_type: str = "text/plain; charset=utf-8") -> None:
        super().__init__(text)
        headers = {"content-type": media_type, "x-content-type-options": "nosniff"}
        self.response = Response(f"{text}\n", status, headers)


class WitnessService:
    """A witness, a party that signs heads (size and Merkle root) of other operators' logs, as answers to HTTP requests.

    It signs a head only if this continues the head that it signed last. Every method blocks, and may be called in any
    thread.
    """

    def __init__(
        self, folder: WitnessFolder, logs: Iterable[PublicKey], clock: Callable[[], float] = time.time
    ) -> None:
        """Create the witness with its key and the logs that it trusts.

        Args:
            folder: folder with the key of the witness, and the newest head that it signed of each log.
            logs: trusted keys of logs. The name of a key is the origin of its log; one log may have several keys.
            clock: returns the present time in seconds since 1970.
        """
        self._folder = folder
        self._logs: dict[str, list[PublicKey]] = {}
        for key in logs:
            self._logs.setdefault(key.name, []).append(key)
        self._clock = clock

    def add(self, body: bytes) -> Response:
        """Answer a submitted head of a log: with the witness's signature, or with the reason why it does not sign.

        Args:
            body: the head (size and Merkle root) as a signed note, with a proof that it continues the head that the
                witness signed last.

        Returns:
            The line of the signature. For errors the status is 400 (malformed), 403 (no trusted signature), 404
            (unknown log), 409 (another last head), 422 (invalid proof or root) or 503 (folder cannot be used).
        """
        try:
            line = self._cosign(Submission.of_bytes(body))
        except _Answer as answer:
            return answer.response
        except Malformed as error:
            return _Answer(400, str(error)).response
        except (OSError, KeysUnusable) as error:
            return _folder_response(error)
        return PlainTextResponse(line)

    def newest(self, digest: str) -> Response:
        """Answer with the newest head of a log that this witness signed, for comparison with the head the log shows.

        Args:
            digest: SHA-256 of the log's origin, in hexadecimal.

        Returns:
            The head as a signed note. Status 404 if none was signed, and 503 if the witness cannot use its folder.
        """
        note = None
        if _DIGEST.fullmatch(digest):
            try:
                note = self._folder.note(digest)
            except (OSError, KeysUnusable) as error:
                return _folder_response(error)
        if note is None:
            return _Answer(404, "No head of such a log was cosigned.").response
        return PlainTextResponse(note)

    def _cosign(self, submission: Submission) -> str:
        """Sign a submitted head of a log, after a check that it continues the last one.

        The head is written to the folder before the signature is returned.

        Args:
            submission: the head in a signed note, with the size of the last cosigned head and a consistency proof.

        Returns:
            The signature line of this witness.

        Raises:
            _Answer: the submission is rejected.
            Malformed: the note is not a signed checkpoint.
            KeysUnusable: the contents of the folder are not valid.
            OSError: the folder cannot be used.
        """
        note = notes.parse(submission.note)
        signers = self._signers(note)
        head = _read_head(note)
        if submission.old > head.size:
            raise _Answer(400, f"The old size {submission.old} is larger than the size of the checkpoint.")
        # Otherwise another process could sign a different head between the comparison and the write.
        with self._folder.alone():
            last = self._folder.head(head.origin) or Checkpoint(head.origin, 0, EMPTY_ROOT)
            _require_continuation(last, head, submission)
            cosignature = self._folder.key.cosign(note.text, int(self._clock()))
            cosigned = Note(note.text, (*_signature_lines(note, signers), cosignature))
            self._folder.replace(head.origin, str(cosigned))
        return str(cosignature)

    def _signers(self, note: Note) -> tuple[PublicKey, ...]:
        """Return the trusted keys that signed a checkpoint, that is, a log's name, size and Merkle root.

        Args:
            note: the checkpoint as a signed note. Its first line is the name of the log.

        Returns:
            The keys, at least one.

        Raises:
            _Answer: the log is unknown, or none of its keys signed.
        """
        origin, _, _ = note.text.partition("\n")
        trusted = self._logs.get(origin)
        if trusted is None:
            raise _Answer(404, "This witness does not know the log.")
        try:
            return note.verify(trusted)
        except NotVerified as error:
            raise _Answer(403, f"No trusted key of the log signed the checkpoint: {error}.") from None


def _folder_response(error: Exception) -> Response:
    """Log why the folder of the witness (its key and heads) cannot be used, and return a response with status 503.

    Args:
        error: error of reading or writing the folder.
    """
    _LOG.error("the folder of the witness cannot be used: %s", error)
    return _Answer(503, "The witness cannot use its folder at present.").response


def _require_continuation(last: Checkpoint, head: Checkpoint, submission: Submission) -> None:
    """Check that a submitted head (size and Merkle root) of a log continues the head that was signed last.

    Args:
        last: the head that was cosigned last; the empty log if there is none.
        head: the submitted head.
        submission: the submission of the head, with a consistency proof from the size `old`.

    Raises:
        _Answer: with status 409 and the right size if `old` is not that of the last head; with status 422 if the proof
            is not valid.
    """
    if submission.old != last.size:
        raise _Answer(409, str(last.size), SIZE_TYPE)
    try:
        verify_consistency(last.size, last.root, head.size, head.root, submission.path)
    except NotVerified as error:
        _LOG.warning("%s does not continue its first %s entries: %s", head.origin, last.size, submission.note)
        text = f"The log is not shown to continue its first {last.size} entries: {error}."
        raise _Answer(422, text) from None


def _read_head(note: Note) -> Checkpoint:
    """Read the head of a log (name, size and Merkle root) from a signed note.

    Args:
        note: a signed note.

    Raises:
        _Answer: the note states size 0, and not the root of a log without entries. The protocol of witnesses requires
            status 422 for this error.
        Malformed: the note is no valid head for another reason.
    """
    try:
        return checkpoints.parse(note.text)
    except Malformed:
        _, *size_and_root = note.text.split("\n")  # after the origin
        if size_and_root and size_and_root[0] == "0":
            raise _Answer(422, "The root of a log without entries is another.") from None
        raise


def _signature_lines(note: Note, signers: Iterable[PublicKey]) -> list[NoteSignature]:
    """Return the signature lines of a note that the given keys made, without the lines that were not verified.

    Args:
        note: the signed note.
        signers: keys with valid signatures in the note.
    """
    names = {(key.name, key.note_id) for key in signers}
    return [line for line in note.signatures if (line.name, line.note_id) in names]


def application(service: WitnessService) -> Starlette:
    """Build the web application of a witness, a party that signs heads of other operators' logs.

    It has two routes: one to submit a checkpoint, that is, a signed head of a log (size and Merkle root), and one to
    read the newest head of a log that the witness signed.

    Args:
        service: the witness, which answers both kinds of requests.
    """

    async def add(request: Request) -> Response:
        """Answer a submitted checkpoint, a signed head of a log.

        Returns:
            The answer of the witness; status 408 if the body is slow, and 413 if it is too large.
        """
        try:
            with anyio.fail_after(BODY_SECONDS):
                body = await _read_body(request)
        except TimeoutError:
            return _Answer(408, "The body did not arrive in time.").response
        except _Answer as answer:
            return answer.response
        return await to_thread.run_sync(service.add, body)

    async def newest(request: Request) -> Response:
        """Answer with the newest cosigned head of a log."""
        return await to_thread.run_sync(service.newest, request.path_params["digest"])

    submit_route = Route(ADD_CHECKPOINT, add, methods=["POST"])
    newest_route = Route("/{digest}/checkpoint", newest, methods=["GET"])
    return Starlette(routes=[submit_route, newest_route])


async def _read_body(request: Request) -> bytes:
    """Read the body of a request, of at most `LARGEST_BODY` bytes.

    Args:
        request: the request, with a body that has not been read.

    Raises:
        _Answer: the body is larger; the rest of it is not read. The status is 413.
    """
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_BODY:
            raise _Answer(413, f"The body has more than {LARGEST_BODY} bytes.")
    return bytes(body)


def listener(host: str, port: int) -> socket.socket:
    """Open a socket that listens at an address. Port 0 selects a free port.

    The socket is opened before the server starts, so that its port is known and an error is raised at once.

    Args:
        host: IPv4 or IPv6 address.
        port: port number, from 0 to 65535.

    Returns:
        The listening socket, which the caller must close.

    Raises:
        OSError: the address cannot be used.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
        bound.listen()
    except BaseException:
        bound.close()
        raise
    return bound


def server(service: WitnessService) -> uvicorn.Server:
    """Build the HTTP server of a witness, without starting it. The caller runs it with the socket of `listener`.

    The server writes no access log, and does not name its software in answers.

    Args:
        service: the witness, a party that signs heads of other operators' logs.
    """
    configuration = uvicorn.Config(
        application(service),
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=MOST_CONNECTIONS,
    )
    return uvicorn.Server(configuration)
