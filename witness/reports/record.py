"""The data of a report, how they are sealed into the page, and how a page is opened again.

The record is one JSON object. Its `page` is the SHA-256 of the visible page, which excludes data and hash. Its `hash`
is the SHA-256 of the canonical text of all other members. An accidental change of a figure, the date or a word is
therefore detected. A hash is not a signature: an attacker can compute both anew. `epsilond.verify` detects
that, because the page is a function of its record, and the answer a function of its request.
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
"""Name of the format of the data."""
Kind = Literal["calibration", "account"]
CONTRADICTED = "contradicted-run"
"""Kind of a page about a run that an observation contradicts: it has reasons and no ε."""
MEMBERS = frozenset(
    ("format", "kind", "name", "date", "request", "answer", "profile", "engine_version", "page", "hash")
)
"""Names of the members of the data that every report has."""
OPTIONAL_MEMBERS = frozenset(("run",))
"""Status and evidence of the run that an account or a calibration is about."""
OPENING, CLOSING = '<script type="application/json" id="report">', "</script>"
"""Element of the page that holds the data: its tags."""
NO_HASH = "0" * 64
"""Text in place of the hash on the page whose SHA-256 is sealed."""
LARGEST_PAGE = 8_000_000
"""Most characters of a page; the longest answers need a tenth of them."""
_ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


class Broken(EpsilondError):
    """A page that is not a report, or no longer the report that was made. The message names the fault."""


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
    """Collect the data of a report as JSON values, before hashes are added to them (`seal_page`).

    Args:
        kind: kind of the report, "calibration" or "account".
        name: name of the subject of the report, such as an algorithm.
        date: the date that the caller states; None if there is none.
        request: the request in JSON form.
        answer: the answer in JSON form.
        profile: points of the privacy profile (δ as a function of ε) in JSON form.
        engine_version: version of the library that computed the answer.
        run: status and evidence of the run that the report is about; None if there is no such run.

    Returns:
        The data. The date is an empty text if there is none, and the member `run` is absent if it is None.
    """
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


def seal_page(unsealed: JsonObject, render: Callable[[JsonObject, str], str]) -> str:
    """Render a page with its data and with two hashes, by which a change of the page or of the data can be noticed.

    The page is first rendered with `NO_HASH` in place of the hash. The SHA-256 of that page becomes a part of the data,
    and the SHA-256 of the data is the hash that the final page shows.

    Args:
        unsealed: data of the report, without `page` and `hash`.
        render: function that returns the visible page for the data and a hash, with an empty element for the data.

    Returns:
        The page in HTML, with the sealed data.
    """
    # Render the data as they will be parsed from the page, so that rendering them again gives the same page.
    reread: dict[str, object] = json.loads(canonical(unsealed))
    page_hash = digest(render(reread, NO_HASH))

    # The hash of the data covers the hash of the page.
    with_page_hash = {**reread, "page": page_hash}
    seal = digest(canonical(with_page_hash))
    sealed_text = canonical({**with_page_hash, "hash": seal}).translate(_ESCAPES)
    return render(reread, seal).replace(OPENING + CLOSING, OPENING + sealed_text + CLOSING, 1)


def open_page(page: str) -> JsonRecord:
    """Check that the data and the visible text of a page were sealed together, and return the data.

    Scripts of the page are not run. Only its data are parsed, and their size is limited.

    Args:
        page: the page in HTML, which need not be trusted.

    Returns:
        The data of the report, including its hash.

    Raises:
        Broken: the page has no such data, the data do not match their hash, or the visible page was altered.
    """
    if len(page) > LARGEST_PAGE:
        raise Broken(f"the page is longer than {LARGEST_PAGE} characters")
    if page.count(OPENING) != 1:
        raise Broken("the page holds no report, or several; a part may be missing")
    _, _, after_opening = page.partition(OPENING)
    text, closing, _ = after_opening.partition(CLOSING)
    if not closing:
        raise Broken("the page ends within its data")

    # Check the data against their own hash.
    data = _parse(text)
    seal = data["hash"]
    if canonical(data).translate(_ESCAPES) != text:
        raise Broken("the data are not in their canonical form")
    data_without_hash = {name: item for name, item in data.items() if name != "hash"}
    if digest(canonical(data_without_hash)) != seal:
        raise Broken("the data do not fit their hash: a figure, the request or the date was altered")

    # The hash of the page was computed with the placeholder `NO_HASH`, which the page itself must not show.
    visible_text = visible(page)
    page_with_placeholder = visible_text.replace(seal, NO_HASH)
    if NO_HASH in visible_text or digest(page_with_placeholder) != data["page"]:
        raise Broken("the visible page was altered: it is not the page that was sealed with the data")
    return data


def demand_one_engine(data: JsonObject) -> None:
    """Check that a report and its answer name the same engine version, and that it has the form of a version.

    Otherwise the page could show an arbitrary text in its place.

    Args:
        data: the data of the report.

    Raises:
        Broken: the two versions differ, or are not in the form of a version.
    """
    if data["answer"].get("engine_version") != data["engine_version"]:
        raise Broken("the data name two engines, one for the report and one for its answer")
    if not re.fullmatch("[0-9A-Za-z.+-]{1,40}", data["engine_version"]):
        raise Broken("the engine's version is none")


def visible(page: str) -> str:
    """Return the page of a report (HTML) without its embedded data, of which only an empty element remains."""
    before, opening, after_opening = page.partition(OPENING)
    _, closing, after = after_opening.partition(CLOSING)
    return before + opening + closing + after


def without_data(page: str) -> str:
    """Return the page of a report without its data and without the element that holds them."""
    return visible(page).replace(OPENING + CLOSING, "", 1)


_TYPES: Mapping[str, type] = {"request": dict, "answer": dict, "profile": list, "run": dict}


def _parse(text: str) -> JsonRecord:
    """Parse the data of a report, and check the names and types of their members, but not the hash.

    Args:
        text: the JSON text in the page, which need not be trusted.

    Returns:
        The data of the report.

    Raises:
        Broken: the data are not JSON or have another form.
    """
    try:
        data = strict_json.parse(text.encode("utf-8", "surrogatepass"))
        if not isinstance(data, dict) or data.keys() - OPTIONAL_MEMBERS != MEMBERS:
            raise Broken("the data do not describe a report")
        canonical(data)  # raises for data that have no canonical form
    except (strict_json.MalformedJson, InvalidInput, ValueError):
        raise Broken("the data are not JSON, nested too deeply, or hold numbers beyond every double") from None

    # All members without an entry in `_TYPES` are texts.
    have_types = all(isinstance(item, _TYPES.get(name, str)) for name, item in data.items())
    if not have_types:
        raise Broken("the data do not describe a report")
    if data["format"] != FORMAT:
        raise Broken(f"the data are of another format than {FORMAT}")
    if not re.fullmatch("[0-9a-f]{64}", data["hash"]):
        raise Broken("the hash is none")
    return data
