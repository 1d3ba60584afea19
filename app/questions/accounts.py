"""POST /v1/accounts: the guarantees of a run."""

from __future__ import annotations

from functools import partial

from epsilond.app.questions.cost import ACCOUNTS, estimate_seconds
from epsilond.app.questions.question import Posted, Question
from epsilond.app.workers.work import render_answer
from epsilond.calibrators.account_examples import EXAMPLES
from epsilond.calibrators.accounts import AccountAnswer, AccountProblem, answer
from epsilond.calibrators.strict_json import parse
from epsilond.reading import read_body


def read_account(body: bytes) -> Question:
    """Read a request for an account: the differential privacy guarantee of a described run.

    Args:
        body: the JSON text, with the run and the ε or δ at which the guarantee is requested.

    Returns:
        The computation to be done, with its estimated CPU time.

    Raises:
        MalformedJson: the body is not JSON.
        InvalidInput: the body does not have the fields of `AccountProblem`, or they are invalid.
    """
    problem = read_body(AccountProblem, parse(body))
    computation = partial(render_answer, answer, problem)
    seconds = estimate_seconds(ACCOUNTS, problem)
    return Question.of("account", problem.spec.kind, problem, computation, seconds=seconds)


ACCOUNT = Posted(
    kind="account",
    path="/v1/accounts",
    problem=AccountProblem,
    answer=AccountAnswer,
    read=read_account,
    title="Guarantee of a run, and whether a claim about it holds",
    description="Account for a spec under a stated neighbouring relation; the relation has no default.",
    returns="The curve at the requested points, its meaning for an attacker, and its proof",
    examples={name: {"value": dict(body)} for name, body in EXAMPLES.items()},
    tag="accounts",
)
