"""What a report can be about: every calibrator, and the accountant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from epsilond.accountants.account import account
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.json_types import JsonObject
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators import accounts as accounting
from epsilond.calibrators.answer import as_json
from epsilond.witness.reports.profile import profile
from epsilond.witness.reports.record import Kind

ACCOUNT: Literal["account"] = "account"
"""The name of the only question of its kind."""


@dataclass(frozen=True)
class ReportedAnswer:
    """An answer in JSON form, with the profile around it."""

    answer: JsonObject
    profile: list[object]


@dataclass(frozen=True)
class ReportSubject:
    """What a report can be about: a calibrator, or the accountant."""

    kind: Kind
    name: str
    title: str
    problem: type
    parameters: type | None
    answered: Callable[[Any], ReportedAnswer]


def question(kind: str, name: str | None = None) -> ReportSubject:
    """The question of that kind and name; an account needs no name.

    Raises:
        InvalidInput: there is none.
    """
    if kind == ACCOUNT and name in (None, ACCOUNT):
        return QUESTIONS[ACCOUNT, ACCOUNT]
    if kind not in (ACCOUNT, "calibration"):
        raise InvalidInput.at("/kind", "is not one of the allowed values", allowed="calibration, account")
    if kind == ACCOUNT:
        raise InvalidInput.at("/algorithm", "an account has no algorithm")
    if ("calibration", name) not in QUESTIONS:
        known = ", ".join(each.name for each in CALIBRATORS)
        raise InvalidInput.at(
            "/algorithm", "is required" if name is None else "there is no such algorithm", allowed=known
        )
    return QUESTIONS["calibration", str(name)]


def _calibrated(solve: Callable[[Any], Any]) -> Callable[[Any], ReportedAnswer]:
    def answered(problem: object) -> ReportedAnswer:
        answer = solve(problem)
        curve = answer.guarantee.curve
        points = [] if curve is None else profile(curve.natural, answer.guarantee.target.epsilon)
        return ReportedAnswer(as_json(answer), points)

    return answered


def _accounted(problem: accounting.AccountProblem) -> ReportedAnswer:
    answer = accounting.answer(problem)
    found = account(problem.spec, relation=problem.relation, unit=problem.unit, observer=problem.observer)
    return ReportedAnswer(as_json(answer), profile(found.guarantee.curve, answer.guarantee.epsilon.upper))


QUESTIONS: Mapping[tuple[str, str], ReportSubject] = {
    (each.kind, each.name): each
    for each in (
        *(
            ReportSubject("calibration", one.name, one.title, one.problem, one.parameters_type, _calibrated(one.solve))
            for one in CALIBRATORS
        ),
        ReportSubject(ACCOUNT, ACCOUNT, "What a run guarantees", accounting.AccountProblem, None, _accounted),
    )
}
"""THE list of what a report can be about."""
