"""Types of values whose members are known to a schema or to the class that reads them, but not to the type checker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

JsonObject: TypeAlias = Mapping[str, Any]
"""A JSON object that is read: a request, an answer or a record, whose members its schema describes."""
JsonRecord: TypeAlias = dict[str, Any]
"""A JSON object that is being built."""
Fields: TypeAlias = dict[str, Any]
"""Keyword arguments of a request class, which checks each of them."""
