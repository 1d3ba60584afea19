"""POST /v1/calibrations/{algorithm}: one question, or the same question at many values of one field."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from epsilond.app.questions import sweeps
from epsilond.app.questions.cost import estimate_seconds
from epsilond.app.questions.question import Question
from epsilond.app.workers.work import render_answer
from epsilond.calibrators.calibration import Calibrator, find_calibrator
from epsilond.calibrators.strict_json import parse
from epsilond.reading import read_body


def read_calibration(home: str, name: str, body: bytes) -> Question:
    """Read the body of a calibration, or of a sweep if it has a member `sweep`.

    Args:
        home: module with the list of calibrators.
        name: name of the algorithm.
        body: the JSON text.

    Returns:
        The question: the computation to be done, and the identity of its answer in the cache.

    Raises:
        MalformedJson: the body is not JSON.
        InvalidInput: the body is not a problem of this algorithm.
    """
    calibrator, parsed = find_calibrator(home, name), parse(body)
    if isinstance(parsed, Mapping) and "sweep" in parsed:
        return _sweep_of(calibrator, parsed)
    return calibration_of(calibrator, read_body(calibrator.problem, parsed))


def read_sweep(home: str, name: str, body: bytes) -> Question:
    """Read the body of a sweep.

    Args:
        home: module with the list of calibrators.
        name: name of the algorithm.
        body: the JSON text.

    Returns:
        The question (request for a computation); its parts are calibrations at the swept values.

    Raises:
        MalformedJson: the body is not JSON.
        InvalidInput: the body is not a sweep of this algorithm.
    """
    return _sweep_of(find_calibrator(home, name), parse(body))


def _sweep_of(calibrator: Calibrator, parsed: object) -> Question:
    """Return the question (a computation to be done) of a sweep: a calibration at each of several values of a field."""
    request_class: object = calibrator.problem
    problem = read_body(sweeps.body_type(calibrator.name, request_class), parsed)
    return sweeps.question_of(calibrator, problem, partial(calibration_of, calibrator))


def calibration_of(calibrator: Calibrator, problem: object, *, true_figures: bool = True) -> Question:
    """Return the question (a computation to be done) of a single calibration, which finds an algorithm's noise.

    Args:
        calibrator: the calibrator of the algorithm.
        problem: the parsed request.
        true_figures: whether the answer also has the true ε at the parameters that a paper's formula gives, which may
            be wrong. For some algorithms this takes most of the time.

    Returns:
        The question, with an estimate of its CPU time unless it takes only milliseconds.
    """
    solve = calibrator.solve if true_figures else partial(calibrator.solve, true_figures=False)
    # Answers with and without the true ε differ, so they must not share an entry of the cache.
    identity = problem if true_figures else (problem, "without true figures")
    closed_form = calibrator.cost(problem) == "closed-form"
    computation = partial(render_answer, solve, problem)
    seconds = None if closed_form else estimate_seconds(calibrator.name, problem)
    return Question.of("calibration", calibrator.name, identity, computation, closed_form=closed_form, seconds=seconds)
