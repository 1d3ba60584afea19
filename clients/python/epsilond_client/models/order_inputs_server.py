from typing import Literal

OrderInputsServer = Literal["trusted", "untrusted"]

ORDER_INPUTS_SERVER_VALUES: set[OrderInputsServer] = {
    "trusted",
    "untrusted",
}


def check_order_inputs_server(value: str) -> OrderInputsServer:
    if value in ORDER_INPUTS_SERVER_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ORDER_INPUTS_SERVER_VALUES!r}")
