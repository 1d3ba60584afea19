from typing import Literal

MeanEstimationProblemObjective = Literal["empirical", "population"]

MEAN_ESTIMATION_PROBLEM_OBJECTIVE_VALUES: set[MeanEstimationProblemObjective] = {
    "empirical",
    "population",
}


def check_mean_estimation_problem_objective(value: str) -> MeanEstimationProblemObjective:
    if value in MEAN_ESTIMATION_PROBLEM_OBJECTIVE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {MEAN_ESTIMATION_PROBLEM_OBJECTIVE_VALUES!r}")
