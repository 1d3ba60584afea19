"""Settings of algorithms within a ledger: whether a guarantee has the ledger's unit, relation and observer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Final, get_args, get_type_hints

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.errors import ConditionViolated, Fault, InvalidInput
from epsilond.accountants.guarantee import Setting
from epsilond.accountants.json_types import JsonRecord
from epsilond.accountants.quantities import quantity_of, require_unit
from epsilond.accountants.quantities.risks import RISKS
from epsilond.accountants.quantities.units import unit_json
from epsilond.accountants.structure import POSSIBLE, Definition
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.calibration import Calibrator

SETTING: Final = ("unit", "relation", "observer")
TARGET: Final = ("epsilon", "delta", "log10_delta", *RISKS, "false_positive_rate")
NOISE: Final = ("noise_multiplier", "noise_std")
"""Fields that a problem may be solved for within a ledger."""


def request_fields(calibrator: Calibrator, values: Mapping[str, object], setting: Setting) -> JsonRecord:
    """Complete a user's fields of a calibration with the relation, the unit and the observer of the ledger.

    If the problem has a field `solve_for`, it is set to the noise.

    Args:
        calibrator: calibrator of the algorithm.
        values: fields from the user, by name.
        setting: relation, unit and observer of the ledger.

    Returns:
        The fields of the calibrator's request by name, without the target ε and δ, which the search sets.

    Raises:
        InvalidInput: the ledger determines a field, or a field contradicts the ledger.
        ConditionViolated: the algorithm has no guarantee in this setting.
    """
    own_fields = {field.name for field in fields(calibrator.problem)}
    faults = _find_faults(values, own_fields, setting)
    if faults:
        raise InvalidInput(*faults)
    require_setting(calibrator, setting)
    own_setting: JsonRecord = {name: _member_json(setting, name) for name in SETTING if name in own_fields}
    request: JsonRecord = {**values, **own_setting}
    if "solve_for" in own_fields and values.get("solve_for") is None:
        unknowns = _choices(calibrator.problem, "solve_for")
        request["solve_for"] = next(name for name in NOISE if name in unknowns)
    return request


def _find_faults(values: Mapping[str, object], own_fields: set[str], setting: Setting) -> list[Fault]:
    """Return an error for each field of a user's calibration that contradicts the ledger, or that it determines.

    Args:
        values: fields from the user.
        own_fields: names of the fields of the calibrator's problem.
        setting: relation, unit and observer of the ledger.

    Returns:
        The errors, each with the pointer to its field.
    """
    user_values = {name: value for name, value in values.items() if value is not None}
    faults = [Fault(f"/{name}", "is set by the ledger: leave it out") for name in TARGET if name in user_values]

    # Unit, relation and observer may be stated, but must be those of the ledger.
    for name in SETTING:
        own_word = _as_word(_member_json(setting, name))
        if name in user_values and _as_word(user_values[name]) != own_word:
            faults.append(Fault(f"/{name}", f"is {_as_word(user_values[name])}, and not the ledger's", own_word))

    # The search can solve for the noise only.
    if values.get("solve_for") not in (None, *NOISE):
        faults.append(Fault("/solve_for", "is not available for a ledger", " or ".join(NOISE)))
    if "noise_multiplier" in own_fields and "noise_multiplier" in user_values:
        faults.append(Fault("/noise_multiplier", "is the field that is solved for"))
    return faults


def _member_json(setting: Setting, name: str) -> object:
    """Return the unit, the relation or the observer of a guarantee in its JSON form.

    Args:
        setting: relation, unit and observer of the ledger.
        name: `unit`, `relation` or `observer`.

    Returns:
        A word, or a JSON object for a unit that is limited to a window of time.
    """
    if name == "unit":
        return unit_json(setting.protected_unit)
    return getattr(setting, name)


def _as_word(value: object) -> str:
    """Return a unit, relation or observer as one word, so that two of them can be compared.

    Args:
        value: unit, relation or observer in its JSON form: a word, or an object for a unit with a window of time.

    Returns:
        A word such as `client`, `client-day` or `replace-one`.
    """
    if isinstance(value, Mapping):
        return str(require_unit(value))
    return str(value)


def require_setting(calibrator: Calibrator, setting: Setting) -> None:
    """Check that the algorithm has a guarantee for the ledger's unit, relation and observer.

    Args:
        calibrator: the algorithm.
        setting: protected unit, neighbouring relation and observer of the ledger.

    Raises:
        ConditionViolated: the algorithm supports only other values.
    """
    for name in SETTING:
        choices = _choices(calibrator.problem, name)
        if choices and getattr(setting, name) not in choices:
            raise _mismatch_error(calibrator.name, name, " or ".join(choices), getattr(setting, name))


def require_possible(algorithm: str, definition: Definition, setting: Setting) -> None:
    """Check that the algorithm's guarantee does not trust the party that the ledger protects against.

    Args:
        algorithm: name of the algorithm.
        definition: definition of privacy of its guarantee.
        setting: relation, unit and observer of the ledger.

    Raises:
        ConditionViolated: the guarantee trusts the ledger's observer.
    """
    if setting.observer not in POSSIBLE[definition]:
        supported = f"{' or '.join(POSSIBLE[definition])}, as its trust model is {definition}"
        raise _mismatch_error(algorithm, "observer", supported, setting.observer)


def require_one(algorithm: str, released: tuple[object, ...]) -> Any:
    """Return the mechanism of a run, after checking that it is the same for all groups of clients.

    A ledger charges one mechanism, but groups of clients may release with different ones.

    Args:
        algorithm: name of the algorithm, for the error.
        released: the different mechanisms of all groups of clients, each once.

    Returns:
        The only mechanism in `released`.

    Raises:
        ConditionViolated: groups of clients have different mechanisms.
    """
    if len(released) != 1:
        statement = "kinds of releases, one for each group of clients, of which a ledger charges one"
        sides = ConditionResult("epsilond.ledger-one-release", statement, Verdict.NO, float(len(released)), 1.0)
        raise ConditionViolated(f"Groups of clients release differently in {algorithm}: use a ledger for each.", sides)
    (mechanism,) = released
    return mechanism


def _mismatch_error(algorithm: str, name: str, supported: str, required: str) -> ConditionViolated:
    """Return the error that an algorithm has no guarantee for the ledger's unit, relation or observer.

    A guarantee for another unit or relation would not bound the privacy loss that the ledger accounts for.

    Args:
        algorithm: name of the algorithm.
        name: member of the setting: unit, relation or observer.
        supported: values for which the algorithm has a guarantee, as text.
        required: value of the ledger.

    Returns:
        The error, which the caller raises.
    """
    statement = f"the {name} of the guarantee, {supported}, is that of the ledger, {required}"
    condition = ConditionResult(f"epsilond.ledger-{name}", statement, Verdict.NO)
    message = f"A ledger of {name} {required} cannot hold {algorithm}: its guarantee has the {name} {supported}."
    return ConditionViolated(message, condition)


def _choices(problem: type, name: str) -> tuple[str, ...]:
    """Return the values that a field of a request class accepts.

    The values are read from the annotation of the field, a Literal type or a quantity with words.

    Args:
        problem: class of the requests of an algorithm.
        name: name of the field.

    Returns:
        The values; empty if the class has no such field.
    """
    annotation = get_type_hints(problem, include_extras=True).get(name)
    if annotation is None:
        return ()
    bare, quantity = quantity_of(annotation)
    if name == "unit" and quantity is not None:  # a union of words and windowed units
        return tuple(word for word, _ in quantity.choices)
    return tuple(get_args(bare))
