"""Requests to a service of ledgers: they return a document or a text, or raise the library's error for its problem."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import quote

from epsilond.accountants import errors
from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.errors import Fault, InvalidInput, NoCertificate, Observation, RunDiffers
from epsilond.accountants.verdict import Verdict
from epsilond.connection import Connection, NoAnswer, ServiceAnswer, ServiceProblem
from epsilond.ledgers.client.errors import Refused, Unanswered
from epsilond.ledgers.mathematics.entries import observations_of

_REFUSALS: Final[Mapping[str, type[NoCertificate]]] = {
    kind.slug: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, NoCertificate) and kind is not NoCertificate
}
"""Subclasses of NoCertificate by their slug, the last part of the `type` of a problem."""


def escape_id(identifier: str) -> str:
    """Escape all special characters of an identifier, slashes included, for use in the path of a URL."""
    return quote(identifier, safe="")


def require_no_name(by: str | None) -> None:
    """Reject a declared name of a person, because a service knows its callers by their API keys.

    Args:
        by: the declared name; None if there is none.

    Raises:
        InvalidInput: a name is declared.
    """
    if by is not None:
        raise InvalidInput.at("/by", "is for a file: on a service the key says who calls")


def ask(
    service: Connection,
    method: str,
    path: str,
    body: object = None,
    *,
    key: str | None = None,
    accept: str = "application/json, text/plain",
) -> object:
    """Send a request to a service, and return the document or the text of its answer.

    Args:
        service: connection to the service.
        method: the HTTP method.
        path: path and query of the request.
        body: value that is sent as JSON; None sends no body.
        key: idempotency key, with which the same request can be sent again without a second effect.
        accept: accepted media types.

    Returns:
        A string for a media type of text; otherwise the value of the JSON document. An empty answer gives {}.

    Raises:
        InvalidInput: the service found faults in the request.
        NoCertificate: the service raised this error, or a subclass of it.
        Refused: the service rejected the request for another reason.
        Unanswered: the service did not answer after several tries, or cannot answer now. Sending the same key again
            shows whether the request was carried out.
    """
    headers = {"Accept": accept}
    if key is not None:
        headers["Idempotency-Key"] = key
    data = None
    if body is not None:
        headers["Content-Type"] = "application/json"
        data = json.dumps(body, ensure_ascii=False, allow_nan=False).encode()

    try:
        return service.send(method, path, _parse, data=data, headers=headers)
    except ServiceProblem as problem:
        raise _error_of(problem) from None
    except NoAnswer as error:
        raise Unanswered(str(error)) from None


def _parse(answer: ServiceAnswer) -> object:
    """Return the content of an answer of the service.

    Args:
        answer: the answer, with its media type and bytes.

    Returns:
        A string for a media type of text; otherwise the value of the JSON document. Empty content gives {}.
    """
    if answer.media_type.startswith("text/"):
        return answer.content.decode()
    if not answer.content:
        return {}
    return json.loads(answer.content)


def _error_of(answer: ServiceProblem) -> Exception:
    """Convert an error answer of the service to the error that a file of ledgers would raise.

    Args:
        answer: status and body of the answer. The body is a problem document (RFC 9457).

    Returns:
        RunDiffers or another subclass of NoCertificate, if the problem's type names one.
        InvalidInput, if the problem lists faults of the request.
        Unanswered, if the service is at fault (status 5xx) or overloaded (429), so that a later try may succeed.
        Refused, in every other case.
    """
    problem = answer.problem
    message = str(problem.get("detail") or problem.get("title") or f"{answer.status} {answer.reason}")

    _, _, slug = str(problem.get("type", "")).rpartition("/")
    if slug == RunDiffers.slug:
        return RunDiffers(message, _observations(problem.get("observations")))
    if slug in _REFUSALS:
        error_class = _REFUSALS[slug]
        nearest = dict(problem.get("nearest") or {})
        return error_class(message, _condition(problem.get("condition")), nearest)

    faults = _faults(problem.get("errors", ()))
    if faults:
        return InvalidInput(*faults)
    if answer.status >= 500 or answer.status == 429:
        return Unanswered(f"the service cannot answer now: {message}")
    return Refused(message)


def _faults(records: Iterable[object]) -> list[Fault]:
    """Read the faults of a request from an error answer of the service.

    Args:
        records: the member `errors` of the problem. Each record has a `message`, and may have the location of the field
            and its `allowed` values. A record without a message is left out.

    Returns:
        The faults, each with the JSON Pointer of its field.
    """
    faults = []
    for record in records:
        if isinstance(record, Mapping) and "message" in record:
            location = record.get("pointer") or record.get("parameter") or ""
            faults.append(Fault(str(location), str(record["message"]), record.get("allowed")))
    return faults


def _condition(condition: object) -> ConditionResult | None:
    """Read from an error answer of the service the inequality that a request violates, such as cost ≤ remaining budget.

    Args:
        condition: the member `condition` of the problem: an id, a statement, and both sides of the inequality.

    Returns:
        The condition; None if the answer has none. A side that is not a number is None.
    """
    if not isinstance(condition, Mapping) or not {"id", "statement"} <= condition.keys():
        return None
    identifier = str(condition["id"])
    statement = str(condition["statement"])
    left = _number_or_none(condition.get("left"))
    right = _number_or_none(condition.get("right"))
    return ConditionResult(identifier, statement, Verdict.NO, left, right)


def _observations(records: object) -> tuple[Observation, ...]:
    """Read from an error answer of the service how a run was observed to differ from its mechanism.

    Args:
        records: the member `observations` of the problem; None if it has none.

    Returns:
        The observations; none if there are none or one of them cannot be read.
    """
    try:
        return observations_of({"observations": records or ()})
    except (InvalidInput, TypeError):
        return ()


def _number_or_none(value: object) -> float | None:
    """Return a value of a JSON document as a float; None if it is not a number (true and false are not)."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)
