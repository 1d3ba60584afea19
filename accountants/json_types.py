"""Types of values with members known to a schema or to the class that reads them, but not to the type checker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeAlias, get_args

JsonObject: TypeAlias = Mapping[str, Any]
"""A JSON object that is read: a request, an answer or a record, whose members its schema describes."""
JsonRecord: TypeAlias = dict[str, Any]
"""A JSON object that is being built."""
Fields: TypeAlias = dict[str, Any]
"""Keyword arguments of a request class, which checks each of them."""


@dataclass(frozen=True)
class Tagged:
    """Annotation of a union of request classes: pydantic chooses the class by the value of one field, the tag.

    Each class of the union has this field, with a literal type and a default that no other class has.

    Attributes:
        field: name of the tag field, which every JSON object of the union must have.
    """

    field: str

    def __get_pydantic_core_schema__(self, source: object, handler: Any) -> JsonRecord:
        """Return pydantic's schema of the union, which chooses the class of a JSON object by its tag.

        With an untagged union, pydantic would report an object with an unknown tag once for every class.

        Args:
            source: the union of classes.
            handler: pydantic's handler. Its method `generate_schema` gives the schema of a class.

        Returns:
            A "tagged-union" schema, which maps each tag to the schema of its class.
        """
        choices = {self._tag_of(member): handler.generate_schema(member) for member in get_args(source)}
        return {"type": "tagged-union", "discriminator": self.field, "choices": choices}

    def _tag_of(self, member: Any) -> Any:
        """Return the tag of a dataclass in the union, that is, the default of its tag field."""
        return next(field.default for field in fields(member) if field.name == self.field)
