from typing import Literal

QtdlParametersMethod = Literal["concentrated", "concentrated-coupled", "escape", "hockey-stick"]

QTDL_PARAMETERS_METHOD_VALUES: set[QtdlParametersMethod] = {
    "concentrated",
    "concentrated-coupled",
    "escape",
    "hockey-stick",
}


def check_qtdl_parameters_method(value: str) -> QtdlParametersMethod:
    if value in QTDL_PARAMETERS_METHOD_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {QTDL_PARAMETERS_METHOD_VALUES!r}")
