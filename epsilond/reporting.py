"""Reports to sign, and whether today's engine agrees with one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from accountants import ENGINE_VERSION
from accountants.errors import InvalidInput, NoCertificate
from epsilond.reading import read
from witness.reports.compare import agreement
from witness.reports.make import make
from witness.reports.page import render
from witness.reports.questions import question
from witness.reports.record import LARGEST_PAGE, Broken, Kind, opened, visible

Outcome = Literal["exactly", "within-the-certificate", "contradicts", "refused", "broken"]
AGREES: frozenset[Outcome] = frozenset(("exactly", "within-the-certificate"))


@dataclass(frozen=True, kw_only=True)
class Verification:
    """What came of a report.

    `exactly`: today's engine answers the same. `within-the-certificate`: its enclosures and the report's meet, and its
    parameters are the report's to what a search may stop at. `contradicts`: they differ at `differences`, JSON
    pointers into the data. `refused`: it gives no answer to the request. `broken`: the page is not as it was made.
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

    @property
    def agrees(self) -> bool:
        """Whether the page is whole and today's engine confirms it."""
        return self.outcome in AGREES


def report(kind: Kind, algorithm: str | None = None, /, *, request: Mapping[str, Any], date: str | None = None) -> str:
    """A calibration or an account as one page of HTML, to be read, printed and signed.

    `request` is what `calibrate` takes, or the body of an account. `date` (YYYY-MM-DD) is the caller's; no clock is
    read. The same arguments give the same page, by the same engine. The page carries its data and needs no other file.

    Example:
        >>> import epsilond
        >>> asked = {"epsilon": 1.0, "delta": 1e-6, "solve_for": "noise_multiplier", "relation": "replace-one"}
        >>> page = epsilond.report("calibration", "gaussian", request=asked, date="2026-01-31")
        >>> epsilond.verify(page).outcome
        'exactly'

    Raises:
        InvalidInput: no such algorithm, a date that is none, or a request that no run can have.
        NoCertificate: nothing can be certified.
    """
    asked = question(kind, algorithm)
    return make(asked, read(asked.problem, request), request, date)


def verify(page: str) -> Verification:
    """Whether a report is as it was made, and whether today's engine gives its answer again.

    Nothing in the page is run. Its data are read, checked against its hash and against the visible page, and the
    request in them is answered anew.

    Example:
        >>> import epsilond
        >>> epsilond.verify("<html></html>").outcome
        'broken'
    """
    try:
        found = opened(page)
        return _confirmed(found, page)
    except Broken as error:
        return Verification(outcome="broken", reason=str(error))


def read_page(path: Path) -> str:
    """The text of a report's file; what is no text at all is read as an empty page.

    Raises:
        InvalidInput: the file cannot be read, or is too large to be a report.
    """
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_PAGE + 1)
    except OSError as error:
        raise InvalidInput.at("/report", f"cannot be read: {error.strerror}") from None
    if len(data) > LARGEST_PAGE:
        raise InvalidInput.at("/report", "is too large to be a report", allowed=f"at most {LARGEST_PAGE} bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return ""


def _confirmed(found: Mapping[str, Any], page: str) -> Verification:
    """The outcome for a whole page.

    Raises:
        Broken: the page shows something else than its data say.
    """
    known = {
        "hash": found["hash"],
        "kind": found["kind"],
        "name": found["name"],
        "date": found["date"] or None,
        "report_engine": found["engine_version"],
    }
    try:
        asked = question(found["kind"], found["name"])
        problem: Any = read(asked.problem, found["request"])
        answered = asked.answered(problem)
    except InvalidInput as error:
        return Verification(outcome="refused", reason=f"the request cannot be: {error}", **known)
    except NoCertificate as error:
        return Verification(outcome="refused", reason=f"not certified ({error.slug}): {error.message}", **known)
    computed = {"answer": answered.answer, "profile": answered.profile, "engine_version": ENGINE_VERSION}
    outcome, differences = agreement(found, computed)
    if (
        outcome != "contradicts"
        and found["engine_version"] == ENGINE_VERSION
        and visible(page) != render(found, found["hash"])
    ):
        raise Broken("the visible page was altered: it is not the page of its data")
    return Verification(outcome=outcome, reason=_REASONS[outcome], differences=differences, **known)


_REASONS: Mapping[str, str] = {
    "exactly": "today's engine gives the same answer, to the last digit",
    "within-the-certificate": "today's engine gives other digits; its enclosures and those of the report meet",
    "contradicts": "today's engine gives another answer",
}
