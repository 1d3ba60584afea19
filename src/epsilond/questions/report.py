"""Reports to sign, and whether today's engine agrees with one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from epsilond.accountants import ENGINE_VERSION
from epsilond.accountants.errors import InvalidInput, NoCertificate, Observation
from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.extras import extra
from epsilond.questions.file_kinds import describe_json
from epsilond.questions.signed import Keys, NoSignature, digest_of, is_ledger_page, ledger_page, stated
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

Outcome = Literal[
    "exactly", "within-the-certificate", "another-engine", "not-confirmed", "contradicts", "refused", "broken", "signed"
]
REPORT = "report"
"""The kind of a statement about a page, whatever that is about."""
AGREES: frozenset[Outcome] = frozenset(("exactly", "within-the-certificate"))
RECOMPUTED = ("parameters", "guarantee", "points", "claim", "meaning")
"""The parts of an answer that are claims in numbers."""


@dataclass(frozen=True, kw_only=True)
class Verification:
    """What came of a report.

    `exactly`: today's engine answers the same to the last digit, and the page is, byte for byte, the one it writes of
    that answer. `within-the-certificate`: so is the page, and every figure is near today's (witness/reports/compare.py
    says how near), as on another processor, where the last digits of logarithms and sums differ.
    `another-engine`: the report names another engine's version. Today's confirms its figures and writes the same page
    of its data, but cannot say whether that version gave them: read `recomputed` instead. A page of another version
    that today's would write otherwise is `broken`: only that version can check it. `not-confirmed`: likewise of another
    engine, and at `differences` the report says more than today's engine proves. `contradicts`: the figures differ at
    `differences`, JSON pointers into the data. `refused`: the request has no answer. `broken`: the page is not as it
    was made, or not as it was signed. `signed`: a key that was trusted signed it, and nothing was computed anew: of an
    answer whose request was not given, and of a ledger's page.

    `recomputed` is what today's engine answers to the report's request (parameters, guarantee, points, claim and
    meaning, as in the answers of the service), in words too (`headline`), with the conditions that only the caller can
    vouch for (`declared_conditions`). Nobody checks the date, nor who made the report: a hash is no signature. Where a
    signature was given, `signed_by` has the name and the id of the key whose it is, and only then.
    `explained_otherwise` points to what another engine's report tells in other words or steps than today's.
    """

    outcome: Outcome
    reason: str
    hash: str | None = None
    kind: str | None = None
    name: str | None = None
    date: str | None = None
    report_engine: str | None = None
    engine_version: str = ENGINE_VERSION
    differences: tuple[str, ...] = ()
    explained_otherwise: tuple[str, ...] = ()
    headline: tuple[str, ...] = ()
    recomputed: JsonObject = field(default_factory=dict)
    declared_conditions: tuple[str, ...] = ()
    signed_by: str | None = None

    @property
    def agrees(self) -> bool:
        """Whether the page is whole, of today's engine, and confirmed by it."""
        return self.outcome in AGREES


def report(kind: Kind, algorithm: str | None = None, /, *, request: JsonObject, date: str | None = None) -> str:
    """A calibration or an account as one page of HTML, to be read, printed and signed.

    `request` is what `calibrate` takes, or the body of an account. `date` (YYYY-MM-DD) is the caller's; no clock is
    read. The same arguments give the same page, by the same engine. The page carries its data and needs no other file.

    Example:
        >>> import epsilond
        >>> setting = {"relation": "replace-one", "unit": "record", "observer": "released-models"}
        >>> asked = {"spec": {"kind": "gaussian", "noise_multiplier": 2.0}, "query": {"delta": 1e-5}, **setting}
        >>> page = epsilond.report("account", request=asked, date="2026-01-31")
        >>> epsilond.verify(page).outcome
        'exactly'

    Raises:
        InvalidInput: no such algorithm, a date that is none, or a request that no run can have.
        NoCertificate: nothing can be certified.
    """
    _template_errors()
    asked = question(kind, algorithm)
    return make(asked, read(asked.problem, request), request, date)


def verify(
    page: str, *, signature: str | None = None, keys: Keys | None = None, request: Mapping[str, object] | None = None
) -> Verification:
    """Whether a report is as it was made, and whether today's engine gives its answer again.

    Nothing in the page is run. Its data are read and checked against their hash, the request in them is answered anew,
    and the page is written anew and compared with the whole of `page`, byte for byte. Give the page as it was stored: a
    byte order mark or other line endings are alterations like any other.

    With `signature`, the header Epsilond-Signature of the response, and `keys`, a file, a folder or a document of
    published keys that you trust, it must be signed by one of them too. Then `page` may also be the JSON text of a
    calibration's or an account's answer; with its `request` that is answered anew as well. The page of a ledger's
    report carries its signature.

    Example:
        >>> import epsilond
        >>> epsilond.verify("<html></html>").outcome
        'broken'

    Raises:
        InvalidInput: the keys are none, a signature comes without keys or keys without a signature, or the request is
            none.
        MissingExtra: what is checked needs packages that are not installed.
    """
    try:
        if is_ledger_page(page):
            return _of_ledger(page, keys)
        signed = _signed(page, signature, keys)
        if page.lstrip().startswith("{"):
            return _answer_confirmed(page, signed, request)
        _template_errors()
        return _confirmed(open_page(page), page, signed)
    except NoSignature as error:
        return Verification(outcome="broken", reason=f"the signature does not hold: {error}")
    except Broken as error:
        return Verification(outcome="broken", reason=str(error))


@dataclass(frozen=True)
class _Signed:
    """What a signature says of the document: its kind, its name, which engine, which request, and whose key."""

    kind: str
    name: str
    engine_version: str
    request: str
    by: str


def _signed(page: str, signature: str | None, keys: Keys | None) -> _Signed | None:
    if signature is None and keys is None:
        return None
    if signature is None or keys is None:
        given, other = ("/keys", "signature") if signature is None else ("/signature", "keys")
        raise InvalidInput.at(given, f"is of no use without {other}")
    statement, key = stated(page.encode("utf-8", "surrogatepass"), signature, keys)
    told = statement
    return _Signed(told.kind, told.name, told.engine_version, told.request, f"{key.name} {key.kid}")


def _of_ledger(page: str, keys: Keys | None) -> Verification:
    if keys is None:
        raise InvalidInput.at("/keys", "is required: a ledger's page is signed, and nothing else shows whose it is")
    told, key = ledger_page(page, keys)
    ledger = told["ledger"]
    return Verification(
        outcome="signed",
        reason="every byte of the page is as the key signed it; that its figures follow from the log is shown by"
        " `epsilond ledger verify`",
        kind="ledger",
        name=str(ledger["name"]),
        date=str(told["at"]),
        headline=tuple(_ledger_headline(ledger)),
        declared_conditions=tuple(str(each["statement"]) for each in ledger["declared_conditions"]),
        signed_by=f"{key.name} {key.kid}",
    )


def _ledger_headline(ledger: JsonObject) -> Iterator[str]:
    """Yield what a ledger guarantees, or the observations because of which it has no ε."""
    if ledger.get("observations"):
        yield "Contradicted: a run that was paid from this ledger differs from its record, so there is no ε."
        yield from (str(Observation(**each)) for each in ledger["observations"])
    else:
        yield str(ledger["guarantee"]["in_words"])


def _answer_confirmed(text: str, signed: _Signed | None, request: Mapping[str, object] | None) -> Verification:
    """The outcome for an answer in JSON, which only its signature ties to a request and to whoever answered.

    Raises:
        NoSignature: the signature is of something else than an answer, or of an answer to another request.
    """
    if signed is None:
        raise InvalidInput.at("/report", describe_json(text))
    if signed.kind == REPORT:
        raise NoSignature("it is that of a report's page")
    answer = json.loads(text)
    known: JsonRecord = {
        "kind": signed.kind,
        "name": signed.name,
        "report_engine": signed.engine_version,
        "signed_by": signed.by,
    }
    if request is None:
        reason = "the key signed this answer; give the request too, to see that it is that one's, and computed anew"
        return Verification(outcome="signed", reason=reason, **known)
    if digest_of(json.dumps(request).encode()) != signed.request:
        raise NoSignature("it is that of an answer to another request")
    if signed.kind == "sweep":
        return Verification(outcome="signed", reason="the key signed this answer to this request", **known)
    try:
        asked = question(signed.kind, signed.name)
        answered = asked.answer_problem(read(asked.problem, request))
    except InvalidInput as error:
        return Verification(outcome="refused", reason=f"the request cannot be: {error}", **known)
    except NoCertificate as error:
        return Verification(outcome="refused", reason=f"not certified ({error.slug}): {error.message}", **known)
    theirs = {"answer": answer, "profile": [], "engine_version": signed.engine_version}
    ours = {"answer": answered.answer, "profile": [], "engine_version": ENGINE_VERSION}
    outcome: Outcome
    outcome, known["differences"] = compare_records(theirs, ours)
    if signed.engine_version != ENGINE_VERSION:
        outcome = "another-engine" if outcome in AGREES else outcome
        known["explained_otherwise"] = changed_explanations(theirs, ours)
    return Verification(
        outcome=outcome,
        reason=_OF_ANSWERS.get(outcome, _REASONS.get(outcome, outcome)),
        headline=words.headline({"kind": signed.kind, "answer": answered.answer}),
        recomputed={name: answered.answer[name] for name in RECOMPUTED if name in answered.answer},
        declared_conditions=tuple(statement for _, statement in declared_conditions(answered.answer)),
        **known,
    )


def _template_errors() -> type[Exception]:
    """What the template engine raises.

    Raises:
        MissingExtra: it is not installed.
    """
    with extra("reports", "a report"):
        from jinja2 import TemplateError  # noqa: PLC0415 (for those who make or check a report)

    return TemplateError


def read_page(path: Path) -> str:
    """The text of a report's file; what is no text at all is read as an empty page.

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


def _confirmed(found: JsonObject, page: str, signed: _Signed | None = None) -> Verification:
    """The outcome for a page that fits its hashes.

    Raises:
        NoSignature: the signature is of something else than this report.
        Broken: the page shows something else than its data say, or the data what no report's could.
    """
    demand_one_engine(found)
    if signed is not None and (REPORT, found["name"], found["engine_version"]) != (
        signed.kind,
        signed.name,
        signed.engine_version,
    ):
        raise NoSignature("it is of something else than such a report")
    if not is_inert(without_data(page)):
        raise Broken("the page holds something that no report of any engine holds, such as a script or a comment")
    _demand_date(found["date"])
    known: JsonRecord = {
        "hash": found["hash"],
        "kind": found["kind"],
        "name": found["name"],
        "date": found["date"] or None,
        "report_engine": found["engine_version"],
        "signed_by": None if signed is None else signed.by,
    }
    if found["kind"] == CONTRADICTED:
        return _verify_contradicted_page(found, page, known)
    try:
        asked = question(found["kind"], found["name"])
        problem: object = read(asked.problem, found["request"])
        answered = asked.answer_problem(problem)
    except InvalidInput as error:
        return Verification(outcome="refused", reason=f"the request cannot be: {error}", **known)
    except NoCertificate as error:
        return Verification(outcome="refused", reason=f"not certified ({error.slug}): {error.message}", **known)
    computed = {"answer": answered.answer, "profile": answered.profile, "engine_version": ENGINE_VERSION}
    outcome: Outcome
    outcome, differences = compare_records(found, computed)
    known |= {
        "differences": differences,
        "headline": words.headline({"kind": found["kind"], "answer": answered.answer}),
        "recomputed": {name: answered.answer[name] for name in RECOMPUTED if name in answered.answer},
        "declared_conditions": tuple(statement for _, statement in declared_conditions(answered.answer)),
    }
    written_alike = _written_alike(found, page)
    if found["engine_version"] != ENGINE_VERSION:
        if not written_alike and signed is None:
            raise Broken(
                "another version of the engine made the report, and the visible page is not what this one writes of "
                "its data: it was altered, or can be checked by that version alone"
            )
        outcome = "another-engine" if outcome in AGREES else outcome
        known["explained_otherwise"] = changed_explanations(found, computed)
    elif outcome in AGREES:
        if canonical(request_json(found["request"])) != canonical(found["request"]):
            raise Broken("the request is not in the form in which a report carries it")
        if not written_alike:
            raise Broken("the visible page was altered: it is not the page of its data")
    reason = _REASONS[outcome]
    if outcome == "another-engine" and not written_alike:
        reason = _SIGNED_ELSEWHERE
    return Verification(outcome=outcome, reason=reason, **known)


def _verify_contradicted_page(found: JsonObject, page: str, known: JsonObject) -> Verification:
    """Return the outcome for a page about a run that differs from its record.

    Raises:
        Broken: the visible page is not the page of its data.
    """
    if not _written_alike(found, page):
        raise Broken("the visible page was altered: it is not the page of its data")
    return Verification(outcome="refused", reason="the run differs from its record: the page has no ε", **known)


def _demand_date(text: str) -> None:
    """What stands in the place of a date is one as a report writes it, or nothing.

    Raises:
        Broken: it is not.
    """
    try:
        if not text or read_date(text) == text:
            return
    except InvalidInput:
        pass
    raise Broken("what stands in the place of the date is none")


def _written_alike(found: JsonObject, page: str) -> bool:
    """Whether the page, all of it, is what today's engine writes of its data, byte for byte.

    Of data that no engine made, such as those of a forger, there may be no page at all.
    """
    unsealed = {name: item for name, item in found.items() if name not in ("hash", "page")}
    try:
        return seal_page(unsealed, render) == page
    except (_template_errors(), ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return False


_REASONS: Mapping[Outcome, str] = {
    "exactly": "today's engine gives the same answer, to the last digit, and writes the same page of it",
    "within-the-certificate": "today's engine gives other last digits, as another processor or mathematical library"
    f" does: every figure is within {SAME_ENGINE:g} of the report's, relatively, δ by its logarithm; the page is the"
    " one of the report's",
    "another-engine": "another version of the engine made the report; the page is what this one writes of its data, and"
    " the figures in them are confirmed by those below: read these, or verify it with that version",
    "not-confirmed": "another version of the engine made the report, and today's does not prove as much",
    "contradicts": "today's engine gives another answer",
}
_OF_ANSWERS: Mapping[str, str] = {
    "exactly": "today's engine gives the same answer to the request, to the last digit",
    "within-the-certificate": "today's engine gives other last digits, as another processor or mathematical library"
    f" does: every figure is within {SAME_ENGINE:g} of the answer's, relatively, δ by its logarithm",
    "another-engine": "another version of the engine gave the answer; its figures are confirmed by those below",
}
_SIGNED_ELSEWHERE = (
    "another version of the engine made the report, and the key signed the page as it is; the figures in its data are"
    " confirmed by those below, but not the words that it shows"
)
