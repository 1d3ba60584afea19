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
        Served(
            "entries of the log as they were signed. An entry for a commit of a contradicted run has in "
            "addition the member contradicted"
        ),
    ]
    next: Annotated[str | None, Served("position at which the next page starts; absent on the last page")] = None
    warnings: Annotated[tuple[Caution, ...] | None, Served("warnings; absent if there are none")] = None


@dataclass(frozen=True, kw_only=True)
class CheckpointAnswer:
    """The signed head of the log: its present size and root hash."""

    origin: Annotated[str, Served("name of the log; the names of its keys contain it")]
    size: Annotated[int, Served("number of entries of the log")]
    root: Annotated[str, Served("root hash of the log's Merkle tree (RFC 9162), in base 64")]
    checkpoint: Annotated[str, Served("origin, size and root as a signed note (C2SP tlog-checkpoint)")]
    warnings: Annotated[tuple[Caution, ...] | None, Served("warnings; absent if there are none")] = None


@dataclass(frozen=True, kw_only=True)
class LogProof:
    """Proof that an entry is in the log, or that an earlier log is the beginning of a later one.

    The first, a receipt, has `entry`, `proof`, `checkpoint` and `signature`. The second has `first`, `second` and
    `consistency_path`.
    """

    entry: Annotated[JsonObject | None, Served("requested entry of the log; absent in a proof for two logs")] = None
    proof: Annotated[
        JsonObject | None,
        Served(
            "proof that the log contains the entry: leaf_index, tree_size and inclusion_path; absent in a "
            "proof for two logs"
        ),
    ] = None
    checkpoint: Annotated[
        str | None, Served("signed head of the log as a note (C2SP tlog-checkpoint); absent in a proof for two logs")
    ] = None
    signature: Annotated[
        str | None,
        Served(
            "signature of entry, proof and checkpoint: a detached JSON Web Signature; absent in a proof for two logs"
        ),
    ] = None
    first: Annotated[int | None, Served("number of entries of the earlier log; absent in a proof for an entry")] = None
    second: Annotated[int | None, Served("number of entries of the later log; absent in a proof for an entry")] = None
    consistency_path: Annotated[
        tuple[str, ...] | None,
        Served(
            "hashes that prove that the later log continues the earlier one, in base 64; absent in a proof for an entry"
        ),
    ] = None
    warnings: Annotated[tuple[Caution, ...] | None, Served("warnings; absent if there are none")] = None


@dataclass(frozen=True, kw_only=True)
class KeyList:
    """Every key that the signatures of this service are verified with, oldest first."""

    keys: Annotated[
        tuple[JsonObject, ...],
        Served("public keys as JSON Web Keys, each also with the members name, note_key, from and until"),
    ]


@request
class ReconcileAsked:
    """Declaration of an operator who accepts a log that lacks entries."""

    declared: Annotated[
        Literal["missing-entries-are-accounted-for"],
        Quantity(
            description="declaration that no commit is missing in the log, or that the ledgers with missing commits "
            "will be closed"
        ),
    ]
