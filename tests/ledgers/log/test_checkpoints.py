"""Checkpoints, beside the one of the specification."""

import pytest

from epsilond.ledgers.log import checkpoints, notes
from epsilond.ledgers.log.checkpoints import Checkpoint
from epsilond.ledgers.log.errors import Malformed, NotVerified
from epsilond.ledgers.log.tree import EMPTY_ROOT, MemoryNodes, Tree
from tests.ledgers.log.keys import FIRST, ORIGIN, OTHERS, SECOND
from tests.ledgers.log.trees import leaves, mth

SPECIFIED = (  # the checkpoint that c2sp.org/tlog-checkpoint shows; its key is not published
    "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n"
    "— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n"
)
ROOT = "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I="
HEAD = Checkpoint(ORIGIN, 70, mth(leaves(70)))


def test_the_specifications_checkpoint_is_read():
    checkpoint = checkpoints.parse(notes.parse(SPECIFIED).text)
    assert (checkpoint.origin, checkpoint.size) == ("example.com/behind-the-sofa", 20852163)
    assert checkpoint.root.hex() == "0ac5186a91863e8e1d90c808014aa89bf5da8e3ee1d9f07630f0378f68f1ab62"
    assert checkpoint.text + "\n" == SPECIFIED[: SPECIFIED.index("— ")]


def test_a_trees_head_is_signed_and_verified():
    tree = Tree(MemoryNodes()).extend(leaves(70))
    head = checkpoints.of_tree(tree, ORIGIN)
    assert head == HEAD
    note = checkpoints.sign(head, FIRST)
    assert checkpoints.sign(head, FIRST) == note
    assert checkpoints.verify(note, ORIGIN, [FIRST.public, OTHERS.public]) == HEAD
    assert checkpoints.of_tree(Tree(MemoryNodes()), ORIGIN) == Checkpoint(ORIGIN, 0, EMPTY_ROOT)


def test_either_key_will_do_while_they_follow_each_other():
    both = checkpoints.sign(HEAD, FIRST, SECOND)
    for key in (FIRST, SECOND):
        assert checkpoints.verify(both, ORIGIN, [key.public]) == HEAD


def test_another_logs_checkpoint_is_refused():
    theirs = checkpoints.sign(Checkpoint(OTHERS.name, 70, HEAD.root), OTHERS)
    under_our_name = checkpoints.sign(HEAD, OTHERS)  # they sign ours: a cosignature, which alone is not enough
    ours_for_theirs = checkpoints.sign(Checkpoint(OTHERS.name, 70, HEAD.root), FIRST)
    for note in (theirs, under_our_name, ours_for_theirs):
        with pytest.raises(NotVerified):
            checkpoints.verify(note, ORIGIN, [FIRST.public, OTHERS.public])
    with pytest.raises(NotVerified, match="is of the log other"):
        checkpoints.verify(ours_for_theirs, ORIGIN, [FIRST.public])


def test_no_changed_byte_passes():
    whole = checkpoints.sign(HEAD, FIRST).encode()
    for place in range(len(whole)):
        changed = whole[:place] + bytes([whole[place] ^ 0x01]) + whole[place + 1 :]
        with pytest.raises((NotVerified, UnicodeDecodeError)):
            checkpoints.verify(changed.decode(), ORIGIN, [FIRST.public])


def test_extension_lines_are_kept():
    extended = Checkpoint(ORIGIN, 70, HEAD.root, ("first", "second one"))
    assert checkpoints.verify(checkpoints.sign(extended, FIRST), ORIGIN, [FIRST.public]) == extended


@pytest.mark.parametrize(
    "text",
    [
        "", "\n", "o\n", "o\n1\n", f"o\n1\n{ROOT}", f"\n1\n{ROOT}\n", f"o\n01\n{ROOT}\n", f"o\n-1\n{ROOT}\n", f"o\n+1\n{ROOT}\n",
        f"o\n1 \n{ROOT}\n", f"o\n١\n{ROOT}\n", f"o\n1.0\n{ROOT}\n", f"o\n\n{ROOT}\n", f"o\n{'9' * 20}\n{ROOT}\n",
        f"o\n1\n{ROOT[:-1]}\n", "o\n1\nAAAA\n", f"o\n1\n{ROOT[:-2]}J=\n", f"o\n1\n{ROOT}\n\n", f"o\n1\n{ROOT}\nx", f"o\n1\n{ROOT}\nx\n\ny\n", f"o\n0\n{ROOT}\n",
    ],
)  # fmt: skip
def test_what_is_no_checkpoint_is_refused(text):
    assert checkpoints.parse(f"o\n1\n{ROOT}\n").size == 1
    with pytest.raises(Malformed):
        checkpoints.parse(text)
