from typing import Literal

ConversionAnswerNoiseOverExactType0Type1 = Literal["-unbounded", "unbounded"]

CONVERSION_ANSWER_NOISE_OVER_EXACT_TYPE_0_TYPE_1_VALUES: set[ConversionAnswerNoiseOverExactType0Type1] = {
    "-unbounded",
    "unbounded",
}


def check_conversion_answer_noise_over_exact_type_0_type_1(value: str) -> ConversionAnswerNoiseOverExactType0Type1:
    if value in CONVERSION_ANSWER_NOISE_OVER_EXACT_TYPE_0_TYPE_1_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {CONVERSION_ANSWER_NOISE_OVER_EXACT_TYPE_0_TYPE_1_VALUES!r}"
    )
