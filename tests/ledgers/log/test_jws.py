"""Detached signatures: others verify ours, RFC 8037's example is ours, and each is for one subject."""

import base64
import json

import jwt
import pytest

from epsilond.ledgers.log import jws
from epsilond.ledgers.log.canonical import canonical, digest
from epsilond.ledgers.log.encodings import from_base64url, to_base64url
from epsilond.ledgers.log.errors import Malformed, NotVerified
from tests.ledgers.log.keys import FIRST, OTHERS, SECOND

RECORD = {"kind": "report", "epsilon": "1.25", "entries": 3, "sealed": True}
SUBJECT = digest(b"the page of the report")
SIGNED = jws.sign(RECORD, SUBJECT, FIRST)
KEYS = [SECOND.public, FIRST.public]


def forged(header, key=FIRST):
    """A signature with a header of one's choice, rightly made."""
    head = to_base64url(json.dumps(header, separators=(",", ":"), sort_keys=True).encode())
    return f"{head}..{to_base64url(key.sign(f'{head}.{to_base64url(canonical(RECORD))}'.encode()))}"


HEADER = {"alg": "EdDSA", "kid": FIRST.public.kid, "subject": SUBJECT, "typ": "epsilond-record+jws"}


def test_the_key_signs_as_in_rfc_8037():
    # Appendix A.4: header, payload and key are given there, and so is the signature.
    signed = b"eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc"
    signature = "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
    assert to_base64url(FIRST.sign(signed)) == signature
    FIRST.public.verify(signed, from_base64url(signature))


def test_others_verify_it_once_the_payload_is_put_back():
    head, gap, signature = SIGNED.split(".")
    assert gap == ""
    payload = base64.urlsafe_b64encode(canonical(RECORD)).decode().rstrip("=")
    whole = jwt.api_jws.PyJWS().decode_complete(
        f"{head}.{payload}.{signature}", FIRST.private.public_key(), algorithms=["EdDSA"]
    )
    assert json.loads(whole["payload"]) == RECORD
    assert whole["header"] == HEADER


def test_it_is_the_same_every_time_and_says_who_signed():
    assert jws.sign(dict(reversed(RECORD.items())), SUBJECT, FIRST) == SIGNED == forged(HEADER)
    assert jws.verify(RECORD, SUBJECT, SIGNED, KEYS) == FIRST.public


def test_another_record_subject_or_key_is_refused():
    for record in ({}, RECORD | {"epsilon": "1.26"}, RECORD | {"entries": "3"}, RECORD | {"more": None}):
        with pytest.raises(NotVerified):
            jws.verify(record, SUBJECT, SIGNED, KEYS)
    for subject in (digest(b"another page"), "sha256:", "", SUBJECT.upper()):
        with pytest.raises(NotVerified):
            jws.verify(RECORD, subject, SIGNED, KEYS)
    for keys in ([], [SECOND.public], [OTHERS.public]):
        with pytest.raises(NotVerified, match="no key that is known"):
            jws.verify(RECORD, SUBJECT, SIGNED, keys)


def test_no_changed_character_passes():
    for place in range(len(SIGNED)):
        for other in {chr(ord(SIGNED[place]) ^ 1), "A", "_", ".", "=", "\n", "é"} - {SIGNED[place]}:
            with pytest.raises(NotVerified):
                jws.verify(RECORD, SUBJECT, SIGNED[:place] + other + SIGNED[place + 1 :], KEYS)
        with pytest.raises(NotVerified):
            jws.verify(RECORD, SUBJECT, SIGNED[:place] + SIGNED[place + 1 :], KEYS)


@pytest.mark.parametrize(
    "header",
    [
        HEADER | {"alg": "none"}, HEADER | {"alg": "HS256"}, HEADER | {"b64": False, "crit": ["b64"]}, HEADER | {"b64": True},
        HEADER | {"crit": ["exp"], "exp": 1}, HEADER | {"jwk": SECOND.public.jwk}, HEADER | {"typ": "JWT"},
        HEADER | {"kid": SECOND.public.kid}, {name: HEADER[name] for name in ("alg", "kid", "typ")}, {"alg": "EdDSA"},
    ],
)  # fmt: skip
def test_other_headers_are_refused_though_rightly_signed(header):
    with pytest.raises(NotVerified):
        jws.verify(RECORD, SUBJECT, forged(header), KEYS)


@pytest.mark.parametrize(
    "text", ["", ".", "..", "...", "a..b", SIGNED * 4, f" {SIGNED}", f"{SIGNED}.", f"{SIGNED}=", "bnVsbA..AA"]
)
def test_what_is_no_signature_is_refused(text):
    with pytest.raises(NotVerified):
        jws.verify(RECORD, SUBJECT, text, KEYS)


def test_what_has_no_canonical_form_is_not_signed():
    with pytest.raises(Malformed, match="/epsilon is a float"):
        jws.sign({"epsilon": 1.25}, SUBJECT, FIRST)
    with pytest.raises(Malformed, match="64 hexadecimal digits"):
        jws.sign(RECORD, "the report", FIRST)


def test_a_note_and_a_json_web_signature_cannot_stand_for_each_other():
    head, _, signature = SIGNED.partition("..")
    signed = f"{head}.{to_base64url(canonical(RECORD))}"
    FIRST.public.verify(signed.encode(), from_base64url(signature))
    assert "\n" not in signed  # every note's text ends in one
