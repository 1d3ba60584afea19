"""Cosignatures, compared with published ones and with a verifier that is written from the specification."""

import base64
import hashlib
import json
import struct
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from epsilond.ledgers.log import notes
from epsilond.ledgers.log.bundles import Bundle
from epsilond.ledgers.log.cosignatures import CosignerKey, CosigningKey
from epsilond.ledgers.log.errors import Malformed, NotVerified
from epsilond.ledgers.log.verify import verify
from tests.ledgers.log.keys import FIRST, ORIGIN, SECOND
from tests.ledgers.log.logs import ENTRIES, note, receipt

REMORA = "remora.n621.de+da77ade7+BOvN63jn/bLvkieywe8R6UYAtVtNbZpXh34x7onlmtw2"  # transparency-dev/formats
SPECIFIED = (  # the checkpoint that c2sp.org/tlog-cosignature shows; its keys are not published
    "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n"
    "— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n"
    "— witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==\n"
)
TIME = 1_679_315_147
WITNESS = CosigningKey("witness.example/w1", SECOND.private)
OTHER = CosigningKey("witness.example/w2", FIRST.private)


def cosigned(whole, *keys, time=TIME):
    parsed = notes.parse(whole)
    return str(notes.Note(parsed.text, (*parsed.signatures, *(key.cosign(parsed.text, time) for key in keys))))


def verified_by_the_specification(whole, name, raw):
    """The time of a cosignature, with nothing of the code that is tested. Raises where there is none that holds."""
    text, _, lines = whole.rpartition("\n\n")
    wanted = hashlib.sha256(name.encode() + b"\n\x04" + raw).digest()[:4]
    for line in lines.splitlines():
        _, signer, data = line.split(" ")
        key, seconds, signature = struct.unpack(">4sQ64s", base64.b64decode(data)) if signer == name else (b"", 0, b"")
        if key == wanted:
            message = b"cosignature/v1\ntime %d\n%s\n" % (seconds, text.encode())
            Ed25519PublicKey.from_public_bytes(raw).verify(signature, message)
            return seconds
    raise LookupError(name)


def test_a_published_key_is_read_and_written():
    key = CosignerKey.of_vkey(REMORA)
    assert (key.name, key.note_id.hex(), key.vkey) == ("remora.n621.de", "da77ade7", REMORA)


def test_the_specifications_cosignature_is_read():
    line = notes.parse(SPECIFIED).signatures[1]
    assert (line.name, len(line.signature)) == ("witness.example.com/w1", 72)
    assert int.from_bytes(line.signature[:8], "big") == TIME


def test_the_vector_of_the_documented_format_verifies():
    vector = json.loads((Path(__file__).parents[3] / "docs/ledger-format/vectors.json").read_text())["cosigned"]
    key = CosignerKey.of_vkey(vector["witness"])
    assert key.verify(notes.parse(vector["note"])) == vector["time"]


def test_a_verifier_from_the_specification_accepts_a_cosignature():
    whole = cosigned(note(23), WITNESS)
    assert verified_by_the_specification(whole, WITNESS.name, WITNESS.public.raw) == TIME
    with pytest.raises(LookupError):
        verified_by_the_specification(whole, WITNESS.name, OTHER.public.raw)
    with pytest.raises(InvalidSignature):
        verified_by_the_specification(whole.replace("\n23\n", "\n22\n"), WITNESS.name, WITNESS.public.raw)


@pytest.mark.parametrize(
    "vkey",
    [
        FIRST.public.note_key,  # a key of a log
        REMORA.replace("da77ade7", "da77ade8"),
        REMORA.replace("remora", "other"),
        REMORA[:-4],
        "remora.n621.de",
        "",
    ],
)
def test_other_texts_are_no_keys_of_witnesses(vkey):
    with pytest.raises(Malformed):
        CosignerKey.of_vkey(vkey)


def test_the_latest_time_counts_and_other_keys_are_ignored():
    whole = cosigned(cosigned(note(23), WITNESS, OTHER), WITNESS, time=TIME + 1)
    assert WITNESS.public.verify(notes.parse(whole)) == TIME + 1
    assert OTHER.public.verify(notes.parse(whole)) == TIME
    assert CosignerKey.of_vkey(REMORA).verify(notes.parse(whole)) is None


def test_no_changed_bit_of_a_cosignature_passes():
    parsed = notes.parse(cosigned(note(23), WITNESS))
    line = parsed.signatures[-1]
    for place in range(8 * len(line.signature)):
        changed = bytearray(line.signature)
        changed[place // 8] ^= 1 << place % 8
        false = notes.Note(parsed.text, (notes.NoteSignature(line.name, line.note_id, bytes(changed)),))
        with pytest.raises(NotVerified):
            WITNESS.public.verify(false)


def test_no_private_key_is_shown():
    assert WITNESS.private.private_bytes_raw().hex() not in repr(WITNESS)
    assert repr(WITNESS) == f"CosigningKey({WITNESS.public.vkey!r})"


def sentences(bundle, *witnesses):
    found = verify(bundle, origin=ORIGIN, keys=[FIRST.public], witnesses=[key.public for key in witnesses])
    return [
        f"{each.outcome}: {each.sentence}"
        for each in found.findings
        if "itness" in each.sentence or "cosign" in each.sentence
    ]


def test_the_verifier_counts_cosignatures_of_the_largest_head():
    whole = Bundle(entries=ENTRIES, checkpoints=[cosigned(note(23), WITNESS)])
    shown = "verified: The witness witness.example/w1 cosigned 23 entries at 2023-03-20 12:25:47 UTC."
    assert sentences(whole, WITNESS) == [shown]
    assert sentences(whole) == []
    assert sentences(whole, WITNESS, OTHER) == [
        shown,
        "not verified: Whether the witness witness.example/w2 cosigned 23 entries is not shown.",
    ]
    larger = Bundle(entries=ENTRIES, checkpoints=[cosigned(note(9), WITNESS)], receipts=[receipt(3, 23)])
    assert sentences(larger, WITNESS) == [
        "verified: The witness witness.example/w1 cosigned 9 entries at 2023-03-20 12:25:47 UTC.",
        "not verified: Whether the witness witness.example/w1 cosigned 23 entries is not shown.",
    ]


def test_a_false_cosignature_fails():
    parsed = notes.parse(note(23))
    line = OTHER.cosign(parsed.text, TIME)
    false = notes.NoteSignature(WITNESS.name, WITNESS.public.note_id, line.signature)
    bundle = Bundle(entries=ENTRIES, checkpoints=[str(notes.Note(parsed.text, (*parsed.signatures, false)))])
    (failed, _) = sentences(bundle, WITNESS)
    assert failed.startswith("failed: A cosignature does not hold: the signature is not that of witness.example/w1")
    assert not verify(bundle, origin=ORIGIN, keys=[FIRST.public], witnesses=[WITNESS.public]).holds
