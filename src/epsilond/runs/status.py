"""The three states of an ε that comes from a run."""

from __future__ import annotations

from enum import StrEnum


class RunStatus(StrEnum):
    """Status of the ε of a training run, by the evidence for it.

    Attributes:
        CERTIFIED: each premise (condition) of the theorem that proves the ε was observed at each step.
        DECLARED: the caller vouches for at least one premise; `RunStatement.declared` lists each.
        CONTRADICTED: an observation contradicts the recorded steps. There is no ε.
    """

    CERTIFIED = "certified"
    DECLARED = "declared"
    CONTRADICTED = "contradicted"

    __repr__ = str.__repr__
