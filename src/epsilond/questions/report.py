"""Reports to sign, and their verification by the present version of the engine."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from epsilond.accountants import ENGINE_VERSION
from epsilond.accountants.errors import InvalidInput, NoCertificate, Observation
from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.extras import extra
from epsilond.questions.file_kinds import describe_json
from epsilond.questions.signed import Keys, NoSignature, digest_of, is_ledger_page, ledger_page, verify_statement
from epsilond.questions.verification import AGREES, Outcome, Verification
from epsilond.reading import read
from epsilond.witness.reports import words
from epsilond.witness.reports.canonical import canonical
from epsilond.witness.reports.compare import SAME_ENGINE, changed_explanations, compare_records
from epsilond.witness.reports.inert import is_inert
from epsilond.witness.reports.make import make, read_date, request_json
from epsilond.witness.reports.page import declared_conditions, render
from epsilond.witness.reports.questions import question
from epsilond.witness.reports.record import (
    CONTRADICTED,
    LARGEST_PAGE,
    Broken,
    Kind,
    demand_one_engine,
    open_page,
    seal_page,
    without_data,
)

REPORT = "report"
"""Kind of a signed statement about a page."""
RECOMPUTED = ("parameters", "guarantee", "points", "claim", "meaning")
"""Parts of an answer that are claims in numbers."""


def report(kind: Kind, algorithm: str | None = None, /, *, request: JsonObject, date: str | None = None) -> str:
    """Return a calibration or an account as one page of HTML, to read, print and sign.

    The same arguments give the same page with the same engine. The page contains its data and needs no other file.

    Args:
        kind: `calibration` or `account`.
        algorithm: name of the algorithm of a calibration.
        request: fields of `calibrate`, or the body of an account.
        date: date of the page, YYYY-MM-DD; no clock is read.

    Example:
        >>> import epsilond
        >>> setting = {"relation": "replace-one", "unit": "record", "observer": "released-models"}
        >>> request = {"spec": {"kind": "gaussian", "noise_multiplier": 2.0}, "query": {"delta": 1e-5}, **setting}
        >>> page = epsilond.report("account", request=request, date="2026-01-31")
        >>> epsilond.verify(page).outcome
        'exactly'

    Raises:
        InvalidInput: unknown algorithm, invalid date, or a request with values out of range.
        NoCertificate: nothing can be certified.
    """
    _template_errors()
    chosen = question(kind, algorithm)
    return make(chosen, read(chosen.problem, request), request, date)


def verify(
    page: str, *, signature: str | None = None, keys: Keys | None = None, request: Mapping[str, object] | None = None
) -> Verification:
    """Verify that a report was not altered, and that the present engine gives the same answer.

    Nothing in the page is run. Its data are checked against their hash, the request in them is answered anew, and the
    page is written anew and compared with `page`, byte for byte. A byte order mark or other line endings are
    alterations.

    Args:
        page: the page as it was stored. With a signature it may be the JSON text of an answer.
        signature: the header Epsilond-Signature of the response. The page of a ledger contains its signature.
        keys: published keys that you trust: a file, a folder or a document. One of them must have signed the page.
        request: the request of an answer in JSON, which is then answered anew.

    Example:
        >>> import epsilond
        >>> epsilond.verify("<html></html>").outcome
        'broken'

    Raises:
        InvalidInput: invalid keys or request, or only one of signature and keys.
        MissingExtra: the packages of signatures or reports are not installed.
    """
    try:
        if is_ledger_page(page):
            return _verify_ledger_page(page, keys)
        signed = _verify_signature(page, signature, keys)
        if page.lstrip().startswith("{"):
            return _verify_answer(page, signed, request)
        _template_errors()
        return _verify_page(open_page(page), page, signed)
    except NoSignature as error:
        return Verification(outcome="broken", reason=f"the signature does not hold: {error}")
    except Broken as error:
        return Verification(outcome="broken", reason=str(error))


@dataclass(frozen=True)
class _Signature:
    """The statement of a valid signature.

    Attributes:
        kind: kind of the signed document.
        name: name of the question among the questions of its kind.
        engine_version: version of the engine that made the document.
        request: SHA-256 digest of the request.
        by: name and id of the key.
    """

    kind: str
    name: str
    engine_version: str
    request: str
    by: str


def _verify_signature(page: str, signature: str | None, keys: Keys | None) -> _Signature | None:
    """Return the statement of a valid signature; None if neither signature nor keys are given.

    Args:
        page: text of the signed document.
        signature: the signature.
        keys: trusted keys.

    Raises:
        InvalidInput: only one of signature and keys is given.
        NoSignature: the signature is not valid.
    """
    if signature is None and keys is None:
        return None
    if signature is None:
        raise InvalidInput.at("/keys", "is of no use without signature")
    if keys is None:
        raise InvalidInput.at("/signature", "is of no use without keys")
    statement, key = verify_statement(page.encode("utf-8", "surrogatepass"), signature, keys)
    return _Signature(
        kind=statement.kind,
        name=statement.name,
        engine_version=statement.engine_version,
        request=statement.request,
        by=f"{key.name} {key.kid}",
    )


def _verify_ledger_page(page: str, keys: Keys | None) -> Verification:
    """Return the outcome for the page of a ledger, of which only the signature is checked.

    Raises:
        InvalidInput: no keys are given.
        NoSignature: no trusted key has signed the page.
    """
    if keys is None:
        raise InvalidInput.at("/keys", "is required: only the signature shows the origin of a ledger's page")
    body, key = ledger_page(page, keys)
    ledger = body["ledger"]
    return Verification(
        outcome="signed",
        reason="every byte of the page is as the key signed it; that its figures follow from the log is shown by"
        " `epsilond ledger verify`",
        kind="ledger",
        name=str(ledger["name"]),
        date=str(body["at"]),
        headline=tuple(_ledger_headline(ledger)),
        declared_conditions=tuple(str(condition["statement"]) for condition in ledger["declared_conditions"]),
        signed_by=f"{key.name} {key.kid}",
    )


def _ledger_headline(ledger: JsonObject) -> Iterator[str]:
    """Yield the guarantee of a ledger in words, or the observations because of which it has no ε."""
    if ledger.get("observations"):
        yield "Contradicted: a run that was paid from this ledger differs from its record, so there is no ε."
        yield from (str(Observation(**observation)) for observation in ledger["observations"])
    else:
        yield str(ledger["guarantee"]["in_words"])


def _verify_answer(text: str, signed: _Signature | None, request: Mapping[str, object] | None) -> Verification:
    """Verify a signed answer in JSON, where `signed` is the statement of its valid signature.

    If its request is given and is no sweep, the answer is also computed again and compared.

    Raises:
        InvalidInput: the answer has no signature.
        NoSignature: the signature is that of a page, or of an answer to another request.
    """
    if signed is None:
        raise InvalidInput.at("/report", describe_json(text))
    if signed.kind == REPORT:
        raise NoSignature("it is that of a report's page")
    answer = json.loads(text)
    facts: JsonRecord = {
        "kind": signed.kind,
        "name": signed.name,
        "report_engine": signed.engine_version,
        "signed_by": signed.by,
    }
    if request is None:
        reason = "the key signed this answer; give the request too, to see that it is that one's, and computed anew"
        return Verification(outcome="signed", reason=reason, **facts)
    if digest_of(json.dumps(request).encode()) != signed.request:
        raise NoSignature("it is that of an answer to another request")
    if signed.kind == "sweep":
        return Verification(outcome="signed", reason="the key signed this answer to this request", **facts)
    try:
        chosen = question(signed.kind, signed.name)
        present = chosen.answer_problem(read(chosen.problem, request)).answer
    except InvalidInput as error:
        return Verification(outcome="refused", reason=f"the request cannot be: {error}", **facts)
    except NoCertificate as error:
        return Verification(outcome="refused", reason=f"not certified ({error.slug}): {error.message}", **facts)
    theirs = {"answer": answer, "profile": [], "engine_version": signed.engine_version}
    ours = {"answer": present, "profile": [], "engine_version": ENGINE_VERSION}
    outcome: Outcome
    outcome, facts["differences"] = compare_records(theirs, ours)
    if signed.engine_version != ENGINE_VERSION:
        outcome = "another-engine" if outcome in AGREES else outcome
        facts["explained_otherwise"] = changed_explanations(theirs, ours)
    reason = _OF_ANSWERS.get(outcome, _REASONS.get(outcome, outcome))
    return Verification(outcome=outcome, reason=reason, **facts, **_describe_recomputed(signed.kind, present))


def _describe_recomputed(kind: str, answer: JsonObject) -> JsonRecord:
    """Return the fields of a verification that describe the present engine's answer."""
    return {
        "headline": words.headline({"kind": kind, "answer": answer}),
        "recomputed": {name: answer[name] for name in RECOMPUTED if name in answer},
        "declared_conditions": tuple(statement for _, statement in declared_conditions(answer)),
    }


def _template_errors() -> type[Exception]:
    """Return the class of the template engine's errors.

    Raises:
        MissingExtra: the template engine is not installed.
    """
    with extra("reports", "a report"):
        from jinja2 import TemplateError  # noqa: PLC0415  only reports need it

    return TemplateError


def read_page(path: Path) -> str:
    """Return the text of a report's file; a file that is not UTF-8 is read as an empty page.

    Raises:
        InvalidInput: the file cannot be read, or is too large to be a report.
    """
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_PAGE + 1)
    except OSError as error:
        raise InvalidInput.at("/report", f"cannot be read: {error.strerror}") from None
    if len(data) > LARGEST_PAGE:
        raise InvalidInput.at("/report", "is too large to be a report", allowed=f"at most {LARGEST_PAGE} bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return ""


def _verify_page(data: JsonObject, page: str, signed: _Signature | None = None) -> Verification:
    """Verify a report's page whose hash is right: compute its answer again, and write its page again.

    Args:
        data: the data in the page, with the request and the answer.
        page: text of the page.
        signed: the statement of the page's valid signature; None without a signature.

    Raises:
        NoSignature: the signature belongs to another document.
        Broken: the visible page is not the one that belongs to its data, or the data are not those of a report.
    """
    demand_one_engine(data)
    if signed is not None:
        _require_signature_of(data, signed)
    if not is_inert(without_data(page)):
        raise Broken("the page holds something that no report of any engine holds, such as a script or a comment")
    _demand_date(data["date"])
    facts: JsonRecord = {
        "hash": data["hash"],
        "kind": data["kind"],
        "name": data["name"],
        "date": data["date"] or None,
        "report_engine": data["engine_version"],
        "signed_by": None if signed is None else signed.by,
    }
    if data["kind"] == CONTRADICTED:
        return _verify_contradicted_page(data, page, facts)
    try:
        chosen = question(data["kind"], data["name"])
        problem: object = read(chosen.problem, data["request"])
        present = chosen.answer_problem(problem)
    except InvalidInput as error:
        return Verification(outcome="refused", reason=f"the request cannot be: {error}", **facts)
    except NoCertificate as error:
        return Verification(outcome="refused", reason=f"not certified ({error.slug}): {error.message}", **facts)
    computed = {"answer": present.answer, "profile": present.profile, "engine_version": ENGINE_VERSION}
    outcome: Outcome
    outcome, facts["differences"] = compare_records(data, computed)
    facts |= _describe_recomputed(data["kind"], present.answer)
    same_page = _is_page_of(data, page)
    if data["engine_version"] != ENGINE_VERSION:
        if not same_page and signed is None:
            raise Broken(
                "another version of the engine made the report, and this version writes a different page from its "
                "data. The page was altered, or only that version can check it"
            )
        outcome = "another-engine" if outcome in AGREES else outcome
        facts["explained_otherwise"] = changed_explanations(data, computed)
    elif outcome in AGREES:
        if canonical(request_json(data["request"])) != canonical(data["request"]):
            raise Broken("the request is not in the form in which a report carries it")
        if not same_page:
            raise Broken("the visible page was altered: it is not the page of its data")
    reason = _REASONS[outcome]
    if outcome == "another-engine" and not same_page:
        reason = _SIGNED_ELSEWHERE
    return Verification(outcome=outcome, reason=reason, **facts)


def _require_signature_of(data: JsonObject, signed: _Signature) -> None:
    """Require that a signature belongs to the report with these data.

    Raises:
        NoSignature: it belongs to another document.
    """
    document = (REPORT, data["name"], data["engine_version"])
    if document != (signed.kind, signed.name, signed.engine_version):
        raise NoSignature("it is not of such a report")


def _verify_contradicted_page(data: JsonObject, page: str, facts: JsonObject) -> Verification:
    """Return the outcome for a page about a run that differs from its record.

    Raises:
        Broken: the visible page is not the page of its data.
    """
    if not _is_page_of(data, page):
        raise Broken("the visible page was altered: it is not the page of its data")
    return Verification(outcome="refused", reason="the run differs from its record: the page has no ε", **facts)


def _demand_date(text: str) -> None:
    """Check that a text is empty or a date of the form YYYY-MM-DD.

    Raises:
        Broken: it is neither.
    """
    try:
        if not text or read_date(text) == text:
            return
    except InvalidInput:
        pass
    raise Broken("the text in the place of the date is no date")


def _is_page_of(data: JsonObject, page: str) -> bool:
    """Return whether a page is, byte for byte, the one that the present engine writes from its data.

    Forged data, which no engine made, may have no page.
    """
    unsealed = {name: item for name, item in data.items() if name not in ("hash", "page")}
    try:
        return seal_page(unsealed, render) == page
    except (_template_errors(), ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return False


_REASONS: Mapping[Outcome, str] = {
    "exactly": "today's engine gives the same answer, to the last digit, and writes the same page of it",
    "within-the-certificate": "today's engine gives other last digits, as another processor or mathematical library "
    f"does. Every figure is within {SAME_ENGINE:g} of the report's, relatively, δ by its logarithm. The page is the "
    "one of the report's",
    "another-engine": "another version of the engine made the report. This version writes the same page from its "
    "data, and the figures below confirm its figures. Read these, or verify it with that version",
    "not-confirmed": "another version of the engine made the report, and today's does not prove as much",
    "contradicts": "today's engine gives another answer",
}
_OF_ANSWERS: Mapping[str, str] = {
    "exactly": "today's engine gives the same answer to the request, to the last digit",
    "within-the-certificate": "today's engine gives other last digits, as another processor or mathematical library "
    f"does. Every figure is within {SAME_ENGINE:g} of the answer's, relatively, δ by its logarithm",
    "another-engine": "another version of the engine gave the answer; its figures are confirmed by those below",
}
_SIGNED_ELSEWHERE = (
    "another version of the engine made the report, and the key signed the page as it is. The figures below confirm "
    "the figures in its data, but not the displayed words"
)
