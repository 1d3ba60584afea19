from typing import Literal

BaselineValueType1 = Literal["-unbounded", "unbounded"]

BASELINE_VALUE_TYPE_1_VALUES: set[BaselineValueType1] = {
    "-unbounded",
    "unbounded",
}


def check_baseline_value_type_1(value: str) -> BaselineValueType1:
    if value in BASELINE_VALUE_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {BASELINE_VALUE_TYPE_1_VALUES!r}")
