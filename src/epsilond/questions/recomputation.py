"""Verification of reports and signed answers by computing them again with the present engine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from epsilond.accountants import ENGINE_VERSION
from epsilond.accountants.errors import InvalidInput, NoCertificate
from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.extras import extra
from epsilond.questions.signed import NoSignature, digest_of
from epsilond.questions.verification import AGREES, Outcome, Verification
from epsilond.reading import read
from epsilond.witness.reports import words
from epsilond.witness.reports.canonical import canonical
from epsilond.witness.reports.compare import SAME_ENGINE, changed_explanations, compare_records
from epsilond.witness.reports.conditions import declared_conditions
from epsilond.witness.reports.inert import is_inert
from epsilond.witness.reports.make import read_date, request_json
from epsilond.witness.reports.page import render
from epsilond.witness.reports.questions import ReportedAnswer, question
from epsilond.witness.reports.record import CONTRADICTED, Broken, demand_one_engine, seal_page, without_data

REPORT: Final = "report"
"""Kind of a signed statement about a page."""
RECOMPUTED: Final = ("parameters", "guarantee", "points", "claim", "meaning")
"""Parts of an answer that are claims in numbers."""
PAGE_REASONS: Final[Mapping[Outcome, str]] = {
    "exactly": "today's engine gives the same answer, to the last digit, and writes the same page of it",
    "within-the-certificate": "today's engine gives other last digits, as another processor or mathematical library "
    f"does. Every figure is within {SAME_ENGINE:g} of the report's, relatively, δ by its logarithm. The page is the "
    "one of the report's",
    "another-engine": "another version of the engine made the report. This version writes the same page from its "
    "data, and the figures below confirm its figures. Read these, or verify it with that version",
    "not-confirmed": "another version of the engine made the report, and today's does not prove as much",
    "contradicts": "today's engine gives another answer",
}
"""Reasons of the outcomes for pages."""
ANSWER_REASONS: Final[Mapping[Outcome, str]] = {
    **PAGE_REASONS,
    "exactly": "today's engine gives the same answer to the request, to the last digit",
    "within-the-certificate": "today's engine gives other last digits, as another processor or mathematical library "
    f"does. Every figure is within {SAME_ENGINE:g} of the answer's, relatively, δ by its logarithm",
    "another-engine": "another version of the engine gave the answer; its figures are confirmed by those below",
}
"""Reasons of the outcomes for signed answers in JSON."""
SIGNED_ELSEWHERE: Final = (
    "another version of the engine made the report, and the key signed the page as it is. The figures below confirm "
    "the figures in its data, but not the displayed words"
)
"""Reason for a signed page of another engine version, of which the present engine writes a different page."""
ALTERED_PAGE: Final = "the visible page was altered: it is not the page of its data"
LEDGER_HINT: Final = "it is verified by `epsilond ledger verify`"
SIGNATURE_HINT: Final = (
    "verify checks a report's page, as `epsilond report` writes, or this file with --signature, --keys and --request"
)
REPORT_HINT: Final = "verify checks the page that `epsilond report` writes, or a signed answer as JSON"


@dataclass(frozen=True)
class VerifiedSignature:
    """Statement of a signature that was verified, about the signed document.

    Attributes:
        kind: kind of the signed document: `report` for a page, otherwise the kind of an answer.
        name: name of the algorithm; `account` for an account.
        engine_version: version of the engine that made the document.
        request: SHA-256 digest of the request.
        by: name and id of the key that signed.
    """

    kind: str
    name: str
    engine_version: str
    request: str
    by: str


class _NotAnswered(Exception):
    """The present engine does not answer the request of a document. The message is a clause with the reason."""


def template_errors() -> type[Exception]:
    """Return the class of the template engine's errors.

    The template engine writes the pages of reports. It is imported only when a report is written.

    Returns:
        The class, for an except clause.

    Raises:
        MissingExtra: the template engine is not installed.
    """
    with extra("reports", "a report"):
        from jinja2 import TemplateError  # noqa: PLC0415  only reports need it

    return TemplateError


# Answers in JSON ------------------------------------------------------------------------------------------------------
def verify_answer(text: str, signature: VerifiedSignature | None, request: Mapping[str, object] | None) -> Verification:
    """Verify a signed answer in JSON, and return the outcome.

    If its request is given, the answer is also computed again and compared. Sweeps, that is, calibrations at several
    values of a field, are not computed again.

    Args:
        text: JSON text of the answer.
        signature: the statement of the answer's verified signature; None if the caller gave no signature.
        request: the request of the answer; None if the caller did not give it.

    Returns:
        The outcome "signed" if nothing was computed again, "refused" if the present engine has no answer to the
        request, and otherwise the outcome of the comparison with the new answer.

    Raises:
        InvalidInput: no signature is given, or the request contains a number that is not finite.
        NoSignature: the signature belongs to a page, or to an answer to another request.
    """
    if signature is None:
        raise InvalidInput.at("/report", _describe_json(text))
    if signature.kind == REPORT:
        raise NoSignature("it is that of a report's page")
    description: JsonRecord = {
        "kind": signature.kind,
        "name": signature.name,
        "report_engine": signature.engine_version,
        "signed_by": signature.by,
    }
    if request is None:
        reason = "the key signed this answer; give the request too, to see that it is that one's, and computed anew"
        return Verification(outcome="signed", reason=reason, **description)
    if digest_of(json.dumps(request).encode()) != signature.request:
        raise NoSignature("it is that of an answer to another request")
    if signature.kind == "sweep":
        return Verification(outcome="signed", reason="the key signed this answer to this request", **description)
    try:
        present = _compute_answer(signature.kind, signature.name, request)
    except _NotAnswered as error:
        return Verification(outcome="refused", reason=str(error), **description)
    # A signed answer has no profile, so that the profile of the present answer is not compared.
    signed_record = {"answer": json.loads(text), "profile": [], "engine_version": signature.engine_version}
    outcome, findings = _compare(signature.kind, signed_record, ReportedAnswer(present.answer, []))
    return Verification(outcome=outcome, reason=ANSWER_REASONS[outcome], **description, **findings)


def _describe_json(text: str) -> str:
    """Describe a JSON file that a caller gave in place of a report, for an error message.

    Args:
        text: text of the file.

    Returns:
        A clause without a subject: the kind of the file, and a hint at the command or file that the caller needs.
    """
    try:
        body = json.loads(text)
    except ValueError:
        return f"begins like JSON but is not valid JSON; {REPORT_HINT}"
    if not isinstance(body, dict):
        return f"is JSON without a report; {REPORT_HINT}"

    is_log = str(body.get("format", "")).startswith("epsilond-log")
    if is_log or "checkpoint" in body:
        return f"is a receipt or bundle of a ledger; {LEDGER_HINT}"
    if "guarantee" in body:
        question_kind = "a calibration" if "parameters" in body else "an account"
        return f"is the answer of {question_kind} as JSON, without proof of who gave it; {SIGNATURE_HINT}"
    if "kind" in body:
        return f"is a spec, to which `epsilond account` gives an answer; {REPORT_HINT}"
    if "spec" in body:
        return f"is a request for an account; {REPORT_HINT}"
    return f"is JSON, but no answer; {REPORT_HINT}"


def _compute_answer(kind: str, name: str, request: Mapping[str, object]) -> ReportedAnswer:
    """Compute the answer to a request with this version of the library.

    Args:
        kind: `calibration` or `account`.
        name: name of the algorithm of a calibration; `account` for an account.
        request: fields of the request.

    Returns:
        The answer, with its privacy profile.

    Raises:
        _NotAnswered: the request is invalid, or no guarantee can be certified for it.
    """
    try:
        subject = question(kind, name)
        problem: object = read(subject.problem, request)
        return subject.answer_problem(problem)
    except InvalidInput as error:
        raise _NotAnswered(f"the request cannot be: {error}") from None
    except NoCertificate as error:
        raise _NotAnswered(f"not certified ({error.slug}): {error.message}") from None


def _compare(kind: str, signed_record: JsonObject, present: ReportedAnswer) -> tuple[Outcome, JsonRecord]:
    """Compare a stored answer with the answer of this version of the library to the same request.

    Args:
        kind: `calibration` or `account`.
        signed_record: the stored document, with `answer`, `profile` (points of the privacy profile δ(ε)) and
            `engine_version`.
        present: answer and profile that this version computes.

    Returns:
        The outcome, and fields of a `Verification` that describe the differences and the present answer.
    """
    present_record = {"answer": present.answer, "profile": present.profile, "engine_version": ENGINE_VERSION}
    outcome: Outcome
    outcome, differences = compare_records(signed_record, present_record)
    findings: JsonRecord = {
        "differences": differences,
        "headline": words.headline({"kind": kind, "answer": present.answer}),
        "recomputed": {name: present.answer[name] for name in RECOMPUTED if name in present.answer},
        "declared_conditions": tuple(statement for _, statement in declared_conditions(present.answer)),
    }
    # Another version may explain the same figures in other words.
    if signed_record["engine_version"] != ENGINE_VERSION:
        findings["explained_otherwise"] = changed_explanations(signed_record, present_record)
        if outcome in AGREES:
            outcome = "another-engine"
    return outcome, findings


# Pages ----------------------------------------------------------------------------------------------------------------
def verify_page(data: JsonObject, page: str, signature: VerifiedSignature | None) -> Verification:
    """Verify a report: compute its answer again, write its page again, and compare both with the report.

    The hash of the page was checked before.

    Args:
        data: the data in the page, with the request and the answer.
        page: text of the page.
        signature: the statement of the page's verified signature; None if the caller gave no signature.

    Returns:
        The outcome "refused" if the data have no answer to compare or the present engine gives none, and otherwise the
        outcome of the comparison with the new answer.

    Raises:
        NoSignature: the signature belongs to another document.
        Broken: the page has content that no report has. Or the present engine writes another page from its data, with
            two exceptions: this version made the report but computes other figures, or another version made the
            report and a key signed it.
    """
    _require_report_content(data, page, signature)
    description: JsonRecord = {
        "hash": data["hash"],
        "kind": data["kind"],
        "name": data["name"],
        "date": data["date"] or None,
        "report_engine": data["engine_version"],
        "signed_by": None if signature is None else signature.by,
    }
    # The page of a run that an observation contradicts has no answer that could be computed again.
    if data["kind"] == CONTRADICTED:
        if not _is_page_of(data, page):
            raise Broken(ALTERED_PAGE)
        return Verification(
            outcome="refused", reason="the run differs from its record: the page has no ε", **description
        )

    # Compute the answer again, and compare it and the page with those of the report.
    try:
        present = _compute_answer(data["kind"], data["name"], data["request"])
    except _NotAnswered as error:
        return Verification(outcome="refused", reason=str(error), **description)
    outcome, findings = _compare(data["kind"], data, present)
    is_same_page = _is_page_of(data, page)
    is_other_engine = data["engine_version"] != ENGINE_VERSION
    if is_other_engine and not is_same_page and signature is None:
        raise Broken(
            "another version of the engine made the report, and this version writes a different page from its data. "
            "The page was altered, or only that version can check it"
        )

    # An agreeing answer must have the same page.
    if outcome in AGREES:
        _require_canonical_request(data["request"])
        if not is_same_page:
            raise Broken(ALTERED_PAGE)
    shows_other_words = outcome == "another-engine" and not is_same_page
    reason = SIGNED_ELSEWHERE if shows_other_words else PAGE_REASONS[outcome]
    return Verification(outcome=outcome, reason=reason, **description, **findings)


def _require_report_content(data: JsonObject, page: str, signature: VerifiedSignature | None) -> None:
    """Check the signature, the dates and the form of a report's page, without computing its answer again.

    A page with a script could show other figures than its data.

    Args:
        data: the data in the page.
        page: text of the page.
        signature: the statement of the page's verified signature; None if the caller gave no signature.

    Raises:
        NoSignature: the signature belongs to another document.
        Broken: the data have two different engine versions, an invalid version or an invalid date, or the page has an
            element that no report has, such as a script.
    """
    demand_one_engine(data)
    if signature is not None:
        signed_document = (signature.kind, signature.name, signature.engine_version)
        if signed_document != (REPORT, data["name"], data["engine_version"]):
            raise NoSignature("it is not of such a report")
    if not is_inert(without_data(page)):
        raise Broken("the page holds something that no report of any engine holds, such as a script or a comment")
    _require_date(data["date"])


def _require_date(text: str) -> None:
    """Check that a text is empty or a date of the form YYYY-MM-DD.

    Args:
        text: the `date` in the data of a report.

    Raises:
        Broken: the text is not empty and not such a date.
    """
    try:
        is_date = not text or read_date(text) == text
    except InvalidInput:
        is_date = False
    if not is_date:
        raise Broken("the text in the date's position is not a date")


def _require_canonical_request(request: JsonObject) -> None:
    """Check that a request is written as this engine writes requests into reports, for example without null fields.

    Args:
        request: the request in a report.

    Raises:
        Broken: it is not, so that this engine did not make the report.
    """
    if canonical(request_json(request)) != canonical(request):
        raise Broken("the request is not in the form in which a report carries it")


def _is_page_of(data: JsonObject, page: str) -> bool:
    """Return whether this version of the library writes exactly the same page, byte for byte, from the page's data.

    Forged data may lack parts that a page needs. Then no page can be written, and the result is False.

    Args:
        data: the data of the report, including the hashes of the data (`hash`) and of the visible page (`page`).
        page: the whole page as HTML.

    Returns:
        True if both pages are equal.
    """
    unsealed = {name: item for name, item in data.items() if name not in ("hash", "page")}
    try:
        return seal_page(unsealed, render) == page
    except (template_errors(), ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return False
