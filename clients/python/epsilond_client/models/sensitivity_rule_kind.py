from typing import Literal

SensitivityRuleKind = Literal["coupled", "hoeffding", "relative", "trivial", "unit-vector"]

SENSITIVITY_RULE_KIND_VALUES: set[SensitivityRuleKind] = {
    "coupled",
    "hoeffding",
    "relative",
    "trivial",
    "unit-vector",
}


def check_sensitivity_rule_kind(value: str) -> SensitivityRuleKind:
    if value in SENSITIVITY_RULE_KIND_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SENSITIVITY_RULE_KIND_VALUES!r}")
