from typing import Literal

Mu2SgdRunMethod = Literal["cancelled-noise", "independent-noise", "noisy-sgd"]

MU_2_SGD_RUN_METHOD_VALUES: set[Mu2SgdRunMethod] = {
    "cancelled-noise",
    "independent-noise",
    "noisy-sgd",
}


def check_mu_2_sgd_run_method(value: str) -> Mu2SgdRunMethod:
    if value in MU_2_SGD_RUN_METHOD_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {MU_2_SGD_RUN_METHOD_VALUES!r}")
