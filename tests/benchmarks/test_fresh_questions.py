"""The speed that is published is that of new questions: no repetition asks what was asked before."""

import subprocess
import sys

import pytest

from benchmarks import cases
from benchmarks.environments import ROOT
from benchmarks.runners import loop
from benchmarks.runners.loop import Answer, Question, Run

QUESTION = Question("epsilon", [Run(0.01, 1.0, 1000), Run(1.0, 2.0, 3, "laplace")], None, 1e-6)


@pytest.fixture
def asked(monkeypatch):
    """What was asked, and what was said of it, of an accountant that only writes down what it is asked."""
    monkeypatch.setattr(loop, "RUN_SECONDS", 1e-3)
    monkeypatch.setattr(loop, "ENOUGH_SECONDS", 3e-3)
    seen = []

    def accountant(question):
        seen.append(repr(question))
        return Answer(1.0)

    return seen, loop.measured(accountant, QUESTION)


def test_every_repetition_asks_a_question_of_its_own(asked):
    seen, said = asked
    new = seen[: said["calls"]]
    assert len(new) > 2
    assert len(set(new)) == len(new)
    assert new[0] == repr(QUESTION)


def test_a_question_that_is_asked_again_has_a_figure_of_its_own(asked):
    seen, said = asked
    again = seen[said["calls"] :]
    assert len(again) > 2
    assert set(again) == {seen[said["calls"] - 1]}
    assert said["repeated"] > 0


def test_a_long_question_is_asked_once(monkeypatch):
    monkeypatch.setattr(loop, "RUN_SECONDS", 0.0)
    monkeypatch.setattr(loop, "ENOUGH_SECONDS", 0.0)
    monkeypatch.setattr(loop, "REPEATED_SECONDS", -1.0)
    said = loop.measured(lambda _: Answer(1.0), QUESTION)
    assert (said["calls"], said["repeated"]) == (1, None)
    assert said["cpu"] == said["first"]


@pytest.mark.parametrize("case", cases.everything(), ids=lambda case: case.id)
def test_each_given_number_moves_and_hardly(case):
    parts = [Run(*part) for part in case.body()["parts"]]
    question = Question(case.question, parts, case.epsilon, case.delta, case.relation)
    assert loop.asked_anew(question, 0) == question
    places = [loop.asked_anew(question, place) for place in (1, 2, 1000)]
    for place, new in zip((1, 2, 1000), places, strict=True):
        numbers = [(new.epsilon, question.epsilon), (new.delta, question.delta)]
        numbers += [(mine.noise, theirs.noise) for mine, theirs in zip(new.parts, parts, strict=True)]
        moved = [mine / theirs - 1.0 for mine, theirs in numbers if mine is not None and theirs is not None]
        assert moved
        assert moved == pytest.approx([place * loop.CHANGE] * len(moved), rel=1e-6)
        assert [part._replace(noise=None) for part in new.parts] == [part._replace(noise=None) for part in parts]


IMPORTED = """
import sys
from benchmarks import cases
from benchmarks.runners.epsilond import certified
from benchmarks.runners.loop import Question, Run

before = set(sys.modules)
for case in cases.short():
    certified(Question(case.question, [Run(*part) for part in case.body()["parts"]], case.epsilon, case.delta))
print(*sorted(name for name in set(sys.modules) - before if name.startswith("epsilond")))
"""


def test_nothing_of_ours_is_imported_while_it_is_measured():
    """The package imports a name when it is first used: within a fork that import would be in every figure."""
    said = subprocess.run([sys.executable, "-c", IMPORTED], cwd=ROOT, capture_output=True, text=True, check=True)
    assert said.stdout.split() == []
