"""Answers about the log of ledgers and its parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from epsilond.accountants.json_types import JsonObject
from epsilond.accountants.quantities import Quantity, request
from epsilond.calibrators.answer import Caution, Served


@dataclass(frozen=True, kw_only=True)
class EntryList:
    """Entries of a ledger, in the requested order."""

    entries: Annotated[
        tuple[JsonObject, ...],
        Served("entries as they were signed; the commit of a contradicted run also has `contradicted`"),
    ]
    next: Annotated[str | None, Served("position of the next page; absent on the last page")] = None
    warnings: Annotated[tuple[Caution, ...] | None, Served("warnings; absent if there are none")] = None


@dataclass(frozen=True, kw_only=True)
class CheckpointAnswer:
    """The log's head."""

    origin: Annotated[str, Served("the name of the log, which its keys carry too")]
    size: Annotated[int, Served("number of entries of the log")]
    root: Annotated[str, Served("root hash of the log's Merkle tree (RFC 9162), in base 64")]
    checkpoint: Annotated[str, Served("the three as a signed note (C2SP tlog-checkpoint)")]
    warnings: Annotated[tuple[Caution, ...] | None, Served("warnings; absent if there are none")] = None


@dataclass(frozen=True, kw_only=True)
class LogProof:
    """Proof that an entry is in the log, or that an earlier log is the beginning of a later one.

    The first, a receipt, has `entry`, `proof`, `checkpoint` and `signature`. The second has `first`, `second` and
    `consistency_path`.
    """

    entry: Annotated[JsonObject | None, Served("the requested entry")] = None
    proof: Annotated[JsonObject | None, Served("leaf_index, tree_size and inclusion_path")] = None
    checkpoint: Annotated[str | None, Served("the log's head as a signed note")] = None
    signature: Annotated[str | None, Served("over the three others: a detached JSON Web Signature")] = None
    first: Annotated[int | None, Served("entries of the earlier log")] = None
    second: Annotated[int | None, Served("entries of the later log")] = None
    consistency_path: Annotated[tuple[str, ...] | None, Served("hashes in base 64")] = None
    warnings: Annotated[tuple[Caution, ...] | None, Served("warnings; absent if there are none")] = None


@dataclass(frozen=True, kw_only=True)
class KeyList:
    """Every key that the signatures of this service are verified with, oldest first."""

    keys: Annotated[tuple[JsonObject, ...], Served("JSON Web Keys, each with name, note_key, from and until")]


@request
class ReconcileAsked:
    """Declaration of an operator who accepts a log that lacks entries."""

    declared: Annotated[
        Literal["missing-entries-are-accounted-for"],
        Quantity(description="nothing was committed that the log lacks, or its ledgers will be closed"),
    ]
