"""Contradictions of a ledger: entries of the log with observations, and the commits that they concern."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated

from epsilond.accountants.errors import Observation
from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.calibrators.answer import Caution, Served
from epsilond.ledgers.store.records import LedgerRow


@dataclass(frozen=True, kw_only=True)
class ObservationAnswer:
    """An observation that contradicts the record of a run."""

    premise: Annotated[str, Served("id of the condition of the guarantee that does not hold")]
    message: Annotated[str, Served("what was observed, in words")]
    remedy: Annotated[str, Served("change to the program, or declaration, that would make the condition hold")]
    count: Annotated[int, Served("number of times that it was observed; 0 if the number is not disclosed")]

    @classmethod
    def of(cls, observation: Observation) -> ObservationAnswer:
        """Convert a stored observation, which contradicts the record of a run, to the form of the service's answers."""
        return cls(**asdict(observation))


def cautions(contradicted: Sequence[str]) -> tuple[Caution, ...]:
    """Return a warning if a run was observed to differ from the mechanism that its reservation paid for.

    Args:
        contradicted: ids of the ledgers with such observations.

    Returns:
        One warning that names the ledgers; empty if there are none.
    """
    if not contradicted:
        return ()
    message = f"The run differs from its record, so there is no ε. Observations: ledger {', '.join(contradicted)}."
    return (Caution(code="run-differs", message=message),)


def contradictions_of(row: LedgerRow) -> list[JsonRecord]:
    """Return the log entries by which a run of a ledger differed from its mechanism, in the order of the log.

    Args:
        row: database row of the ledger, with the canonical JSON texts of these entries.

    Returns:
        The entries as JSON objects.
    """
    return [json.loads(leaf) for leaf in row.contradictions]


def is_contradicted(reservation: str, committed: int, contradictions: Iterable[JsonObject]) -> bool:
    """Return whether a run that a reservation paid for was observed to differ from the reserved mechanism.

    The guarantee of the ledger does not cover such a run.

    Args:
        reservation: id of the reservation.
        committed: number of its committed runs.
        contradictions: entries with such observations. An entry that names no reservations concerns all reservations
            with committed runs.

    Returns:
        True if such an observation concerns the reservation.
    """
    for entry in contradictions:
        names_reservations = "reservations" in entry
        if names_reservations and reservation in entry["reservations"]:
            return True
        if not names_reservations and committed > 0:
            return True
    return False


def mark_commit(record: Mapping[str, object], contradictions: Iterable[Mapping[str, object]]) -> JsonRecord:
    """Copy a log entry, and mark the copy if the entry is a commit of runs that differed from their mechanism.

    Args:
        record: the entry as it was signed.
        contradictions: log entries of the same ledger with observations of such a difference.

    Returns:
        The copy. A commit that an observation concerns has the further member `contradicted` with the value True.
    """
    if record.get("kind") != "committed":
        return dict(record)
    reservation = str(record.get("reservation"))
    if not is_contradicted(reservation, committed=1, contradictions=contradictions):
        return dict(record)
    return {**record, "contradicted": True}
