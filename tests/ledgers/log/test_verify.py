"""Verification of a part of a log: the findings, the open questions, and that no fault is called good."""

import json

import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.ledgers.log.bundles import Bundle
from epsilond.ledgers.log.errors import Malformed
from epsilond.ledgers.log.findings import NOT_SHOWN, ClaimOutcome
from epsilond.ledgers.log.verify import verify
from tests.ledgers.log.keys import FIRST, ORIGIN, OTHERS, SECOND
from tests.ledgers.log.logs import ENTRIES, REWRITTEN, consistency, note, receipt

UNCHARGED = "The charges were not computed again: whether they are right is not verified."


def found(bundle, *, keys=(FIRST.public,), origin=ORIGIN, replay=None):
    return verify(Bundle.of_bytes(bundle.to_bytes()), origin=origin, keys=keys, replay=replay)


def sentences(verification, outcome):
    return [each.sentence for each in verification.findings if each.outcome is outcome]


def test_a_whole_log_is_verified():
    heads = (3, 16, 23)
    bundle = Bundle(ENTRIES, [note(size) for size in heads], [receipt(4, 9), receipt(20, 23)])
    verification = found(bundle)
    assert verification.holds
    assert sentences(verification, ClaimOutcome.NOT_VERIFIED) == [UNCHARGED]
    assert sentences(verification, ClaimOutcome.VERIFIED) == [
        "ledger.example/log signed that it has 3 entries (checkpoint 0).",
        "ledger.example/log signed that it has 16 entries (checkpoint 1).",
        "ledger.example/log signed that it has 23 entries (checkpoint 2).",
        "The entry of receipt 0 is entry 4 of the log when it had 9 entries.",
        "The entry of receipt 1 is entry 20 of the log when it had 23 entries.",
        "The first 3 entries given are all of the log of that size.",
        "The first 9 entries given are all of the log of that size.",
        "The first 16 entries given are all of the log of that size.",
        "The first 23 entries given are all of the log of that size.",
        "The log of 3 entries is the beginning of the log of 9 entries.",
        "The log of 9 entries is the beginning of the log of 16 entries.",
        "The log of 16 entries is the beginning of the log of 23 entries.",
    ]


def test_it_says_what_no_log_shows():
    verification = found(Bundle(ENTRIES, [note(23)]))
    assert "It proves the written entries, not that nothing was run without writing." in NOT_SHOWN
    assert verification.sentences()[-len(NOT_SHOWN) :] == [f"not shown: {each}" for each in NOT_SHOWN]
    assert verification.sentences()[0].startswith("verified: ledger.example/log signed")


def test_receipts_alone_are_verified_and_their_consistency_is_left_open():
    verification = found(Bundle(receipts=[receipt(4, 9), receipt(20, 23)]))
    assert verification.holds
    assert sentences(verification, ClaimOutcome.NOT_VERIFIED) == [
        "A checkpoint has 9 entries, of which 0 are given: the others are unknown.",
        "A checkpoint has 23 entries, of which 0 are given: the others are unknown.",
        "Whether the log of 9 entries is the beginning of the log of 23 is not shown.",
        UNCHARGED,
    ]


def test_a_consistency_proof_connects_receipts():
    receipts = [receipt(4, 9), receipt(20, 23)]
    verification = found(Bundle(receipts=receipts, proofs=[consistency(9, 23)]))
    assert "The log of 9 entries is the beginning of the log of 23 entries." in sentences(
        verification, ClaimOutcome.VERIFIED
    )


@pytest.mark.parametrize(
    ("pairs", "shown"),
    [
        ([], set()),
        ([(3, 7), (7, 12), (12, 23)], {3, 7, 12}),
        ([(3, 23), (7, 23), (12, 23)], {3, 7, 12}),  # beginnings of one tree are beginnings of each other
        ([(3, 12), (7, 23), (12, 23)], {3, 7, 12}),
        ([(3, 12), (7, 23)], set()),
        ([(3, 7), (3, 12), (3, 23)], {3}),  # one beginning of two trees says nothing of these
        ([(3, 7), (12, 23)], {3, 12}),
        ([(3, 12), (7, 12)], {3, 7}),
    ],
)
def test_which_checkpoints_are_consistent_follows_from_the_proofs(pairs, shown):
    sizes = [3, 7, 12, 23]
    verification = found(Bundle(checkpoints=map_notes(sizes), proofs=[consistency(*pair) for pair in pairs]))
    assert verification.holds
    verified = sentences(verification, ClaimOutcome.VERIFIED)
    for one, other in zip(sizes, sizes[1:], strict=False):
        assert (f"The log of {one} entries is the beginning of the log of {other} entries." in verified) == (
            one in shown
        )


def map_notes(sizes):
    return [note(size) for size in sizes]


def test_a_rewritten_log_is_found_by_its_entries():
    verification = found(Bundle(REWRITTEN, [note(3), note(16)]))
    assert not verification.holds
    assert sentences(verification, ClaimOutcome.FAILED) == [
        "The first 16 entries given are not those of the checkpoint of that size."
    ]
    assert "The first 3 entries given are all of the log of that size." in sentences(
        verification, ClaimOutcome.VERIFIED
    )


def test_a_rewritten_log_has_no_consistency_proof():
    verification = found(Bundle(checkpoints=[note(9), note(23, entries=REWRITTEN)], proofs=[consistency(9, 23)]))
    assert not verification.holds
    (sentence,) = sentences(verification, ClaimOutcome.FAILED)
    assert sentence.startswith("The consistency proof from 9 to 23 entries does not hold")
    assert any("is not shown" in each for each in sentences(verification, ClaimOutcome.NOT_VERIFIED))


def test_two_roots_of_one_size_are_a_fork():
    verification = found(Bundle(checkpoints=[note(9)], receipts=[receipt(4, 9, entries=REWRITTEN)]))
    assert not verification.holds
    assert sentences(verification, ClaimOutcome.FAILED) == [
        "2 roots are signed for the log of 9 entries: keep them, they are proof of a fork."
    ]


def test_a_fork_is_found_whatever_else_holds():
    verification = found(Bundle(ENTRIES, [note(9), note(16), note(16, entries=REWRITTEN), note(23)]))
    assert not verification.holds
    assert len(sentences(verification, ClaimOutcome.FAILED)) == 2  # the fork, and that the entries are of one side only


def test_entries_beyond_every_checkpoint_are_left_open():
    verification = found(Bundle(ENTRIES, [note(22)]))
    assert verification.holds
    message = "Of 23 entries given, the first 22 are under a checkpoint: the others may change."
    assert message in sentences(verification, ClaimOutcome.NOT_VERIFIED)


def test_without_a_checkpoint_nothing_holds():
    for bundle in (Bundle(), Bundle(ENTRIES)):
        verification = found(bundle)
        assert not verification.holds
        assert sentences(verification, ClaimOutcome.VERIFIED) == []


def test_signatures_of_others_do_not_count():
    bundle = Bundle(ENTRIES, [note(23)], [receipt(4, 9)])
    for keys, origin in (
        ((), ORIGIN),
        ((SECOND.public,), ORIGIN),
        ((OTHERS.public,), ORIGIN),
        ((FIRST.public,), "other"),
    ):
        verification = found(bundle, keys=keys, origin=origin)
        assert not verification.holds
        assert len(sentences(verification, ClaimOutcome.FAILED)) == 2
        assert sentences(verification, ClaimOutcome.VERIFIED) == []


def test_keys_that_follow_each_other_sign_one_log():
    bundle = Bundle(ENTRIES, [note(9), note(23, key=SECOND)], [receipt(4, 16, key=SECOND)])
    assert found(bundle, keys=(FIRST.public, SECOND.public)).holds
    assert not found(bundle).holds


def test_the_empty_log_is_the_beginning_of_all():
    verification = found(Bundle(checkpoints=[note(0), note(9)], proofs=[consistency(0, 9)]))
    assert verification.holds
    assert "The log of 0 entries is the beginning of the log of 9 entries." in sentences(
        verification, ClaimOutcome.VERIFIED
    )


def test_a_proof_without_its_checkpoints_is_left_open():
    verification = found(Bundle(checkpoints=[note(9)], proofs=[consistency(9, 23)]))
    assert verification.holds
    message = "No checkpoints belong to the consistency proof from 9 to 23 entries."
    assert message in sentences(verification, ClaimOutcome.NOT_VERIFIED)


def test_charges_are_played_again_where_somebody_can():
    bundle = Bundle(ENTRIES, [note(23)])

    def good(entries):
        assert tuple(entries) == ENTRIES
        return ["The charges of 23 entries were computed again."]

    def bad(entries):
        raise InvalidInput.at("/charge", "is too small")

    verification = found(bundle, replay=good)
    assert verification.holds
    assert verification.findings[-1].sentence == "The charges of 23 entries were computed again."
    assert UNCHARGED not in sentences(verification, ClaimOutcome.NOT_VERIFIED)
    verification = found(bundle, replay=bad)
    assert not verification.holds
    assert sentences(verification, ClaimOutcome.FAILED) == [
        "The entries do not follow from each other: /charge: is too small."
    ]
    assert UNCHARGED in sentences(found(Bundle(checkpoints=[note(23)]), replay=good), ClaimOutcome.NOT_VERIFIED)


def test_a_program_fault_of_the_replay_is_not_a_finding():
    def broken(entries):
        return [entries["no such thing"]]

    with pytest.raises(TypeError):
        found(Bundle(ENTRIES, [note(23)]), replay=broken)


def test_no_changed_value_of_a_bundle_is_verified_as_before():
    bundle = Bundle(ENTRIES[:5], [note(5)], [receipt(1, 3)], [consistency(3, 5)])
    text = bundle.to_bytes()
    assert found(bundle).holds
    for place in range(len(text)):
        changed = text[:place] + bytes([text[place] ^ 0x01]) + text[place + 1 :]
        try:
            other = Bundle.of_bytes(changed)
        except Malformed:
            continue
        verification = verify(other, origin=ORIGIN, keys=[FIRST.public])
        homeless = [
            each for each in sentences(verification, ClaimOutcome.NOT_VERIFIED) if each.startswith("No checkpoints")
        ]
        assert not verification.holds or homeless, changed[place - 20 : place + 20]  # the sizes of a proof


def test_an_entry_more_less_or_elsewhere_is_found():
    good = list(ENTRIES[:9])
    swapped = [*good[:3], good[4], good[3], *good[5:]]
    for entries in (swapped, [*good[:3], *good[4:], ENTRIES[9]], [good[0], *good[:8]]):
        assert not found(Bundle(entries, [note(9)])).holds
    missing = sentences(found(Bundle(good[:8], [note(9)])), ClaimOutcome.NOT_VERIFIED)
    assert "A checkpoint has 9 entries, of which 8 are given: the others are unknown." in missing


@pytest.mark.parametrize(
    "change",
    [
        {"format": "epsilond-log-bundle-2"}, {"format": None}, {"keys": []}, {"entries": {}}, {"entries": [1]}, {"checkpoints": [1]},
        {"checkpoints": "note"}, {"receipts": ["receipt"]}, {"receipts": [{}]}, {"proofs": [{}]}, {"proofs": [1]}, {"proofs": None},
    ],
)  # fmt: skip
def test_what_is_no_bundle_is_refused(change):
    record = json.loads(Bundle(ENTRIES, [note(23)]).to_bytes())
    with pytest.raises(Malformed):
        Bundle.of_bytes(json.dumps(record | change).encode())


def test_lists_that_are_absent_are_empty():
    assert Bundle.of_bytes(b'{"format":"epsilond-log-bundle-1"}') == Bundle()
