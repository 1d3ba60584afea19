"""A parsed body becomes a value of its declared type, or a refusal with pointers into the body."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from pydantic import TypeAdapter, ValidationError

from epsilond.accountants.errors import InvalidInput
from epsilond.app.http.faults import faults_of


class Validator:
    """Reads parsed JSON as a declared type. What pydantic makes of the type is made when it is first needed."""

    def __init__(self, declared: Any) -> None:
        self._declared = declared

    @cached_property
    def _adapter(self) -> TypeAdapter[Any]:
        return TypeAdapter(self._declared)

    def prepare(self) -> None:
        """Make now what pydantic makes of the type."""
        _ = self._adapter

    def __call__(self, parsed: Any) -> Any:
        """The body as a value of the type.

        Raises:
            InvalidInput: it is none; pointers lead into the body.
        """
        try:
            return self._adapter.validate_python(parsed)
        except ValidationError as error:
            raise InvalidInput(*faults_of([dict(item) for item in error.errors()], self._declared)) from None
