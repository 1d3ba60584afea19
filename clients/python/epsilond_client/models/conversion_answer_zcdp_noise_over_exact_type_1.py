from typing import Literal

ConversionAnswerZcdpNoiseOverExactType1 = Literal["-unbounded", "unbounded"]

CONVERSION_ANSWER_ZCDP_NOISE_OVER_EXACT_TYPE_1_VALUES: set[ConversionAnswerZcdpNoiseOverExactType1] = {
    "-unbounded",
    "unbounded",
}


def check_conversion_answer_zcdp_noise_over_exact_type_1(value: str) -> ConversionAnswerZcdpNoiseOverExactType1:
    if value in CONVERSION_ANSWER_ZCDP_NOISE_OVER_EXACT_TYPE_1_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {CONVERSION_ANSWER_ZCDP_NOISE_OVER_EXACT_TYPE_1_VALUES!r}"
    )
