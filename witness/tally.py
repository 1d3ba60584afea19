"""From counts to a verdict: in how many settings a claim holds, fails, or stays open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from epsilond.witness.experiment import Finding, FindingVerdict

RULES: Mapping[FindingVerdict, str] = {
    "confirmed": "it holds in every setting",
    "confirmed in part": "it holds in some settings and fails in none; in the others it stays open",
    "mixed": "it holds in some settings and fails in others",
    "not reproduced": "it fails in some settings and holds in none, on the data of the experiment. These may stand in "
    "for the paper's data, on which it may hold",
    "refuted": "it says that something holds everywhere, such as that a noise is private, and fails in at least one "
    "setting. No other claim is refuted by an experiment",
    "undecided": "it stays open in every setting",
}
"""Verdicts on a claim, with the rule for each; all findings of all experiments follow these rules."""


@dataclass(frozen=True, kw_only=True)
class Tally:
    """Number of settings in which a claim holds, in which it fails, and of all; the rest stays open.

    `level` counts the settings of `holds` with overlapping bands, for a claim that something is no worse. `universal`
    marks a claim about every setting, which one failure refutes.
    """

    holds: int
    fails: int
    of: int
    level: int = 0
    universal: bool = False
    noun: tuple[str, str] = ("setting", "settings")
    open_where: str = "the bands overlap"

    @property
    def verdict(self) -> FindingVerdict:
        """By `RULES`."""
        if self.fails and self.universal:
            return "refuted"
        if self.fails:
            return "mixed" if self.holds else "not reproduced"
        if self.holds:
            return "confirmed" if self.holds == self.of else "confirmed in part"
        return "undecided"

    @property
    def told(self) -> str:
        """The verdict with its counts."""
        opened = self.of - self.holds - self.fails
        apart = f"; in {opened} {self.open_where}" if opened else ""
        one, noun = self.noun
        every = f"the only {one}" if self.of == 1 else f"both {noun}" if self.of == 2 else f"all {self.of} {noun}"
        if self.verdict == "confirmed":
            level = f": no worse anywhere, better in {self.of - self.level}, level in {self.level}"
            return f"confirmed in {every}" + (level if self.level else "")
        if self.verdict == "undecided":
            return f"undecided: in {every} {self.open_where}" if self.of else "undecided: nothing to compare"
        if self.verdict == "mixed":
            return f"mixed: it holds in {self.holds} and fails in {self.fails} of {self.of} {noun}{apart}"
        if self.verdict == "confirmed in part":
            return f"confirmed in {self.holds} of {self.of} {noun}{apart}"
        if self.verdict == "not reproduced":
            failures = every if self.fails == self.of else f"{self.fails} of {self.of} {noun}"
            return f"not reproduced: it fails in {failures}{apart}"
        held = f", true in {self.holds}" if self.holds else ""
        if self.fails == self.of:
            return f"refuted in {every}"
        return f"refuted: false in {self.fails} of {self.of} {noun}{held}{apart}"

    def finding(self, claim: str, words: str) -> Finding:
        """The finding that it makes of a claim."""
        return Finding(claim=claim, verdict=self.verdict, told=self.told, words=words)
