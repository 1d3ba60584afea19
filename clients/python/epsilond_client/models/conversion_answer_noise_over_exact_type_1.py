from typing import Literal

ConversionAnswerNoiseOverExactType1 = Literal["-unbounded", "unbounded"]

CONVERSION_ANSWER_NOISE_OVER_EXACT_TYPE_1_VALUES: set[ConversionAnswerNoiseOverExactType1] = {
    "-unbounded",
    "unbounded",
}


def check_conversion_answer_noise_over_exact_type_1(value: str) -> ConversionAnswerNoiseOverExactType1:
    if value in CONVERSION_ANSWER_NOISE_OVER_EXACT_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CONVERSION_ANSWER_NOISE_OVER_EXACT_TYPE_1_VALUES!r}")
