"""Signed notes, beside the specification's and others' published ones."""

import pytest

from epsilond.ledgers.log import notes
from epsilond.ledgers.log.errors import Malformed, NotVerified
from epsilond.ledgers.log.keys import PublicKey
from tests.ledgers.log.keys import FIRST, GO, OTHERS, SECOND

GO_TEXT = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
GO_NOTE = f"{GO_TEXT}\n— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
SPECIFIED = (  # the note that c2sp.org/signed-note shows; its key is not published
    "Ognuno sta solo sul cuor della terra\ntrafitto da un raggio di sole:\n\ned è subito sera.\n\n"
    "— quasimodo.example/salvatore NnugSzTjtVAewIS+Z/iJhUPeFDkO/5QQ2i5ddnGITLlC+EhfLW9oJKONrMouFSQU0xMcXxj99ihAQwaqP3ZekRwNtIc=\n"
)
TEXT = "first line\n\nthird line: ε\n"
NOTE = str(notes.sign(TEXT, FIRST))


def test_a_note_is_signed_as_others_sign_it():
    assert str(notes.sign(GO_TEXT, GO)) == GO_NOTE
    assert notes.parse(GO_NOTE).verify([GO.public]) == (GO.public,)


def test_the_specifications_note_is_read():
    note = notes.parse(SPECIFIED)
    assert note.text == SPECIFIED[: SPECIFIED.index("\n— ")]
    (signature,) = note.signatures
    assert (signature.name, signature.note_id.hex()) == ("quasimodo.example/salvatore", "367ba04b")
    assert len(signature.signature) == 64
    assert str(note) == SPECIFIED


def test_the_text_may_hold_empty_lines_and_is_signed_with_its_last_newline():
    note = notes.parse(NOTE)
    assert note.text == TEXT
    (signature,) = note.signatures
    FIRST.public.verify(TEXT.encode(), signature.signature)
    with pytest.raises(NotVerified):
        FIRST.public.verify(TEXT[:-1].encode(), signature.signature)


def test_no_changed_byte_passes():
    whole = NOTE.encode()
    for place in range(len(whole)):
        for other in (whole[place] ^ 0x01, whole[place] ^ 0x20, 0x0A):
            if other == whole[place]:
                continue
            changed = whole[:place] + bytes([other]) + whole[place + 1 :]
            with pytest.raises((NotVerified, UnicodeDecodeError)):
                notes.parse(changed.decode()).verify([FIRST.public])
        with pytest.raises((NotVerified, UnicodeDecodeError)):
            notes.parse((whole[:place] + whole[place + 1 :]).decode()).verify([FIRST.public])


def test_keys_follow_each_other_and_others_cosign():
    note = notes.parse(str(notes.sign(TEXT, FIRST, SECOND, OTHERS)))
    assert note.verify([SECOND.public]) == (SECOND.public,)
    assert note.verify([OTHERS.public, FIRST.public]) == (FIRST.public, OTHERS.public)
    with pytest.raises(NotVerified, match="no key that is known"):
        note.verify([GO.public])
    with pytest.raises(NotVerified, match="no key that is known"):
        note.verify([])


def test_a_key_of_that_name_or_that_id_alone_is_unknown():
    other_name = PublicKey("another.example", FIRST.public.raw)
    with pytest.raises(NotVerified, match="no key that is known"):
        notes.parse(NOTE).verify([other_name, SECOND.public])


def test_one_false_signature_of_a_known_key_condemns_the_note():
    good = notes.sign(TEXT, FIRST, SECOND)
    false = notes.NoteSignature(SECOND.name, SECOND.public.note_id, FIRST.sign(TEXT.encode()))
    for signatures in ((good.signatures[0], false), (false, good.signatures[0]), (*good.signatures, false)):
        note = notes.parse(str(notes.Note(TEXT, signatures)))
        with pytest.raises(NotVerified, match="the signature is not that of"):
            note.verify([FIRST.public, SECOND.public])
        assert note.verify([FIRST.public]) == (FIRST.public,)


def test_signatures_of_unknown_kinds_are_ignored():
    witness = notes.NoteSignature("witness.example", b"\x01\x02\x03\x04", b"\x04" * 5000)
    note = notes.parse(str(notes.Note(TEXT, (witness, *notes.sign(TEXT, FIRST).signatures))))
    assert note.verify([FIRST.public]) == (FIRST.public,)


@pytest.mark.parametrize(
    "text",
    [
        "", "\n", "\n\n", TEXT, f"{TEXT}\n", GO_NOTE[:-1], f"{GO_NOTE}\n", GO_NOTE.replace("\n\n", "\n"),
        GO_NOTE.replace("\n", "\r\n"), GO_NOTE.replace("— ", "- "), GO_NOTE.replace("— ", "—"),
        GO_NOTE.replace("PeterNeumann", "Peter+Neumann"), GO_NOTE.replace("PeterNeumann", "Peter\u2003Neumann"),
        GO_NOTE.replace(" x08", "  x08"), GO_NOTE.replace("AM=", "AN="), GO_NOTE.replace("AM=", "AM"), GO_NOTE.replace("/", "_"),
        GO_NOTE.replace("think", "thi\tnk"), GO_NOTE.replace("think", "thi\x00nk"), f"{TEXT}\n— name AAAAAA==\n",
        f"{TEXT}\n— name \n", f"{TEXT}\nno signature\n", "a" * 1_000_001,
    ],
)  # fmt: skip
def test_what_is_no_note_is_refused(text):
    assert text != GO_NOTE
    with pytest.raises(Malformed):
        notes.parse(text)


def test_the_number_of_signatures_is_bounded():
    (line,) = notes.parse(GO_NOTE).signatures
    assert len(notes.parse(str(notes.Note(GO_TEXT, (line,) * 100))).signatures) == 100
    with pytest.raises(Malformed, match="more than 100"):
        notes.parse(str(notes.Note(GO_TEXT, (line,) * 101)))


@pytest.mark.parametrize("text", ["", "no newline", "control\x1b\n", "lone \ud800\n", "a" * 1_000_000 + "\n"])
def test_what_cannot_be_a_note_is_not_signed(text):
    with pytest.raises(Malformed):
        notes.sign(text, FIRST)


def test_a_note_needs_a_signature():
    with pytest.raises(Malformed):
        notes.sign(TEXT)
