"""Everything the service refuses: status, media type, slug, pointer, no echo; and the next request is answered."""

from __future__ import annotations

import json
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator

import httpx
import pytest

from epsilond.app.http.problem_kinds import KINDS, Kind
from epsilond.app.http.problems import Problem, response_of
from tests.app.conftest import PATIENCE, problem
from tests.app.toys import TOY

GOOD = dict(TOY.example)
PATH = "/v1/calibrations/toy"
GAUSSIAN = '{"kind":"gaussian","noise_multiplier":1}'
JSON = {"content-type": "application/json"}


@pytest.fixture(autouse=True)
def next_request_works(client: httpx.Client) -> Iterator[None]:
    """After every refusal the next request is answered."""
    yield
    assert client.post(PATH, json=GOOD).status_code == 200


def body_with(name: str, text: str) -> bytes:
    """A good body with one member's text replaced or added."""
    members = {key: json.dumps(value) for key, value in GOOD.items()} | {name: text}
    return ("{" + ",".join(f'"{key}":{value}' for key, value in members.items()) + "}").encode()


@pytest.mark.parametrize(
    ("name", "text", "pointer", "message", "allowed"),
    [
        ("epsilon", "NaN", "/epsilon", "is not a finite number", None),
        ("epsilon", "Infinity", "/epsilon", "is not a finite number", None),
        ("epsilon", "-Infinity", "/epsilon", "is not a finite number", None),
        ("epsilon", "1e999", "/epsilon", "is beyond every double", None),
        ("epsilon", "-1e999", "/epsilon", "is beyond every double", None),
        ("delta", "1e-400", "/delta", "underflows to zero; a small δ can be given as log10_delta", None),
        ("epsilon", '"1"', "/epsilon", "must be a number", "> 0 and ≤ 1e+09"),
        ("epsilon", "true", "/epsilon", "must be a number", "> 0 and ≤ 1e+09"),
        ("epsilon", "null", "/epsilon", "must not be null", "> 0 and ≤ 1e+09"),
        ("epsilon", "[1]", "/epsilon", "must be a number", "> 0 and ≤ 1e+09"),
        ("epsilon", "-31337.5", "/epsilon", "is out of range", "> 0 and ≤ 1e+09"),
        ("delta", "1.0", "/delta", "is out of range", "> 0 and < 1"),
        ("delta", "null", "/delta", "must not be null; leave it out", "> 0 and < 1"),
        ("clients", "true", "/clients", "must be a whole number", "≥ 1 and ≤ 1e+15"),
        ("clients", "31337.5", "/clients", "must be a whole number", "≥ 1 and ≤ 1e+15"),
        ("clients", '"31337"', "/clients", "must be a whole number", "≥ 1 and ≤ 1e+15"),
        ("clients", "1" + "0" * 20, "/clients", "is out of range", "≥ 1 and ≤ 1e+15"),
        ("clients", "1" + "0" * 5000, "/clients", "has too many digits", None),
        ("relation", '"31337"', "/relation", "is not one of the allowed values", "replace-one"),
        ("relation", "31337", "/relation", "is not one of the allowed values", "replace-one"),
        ("participants", "31337", "/participants", "exceeds the number of clients", "≤ 10"),
        ("surprise", "31337", "/surprise", "is not a field of this object", None),
        ("a/b~c", "31337", "/a~1b~0c", "is not a field of this object", None),
        ("x" * 100_000, "31337", "/" + "x" * 64 + "…", "is not a field of this object", None),
        ('epsilon":1,"epsilon', "31337", "/epsilon", "is given twice", None),
        ("spec", '{"kind":"31337"}', "/spec/kind", "is not one of the allowed values", "'gaussian', "),
        ("spec", "{}", "/spec/kind", "is required", None),
        ("spec", "[]", "/spec", "must be an object", None),
        ("spec", "31337", "/spec", "must be an object", None),
        ("spec", '"31337"', "/spec", "must be an object", None),
        ("spec", '{"kind":"gaussian"}', "/spec/noise_multiplier", "is required", "≥ 1e-06 and ≤ 1e+15"),
        (
            "spec",
            '{"kind":"gaussian","noise_multiplier":NaN}',
            "/spec/noise_multiplier",
            "is not a finite number",
            None,
        ),
        (
            "spec",
            f'{{"kind":"composed","mechanisms":[{GAUSSIAN},{{"kind":"repeated","times":31337.5,"mechanism":{GAUSSIAN}}}]}}',
            "/spec/mechanisms/1/times",
            "must be a whole number",
            "≥ 1 and ≤ 1e+15",
        ),
        (
            "spec",
            '{"kind":"repeated","times":2,"mechanism":{"kind":"composed","mechanisms":[]}}',
            "/spec/mechanism/mechanisms",
            "has too few or too many entries",
            "1 to 10000",
        ),
        ("spec", '{"a":' * 15 + "{}" + "}" * 15, "/spec" + "/a" * 15, "is nested too deeply", "at most 16 levels"),
        ("spec", "[" * 100_000 + "]" * 100_000, "", "is nested too deeply", "at most 16 levels"),
    ],
)
def test_a_value_that_cannot_be(
    client: httpx.Client, name: str, text: str, pointer: str, message: str, allowed: str | None
) -> None:
    response = client.post(PATH, content=body_with(name, text), headers=JSON)
    body = problem(response, 422, "invalid-input")
    fault = next(fault for fault in body["errors"] if fault["pointer"] == pointer)
    assert fault["message"] == message
    assert (allowed or "") in fault.get("allowed", "")
    assert "31337" not in response.text
    assert len(response.content) < 4096


def test_sixteen_levels_are_not_too_deep(client: httpx.Client) -> None:
    deep = '{"kind":"repeated","times":1,"mechanism":' * 14 + '{"kind":"gaussian","noise_multiplier":1}' + "}" * 14
    assert client.post(PATH, content=body_with("spec", deep), headers=JSON).status_code == 200


def test_two_fields_that_no_run_can_have(client: httpx.Client) -> None:
    body = problem(client.post(PATH, json=GOOD | {"participants": 11}), 422, "invalid-input")
    assert body["errors"] == [
        {"message": "exceeds the number of clients", "pointer": "/participants", "allowed": "≤ 10"},
        {"message": "is below the number of participants", "pointer": "/clients"},
    ]


def test_every_fault_is_told_at_once_but_no_more_than_sixteen(client: httpx.Client) -> None:
    body = problem(client.post(PATH, json={"epsilon": -1, "delta": 2}), 422, "invalid-input")
    assert {fault["pointer"] for fault in body["errors"]} == {"/epsilon", "/delta", "/clients"}
    body = problem(client.post(PATH, json={str(place): 1 for place in range(1_000)}), 422, "invalid-input")
    assert len(body["errors"]) == 16
    numbers = ",".join(f'"{place}":NaN' for place in range(1_000))
    body = problem(client.post(PATH, content="{" + numbers + "}", headers=JSON), 422, "invalid-input")
    assert len(body["errors"]) == 16


def test_a_fault_that_only_the_computation_finds(client: httpx.Client) -> None:
    for path in (PATH, "/v1/calibrations/slow-toy"):
        body = problem(client.post(path, json=GOOD | {"epsilon": 422}), 422, "invalid-input")
        assert body["errors"] == [{"message": "cannot be this", "pointer": "/epsilon", "allowed": "anything else"}]


@pytest.mark.parametrize("text", ["[]", "[31337]", '"31337"', "31337", "true", "null", "{}"])
def test_a_body_that_is_not_the_object(client: httpx.Client, text: str) -> None:
    response = client.post(PATH, content=text, headers=JSON)
    body = problem(response, 422, "invalid-input")
    expected = {"/epsilon", "/clients"} if text == "{}" else {""}
    assert {fault["pointer"] for fault in body["errors"]} == expected
    assert "31337" not in response.text


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b" ",
        b"{",
        b'{"epsilon":31337',
        b'{"epsilon":31337}}',
        b"{'epsilon':31337}",
        b'{"epsilon":01}',
        b'{"epsilon":+1}',
        b'{"epsilon":.5}',
        b'{"epsilon":nan}',
        b'{"epsilon":31337,}',
        b"\xff\xfe31337",
        b'{"\xc3\x28":31337}',
        b"\xef\xbb\xbf{}",
        b'{"\\ud800":31337}',
        b'{"relation":"\\udfff 31337"}',
        b'{"a":"31337\x00"}',
        "{}".encode("utf-16"),
    ],
)
def test_a_body_that_is_not_json(client: httpx.Client, content: bytes) -> None:
    response = client.post(PATH, content=content, headers=JSON)
    problem(response, 400, "malformed-json")
    assert "31337" not in response.text


def test_a_missing_body(client: httpx.Client) -> None:
    problem(client.post(PATH), 400, "malformed-json")


@pytest.mark.parametrize(
    "media_type",
    ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", "application/json; charset=latin-1", ""],
)
def test_a_body_of_another_type(client: httpx.Client, media_type: str) -> None:
    problem(client.post(PATH, content=b"{}", headers={"content-type": media_type}), 415, "unsupported-media-type")


@pytest.mark.parametrize(
    "media_type", ["application/json", "Application/JSON; charset=UTF-8", 'application/json;charset="utf-8"']
)
def test_json_however_it_is_spelt(client: httpx.Client, media_type: str) -> None:
    good = json.dumps(GOOD).encode()
    assert client.post(PATH, content=good, headers={"content-type": media_type}).status_code == 200


def test_a_large_body(client: httpx.Client) -> None:
    response = client.post(PATH, content=b" " * 10_000_000, headers=JSON)
    problem(response, 413, "too-large")
    assert response.headers["connection"] == "close"


def test_a_client_that_sends_all_before_it_listens_is_told(client: httpx.Client) -> None:
    address = str(client.base_url).rstrip("/") + PATH
    request = urllib.request.Request(address, data=b" " * 10_000_000, headers=JSON, method="POST")
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=PATIENCE)
    with refused.value as answer:
        assert answer.code == 413
        assert json.load(answer)["type"] == "/problems/too-large"


def test_a_body_far_too_large_is_not_waited_for(client: httpx.Client) -> None:
    with socket.create_connection((client.base_url.host, client.base_url.port), timeout=PATIENCE) as raw:
        raw.sendall(f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n".encode())
        raw.sendall(b"Content-Length: 100000000\r\n\r\n")
        assert raw.recv(100).startswith(b"HTTP/1.1 413")


def test_a_large_body_in_chunks(client: httpx.Client) -> None:
    sent = 0

    def chunks() -> Iterator[bytes]:
        nonlocal sent
        for _ in range(1000):
            sent += 10_000
            yield b" " * 10_000

    problem(client.post(PATH, content=chunks(), headers=JSON), 413, "too-large")


def test_a_body_at_the_limit(client: httpx.Client) -> None:
    good = json.dumps(GOOD).encode()
    assert client.post(PATH, content=good.ljust(1_048_576), headers=JSON).status_code == 200
    problem(client.post(PATH, content=good.ljust(1_048_577), headers=JSON), 413, "too-large")


@pytest.mark.parametrize("path", [PATH, "/v1/calibrations/slow-toy"])
@pytest.mark.parametrize(
    ("epsilon", "slug", "nearest"),
    [(400.0, "infeasible", {"epsilon": 401.0}), (401.0, "condition-violated", {"epsilon": "unbounded"})],
)
def test_what_nothing_certifies(
    client: httpx.Client, path: str, epsilon: float, slug: str, nearest: dict[str, object]
) -> None:
    for _ in ("computed", "remembered"):
        body = problem(client.post(path, json=GOOD | {"epsilon": epsilon}), 409, slug)
        assert body["condition"] == {"id": "toy.small", "statement": "ε is not 400", "left": epsilon, "right": 401.0}
        assert body["nearest"] == nearest


def test_beyond_budget(client: httpx.Client) -> None:
    body = problem(client.post(PATH, json=GOOD | {"epsilon": 402}), 409, "beyond-budget")
    assert body["detail"] == "Too many cells."
    assert "condition" not in body


@pytest.mark.parametrize("method", ["GET", "POST", "PUT"])
def test_an_unknown_algorithm(client: httpx.Client, method: str) -> None:
    body = problem(client.request(method, "/v1/calibrations/slow-toi-31337"), 404, "not-found")
    assert body["errors"] == [{"message": "is unknown", "parameter": "algorithm", "allowed": "slow-toy"}]
    assert "31337" not in body["detail"]


def test_an_unknown_path(client: httpx.Client) -> None:
    for path in ("/31337", "/v1", "/v1/theorems/", "/v1/calibrations", "/v1/calibrations/toy/31337"):
        response = client.get(path)
        problem(response, 404, "not-found")
        assert "31337" not in response.text


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("GET", PATH, "OPTIONS, POST"),
        ("HEAD", PATH, "OPTIONS, POST"),
        ("DELETE", PATH, "OPTIONS, POST"),
        ("POST", "/healthz", "GET, HEAD, OPTIONS"),
        ("PUT", "/v1/theorems/toy.1", "GET, HEAD, OPTIONS"),
        ("GET", "/v1/theorems/toy.1/evaluations", "OPTIONS, POST"),
        ("POST", "/docs", "GET, HEAD, OPTIONS"),
    ],
)
def test_another_method(client: httpx.Client, method: str, path: str, allow: str) -> None:
    response = client.request(method, path)
    assert response.headers["allow"] == allow
    assert response.status_code == 405
    if method != "HEAD":
        assert problem(response, 405, "method-not-allowed")["detail"].endswith(f"Allowed: {allow}.")
    options = client.options(path)
    assert (options.status_code, options.headers["allow"], options.content) == (204, allow, b"")


@pytest.mark.parametrize("path", [PATH, "/v1/calibrations/slow-toy"])
@pytest.mark.parametrize("epsilon", [500.0, 501.0])
def test_what_nobody_foresaw(client: httpx.Client, path: str, epsilon: float) -> None:
    response = client.post(path, json=GOOD | {"epsilon": epsilon})
    problem(response, 500, "internal-error")
    for secret in ("secret-of-the-mathematics", "RuntimeError", "ValueError", "NaN", ".py"):
        assert secret not in response.text


def test_a_request_that_is_not_http(client: httpx.Client) -> None:
    """The server itself answers it; the service goes on."""
    with socket.create_connection((client.base_url.host, client.base_url.port)) as raw:
        raw.sendall(b"31337\r\n\r\n")
        assert raw.recv(100).startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS.values() if kind.status in (429, 503)], ids=lambda kind: kind.slug
)
def test_whoever_is_put_off_is_told_until_when(kind: Kind) -> None:
    assert int(response_of(Problem(kind.slug, "Not now.")).headers["retry-after"]) > 0
    assert response_of(Problem(kind.slug, "Not now.", headers={"Retry-After": "7"})).headers["retry-after"] == "7"


@pytest.mark.parametrize(("limit", "allowed"), [("0", "≥ 1"), ("1001", "≤ 100")])
def test_a_parameter_out_of_range_is_told_its_bound(client: httpx.Client, limit: str, allowed: str) -> None:
    [error] = problem(client.get("/v1/jobs", params={"limit": limit}), 422, "invalid-input")["errors"]
    assert (error["parameter"], error["message"], error["allowed"]) == ("limit", "is out of range", allowed)
