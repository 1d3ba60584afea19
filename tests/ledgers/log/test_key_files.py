"""Keys in a folder: made once by the first caller, readable by their owner only, and never lost silently."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from epsilond.ledgers.log import key_files
from epsilond.ledgers.log.errors import KeysUnusable
from epsilond.ledgers.log.key_files import has_private, listed, make, open_keyring, retire, rotate
from epsilond.storage.replacing import replace_file
from tests.ledgers.log.keys import FIRST, ORIGIN, SECOND

NOW = datetime(2026, 11, 23, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)


def pem(key, encryption=NoEncryption()):  # noqa: B008
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption)


def privates(folder):
    return sorted(folder.glob("*.pem"))


@pytest.fixture
def secrets(tmp_path):
    """Files of FIRST and SECOND, as a deployment mounts them: outside, and readable by a group."""
    (tmp_path / "secrets").mkdir()
    paths = []
    for name, key in (("first", FIRST), ("second", SECOND)):
        path = tmp_path / "secrets" / name
        path.write_bytes(pem(key.private))
        path.chmod(0o440)
        paths.append(path)
    return paths


def test_a_key_is_made_at_first_use_and_stays(tmp_path):
    folder = tmp_path / "new" / "keys"
    keyring = open_keyring(folder, ORIGIN, NOW)
    assert open_keyring(folder, ORIGIN, LATER).document() == keyring.document()
    (private,) = privates(folder)
    assert private.stat().st_mode & 0o777 == 0o600
    assert {each.name for each in folder.iterdir()} == {private.name, "keys.json"}
    assert key_files.read_private(private, ORIGIN).public == keyring.signing.public
    assert b"PRIVATE" not in (folder / "keys.json").read_bytes()


def test_all_who_come_first_get_the_same_key(tmp_path):
    program = (
        "import sys; from pathlib import Path; from datetime import UTC, datetime\n"
        "from epsilond.ledgers.log.key_files import open_keyring\n"
        "print(open_keyring(Path(sys.argv[1]), 'a.example', datetime.now(UTC)).signing.public.kid)"
    )
    folder = tmp_path / "keys"

    def come(_):
        ran = subprocess.run([sys.executable, "-c", program, folder], capture_output=True, text=True, check=True)
        return ran.stdout

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(come, range(4)))) == 1
    assert len(privates(folder)) == 1


def test_a_new_key_follows_and_the_old_private_key_goes(tmp_path):
    before = open_keyring(tmp_path, ORIGIN, NOW)
    after = rotate(tmp_path, ORIGIN, LATER)
    assert after.keys == (before.signing.public, after.signing.public)
    assert after.published[0].until == LATER == after.published[1].since
    assert [path.stem for path in privates(tmp_path)] == [after.signing.public.kid]
    assert privates(tmp_path)[0].stat().st_mode & 0o777 == 0o600
    again = open_keyring(tmp_path, ORIGIN, LATER)
    assert (again.published, again.signing.public) == (after.published, after.signing.public)


@pytest.mark.parametrize("stops_at", range(1, 3))
def test_an_interrupted_rotation_leaves_the_key_before(tmp_path, monkeypatch, stops_at):
    before = open_keyring(tmp_path, ORIGIN, NOW)
    replace, calls = Path.replace, []

    def stopping(self, target):
        calls.append(target)
        if len(calls) == stops_at:
            raise KeyboardInterrupt
        return replace(self, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", stopping)
        with pytest.raises(KeyboardInterrupt):
            rotate(tmp_path, ORIGIN, LATER)
    again = open_keyring(tmp_path, ORIGIN, LATER)
    assert (again.published, again.signing.public) == (before.published, before.signing.public)
    assert not [each for each in tmp_path.iterdir() if each.name.startswith(".")]
    assert rotate(tmp_path, ORIGIN, LATER).keys[0] == before.signing.public


def test_a_key_whose_maker_was_interrupted_is_taken_up(tmp_path):
    made = open_keyring(tmp_path, ORIGIN, NOW)
    (tmp_path / "keys.json").unlink()
    assert open_keyring(tmp_path, ORIGIN, LATER).keys == made.keys
    (tmp_path / "keys.json").unlink()
    (tmp_path / f"{FIRST.public.kid}.pem").write_bytes(pem(FIRST.private))
    with pytest.raises(KeysUnusable, match="several private keys"):
        open_keyring(tmp_path, ORIGIN, LATER)


def test_no_new_key_is_made_for_one_that_is_lost(tmp_path):
    open_keyring(tmp_path, ORIGIN, NOW)
    privates(tmp_path)[0].unlink()
    with pytest.raises(KeysUnusable, match="no key at"):
        open_keyring(tmp_path, ORIGIN, LATER)
    with pytest.raises(KeysUnusable, match="not in"):
        rotate(tmp_path, ORIGIN, LATER)
    assert privates(tmp_path) == []


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_a_key_that_others_can_read_is_not_used(tmp_path, mode):
    open_keyring(tmp_path, ORIGIN, NOW)
    privates(tmp_path)[0].chmod(mode)
    with pytest.raises(KeysUnusable, match="can be read by others"):
        open_keyring(tmp_path, ORIGIN, LATER)


def test_a_given_secret_signs_and_another_takes_over(tmp_path, secrets):
    folder = tmp_path / "keys"
    first = open_keyring(folder, ORIGIN, NOW, secret=secrets[0])
    assert first.keys == (FIRST.public,)
    assert open_keyring(folder, ORIGIN, LATER, secret=secrets[0]).published == first.published
    second = open_keyring(folder, ORIGIN, LATER, secret=secrets[1])
    assert second.keys == (FIRST.public, SECOND.public)
    assert privates(folder) == []
    with pytest.raises(KeysUnusable, match="does not follow itself"):
        open_keyring(folder, ORIGIN, LATER, secret=secrets[0])
    with pytest.raises(KeysUnusable, match="give another"):
        rotate(folder, ORIGIN, LATER)
    with pytest.raises(KeysUnusable, match="no key at"):
        open_keyring(folder, ORIGIN, LATER)


def test_a_given_secret_takes_over_from_the_folders_own_key(tmp_path, secrets):
    folder = tmp_path / "keys"
    own = open_keyring(folder, ORIGIN, NOW)
    assert open_keyring(folder, ORIGIN, LATER, secret=secrets[0]).keys == (own.signing.public, FIRST.public)
    assert privates(folder) == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "not a private key in PEM"),
        (b"no key", "not a private key in PEM"),
        (
            FIRST.private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
            "not a private key in PEM",
        ),
        (pem(FIRST.private, BestAvailableEncryption(b"word")), "not a private key in PEM"),
        (pem(generate_private_key(SECP256R1())), "not a key of Ed25519"),
        (None, "no key at"),
    ],
)
def test_other_secrets_are_refused(tmp_path, content, said):
    secret = tmp_path / "secret"
    if content is not None:
        secret.write_bytes(content)
    with pytest.raises(KeysUnusable, match=said):
        open_keyring(tmp_path / "keys", ORIGIN, NOW, secret=secret)
    assert not (tmp_path / "keys" / "keys.json").exists()


def test_keys_of_another_log_are_refused(tmp_path):
    open_keyring(tmp_path, ORIGIN, NOW)
    with pytest.raises(KeysUnusable, match="not of other"):
        open_keyring(tmp_path, "other.example", NOW)


def test_a_damaged_list_is_refused(tmp_path):
    open_keyring(tmp_path, ORIGIN, NOW)
    listed = tmp_path / "keys.json"
    for text in (b"", b"{}", listed.read_bytes()[:-1], listed.read_bytes().replace(b"EdDSA", b"ES256")):
        listed.write_bytes(text)
        with pytest.raises(KeysUnusable, match=r"keys\.json"):
            open_keyring(tmp_path, ORIGIN, NOW)


def test_a_file_with_another_key_than_its_name_says_is_refused(tmp_path):
    open_keyring(tmp_path, ORIGIN, NOW)
    (private,) = privates(tmp_path)
    private.write_bytes(pem(FIRST.private))
    with pytest.raises(KeysUnusable, match="another key than its name"):
        open_keyring(tmp_path, ORIGIN, NOW)


def test_rotation_needs_keys(tmp_path):
    with pytest.raises(KeysUnusable, match="no keys that another could follow"):
        rotate(tmp_path, ORIGIN, NOW)
    assert [*tmp_path.iterdir()] == []


def test_one_is_made_once_and_again_after_the_last_was_retired(tmp_path):
    folder = tmp_path / "new" / "keys"
    first = make(folder, ORIGIN, NOW)
    assert open_keyring(folder, ORIGIN, LATER).published == first.published == listed(folder)
    with pytest.raises(KeysUnusable, match="rotate it instead"):
        make(folder, ORIGIN, LATER)
    kid = first.signing.public.kid
    (gone,) = retire(folder, ORIGIN, kid, LATER)
    assert (gone.key, gone.until) == (first.signing.public, LATER)
    assert not has_private(folder, kid)
    for refused in (
        lambda: open_keyring(folder, ORIGIN, LATER),
        lambda: rotate(folder, ORIGIN, LATER),
        lambda: retire(folder, ORIGIN, kid, LATER),
    ):
        with pytest.raises(KeysUnusable, match="retired"):
            refused()
    second = make(folder, ORIGIN, LATER)
    assert open_keyring(folder, ORIGIN, LATER).keys == (first.signing.public, second.signing.public)
    with pytest.raises(KeysUnusable, match="has no key"):
        retire(folder, ORIGIN, "another", LATER)
    with pytest.raises(KeysUnusable, match="retired before"):
        retire(folder, ORIGIN, kid, LATER)
    with pytest.raises(KeysUnusable, match="not of other"):
        make(folder, "other.example", LATER)


def test_a_key_that_was_lost_is_retired_and_another_made(tmp_path):
    lost = open_keyring(tmp_path, ORIGIN, NOW)
    privates(tmp_path)[0].unlink()
    retire(tmp_path, ORIGIN, lost.signing.public.kid, LATER)
    assert make(tmp_path, ORIGIN, LATER).keys[0] == lost.signing.public


def test_a_private_key_apart_from_the_folder(tmp_path):
    folder, secret = tmp_path / "keys", tmp_path / "secret"
    first = make(folder, ORIGIN, NOW, secret=secret)
    assert secret.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in folder.iterdir()] == ["keys.json"]
    folder.chmod(0o500)  # as a secret or a configuration is mounted: nothing is written into it
    assert open_keyring(folder, ORIGIN, LATER, secret=secret).published == first.published
    folder.chmod(0o700)
    with pytest.raises(KeysUnusable, match="give another"):
        rotate(folder, ORIGIN, LATER)
    other = tmp_path / "other"
    other.write_bytes(pem(SECOND.private))
    with pytest.raises(KeysUnusable, match="another key than the one that signs"):
        rotate(folder, ORIGIN, LATER, secret=other)
    secret.chmod(0o440)
    second = rotate(folder, ORIGIN, LATER, secret=secret)
    assert secret.stat().st_mode & 0o777 == 0o440
    assert open_keyring(folder, ORIGIN, LATER, secret=secret).published == second.published
    assert second.keys[0] == first.signing.public
    retire(folder, ORIGIN, second.signing.public.kid, LATER)
    with pytest.raises(KeysUnusable):
        open_keyring(folder, ORIGIN, LATER, secret=secret)
    with pytest.raises(KeysUnusable, match="there already"):
        make(folder, ORIGIN, LATER, secret=secret)
    assert len(make(folder, ORIGIN, LATER, secret=tmp_path / "third").keys) == 3


def test_a_rotation_of_a_secret_that_is_interrupted_is_finished_at_its_next_use(tmp_path, monkeypatch):
    folder, secret = tmp_path / "keys", tmp_path / "secret"
    first = make(folder, ORIGIN, NOW, secret=secret)
    write = replace_file

    def stopping(path, text, *, mode):
        if path.name == "keys.json":
            raise KeyboardInterrupt
        write(path, text, mode=mode)

    with monkeypatch.context() as patched:
        patched.setattr(key_files, "replace_file", stopping)
        with pytest.raises(KeyboardInterrupt):
            rotate(folder, ORIGIN, LATER, secret=secret)
    again = open_keyring(folder, ORIGIN, LATER, secret=secret)
    assert again.keys[0] == first.signing.public
    assert len(again.keys) == 2
