"""The endpoints of ledgers as the contract has them, over a file, with a network that loses what it is told to lose."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from epsilond.accountants.errors import InvalidInput, NoCertificate
from epsilond.ledgers.book.errors import NotFound
from epsilond.ledgers.client.errors import Refused
from epsilond.ledgers.client.local import FilePlace
from epsilond.ledgers.client.runs import RunNotes


class Faults:
    """What happens to the next requests: `lost` answers are computed and not sent, `busy` ones are put off."""

    def __init__(self) -> None:
        self.lost = self.busy = 0
        self.asked: list[tuple[str, str, str | None]] = []
        self.forged = self.emptied = False
        self.elsewhere: str | None = None


@contextmanager
def serving(folder: Any) -> Iterator[tuple[str, Faults, FilePlace]]:
    """Where it is, what may go wrong, and what it keeps its ledgers in."""
    faults, place = Faults(), FilePlace(folder / "served.db", RunNotes(folder / "none"))

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.answer("GET")

        def do_POST(self) -> None:
            self.answer("POST")

        def do_DELETE(self) -> None:
            self.answer("DELETE")

        def log_message(self, *_: object) -> None:
            pass

        def answer(self, method: str) -> None:
            key = self.headers.get("Idempotency-Key")
            faults.asked.append((method, self.path, key))
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
            if faults.elsewhere:
                self.send(302, {"title": "found"}, {"Location": faults.elsewhere})
                return
            if faults.busy:
                faults.busy -= 1
                self.send(503, {"type": "/problems/busy", "title": "busy"}, {"Retry-After": "0"})
                return
            try:
                status, found = routed(place, method, self.path, body, key or "")
            except InvalidInput as error:
                told = [{"pointer": it.pointer, "message": it.message} for it in error.faults]
                status, found = 422, {"type": "/problems/validation-error", "title": "invalid", "errors": told}
            except NoCertificate as error:
                told = {"title": error.slug, "detail": error.message, "nearest": dict(error.nearest)}
                status, found = 409, {"type": f"/problems/{error.slug}", **told}
            except (Refused, NotFound) as error:
                status, found = 404, {"type": "/problems/not-found", "title": "not found", "detail": str(error)}
            if faults.lost:
                faults.lost -= 1
                self.close_connection = True
                self.connection.close()
                return
            if faults.forged and "entry" in found:
                found["entry"]["count"] += 1
            if faults.emptied and "entry" in found:
                found = {"receipts": []}
            self.send(status, found, {})

        def send(self, status: int, found: Any, headers: dict[str, str]) -> None:
            plain = isinstance(found, str)
            content = found.encode() if plain else json.dumps(found).encode()
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.send_header("Content-Type", "text/plain" if plain else "application/json")
            self.end_headers()
            self.wfile.write(content)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda *_: None  # an answer that was lost on purpose
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", faults, place
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        place.close()


def routed(place: FilePlace, method: str, path: str, body: Any, key: str) -> tuple[int, Any]:
    """Status and answer."""
    asked = urlsplit(path)
    query = {name: values[0] for name, values in parse_qs(asked.query).items()}
    match method, *asked.path.split("/")[2:]:
        case "POST", "ledgers":
            return 201, place.open(body, key)
        case "GET", "ledgers":
            return 200, {"ledgers": place.ledgers()}
        case "GET", "ledgers", name:
            return 200, place.ledger(name)
        case "GET", "ledgers", name, "entries":
            return 200, {"entries": place.entries(name, int(query["from"]))}
        case "POST", "ledgers", name, "what-if":
            return 200, place.what_if(name, body)
        case "POST", "ledgers", name, "reservations":
            return 201, place.reserve([name], body, key)
        case "POST", "reservations":
            return 201, place.reserve(body.pop("ledgers"), body, key)
        case "GET", "reservations", name:
            return 200, place.reservation(name)
        case "DELETE", "reservations", name:
            return 200, place.cancel(name)
        case "POST", "reservations", name, "commits":
            found = [each.record for each in place.commit(name, body, key)]
            return 201, found[0] if len(found) == 1 else {"receipts": found}
        case "POST", "ledgers", name, "seal":
            place.seal(name, key)
            return 200, {}
        case "POST", "ledgers", name, "close":
            place.close_ledger(name, key)
            return 200, {}
        case "POST", "ledgers", name, "voids":
            place.void(name, body, key)
            return 201, {}
        case "GET", "log", "checkpoint":
            return 200, place.checkpoint()
        case "GET", "log", "proofs" if "from" in query:
            return 200, place._book.consistency(int(query["from"]), int(query["to"])).record
        case "GET", "log", "proofs":
            return 200, place._book.inclusion("local", int(query["entry"])).record
        case "GET", "keys":
            return 200, place.keys()
    return 404, {"type": "/problems/not-found", "title": "not found"}
