"""Requests for every example of the OpenAPI document, and the comparison of answers with what a client made of them.

The drivers run in the environments of the generators, so this module imports only the standard library.
"""

from __future__ import annotations

import json
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

OPENAPI = Path(__file__).parents[2] / "openapi"
LEDGER, OTHER_LEDGER = "ledger_0123456789abcdef", "ledger_fedcba9876543210"
RESERVATION, JOB, MOVE = "reservation_0123456789abcdef", "job", "move_0123456789abcdef"
MADE_BY_APPROVAL = "amend_ledger_plan with approval"
ORDER = (
    "open_ledger",
    "open_ledger of another block",
    "calibrate_within_ledger",
    "ask_ledger_what_if",
    "ask_ledger_what_if_2",
    "reserve",
    "reserve_2",
    "reserve_many",
    "commit_reservation",
    "amend_ledger_plan",
    MADE_BY_APPROVAL,
    "void_ledger_runs",
    "reconcile_log",
)
"""Examples that need what earlier ones made."""
SHOWN = {
    "/v1/ledgers/": LEDGER,
    "/v1/reservations/": RESERVATION,
    "/v1/jobs/": JOB,
    "/v1/theorems/": "lowy.2.1",
    "/problems/": "infeasible",
}
"""Values of the parameter of each path, for operations without an example."""
AS_A_JOB = "sweep_calibration as a job"
ENTRY = "the entry of the commit"
MADE = {
    "open_ledger": LEDGER,
    "open_ledger of another block": OTHER_LEDGER,
    "reserve": RESERVATION,
    MADE_BY_APPROVAL: MOVE,
    AS_A_JOB: JOB,
}
"""What requests make whose ids later requests name."""


@dataclass(frozen=True)
class Request:
    """One request of one operation.

    Attributes:
        name: of the example, or of the operation.
        operation: its id.
        tag: the group of the operation.
        method: in lower case.
        template: the path with the names of its parameters.
        path: values of the parameters of the path.
        headers: the required ones, and what the example is about.
        query: parameters of the query.
        body: the JSON body, None if there is none.
        statuses: what the document declares for each status below 400: a schema name, or None.
    """

    name: str
    operation: str
    tag: str
    method: str
    template: str
    path: dict[str, str]
    headers: dict[str, str]
    query: dict[str, Any]
    body: Any
    schema: str | None
    answers: dict[int, str | None]

    @property
    def arguments(self) -> dict[str, Any]:
        """The parameters by the names that generators give them in Python."""
        given = {**self.path, **self.headers, **self.query}
        return {name.lower().replace("-", "_"): value for name, value in given.items()}

    @property
    def url(self) -> str:
        """The path with its parameters filled in."""
        return self.template.format(**self.path)


@dataclass
class Exchanges:
    """The requests of one client, in an order in which each finds what it needs.

    Attributes:
        client: name of the client; its ledgers are about a data set of this name.
        ids: what the service called the things that the examples name.
    """

    client: str
    ids: dict[str, str] = field(default_factory=dict)
    document: dict[str, Any] = field(default_factory=lambda: json.loads((OPENAPI / "openapi.json").read_text("utf-8")))

    def requests(self) -> Iterator[Request]:
        """Yield a request for each example, then one for each operation that reads JSON."""
        examples = {path.stem: json.loads(path.read_text("utf-8")) for path in (OPENAPI / "examples").glob("*.json")}
        examples["open_ledger of another block"] = _of_another_block(examples["open_ledger"])
        examples[MADE_BY_APPROVAL] = _of_other_ledger(examples["amend_ledger_plan"])
        examples[AS_A_JOB] = self._own_sweep(examples["sweep_calibration"])
        ordered = [*ORDER, AS_A_JOB, *sorted(examples.keys() - {*ORDER, AS_A_JOB})]
        for name in ordered:
            yield self._request(name, examples[name]["method"].lower(), examples[name]["path"], examples[name]["body"])
            if name.startswith("start_simulation"):  # which would take the place of later requests
                yield self._request(f"remove_job of {name}", "delete", f"/v1/jobs/{name}", None)
        for template, operations in self.document["paths"].items():
            answer = operations.get("get", {}).get("responses", {}).get("200", {})
            shown = "{" not in template or template.startswith(tuple(SHOWN))
            if shown and "application/json" in self._resolve(answer).get("content", {}):
                yield self._request(operations["get"]["operationId"], "get", template, None)

    def remember(self, request: Request, answer: Any) -> None:
        """Keep the ids that later requests need."""
        if request.operation == "start_simulation":
            self.ids[request.name] = answer["id"]
        if request.name in MADE:
            self.ids[MADE[request.name]] = answer["id"]
        if request.name == "commit_reservation":
            self.ids[ENTRY] = answer["proof"]["leaf_index"]

    def _own_sweep(self, example: dict[str, Any]) -> dict[str, Any]:
        """Return a sweep that no other client has asked for, so that it becomes a job."""
        sweep = {**example["body"]["sweep"], "values": [1.0 + len(self.client) / 100.0]}
        return {**example, "body": {**example["body"], "sweep": sweep}}

    def _request(self, name: str, method: str, path: str, body: Any) -> Request:
        template = next(each for each in self.document["paths"] if _values(each, path) is not None)
        operation = self.document["paths"][template][method]
        values = _values(template, path) or {}
        parameters = [self._resolve(each) for each in operation.get("parameters", ())]
        for each in parameters:
            if each["in"] == "path" and values[each["name"]].startswith("{"):
                values[each["name"]] = _shown(template, each["name"])
        headers = {
            each["name"]: f"{self.client} {name}".replace(" ", "-")
            for each in parameters
            if each["in"] == "header" and each["required"]
        }
        if name == AS_A_JOB:
            headers["Prefer"] = "respond-async"
        declared = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
        if body is not None:
            body = self._filled(body)
            if operation["operationId"] == "open_ledger":
                body["dataset"] = f"{body['dataset']} of {self.client}"
        return Request(
            name=name, operation=operation["operationId"], tag=operation["tags"][0], method=method, template=template,
            path=self._filled(values), headers=headers, body=body,
            query=self._filled({"entry": ENTRY}) if name == "get_log_proof" else {}, schema=_schema_name(declared),
            answers={int(status): self._answer(response) for status, response in operation["responses"].items()
                     if status < "400"},
        )  # fmt: skip

    def _answer(self, response: dict[str, Any]) -> str | None:
        content = self._resolve(response).get("content", {}).get("application/json", {})
        return _schema_name(content.get("schema", {}))

    def _filled(self, value: Any) -> Any:
        """Return a JSON value with the ids of the service in place of those of the examples."""
        text = json.dumps(value)
        for placeholder, own in self.ids.items():
            text = text.replace(json.dumps(placeholder), json.dumps(own))
        return json.loads(text)

    def _resolve(self, part: dict[str, Any]) -> dict[str, Any]:
        if "$ref" not in part:
            return part
        _, components, kind, name = part["$ref"].split("/")
        found: dict[str, Any] = self.document[components][kind][name]
        return found


def _of_another_block(example: dict[str, Any]) -> dict[str, Any]:
    """Return the opening of another block, whose amendments a second person approves."""
    return {**example, "body": {**example["body"], "block": "another", "approval": True}}


def _of_other_ledger(example: dict[str, Any]) -> dict[str, Any]:
    """Return the same request of the ledger with approval, where it makes a pending move."""
    return {**example, "path": example["path"].replace(LEDGER, OTHER_LEDGER)}


def _shown(template: str, parameter: str) -> str:
    """Return the value of a parameter of a path without an example. Only the other ledger has pending moves."""
    if parameter == "move":
        return MOVE
    if "/pending" in template:
        return OTHER_LEDGER
    return next(value for start, value in SHOWN.items() if template.startswith(start))


def _schema_name(schema: dict[str, Any]) -> str | None:
    return schema["$ref"].rpartition("/")[2] if "$ref" in schema else None


def _values(template: str, path: str) -> dict[str, str] | None:
    """Return the values of a path's parameters, or None if the path does not fit the template."""
    parts, given = template.split("/"), path.split("/")
    if len(parts) != len(given) or any(a != b for a, b in zip(parts, given, strict=True) if not a.startswith("{")):
        return None
    return {a[1:-1]: b for a, b in zip(parts, given, strict=True) if a.startswith("{")}


def difference(sent: Any, parsed: Any, place: str = "") -> str | None:
    """Return where two JSON values differ, or None: numbers are compared by value, and absent is not null."""
    if isinstance(sent, dict) and isinstance(parsed, dict):
        if sent.keys() != parsed.keys():
            return f"{place or '/'}: fields {sorted(sent.keys() ^ parsed.keys())} stand on one side only"
        found = (difference(sent[name], parsed[name], f"{place}/{name}") for name in sent)
    elif isinstance(sent, list) and isinstance(parsed, list):
        if len(sent) != len(parsed):
            return f"{place}: {len(sent)} items, not {len(parsed)}"
        found = (difference(*pair, f"{place}/{index}") for index, pair in enumerate(zip(sent, parsed, strict=True)))
    elif isinstance(sent, bool) is isinstance(parsed, bool) and sent == parsed:
        return None
    else:
        return f"{place}: {sent!r}, not {parsed!r}"
    return next(filter(None, found), None)


Send = Callable[[Request], tuple[int, Any, Any]]
"""Sends a request through a client; the status, the answer as it came, and what the client dumps of it."""


def run(client: str, send: Send, record: Path) -> None:
    """Send all requests, print what went wrong and how much, and exit with 1 if anything did.

    Args:
        client: name of the client.
        send: sends one request.
        record: file for requests and answers.
    """
    exchanges = Exchanges(client)
    crashes, differences, records = 0, 0, []
    seconds: dict[str, float] = {}
    for request in exchanges.requests():
        start = time.monotonic()
        try:
            status, sent, parsed = send(request)
            assert status < 400, f"status {status}: {sent}"
            exchanges.remember(request, sent)
        except Exception:  # noqa: BLE001  whatever a generated client raises is counted
            crashes += 1
            print(f"{client}: {request.name} crashed\n{traceback.format_exc(limit=-4)}", file=sys.stderr)
            continue
        seconds[request.name] = time.monotonic() - start
        records.append({"name": request.name, "method": request.method, "template": request.template,
                        "path": request.path, "headers": request.headers, "body": request.body,
                        "status": status, "answer": sent})  # fmt: skip
        found = difference(sent, parsed)
        if found is not None:
            differences += 1
            print(f"{client}: {request.name} differs at {found}", file=sys.stderr)
    record.write_text(json.dumps(records), encoding="utf-8")
    slowest = max(seconds, key=seconds.__getitem__, default="none")
    print(f"{client}: {crashes + len(records)} requests, {crashes} crashes, {differences} answers that differ; "
          f"slowest: {slowest}, {seconds.get(slowest, 0.0):.1f} s of {sum(seconds.values()):.1f} s")  # fmt: skip
    sys.exit(bool(crashes or differences))
