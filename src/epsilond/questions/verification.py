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
      * `within-the-certificate`: the same page, and every figure is within the tolerance of witness/reports/compare.py.
        This allows for another processor, on which the last digits of logarithms and sums differ.
      * `another-engine`: the report names another version. The present engine confirms its figures and writes the same
        page from its data, but cannot check that this version gave them: read `recomputed` instead.
      * `not-confirmed`: of another version, and at `differences` the report claims more than the present engine proves.
      * `contradicts`: the figures differ at `differences`, JSON pointers into the data.
      * `refused`: the request has no answer.
      * `broken`: the page was altered after it was made or signed, or only its own version can check it.
      * `signed`: a trusted key signed it, and nothing was computed anew: an answer without its request, or the page of
        a ledger.

    The present engine is this version of the library. The date and the author of a report without a signature are not
    checked: a hash is not a signature.

    Attributes:
        outcome: one of the outcomes above.
        reason: the reason of the outcome in words.
        hash: hash of the report's data.
        kind: kind of the answer, such as `calibration` or `account`.
        name: name of the algorithm; `account` for an account.
        date: date of the report.
        report_engine: version of the engine that made the report.
        engine_version: version of the present engine.
        differences: JSON pointers to the figures that differ.
        explained_otherwise: JSON pointers to parts that another version put into other words or other proof steps.
        headline: the present engine's answer in words.
        recomputed: the present engine's answer: parameters, guarantee, points, claim and meaning.
        declared_conditions: conditions of the guarantee for which only the caller can vouch.
        signed_by: name and id of the key of a valid signature.
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
        """True if the present engine made the report and confirms it: an outcome in `AGREES`."""
        return self.outcome in AGREES
