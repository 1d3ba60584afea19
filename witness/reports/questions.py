"""The subjects of reports: every calibrator, and the accountant."""

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
from epsilond.calibrators.calibration import Calibrator
from epsilond.witness.reports.profile import profile
from epsilond.witness.reports.record import Kind

ACCOUNT: Literal["account"] = "account"
"""Name of the accountant's only question."""


@dataclass(frozen=True)
class ReportedAnswer:
    """An answer in JSON form, with points of the privacy profile, also in JSON form.

    Attributes:
        answer: the answer.
        profile: points of δ as a function of ε, with bounds on log₁₀ δ.
    """

    answer: JsonObject
    profile: list[object]


@dataclass(frozen=True)
class ReportSubject:
    """A calibrator, or the accountant, as the subject of reports: how it answers problems, and how a page names it.

    Attributes:
        kind: kind of its reports.
        name: name of the calibrator, or "account".
        title: title on the page.
        problem: dataclass of its problems.
        parameters: dataclass of the calibrated parameters; None for the accountant.
        answer_problem: function from a problem to the answer and its profile.
    """

    kind: Kind
    name: str
    title: str
    problem: type
    parameters: type | None
    answer_problem: Callable[[Any], ReportedAnswer]


def question(kind: str, name: str | None = None) -> ReportSubject:
    """Return the calibrator or the accountant that answers the problems of a kind of report.

    A calibrator computes noise for a target (ε, δ). The accountant computes ε or δ of a given mechanism.

    Args:
        kind: "calibration" or "account" (a mechanism's guarantee).
        name: name of the calibrator; None for an account.

    Returns:
        The subject: its names, its classes of problem and parameters, and the function that answers a problem.

    Raises:
        InvalidInput: the kind or the calibrator does not exist, or the name does not fit the kind.
    """
    if kind == ACCOUNT and name in (None, ACCOUNT):
        return QUESTIONS[ACCOUNT, ACCOUNT]
    if kind == ACCOUNT:
        raise InvalidInput.at("/algorithm", "an account has no algorithm")
    if kind != "calibration":
        raise InvalidInput.at("/kind", "is not one of the allowed values", allowed="calibration, account")

    if ("calibration", name) not in QUESTIONS:
        message = "is required" if name is None else "there is no such algorithm"
        allowed = ", ".join(calibrator.name for calibrator in CALIBRATORS)
        raise InvalidInput.at("/algorithm", message, allowed=allowed)
    return QUESTIONS["calibration", str(name)]


def _make_calibration_answerer(solve: Callable[[Any], Any]) -> Callable[[Any], ReportedAnswer]:
    """Make a function that solves a calibrator's problem, and adds the privacy profile of the calibrated run.

    Args:
        solve: the calibrator's function from a problem to its answer.

    Returns:
        A function from a problem to the answer in JSON form, with points of the profile δ(ε).
    """

    def answer_problem(problem: object) -> ReportedAnswer:
        """Solve the problem, and sample the privacy profile if the guarantee has one."""
        answer = solve(problem)
        curve = answer.guarantee.curve
        points: list[object] = []
        # A guarantee without a curve has no points.
        if curve is not None:
            points = profile(curve.natural, answer.guarantee.target.epsilon)
        return ReportedAnswer(as_json(answer), points)

    return answer_problem


def _answer_account(problem: accounting.AccountProblem) -> ReportedAnswer:
    """Answer an accounting problem, and compute points of the mechanism's privacy profile δ(ε).

    Args:
        problem: the mechanism with its setting, and the requested ε or δ.

    Returns:
        The answer in JSON form, with points from ε = 0 to twice its ε.
    """
    answer = accounting.answer(problem)
    result = account(problem.spec, relation=problem.relation, unit=problem.unit, observer=problem.observer)
    points = profile(result.guarantee.curve, answer.guarantee.epsilon.upper)
    return ReportedAnswer(as_json(answer), points)


def _calibration_subject(calibrator: Calibrator) -> ReportSubject:
    """Describe a calibrator as the subject of reports.

    A calibrator computes the parameters, noise included, with which an algorithm meets a target (ε, δ).

    Args:
        calibrator: the calibrator of one algorithm.

    Returns:
        The subject: its names, its classes of problem and parameters, and the function that answers a problem.
    """
    return ReportSubject(
        kind="calibration",
        name=calibrator.name,
        title=calibrator.title,
        problem=calibrator.problem,
        parameters=calibrator.parameters_type,
        answer_problem=_make_calibration_answerer(calibrator.solve),
    )


_ACCOUNT_SUBJECT = ReportSubject(
    kind=ACCOUNT,
    name=ACCOUNT,
    title="What a run guarantees",
    problem=accounting.AccountProblem,
    parameters=None,
    answer_problem=_answer_account,
)
_SUBJECTS = (*map(_calibration_subject, CALIBRATORS), _ACCOUNT_SUBJECT)
QUESTIONS: Mapping[tuple[str, str], ReportSubject] = {(subject.kind, subject.name): subject for subject in _SUBJECTS}
"""All subjects of reports, by kind and name."""
