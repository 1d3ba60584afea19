from typing import Literal

RunAnswerNoiseSource = Literal["certified", "given"]

RUN_ANSWER_NOISE_SOURCE_VALUES: set[RunAnswerNoiseSource] = {
    "certified",
    "given",
}


def check_run_answer_noise_source(value: str) -> RunAnswerNoiseSource:
    if value in RUN_ANSWER_NOISE_SOURCE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {RUN_ANSWER_NOISE_SOURCE_VALUES!r}")
