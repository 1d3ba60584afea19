"""GET /openapi.json, and GET /docs to read and try it, from files of the package; no other host is used."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping

from fastapi import FastAPI
from fastapi.openapi.docs import get_swagger_ui_html
from starlette.requests import Request
from starlette.responses import Response

from epsilond.app.http.document import Document, Documents, json_document
from epsilond.app.http.files import PackageFiles, files_of
from epsilond.app.http.record import ServicePart

NAME = "openapi.json"
CONTRACT: ServicePart[Documents[str]] = ServicePart("contract")

POLICY = (
    "default-src 'none'; script-src 'self' {scripts}; style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Content security policy of the page. Its inline script is allowed by hash; other scripts and hosts are refused."""
SCRIPT = re.compile(rb"<script>(.*?)</script>", re.DOTALL)


def add(app: FastAPI) -> None:
    """Add /openapi.json, the page /docs on which the API can be tried, and the scripts and styles of the page.

    The page is Swagger UI from the package fastapi-swagger. Its content security policy allows the inline script by the
    hash of its text.

    Args:
        app: the application, which is changed.
    """
    page = get_swagger_ui_html(
        openapi_url="openapi.json",
        title=f"{app.title}: try it",
        swagger_js_url="docs/swagger-ui-bundle.js",
        swagger_css_url="docs/swagger-ui.css",
        swagger_favicon_url="docs/favicon-32x32.png",
        swagger_ui_parameters={"tryItOutEnabled": True, "validatorUrl": None, "docExpansion": "none"},
    )
    inline_scripts = SCRIPT.findall(page.body)
    policy = POLICY.format(scripts=" ".join(map(_hash, inline_scripts)))
    page_document = Document(bytes(page.body), "text/html", {"content-security-policy": policy})
    # `Documents` makes the OpenAPI document at the first request for it, and keeps it.
    contract = CONTRACT.put(app, Documents(lambda _: json_document(compact(app.openapi()))))

    async def openapi(request: Request) -> Response:
        """Return the OpenAPI document."""
        document = await contract.of(NAME)
        return document.response(request)

    async def docs(request: Request) -> Response:
        """Return the page on which the API can be tried."""
        return page_document.response(request)

    app.add_api_route("/openapi.json", openapi, include_in_schema=False)
    app.add_api_route("/docs", docs, include_in_schema=False)
    PackageFiles(files_of("fastapi_swagger", "resources"), {"cache-control": "max-age=86400"}).add(app, "/docs")


async def prepare(app: FastAPI) -> None:
    """Make the OpenAPI document, which takes a second, before the first request for it.

    Args:
        app: the application, which keeps the document.
    """
    await CONTRACT.within(app).of(NAME)


def compact(document: Mapping[str, object]) -> bytes:
    """Render an OpenAPI document as JSON text in UTF-8 without spaces, the form in which it is served."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def _hash(script: bytes) -> str:
    """Return the expression by which a content security policy allows an inline script: `'sha256-…'`.

    Args:
        script: text of the script, of which the SHA-256 in base64 is a part of the expression.
    """
    digest = hashlib.sha256(script).digest()
    encoded = base64.b64encode(digest).decode()
    return f"'sha256-{encoded}'"
