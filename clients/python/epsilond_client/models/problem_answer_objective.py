from typing import Literal

ProblemAnswerObjective = Literal["empirical", "population"]

PROBLEM_ANSWER_OBJECTIVE_VALUES: set[ProblemAnswerObjective] = {
    "empirical",
    "population",
}


def check_problem_answer_objective(value: str) -> ProblemAnswerObjective:
    if value in PROBLEM_ANSWER_OBJECTIVE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PROBLEM_ANSWER_OBJECTIVE_VALUES!r}")
