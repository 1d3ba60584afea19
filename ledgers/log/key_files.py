"""Keys of a service in a folder: `keys.json`, which may be published, and the private signing key, which may not."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path
from typing import Final

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from epsilond.ledgers.log.canonical import canonical, parse
from epsilond.ledgers.log.errors import KeysUnusable, Malformed
from epsilond.ledgers.log.keys import SigningKey
from epsilond.ledgers.log.signing import PublishedKey, SigningKeys, document_of, published_keys, retire_signing_key
from epsilond.storage.replacing import create_file, lock_folder, replace_file

PUBLISHED: Final = "keys.json"  # name of the file of the public keys
_PRIVATE: Final = ".pem"  # suffix of the file of a private key, after the id of the key


def open_keyring(folder: Path, name: str, now: datetime, *, secret: Path | None = None) -> SigningKeys:
    """Open the keys of a folder, with which a log is signed. Make the first key if the folder has none.

    Args:
        folder: folder of the keys. It is created if it does not exist.
        name: name of the keys, which is the log's origin.
        now: present time, from which a new key signs.
        secret: file of the private key that signs, in PEM (PKCS #8). If the folder does not list its public key yet,
            this key replaces the previous one. If None, the private key in the folder is used.

    Returns:
        The private key that signs, and all published keys.

    Raises:
        KeysUnusable: a key is missing, retired, of another name, or can be read by others.
        OSError: the folder cannot be read, or made, or written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with lock_folder(folder):
        published = _read_published(folder, name)
        signing = _open_signing_key(folder, name, published) if secret is None else read_private(secret, name)
        if published:
            last_key = published[-1]
            if last_key.key == signing.public and last_key.until is None:
                return SigningKeys(signing, published)
        return _publish(folder, published, signing, now)


def _open_signing_key(folder: Path, name: str, published: tuple[PublishedKey, ...]) -> SigningKey:
    """Read the private key of the last published public key, which is the key that signs.

    If no key is published yet, the private key that an interrupted process left is used, or a new one is made.

    Args:
        folder: folder of the keys.
        name: name of the keys, which is the log's origin.
        published: published keys of the folder, oldest first.

    Returns:
        The private key. A new one is stored in the folder before it is returned.

    Raises:
        KeysUnusable: the last published key was retired, or its private key cannot be used.
    """
    if not published:
        return _find_unpublished(folder, name) or _make_private(folder, name)
    if published[-1].until is not None:
        raise KeysUnusable(f"the last key in {folder} was retired: make another before anything is signed")
    return _read_own_private(folder, name, published[-1].key.kid)


def make(folder: Path, name: str, now: datetime, *, secret: Path | None = None) -> SigningKeys:
    """Make the first key of a log, or a new key after the last key was retired.

    The public keys of a log are published in one file, in which retired keys remain. At most one key signs at any time.

    Args:
        folder: folder of the keys.
        name: name of the keys, which is the log's origin.
        now: present time.
        secret: file for the private key, which must not exist yet. If None, the private key is stored in the folder.

    Returns:
        The new private key, and all published keys.

    Raises:
        KeysUnusable: a key signs already, the folder has a private key that is not published, or the file for the
            private key exists.
        OSError: the folder or the file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with lock_folder(folder):
        published = _read_published(folder, name)
        current = published[-1] if published else None
        if current is not None and current.until is None:
            since = current.record["from"]
            raise KeysUnusable(f"{folder} has a key that signs, since {since}: rotate it instead")
        if not published and _find_unpublished(folder, name) is not None:
            raise KeysUnusable(f"{folder} has a private key that is not published: its first use publishes it")
        return _exchange(folder, name, published, now, secret=secret, replacing=False)


def rotate(folder: Path, name: str, now: datetime, *, secret: Path | None = None) -> SigningKeys:
    """Replace the signing key by a new key. The old key stays published, and its private key is deleted.

    Args:
        folder: folder of the keys.
        name: name of the keys, which is the log's origin.
        now: present time.
        secret: file of the private key that signs. The new private key replaces its content.

    Returns:
        The new private key, and all published keys.

    Raises:
        KeysUnusable: the folder has no signing key, its private key is not available, or `open_keyring` rejects it.
        OSError: the folder or the file cannot be read or written.
    """
    with lock_folder(folder):
        published = _read_published(folder, name)
        if not published:
            raise KeysUnusable(f"{folder} has no keys that another could follow")
        current = published[-1]
        if current.until is not None:
            raise KeysUnusable(f"the last key in {folder} was retired: make another instead")
        # The new private key is stored where the current one is, so that place must be the one that the caller names.
        current_file = _private_path(folder, current.key.kid) if secret is None else secret
        if not current_file.exists():
            raise KeysUnusable(f"the key that signs is not in {folder}: where it is given as a secret, give another")
        if secret is not None and read_private(secret, name).public != current.key:
            raise KeysUnusable(f"{secret} has another key than the one that signs")
        return _exchange(folder, name, published, now, secret=secret, replacing=True)


def retire(folder: Path, name: str, kid: str, now: datetime) -> tuple[PublishedKey, ...]:
    """Retire the signing key because it was stolen or lost. Its private key is deleted, if the folder has it.

    Args:
        folder: folder of the keys.
        name: name of the keys, which is the log's origin.
        kid: id of the key.
        now: present time.

    Returns:
        All published keys. The key stays among them, because its earlier signatures stay valid.

    Raises:
        KeysUnusable: the folder has no such key, or the key was retired before.
        OSError: the folder cannot be read or written.
    """
    with lock_folder(folder):
        published = _read_published(folder, name)
        if kid not in {key.key.kid for key in published}:
            raise KeysUnusable(f"{folder} has no key {kid}")
        if published[-1].key.kid != kid or published[-1].until is not None:
            raise KeysUnusable(f"{kid} was retired before")
        after = retire_signing_key(published, now)
        replace_file(folder / PUBLISHED, canonical(document_of(after)), mode=0o644)  # everyone may read it
        _private_path(folder, kid).unlink(missing_ok=True)
        return after


def listed(folder: Path) -> tuple[PublishedKey, ...]:
    """Return all public keys that a folder publishes, oldest first.

    Args:
        folder: folder of the keys that sign a log. Retired keys remain published.

    Returns:
        The keys, including retired ones, because their earlier signatures stay valid.

    Raises:
        KeysUnusable: the folder has no keys, or their file is malformed.
        OSError: the file cannot be read.
    """
    published = _read_all_keys(folder)
    if not published:
        raise KeysUnusable(f"{folder} has no keys")
    return published


def origin_of(folder: Path) -> str | None:
    """Return the name of the log that the keys in a folder sign.

    Args:
        folder: folder of the keys that sign the log.

    Returns:
        The name (the origin of the log), which all keys of the folder share. None if there are no keys.

    Raises:
        KeysUnusable: the file of keys is malformed.
        OSError: the file cannot be read.
    """
    published = _read_all_keys(folder)
    if not published:
        return None
    first_key = published[0]
    return first_key.key.name


def has_private(folder: Path, kid: str) -> bool:
    """Return whether a folder has the private key with a given id, the thumbprint of its JSON Web Key (RFC 7638)."""
    return _private_path(folder, kid).exists()


def read_private(path: Path, name: str) -> SigningKey:
    """Read an unencrypted Ed25519 private key from a PEM file (PKCS #8), such as OpenSSL writes.

    Args:
        path: path of the PEM file.
        name: name of the key.

    Returns:
        The Ed25519 key with its name.

    Raises:
        KeysUnusable: there is no file, or it does not contain an Ed25519 key.
    """
    try:
        private = load_pem_private_key(path.read_bytes(), password=None)
    except FileNotFoundError:
        raise KeysUnusable(f"there is no key at {path}") from None
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise KeysUnusable(f"{path} is not a private key in PEM without a password") from None
    if not isinstance(private, Ed25519PrivateKey):
        raise KeysUnusable(f"{path} is not a key of Ed25519")
    return SigningKey(name, private)


def _exchange(
    folder: Path,
    name: str,
    published: tuple[PublishedKey, ...],
    now: datetime,
    *,
    secret: Path | None,
    replacing: bool,
) -> SigningKeys:
    """Make a new signing key, write its private key, publish it, and delete the previous private key.

    The private key is written first. If the process is then interrupted, the folder keeps its previous key, or the file
    `secret` has a key that `open_keyring` publishes at its next use.

    Args:
        folder: folder of the keys.
        name: name of the keys, which is the log's origin.
        published: all keys that were published so far.
        now: time from which the new key signs.
        secret: file for the private key; None means the folder.
        replacing: whether the file `secret` exists and is overwritten.

    Returns:
        The new private key, and all published keys including the new one.

    Raises:
        KeysUnusable: the file exists, and `replacing` is False.
    """
    signing = SigningKey.new(name)
    if secret is None:
        replace_file(_private_path(folder, signing.public.kid), signing.pem)
    elif replacing:
        replace_file(secret, signing.pem, mode=secret.stat().st_mode & 0o777)  # with the permissions of the old file
    else:
        try:
            create_file(secret, signing.pem)
        except FileExistsError:
            raise KeysUnusable(f"{secret} is there already") from None
    return _publish(folder, published, signing, now)


def _publish(folder: Path, published: tuple[PublishedKey, ...], signing: SigningKey, now: datetime) -> SigningKeys:
    """Publish a new signing key in `keys.json`, and then delete the previous private key from the folder.

    The order matters: if the process is interrupted, the private key that signs still exists.

    Args:
        folder: folder of the keys.
        published: all keys that were published so far, oldest first.
        signing: the new key.
        now: time from which the new key signs.

    Returns:
        All published keys with the new signing key.
    """
    keyring = SigningKeys.following(published, signing, now) if published else SigningKeys.new(signing, now)
    replace_file(folder / PUBLISHED, canonical(keyring.document()), mode=0o644)  # everyone may read it
    if published:
        _private_path(folder, published[-1].key.kid).unlink(missing_ok=True)
    return keyring


def _read_all_keys(folder: Path) -> tuple[PublishedKey, ...]:
    """Read the published keys of a folder, that is, the public keys with the times in which they sign.

    Args:
        folder: folder of the keys that sign a log.

    Returns:
        The keys, oldest first. Empty if the folder has no file of published keys.

    Raises:
        KeysUnusable: the file is malformed.
    """
    path = folder / PUBLISHED
    try:
        return published_keys(parse(path.read_bytes()))
    except FileNotFoundError:
        return ()
    except Malformed as error:
        raise KeysUnusable(f"{path}: {error}") from None


def _read_published(folder: Path, name: str) -> tuple[PublishedKey, ...]:
    """Read the published keys of a folder, and check that all have the given name.

    Args:
        folder: folder of the keys.
        name: the log's origin. Keys of another name would sign another log.

    Returns:
        The keys, oldest first; empty if there are none.

    Raises:
        KeysUnusable: a key has another name, or the file of keys is malformed.
    """
    published = _read_all_keys(folder)
    if any(key.key.name != name for key in published):
        raise KeysUnusable(f"{folder / PUBLISHED} has keys of {published[0].key.name}, not of {name}")
    return published


def _private_path(folder: Path, kid: str) -> Path:
    """Return the path of the file of a private key, by its id, in a folder of keys. The file need not exist."""
    return folder / f"{kid}{_PRIVATE}"


def _read_own_private(folder: Path, name: str, kid: str) -> SigningKey:
    """Read the private key with a given id from its file in the folder of keys.

    Args:
        folder: folder of the keys.
        name: name of the keys, which is the log's origin.
        kid: id of the key, which is also the name of its file.

    Returns:
        The key.

    Raises:
        KeysUnusable: the key is missing, has another id, or can be read by other users, who could sign the log with it.
    """
    path = _private_path(folder, kid)
    has_unix_permissions = sys.platform != "win32" and path.exists()
    if has_unix_permissions and path.stat().st_mode & 0o077:  # a permission of the group or of others
        raise KeysUnusable(f"{path} can be read by others than its owner: chmod 600, and think of a new key")
    signing = read_private(path, name)
    if signing.public.kid != kid:
        raise KeysUnusable(f"{path} has another key than its name says")
    return signing


def _find_unpublished(folder: Path, name: str) -> SigningKey | None:
    """Find a private key that an interrupted process made and did not publish.

    Args:
        folder: folder of the keys, without published keys.
        name: name of the keys.

    Returns:
        The key; None if the folder has none.

    Raises:
        KeysUnusable: the folder has several private keys, or the key cannot be used.
    """
    ids = sorted(path.stem for path in folder.glob(f"*{_PRIVATE}"))
    if len(ids) > 1:
        raise KeysUnusable(f"{folder} has several private keys and no {PUBLISHED}, which says which of them signs")
    if not ids:
        return None
    (key_id,) = ids
    return _read_own_private(folder, name, key_id)


def _make_private(folder: Path, name: str) -> SigningKey:
    """Make a new private key and write it to the folder of keys. Its public key is not published yet.

    Args:
        folder: folder of the keys.
        name: name of the keys, which is the log's origin.

    Returns:
        The key. If the process is interrupted before its publication, the next start takes it.
    """
    signing = SigningKey.new(name)
    replace_file(_private_path(folder, signing.public.kid), signing.pem)
    return signing
