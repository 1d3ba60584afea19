"""Static files that the service carries with it: read and compressed once, when they are first asked for."""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from epsilond.app.http.document import Document, Documents

INDEX = "index.html"
TYPES = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".html": "text/html",
    ".svg": "image/svg+xml",
    ".json": "application/json",
}
"""What the machine's own table of types must not decide."""


def media_type_of(name: str) -> str:
    """What a file is, by its name."""
    return TYPES.get(Path(name).suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"


class PackageFiles:
    """The files of one folder of a package, all under the same headers; Python's own files are not among them."""

    def __init__(self, package: str, folder: str, headers: Mapping[str, str]) -> None:
        spec = find_spec(package)
        if spec is None or spec.origin is None:
            raise ModuleNotFoundError(package)
        root = Path(spec.origin).parent / folder
        self._headers = headers
        self._files = {
            str(path.relative_to(root)): path
            for path in root.rglob("*")
            if path.is_file() and path.suffix not in {".py", ".pyc"}
        }
        self._documents = Documents(self._read)

    def add(self, app: FastAPI, below: str) -> None:
        """Serve all of them below a path."""
        app.add_api_route(f"{below}/{{path:path}}", self.file, include_in_schema=False)

    async def file(self, request: Request, path: str) -> Response:
        """One of them; the folder itself stands for its page.

        Raises:
            HTTPException: there is none of this name.
        """
        name = path or INDEX
        if name not in self._files:
            raise HTTPException(404)
        return (await self._documents.of(name)).response(request)

    async def index(self, request: Request) -> Response:
        """The page of the folder."""
        return await self.file(request, INDEX)

    def _read(self, name: str) -> Document:
        return Document(self._files[name].read_bytes(), media_type_of(name), self._headers)
