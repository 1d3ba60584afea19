"""A question to the service, which a client of either kind can ask, and its answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Generic, TypeVar

import httpx
from pydantic import BaseModel, TypeAdapter

from .refusal import PROBLEM, Refused, Unexpected

T = TypeVar("T")


@dataclass(frozen=True)
class Question(Generic[T]):
    """A request, and the type that its answer is read as: a JSON document, a text, or the bytes of a figure."""

    method: str
    path: str
    answer: Any
    body: BaseModel | None = None
    query: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str | None] = field(default_factory=dict)

    def asked(self) -> dict[str, Any]:
        """As the arguments of httpx's `request`."""
        json = self.body.model_dump(mode="json", by_alias=True, exclude_none=True) if self.body is not None else None
        return {
            "method": self.method,
            "url": self.path,
            "json": json,
            "params": {name: value for name, value in self.query.items() if value is not None},
            "headers": {name: value for name, value in self.headers.items() if value is not None},
        }

    def answered(self, response: httpx.Response) -> T:
        """The answer that a response holds.

        Raises:
            Refused: it is a problem.
            Unexpected: it is none of what the service's document foresees.
        """
        kind = response.headers.get("content-type", "").partition(";")[0]
        if kind == PROBLEM:
            raise Refused.of(response.content)
        if not response.is_success:
            raise Unexpected(response)
        if kind == "application/json":
            return reader(self.answer).validate_json(response.content)  # type: ignore[no-any-return]
        found: Any = response.text if kind.startswith("text/") else response.content or None
        return found  # type: ignore[no-any-return]


@cache
def reader(answer: Any) -> TypeAdapter[Any]:
    """Reads a type from JSON."""
    return TypeAdapter(answer)
