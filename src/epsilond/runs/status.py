"""The three states of an ε that comes from a run."""

from __future__ import annotations

from enum import StrEnum


class RunStatus(StrEnum):
    """How far the ε of a run is supported.

    Attributes:
        CERTIFIED: each premise of the theorem was observed at each step.
        DECLARED: at least one premise rests on the word of the caller; `RunStatement.declared` lists each.
        CONTRADICTED: an observation contradicts the record. There is no ε.
    """

    CERTIFIED = "certified"
    DECLARED = "declared"
    CONTRADICTED = "contradicted"

    __repr__ = str.__repr__
