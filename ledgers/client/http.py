"""Requests to a service over urllib, sent again under the same key when they are lost; problems become errors."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NoReturn
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from epsilond.accountants import errors
from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.errors import Fault, InvalidInput, NoCertificate, Observation, RunDiffers
from epsilond.accountants.json_types import JsonObject
from epsilond.accountants.ledger.entries import observations_of
from epsilond.accountants.verdict import Verdict
from epsilond.ledgers.client.errors import Refused, Unanswered

TRIES: Final = 5
"""How often a request is sent that is put off or lost: with its idempotency key it is the same request."""
LONGEST_PAUSE: Final = 60
"""Seconds; what is put off for longer is told at once."""
FIRST_PAUSE: Final = 0.2
LONGEST_ANSWER: Final = 64 << 20
_REFUSALS: Final[Mapping[str, type[NoCertificate]]] = {
    found.slug: found
    for found in vars(errors).values()
    if isinstance(found, type) and issubclass(found, NoCertificate) and found is not NoCertificate
}


class _Stays(HTTPRedirectHandler):
    """A key is for one host, and a debit for one service: whoever sends us elsewhere is not followed."""

    def redirect_request(self, *_: object) -> None:
        """Never: the redirect is then an error like others."""


_OPENER = build_opener(_Stays)


@dataclass(frozen=True)
class Connection:
    """Where a service is, and the key it is asked with."""

    url: str
    key: str | None = field(default=None, repr=False)
    timeout: float = 60.0

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        key: str | None = None,
        accept: str = "application/json, text/plain",
    ) -> object:
        """What the service answers: a document, or a text where that is what it is.

        Raises:
            InvalidInput, NoCertificate: as the service's problem says.
            Refused: it refuses otherwise.
            Unanswered: nothing came back in several tries; the same key asked again tells what became of it.
        """
        headers = {"Accept": accept}
        headers |= {} if self.key is None else {"Authorization": f"Bearer {self.key}"}
        headers |= {} if key is None else {"Idempotency-Key": key}
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
        asked = Request(f"{self.url}{path}", data=data, method=method, headers=headers)  # noqa: S310  looked at before
        for tried, pause in enumerate(_pauses(), start=1):
            try:
                with _OPENER.open(asked, timeout=self.timeout) as response:
                    text = response.read(LONGEST_ANSWER)
                    plain = response.headers.get_content_type().startswith("text/")
                    return text.decode() if plain else json.loads(text) if text else {}
            except HTTPError as error:
                wait = _put_off(error, pause)
                if wait is None or tried == TRIES:
                    _refuse(error)
                time.sleep(wait)
            except (URLError, OSError, ValueError) as error:
                if tried == TRIES:
                    reason = getattr(error, "reason", error)
                    raise Unanswered(f"the service at {self.url} does not answer: {reason}") from None
                time.sleep(pause)
        raise AssertionError  # the last try answers or raises


def _pauses() -> Iterator[float]:
    for tried in range(TRIES):
        yield FIRST_PAUSE * 2.0**tried * (1.0 + random.random())  # noqa: S311  no secret


def _put_off(error: HTTPError, pause: float) -> float | None:
    """After how many seconds it may be asked again; None if that would not help."""
    if error.code not in (429, 502, 503, 504):
        return None
    told = error.headers.get("Retry-After", "")
    if told.isdecimal():
        return float(told) + pause if int(told) <= LONGEST_PAUSE else None
    return pause


def _refuse(error: HTTPError) -> NoReturn:
    """Raise what a problem says, in the library's own words where it has some."""
    try:
        found = json.loads(error.read(LONGEST_ANSWER))
    except (ValueError, OSError):
        found = None
    problem: JsonObject = found if isinstance(found, dict) else {}
    slug = str(problem.get("type", "")).rpartition("/")[2]
    said = str(problem.get("detail") or problem.get("title") or f"{error.code} {error.reason}")
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
    if error.code >= 500 or error.code == 429:
        raise Unanswered(f"the service cannot answer now: {said}") from None
    raise Refused(said) from None


def _condition(told: object) -> ConditionResult | None:
    """The condition that fails, as a problem tells it; a side that is no number is left out."""
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
