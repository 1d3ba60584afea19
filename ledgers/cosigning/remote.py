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
"""Seconds after which no further request is sent for one head, because the log or the witness changes too quickly."""
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
    """The part of an append-only log that is shown to witnesses: its signed head, and consistency proofs.

    A witness is another party. It signs a head (size and Merkle root) only if this continues the last one it signed.
    """

    def checkpoint(self) -> str:
        """Return the present head: a signed note with the log's size and Merkle root."""
        ...

    def consistency(self, earlier: int, later: int | None = None) -> Consistency:
        """Return the proof that the first `later` entries of the log begin with its first `earlier` entries.

        Args:
            earlier: number of entries of the shorter log.
            later: number of entries of the longer log; None means all present entries.

        Returns:
            The proof. Its `path` is the list of hashes that a witness verifies.
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
    """URL and public key of a witness, another party that signs heads of a log.

    Attributes:
        url: address of the witness's HTTP service, http or https, without query and final slash.
        key: public key that verifies the signatures of the witness.
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

    Raises:
        Malformed: the text is not an address.
    """
    url, _, vkey = entry.partition(" ")
    if not _is_usable(url):
        raise Malformed("must be URL VKEY for each witness: the URL has http or https, and no name or query")
    return WitnessAddress(url.rstrip("/"), CosignerKey.of_vkey(vkey.strip()))


def _is_usable(url: str) -> bool:
    """Return whether a text is an http or https URL with a host, and without user, query and fragment."""
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

        A request names the size of the head that the witness signed last. If the witness answers with another size
        (status 409), the request is repeated from there. If the witness has signed a larger head than this one, the
        log's present head is sent instead.

        Args:
            note: the head, as a note that the log has signed.
            log: the log, which provides consistency proofs and its present head.

        Returns:
            The text of the head that was cosigned, which is this or a later one, and the cosignature.

        Raises:
            HeadRejected: the witness has cosigned a head with more or other entries than the log.
            WitnessUnavailable: the witness cannot be reached, does not cosign at present, or is shown other heads
                meanwhile.
        """
        deadline = time.monotonic() + LONGEST
        while True:
            note = self._choose_head(note, log)
            head = notes.parse(note)
            size = _size_of(note)
            path = log.consistency(self.known, size).path if self.known else ()
            answer = self._send(Submission(self.known, path, note).to_bytes())

            # Statuses of c2sp.org/tlog-witness: 200 cosigned, 422 invalid proof, 409 another known size.
            if answer.status == 200:
                line = self._read_cosignature(head, answer.content)
                self.known = size
                return head.text, line
            if answer.status == 422:
                sentence = f"The witness {self.key.name} cosigned {self.known} entries that are not the log's first."
                raise HeadRejected(sentence, self.known, has_fewer=False)

            # The witness has signed another head last. Try again from its size, unless this was tried just now.
            cosigned_size = self._read_size(answer)
            is_repeated = cosigned_size == self.known
            self.known = cosigned_size
            if is_repeated or time.monotonic() > deadline:
                raise WitnessUnavailable(f"The witness {self.key.name} is shown other heads meanwhile.")

    def _choose_head(self, note: str, log: ShownLog) -> str:
        """Return a head that is not smaller than the one that the witness signed last, as a witness requires.

        Args:
            note: signed head of the log (its size and Merkle root).
            log: the log, which can sign its present head.

        Returns:
            The given note, or the log's present head if the given one is too small.

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
        """Read from a witness's answer (status 409) how many entries the head has that the witness signed last.

        Args:
            answer: status, media type and body of the answer.

        Returns:
            The number of entries.

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

    def _read_cosignature(self, head: Note, content: bytes) -> NoteSignature:
        """Read the witness's signature of a log's head (size and Merkle root) from its answer, and verify it.

        The witness may answer with several lines, such as for an old and a new key.

        Args:
            head: the head that was shown to the witness.
            content: body of the answer, which consists of signature lines.

        Returns:
            The verified signature line of this witness.

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
        """Send a request to the witness, and repeat it once if it fails on a connection that was already open.

        Args:
            body: the submitted head, with a proof that it continues the head that the witness signed last.

        Returns:
            Status, media type and body of the answer.

        Raises:
            WitnessUnavailable: the witness cannot be reached, or does not answer in time.
        """
        while True:
            is_reused = self._connection is not None
            try:
                return self._send_once(body)
            except (OSError, HTTPException) as error:
                self.close()
                # The witness may have closed the idle connection, which a new one remedies. A timeout has other causes.
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
