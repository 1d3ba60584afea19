"""Static files that the service carries with it, as starlette serves them, with our headers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import PurePath

from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send


class PackageFiles(StaticFiles):
    """The files of one folder of a package, all under the same headers; Python's own files are not among them."""

    def __init__(self, package: str, folder: str, headers: Mapping[str, str]) -> None:
        super().__init__(packages=[(package, folder)], html=True)
        self._headers = headers

    def lookup_path(self, path: str) -> tuple[str, os.stat_result | None]:
        """As starlette looks a file up, but for modules and their caches."""
        return ("", None) if PurePath(path).suffix in {".py", ".pyc"} else super().lookup_path(path)

    async def get_response(self, path: str, scope: Scope) -> Response:
        """The file with our headers. Its entity tag is weak: it stands for the plain and the compressed form."""
        response = await super().get_response(path, scope)
        response.headers.update(self._headers)
        response.headers["etag"] = f"W/{response.headers['etag'].removeprefix('W/')}"
        return response

    def at(self, path: str) -> Mount:
        """All of them below a path."""
        return _Labelled(path, app=self)

    def index(self) -> Route:
        """The page of the folder, at /."""
        return Route("/", endpoint=self)


class _Labelled(Mount):
    """A mount that logs and metrics know by its path, as they know routes."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Note itself as the route that answers."""
        scope["route"] = self
        await super().handle(scope, receive, send)
