"""A witness as a log sees it: its address, its key, and the size of the log that it is known to have cosigned."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Final, Protocol
from urllib.parse import urlsplit

from epsilond.ledgers.cosigning.submissions import ADD_CHECKPOINT, SIZE_TYPE, Submission
from epsilond.ledgers.log import checkpoints, notes
from epsilond.ledgers.log.cosignatures import CosignerKey
from epsilond.ledgers.log.errors import Malformed, NotVerified
from epsilond.ledgers.log.notes import Note, NoteSignature
from epsilond.ledgers.log.proofs import Consistency

TIMEOUT: Final = 2.0
"""Seconds for a connection to a witness, and for each part of its answer."""
LONGEST: Final = 4.0
"""Seconds after which no further request is sent for one head: others move the log faster than it is shown."""
LARGEST_ANSWER: Final = 65_536
"""Largest answer of a witness that is read, in bytes."""
_SIZE: Final = re.compile(rb"(0|[1-9][0-9]{0,18})\n")


class WitnessUnavailable(Exception):
    """A witness cannot be reached, or gives no cosignature at present; the text is a sentence."""


class HeadRejected(Exception):
    """A witness has signed a head with more or other entries than the log has, so the log may have lost entries.

    Attributes:
        size: number of entries of the head that the witness cosigned.
        has_fewer: whether the log has fewer entries than that head. Otherwise its first entries differ.
    """

    def __init__(self, sentence: str, size: int, *, has_fewer: bool) -> None:
        super().__init__(sentence)
        self.size = size
        self.has_fewer = has_fewer


class ShownLog(Protocol):
    """Part of an append-only log that witnesses need: its signed head, and consistency proofs.

    Witnesses are other parties that sign a head (size and Merkle root) only if the log continues their earlier ones.
    """

    def checkpoint(self) -> str:
        """Return the signed head as it is now: a signed note with the log's size and Merkle root."""
        ...

    def consistency(self, earlier: int, later: int | None = None) -> Consistency:
        """Return the proof that the log of `earlier` entries is the beginning of the log of `later` entries.

        Args:
            earlier: number of entries of the shorter log.
            later: number of entries of the longer log; None means all present entries.

        Returns:
            The proof, with hashes that a witness can verify.
        """
        ...


@dataclass(frozen=True)
class WitnessAnswer:
    """The answer of a witness, a party that signs heads of logs, to one HTTP request.

    Attributes:
        status: HTTP status; 200 if the witness has signed.
        media_type: media type of the body, without parameters.
        content: body of the answer, at most `LARGEST_ANSWER` bytes.
    """

    status: int
    media_type: str
    content: bytes


@dataclass(frozen=True)
class WitnessAddress:
    """Address and public key of a witness, another party that signs heads of a log.

    A witness runs an HTTP service. The key verifies the signatures that it sends.

    Attributes:
        url: http or https, without query.
        key: the public key.
    """

    url: str
    key: CosignerKey


def read_addresses(text: str) -> tuple[WitnessAddress, ...]:
    """Read addresses of witnesses: `URL VKEY`, one on each line or with commas between.

    A witness is another party that signs heads of a log (size and Merkle root).

    Args:
        text: the addresses. VKEY is the public key of a witness in the form of signed notes.

    Returns:
        The addresses, in the order of the text.

    Raises:
        Malformed: an entry is not an address, or two have one key.
    """
    entries = [entry.strip() for entry in re.split(r"[,\n]", text)]
    addresses = tuple(_read_address(entry) for entry in entries if entry)
    if len({address.key.raw for address in addresses}) < len(addresses):
        raise Malformed("has one key twice")
    return addresses


def _read_address(entry: str) -> WitnessAddress:
    """Read one address of a witness, `URL VKEY`.

    Args:
        entry: the text. VKEY is the public key of the witness in the form `name+id+key`.

    Returns:
        The address: the URL of the witness, and its public key.

    Raises:
        Malformed: the text is not an address.
    """
    url, _, vkey = entry.partition(" ")
    if not _is_usable(url):
        raise Malformed("must be URL VKEY for each witness: the URL has http or https, and no name or query")
    return WitnessAddress(url.rstrip("/"), CosignerKey.of_vkey(vkey.strip()))


def _is_usable(url: str) -> bool:
    """Return whether a text is a URL of a witness, another party that signs heads of logs.

    Args:
        url: the text.

    Returns:
        True for an http or https URL with a host, and without user, query and fragment.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:  # such as a port that is not a number
        return False
    names_host = parts.scheme in {"http", "https"} and bool(parts.hostname) and port != 0
    has_other_parts = bool(parts.username or parts.query or parts.fragment)
    return names_host and not has_other_parts


def _size_of(note: str) -> int:
    """Return the number of entries of the log in a signed head, without verifying the signature.

    Args:
        note: text of the signed note.

    Returns:
        The number of entries.
    """
    return checkpoints.parse(notes.parse(note).text).size


class RemoteWitness:
    """A witness that cosigns the heads of one log. Call `cosign` in one thread at a time.

    Attributes:
        key: public key of the witness.
        known: size of the head that it cosigned last, as far as this process knows; initially 0.
    """

    def __init__(self, address: WitnessAddress) -> None:
        """Represent the witness, a party that signs heads of logs, at an address. Nothing is sent yet.

        Args:
            address: URL and public key of the witness.
        """
        self.key = address.key
        self.known = 0
        self._url = urlsplit(address.url)
        self._connection: HTTPConnection | None = None

    def cosign(self, note: str, log: ShownLog) -> tuple[str, NoteSignature]:
        """Request the witness to sign a head of the log (its size and Merkle root), and return the signature.

        The request must name the size of the head that the witness signed last. If this size is not known here, the
        witness answers with it (status 409), and the request is repeated. If the witness knows a larger head than this
        one, the log's present head is sent instead.

        Args:
            note: the signed head.
            log: provides consistency proofs, and the present head.

        Returns:
            The text of the head that was cosigned, which is this or a later one, and the cosignature.

        Raises:
            HeadRejected: the witness has cosigned a head with more or other entries than the log.
            WitnessUnavailable: the witness cannot be reached or does not cosign at present.
        """
        deadline = time.monotonic() + LONGEST
        while True:
            # Send the head, with the proof that it continues the head that the witness signed last.
            note = self._choose_head(note, log)
            head = notes.parse(note)
            size = _size_of(note)
            path = log.consistency(self.known, size).path if self.known else ()
            answer = self._send(Submission(self.known, path, note).to_bytes())

            # Statuses of c2sp.org/tlog-witness: 200 cosigned, 422 invalid proof, 409 another known size.
            if answer.status == 200:
                line = self._cosignature(head, answer.content)
                self.known = size
                return head.text, line
            if answer.status == 422:
                sentence = f"The witness {self.key.name} cosigned {self.known} entries that are not the log's first."
                raise HeadRejected(sentence, self.known, has_fewer=False)

            # The witness has signed another head last. Try again from its size, unless that gave no progress.
            cosigned_size = self._read_size(answer)
            is_repeated = cosigned_size == self.known
            self.known = cosigned_size
            if is_repeated or time.monotonic() > deadline:
                raise WitnessUnavailable(f"The witness {self.key.name} is shown other heads meanwhile.")

    def _choose_head(self, note: str, log: ShownLog) -> str:
        """Return the head to be signed, which must not be smaller than the head that the witness signed last.

        Args:
            note: signed head of the log (its size and Merkle root).
            log: the log, which can sign its present head.

        Returns:
            The head as a signed note, at least as large as the head that the witness signed last.

        Raises:
            HeadRejected: the witness has cosigned more entries than the log has.
        """
        if self.known <= _size_of(note):
            return note
        present_note = log.checkpoint()
        if self.known > _size_of(present_note):
            sentence = f"The witness {self.key.name} cosigned {self.known} entries, and the log has fewer."
            raise HeadRejected(sentence, self.known, has_fewer=True)
        return present_note

    def _read_size(self, answer: WitnessAnswer) -> int:
        """Read from a witness's answer (status 409) the size of the log at the head that the witness signed last.

        Args:
            answer: status, media type and body of the answer.

        Returns:
            Number of entries of the log at that head.

        Raises:
            WitnessUnavailable: the answer has another status, media type or form.
        """
        size_line = _SIZE.fullmatch(answer.content)
        if answer.status != 409 or answer.media_type != SIZE_TYPE or size_line is None:
            raise WitnessUnavailable(f"The witness {self.key.name} answers {answer.status}.")
        return int(size_line[1])

    def close(self) -> None:
        """Close the connection, if there is one."""
        connection = self._connection
        self._connection = None
        if connection is not None:
            connection.close()

    def _cosignature(self, head: Note, content: bytes) -> NoteSignature:
        """Read the witness's signature of a log's head (size and Merkle root) from its answer, and verify it.

        The witness may answer with several lines, such as for an old and a new key.

        Args:
            head: the head that was shown to the witness.
            content: body of the answer: signature lines.

        Returns:
            The valid signature of the witness.

        Raises:
            WitnessUnavailable: the answer has no valid cosignature of this witness.
        """
        try:
            note = notes.parse(f"{head.text}\n{content.decode()}")
            if self.key.verify(note) is not None:
                own_id = self.key.name, self.key.note_id
                own_lines = [line for line in note.signatures if (line.name, line.note_id) == own_id]
                return own_lines[0]
        except (NotVerified, UnicodeDecodeError):
            pass  # an invalid cosignature is reported below, like an absent one
        raise WitnessUnavailable(f"The witness {self.key.name} answers without its cosignature.")

    def _send(self, body: bytes) -> WitnessAnswer:
        """Send one request to the witness, a party that signs heads of logs.

        If the connection was closed meanwhile, a new one is opened and used.

        Args:
            body: the submitted head, with a proof that it continues the head that the witness signed last.

        Returns:
            Status, media type and body of the answer.

        Raises:
            WitnessUnavailable: the witness does not answer.
        """
        while True:
            is_reused = self._connection is not None
            try:
                return self._send_once(body)
            except (OSError, HTTPException) as error:
                self.close()
                # The witness may have closed an idle connection. A new connection is tried once, unless the request
                # timed out.
                may_be_stale = is_reused and not isinstance(error, TimeoutError)
                if not may_be_stale:
                    raise WitnessUnavailable(f"The witness {self.key.name} cannot be reached.") from None

    def _send_once(self, body: bytes) -> WitnessAnswer:
        """Send one request on the open connection, or on a new one.

        The connection stays open for the next request.

        Args:
            body: body of the request.

        Returns:
            Status, media type and body of the answer.

        Raises:
            OSError: the witness cannot be reached.
            HTTPException: the answer is not HTTP, or has more than `LARGEST_ANSWER` bytes.
        """
        if self._connection is None:
            connection_type = HTTPSConnection if self._url.scheme == "https" else HTTPConnection
            self._connection = connection_type(str(self._url.hostname), self._url.port, timeout=TIMEOUT)
        path = f"{self._url.path}{ADD_CHECKPOINT}"
        self._connection.request("POST", path, body, {"content-type": "text/plain"})
        with self._connection.getresponse() as response:
            content = response.read(LARGEST_ANSWER + 1)  # one byte more shows that the answer is too large
            if len(content) > LARGEST_ANSWER:
                raise HTTPException
            return WitnessAnswer(response.status, response.headers.get_content_type(), content)
