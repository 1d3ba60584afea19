"""What a document shows and test_docs does not run: it parses, names commands that exist, and its reason holds."""

import json
import re
import shlex
import subprocess

import pytest
from typer.main import get_command

import epsilond
from epsilond.commands.line import line
from tests import documents
from tests.documents import ROOT
from tests.test_docs import TEXTS

BLOCKS = [
    pytest.param(block, id=f"{name} {place}")
    for name, text in TEXTS.items()
    for place, block in enumerate(documents.blocks(text), start=1)
    if block.why is not None
]
FENCE = re.compile(r"^\s*(?:```|~~~)", re.MULTILINE)
FASTER = {
    "risk": {"repetitions": 2, "points": 2},
    "audit": {"samples": 2000},
    "membership": {"runs": 1},
}
"""What makes a shown simulation a matter of a second; the rest of the request stands as it is."""
FEWER = {"rounds": 2, "canaries": 20}
"""The same of the training within a request."""


def alone():
    """Requests that are shown by themselves: no command above posts them or answers with them."""
    for name, text in TEXTS.items():
        answers = [command.below for command in documents.commands(text)]
        for place, block in enumerate(documents.blocks(text), start=1):
            if block.language == "json" and block not in answers:
                yield pytest.param(block, id=f"{name} {place}")


@pytest.mark.parametrize("name", TEXTS)
def test_every_block_is_seen(name):
    """An indented fence, or one without a language, would be run by nobody."""
    assert len(FENCE.findall(TEXTS[name])) == 2 * len(documents.blocks(TEXTS[name]))


@pytest.mark.parametrize("block", list(alone()))
def test_a_request_that_is_shown_alone_is_answered(block):
    request = json.loads(block.text)
    request |= FASTER[request["kind"]]
    if "training" in request:
        request["training"] |= FEWER
    assert epsilond.as_json(epsilond.simulate(request))["kind"] == request["kind"]


def test_such_requests_are_found():
    assert {json.loads(each.values[0].text)["kind"] for each in alone()} == set(FASTER)


def typed(text):
    """Each command of a block in words, its variables and comments left out; what is shown to be printed is left out too."""
    for part in script(text):
        words = shlex.split(part.replace("\\\n", " "), comments=True)
        while words and re.match(r"[A-Z_]+=", words[0]):
            words = words[1:]
        if words:
            yield words


def script(text):
    """The commands of a block as they are typed."""
    if not re.search(r"^\$ ", text, flags=re.MULTILINE):
        return text.replace("\\\n", " ").splitlines()
    return [documents.whole(part)[0] for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]]


@pytest.mark.parametrize("block", [each for each in BLOCKS if each.values[0].language == "console"])
def test_a_command_that_is_not_run_parses_and_names_what_is_there(block):
    given = "\n".join(script(block.text))
    assert subprocess.run(["bash", "-n"], input=given, text=True, check=False, capture_output=True).stderr == ""
    for words in typed(block.text):
        if words[0].startswith(("./scripts/", "scripts/")):
            assert (ROOT / words[0]).is_file()
        elif words[0].endswith("epsilond"):
            assert_known(words[1:])


def assert_known(words):
    """The command and its options exist."""
    command = get_command(line)
    while hasattr(command, "get_command") and words and not words[0].startswith("-"):
        found = command.get_command(None, words[0])
        assert found is not None, words
        command, words = found, words[1:]
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    asked = {word.partition("=")[0] for word in words if word.startswith("--")}
    assert asked <= known | {"--help"}, words


@pytest.mark.parametrize("block", [each for each in BLOCKS if each.values[0].language == "python"])
def test_python_that_is_not_run_compiles(block):
    text = block.text
    if text.startswith(">>> "):
        text = "\n".join(part[4:] for part in text.splitlines() if part.startswith((">>> ", "... ", "...")))
    compile(text, "<document>", "exec")


@pytest.mark.parametrize("block", BLOCKS)
def test_a_reason_that_names_a_file_names_one_that_is_there(block):
    for path in re.findall(r"\b(?:tests|scripts|clients)/[\w./-]+", block.why):
        assert (ROOT / path).is_file(), block.why
        if "these lines stand in" in block.why:
            there = {part.strip() for part in (ROOT / path).read_text(encoding="utf-8").splitlines()}
            assert {part.strip() for part in block.text.splitlines() if part.strip()} <= there
