"""From a checked request to a report."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.calibrators.answer import LARGEST_EXACT
from epsilond.witness.reports import page
from epsilond.witness.reports.questions import ReportSubject
from epsilond.witness.reports.record import Broken, opened, record, sealed


def dated(text: str | None) -> str | None:
    """A date as it stands in a report, YYYY-MM-DD.

    Raises:
        InvalidInput: it is no date.
    """
    try:
        return None if text is None else dt.date.fromisoformat(text).isoformat()
    except ValueError:
        raise InvalidInput.at("/date", "is not a date", allowed="YYYY-MM-DD") from None


def make(
    asked: ReportSubject,
    problem: object,
    request: Mapping[str, object],
    date: str | None = None,
    *,
    run: Mapping[str, object] | None = None,
) -> str:
    """Return the report on a problem as one page of HTML that needs no other file.

    The same arguments give the same page, by the same engine.

    Args:
        asked: the kind of the report.
        problem: the request after it was read.
        request: the request as it was given.
        date: the caller's date, YYYY-MM-DD.
        run: status and evidence of the run that the report is about.

    Raises:
        InvalidInput: the date is none.
        NoCertificate: nothing can be certified.
    """
    day = dated(date)
    found = asked.answered(problem)
    made = record(
        asked.kind,
        asked.name,
        date=day,
        request=plain(request),
        answer=found.answer,
        profile=found.profile,
        engine_version=str(found.answer["engine_version"]),
        run=run,
    )
    sealed_page = sealed(made, page.render)
    try:
        opened(sealed_page)
    except Broken as error:
        raise InvalidInput.at("/request", f"cannot be carried by a report: {error}") from None
    return sealed_page


def plain(value: Any) -> Any:
    """A request in its JSON form, as it would be posted: structures as objects, without what was left out."""
    if is_dataclass(value):
        named = ((field.name, getattr(value, field.name)) for field in fields(value))
        return {name: plain(item) for name, item in named if item is not None}
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    # A whole double beyond 2^53 is written with fewer digits than it has: as an integer it reads back the same.
    whole = isinstance(value, float) and abs(value) >= LARGEST_EXACT and value.is_integer()
    return int(value) if whole else value
