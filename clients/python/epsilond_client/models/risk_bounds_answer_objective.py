from typing import Literal

RiskBoundsAnswerObjective = Literal["empirical", "population"]

RISK_BOUNDS_ANSWER_OBJECTIVE_VALUES: set[RiskBoundsAnswerObjective] = {
    "empirical",
    "population",
}


def check_risk_bounds_answer_objective(value: str) -> RiskBoundsAnswerObjective:
    if value in RISK_BOUNDS_ANSWER_OBJECTIVE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {RISK_BOUNDS_ANSWER_OBJECTIVE_VALUES!r}")
