from typing import Literal

AuditAnswerVerdict = Literal["consistent", "contradicted"]

AUDIT_ANSWER_VERDICT_VALUES: set[AuditAnswerVerdict] = {
    "consistent",
    "contradicted",
}


def check_audit_answer_verdict(value: str) -> AuditAnswerVerdict:
    if value in AUDIT_ANSWER_VERDICT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {AUDIT_ANSWER_VERDICT_VALUES!r}")
