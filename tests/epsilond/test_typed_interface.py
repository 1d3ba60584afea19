"""Test that the typed interface agrees with the request classes, and that a request may replace its fields."""

from pathlib import Path

import pytest

import epsilond
from epsilond import requests
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.risk.bounder import RISK_BOUNDS
from epsilond.questions.requests import read_question
from epsilond.reading import read
from scripts import typed_face

STUBS = Path(epsilond.__file__).parent
RUN = {
    "sampling": "full",
    "rounds": 10,
    "relation": "replace-one",
    "delta": 1e-5,
    "unit": "record",
    "observer": "server",
}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("typed.pyi", typed_face.overloads),
        ("requests.pyi", typed_face.request_classes),
        ("options.json", typed_face.command_options),
    ],
)
def test_the_generated_files_are_up_to_date(name, text):
    assert (STUBS / name).read_text(encoding="utf-8") == text(), "run python -m scripts.typed_face"


@pytest.mark.parametrize("listed", [CALIBRATORS, RISK_BOUNDS])
def test_every_request_class_belongs_to_one_algorithm_and_is_public(listed):
    classes = [each.problem for each in listed]
    assert len(set(classes)) == len(classes)
    for each in listed:
        assert getattr(requests, each.problem.__name__) is each.problem
        built = read(each.problem, each.example)
        assert read_question(built, listed, {}) == (each, built)


def test_a_request_is_answered_as_its_fields_are():
    request = requests.GaussianProblem(solve_for="noise_multiplier", epsilon=1.0, **RUN)
    by_name = epsilond.calibrate("gaussian", solve_for="noise_multiplier", epsilon=1.0, **RUN)
    assert epsilond.calibrate(request) == by_name
    assert epsilond.calibrate(request, epsilon=2.0).guarantee.target.epsilon == 2.0


def test_what_is_neither_a_name_nor_a_request_is_refused():
    with pytest.raises(epsilond.InvalidInput, match="neither the name of an algorithm nor a request"):
        epsilond.calibrate(epsilond.Gaussian(noise_multiplier=1.0))
