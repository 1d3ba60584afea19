from typing import Literal

Mu2SgdRunServer = Literal["trusted", "untrusted"]

MU_2_SGD_RUN_SERVER_VALUES: set[Mu2SgdRunServer] = {
    "trusted",
    "untrusted",
}


def check_mu_2_sgd_run_server(value: str) -> Mu2SgdRunServer:
    if value in MU_2_SGD_RUN_SERVER_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {MU_2_SGD_RUN_SERVER_VALUES!r}")
