from typing import Literal

DataSetProblemObjective = Literal["empirical", "population"]

DATA_SET_PROBLEM_OBJECTIVE_VALUES: set[DataSetProblemObjective] = {
    "empirical",
    "population",
}


def check_data_set_problem_objective(value: str) -> DataSetProblemObjective:
    if value in DATA_SET_PROBLEM_OBJECTIVE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {DATA_SET_PROBLEM_OBJECTIVE_VALUES!r}")
