"""Reports of drills: each step with its expected and its actual outcome."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar

from sqlalchemy.exc import SQLAlchemyError

from epsilond.accountants.errors import EpsilondError
from epsilond.accountants.json_types import JsonRecord
from epsilond.ledgers.book.errors import BookError
from epsilond.ledgers.book.restore import UnreadableCheckpoint
from epsilond.ledgers.cosigning.quorum import TooFewCosignatures
from epsilond.ledgers.cosigning.remote import HeadRejected
from epsilond.ledgers.drills.names import DrillName
from epsilond.ledgers.log.errors import KeysUnusable, NotVerified
from epsilond.storage.faults import StoreFault, StoreLocked, StoreUnavailable

T = TypeVar("T")
ERRORS: Final = (
    BookError,
    EpsilondError,
    HeadRejected,
    KeysUnusable,
    NotVerified,
    OSError,
    SQLAlchemyError,
    StoreFault,
    StoreLocked,
    StoreUnavailable,
    TooFewCosignatures,
    UnreadableCheckpoint,
)
"""Errors of ledgers and of their store. Such an error where none should be is a failed check, not a crash."""
ACCEPTED: Final = "Accepted."
VERIFIED: Final = "Verified."


@dataclass(frozen=True)
class Check:
    """One step of a drill, a rehearsal of a fault, with its expected and its actual outcome.

    Attributes:
        done: description of the step.
        expected: expected outcome.
        happened: actual outcome.
        passed: whether the actual outcome is the expected one.
    """

    done: str
    expected: str
    happened: str
    passed: bool


@dataclass(frozen=True)
class DrillReport:
    """Report of one drill, a rehearsal of a fault.

    Attributes:
        name: name of the drill.
        checks: the steps with their expected and actual outcomes, in order.
        seconds: duration of the drill, in seconds.
    """

    name: DrillName
    checks: tuple[Check, ...]
    seconds: float

    @property
    def passed(self) -> bool:
        """True if there are checks, and all of them passed."""
        return bool(self.checks) and all(check.passed for check in self.checks)

    @property
    def record(self) -> JsonRecord:
        """Report as a JSON object, with the duration in seconds rounded to milliseconds."""
        checks = [vars(check) for check in self.checks]
        return {
            "name": self.name,
            "passed": self.passed,
            "seconds": round(self.seconds, 3),
            "checks": checks,
        }


class UnexpectedRefusal(Exception):
    """A step failed on which the rest of the drill depends, so that the drill ends. The failure is already recorded."""


@dataclass
class DrillRecorder:
    """Recorder of the steps of one drill and their outcomes.

    Attributes:
        folder: temporary folder of the drill, of which the path is removed from messages.
        checks: results of the steps so far, in order.
    """

    folder: Path
    checks: list[Check] = field(default_factory=list)

    def expect_success(self, done: str, call: Callable[[], T], *, outcome: str = ACCEPTED) -> T:
        """Perform a step that is expected to succeed, record the outcome, and return the result.

        Only errors of the ledgers and their store (`ERRORS`) are outcomes. Any other error is a fault of the drill and
        is raised unchanged.

        Args:
            done: description of the step for the report.
            call: performs the step.
            outcome: description of success for the report.

        Returns:
            The result of the step.

        Raises:
            UnexpectedRefusal: the step raised such an error, which is recorded as a failure.
        """
        try:
            result = call()
        except ERRORS as error:
            self._add(done, outcome, self._describe(error), passed=False)
            raise UnexpectedRefusal from None
        self._add(done, outcome, outcome, passed=True)
        return result

    def expect_error(
        self, done: str, call: Callable[[], object], *errors: type[Exception], expected: str, containing: str = ""
    ) -> None:
        """Perform a step that is expected to raise an error, and record whether it does.

        An error of a class outside `ERRORS` is a fault of the drill, and is raised.

        Args:
            done: description of the step for the report.
            call: performs the step.
            errors: classes of the expected error.
            expected: description of the expected outcome for the report.
            containing: text that the error's message must contain.
        """
        try:
            call()
        except ERRORS as error:
            is_expected = isinstance(error, errors) and containing in str(error)
            self._add(done, expected, self._describe(error), passed=is_expected)
        else:
            self._add(done, expected, ACCEPTED, passed=False)

    def compare(self, done: str, *, expected: str, happened: str, passed: bool) -> None:
        """Record a step after the caller has compared its outcome with the expected one.

        This is for steps with a value and not an error as their outcome.

        Args:
            done: description of the step.
            expected: expected outcome.
            happened: actual outcome.
            passed: whether the actual outcome is the expected one.
        """
        self._add(done, expected, happened, passed=passed)

    def fail(self, error: Exception) -> None:
        """Record an error that was raised outside of a check, as a failed check.

        Args:
            error: the error, which ended the drill.
        """
        self._add("The drill goes on.", "No error.", self._describe(error), passed=False)

    def _add(self, done: str, expected: str, happened: str, *, passed: bool) -> None:
        """Add a check to the report; the arguments are those of `compare`."""
        self.checks.append(Check(done, expected, happened, passed))

    def _describe(self, error: Exception) -> str:
        """Return an error as a sentence for the report, without the path of the temporary folder.

        Args:
            error: error that a step raised. NotVerified becomes "Not verified: …", and any other error "Refused: …".

        Returns:
            For example `Refused: the log has fewer entries.`
        """
        outcome = "Not verified" if isinstance(error, NotVerified) else "Refused"
        reason = str(error).replace(f"{self.folder}/", "").strip().rstrip(".")
        return f"{outcome}: {reason or type(error).__name__}."
