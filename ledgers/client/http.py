"""Answers of a service of ledgers: a document or a text, or else the error of the library that its problem names."""

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
    found.slug: found
    for found in vars(errors).values()
    if isinstance(found, type) and issubclass(found, NoCertificate) and found is not NoCertificate
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
        accept: the media types that are wanted.

    Raises:
        InvalidInput, NoCertificate: as the service's problem says.
        Refused: the service refuses otherwise.
        Unanswered: nothing came back in several tries; the same key sent again tells what became of it.
    """
    headers = {"Accept": accept}
    headers |= {} if key is None else {"Idempotency-Key": key}
    data = None
    if body is not None:
        headers["Content-Type"] = "application/json"
        data = json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
    try:
        return service.send(method, path, _read, data=data, headers=headers)
    except ServiceProblem as error:
        _refuse(error)
    except NoAnswer as error:
        raise Unanswered(str(error)) from None


def _read(answer: ServiceAnswer) -> object:
    """Return a text as it is, and a document as its value; an empty answer is an empty document."""
    if answer.media_type.startswith("text/"):
        return answer.content.decode()
    return json.loads(answer.content) if answer.content else {}


def _refuse(error: ServiceProblem) -> NoReturn:
    """Raise what a problem says, in the library's own words where it has some."""
    problem = error.problem
    slug = str(problem.get("type", "")).rpartition("/")[2]
    said = str(problem.get("detail") or problem.get("title") or f"{error.status} {error.reason}")
    if slug == RunDiffers.slug:
        raise RunDiffers(said, _observations(problem.get("observations"))) from None
    if slug in _REFUSALS:
        failing = _condition(problem.get("condition"))
        raise _REFUSALS[slug](said, failing, dict(problem.get("nearest") or {})) from None
    faults = [
        Fault(str(each.get("pointer") or each.get("parameter") or ""), str(each["message"]), each.get("allowed"))
        for each in problem.get("errors", ())
        if isinstance(each, Mapping) and "message" in each
    ]
    if faults:
        raise InvalidInput(*faults) from None
    if error.status >= 500 or error.status == 429:
        raise Unanswered(f"the service cannot answer now: {said}") from None
    raise Refused(said) from None


def _condition(told: object) -> ConditionResult | None:
    """Return the failed condition that a problem names. A side that is no number is left out."""
    if not isinstance(told, Mapping) or not {"id", "statement"} <= told.keys():
        return None
    left, right = (told.get(side) for side in ("left", "right"))
    return ConditionResult(str(told["id"]), str(told["statement"]), Verdict.NO, _side(left), _side(right))


def _observations(listed: object) -> tuple[Observation, ...]:
    """Return the observations of a problem; none if one of them cannot be read."""
    try:
        return observations_of({"observations": listed or ()})
    except (InvalidInput, TypeError):
        return ()


def _side(told: object) -> float | None:
    return float(told) if isinstance(told, int | float) and not isinstance(told, bool) else None
