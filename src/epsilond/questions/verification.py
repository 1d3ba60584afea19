"""Outcome of the verification of a report."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from epsilond.accountants import ENGINE_VERSION
from epsilond.accountants.json_types import JsonObject

Outcome = Literal[
    "exactly", "within-the-certificate", "another-engine", "not-confirmed", "contradicts", "refused", "broken", "signed"
]
AGREES: frozenset[Outcome] = frozenset(("exactly", "within-the-certificate"))
"""Outcomes that confirm a report."""


@dataclass(frozen=True, kw_only=True)
class Verification:
    """Outcome of the verification of a report.

    Outcomes:
      * `exactly`: the present engine gives the same answer to the last digit, and writes the same page byte for byte.
      * `within-the-certificate`: the same page, and every figure is within the tolerance of witness/reports/compare.py,
        as on another processor, where the last digits of logarithms and sums differ.
      * `another-engine`: the report names another version. The present engine confirms its figures and writes the same
        page from its data, but cannot check that this version gave them: read `recomputed` instead.
      * `not-confirmed`: of another version, and at `differences` the report claims more than the present engine proves.
      * `contradicts`: the figures differ at `differences`, JSON pointers into the data.
      * `refused`: the request has no answer.
      * `broken`: the page was altered after it was made or signed, or only its own version can check it.
      * `signed`: a trusted key signed it, and nothing was computed anew: an answer without its request, or the page of
        a ledger.

    `recomputed` is the present engine's answer to the request of the report (parameters, guarantee, points, claim and
    meaning), and `headline` the same in words. `declared_conditions` are those that only the caller can vouch for. The
    date and the author of the report are not checked: a hash is no signature. `signed_by` is the name and id of the key
    of a valid signature. `explained_otherwise` points to parts with other words or steps than the present engine's.
    """

    outcome: Outcome
    reason: str
    hash: str | None = None
    kind: str | None = None
    name: str | None = None
    date: str | None = None
    report_engine: str | None = None
    engine_version: str = ENGINE_VERSION
    differences: tuple[str, ...] = ()
    explained_otherwise: tuple[str, ...] = ()
    headline: tuple[str, ...] = ()
    recomputed: JsonObject = field(default_factory=dict)
    declared_conditions: tuple[str, ...] = ()
    signed_by: str | None = None

    @property
    def agrees(self) -> bool:
        """True if the page is complete, of the present engine, and confirmed by it."""
        return self.outcome in AGREES
