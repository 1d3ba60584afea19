"""POST /v1/accounts: what a run guarantees."""

from __future__ import annotations

from functools import partial

from epsilond.app.questions.question import Question
from epsilond.app.questions.validation import Validator
from epsilond.app.workers.work import rendered
from epsilond.calibrators.accounts import AccountProblem, answer
from epsilond.calibrators.strict_json import parse

VALIDATED = Validator(AccountProblem)


def read_account(body: bytes) -> Question:
    """The account that a body asks for.

    Raises:
        Malformed: it is not JSON.
        InvalidInput: it is no account's.
    """
    problem = VALIDATED(parse(body))
    return Question.of("account", problem.spec.kind, problem, partial(rendered, answer, problem))
