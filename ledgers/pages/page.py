"""Signed pages of a ledger's report, and their verification with trusted keys.

The page holds the report's record as data, in its canonical form, and shows the signature. The signature covers that
record, with the digest of the page as its subject: of all its bytes, with a placeholder instead of the signature. So no
part of the page can be altered, for every version that wrote it, and no other page can have its signature.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Final

from epsilond.accountants.errors import Observation
from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.accountants.quantities.risks import RISK_FIELDS
from epsilond.extras import extra
from epsilond.ledgers.book.reports import FORMAT, TYPE
from epsilond.ledgers.log import checkpoints, jws
from epsilond.ledgers.log.canonical import Record, canonical, digest, read_json
from epsilond.ledgers.log.errors import Malformed
from epsilond.ledgers.log.keys import PublicKey, SigningKey
from epsilond.ledgers.pages.bars import WIDTH, bars
from epsilond.witness.reports import numbers
from epsilond.witness.reports.profile import Drawing, drawing

if TYPE_CHECKING:
    from jinja2 import Template

OPENING: Final = '<script type="application/json" id="ledger-report">'
CLOSING: Final = "</script>"
BEFORE: Final = '<code class="hash" id="signature">'
AFTER: Final = "</code>"
UNSIGNED: Final = "<signature/>"
"""Placeholder of the signature while the page is signed. No text of a report can contain it, because texts are escaped.
"""
LONGEST: Final = 8_000_000
"""Largest number of characters of a page."""
_ESCAPES: Final = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def page(report: Record, key: SigningKey) -> str:
    """Return a ledger's report as a signed page of HTML. Equal reports and keys give equal pages.

    The signature covers the report and the digest of the page, in which a placeholder replaces the signature.

    Args:
        report: the report, as `book.reports.report` returns it.
        key: key of the ledger's log, which signs the page.

    Returns:
        The HTML text, with the report and the signature in it.
    """
    unsigned = _render(report, key.public)
    signature = jws.sign(report, digest(unsigned.encode()), key, kind=TYPE)
    return unsigned.replace(UNSIGNED, signature)


def open_page(text: str, keys: Iterable[PublicKey]) -> tuple[JsonRecord, PublicKey]:
    """Verify a signed page of a ledger, and return its report and the key that signed it.

    The signature covers every byte of the page. The checkpoint in the report, that is, the signed size and Merkle root
    of the log, is verified too.

    Args:
        text: HTML of the page.
        keys: trusted keys of the log.

    Returns:
        The report, and the key that signed the page.

    Raises:
        Malformed: the text is not a page of a ledger.
        NotVerified: no trusted key signed the page and its checkpoint, or one of them was changed afterwards.
    """
    trusted = tuple(keys)
    report, signature = _read_data(text)
    has_one_signature = text.count(signature) == 1 and UNSIGNED not in text
    if report.get("format") != FORMAT or not has_one_signature:
        raise Malformed("is not a page of a ledger")
    # The signature covers the page as it was before the signature was inserted.
    unsigned = text.replace(signature, UNSIGNED)
    page_digest = digest(unsigned.encode("utf-8", "surrogatepass"))
    key = jws.verify(report, page_digest, signature, trusted, kind=TYPE)
    checkpoints.verify(str(report.get("checkpoint")), key.name, trusted)
    return report, key


def is_page(text: str) -> bool:
    """Return whether a text looks like the page of a ledger's report: HTML with the element for the report's data."""
    return text.lstrip().startswith("<!DOCTYPE html>") and OPENING in text


def checkpoint_of(text: str) -> str:
    """Return the checkpoint (signed size and Merkle root of the log) in a page, without verifying it.

    Args:
        text: HTML of the page.

    Returns:
        The text of the checkpoint, a signed note.

    Raises:
        Malformed: the text is not a page of a ledger.
    """
    report, _ = _read_data(text)
    return str(report.get("checkpoint"))


def _read_data(text: str) -> tuple[JsonRecord, str]:
    """Extract the report and the signature from the text of a page, without verifying them.

    Args:
        text: HTML of the page.

    Returns:
        The report, and the text of the signature.

    Raises:
        Malformed: the page is longer than `LONGEST`, lacks a part, or its data are not in canonical form.
    """
    if len(text) > LONGEST or text.count(OPENING) != 1 or text.count(BEFORE) != 1:
        raise Malformed("is not a page of a ledger, or a part of it is missing")
    _, _, from_data = text.partition(OPENING)
    data, closing, _ = from_data.partition(CLOSING)
    _, _, from_signature = text.partition(BEFORE)
    signature, after, _ = from_signature.partition(AFTER)
    if not closing or not after or not signature:
        raise Malformed("the page ends within its data")
    record = read_json(data.encode("utf-8", "surrogatepass"))
    # Any other form of the same data is rejected, so that a signed report has only one form.
    if canonical(record).decode().translate(_ESCAPES) != data:
        raise Malformed("the data of the page are not in their canonical form")
    return record, signature


def _render(report: Record, key: PublicKey) -> str:
    """Return the HTML of a report, with a placeholder for the signature.

    The report is in the page twice: as tables and drawings for people, and as JSON for programs.

    Args:
        report: report of a ledger.
        key: public part of the key that will sign the page, for display.
    """
    ledger: JsonObject = report["ledger"]
    target = ledger["target"]
    head_lines, _, _ = report["checkpoint"].partition("\n\n")  # the signatures follow the empty line
    visible = _template().render(
        report=report,
        ledger=ledger,
        observations=[Observation(**item) for item in ledger["observations"]],
        bars=bars(ledger),
        width=WIDTH,
        band=_draw_curve(ledger),
        delta=numbers.delta(float(target["log10_delta"])),
        risk=[(name, target[name]) for name in RISK_FIELDS if name in target],
        key=key,
        checkpoint=checkpoints.parse(f"{head_lines}\n"),
        unsigned=UNSIGNED,
    )

    # The escapes replace "<", ">" and "&", so that no text in the data can end its HTML element.
    data = canonical(report).decode().translate(_ESCAPES)
    return visible.replace(OPENING + CLOSING, OPENING + data + CLOSING, 1)


def _draw_curve(ledger: JsonObject) -> Drawing | None:
    """Draw the privacy curve of a ledger's planned runs, with the ledger's target as a mark.

    Args:
        ledger: JSON object of the ledger, as the service returns it.

    Returns:
        The drawing. None if fewer than two points are finite.
    """
    points: list[JsonObject] = []
    for point in ledger["curve"]:
        log10_delta = float(point["log10_delta"])
        bounds = {"lower": log10_delta, "upper": log10_delta}  # equal bounds, because only upper bounds are known
        points.append({"epsilon": float(point["epsilon"]), "log10_delta": bounds})
    points.sort(key=lambda point: point["epsilon"])
    target = float(ledger["target"]["epsilon"]), float(ledger["target"]["log10_delta"])
    return drawing(points, target)


@cache
def _template() -> Template:
    """Load the template of a page, once in a process.

    It escapes values, so that a text such as the name of a ledger cannot add elements to the page.

    Raises:
        MissingExtra: the packages of the extra `reports` are not installed.
    """
    with extra("reports", "a report"):
        from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined  # noqa: PLC0415  an extra's

    own_templates = PackageLoader("epsilond.ledgers.pages", "templates")
    shared_templates = PackageLoader("epsilond.witness.reports", "templates")
    environment = Environment(
        loader=ChoiceLoader([own_templates, shared_templates]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("ledger.html")
