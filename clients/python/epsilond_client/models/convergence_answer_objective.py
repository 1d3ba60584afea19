from typing import Literal

ConvergenceAnswerObjective = Literal["empirical", "personalized", "population"]

CONVERGENCE_ANSWER_OBJECTIVE_VALUES: set[ConvergenceAnswerObjective] = {
    "empirical",
    "personalized",
    "population",
}


def check_convergence_answer_objective(value: str) -> ConvergenceAnswerObjective:
    if value in CONVERGENCE_ANSWER_OBJECTIVE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CONVERGENCE_ANSWER_OBJECTIVE_VALUES!r}")
