"""What a report carries as data, how that is sealed into the page, and how a page is opened again.

The record is one JSON object. Its `page` is the SHA-256 of the visible page (the page without data and hash), and its
`hash` that of the canonical text of every other member. So an accident to a figure, the date or a word of the page
shows. A hash is no signature: whoever alters a page on purpose computes both anew. What stands against that is that
the page is a function of its record, and the answer one of its request: `epsilond.verify` writes both again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Literal

from epsilond.accountants.errors import EpsilondError, InvalidInput
from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.calibrators import strict_json
from epsilond.witness.reports.canonical import canonical, digest

FORMAT = "epsilond-report-1"
Kind = Literal["calibration", "account"]
CONTRADICTED = "contradicted-run"
"""Kind of a page about a run that an observation contradicts: it has reasons and no ε."""
MEMBERS = frozenset(
    ("format", "kind", "name", "date", "request", "answer", "profile", "engine_version", "page", "hash")
)
OPTIONAL_MEMBERS = frozenset(("run",))
"""The run that an account or a calibration is about: its status and what supports it."""
OPENING, CLOSING = '<script type="application/json" id="report">', "</script>"
NO_HASH = "0" * 64
LARGEST_PAGE = 8_000_000
"""Bytes; the longest answers take a tenth of that."""
_ESCAPES = {ord(each): f"\\u{ord(each):04x}" for each in "<>&\u2028\u2029"}


class Broken(EpsilondError):
    """A page is no report, or no longer the report that was made. The message says what is broken."""


def record(
    kind: str,
    name: str,
    *,
    date: str | None,
    request: JsonObject,
    answer: JsonObject,
    profile: list[object],
    engine_version: str,
    run: JsonObject | None = None,
) -> JsonRecord:
    """Return the data of a report before it is sealed, as JSON values; `run` is absent where the report has no run."""
    return {
        **({} if run is None else {"run": dict(run)}),
        "format": FORMAT,
        "kind": kind,
        "name": name,
        "date": date or "",
        "request": dict(request),
        "answer": dict(answer),
        "profile": profile,
        "engine_version": engine_version,
    }


def sealed(unsealed: JsonObject, render: Callable[[JsonObject, str], str]) -> str:
    """The page with its data in it; `render(record, hash)` is the visible page, with an empty place for the data."""
    carried: dict[str, object] = json.loads(canonical(unsealed))  # what it will be when it is read again
    with_page = {**carried, "page": digest(render(carried, NO_HASH))}
    seal = digest(canonical(with_page))
    data = canonical({**with_page, "hash": seal}).translate(_ESCAPES)
    return render(carried, seal).replace(OPENING + CLOSING, OPENING + data + CLOSING, 1)


def opened(page: str) -> JsonRecord:
    """The record in a page whose data and visible text are those that were sealed together.

    Nothing of the page is run or believed beyond its data, and these are bounded.

    Raises:
        Broken: it holds no such data, or they do not fit their hash, or the visible page was altered.
    """
    if len(page) > LARGEST_PAGE:
        raise Broken(f"the page is longer than {LARGEST_PAGE} characters")
    if page.count(OPENING) != 1:
        raise Broken("the page holds no report, or several; a part may be missing")
    text, closing, _ = page.partition(OPENING)[2].partition(CLOSING)
    if not closing:
        raise Broken("the page ends within its data")
    found = _parsed(text)
    seal = found["hash"]
    if canonical(found).translate(_ESCAPES) != text:
        raise Broken("the data are not in their canonical form")
    if digest(canonical({name: item for name, item in found.items() if name != "hash"})) != seal:
        raise Broken("the data do not fit their hash: a figure, the request or the date was altered")
    shown = visible(page)
    if NO_HASH in shown or digest(shown.replace(seal, NO_HASH)) != found["page"]:
        raise Broken("the visible page was altered: it is not the page that was sealed with the data")
    return found


def demand_one_engine(found: JsonObject) -> None:
    """A record names one engine, in its own data and in its answer, and nothing but a version in that place.

    Raises:
        Broken: it names two, or something else; it would stand on the page as if it had been checked.
    """
    if found["answer"].get("engine_version") != found["engine_version"]:
        raise Broken("the data name two engines, one for the report and one for its answer")
    if not re.fullmatch("[0-9A-Za-z.+-]{1,40}", found["engine_version"]):
        raise Broken("the engine's version is none")


def visible(page: str) -> str:
    """The page without its data."""
    before, opening, rest = page.partition(OPENING)
    return before + opening + "".join(rest.partition(CLOSING)[1:])


def without_data(page: str) -> str:
    """The page without its data and without the element that holds them."""
    return visible(page).replace(OPENING + CLOSING, "", 1)


_TYPES: Mapping[str, type] = {"request": dict, "answer": dict, "profile": list, "run": dict}


def _parsed(text: str) -> JsonRecord:
    try:
        found = strict_json.parse(text.encode("utf-8", "surrogatepass"))
        if not isinstance(found, dict) or found.keys() - OPTIONAL_MEMBERS != MEMBERS:
            raise Broken("the data are not those of a report")
        canonical(found)
    except (strict_json.MalformedJson, InvalidInput, ValueError):
        raise Broken("the data are not JSON, nested too deeply, or hold numbers beyond every double") from None
    if not all(isinstance(item, _TYPES.get(name, str)) for name, item in found.items()):
        raise Broken("the data are not those of a report")
    if found["format"] != FORMAT:
        raise Broken(f"the data are of another format than {FORMAT}")
    if not re.fullmatch("[0-9a-f]{64}", found["hash"]):
        raise Broken("the hash is none")
    return found
