"""Ledgers on a service, over its HTTP interface."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

from epsilond.accountants.errors import InvalidInput
from epsilond.calibrators.answer import as_json
from epsilond.connection import Connection
from epsilond.ledgers.book.restore import ACCOUNTED_FOR
from epsilond.ledgers.client.errors import Refused
from epsilond.ledgers.client.heads import SeenHead
from epsilond.ledgers.client.http import ask, escape_id, require_no_name
from epsilond.ledgers.client.place import Answer, Body
from epsilond.ledgers.log import checkpoints, receipts
from epsilond.ledgers.log.bundles import Bundle
from epsilond.ledgers.log.errors import Malformed, NotVerified
from epsilond.ledgers.log.keys import PublicKey
from epsilond.ledgers.log.proofs import Consistency
from epsilond.ledgers.log.receipts import Receipt
from epsilond.ledgers.log.signing import published_keys
from epsilond.ledgers.requests import Order

_MOST_ENTRIES = 1000  # largest number of entries of one page
_MOST_PAGES = 10_000  # of one list: a service whose pages never end must not occupy the client for ever


class ServicePlace:
    """Ledgers of a service. Receipts of commits are verified with the service's published keys.

    These keys come from the service. To check the service itself, compare them with keys from another source.
    """

    def __init__(self, url: str, key: str | None = None, *, timeout: float = 60.0, heads: Path | None = None) -> None:
        """Use the service at a URL.

        Args:
            url: URL of the service.
            key: API key; None takes EPSILOND_API_KEY, if it is set.
            timeout: longest time of each try, in seconds.
            heads: folder for the newest head (size and Merkle root) of the log, which later heads must continue.

        Raises:
            InvalidInput: the URL is not an HTTP address of a host, or it has a query or a fragment.
        """
        parts = urlsplit(url)
        is_http_address = parts.scheme in ("http", "https") and bool(parts.hostname)
        if not is_http_address or parts.query or parts.fragment:
            raise InvalidInput.at("/place", "is not a URL of a service", allowed="such as https://host:8000")
        if key is None:
            key = os.environ.get("EPSILOND_API_KEY") or None
        self._service = Connection(url.rstrip("/"), key, timeout)
        self._trusted: tuple[PublicKey, ...] = ()
        self._heads = heads
        self.warnings: dict[str, str] = {}

    def open(self, body: Body, key: str, *, by: str | None = None) -> Answer:
        require_no_name(by)
        return self._fetch("POST", "/v1/ledgers", as_json(body), key)

    def ledgers(self) -> list[Answer]:
        """Return summaries of all ledgers."""
        return self._list_pages("/v1/ledgers", "ledgers")

    def ledger(self, identifier: str) -> Answer:
        """Return a ledger with its balances, its privacy curve and its conditions."""
        return self._fetch("GET", f"/v1/ledgers/{escape_id(identifier)}")

    def entries(self, identifier: str, start: int, order: Order = "oldest", limit: int | None = None) -> list[Answer]:
        path = f"/v1/ledgers/{escape_id(identifier)}/entries"
        # With the newest first, the service cannot start at a number, so smaller numbers are removed afterwards.
        query = f"from={start}" if order == "oldest" else "order=newest"
        if limit is not None:
            page_size = min(max(limit, 1), _MOST_ENTRIES)
            query += f"&limit={page_size}"
        entries = self._list_pages(f"{path}?{query}", "entries", limit)
        return [entry for entry in entries if entry["seq"] >= start]

    def what_if(self, identifier: str, body: Body) -> Answer:
        """Return the privacy cost of runs of a mechanism, and whether the ledger's budget has room. Change nothing."""
        return self._fetch("POST", f"/v1/ledgers/{escape_id(identifier)}/what-if", as_json(body))

    def calibrate(self, identifier: str, algorithm: str, body: Body) -> Answer:
        path = f"/v1/ledgers/{escape_id(identifier)}/calibrations/{escape_id(algorithm)}"
        return self._fetch("POST", path, as_json(body))

    def reserve(self, ledgers: Sequence[str], body: Body, key: str) -> Answer:
        if len(ledgers) == 1:
            (ledger,) = ledgers
            return self._fetch("POST", f"/v1/ledgers/{escape_id(ledger)}/reservations", as_json(body), key)
        return self._fetch("POST", "/v1/reservations", as_json({**body, "ledgers": list(ledgers)}), key)

    def reservation(self, identifier: str) -> Answer:
        """Return a reservation as it is now."""
        return self._fetch("GET", f"/v1/reservations/{escape_id(identifier)}")

    def commit(self, identifier: str, body: Body, key: str) -> list[Receipt]:
        """Commit reserved runs (spend their budget), and return the verified receipts: one for each ledger.

        Args:
            identifier: id of the reservation.
            body: body of the service's request.
            key: idempotency key of the request.

        Returns:
            The receipts. Each proves that the log of the service contains the entry of a commit of this reservation.

        Raises:
            InvalidInput, NoCertificate, Refused: the service refuses, or a receipt is not valid. Nothing may be run.
            Unanswered: no answer came. The same key sent again shows whether the runs were committed.
            LogForked: the log in the receipt does not continue the newest head that this client stored.
        """
        answer = self._fetch("POST", f"/v1/reservations/{escape_id(identifier)}/commits", as_json(body), key)
        records = answer.get("receipts") or [answer]  # with one ledger, the answer itself is the receipt
        try:
            result = [Receipt.of_record(record) for record in records]
        except Malformed as error:
            raise Refused(f"the service's answer is not a receipt, so nothing may be run: {error}") from None
        for receipt in result:
            if receipt.entry.get("kind") != "committed" or receipt.entry.get("reservation") != identifier:
                raise Refused("the service's answer is the receipt of another request, so nothing may be run")
            self._verify(receipt)
            self._check_head(receipt.checkpoint)
        return result

    def cancel(self, identifier: str) -> Answer:
        """Give back the reserved runs that were not committed, and return the reservation."""
        path = f"/v1/reservations/{escape_id(identifier)}"
        return self._fetch("DELETE", path) or self.reservation(identifier)  # the answer may have no content

    def seal(self, identifier: str, key: str) -> None:
        """Declare that it is fixed from now on which records belong to the block of the ledger."""
        self._fetch("POST", f"/v1/ledgers/{escape_id(identifier)}/seal", {}, key)

    def close_ledger(self, identifier: str, key: str) -> None:
        """Close a ledger: from now on no runs can be reserved in it."""
        self._fetch("POST", f"/v1/ledgers/{escape_id(identifier)}/close", {}, key)

    def amend(self, identifier: str, body: Body, key: str, *, by: str | None = None) -> Answer | None:
        return self._request_change(f"/v1/ledgers/{escape_id(identifier)}/amendments", body, key, by)

    def void(self, identifier: str, body: Body, key: str, *, by: str | None = None) -> Answer | None:
        return self._request_change(f"/v1/ledgers/{escape_id(identifier)}/voids", body, key, by)

    def _request_change(self, path: str, body: Body, key: str, by: str | None) -> Answer | None:
        """Send a request for a change of a ledger, which a second person may have to approve.

        Args:
            path: path of the service's endpoint.
            body: body of the request.
            key: idempotency key of the request.
            by: must be None, because the API key names the person.

        Returns:
            The pending change, if a second person must approve it. None if the change was made at once.
        """
        require_no_name(by)
        answer = self._fetch("POST", path, as_json(body), key)
        return answer if "requested_by" in answer else None

    def pending(self, identifier: str) -> list[Answer]:
        """Return the changes of a ledger that wait for a second person."""
        moves = ask(self._service, "GET", f"/v1/ledgers/{escape_id(identifier)}/pending")
        if not isinstance(moves, list):
            raise Refused("the service's answer is not a list of pending moves")
        return moves

    def approve(self, identifier: str, move: str, *, by: str | None = None) -> Answer:
        """Approve a requested change, so that it is made, as the owner of the API key.

        Args:
            identifier: id of the ledger.
            move: id of the change.
            by: must be None, because the API key names the person.
        """
        return self._decide(identifier, move, "approve", by)

    def reject(self, identifier: str, move: str, *, by: str | None = None) -> Answer:
        """Reject or withdraw a requested change, as the owner of the API key.

        Args:
            identifier: id of the ledger.
            move: id of the change.
            by: must be None, because the API key names the person.
        """
        return self._decide(identifier, move, "reject", by)

    def _decide(self, identifier: str, move: str, decision: str, by: str | None) -> Answer:
        """Approve or reject a requested change."""
        require_no_name(by)
        path = f"/v1/ledgers/{escape_id(identifier)}/pending/{escape_id(move)}"
        return self._fetch("POST", f"{path}/{decision}")

    def contradict(self, identifier: str, body: Body, key: str) -> None:
        self._fetch("POST", f"/v1/ledgers/{escape_id(identifier)}/contradictions", as_json(body), key)

    def report(self, identifier: str) -> str:
        """Return the ledger as a signed page of HTML."""
        return str(ask(self._service, "GET", f"/v1/ledgers/{escape_id(identifier)}/report", accept="text/html"))

    def checkpoint(self) -> str:
        """Return the signed head of the log, after comparing it with the newest head that was seen here."""
        note = self._fetch_head()
        self._check_head(note)
        return note

    def _fetch_head(self) -> str:
        """Request the signed head of the log, a text, and collect the warnings of the answer if it is an object."""
        answer = ask(self._service, "GET", "/v1/log/checkpoint")
        if not isinstance(answer, dict):  # the text of the note
            return str(answer)
        self._collect_warnings(answer)
        return str(answer["checkpoint"])

    def reconcile(self, checkpoint: str | None, declared: str | None, *, by: str | None = None) -> Answer:
        """Compare the service's log with a signed head that was stored earlier.

        The service's log is compared on this machine, with the service's proof. With a declaration the service is then
        requested to accept its log, which needs a key with the scope admin.

        Args:
            checkpoint: the signed head to compare with; None compares nothing.
            declared: the declaration of an operator who accepts a log that lacks entries.
            by: must be None, because the key names the person.

        Returns:
            A JSON object with the log's signed head as `checkpoint`. `accepted` describes the difference that was
            accepted, if there is one.

        Raises:
            Refused: nothing is declared, and the log does not continue the head or no head is given.
        """
        require_no_name(by)
        trouble = None if checkpoint is None else self._find_discontinuity(checkpoint)
        if declared is not None:
            return self._accept_log(declared, trouble)
        if trouble is not None:
            raise Refused(f"{trouble} Nothing was changed: find the missing moves, then declare {ACCOUNTED_FOR}")
        if checkpoint is None:
            raise Refused(f"there is no checkpoint to compare with: give one, or declare {ACCOUNTED_FOR}")
        return {"checkpoint": self.checkpoint()}

    def _accept_log(self, declared: str, trouble: str | None) -> Answer:
        """Request that the service accept its log, which may have lost entries, and return the log's head.

        Args:
            declared: the declaration of an operator.
            trouble: difference from an earlier head, as a sentence for the answer; None if there is none.
        """
        answer = self._fetch("POST", "/v1/log/reconciliations", {"declared": declared})
        if self._heads is not None:
            self._seen_head(self._heads).accept(answer["checkpoint"])
        accepted = {} if trouble is None else {"accepted": trouble}
        return {"checkpoint": answer["checkpoint"], **accepted}

    def _find_discontinuity(self, checkpoint: str) -> str | None:
        """Check whether the service's log continues a signed head of an earlier time.

        Args:
            checkpoint: the signed head (size and Merkle root) of an earlier time.

        Returns:
            A sentence with the reason if it does not, or if the head is not validly signed. None if it continues it.

        Raises:
            NotVerified: the present head of the log is not validly signed.
        """
        self._load_keys()
        origin = self._trusted[0].name
        try:
            earlier = checkpoints.verify(checkpoint, origin, self._trusted)
        except NotVerified as error:
            return f"The checkpoint is not this log's: {error}."
        present = checkpoints.verify(self._fetch_head(), origin, self._trusted)
        if present.size < earlier.size:  # the log has lost entries
            return f"The checkpoint has {earlier.size} entries, and the log {present.size}."
        try:
            proof = self._fetch_proof(earlier.size, present.size)
            proof.verify(earlier.root, present.root)
        except NotVerified:
            return f"The first {earlier.size} entries of the log are not those that were signed."
        return None

    def keys(self) -> Answer:
        """Return the public keys of the service's log."""
        return self._fetch("GET", "/v1/keys")

    def bundle(self, identifier: str | None) -> Bundle:
        """Return receipts of log entries with consistency proofs, for a verification without the service.

        Args:
            identifier: id of the ledger; None means all of the organisation, which needs an auditor's key.

        Returns:
            The log's signed head, the receipts, and the proofs between successive sizes of the log in them.
        """
        if identifier is None:
            entries = self._list_pages(f"/v1/log/entries?limit={_MOST_ENTRIES}", "entries")
        else:
            entries = self.entries(identifier, 0)
        entry_receipts = [self._fetch_receipt(entry["seq"]) for entry in entries]
        note = self.checkpoint()
        # The log may grow between two requests. Proofs between successive sizes show that it was only continued.
        sizes = sorted({receipt.proof.tree_size for receipt in entry_receipts} | {self._verified_size(note)})
        proofs = [self._fetch_proof(first, second) for first, second in pairwise(sizes)]
        return Bundle(checkpoints=[note], receipts=entry_receipts, proofs=proofs)

    def _fetch_receipt(self, number: int) -> Receipt:
        """Request the receipt of the log entry with a number. The receipt is not verified."""
        return Receipt.of_record(self._fetch("GET", f"/v1/log/proofs?entry={number}"))

    def _verified_size(self, note: str) -> int:
        """Return the number of entries of the log in a signed note, after verifying the note's signature."""
        if not self._trusted:
            self._load_keys()
        return checkpoints.verify(note, self._trusted[0].name, self._trusted).size

    def close(self) -> None:
        """Do nothing, because each request has its own connection."""

    def _verify(self, receipt: Receipt) -> None:
        """Verify a receipt. If it is not valid, verify it again with newly read public keys of the service.

        Args:
            receipt: entry of a commit, the proof that the log contains it, and the log's signed head.

        Raises:
            Refused: the receipt is not valid with the new keys either.
        """
        if not self._trusted:
            self._load_keys()
        with suppress(NotVerified):
            receipts.verify(receipt, self._trusted[0].name, self._trusted)
            return
        self._load_keys()  # the service may sign with a new key
        try:
            receipts.verify(receipt, self._trusted[0].name, self._trusted)
        except NotVerified as error:
            raise Refused(f"the receipt does not hold, so nothing may be run: {error}") from None

    def _check_head(self, note: str) -> None:
        """Store a head, unless a later one is stored. Raise LogForked if the two are not of one growing log."""
        if self._heads is not None:
            self._seen_head(self._heads).follow(note, self._trusted, self._fetch_proof)

    def _seen_head(self, folder: Path) -> SeenHead:
        """Return the store, in a folder, of the newest head of the service's log that this client has seen."""
        if not self._trusted:
            self._load_keys()
        return SeenHead(folder, self._trusted[0].name)

    def _fetch_proof(self, first: int, second: int) -> Consistency:
        """Return the consistency proof between two sizes of the log."""
        return Consistency.of_record(self._fetch("GET", f"/v1/log/proofs?from={first}&to={second}"))

    def _load_keys(self) -> None:
        """Read the published keys of the service. From now on signatures are verified with them."""
        self._trusted = tuple(published.key for published in published_keys(self.keys()))

    def _fetch(self, method: str, path: str, body: object = None, key: str | None = None) -> Answer:
        """Send a request, and return the JSON object of the answer. Its warnings are added to `warnings`.

        Raises:
            InvalidInput, NoCertificate: the service raised this error.
            Refused: the service refuses for another reason, or the answer is not a JSON object.
            Unanswered: no answer came in several tries.
        """
        answer = ask(self._service, method, path, body, key=key)
        if not isinstance(answer, dict):
            raise Refused(f"the service's answer is not a document at {path}")
        self._collect_warnings(answer)
        return answer

    def _collect_warnings(self, answer: Answer) -> None:
        """Add the warnings of an answer to `warnings`, by their codes."""
        for warning in answer.get("warnings") or ():
            self.warnings[str(warning["code"])] = str(warning["message"])

    def _list_pages(self, path: str, name: str, limit: int | None = None) -> list[Answer]:
        """Return the items of all pages of a list, or the first `limit` items, each as a JSON object.

        Args:
            path: path and query of the first page. The member `next` of a page has the path of the next page.
            name: member of a page that has its items.
            limit: largest number of items; None means all.
        """
        items: list[Answer] = []
        for _ in range(_MOST_PAGES):
            page = self._fetch("GET", path)
            items += page[name]
            path = str(page.get("next") or "")
            is_enough = limit is not None and len(items) >= limit
            if is_enough or not path.startswith("/"):
                break
        return items[:limit]
