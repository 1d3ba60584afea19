"""The documents under /guide: types, policy, what is kept, and what is not found; with them and without."""

import base64
import hashlib
import re

import anyio
import httpx
import pytest
from fastapi import FastAPI

from epsilond.app.http.guide import BELOW, KEPT_FOR_A_YEAR, Guide
from epsilond.app.http.middleware import OPEN, OPEN_BELOW

SCRIPT = "document.title = 'here'"
FILES = {
    "index.html": f"<!doctype html><title>first</title><script>{SCRIPT}</script>",
    "404.html": f'<!doctype html><title>none</title><link rel="stylesheet" href="{BELOW}/site.css">',
    "theorems/index.html": "<!doctype html><title>theorems</title>",
    "site.css": "p {}",
    "assets/javascripts/bundle.0123abcd.min.js": "1",
    "search/search_index.json": "{}",
    "assets/images/favicon.png": "png",
}


class Client:
    """Asks the guide of a folder."""

    def __init__(self, root):
        guide, self.app = Guide(root), FastAPI()
        self.app.add_api_route("/guide", guide.enter)
        self.app.add_api_route("/guide/{path:path}", guide.page)

    def get(self, path, headers=None):
        async def ask():
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
                return await client.get(path, headers=headers)

        return anyio.run(ask)


@pytest.fixture
def served(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return Client(tmp_path)


def test_a_site_that_is_built_later_is_served(tmp_path):
    client = Client(tmp_path / "guide")
    assert client.get("/guide/").status_code == 404
    (tmp_path / "built").mkdir()
    (tmp_path / "built" / "index.html").write_text(FILES["index.html"], encoding="utf-8")
    (tmp_path / "built").rename(tmp_path / "guide")
    assert client.get("/guide/").text == FILES["index.html"]


@pytest.mark.parametrize(
    ("path", "name", "kind"),
    [
        ("", "index.html", "text/html"),
        ("index.html", "index.html", "text/html"),
        ("theorems/", "theorems/index.html", "text/html"),
        ("site.css", "site.css", "text/css"),
        ("assets/javascripts/bundle.0123abcd.min.js", "assets/javascripts/bundle.0123abcd.min.js", "text/javascript"),
        ("search/search_index.json", "search/search_index.json", "application/json"),
        ("assets/images/favicon.png", "assets/images/favicon.png", "image/png"),
    ],
)
def test_a_file_is_served_with_its_type(served, path, name, kind):
    answer = served.get(f"/guide/{path}")
    assert (answer.status_code, answer.text) == (200, FILES[name])
    assert answer.headers["content-type"].partition(";")[0] == kind


def test_what_is_named_by_its_content_is_kept_and_the_rest_is_asked_about(served):
    assert served.get("/guide/assets/javascripts/bundle.0123abcd.min.js").headers["cache-control"] == KEPT_FOR_A_YEAR
    first = served.get("/guide/")
    assert first.headers["cache-control"] == "no-cache"
    again = served.get("/guide/", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_a_page_runs_its_own_scripts_and_asks_no_other_host(served):
    policy = served.get("/guide/").headers["content-security-policy"]
    assert f"'sha256-{base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()}'" in policy
    assert not re.search(r"https?:|\*|script-src[^;]*unsafe", policy)
    assert "default-src 'none'" in policy
    assert "sha256" not in served.get("/guide/theorems/").headers["content-security-policy"]


@pytest.mark.parametrize(("path", "back"), [("none.html", "."), ("theorems/none.html", ".."), ("a/b/none", "../..")])
def test_what_is_not_found_is_told_in_a_page_whose_links_lead_back(served, path, back):
    answer = served.get(f"/guide/{path}")
    assert answer.status_code == 404
    assert f'href="{back}/site.css"' in answer.text
    assert answer.headers["content-type"].startswith("text/html")


def test_the_page_of_what_is_not_found_is_no_page_of_its_own(served):
    assert served.get("/guide/404.html").status_code == 404


@pytest.mark.parametrize("path", ["../index.html", "..%2f..%2fetc/passwd", "%2e%2e/pyproject.toml"])
def test_nothing_above_the_folder_is_served(served, path):
    assert served.get(f"/guide/{path}").status_code == 404


def test_the_folder_is_entered_by_its_stroke(served):
    answer = served.get("/guide")
    assert (answer.status_code, answer.headers["location"]) == (308, "/guide/")


def test_without_documents_it_says_how_they_are_built(tmp_path):
    answer = Client(tmp_path / "none").get("/guide/theorems/index.html")
    assert answer.status_code == 404
    assert "scripts/guide" in answer.text
    assert 'href="../../"' in answer.text


def test_nobody_needs_a_key_to_read():
    assert "/guide" in OPEN
    assert "/guide/" in OPEN_BELOW
