"""Theorems on the unit of a budget: blocks of a data set, windows of time, several analysts, individual balances."""

from __future__ import annotations

from epsilond.accountants.theorem import Condition, Erratum, Grade, Source, Status, Theorem
from epsilond.ledgers.mathematics.theorems.moves import ONLY_RELEASES

_TESTS = "tests/ledgers/mathematics/theorems/test_blocks.py"
SEALED = Condition("sealed", "a block's members are fixed before the first mechanism that reads it starts")
BLOCK_OF_IDENTITY = Condition(
    "block-of-identity",
    "a unit lies in one block, by attributes that neighbours share and no output decides; a replacement stays in its "
    "block",
)
NO_OTHER_READING = Condition(
    "debited-where-read",
    "nothing of a mechanism, not n, a rate B/n, a number of steps nor a failure, comes from a block it does not debit",
)

BLOCKS = Theorem(
    id="epsilond.ledger-blocks",
    title="One budget for each block",
    statement=(
        "A mechanism debits the accounts of all blocks that it reads, or of none. The guarantee for a unit is then "
        "that of its block's account. That of the data set is the largest of them"
    ),
    source=Source("epsilond", "docs/ledger.md, Blocks"),
    status=Status.PROVED,
    conditions=(SEALED, BLOCK_OF_IDENTITY, NO_OTHER_READING, ONLY_RELEASES),
)
OPEN_BLOCKS = Theorem(
    id="epsilond.open-blocks",
    title="One budget for each block, with members that come later: false",
    statement=(
        "The same without SEALED: members may come, chosen by outputs, while mechanisms run. FALSE where some δ > 0: "
        "k running mechanisms that are (0, δ)-private each can be (0, 1 − (1 − δ)^k) for the last member"
    ),
    source=Source("epsilond", "docs/ledger.md, Blocks; also arXiv 2411.03299"),
    status=Status.REFUTED,
    conditions=(BLOCK_OF_IDENTITY, NO_OTHER_READING, ONLY_RELEASES),
    errata=(
        Erratum(
            "L-7",
            grade=Grade.PROVED_WRONG,
            printed="the guarantee is the largest of the blocks'",
            truth="with k blocks of (0, δ) the record has 1 − (1 − δ)^k, by joining the block whose flag is up",
            test=f"{_TESTS}::test_a_record_that_joins_where_the_flag_is_up_is_told",
        ),
    ),
)
WINDOWS = Theorem(
    id="epsilond.ledger-windows",
    title="Budgets for each window of time",
    statement=(
        "The unit is (user, window), with a block for each window. A window has its block's guarantee. A user has "
        "that of the product over all windows that hold its data"
    ),
    source=Source("epsilond", "docs/ledger.md, Windows of time"),
    status=Status.PROVED,
    conditions=(SEALED, BLOCK_OF_IDENTITY, NO_OTHER_READING, ONLY_RELEASES),
)
SHARES = Theorem(
    id="epsilond.ledger-shares",
    title="Several analysts share one budget",
    statement=(
        "Against analysts who may talk to one another the account's guarantee holds for any quotas of each; a quota "
        "alone is not a guarantee"
    ),
    source=Source("epsilond", "docs/ledger.md, Several analysts"),
    status=Status.PROVED,
    conditions=(ONLY_RELEASES,),
)
INDIVIDUAL_BUDGETS = Theorem(
    id="epsilond.individual-budgets-shown",
    title="Balances of single persons, shown: false",
    statement=(
        "A budget for each person is debited by the cost of a mechanism to that person's own data. Analysts may see "
        "it and its refusals at no cost. FALSE: balances and refusals are then functions of the data without noise. "
        "The filter that drops a person holds if neither dropped persons nor balances are visible"
    ),
    source=Source("feldman2021filter", "the individual filter, read as a balance that is shown"),
    status=Status.REFUTED,
    errata=(
        Erratum(
            "L-3",
            grade=Grade.PROVED_WRONG,
            printed="individual balances may be shown",
            truth="after one noisy sum the balances of a record of 1 and of 0 differ: δ(ε) = 1 at every ε",
            test=f"{_TESTS}::test_balances_of_single_records_tell_the_records",
        ),
    ),
)

THEOREMS: tuple[Theorem, ...] = (BLOCKS, OPEN_BLOCKS, WINDOWS, SHARES, INDIVIDUAL_BUDGETS)
