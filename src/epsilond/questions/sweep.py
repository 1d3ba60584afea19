"""One calibration at many values of one field."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

from epsilond.accountants.errors import Fault, InvalidInput, NoCertificate
from epsilond.accountants.json_types import JsonObject
from epsilond.calibrators.answer import Calibration
from epsilond.calibrators.calibration import Calibrator
from epsilond.executors import run_in_order
from epsilond.questions.calibrate import calibrator
from epsilond.reading import read
from epsilond.spelling import suggest

MOST_VALUES = 200
"""Largest number of values of a sweep; each is a calibration, so more would take minutes."""


@dataclass(frozen=True, kw_only=True)
class AtValue:
    """The answer at one value of the field that a sweep varies, or the error there.

    Attributes:
        value: value of the field.
        answer: the calibration at this value; None if there is an error.
        error: the error; None if there is an answer.
    """

    value: object
    answer: Calibration | None = None
    error: InvalidInput | NoCertificate | None = None


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """Calibrations of an algorithm at several values of one field of its request.

    Attributes:
        algorithm: name of the algorithm.
        field: name of the field that varies.
        answers: the answer or the error at each value, in the order of the values.
    """

    algorithm: str
    field: str
    answers: tuple[AtValue, ...]

    @property
    def body(self) -> JsonObject:
        """JSON form of the sweep: the answer of the service, except that errors have no `title`."""
        return {
            "algorithm": self.algorithm,
            "sweep": {"field": self.field, "values": [entry.value for entry in self.answers]},
            "answers": [_entry_body(entry) for entry in self.answers],
        }


def sweep(
    algorithm: str,
    swept: str,
    values: Sequence[object],
    /,
    *,
    executor: Executor | None = None,
    true_figures: bool = True,
    **fields: object,
) -> Sweep:
    """Calibrate an algorithm at each of 1 to 200 values of one field.

    A value that is rejected has its error in its entry; the other values are answered.

    Args:
        algorithm: name of the algorithm.
        swept: name of the field that varies; `fields` need not have it.
        values: values of the field.
        executor: answers the values in parallel, to the same figures.
        true_figures: whether to certify the true ε at the parameters that papers' formulas prescribe, for comparison.
            This takes most of the time.
        **fields: the other fields, as in `calibrate`.

    Returns:
        The answers, in the order of the values.

    Example:
        >>> import epsilond
        >>> setting = {"relation": "replace-one", "unit": "record", "observer": "released-models"}
        >>> run = {"delta": 1e-5, "sampling": "full", "rounds": 10, **setting}
        >>> sweep = epsilond.sweep("gaussian", "epsilon", [1.0, 2.0], solve_for="noise_multiplier", **run)
        >>> [round(entry.answer.parameters.noise_multiplier, 2) for entry in sweep.answers]
        [23.59, 12.61]

    Raises:
        InvalidInput: unknown algorithm or field, no values or too many, or all are rejected for the same other field.
        ClusterError: the executor lost the work, or its workers have another version of the engine.
    """
    chosen = calibrator(algorithm)
    _require_field(chosen, swept)
    if not 1 <= len(values) <= MOST_VALUES:
        raise InvalidInput.at("/sweep/values", "has too few or too many entries", allowed=f"1 to {MOST_VALUES}")
    calls = [(chosen, value, {**fields, swept: value}, true_figures) for value in values]
    answers = tuple(run_in_order(executor, _calibrate_at, calls))
    _require_valid_other_fields(swept, answers)
    return Sweep(algorithm=chosen.name, field=swept, answers=answers)


def _require_field(calibrator: Calibrator, swept: str) -> None:
    """Check that the algorithm has the field that a sweep is to vary.

    Args:
        calibrator: calibrator of the algorithm.
        swept: name of the field that varies.

    Raises:
        InvalidInput: the algorithm has no such field. The message has similar names or, if there are none, all names.
    """
    names = [field.name for field in dataclasses.fields(calibrator.problem)]
    if swept not in names:
        proposal = suggest(swept, names)
        choices = None if proposal else ", ".join(names)
        raise InvalidInput.at("/sweep/field", f"is not a field{proposal}", allowed=choices)


def _require_valid_other_fields(swept: str, answers: Sequence[AtValue]) -> None:
    """Reject a sweep if every value has the same fault, and the fault is of another field than the swept one.

    The swept values are not the cause of such a fault. So the whole sweep is rejected.

    Args:
        swept: name of the swept field.
        answers: answer or error at each value.

    Raises:
        InvalidInput: there is such a fault. The error has all of them.
    """
    faults = [entry.error.faults for entry in answers if isinstance(entry.error, InvalidInput)]
    if len(faults) < len(answers):
        return
    common = set(faults[0]).intersection(*faults)
    of_other_fields = [fault for fault in faults[0] if fault in common and not _is_in_field(swept, fault)]
    if of_other_fields:
        raise InvalidInput(*of_other_fields)


def _is_in_field(field: str, fault: Fault) -> bool:
    """Return whether the JSON pointer of a fault is that of a field or of a part of it."""
    return fault.pointer == f"/{field}" or fault.pointer.startswith(f"/{field}/")


def _calibrate_at(calibrator: Calibrator, value: object, fields: JsonObject, true_figures: bool) -> AtValue:
    """Return the calibration of an algorithm at one value of the field that a sweep varies, or its error.

    Args:
        calibrator: the algorithm.
        value: value of the field.
        fields: all fields of the request, including that value.
        true_figures: whether to compute the true ε at the parameters that papers' formulas prescribe, for comparison.

    Returns:
        The value with either its answer or its error.
    """
    try:
        if value is None:
            raise InvalidInput.at("", "must not be null")
        problem = read(calibrator.problem, fields)
        return AtValue(value=value, answer=calibrator.solve(problem, true_figures=true_figures))
    except (InvalidInput, NoCertificate) as error:
        return AtValue(value=value, error=error)


def _entry_body(entry: AtValue) -> JsonObject:
    """Return the result for one value of a sweep as a JSON object.

    Args:
        entry: the value, with its answer or with its error.

    Returns:
        An object with the value, and either the answer or a problem document of the error.
    """
    if entry.error is None:
        return {"value": entry.value, "answer": entry.answer}
    return {"value": entry.value, "problem": _problem(entry.error)}


def _problem(error: InvalidInput | NoCertificate) -> JsonObject:
    """Convert an error to a problem document (RFC 9457) as the service sends it, without its title.

    Args:
        error: error of a calibration.

    Returns:
        The members of the problem document: type, status, detail, and details of the error.
    """
    if isinstance(error, InvalidInput):
        return {"type": "/problems/invalid-input", "status": 422, "detail": str(error), "errors": error.faults}
    problem = {"type": f"/problems/{error.slug}", "status": 409, "detail": error.message, "nearest": error.nearest}
    if error.condition is not None:
        problem["condition"] = error.condition
    return problem
