"""The parts and settings of a strategy, which must stay those of the start."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from epsilond.runs.evidence import Evidence
from epsilond.runs.premises import Premise

FIX_PARTS: Final = "Leave the settings of a strategy alone; make a new one on the same budget for other settings."


class InitialValues:
    """Initial values of attributes that must not change during a run.

    Args:
        owner: object with the attributes.
        premises: for the name of each attribute, the premise of the privacy theorem that fails if it changes.
    """

    def __init__(self, owner: object, premises: Mapping[str, Premise]) -> None:
        self._owner, self._premises = owner, dict(premises)
        self._start = {name: getattr(owner, name) for name in premises}

    def check(self, evidence: Evidence) -> bool:
        """Report a contradiction for each attribute that has changed.

        Args:
            evidence: takes the contradictions.

        Returns:
            True if no attribute has changed.
        """
        unchanged = True
        for name, premise in self._premises.items():
            before, now = self._start[name], getattr(self._owner, name, None)
            if before is now or (type(before) is type(now) and before == now):
                continue
            unchanged = False
            shown = f" from {before} to {now}" if isinstance(now, int | float | str) else ""
            message = f"{name.lstrip('_')} was changed during the run{shown}"
            evidence.contradict(premise, message, remedy=FIX_PARTS)
        return unchanged
