"""Documents are bytes made once: a tag to ask about them, plain and compressed; and other answers compressed."""

from __future__ import annotations

import gzip

import anyio
import httpx
import pytest
from starlette.requests import Request

from epsilond.app.http.compression import OFFERS, SMALLEST, takes_gzip
from epsilond.app.http.document import Document, Documents
from tests.app.conftest import problem

PATHS = [
    "/openapi.json",
    "/docs",
    "/docs/swagger-ui-bundle.js",
    "/",
    "/explorer/main.js",
    "/v1/theorems",
    "/v1/theorems?status=proved",
    "/v1/theorems?paper=toy",
    "/v1/theorems/toy.1",
    "/v1/algorithms",
    "/problems",
    "/problems/invalid-input",
]
WHOLE = {"accept-encoding": "identity"}


@pytest.mark.parametrize("path", PATHS)
def test_a_document_has_a_tag_and_two_forms(client: httpx.Client, path: str) -> None:
    plain = client.get(path, headers=WHOLE)
    assert plain.status_code == 200
    assert "content-encoding" not in plain.headers
    assert plain.headers["etag"].startswith('W/"')
    small = client.get(path)
    assert small.content == plain.content
    assert small.headers["etag"] == plain.headers["etag"]
    assert small.headers.get("content-encoding") == ("gzip" if len(plain.content) >= SMALLEST else None)
    assert small.headers.get("vary") == plain.headers.get("vary")
    for headers in (WHOLE, {"accept-encoding": "gzip"}):
        head = client.head(path, headers=headers)
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["etag"] == plain.headers["etag"]
    again = client.get(path, headers={"if-none-match": plain.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == plain.headers["etag"]
    assert again.headers["cache-control"] == plain.headers["cache-control"]
    for other in ('"other"', "", '"' + 10_000 * "x" + '"'):
        assert client.get(path, headers={"if-none-match": other}).status_code == 200


def test_documents_of_other_contents_have_other_tags(client: httpx.Client) -> None:
    tags = [client.get(path).headers["etag"] for path in PATHS]
    assert len(set(tags)) == len(tags)


def test_other_answers_are_compressed_too(client: httpx.Client) -> None:
    body = {str(place): 1 for place in range(1000)}
    for path, sent in (("/metrics", None), ("/v1/calibrations/toy", body)):
        method = "GET" if sent is None else "POST"
        with client.stream(method, path, json=sent, headers={"accept-encoding": "gzip"}) as answer:
            raw = b"".join(answer.iter_raw())
        assert answer.headers["content-encoding"] == "gzip"
        assert answer.headers["vary"] == "Accept-Encoding"
        assert int(answer.headers["content-length"]) == len(raw)
        assert b"epsilond" in gzip.decompress(raw) if sent is None else b"invalid-input" in gzip.decompress(raw)
        plain = client.request(method, path, json=sent, headers=WHOLE)
        assert "content-encoding" not in plain.headers
        assert plain.headers["vary"] == "Accept-Encoding"
    assert "vary" not in client.get("/healthz").headers


@pytest.mark.parametrize(
    ("offered", "taken"),
    [
        ("gzip", True),
        ("br, GZIP;q=0.5", True),
        ("*", True),
        ("gzip;q=0", False),
        ("gzip; q=0.000, *", False),
        ("*;q=0", False),
        ("", False),
        ("identity", False),
        ("x-gzipped", False),
        (f"gzip,{OFFERS * ','}", True),
        (f"{OFFERS * ','}gzip", False),
        (f"{(OFFERS - 5) * ','}gzip;q=0", False),
    ],
)
def test_who_takes_gzip(offered: str, taken: bool) -> None:
    assert takes_gzip({"accept-encoding": offered}) is taken


@pytest.mark.parametrize("given", ['"{}"', 'W/"{}"', '"other", W/"{}"', "*"])
def test_tags_are_compared_weakly(given: str) -> None:
    document = Document(b"x" * 5000, "text/plain")
    opaque = document.etag.removeprefix("W/").strip('"')
    header = given.format(opaque).encode()
    assert document.response(Request({"type": "http", "headers": [(b"if-none-match", header)]})).status_code == 304


def test_a_document_is_made_once_and_again_only_after_a_failure() -> None:
    made = []

    def make(key: str) -> Document:
        made.append(key)
        if len(made) == 1:
            raise ValueError(key)
        return Document(key.encode(), "text/plain")

    async def ask() -> None:
        documents = Documents(make)
        with pytest.raises(ValueError, match="a"):
            await documents.of("a")
        assert (await documents.of("a")) is (await documents.of("a"))

    anyio.run(ask)
    assert made == ["a", "a"]


def test_a_file_that_is_not_there(client: httpx.Client) -> None:
    for path in ("/docs/nothing.js", "/explorer/", "/docs/%2e%2e/__init__.py", "/explorer/vendor", "/docs/a%00b"):
        answer = client.get(path)
        if path == "/explorer/":
            assert answer.headers["content-type"].startswith("text/html")
        else:
            problem(answer, 404, "not-found")
