"""Signatures of answers: each is for one answer, one request and one kind of record, and other libraries read it."""

import json
from dataclasses import replace

import jwt
import pytest

from epsilond.ledgers.log import jws, statements
from epsilond.ledgers.log.canonical import canonical, digest
from epsilond.ledgers.log.encodings import from_base64url, to_base64url
from epsilond.ledgers.log.errors import NotVerified
from epsilond.ledgers.log.statements import SignedStatement, digest_of, find_signature, sign, verify
from tests.ledgers.log.keys import FIRST, OTHERS, SECOND

ANSWER = b'{"epsilon": 1.25, "parameters": {"rounds": 3, "noise": 1e-3}}'
PAGE = b"<!DOCTYPE html>\n<p>a page</p>\n"
TOLD = SignedStatement(kind="calibration", name="mb-sgd", engine_version="0.2.0", request=digest_of(b'{"epsilon": 1}'))
REPORT = replace(TOLD, kind="report")
KEYS = [SECOND.public, FIRST.public]


def test_an_answer_may_be_written_otherwise_and_a_page_may_not():
    token = sign(TOLD, ANSWER, FIRST)
    for same in (ANSWER, json.dumps(json.loads(ANSWER), indent=2, sort_keys=True).encode()):
        assert verify(token, same, KEYS) == (TOLD, FIRST.public)
    assert sign(TOLD, b'{"parameters":{"noise":0.001,"rounds":3.0},"epsilon":1.25}', FIRST) == token
    page = sign(REPORT, PAGE, FIRST)
    assert verify(page, PAGE, KEYS) == (REPORT, FIRST.public)
    for other in (PAGE[:-1], PAGE.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + PAGE):
        with pytest.raises(NotVerified):
            verify(page, other, KEYS)


@pytest.mark.parametrize(
    "other",
    [
        ANSWER.replace(b"1.25", b"1.2500000000000002"),
        b'{"epsilon": 1.25}',
        b'{"epsilon": 2.0, "epsilon": 1.25, "parameters": {"rounds": 3, "noise": 1e-3}}',
        b"{}",
        b"",
        b"\xff",
        PAGE,
    ],
)
def test_another_answer_is_refused(other):
    with pytest.raises(NotVerified):
        verify(sign(TOLD, ANSWER, FIRST), other, KEYS)


def swapped(token, **changed):
    """The signature with another statement in it."""
    head, payload, signature = token.split(".")
    record = json.loads(from_base64url(payload)) | changed
    return f"{head}.{to_base64url(canonical({name: item for name, item in record.items() if item is not None}))}.{signature}"


@pytest.mark.parametrize(
    "changed",
    [
        {"kind": "account"},
        {"kind": "report"},
        {"name": "gaussian"},
        {"engine_version": "0.2.1"},
        {"request": digest(b"another")},
        {"request": None},
        {"format": "epsilond-ledger-report-1"},
        {"more": "members"},
    ],
)
def test_no_member_of_the_statement_can_be_exchanged(changed):
    with pytest.raises(NotVerified):
        verify(swapped(sign(TOLD, ANSWER, FIRST), **changed), ANSWER, KEYS)


def test_a_signature_of_another_kind_of_record_is_none():
    """Even of the very record and subject: as receipts and ledgers' reports are signed, or with no type."""
    subject = digest_of(ANSWER)
    for kind in (jws.TYPE, "epsilond-ledger-report+jws", "JWT"):
        head, _, signature = jws.sign(TOLD.record, subject, FIRST, kind=kind).partition("..")
        with pytest.raises(NotVerified):
            verify(f"{head}.{to_base64url(canonical(TOLD.record))}.{signature}", ANSWER, KEYS)
    head, _, signature = sign(TOLD, ANSWER, FIRST).split(".")
    with pytest.raises(NotVerified):
        jws.verify(TOLD.record, subject, f"{head}..{signature}", KEYS)


def test_another_key_or_no_signature_is_refused():
    token = sign(TOLD, ANSWER, FIRST)
    for keys in ([], [SECOND.public, OTHERS.public]):
        with pytest.raises(NotVerified):
            verify(token, ANSWER, keys)
    for text in ("", "..", "a.b.c", token[:-4], token.replace(".", ".."), "x" * 100_000):
        with pytest.raises(NotVerified):
            verify(text, ANSWER, KEYS)


def test_what_is_said_of_something_else_cannot_be_signed_as_an_answer():
    with pytest.raises(NotVerified):
        SignedStatement.of_record({**TOLD.record, "kind": "receipt"})
    with pytest.raises(NotVerified):
        sign(TOLD, PAGE, FIRST)  # no JSON


def test_other_libraries_verify_it():
    token = sign(TOLD, ANSWER, FIRST)
    whole = jwt.api_jws.PyJWS().decode_complete(token, FIRST.private.public_key(), algorithms=["EdDSA"])
    assert json.loads(whole["payload"]) == TOLD.record
    assert whole["header"]["subject"] == digest_of(ANSWER)
    assert whole["header"]["typ"] == statements.TYPE


def test_it_is_found_among_headers():
    token = sign(TOLD, ANSWER, FIRST)
    assert find_signature(f" {token}\n") == token
    assert find_signature(f"HTTP/1.1 200 OK\r\nx-cache: miss\r\nepsilond-signature: {token}\r\n\r\n") == token
    with pytest.raises(NotVerified):
        find_signature(f"Epsilond-Signature: {token}\nEpsilond-Signature: {token}\n")
