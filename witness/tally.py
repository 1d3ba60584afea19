"""Verdicts from counts: the number of settings in which a claim holds, fails, or stays open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from epsilond.witness.experiment import Finding, FindingVerdict

RULES: Mapping[FindingVerdict, str] = {
    "confirmed": "it holds in every setting",
    "confirmed in part": "the claim holds in some settings and fails in none; elsewhere it stays open",
    "mixed": "it holds in some settings and fails in others",
    "not reproduced": "the claim fails in some settings and holds in none, on the data of the experiment. These data "
    "may be substitutes for the paper's, on which it may hold",
    "refuted": "it states that a property holds everywhere, such as that a noise is private, and fails in at least "
    "one setting. No other claim is refuted by an experiment",
    "undecided": "it stays open in every setting",
}
"""Verdicts on a claim, with the rule for each. All findings of all experiments follow these rules."""


@dataclass(frozen=True, kw_only=True)
class Tally:
    """Numbers of settings in which a claim holds and fails, with the verdict that follows from them.

    Attributes:
        holds: number of settings in which the claim holds.
        fails: number of settings in which it fails. In the remaining settings it stays open.
        of: number of all settings.
        level: number of settings of `holds` in which the bands overlap, for a claim that a method is no worse.
        universal: whether the claim is about every setting, so that one failure refutes it.
        noun: singular and plural of the word for a setting.
        open_where: words on the settings in which the claim stays open.
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
        """The verdict on the claim, from the numbers of settings in which it holds and fails.

        A failure makes it `refuted` if the claim is about every setting. Otherwise it is `mixed`, or `not reproduced`
        if the claim holds nowhere. Without a failure it is `undecided`, `confirmed` or `confirmed in part`.
        """
        if self.fails and self.universal:
            return "refuted"
        if self.fails and self.holds:
            return "mixed"
        if self.fails:
            return "not reproduced"
        if not self.holds:
            return "undecided"
        if self.holds == self.of:
            return "confirmed"
        return "confirmed in part"

    @property
    def statement(self) -> str:
        """The verdict on a claim in words, with the number of settings in which it holds or fails.

        A setting is one condition of the experiment, such as one ε. In some settings the claim may stay open, usually
        because confidence bands overlap; `open_where` states the reason. `RULES` states when each verdict applies.

        Returns:
            One sentence without a full stop, for example `confirmed in 3 of 4 settings; in 1 the bands overlap`.
        """
        _, plural = self.noun
        if self.verdict == "confirmed":
            return f"confirmed in {self._all_settings}{self._level_clause}"
        if self.verdict == "confirmed in part":
            return f"confirmed in {self.holds} of {self.of} {plural}{self._open_clause}"
        if self.verdict == "mixed":
            return f"mixed: it holds in {self.holds} and fails in {self.fails} of {self.of} {plural}{self._open_clause}"

        if self.verdict == "undecided":
            if not self.of:
                return "undecided: nothing to compare"
            return f"undecided: in {self._all_settings} {self.open_where}"

        fails_everywhere = self.fails == self.of
        if self.verdict == "not reproduced":
            failures = f"{self.fails} of {self.of} {plural}"
            if fails_everywhere:
                failures = self._all_settings
            return f"not reproduced: it fails in {failures}{self._open_clause}"

        # The remaining verdict is "refuted": a claim about every setting fails in at least one.
        if fails_everywhere:
            return f"refuted in {self._all_settings}"
        true_clause = f", true in {self.holds}" if self.holds else ""
        return f"refuted: false in {self.fails} of {self.of} {plural}{true_clause}{self._open_clause}"

    @property
    def _all_settings(self) -> str:
        """All settings, in words, such as `both settings` or `all 4 settings`."""
        singular, plural = self.noun
        if self.of == 1:
            return f"the only {singular}"
        if self.of == 2:
            return f"both {plural}"
        return f"all {self.of} {plural}"

    @property
    def _open_clause(self) -> str:
        """A clause on the number of settings in which the claim stays open; empty if there are none."""
        undecided = self.of - self.holds - self.fails
        if not undecided:
            return ""
        return f"; in {undecided} {self.open_where}"

    @property
    def _level_clause(self) -> str:
        """The numbers of settings with a better result and with overlapping bands, in words; empty without overlap."""
        if not self.level:
            return ""
        return f": no worse anywhere, better in {self.of - self.level}, level in {self.level}"

    def finding(self, claim: str, words: str) -> Finding:
        """Return the result of an experiment on a paper's claim.

        The verdict follows from the numbers of settings in which the claim holds and fails.

        Args:
            claim: the claim in words.
            words: the measured numbers, in sentences.

        Returns:
            The claim, its verdict, a sentence with the verdict and these numbers (`told`), and `words`.
        """
        return Finding(claim=claim, verdict=self.verdict, told=self.statement, words=words)
