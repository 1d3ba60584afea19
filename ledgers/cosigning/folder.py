"""The folder of a witness: its private key, and the newest head that it cosigned of each log.

A head is on the disk before its cosignature is given away. Each change reads the head again under a lock of the folder,
so that several processes may serve one folder.
"""

from __future__ import annotations

import hashlib
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from epsilond.ledgers.log import checkpoints, notes
from epsilond.ledgers.log.checkpoints import Checkpoint
from epsilond.ledgers.log.cosignatures import CosignerKey, CosigningKey
from epsilond.ledgers.log.errors import KeysUnusable, NotVerified
from epsilond.ledgers.log.key_files import read_private
from epsilond.storage.replacing import create_file, lock_folder, replace_file

PRIVATE: Final = "witness.pem"
"""Name of the file of the private key (Ed25519, PEM)."""
PUBLIC: Final = "witness.vkey"
"""Name of the file of the public key, which ties the private key to one name."""
_HEADS: Final = "heads"
"""Name of the folder with a file for each log, which is named by the digest of the log's origin."""


class WitnessFolder:
    """The folder of a witness, a party that signs heads of logs: its key, and the newest head that it signed of each.

    Attributes:
        key: the private key of the witness.
    """

    def __init__(self, folder: Path, key: CosigningKey) -> None:
        """Use an existing folder for the signed heads of logs. `open` also makes it, and makes or reads the key.

        Args:
            folder: folder of the witness.
            key: the private key of the witness.
        """
        self.key = key
        self._heads = folder / _HEADS
        self._heads.mkdir(exist_ok=True)
        self._thread_lock = threading.Lock()  # `lock_folder` excludes other processes

    @classmethod
    def open(cls, folder: Path, name: str) -> WitnessFolder:
        """Open the folder of a witness, a party that signs heads of logs. A missing folder is made, with a new key.

        The folder has the private key, the public key, and the newest signed head of each log.

        Args:
            folder: folder of the witness.
            name: name of the witness.

        Returns:
            The folder, in which the witness can sign.

        Raises:
            KeysUnusable: the key is of another name, can be read by others, or is missing next to its public key.
            Malformed: the name cannot name a key.
            OSError: the folder cannot be read or written.
        """
        folder.mkdir(parents=True, exist_ok=True)
        with lock_folder(folder):
            private = folder / PRIVATE
            public = folder / PUBLIC
            # A lost private key is not replaced, because verifiers trust the public key that exists.
            if not private.exists():
                if public.exists():
                    raise KeysUnusable(f"{private} is missing: the witness needs the key of {public}")
                _make_private_key(private, name)
            key = _read_private_key(private, name)
            if not public.exists():
                replace_file(public, f"{key.public.vkey}\n".encode(), mode=0o644)  # everyone may read it
            if public.read_text(encoding="utf-8").strip() != key.public.vkey:
                raise KeysUnusable(f"{public} has another name or another key: a key has one name for ever")
        return cls(folder, key)

    @property
    def public(self) -> CosignerKey:
        """The public key of the witness."""
        return self.key.public

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Lock the folder against other threads and processes for a block. At its end, all changes are on the disk.

        Raises:
            OSError: the folder cannot be used.
        """
        with self._thread_lock, lock_folder(self._heads, must_sync=True):
            yield

    def note(self, digest: str) -> str | None:
        """Read the newest head of a log (size and Merkle root) that the witness signed, as a signed note.

        The witness's own signature is verified, so that a changed file is noticed.

        Args:
            digest: SHA-256 of the log's origin, in hexadecimal.

        Returns:
            The signed note; None if the witness has signed no head of this log.

        Raises:
            KeysUnusable: the file does not contain a head of this log that this witness cosigned.
            OSError: the file cannot be read.
        """
        path = self._heads / digest
        try:
            text = path.read_bytes().decode("utf-8")
            note = notes.parse(text)
            # The note must have a signature of this witness, and be of the log that the file is named after.
            is_cosigned = self.public.verify(note) is not None
            if not is_cosigned or digest_of(checkpoints.parse(note.text).origin) != digest:
                raise KeysUnusable(f"{path} is not a head of its log that this witness cosigned")
        except FileNotFoundError:
            return None
        except (NotVerified, UnicodeDecodeError):
            raise KeysUnusable(f"{path} is not a head that this witness cosigned") from None
        return text

    def head(self, origin: str) -> Checkpoint | None:
        """Read the newest head of a log (its size and Merkle root) that the witness signed.

        The witness signs a later head only if it continues this one.

        Args:
            origin: name of the log.

        Returns:
            The head; None if the witness has signed no head of this log.

        Raises:
            KeysUnusable: the file was changed, or is another log's.
            OSError: the file cannot be read.
        """
        note = self.note(digest_of(origin))
        if note is None:
            return None
        return checkpoints.parse(notes.parse(note).text)

    def replace(self, origin: str, note: str) -> None:
        """Store the newest head of a log (its size and Merkle root), with its signatures.

        The caller must hold the lock of `alone()`.

        Args:
            origin: name of the log.
            note: signed note of the head, which this witness has cosigned.

        Raises:
            OSError: the file cannot be written. The stored head does not change.
        """
        replace_file(self._heads / digest_of(origin), note.encode())

    def forget(self, origin: str) -> Checkpoint | None:
        """Delete the newest signed head (size and root) of a log, so that the witness signs any log of this name.

        Args:
            origin: name of the log.

        Returns:
            The deleted head; None if there was none.

        Raises:
            KeysUnusable: the file was changed, or is another log's.
            OSError: the file cannot be read or deleted.
        """
        with self.alone():
            head = self.head(origin)
            (self._heads / digest_of(origin)).unlink(missing_ok=True)
        return head


def _make_private_key(path: Path, name: str) -> None:
    """Write a new private key of Ed25519 to a file, without encryption.

    Only the owner of the file can read it.

    Args:
        path: the file, which must not exist.
        name: name of the witness (a party that signs heads of logs), which signatures contain.

    Raises:
        Malformed: the name cannot name a key. Nothing is written.
    """
    key = CosigningKey(name, Ed25519PrivateKey.generate())
    _ = key.public  # rejects an invalid name
    create_file(path, key.private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))


def _read_private_key(path: Path, name: str) -> CosigningKey:
    """Read the private key with which a witness, a party other than the log's operator, signs heads of logs.

    Args:
        path: file of the key.
        name: name of the witness, which signatures contain.

    Returns:
        The key, which can sign.

    Raises:
        KeysUnusable: users other than the owner can read the file, or it does not contain a key.
    """
    if sys.platform != "win32" and path.stat().st_mode & 0o077:  # a permission of the group or of others
        raise KeysUnusable(f"{path} can be read by others than its owner: chmod 600, and think of a new key")
    return CosigningKey(name, read_private(path, name).private)


def digest_of(origin: str) -> str:
    """Return the SHA-256 of the name of a log, which names the file with the log's newest head.

    Args:
        origin: name of the log.

    Returns:
        The hash, 64 hexadecimal digits.
    """
    return hashlib.sha256(origin.encode()).hexdigest()
