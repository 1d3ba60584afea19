"""Send the examples through the client of openapi-python-client: python with_openapi_python_client.py URL KEY RECORD."""

from __future__ import annotations

import importlib
import json
import sys
import warnings
from inspect import get_annotations
from pathlib import Path
from typing import Any

from epsilond_client import AuthenticatedClient
from exchanges import Request, difference, run

warnings.simplefilter("error")
CLIENT = AuthenticatedClient(sys.argv[1], token=sys.argv[2], timeout=None)


def send(request: Request) -> tuple[int, Any, Any]:
    """Send one request through the module of its operation."""
    module = importlib.import_module(f"epsilond_client.api.{request.tag.replace('-', '_')}.{request.operation}")
    arguments: dict[str, Any] = request.arguments
    if request.body is not None:
        arguments["body"] = read_body(module, request.body)
    response = module.sync_detailed(client=CLIENT, **arguments)
    content = response.content
    if not content:
        return response.status_code, None, response.parsed
    if "json" not in response.headers["content-type"]:
        return response.status_code, content.decode(), response.parsed
    return response.status_code, json.loads(content), dumped(response.parsed)


def read_body(module: Any, value: Any) -> Any:
    """Return the model of a body, once it was compared with the body."""
    kind = get_annotations(module.sync_detailed, eval_str=True)["body"]
    body = getattr(kind, "__args__", (kind,))[0].from_dict(value)
    assert difference(value, body.to_dict()) is None, difference(value, body.to_dict())
    return body


def dumped(parsed: Any) -> Any:
    """Return the JSON value of what the client parsed."""
    if isinstance(parsed, list):
        return [dumped(each) for each in parsed]
    return parsed.to_dict() if hasattr(parsed, "to_dict") else parsed


with CLIENT:
    run("openapi-python-client", send, Path(sys.argv[3]))
