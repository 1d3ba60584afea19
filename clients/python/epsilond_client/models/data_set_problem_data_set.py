from typing import Literal

DataSetProblemDataSet = Literal["breast-cancer", "digits"]

DATA_SET_PROBLEM_DATA_SET_VALUES: set[DataSetProblemDataSet] = {
    "breast-cancer",
    "digits",
}


def check_data_set_problem_data_set(value: str) -> DataSetProblemDataSet:
    if value in DATA_SET_PROBLEM_DATA_SET_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {DATA_SET_PROBLEM_DATA_SET_VALUES!r}")
