"""The parts and settings of a strategy, which must stay those of the start."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from epsilond.runs.evidence import Evidence
from epsilond.runs.premises import Premise

FIX_PARTS: Final = "Leave the settings of a strategy alone; make a new one on the same budget for other settings."


class InitialValues:
    """Initial values of an object's attributes, to detect a change of them during a run of training.

    Args:
        owner: object with the attributes.
        premises: for the name of each attribute, the premise that fails if the attribute changes. A premise is a
            condition of the privacy theorem that the account of the run uses.
    """

    def __init__(self, owner: object, premises: Mapping[str, Premise]) -> None:
        self._owner = owner
        self._premises = dict(premises)
        self._start = {name: getattr(owner, name) for name in premises}

    def check(self, evidence: Evidence) -> bool:
        """Check that no attribute has changed since the start of the run, and report each that has.

        The account of the run is computed from the initial values, so that it would be wrong after a change.

        Args:
            evidence: record of the premises, which receives the contradictions.

        Returns:
            True if no attribute has changed.
        """
        is_unchanged = True
        for name, premise in self._premises.items():
            initial = self._start[name]
            present = getattr(self._owner, name, None)
            is_equal = type(initial) is type(present) and initial == present
            if initial is present or is_equal:
                continue
            is_unchanged = False
            # Only numbers and texts are short enough for the message.
            values = ""
            if isinstance(present, int | float | str):
                values = f" from {initial} to {present}"
            message = f"{name.lstrip('_')} was changed during the run{values}"
            evidence.contradict(premise, message, remedy=FIX_PARTS)
        return is_unchanged
