"""The score of a suite: its assertions that ours passes, rejects, or answers differently."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
OWN = HERE / "own_counts.json"
DIFFERENCES = HERE / "differences.json"


@dataclass(frozen=True)
class Difference:
    """A failed assertion, or an exception that ended a test.

    Attributes:
        test: id of the test.
        message: message of the failure.
        count: number of assertions that it stands for.
    """

    test: str
    message: str
    count: int = 1


@dataclass(frozen=True)
class Score:
    """The counts of a suite, over the tests in which an adapter answers.

    Attributes:
        passed: number of assertions that hold.
        rejected: assertions that are not reached, because ours rejects a question.
        different: assertions that fail.
    """

    passed: int
    rejected: tuple[Difference, ...]
    different: tuple[Difference, ...]

    @property
    def counts(self):
        """Numbers of assertions, by their outcome."""
        rejected, different = (sum(each.count for each in group) for group in (self.rejected, self.different))
        total = self.passed + rejected + different
        return {"assertions": total, "passed": self.passed, "rejected": rejected, "different": different}


def own_counts(outcome):
    """Return the number of assertions of each test that uses the peer's accountants, run with them.

    A test that does not pass with the peer's own accountants is left out: it says nothing of ours.
    """
    broken = {test for test, outcomes in outcome["tests"].items() if any(each != "passed" for each in outcomes)}
    broken |= set(outcome["stops"])
    return {test: len(outcome["tests"].get(test, ())) for test in outcome["ours"] if test not in broken}


def score(outcome, own):
    """Compare the outcome of a suite with the numbers of its assertions.

    Args:
        outcome: the outcome with ours, as `tests.peers.run` prints it.
        own: numbers of assertions by test, with the peer's own accountants.
    """
    passed, rejected, different = 0, [], []
    for test, expected in own.items():
        outcomes = outcome["tests"].get(test, [])
        passed += sum(each == "passed" for each in outcomes)
        different += [Difference(test, each) for each in outcomes if each != "passed"]
        if test in outcome["stops"]:
            kind, message = outcome["stops"][test]
            rest = Difference(test, message, max(expected - len(outcomes), 1))
            (rejected if kind == "rejected" else different).append(rest)
        elif not outcomes and expected:
            different.append(Difference(test, "the test was not run with ours", expected))
    return Score(passed, tuple(rejected), tuple(different))


def known_differences(suite):
    """Return the entries of differences.json for a suite."""
    return [entry for entry in json.loads(DIFFERENCES.read_text(encoding="utf-8")) if entry["suite"] == suite]


def explain(difference, entries):
    """Return the entries that explain a difference."""
    return [
        entry
        for entry in entries
        if re.search(entry["test"], difference.test) and re.search(entry.get("message", ""), difference.message)
    ]
