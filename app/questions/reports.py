"""POST /v1/reports: a calibration or an account as a page to sign."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from operator import getitem
from typing import Annotated, Any, Literal

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.quantities import Quantity, request
from epsilond.app.questions.question import Question
from epsilond.app.questions.validation import Validator
from epsilond.app.workers.work import Answered
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.strict_json import parse
from epsilond.witness.reports.make import dated, make
from epsilond.witness.reports.questions import question

Algorithm: Any = getitem(Literal, tuple(each.name for each in CALIBRATORS))


@request
class ReportRequest:
    """What the report is to be about."""

    kind: Annotated[Literal["calibration", "account"], Quantity(description="which service's answer it reports")]
    algorithm: Annotated[Algorithm | None, Quantity(description="of a calibration; an account has none")] = None
    request: Annotated[
        Mapping[str, Any],
        Quantity(description="the body that /v1/calibrations/{algorithm} or /v1/accounts would be sent"),
    ]
    date: Annotated[str | None, Quantity(description="the date to stand on it, YYYY-MM-DD; absent: none")] = None


VALIDATED = Validator(ReportRequest)


def read_report(body: bytes) -> Question:
    """The report that a body asks for.

    Raises:
        Malformed: it is not JSON.
        InvalidInput: it asks for no report, or about what cannot be asked; pointers lead into the body.
    """
    asked = VALIDATED(parse(body))
    dated(asked.date)
    about = question(asked.kind, asked.algorithm)
    try:
        problem = _inner(about.problem)(asked.request)
    except InvalidInput as error:
        raise InvalidInput(*(Fault(f"/request{it.pointer}", it.message, it.allowed) for it in error.faults)) from None
    computation = partial(report, asked.kind, asked.algorithm, problem, asked.request, asked.date)
    name = asked.algorithm or asked.kind
    return Question.of("report", name, (asked, problem), computation, media_type="text/html")


def report(kind: str, algorithm: str | None, problem: Any, request: Mapping[str, Any], date: str | None) -> Answered:
    """A report, as the page it is."""
    return Answered(make(question(kind, algorithm), problem, request, date).encode())


@cache
def _inner(problem: type) -> Validator:
    return Validator(problem)
