"""Reports to sign, and their verification by the present version of the engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from epsilond.accountants.errors import InvalidInput, Observation
from epsilond.accountants.json_types import JsonObject
from epsilond.questions.recomputation import VerifiedSignature, template_errors, verify_answer, verify_page
from epsilond.questions.signed import Keys, NoSignature, is_ledger_page, ledger_page, verify_statement
from epsilond.questions.verification import Verification
from epsilond.reading import read
from epsilond.witness.reports.make import make
from epsilond.witness.reports.questions import question
from epsilond.witness.reports.record import LARGEST_PAGE, Broken, Kind, open_page


def report(kind: Kind, algorithm: str | None = None, /, *, request: JsonObject, date: str | None = None) -> str:
    """Return a calibration or an account as one page of HTML, to read, print and sign.

    The same arguments give the same page with the same engine. The page contains its data and needs no other file.

    Args:
        kind: `calibration` or `account`.
        algorithm: name of the algorithm of a calibration.
        request: fields of `calibrate`, or the body of an account.
        date: date on the page, YYYY-MM-DD; None for a page without a date.

    Returns:
        The page as HTML, which `verify` accepts.

    Example:
        >>> import epsilond
        >>> setting = {"relation": "replace-one", "unit": "record", "observer": "released-models"}
        >>> request = {"spec": {"kind": "gaussian", "noise_multiplier": 2.0}, "query": {"delta": 1e-5}, **setting}
        >>> page = epsilond.report("account", request=request, date="2026-01-31")
        >>> epsilond.verify(page).outcome
        'exactly'

    Raises:
        InvalidInput: unknown algorithm, invalid date, or a request with values out of range.
        NoCertificate: no guarantee can be certified.
        MissingExtra: the packages of reports are not installed.
    """
    template_errors()  # raises MissingExtra before the computation starts
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

    Returns:
        The outcome with its reason. A document that was altered has the outcome "broken", and raises no error.

    Example:
        >>> import epsilond
        >>> epsilond.verify("<html></html>").outcome
        'broken'

    Raises:
        InvalidInput: invalid keys or request, only one of signature and keys, JSON without a signature, or the page of
            a ledger without keys.
        MissingExtra: the packages of signatures or reports are not installed.
    """
    try:
        if is_ledger_page(page):
            return _verify_ledger_page(page, keys)
        verified = _verify_signature(page, signature, keys)
        if page.lstrip().startswith("{"):
            return verify_answer(page, verified, request)
        template_errors()  # raises MissingExtra before the computation starts
        return verify_page(open_page(page), page, verified)
    except NoSignature as error:
        return Verification(outcome="broken", reason=f"the signature does not hold: {error}")
    except Broken as error:
        return Verification(outcome="broken", reason=str(error))


def _verify_signature(page: str, signature: str | None, keys: Keys | None) -> VerifiedSignature | None:
    """Verify the signature of a document, if there is one, and return the signed statement about the document.

    The caller gives both a signature and trusted keys, or neither.

    Args:
        page: text of the signed document.
        signature: the header Epsilond-Signature; None if the caller gave none.
        keys: published keys that the caller trusts; None if the caller gave none.

    Returns:
        The statement, with the name and id of the key that signed it. None if neither signature nor keys are given.

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
    # A lone surrogate must make the signature invalid and not raise an error.
    statement, key = verify_statement(page.encode("utf-8", "surrogatepass"), signature, keys)
    return VerifiedSignature(
        kind=statement.kind,
        name=statement.name,
        engine_version=statement.engine_version,
        request=statement.request,
        by=f"{key.name} {key.kid}",
    )


def _verify_ledger_page(page: str, keys: Keys | None) -> Verification:
    """Verify the signature of a ledger's page, and return the outcome.

    The figures on the page are not computed again.

    Args:
        page: text of the page, with its signature.
        keys: published keys that the caller trusts; None if they are not given.

    Returns:
        The outcome "signed", with the ledger's name, date, guarantee and conditions.

    Raises:
        InvalidInput: no keys are given.
        NoSignature: no trusted key has signed the page.
    """
    if keys is None:
        raise InvalidInput.at("/keys", "is required: only the signature shows the origin of a ledger's page")
    body, key = ledger_page(page, keys)
    ledger = body["ledger"]
    conditions = tuple(str(condition["statement"]) for condition in ledger["declared_conditions"])
    return Verification(
        outcome="signed",
        reason="every byte of the page is as the key signed it; that its figures follow from the log is shown by"
        " `epsilond ledger verify`",
        kind="ledger",
        name=str(ledger["name"]),
        date=str(body["at"]),
        headline=tuple(_ledger_headline(ledger)),
        declared_conditions=conditions,
        signed_by=f"{key.name} {key.kid}",
    )


def _ledger_headline(ledger: JsonObject) -> Iterator[str]:
    """Yield the sentences at the top of a ledger's report.

    Args:
        ledger: the ledger as the service describes it.

    Yields:
        The guarantee in words. For a contradicted ledger, the observations because of which it has no ε.
    """
    if ledger.get("observations"):
        yield "Contradicted: a run that was paid from this ledger differs from its record, so there is no ε."
        yield from (str(Observation(**observation)) for observation in ledger["observations"])
    else:
        yield str(ledger["guarantee"]["in_words"])


def read_page(path: Path) -> str:
    """Return the text of a report's file.

    Args:
        path: path of the file.

    Returns:
        The text, with its line endings as they are stored. Empty if the file is not UTF-8, and so no report.

    Raises:
        InvalidInput: the file cannot be read, or is too large to be a report.
    """
    try:
        with path.open("rb") as file:
            # One byte more than allowed shows that the file is too large, without reading all of it.
            data = file.read(LARGEST_PAGE + 1)
    except OSError as error:
        raise InvalidInput.at("/report", f"cannot be read: {error.strerror}") from None
    if len(data) > LARGEST_PAGE:
        raise InvalidInput.at("/report", "is too large to be a report", allowed=f"at most {LARGEST_PAGE} bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return ""
