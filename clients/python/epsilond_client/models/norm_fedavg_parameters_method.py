from typing import Literal

NormFedavgParametersMethod = Literal["concentrated", "concentrated-coupled", "escape", "hockey-stick"]

NORM_FEDAVG_PARAMETERS_METHOD_VALUES: set[NormFedavgParametersMethod] = {
    "concentrated",
    "concentrated-coupled",
    "escape",
    "hockey-stick",
}


def check_norm_fedavg_parameters_method(value: str) -> NormFedavgParametersMethod:
    if value in NORM_FEDAVG_PARAMETERS_METHOD_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {NORM_FEDAVG_PARAMETERS_METHOD_VALUES!r}")
