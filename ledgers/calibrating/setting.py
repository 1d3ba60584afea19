"""Settings of algorithms within a ledger: whether a guarantee has the ledger's unit, relation and observer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Final, get_args, get_type_hints

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.errors import ConditionViolated, Fault, InvalidInput
from epsilond.accountants.guarantee import Setting
from epsilond.accountants.json_types import JsonRecord
from epsilond.accountants.quantities import quantity_of
from epsilond.accountants.structure import POSSIBLE, Definition
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.calibration import Calibrator

SETTING: Final = ("unit", "relation", "observer")
TARGET: Final = ("epsilon", "delta", "log10_delta", "gaussian_dp_mu")
NOISE: Final = ("noise_multiplier", "noise_std")
"""Fields that a problem may be solved for within a ledger."""


def request_fields(calibrator: Calibrator, values: Mapping[str, object], setting: Setting) -> JsonRecord:
    """Return the fields of a calibration request, completed with the ledger's relation, unit and observer.

    The target ε and δ are not among them, because the search chooses ε. The request solves for the noise.

    Args:
        calibrator: calibrator of the algorithm.
        values: fields from the user.
        setting: relation, unit and observer of the ledger.

    Raises:
        InvalidInput: the ledger determines a field, or a field contradicts the ledger.
        ConditionViolated: the algorithm has no guarantee in this setting.
    """
    own = {field.name for field in fields(calibrator.problem)}
    faults = [
        Fault(f"/{name}", "is set by the ledger: leave it out") for name in TARGET if values.get(name) is not None
    ]
    faults += [
        Fault(f"/{name}", "is not the ledger's", getattr(setting, name))
        for name in SETTING
        if values.get(name) not in (None, getattr(setting, name))
    ]
    solved = values.get("solve_for")
    if solved not in (None, *NOISE):
        faults.append(Fault("/solve_for", "is not available for a ledger", " or ".join(NOISE)))
    if "noise_multiplier" in own and values.get("noise_multiplier") is not None:
        faults.append(Fault("/noise_multiplier", "is the field that is solved for"))
    if faults:
        raise InvalidInput(*faults)
    require_setting(calibrator, setting)
    request: JsonRecord = {**values, **{name: getattr(setting, name) for name in SETTING if name in own}}
    if "solve_for" in own and solved is None:
        request["solve_for"] = next(name for name in NOISE if name in _choices(calibrator.problem, "solve_for"))
    return request


def require_setting(calibrator: Calibrator, setting: Setting) -> None:
    """Check that the algorithm has a guarantee for the ledger's unit, relation and observer.

    Raises:
        ConditionViolated: the algorithm supports only other values.
    """
    for name in SETTING:
        choices = _choices(calibrator.problem, name)
        if choices and getattr(setting, name) not in choices:
            raise _mismatch(calibrator.name, name, " or ".join(choices), getattr(setting, name))


def require_possible(algorithm: str, definition: Definition, setting: Setting) -> None:
    """Check that the algorithm's guarantee does not trust the party that the ledger protects against.

    Args:
        algorithm: name of the algorithm.
        definition: definition of privacy of its guarantee.
        setting: setting of the ledger.

    Raises:
        ConditionViolated: the guarantee trusts the ledger's observer.
    """
    if setting.observer not in POSSIBLE[definition]:
        whom = f"{' or '.join(POSSIBLE[definition])}, as its trust model is {definition}"
        raise _mismatch(algorithm, "observer", whom, setting.observer)


def require_one(algorithm: str, released: tuple[object, ...]) -> Any:
    """Return the only mechanism of a run, because a ledger charges one mechanism for all clients.

    Args:
        algorithm: name of the algorithm, for the error.
        released: mechanism of each group of clients.

    Raises:
        ConditionViolated: groups of clients have different mechanisms.
    """
    if len(released) != 1:
        statement = "kinds of releases, one for each group of clients, of which a ledger charges one"
        sides = ConditionResult("epsilond.ledger-one-release", statement, Verdict.NO, float(len(released)), 1.0)
        raise ConditionViolated(f"Groups of clients release differently in {algorithm}: use a ledger for each.", sides)
    return released[0]


def _mismatch(algorithm: str, name: str, theirs: str, ledgers: str) -> ConditionViolated:
    """Return the error that an algorithm has no guarantee for a value of the ledger's setting."""
    statement = f"the {name} of the guarantee, {theirs}, is that of the ledger, {ledgers}"
    return ConditionViolated(
        f"A ledger of {name} {ledgers} cannot hold {algorithm}: its guarantee has the {name} {theirs}.",
        ConditionResult(f"epsilond.ledger-{name}", statement, Verdict.NO),
    )


def _choices(problem: type, name: str) -> tuple[str, ...]:
    """Return the values that a field of a problem may have; none if it has no such field."""
    annotation = get_type_hints(problem, include_extras=True).get(name)
    return () if annotation is None else tuple(get_args(quantity_of(annotation)[0]))
