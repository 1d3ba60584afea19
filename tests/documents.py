"""What a document shows, found so that a test can run it.

A block that is not run says why, in a comment in the line above: `<!-- not run here: … -->`.
"""

from __future__ import annotations

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


def assert_printed(command: Command) -> None:
    """The command line prints each line that is shown, numbers to within the tolerance."""
    ran = subprocess.run([sys.executable, "-m", *command.words], cwd=ROOT, capture_output=True, text=True, check=True)
    printed = [words_of(line) for line in ran.stdout.splitlines()]
    for line in command.shown.splitlines():
        wanted = [pytest.approx(word, rel=TOLERANCE) if isinstance(word, float) else word for word in words_of(line)]
        assert line in ("…", "") or wanted in printed, line


def words_of(line: str) -> list[str | float]:
    """A line's words, and its numbers as numbers."""
    return [number(word) for word in re.sub(r"[][,]", " ", line).split()]


def number(word: str) -> str | float:
    """A word, or the number it is."""
    try:
        return float(word)
    except ValueError:
        return word


def assert_shown(shown: Any, answered: Any, place: str = "") -> None:
    """`shown` may leave out members and list entries, and says nothing that was not answered."""
    if isinstance(shown, dict):
        assert shown.keys() <= answered.keys(), place
        for name, value in shown.items():
            assert_shown(value, answered[name], f"{place}/{name}")
    elif isinstance(shown, list):
        for item in shown:
            assert any(matches(item, other) for other in answered), f"{place}: {item}"
    elif isinstance(shown, float):
        assert answered == pytest.approx(shown, rel=TOLERANCE), place
    else:
        assert answered == shown, place


def matches(shown: Any, answered: Any) -> bool:
    """Whether that holds."""
    try:
        assert_shown(shown, answered)
    except AssertionError:
        return False
    return True
