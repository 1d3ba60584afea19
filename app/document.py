"""The OpenAPI document of an application."""

from __future__ import annotations

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from epsilond.accountants.json_types import JsonRecord
from epsilond.app.http.schemas import tidy


def document(app: FastAPI) -> JsonRecord:
    """Return the application's OpenAPI document, made at the first call."""
    if app.openapi_schema is None:
        schema = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        app.openapi_schema = tidy(schema)
    return app.openapi_schema
