"""Send the examples as models of datamodel-code-generator: python with_datamodel_code_generator.py URL KEY RECORD."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import httpx
import models
from exchanges import Request, run

warnings.simplefilter("error")
CLIENT = httpx.Client(base_url=sys.argv[1], headers={"Authorization": f"Bearer {sys.argv[2]}"}, timeout=None)


def send(request: Request) -> tuple[int, Any, Any]:
    """Send the model of one request's body, and read the answer with the model that the document names."""
    body = None if request.body is None else round_trip(request.schema, request.body)
    response = CLIENT.request(request.method, request.url, headers=request.headers, params=request.query, json=body)
    if not response.content:
        return response.status_code, None, None
    if "json" not in response.headers["content-type"]:
        return response.status_code, response.text, response.text
    answer = response.json()
    return response.status_code, answer, round_trip(request.answers.get(response.status_code), answer)


def round_trip(schema: str | None, value: Any) -> Any:
    """Return what the model of a schema dumps of a JSON value; a value without a schema is left as it is."""
    if schema is None:
        return value
    return getattr(models, schema).model_validate(value).model_dump(mode="json", by_alias=True, exclude_unset=True)


with CLIENT:
    run("datamodel-code-generator", send, Path(sys.argv[3]))
