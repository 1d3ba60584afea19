"""Keys that follow each other, and what is published of them."""

import json
from datetime import UTC, datetime, timedelta, timezone

import jwt
import pytest

from epsilond.ledgers.log.canonical import canonical
from epsilond.ledgers.log.errors import KeysUnusable, Malformed
from epsilond.ledgers.log.keys import SigningKey
from epsilond.ledgers.log.signing import PublishedKey, SigningKeys, published_keys
from tests.ledgers.log.keys import FIRST, ORIGIN, OTHERS, SECOND

START = datetime(2026, 11, 23, 1, 2, 3, 456789, tzinfo=UTC)
LATER = START + timedelta(days=30)
ROTATED = SigningKeys.following(SigningKeys.new(FIRST, START).published, SECOND, LATER)


def test_a_first_key_signs_until_another_follows():
    keyring = SigningKeys.new(FIRST, START)
    (only,) = keyring.document()["keys"]
    assert only == FIRST.public.jwk | {
        "name": ORIGIN,
        "note_key": FIRST.public.note_key,
        "from": "2026-11-23T01:02:03Z",
        "until": None,
    }
    assert keyring.keys == (FIRST.public,)


def test_keys_that_signed_before_stay_published():
    assert ROTATED.signing is SECOND
    assert ROTATED.keys == (FIRST.public, SECOND.public)
    before, now = ROTATED.document()["keys"]
    assert (before["from"], before["until"]) == ("2026-11-23T01:02:03Z", "2026-12-23T01:02:03Z")
    assert (now["from"], now["until"]) == ("2026-12-23T01:02:03Z", None)


def test_times_are_those_of_utc():
    there = START.astimezone(timezone(timedelta(hours=-5)))
    assert SigningKeys.new(FIRST, there) == SigningKeys.new(FIRST, START)


def test_what_is_published_reads_back_from_json():
    text = canonical(ROTATED.document())
    assert published_keys(json.loads(text)) == ROTATED.published


def test_others_read_it_as_a_set_of_json_web_keys():
    known = jwt.PyJWKSet.from_json(json.dumps(ROTATED.document()))
    for key in (FIRST, SECOND):
        read = known[key.public.kid].key
        assert read.public_bytes_raw() == key.public.raw


def test_a_retired_key_does_not_sign_again():
    for key in (FIRST, SECOND):
        with pytest.raises(KeysUnusable, match="does not follow itself"):
            SigningKeys.following(ROTATED.published, key, LATER)


def test_keys_of_another_name_do_not_follow():
    with pytest.raises(KeysUnusable, match="keep that name"):
        SigningKeys.following(ROTATED.published, OTHERS, LATER)


def test_time_does_not_go_back():
    with pytest.raises(KeysUnusable, match="before it signs"):
        SigningKeys.following(ROTATED.published, SigningKey.new(ORIGIN), START)


def test_a_keyring_signs_with_the_key_that_it_publishes():
    first, second = ROTATED.published
    for signing, published in (
        (FIRST, ROTATED.published),
        (SECOND, (first,)),
        (FIRST, (first,)),
        (SECOND, (PublishedKey(FIRST.public, START), second)),
        (SECOND, (first, first, second)),
    ):
        with pytest.raises(KeysUnusable):
            SigningKeys(signing, published)


@pytest.mark.parametrize(
    "change",
    [
        {"x": SECOND.public.jwk["x"]}, {"kid": SECOND.public.kid}, {"note_key": SECOND.public.note_key}, {"name": "another"},
        {"from": "2026-11-23"}, {"from": None}, {"until": "2020-01-01T00:00:00Z"}, {"until": 1}, {"alg": "none"}, {"d": "secret"},
        {"note_key": 7}, {"from": "2026-11-23T1:2:3Z"},
    ],
)  # fmt: skip
def test_parts_of_different_keys_are_refused(change):
    (only,) = SigningKeys.new(FIRST, START).document()["keys"]
    assert published_keys({"keys": [only]})
    with pytest.raises(Malformed):
        published_keys({"keys": [only | change]})


@pytest.mark.parametrize("document", [None, [], {}, {"keys": {}}, {"keys": []}, {"keys": ["key"]}, {"keys": [{}]}])
def test_what_is_no_document_of_keys_is_refused(document):
    with pytest.raises(Malformed):
        published_keys(document)
