"""Replay of a log's entries: all charges are computed again, and balances in a file are compared with the result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from epsilond.accountants.errors import EpsilondError
from epsilond.accountants.json_types import JsonObject
from epsilond.ledgers.client.local import FilePlace
from epsilond.ledgers.log.canonical import Record
from epsilond.ledgers.log.findings import ClaimOutcome, LogVerification
from epsilond.ledgers.mathematics.amounts import format_amounts
from epsilond.ledgers.mathematics.replay import DoesNotReplay, balances, replay_entries
from epsilond.ledgers.mathematics.state import LedgerState
from epsilond.ledgers.store.names import normalise
from epsilond.ledgers.store.specs import spec_of, text_of


def replay(entries: Iterable[Record]) -> Iterator[str]:
    """Check the log entries of each ledger by computing all privacy costs again.

    An entry records a change of a ledger, with the cost that was charged. The check needs no trust in the service.

    Args:
        entries: entries of a log, in its order; they may be of several ledgers.

    Yields:
        A sentence for each valid ledger.

    Raises:
        DoesNotReplay: an entry is not a valid change of its ledger, or two ledgers cover the same block of a data set.
    """
    ledgers_by_block: dict[tuple[object, str], dict[str, str]] = {}
    for ledger, own_entries in by_ledger(entries).items():
        state = _replay_ledger(ledger, own_entries)
        _register_block(ledger, own_entries[0], ledgers_by_block)
        yield _describe_ledger(ledger, own_entries[0], state, len(own_entries))


def by_ledger(entries: Iterable[Record]) -> dict[str, list[Record]]:
    """Group log entries by their ledger.

    Args:
        entries: entries of a log, in its order. Entries without the id of a ledger are ignored.

    Returns:
        The entries of each ledger in their order, by the id of the ledger.
    """
    groups: dict[str, list[Record]] = {}
    for entry in entries:
        if isinstance(entry.get("ledger"), str):
            groups.setdefault(entry["ledger"], []).append(entry)
    return groups


def compare_balances(place: FilePlace, entries: Iterable[Record], verification: LogVerification) -> None:
    """Check whether the balances of each ledger in a file agree with those that the log's entries give.

    A difference means that the database was changed without the log.

    Args:
        place: the file of ledgers.
        entries: entries of the log.
        verification: collects the results, a sentence with its outcome for each ledger. A ledger with entries that are
            not valid changes is skipped, because `replay` reports it.
    """
    for ledger, own_entries in by_ledger(entries).items():
        try:
            state = replay_entries(own_entries, spec_of, text_of)
        except EpsilondError:
            continue
        stored = place.ledger(ledger)
        agrees = _balances_agree(stored, state) and _statuses_agree(stored, state)
        outcome = ClaimOutcome.VERIFIED if agrees else ClaimOutcome.FAILED
        verb = "are" if agrees else "are not"
        message = f"The balances of ledger {stored['name']} in the file {verb} those that its entries give."
        verification.add(outcome, message)


def _replay_ledger(ledger: str, own_entries: Sequence[Record]) -> LedgerState:
    """Rebuild the state of a ledger from all its log entries, with all privacy costs computed again.

    Each entry must be a valid change of the state that the entries before it give.

    Args:
        ledger: id of the ledger, for errors.
        own_entries: all log entries of the ledger, from its opening.

    Returns:
        The state after the last entry.

    Raises:
        DoesNotReplay: an entry is not a valid change of the ledger. The message names the ledger.
    """
    try:
        return replay_entries(own_entries, spec_of, text_of)
    except DoesNotReplay as error:
        raise DoesNotReplay(f"ledger {ledger}: {error}") from error


def _register_block(ledger: str, opening: Record, ledgers_by_block: dict[tuple[object, str], dict[str, str]]) -> None:
    """Register the block of a data set that a ledger covers, and check that no earlier ledger covers a part of it.

    Two ledgers of the same records would each allow a full budget, so that no bound would hold for both together.

    Args:
        ledger: id of the ledger.
        opening: first entry of the ledger.
        ledgers_by_block: ids of the ledgers of earlier calls. The outer key is an owner with a data set, the inner key
            a block, where "" means the whole data set. This ledger is added.

    Raises:
        DoesNotReplay: an earlier ledger covers this block or a part of it.
    """
    owner_and_data_set = opening.get("tenant"), normalise(str(opening.get("dataset", "")))
    block = normalise(str(opening.get("block") or ""))
    earlier_ledgers = ledgers_by_block.setdefault(owner_and_data_set, {})
    for earlier_block, earlier_ledger in earlier_ledgers.items():
        # A ledger without a named block covers the whole data set.
        covers_whole_data_set = "" in (earlier_block, block)
        if earlier_block == block or covers_whole_data_set:
            raise DoesNotReplay(f"the block of {ledger} has another ledger, {earlier_ledger}")
    earlier_ledgers[block] = ledger


def _describe_ledger(ledger: str, opening: Record, state: LedgerState, count: int) -> str:
    """Describe the result of checking a ledger's log entries in a few sentences.

    They give the target of the ledger, which its runs cannot exceed: (ε, δ), and also a risk if the target was set as
    one. A contradicted ledger, with a run that differed from its mechanism, has no guarantee.

    Args:
        ledger: id of the ledger.
        opening: first entry of the ledger.
        state: state after all entries.
        count: number of entries.

    Returns:
        The text.
    """
    ledger_name = opening.get("name", ledger)
    computed = (
        f"Ledger {ledger_name} ({ledger}): its opening and the charges of all its {count} entries were computed again"
        " and suffice"
    )
    if state.observations:
        return f"{computed}. It is contradicted, so no ε holds for the releases."

    condition = " It is conditional on the declarations." if state.conditional else ""
    bound = f"within ε = {state.target.epsilon:g} at log δ = {state.target.log_delta:.6g}"
    risk = state.target.risk
    if risk is not None:
        members = ", ".join(f"{member} = {value:g}" for member, value in risk.members.items())
        bound = f"within {members}, and so {bound}"
    return f"{computed}; all that it allows is {bound}.{condition}"


def _statuses_agree(stored: JsonObject, state: LedgerState) -> bool:
    """Return whether a ledger in a file agrees with its log on whether it is contradicted and needs approvals.

    Args:
        stored: the ledger in the file, a JSON object.
        state: state that the ledger's log entries give.
    """
    stored_is_contradicted = stored["state"] == "contradicted"
    is_contradicted = state.status == "contradicted"
    return stored_is_contradicted == is_contradicted and bool(stored["approval"] == state.approval)


def _balances_agree(stored: JsonObject, state: LedgerState) -> bool:
    """Return whether a ledger in a file has exactly the amounts and the numbers of runs that its log entries give.

    Args:
        stored: the ledger in the file, a JSON object.
        state: state that the ledger's log entries give.
    """
    expected = balances(state)
    plan_agrees = _stored_plan_balances(stored) == expected["plan"]
    return plan_agrees and _slot_balances_agree(stored["slots"], expected["slots"])


def _stored_plan_balances(stored: JsonObject) -> dict[str, JsonObject]:
    """Return the numbers of runs of each item of a stored ledger's plan, by the name of the item.

    Args:
        stored: a ledger in a file, a JSON object.

    Returns:
        For each item, the numbers of reserved runs, of committed runs, and of runs that were paid for and given back
        (credit).
    """
    columns = ("reserved", "committed", "credit")
    return {item["name"]: {column: item[column] for column in columns} for item in stored["plan"]}


def _slot_balances_agree(stored_slots: Sequence[JsonObject], expected: Mapping[str, JsonObject]) -> bool:
    """Return whether the slots of a ledger in a file have exactly the amounts that its log entries give.

    A slot is a budget for runs that are not planned. It counts amounts of several parts, such as `mu_squared`.

    Args:
        stored_slots: the slots in the file, each with its `kind`, and with `used` and `reserved` amounts by part.
        expected: `used` and `reserved` amounts by part, for each kind of slot. An absent part has the amount 0.
    """
    if {slot["kind"] for slot in stored_slots} != expected.keys():
        return False
    for slot in stored_slots:
        expected_of_slot = expected[slot["kind"]]
        for column in ("used", "reserved"):
            zeros = dict.fromkeys(slot[column], "0")
            expected_amounts = zeros | format_amounts(expected_of_slot[column])
            if slot[column] != expected_amounts:
                return False
    return True
