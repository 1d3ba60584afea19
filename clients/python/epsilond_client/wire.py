"""What requests and answers have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Wire(BaseModel):
    """An object of the service's JSON. A field that is None is absent there."""

    model_config = ConfigDict(populate_by_name=True, protected_namespaces=())
