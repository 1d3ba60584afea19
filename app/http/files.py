"""Static files of the service, read and compressed once, on the first request."""

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
"""Media types by suffix that do not depend on the table of the machine."""


def media_type_of(name: str) -> str:
    """Return the media type of a file by the suffix of its name; `application/octet-stream` if it is not known."""
    return TYPES.get(Path(name).suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"


def files_of(package: str, folder: str) -> dict[str, Path]:
    """Return the files of one folder of a package by name, except for Python files.

    Only files of this list are served, so that no request can read other files of the machine.

    Args:
        package: name of the package.
        folder: folder inside the package.

    Returns:
        The path on disk of each file, by its path relative to the folder. Files in subfolders are included.

    Raises:
        ModuleNotFoundError: there is no such package.
    """
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(package)
    root = Path(spec.origin).parent / folder  # `origin` is the package's file `__init__.py`
    files = {}
    for path in root.rglob("*"):
        is_python = path.suffix in {".py", ".pyc"}
        if path.is_file() and not is_python:
            files[str(path.relative_to(root))] = path
    return files


class PackageFiles:
    """Static files of installed packages, which are served under one path with the same headers.

    Args:
        files: the files by the rest of their path, such as "css/main.css".
        headers: further headers of each answer.
    """

    def __init__(self, files: Mapping[str, Path], headers: Mapping[str, str]) -> None:
        self._headers = headers
        self._files = files
        self._documents = Documents(self._load)

    def add(self, app: FastAPI, below: str) -> None:
        """Add a route to an application that serves all files below a path, such as `/docs`."""
        app.add_api_route(f"{below}/{{path:path}}", self.file, include_in_schema=False)

    async def file(self, request: Request, path: str) -> Response:
        """Return the response with one file. The empty path is that of the index page.

        Args:
            request: the HTTP request.
            path: path of the file relative to the folder; empty for the index page.

        Returns:
            The response with the content of the file.

        Raises:
            HTTPException: no file has this name.
        """
        name = path or INDEX
        if name not in self._files:
            raise HTTPException(404)
        return (await self._documents.of(name)).response(request)

    async def index(self, request: Request) -> Response:
        """Return the response with the index page of the folder."""
        return await self.file(request, INDEX)

    def _load(self, name: str) -> Document:
        """Read a file, and return it as a document with the common headers."""
        return Document(self._files[name].read_bytes(), media_type_of(name), self._headers)
