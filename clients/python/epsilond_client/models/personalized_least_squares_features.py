from typing import Literal

PersonalizedLeastSquaresFeatures = Literal["gaussian", "sign"]

PERSONALIZED_LEAST_SQUARES_FEATURES_VALUES: set[PersonalizedLeastSquaresFeatures] = {
    "gaussian",
    "sign",
}


def check_personalized_least_squares_features(value: str) -> PersonalizedLeastSquaresFeatures:
    if value in PERSONALIZED_LEAST_SQUARES_FEATURES_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PERSONALIZED_LEAST_SQUARES_FEATURES_VALUES!r}")
