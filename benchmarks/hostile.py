"""Requests of at most 1 MB that are meant to hold up the event loop, beside those that the OpenAPI document shows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from epsilond.app.openapi import filled

LIMIT = 1_048_576
JSON = {"content-type": "application/json"}
GAUSSIAN = {"kind": "gaussian", "noise_multiplier": 1.5}
SETTING = b'"relation":"add-or-remove-one","unit":"record","observer":"server"'
ACCOUNT = b"{" + SETTING + b',"query":{"delta":1e-6},"spec":{"kind":"composed","mechanisms":[%b]}}'
NAMES = ("/openapi.json", "/docs", "/docs/swagger-ui-bundle.js", "/docs/swagger-ui.css", "/", "/explorer/main.js")


@dataclass(frozen=True)
class Asked:
    """A request by a name of its own."""

    name: str
    method: str
    path: str
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


def posted(name: str, path: str, body: bytes | object) -> Asked:
    """A body as JSON, cut to what the service reads at all."""
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    assert len(sent) <= LIMIT, name
    return Asked(f"POST {path}: {name}", "POST", path, sent, JSON)


def documents(document: Mapping[str, Any]) -> Iterator[Asked]:
    """Every GET without parameters, the files of both pages, and names that nothing has."""
    paths = [path for path, methods in document["paths"].items() if "get" in methods and "{" not in path]
    for path in (*NAMES, *paths, "/v1/theorems?status=proved", "/v1/theorems/lowy.2.1", "/problems/invalid-input"):
        yield Asked(f"GET {path}", "GET", path)
        yield Asked(f"GET {path}, not compressed", "GET", path, headers={"accept-encoding": "identity"})
    yield Asked("HEAD /openapi.json", "HEAD", "/openapi.json")
    for path in ("/v1/theorems/lowy.2.99", f"/v1/theorems/{8000 * 'x'}", "/problems/none", "/v1/calibrations/mb-sdg"):
        yield Asked(f"GET {path[:40]}: unknown", "GET", path)


def examples_of(document: Mapping[str, Any]) -> Iterator[Asked]:
    """Every example of every operation, as it is and as it is asked again."""
    for path, methods in document["paths"].items():
        operation = methods.get("post")
        shown = operation["requestBody"]["content"]["application/json"].get("examples", {}) if operation else {}
        for name, example in shown.items():
            yield posted(f"example {name}", filled(path, operation), example["value"])


def hostile(document: Mapping[str, Any]) -> Iterator[Asked]:
    """What hurt before, and relatives of it, at every path where a body is read."""
    for path, methods in document["paths"].items():
        if "post" not in methods:
            continue
        where = filled(path, methods["post"])
        for name, body in anywhere().items():
            yield posted(name, where, body)
    account = {"spec": GAUSSIAN, "relation": "add-or-remove-one", "unit": "record", "observer": "server"}
    for name, mechanisms in {
        "45 000 mechanisms without fields": b"{}," * 45_000 + b"{}",
        "20 000 mechanisms without fields": b"{}," * 19_999 + b"{}",
        "10 000 valid mechanisms": b",".join([json.dumps(GAUSSIAN).encode()] * 10_000),
        "10 000 mechanisms of no kind": b",".join([b'{"kind":"none"}'] * 10_000),
    }.items():
        yield posted(name, "/v1/accounts", ACCOUNT % mechanisms)
    for many in (200_000, 20_000):
        for name, value in (("epsilons", "x"), ("deltas", -1)):
            yield posted(f"{many} wrong {name}", "/v1/accounts", {**account, "query": {name: [value] * many}})
    yield posted("250 000 wrong words", "/v1/plans", b'{"trust":[' + b'"",' * 250_000 + b'""]}')
    yield posted(
        "20 000 wrong words",
        "/v1/plans",
        {
            "trust": ["x"] * 20_000,
            "relation": "replace-one",
            "unit": "record",
            "observers": ["server", "shuffled-server", "released-models", "final-model", "other-clients"],
        },
    )
    for name, value in {"wrong": "x" * 5000, "long": int("9" * 300)}.items():
        sweep = {"field": "/epsilon", "values": [value] * 200}
        yield posted(
            f"sweep of 200 {name} values",
            "/v1/calibrations/mb-sgd",
            {"sweep": sweep, "relation": "replace-one", "unit": "record", "observer": "server"},
        )
    yield posted(
        "sweep of 20 000 values",
        "/v1/calibrations/mb-sgd",
        {
            "sweep": {"field": "/epsilon", "values": [1.0] * 20_000},
            "relation": "replace-one",
            "unit": "record",
            "observer": "server",
        },
    )
    yield from simulations(document)


def anywhere() -> Mapping[str, bytes]:
    """Bodies that no path takes."""
    return {
        "1 MB of []": b"[" + b"[]," * 340_000 + b"[]]",
        "20 000 []": b"[" + b"[]," * 19_999 + b"[]]",
        "75 000 unknown fields": json.dumps(dict.fromkeys((f"f{place}" for place in range(75_000)), 1)).encode(),
        "1 000 unknown fields": json.dumps(dict.fromkeys((f"f{place}" for place in range(1000)), 1)).encode(),
        "deep nesting": b"[" * 500_000 + b"]" * 500_000,
        "nesting of 16": b"[" + b",".join([b"[" * 14 + b"]" * 14] * 7000) + b"]",
        "a long string": json.dumps({"epsilon": "x" * 1_000_000}).encode(),
        "a long name": json.dumps({"x" * 1_000_000: 1}).encode(),
        "escapes": b'{"epsilon":"' + b"\\u0041" * 170_000 + b'"}',
        "1 MB of quotes": b'"' * 1_000_000,
        "1 MB of digits": b'{"epsilon":' + b"9" * 1_000_000 + b"}",
        "no JSON": b"\xff" * 1_000_000,
    }


def simulations(document: Mapping[str, Any]) -> Iterator[Asked]:
    """Plans of simulations that hold a million numbers, and are refused for their length, or start."""
    path = "/v1/simulations"
    if path not in document["paths"]:
        return
    shown = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]["examples"]
    risk = next(each["value"] for each in shown.values() if each["value"].get("kind") == "risk")
    problem = {"kind": "logistic", "population": 400, "dimension": 1000, "clients": 10, "samples_per_client": 100}
    endless = {**risk["run"], "rounds": 10**9}
    yield posted("population 400 × dimension 1000", path, {**risk, "problem": problem, "run": endless})
    yield posted("a billion rounds", path, {**risk, "run": endless})
