"""POST /v1/reports: a calibration or an account as a page to sign."""

from __future__ import annotations

from functools import partial
from operator import getitem
from typing import Annotated, Any, Literal

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.json_types import JsonObject
from epsilond.accountants.quantities import Quantity, request
from epsilond.app.questions.question import Posted, Question
from epsilond.app.workers.work import RenderedAnswer
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.account_examples import EXAMPLES
from epsilond.calibrators.strict_json import parse
from epsilond.reading import read_body
from epsilond.witness.reports.make import make, read_date
from epsilond.witness.reports.questions import question

Algorithm: Any = getitem(Literal, tuple(calibrator.name for calibrator in CALIBRATORS))


@request
class ReportRequest:
    """The question whose answer is reported, and the date of the report."""

    kind: Annotated[
        Literal["calibration", "account"],
        Quantity(description="kind of the answer that is reported: a calibration or an account"),
    ]
    algorithm: Annotated[
        Algorithm | None, Quantity(description="algorithm of the calibration; absent for an account")
    ] = None
    request: Annotated[
        JsonObject,
        Quantity(
            description="body of the request to /v1/calibrations/{algorithm} or /v1/accounts whose answer is reported"
        ),
    ]
    date: Annotated[str | None, Quantity(description="date printed on the report, YYYY-MM-DD; absent: no date")] = None


def read_report(body: bytes) -> Question:
    """Read a request for a report, a page about the answer to another request, which is a member of the body.

    Args:
        body: the JSON text of the request.

    Returns:
        The question. Its answer is an HTML page.

    Raises:
        MalformedJson: the body is not JSON.
        InvalidInput: the body is not a request for a report, or the reported question is invalid. Pointers are those of
            the body.
    """
    request_body = read_body(ReportRequest, parse(body))
    read_date(request_body.date)
    reported = question(request_body.kind, request_body.algorithm)
    try:
        problem = read_body(reported.problem, request_body.request)
    except InvalidInput as error:
        # The reported question is a member of the body, so its pointers need a prefix.
        faults = [Fault(f"/request{fault.pointer}", fault.message, fault.allowed) for fault in error.faults]
        raise InvalidInput(*faults) from None
    computation = partial(
        report, request_body.kind, request_body.algorithm, problem, request_body.request, request_body.date
    )
    name = request_body.algorithm or request_body.kind
    return Question.of("report", name, (request_body, problem), computation, media_type="text/html")


def report(kind: str, algorithm: str | None, problem: object, request: JsonObject, date: str | None) -> RenderedAnswer:
    """Compute the answer to a question, and return a report about it as an HTML page.

    Args:
        kind: kind of the question, "calibration" or "account".
        algorithm: name of the algorithm of a calibration; None for an account.
        problem: the parsed question.
        request: the question as JSON, which the page shows.
        date: date on the report, YYYY-MM-DD; None for a report without a date.

    Returns:
        The page in UTF-8, in the form in which workers return answers.
    """
    return RenderedAnswer(make(question(kind, algorithm), problem, request, date).encode())


REPORT = Posted(
    kind="report",
    path="/v1/reports",
    problem=ReportRequest,
    read=read_report,
    title="A calibration or an account as a page to sign",
    description=(
        "Return one page of HTML that needs no other file. `epsilond verify` checks it and computes its answer again."
    ),
    returns="The page, with its data and their hash in it",
    examples={
        "calibration": {
            "summary": CALIBRATORS[0].title,
            "value": {
                "kind": "calibration",
                "algorithm": CALIBRATORS[0].name,
                "date": "2026-01-31",
                "request": dict(CALIBRATORS[0].example),
            },
        },
        "account": {
            "summary": "What a run guarantees",
            "value": {"kind": "account", "date": "2026-01-31", "request": dict(next(iter(EXAMPLES.values())))},
        },
    },
    tag="reports",
    media_type="text/html",
)
