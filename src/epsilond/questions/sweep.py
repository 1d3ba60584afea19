"""One calibration at many values of one field."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

from epsilond.accountants.errors import EpsilondError, Fault, InvalidInput, NoCertificate
from epsilond.accountants.json_types import JsonObject
from epsilond.calibrators.answer import Calibration
from epsilond.calibrators.calibration import Calibrator
from epsilond.executors import in_order
from epsilond.questions.calibrate import calibrator
from epsilond.reading import read
from epsilond.spelling import suggest

MOST_VALUES = 200


@dataclass(frozen=True, kw_only=True)
class AtValue:
    """The answer at one value of the field, or the error that refuses it."""

    value: object
    answer: Calibration | None = None
    error: InvalidInput | NoCertificate | None = None


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """The answers in the order of their values."""

    algorithm: str
    field: str
    answers: tuple[AtValue, ...]

    @property
    def body(self) -> JsonObject:
        """What the service answers, but for the titles of problems."""
        return {
            "algorithm": self.algorithm,
            "sweep": {"field": self.field, "values": [each.value for each in self.answers]},
            "answers": [_part(each) for each in self.answers],
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
    """The answers of `calibrate` at each of 1 to 200 values of the field `swept`, which `fields` need not have.

    What is refused at a value stands there as that value's error; the others are answered. An `executor` answers them
    side by side, to the same figures. Without `true_figures` printed readings stand without what is true at their
    parameters, which takes longer than all else: enough for a picture.

    Example:
        >>> import epsilond
        >>> setting = {"relation": "replace-one", "unit": "record", "observer": "released-models"}
        >>> run = {"delta": 1e-5, "sampling": "full", "rounds": 10, **setting}
        >>> found = epsilond.sweep("gaussian", "epsilon", [1.0, 2.0], solve_for="noise_multiplier", **run)
        >>> [round(each.answer.parameters.noise_multiplier, 2) for each in found.answers]
        [23.59, 12.61]

    Raises:
        InvalidInput: no such algorithm or field, no values or too many, or each is refused for the same other field.
        ClusterError: the executor lost the work, or its workers have another version of the engine.
    """
    chosen = calibrator(algorithm)
    names = [field.name for field in dataclasses.fields(chosen.problem)]
    if swept not in names:
        proposal = suggest(swept, names)
        choices = None if proposal else ", ".join(names)
        raise InvalidInput.at("/sweep/field", f"is not a field{proposal}", allowed=choices)
    if not 1 <= len(values) <= MOST_VALUES:
        raise InvalidInput.at("/sweep/values", "has too few or too many entries", allowed=f"1 to {MOST_VALUES}")
    asked = [(chosen, value, {**fields, swept: value}, true_figures) for value in values]
    answers = tuple(in_order(executor, _at, asked))
    refused = [each.error.faults for each in answers if isinstance(each.error, InvalidInput)]
    if len(refused) == len(answers):
        common = set(refused[0]).intersection(*refused)
        elsewhere = [fault for fault in refused[0] if fault in common and not _within(swept, fault)]
        if elsewhere:
            raise InvalidInput(*elsewhere)
    return Sweep(algorithm=chosen.name, field=swept, answers=answers)


def _within(swept: str, fault: Fault) -> bool:
    return fault.pointer == f"/{swept}" or fault.pointer.startswith(f"/{swept}/")


def _at(calibrator: Calibrator, value: object, given: JsonObject, true_figures: bool) -> AtValue:
    try:
        if value is None:
            raise InvalidInput.at("", "must not be null")
        return AtValue(value=value, answer=calibrator.solve(read(calibrator.problem, given), true_figures=true_figures))
    except (InvalidInput, NoCertificate) as error:
        return AtValue(value=value, error=error)


def _part(each: AtValue) -> JsonObject:
    if each.error is None:
        return {"value": each.value, "answer": each.answer}
    return {"value": each.value, "problem": _problem(each.error)}


def _problem(error: EpsilondError) -> JsonObject:
    if isinstance(error, InvalidInput):
        return {"type": "/problems/invalid-input", "status": 422, "detail": str(error), "errors": error.faults}
    assert isinstance(error, NoCertificate)
    told = {"type": f"/problems/{error.slug}", "status": 409, "detail": error.message, "nearest": error.nearest}
    return told if error.condition is None else {**told, "condition": error.condition}
