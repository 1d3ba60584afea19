"""Keys and how they are named, beside published answers."""

import base64
import hashlib

import pytest

from epsilond.ledgers.log.errors import Malformed, NotVerified
from epsilond.ledgers.log.keys import PublicKey, SigningKey, is_key_name
from tests.ledgers.log.keys import FIRST, GO, OTHERS

GO_KEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
SUM_KEY = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8"
X_OF_RFC_8037 = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"


@pytest.mark.parametrize("text", [GO_KEY, SUM_KEY])
def test_keys_of_published_logs_are_read(text):
    key = PublicKey.of_note_key(text)
    assert key.note_key == text
    name, told_id, told_key = text.split("+", 2)
    assert key.name == name
    # c2sp.org/signed-note, "Ed25519 signatures", word for word.
    assert key.note_id.hex() == told_id
    assert hashlib.sha256(name.encode() + b"\x0a" + base64.b64decode(told_key)).digest()[:4] == key.note_id


def test_the_private_key_of_that_log_has_its_public_key():
    assert GO.public.note_key == GO_KEY


def test_the_json_web_key_is_that_of_rfc_8037():
    key = FIRST.public  # RFC 8037, appendix A: the key of RFC 8032's first test
    assert key.jwk["x"] == X_OF_RFC_8037
    assert key.kid == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"  # A.3


def test_signatures_are_those_of_rfc_8032():
    signature = (  # 7.1, test 1: the empty message
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
    )
    assert FIRST.sign(b"").hex() == signature
    FIRST.public.verify(b"", bytes.fromhex(signature))


def test_no_changed_signature_passes():
    signature = FIRST.sign(b"message")
    for place in range(len(signature)):
        for bit in range(8):
            other = bytearray(signature)
            other[place] ^= 1 << bit
            with pytest.raises(NotVerified):
                FIRST.public.verify(b"message", bytes(other))
    order = 2**252 + 27742317777372353535851937790883648493  # s and s + order sign alike where s is not checked
    doubled = int.from_bytes(signature[32:], "little") + order
    for wrong in (b"", signature[:-1], signature + b"\0", signature[:32] + doubled.to_bytes(32, "little")):
        with pytest.raises(NotVerified):
            FIRST.public.verify(b"message", wrong)
    for key, message in ((OTHERS, b"message"), (FIRST, b"messagf")):
        with pytest.raises(NotVerified):
            key.public.verify(message, signature)


def test_no_part_and_no_change_of_a_notes_key_is_one():
    assert PublicKey.of_note_key(GO_KEY)
    changed = [GO_KEY[:place] + chr(ord(GO_KEY[place]) + 1) + GO_KEY[place + 1 :] for place in range(len(GO_KEY))]
    parts = [GO_KEY[i:j] for i in range(len(GO_KEY)) for j in range(i, len(GO_KEY) + 1) if j - i < len(GO_KEY)]
    wrong_length = "PeterNeumann+cc469956+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TWBADKEY=="
    wrong_type = "PeterNeumann+173116ae+ZRpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
    for text in (*changed, *parts, wrong_length, wrong_type):
        with pytest.raises(Malformed):
            PublicKey.of_note_key(text)


@pytest.mark.parametrize("name", ["", "a b", "a+b", "a\u00a0b", "a\u2003b", "a\nb", "a\x00b", "a\ud800"])
def test_names_that_no_note_can_hold_are_refused(name):
    assert not is_key_name(name)
    with pytest.raises(Malformed):
        SigningKey.new(name)


def test_a_private_key_is_not_shown():
    key = SigningKey.new("a.example")
    shown = f"{key!r} {key} {key.__dict__}"
    assert key.public.note_key in shown
    for secret in (key.private.private_bytes_raw().hex(), base64.b64encode(key.private.private_bytes_raw()).decode()):
        assert secret not in shown
    assert SigningKey.new("a.example").public != key.public
