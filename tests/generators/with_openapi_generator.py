"""Send the examples through openapi-generator's Python client: python with_openapi_generator.py URL KEY RECORD."""

from __future__ import annotations

import importlib
import inspect
import json
import sys
import warnings
from pathlib import Path
from typing import Any

from exchanges import Request, difference, run
from openapi_client import ApiClient, Configuration
from pydantic import BaseModel

warnings.simplefilter("error")
CLIENT = ApiClient(Configuration(host=sys.argv[1], access_token=sys.argv[2]))


def send(request: Request) -> tuple[int, Any, Any]:
    """Send one request through the method of its operation."""
    tag = request.tag.replace("-", "_")
    module = importlib.import_module(f"openapi_client.api.{tag}_api")
    api = getattr(module, "".join(part.capitalize() for part in tag.split("_")) + "Api")(CLIENT)
    method = getattr(api, f"{request.operation}_with_http_info")
    arguments: dict[str, Any] = request.arguments
    if request.body is not None:
        name, kind = body_of(method)
        arguments[name] = kind.from_dict(request.body)
        found = difference(request.body, dumped(arguments[name]))
        assert found is None, found
    response = method(**arguments)
    if not response.raw_data:
        return response.status_code, None, response.data
    if "json" not in response.headers["content-type"]:
        return response.status_code, response.raw_data.decode(), response.data
    return response.status_code, json.loads(response.raw_data), dumped(response.data)


def body_of(method: Any) -> tuple[str, Any]:
    """Return the name and the class of the body of a method."""
    for name, parameter in inspect.signature(method).parameters.items():
        for kind in (parameter.annotation, *getattr(parameter.annotation, "__args__", ())):
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                return name, kind
    raise LookupError(method)


def dumped(parsed: Any) -> Any:
    """Return the JSON value of what the client parsed."""
    if isinstance(parsed, list):
        return [dumped(each) for each in parsed]
    return json.loads(parsed.to_json()) if hasattr(parsed, "to_json") else parsed


run("openapi-generator", send, Path(sys.argv[3]))
