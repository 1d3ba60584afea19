"""The making of a report from a checked request."""

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
from epsilond.witness.reports.record import Broken, open_page, record, seal_page


def read_date(text: str | None) -> str | None:
    """Check the date of a report, and return it in the form YYYY-MM-DD.

    No clock is read: the date of a report is the caller's.

    Args:
        text: the date in a form of ISO 8601, or None.

    Returns:
        The date; None if there is none.

    Raises:
        InvalidInput: the text is not a date.
    """
    if text is None:
        return None
    try:
        date = dt.date.fromisoformat(text)
    except ValueError:
        raise InvalidInput.at("/date", "is not a date", allowed="YYYY-MM-DD") from None
    return date.isoformat()


def make(
    subject: ReportSubject,
    problem: object,
    request: Mapping[str, object],
    date: str | None = None,
    *,
    run: Mapping[str, object] | None = None,
) -> str:
    """Make the report on a problem: one page of HTML that needs no other file.

    With the same engine, the same arguments give the same page.

    Args:
        subject: the calibrator or the accountant that answers the problem.
        problem: the problem as an object, made from the request.
        request: the request as the JSON object that was sent; the page repeats it.
        date: the caller's date, YYYY-MM-DD; None for a page without a date.
        run: status and evidence of the run that the report is about; None if there is none.

    Returns:
        The page as HTML. It contains its data, and hashes of the data and of the visible page.

    Raises:
        InvalidInput: the date is not a date, or a report cannot contain the request.
        NoCertificate: no guarantee can be certified for the problem.
    """
    checked_date = read_date(date)
    reported = subject.answer_problem(problem)
    data = record(
        subject.kind,
        subject.name,
        date=checked_date,
        request=request_json(request),
        answer=reported.answer,
        profile=reported.profile,
        engine_version=str(reported.answer["engine_version"]),
        run=run,
    )
    sealed = seal_page(data, page.render)

    # A page that its own reader rejects is never returned.
    try:
        open_page(sealed)
    except Broken as error:
        raise InvalidInput.at("/request", f"cannot be carried by a report: {error}") from None
    return sealed


def request_json(value: Any) -> Any:
    """Convert a request to the JSON value that would be posted.

    A report contains this value, so that its reader can ask the same question again.

    Args:
        value: a request, or a part of it: a dataclass, a mapping, a sequence, a number or a text.

    Returns:
        Objects for dataclasses and mappings, without members that are None; lists for lists and tuples; Python numbers
        for those of numpy; integers for whole doubles of at least `LARGEST_EXACT`.
    """
    if is_dataclass(value):
        members = ((field.name, getattr(value, field.name)) for field in fields(value))
        return {name: request_json(item) for name, item in members if item is not None}
    if isinstance(value, Mapping):
        return {str(name): request_json(item) for name, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [request_json(item) for item in value]
    if isinstance(value, np.generic):
        return request_json(value.item())

    # A whole double beyond 2^53 has more digits than its shortest text. As an integer it is written with all of them.
    is_large_integer = isinstance(value, float) and abs(value) >= LARGEST_EXACT and value.is_integer()
    if is_large_integer:
        return int(value)
    return value
