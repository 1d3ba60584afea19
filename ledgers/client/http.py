"""Requests to a service of ledgers: they return a document or a text, or raise the library's error for its problem."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final, NoReturn

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
        service: the service.
        method: the HTTP method.
        path: the path and the query.
        body: the JSON body, if any.
        key: the idempotency key, if any.
        accept: the accepted media types.

    Raises:
        InvalidInput, NoCertificate: as the service's problem says.
        Refused: the service refuses for another reason.
        Unanswered: no answer came in several tries. The same key sent again shows whether the request was carried out.
    """
    headers = {"Accept": accept}
    headers |= {} if key is None else {"Idempotency-Key": key}
    data = None
    if body is not None:
        headers["Content-Type"] = "application/json"
        data = json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
    try:
        return service.send(method, path, _parse, data=data, headers=headers)
    except ServiceProblem as error:
        _refuse(error)
    except NoAnswer as error:
        raise Unanswered(str(error)) from None


def _parse(answer: ServiceAnswer) -> object:
    """Return a text as it is, and a document as its value; an empty answer is an empty document."""
    if answer.media_type.startswith("text/"):
        return answer.content.decode()
    return json.loads(answer.content) if answer.content else {}


def _refuse(error: ServiceProblem) -> NoReturn:
    """Raise the library's error for a problem, or Refused if it has none."""
    problem = error.problem
    slug = str(problem.get("type", "")).rpartition("/")[2]
    message = str(problem.get("detail") or problem.get("title") or f"{error.status} {error.reason}")
    if slug == RunDiffers.slug:
        raise RunDiffers(message, _observations(problem.get("observations"))) from None
    if slug in _REFUSALS:
        failing = _condition(problem.get("condition"))
        raise _REFUSALS[slug](message, failing, dict(problem.get("nearest") or {})) from None
    faults = [
        Fault(str(fault.get("pointer") or fault.get("parameter") or ""), str(fault["message"]), fault.get("allowed"))
        for fault in problem.get("errors", ())
        if isinstance(fault, Mapping) and "message" in fault
    ]
    if faults:
        raise InvalidInput(*faults) from None
    if error.status >= 500 or error.status == 429:
        raise Unanswered(f"the service cannot answer now: {message}") from None
    raise Refused(message) from None


def _condition(condition: object) -> ConditionResult | None:
    """Return the failed condition that a problem names. A side that is not a number is left out."""
    if not isinstance(condition, Mapping) or not {"id", "statement"} <= condition.keys():
        return None
    left, right = (condition.get(side) for side in ("left", "right"))
    return ConditionResult(str(condition["id"]), str(condition["statement"]), Verdict.NO, _side(left), _side(right))


def _observations(records: object) -> tuple[Observation, ...]:
    """Return the observations of a problem; none if one of them cannot be read."""
    try:
        return observations_of({"observations": records or ()})
    except (InvalidInput, TypeError):
        return ()


def _side(side: object) -> float | None:
    """Return one side of a condition, or None if it is not a number."""
    return float(side) if isinstance(side, int | float) and not isinstance(side, bool) else None
