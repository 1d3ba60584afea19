"""What the documents show is run: requests at a real service, Python sessions, commands; and they hold together."""

import doctest
import re

import pytest

from epsilond.app.main import create_app
from scripts.site_hook import PARTS, PLACE, pages, sections
from tests import documents
from tests.app.conftest import PATIENCE, PATIENT, serving
from tests.documents import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TEXTS = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in PAGES}
COMMANDS = [
    pytest.param(command, documents.shows_exactly(name), id=f"{name} {place}: {command.label}")
    for name, text in TEXTS.items()
    for place, command in enumerate(documents.commands(text), start=1)
]
CURLS = [each for each in COMMANDS if each.values[0].program == "curl"]
RUN = ("curl", "epsilond")


@pytest.fixture(scope="module")
def service():
    with serving(PATIENT, create_app(settings=PATIENT)) as client:
        yield client


@pytest.fixture(scope="module")
def generated():
    return {ROOT / "docs" / path for path, _ in pages()}


@pytest.mark.parametrize(("command", "exactly"), [each for each in CURLS if not documents.posts(each.values[0])])
def test_what_is_asked_for_is_printed_as_shown(service, command, exactly):
    del exactly  # such text is compared as a whole
    assert service.get(documents.path(command), timeout=PATIENCE).text == command.shown + "\n"


@pytest.mark.parametrize(("command", "exactly"), [each for each in CURLS if documents.posts(each.values[0])])
def test_a_request_is_answered_as_shown(service, command, exactly):
    path, body = documents.posted(command)
    answer = service.post(path, content=body, headers={"content-type": "application/json"}, timeout=PATIENCE)
    assert command.below is not None
    assert command.below.language == "json"
    shown = documents.shown_json(command.below.text)
    assert answer.status_code == shown.get("status", 200)
    documents.assert_shown(shown, answer.json(), exactly=exactly)


@pytest.mark.parametrize(("command", "exactly"), [each for each in COMMANDS if each.values[0].program == "epsilond"])
def test_a_command_prints_what_is_shown(command, exactly):
    documents.assert_printed(command, exactly=exactly)


@pytest.mark.parametrize(
    ("shown", "answered"),
    [
        ('{"a": 1}', {"a": 1, "b": 2}),
        ('{"a": [1, 2]}', {"a": [1, 2, 3]}),
        ('{"a": [1, 3]}', {"a": [1, 2, 3]}),
        ('{"a": [3, 1, …]}', {"a": [1, 2, 3]}),
        ('{"a": 0.30000001}', {"a": 0.3}),
        ('{"a": 0.31…}', {"a": 0.3}),
        ('{"a": 3.0…}', {"a": 3.05e-07}),
        ('{"a": 3.0…e-06}', {"a": 3.05e-07}),
        ('{"b": …, …}', {"a": 1}),
    ],
)
def test_an_answer_that_is_not_shown_exactly_is_noticed(shown, answered):
    assert not documents.matches(documents.shown_json(shown), answered, exactly=True)


@pytest.mark.parametrize(
    ("shown", "answered"),
    [
        ('{"a": 1, …}', {"a": 1, "b": 2}),
        ('{"a": [1, …, 3]}', {"a": [1, 2, 3]}),
        ('{"a": [1, …]}', {"a": [1, 2, 3]}),
        ('{"a": 0.30…}', {"a": 0.304}),
        ('{"a": 3.0…e-07, "b": "an … in a text"}', {"a": 3.05e-07, "b": "an … in a text"}),
    ],
)
def test_omissions_that_are_marked_are_allowed(shown, answered):
    assert documents.matches(documents.shown_json(shown), answered, exactly=True)


@pytest.mark.parametrize("name", [name for name, text in TEXTS.items() if documents.doctests(text)])
def test_a_session_goes_as_shown(name):
    examples = doctest.DocTestParser().get_doctest(documents.doctests(TEXTS[name]), {}, name, name, 0)
    assert examples.examples
    said: list[str] = []
    assert doctest.DocTestRunner().run(examples, out=said.append).failed == 0, "".join(said)


@pytest.mark.parametrize("name", [name for name, text in TEXTS.items() if documents.blocks(text)])
def test_every_example_is_run_or_says_why_not(name):
    for block in documents.blocks(TEXTS[name]):
        if block.language == "console" and block.why is None:
            assert block.text.startswith("$ "), block.text
        if block.language == "python" and block.why is None:
            assert block.text.startswith(">>> "), block.text
    assert {command.program for command in documents.commands(TEXTS[name])} <= set(RUN)


def test_all_kinds_of_example_are_found():
    programs = [each.values[0].program for each in COMMANDS]
    assert set(programs) == set(RUN)
    assert programs.count("curl") >= 5


@pytest.mark.parametrize("name", TEXTS)
def test_links_lead_to_files(name, generated):
    for target in re.findall(r"\]\((?!https?://|#)([^)#]+)", TEXTS[name]):
        path = ((ROOT / name).parent / target).resolve()
        assert path.exists() or path in generated, target


def test_every_part_left_to_be_generated_is():
    wanted = {found for text in TEXTS.values() for found in PLACE.findall(text)}
    assert wanted == set(PARTS)


def test_every_algorithm_and_decision_is_in_the_navigation():
    below = sections()
    assert len(below["decisions/"]) == len(list((ROOT / "docs/decisions").glob("0*.md")))
    assert all(f"{folder}" in (ROOT / "mkdocs.yml").read_text(encoding="utf-8") for folder in below)
