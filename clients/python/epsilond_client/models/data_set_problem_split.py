from typing import Literal

DataSetProblemSplit = Literal["by-label", "iid"]

DATA_SET_PROBLEM_SPLIT_VALUES: set[DataSetProblemSplit] = {
    "by-label",
    "iid",
}


def check_data_set_problem_split(value: str) -> DataSetProblemSplit:
    if value in DATA_SET_PROBLEM_SPLIT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {DATA_SET_PROBLEM_SPLIT_VALUES!r}")
