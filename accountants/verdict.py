"""The three verdicts on a statement, used by every package, in Python and in JSON.

A verdict equals its string. It has no truth value, because the string "no" would count as true: compare it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NoReturn


class Verdict(StrEnum):
    """Whether a statement is true: `yes`, `no`, or `undecidable` from what is known."""

    YES = "yes"
    NO = "no"
    UNDECIDABLE = "undecidable"

    @classmethod
    def of(cls, truth: bool) -> Verdict:
        """Return `yes` for a true comparison, and `no` for a false one.

        Args:
            truth: result of the comparison.

        Returns:
            The verdict; never `undecidable`.
        """
        return cls.YES if truth else cls.NO

    __repr__ = str.__repr__

    def __bool__(self) -> NoReturn:
        """Reject use as a truth value.

        Raises:
            TypeError: always.
        """
        raise TypeError(f"the verdict {self.value!r} has no truth value: compare it, as in `verdict == 'yes'`")
