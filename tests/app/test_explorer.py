"""The pages at / and /ledgers: what is served, how, and that nothing in them asks another host."""

import gzip
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = (ROOT / "app/explorer", ROOT / "ledgers/pages/explorer")
"""The folder of the explorer, and that of the page of ledgers; their files are served below one path."""
VENDORED = {
    "uPlot.iife.min.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
    "uPlot.min.css": "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
    "LICENSE": "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
}
"""Of uPlot 1.6.32 as npm serves it (uplot-1.6.32.tgz)."""
TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    "": "application/octet-stream",
}
PAGES = {"index.html": "/", "ledgers.html": "/ledgers"}
PLACES = {
    str(path.relative_to(folder)): path
    for folder in FOLDERS
    for path in folder.rglob("*")
    if path.is_file() and path.suffix in TYPES
}
FILES = sorted(PLACES)
OURS = [name for name in FILES if not name.startswith("vendor/")]
SCRIPTS = [name for name in OURS if name.endswith(".js")]
WHOLE = {"accept-encoding": "identity"}


def address(name):
    return PAGES.get(name, f"/explorer/{name}")


def source(name):
    return PLACES[name].read_text(encoding="utf-8")


def test_no_file_of_one_folder_hides_a_file_of_the_other():
    assert len(FILES) == sum(path.is_file() and path.suffix in TYPES for each in FOLDERS for path in each.rglob("*"))


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_served_as_it_is_with_its_type_and_a_strict_policy(client: httpx.Client, name):
    response = client.get(address(name), headers=WHOLE)
    assert response.status_code == 200
    assert response.content == PLACES[name].read_bytes()
    assert response.headers["content-type"].partition(";")[0] == TYPES[Path(name).suffix]
    policy = response.headers["content-security-policy"].split("; ")
    assert "default-src 'self'" in policy
    assert not re.search(r"unsafe|https?:|\*|data:", response.headers["content-security-policy"])
    assert response.headers["cache-control"] == "no-cache"
    assert response.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("name", [*PAGES, "vendor/uPlot/uPlot.iife.min.js"])
def test_head_answers_like_get_without_a_body(client: httpx.Client, name):
    got, head = client.get(address(name), headers=WHOLE), client.head(address(name), headers=WHOLE)
    assert (head.status_code, head.content) == (200, b"")
    for header in ("content-type", "content-length", "etag", "content-security-policy"):
        assert head.headers[header] == got.headers[header]


def test_what_is_kept_is_asked_about_and_not_sent_again(client: httpx.Client):
    first = client.get("/", headers=WHOLE)
    again = client.get("/", headers=WHOLE | {"if-none-match": f'"other", {first.headers["etag"]}'})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    assert "content-type" not in again.headers
    assert client.get("/", headers=WHOLE | {"if-none-match": '"other"'}).status_code == 200


def test_it_is_sent_compressed_to_clients_that_accept_gzip(client: httpx.Client):
    plain = client.get("/explorer/explorer.css", headers=WHOLE)
    with client.stream("GET", "/explorer/explorer.css", headers={"accept-encoding": "gzip"}) as small:
        raw = b"".join(small.iter_raw())
    assert small.headers["content-encoding"] == "gzip"
    assert gzip.decompress(raw) == plain.content
    assert len(raw) < len(plain.content) / 2
    assert small.headers["vary"] == plain.headers["vary"] == "Accept-Encoding"
    assert small.headers["etag"] == plain.headers["etag"]
    assert small.headers["etag"].startswith("W/"), "one tag for two encodings must be weak"


def test_other_methods_and_other_files_are_refused(client: httpx.Client):
    assert client.post("/").status_code == 405
    assert client.get("/explorer/nothing.js").status_code == 404
    assert client.get("/explorer/__init__.py").status_code == 404
    assert client.get("/explorer/../settings.py").status_code == 404


@pytest.mark.parametrize("name", OURS)
def test_no_file_of_ours_names_another_host(name):
    text = source(name).replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"(https?:)?//[a-z0-9-]+\.[a-z]", text.replace("://127.0.0.1", ""))
    assert "@import" not in text


def test_the_vendored_library_loads_nothing():
    script, style = source("vendor/uPlot/uPlot.iife.min.js"), source("vendor/uPlot/uPlot.min.css")
    assert not re.search(
        r"\b(fetch|XMLHttpRequest|WebSocket|importScripts|eval)\b|^import |import\(", script, re.MULTILINE
    )
    assert not re.search(r"url\(|@import", style)


class Page(HTMLParser):
    """Every element's attributes, and the text of scripts and styles."""

    def __init__(self):
        super().__init__()
        self.elements, self.inline, self.open = [], "", None

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.open = tag if tag in ("script", "style") else None

    def handle_data(self, data):
        self.inline += data.strip() if self.open else ""


@pytest.mark.parametrize("name", PAGES)
def test_a_page_holds_no_script_and_no_style_of_its_own_and_all_it_asks_for_is_there(name):
    page = Page()
    page.feed(source(name))
    assert page.inline == ""
    for _, attributes in page.elements:
        assert not [name for name in attributes if name == "style" or name.startswith("on")]
    loaded = [each["src"] for tag, each in page.elements if tag == "script"]
    loaded += [each["href"] for tag, each in page.elements if tag == "link"]
    assert loaded
    assert {each.removeprefix("explorer/") for each in loaded} <= set(FILES)


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_is_short_says_what_it_is_and_imports_what_is_there(name):
    text = source(name)
    assert len(text.splitlines()) <= 300
    assert text.startswith("// ")
    for imported in re.findall(r'^import .*? from "(.*)";$', text, flags=re.MULTILINE):
        assert imported.removeprefix("./") in FILES
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|cssText|new Function|\beval\(", text)


@pytest.mark.parametrize("name", sorted(VENDORED))
def test_the_plotting_library_is_the_published_one(name):
    assert hashlib.sha256(PLACES[f"vendor/uPlot/{name}"].read_bytes()).hexdigest() == VENDORED[name]


def test_the_decision_about_dependencies_names_the_vendored_version():
    version = re.search(r"\(v([\d.]+)\)", source("vendor/uPlot/uPlot.iife.min.js"))
    assert version is not None
    assert f"| uPlot {version[1]} |" in (ROOT / "docs/decisions/0001-dependencies.md").read_text(encoding="utf-8")
