"""Findings of a verification: claims with their outcomes, and points that no log can show."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

NOT_SHOWN: Final = (
    "It proves the written entries, not that nothing was run without writing.",
    "It proves that these checkpoints are of one log, not that no other log was shown: compare yours with others'.",
    "Times in entries are those that the service stated.",
    "That the keys are the service's is for you to know: a bundle with keys of its own would prove nothing.",
)

UNCOMPUTED: Final = "The charges were not computed again: whether they are right is not verified."


class ClaimOutcome(StrEnum):
    """Result of the check of a claim.

    Attributes:
        VERIFIED: it holds.
        FAILED: it does not hold.
        NOT_VERIFIED: the evidence leaves it open.
        VOIDED: the runs of the receipt were later declared void, so it is no longer valid.
        CONTRADICTED: a run was observed to differ from the mechanism that was paid for, so there is no ε.
    """

    VERIFIED = "verified"
    FAILED = "failed"
    NOT_VERIFIED = "not verified"
    VOIDED = "voided"
    CONTRADICTED = "contradicted"


@dataclass(frozen=True)
class ClaimFinding:
    """One claim with the outcome of its check.

    Attributes:
        outcome: result of the check.
        sentence: the claim, or the reason why it was not verified.
    """

    outcome: ClaimOutcome
    sentence: str


@dataclass
class LogVerification:
    """Result of verifying evidence about an append-only log.

    Attributes:
        findings: the checked claims with their outcomes, in the order of the checks.
        not_shown: sentences on points that no log can show, such as that nothing was run without an entry.
    """

    findings: list[ClaimFinding] = field(default_factory=list)
    not_shown: tuple[str, ...] = NOT_SHOWN

    @property
    def holds(self) -> bool:
        """True if at least one claim was verified and none failed. Some claims may have been left unverified."""
        outcomes = {finding.outcome for finding in self.findings}
        return ClaimOutcome.VERIFIED in outcomes and ClaimOutcome.FAILED not in outcomes

    @property
    def complete(self) -> bool:
        """True if at least one claim was verified, none failed, and none was left unverified."""
        outcomes = {finding.outcome for finding in self.findings}
        return self.holds and ClaimOutcome.NOT_VERIFIED not in outcomes

    def sentences(self) -> list[str]:
        """Return the result as sentences for readers.

        Returns:
            Each finding with its outcome, such as "verified: …", and then the points that are not shown.
        """
        findings = [f"{finding.outcome}: {finding.sentence}" for finding in self.findings]
        return findings + [f"not shown: {sentence}" for sentence in self.not_shown]

    def add(self, outcome: ClaimOutcome, sentence: str) -> None:
        """Add a claim with its outcome at the end of the findings.

        Args:
            outcome: result of the check.
            sentence: the claim, or the reason why it was not verified.
        """
        self.findings.append(ClaimFinding(outcome, sentence))
