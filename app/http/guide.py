"""The built documentation site: pages that may run only their own scripts, and the page for unknown paths."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from epsilond.app.http.document import Document, Documents
from epsilond.app.http.files import INDEX, media_type_of

FOLDER = "guide"
"""Folder next to the package's modules, in which `scripts/guide` builds the site."""
NOT_FOUND = "404.html"
BELOW = "/.guide"
"""Placeholder in the page for unknown paths. The relative path to the guide replaces it, as it depends on the depth."""
KEPT_FOR_A_YEAR = "public, max-age=31536000, immutable"
NAMED_BY_CONTENT = re.compile(r"^assets/.*\.[0-9a-f]{8}\.min\.(js|css)$")
POLICY = (
    "default-src 'none'; script-src 'self' {scripts}; style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
    " font-src 'self'; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'"
)
"""Content security policy of a page. Its inline scripts are allowed by their hashes; other scripts and hosts are
refused.
"""
SCRIPT = re.compile(rb"<script>(.*?)</script>", re.DOTALL)
UNBUILT = (
    "<!doctype html><html lang=en><meta charset=utf-8><title>No documents here</title><h1>No documents here</h1>"
    "<p>The documents of this service are being built, or it was installed without them. In the source tree,"
    " <code>scripts/guide</code> builds them."
    '<p><a href="{home}">To the explorer</a>'
)


def policy(page: bytes) -> str:
    """Return the content security policy of a page, which allows the page's inline scripts and no others."""
    hashes = {
        f"'sha256-{base64.b64encode(hashlib.sha256(script).digest()).decode()}'" for script in SCRIPT.findall(page)
    }
    return POLICY.format(scripts=" ".join(sorted(hashes)))


class Guide:
    """A static web site in a folder. While the folder is empty or missing, each page is a 404 that explains it.

    Args:
        root: the folder. It may be created while the service runs.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._files = self._list_files()
        self._documents = Documents(self._load)

    def _list_files(self) -> Mapping[str, Path]:
        """Return the files in the folder and below it, by their relative paths; empty if the folder is missing."""
        return {str(path.relative_to(self._root)): path for path in self._root.rglob("*") if path.is_file()}

    @classmethod
    def of_package(cls, package: str) -> Guide:
        """Return the site that a package contains, in its folder `FOLDER`.

        Raises:
            ModuleNotFoundError: there is no such package.
        """
        spec = find_spec(package)
        if spec is None or spec.origin is None:
            raise ModuleNotFoundError(package)
        return cls(Path(spec.origin).parent / FOLDER)

    async def enter(self, request: Request) -> Response:
        """Redirect the guide's address to the same address with a final slash, on which relative links depend."""
        return RedirectResponse(f"{request.scope.get('root_path', '')}/guide/", 308)

    async def page(self, request: Request, path: str) -> Response:
        """Return one file of the site, or its page for unknown paths with relative links that are adapted to the path.

        Args:
            request: the HTTP request.
            path: path of the file in the site; a path of a folder, with a final slash, gives its index page.

        Returns:
            The response with the file, or with status 404 the site's page for unknown paths. If the site was not built,
            a short page says so.
        """
        is_folder = path.endswith("/") or not path
        name = f"{path}{INDEX}" if is_folder else path
        if not self._files:
            self._files = self._list_files()
        if name in self._files and name != NOT_FOUND:
            return (await self._documents.of(name)).response(request)
        home = "../" * path.count("/") or "./"  # relative path from the page to the first page of the site
        if NOT_FOUND not in self._files:
            return HTMLResponse(UNBUILT.format(home=f"{home}../"), 404)
        not_found = await self._documents.of(NOT_FOUND)
        body = not_found.body.replace(BELOW.encode(), home.rstrip("/").encode())  # adapts its relative links
        return Response(body, 404, self._headers(NOT_FOUND, body), "text/html")

    def _load(self, name: str) -> Document:
        """Read one file of the site, and return it as a document with its headers."""
        body = self._files[name].read_bytes()
        return Document(body, media_type_of(name), self._headers(name, body))

    @staticmethod
    def _headers(name: str, body: bytes) -> Mapping[str, str]:
        """Return the headers of a file: how long it may be kept and, for a page, its content security policy."""
        headers = {"cache-control": KEPT_FOR_A_YEAR if NAMED_BY_CONTENT.match(name) else "no-cache"}
        if name.endswith(".html"):
            headers["content-security-policy"] = policy(body)
        return headers
