"""What a document shows, found so that a test can run it.

A block that is not run says why, in a comment in the line above: `<!-- not run here: … -->`.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
TOLERANCE = 1e-5
"""A search may stop elsewhere on another processor; what it returns is certified all the same."""
OMITTED = "…"
EXACT = ("README.md", "docs/quickstart.md", "docs/command-line.md", "docs/answers.md")
"""Documents that show answers to the last digit, besides the tutorials."""
TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|-?\d+(?:\.\d*)?…(?:e[+-]?\d+)?|[{}\[\]…]')
"""Strings, numbers without their last digits, brackets and omissions."""
BLOCK = re.compile(
    r"(?:^<!-- not run here: (?P<why>[^\n]+) -->\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Block:
    """A fenced block; `why` it is not run, if it is not."""

    language: str
    text: str
    why: str | None


@dataclass(frozen=True)
class Command:
    """What is typed after `$ `, what is shown to be printed, and the block that follows."""

    words: list[str]
    shown: str
    below: Block | None

    @property
    def program(self) -> str:
        """What is run."""
        return self.words[0]

    @property
    def label(self) -> str:
        """A name for the test."""
        return " ".join(self.words[:3])


def blocks(text: str) -> list[Block]:
    """Every fenced block, in order."""
    return [Block(found["language"], found["text"], found["why"]) for found in BLOCK.finditer(text)]


def commands(text: str) -> Iterator[Command]:
    """Every command of the blocks that are run; … stands for lines of output left out."""
    found = blocks(text)
    for block, below in zip(found, [*found[1:], None], strict=False):
        if block.language == "console" and block.why is None:
            for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
                command, shown = whole(part)
                yield Command(shlex.split(command), shown, below)


def whole(part: str) -> tuple[str, str]:
    """A command over all its lines, and what stands below it."""
    lines = part.splitlines()
    for count in range(1, len(lines) + 1):
        command = "\n".join(lines[:count])
        try:
            shlex.split(command)
        except ValueError:  # a quotation goes on
            continue
        if not command.endswith("\\"):
            return command.replace("\\\n", " "), "\n".join(lines[count:])
    raise ValueError(part)


def doctests(text: str) -> str:
    """The Python sessions of a document as one."""
    return "\n".join(block.text for block in blocks(text) if block.language == "python" and block.why is None)


def posts(command: Command) -> bool:
    """Whether a curl command sends something, and does not only ask."""
    return "-d" in command.words


def path(command: Command) -> str:
    """Path of a curl command."""
    url = next(word for word in command.words if word.startswith("http://"))
    return re.sub(r"^http://[^/]+", "", url)


def posted(command: Command) -> tuple[str, str]:
    """Path and body of a curl command that sends something."""
    return path(command), command.words[command.words.index("-d") + 1]


def shows_exactly(name: str) -> bool:
    """Decide whether a document shows answers exactly, apart from what it marks with …."""
    return name in EXACT or name.startswith("docs/tutorials/")


def shown_json(text: str) -> Any:
    """Parse JSON in which … marks what is left out: members, elements, or the last digits of a number.

    An omission is the member, the value or the element "…"; a number without its last digits is a string such as "0.0912…".
    """
    parts, brackets, place = [], [], 0
    for token in TOKEN.finditer(text):
        parts.append(text[place : token.start()])
        place = token.end()
        sign = token[0]
        if sign in "{[":
            brackets.append(sign)
        elif sign in "}]":
            brackets.pop()
        elif sign == OMITTED:
            is_member = brackets[-1] == "{" and not text[: token.start()].rstrip().endswith(":")
            sign = json.dumps(OMITTED) + (": true" if is_member else "")
        elif not sign.startswith('"'):
            sign = json.dumps(sign)
        parts.append(sign)
    return json.loads("".join(parts) + text[place:])


def assert_printed(command: Command, *, exactly: bool) -> None:
    """The command line prints each line that is shown, in this order.

    Numbers agree to within the tolerance, or to the last digit that is shown; then only … leaves out lines.
    """
    ran = subprocess.run([sys.executable, "-m", *command.words], cwd=ROOT, capture_output=True, text=True, check=True)
    printed = [line.split() for line in ran.stdout.splitlines() if line.strip()]
    place, gap = 0, not exactly
    for line in command.shown.splitlines():
        words = line.split()
        if words in ([OMITTED], []):
            gap = gap or words == [OMITTED]
            continue
        matching = [at for at in range(place, len(printed)) if words_match(words, printed[at], exactly=exactly)]
        assert matching, line
        assert gap or matching[0] == place, f"lines before this one are left out: {line}"
        place, gap = matching[0] + 1, not exactly
    assert gap or place == len(printed), "lines at the end are left out"


def words_match(shown: list[str], printed: list[str], *, exactly: bool) -> bool:
    """Whether two lines agree, word by word; brackets and commas stand with their words."""
    if len(shown) != len(printed):
        return False
    if exactly:
        return all(
            shown_number_is(one, other) if OMITTED in one else one == other
            for one, other in zip(shown, printed, strict=True)
        )
    pairs = [(number(one.strip("[],")), number(other.strip("[],"))) for one, other in zip(shown, printed, strict=True)]
    return all(
        one == pytest.approx(other, rel=TOLERANCE)
        if isinstance(one, float) and isinstance(other, float)
        else one == other
        for one, other in pairs
    )


def number(word: str) -> str | float:
    """A word, or the number it is."""
    try:
        return float(word)
    except ValueError:
        return word


def shown_number_is(shown: str, answered: str) -> bool:
    """Whether a number that is shown without its last digits begins as the answered one, with the same exponent."""
    digits, exponent = shown.split(OMITTED)
    mantissa, _, power = answered.partition("e")
    return mantissa.startswith(digits) and exponent == (f"e{power}" if power else "")


def assert_shown(shown: Any, answered: Any, place: str = "", *, exactly: bool = False) -> None:
    """Nothing is shown that was not answered; exactly: what is left out is marked, and every digit is the answer's."""
    if shown == OMITTED:
        return
    if isinstance(shown, dict):
        names = shown.keys() - {OMITTED}
        assert names <= answered.keys(), place
        assert not exactly or OMITTED in shown or names == answered.keys(), f"{place} leaves out members"
        for name in names:
            assert_shown(shown[name], answered[name], f"{place}/{name}", exactly=exactly)
    elif isinstance(shown, list):
        assert_elements_shown(shown, answered, place, exactly=exactly)
    elif isinstance(shown, str) and OMITTED in shown and isinstance(answered, int | float):
        assert shown_number_is(shown, repr(answered)), f"{place}: {shown} is shown for {answered}"
    elif isinstance(shown, float) and not exactly:
        assert answered == pytest.approx(shown, rel=TOLERANCE), place
    else:
        assert answered == shown, place


def assert_elements_shown(shown: list[Any], answered: Any, place: str, *, exactly: bool) -> None:
    """The elements are answered; exactly: in this order, and only … leaves out any."""
    at, gap = 0, not exactly
    for item in shown:
        if item == OMITTED:
            gap = True
            continue
        candidates = range(at if exactly else 0, len(answered))
        matching = [other for other in candidates if matches(item, answered[other], exactly=exactly)]
        if not matching and at < len(answered) and exactly:
            assert_shown(item, answered[at], f"{place}/{at}", exactly=exactly)
        assert matching, f"{place}: {item}"
        assert gap or matching[0] == at, f"{place} leaves out elements"
        at, gap = matching[0] + 1, not exactly
    assert gap or at == len(answered), f"{place} leaves out elements"


def matches(shown: Any, answered: Any, *, exactly: bool = False) -> bool:
    """Whether that holds."""
    try:
        assert_shown(shown, answered, exactly=exactly)
    except AssertionError:
        return False
    return True
