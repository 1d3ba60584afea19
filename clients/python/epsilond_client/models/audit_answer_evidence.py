from typing import Literal

AuditAnswerEvidence = Literal["escape", "test"]

AUDIT_ANSWER_EVIDENCE_VALUES: set[AuditAnswerEvidence] = {
    "escape",
    "test",
}


def check_audit_answer_evidence(value: str) -> AuditAnswerEvidence:
    if value in AUDIT_ANSWER_EVIDENCE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {AUDIT_ANSWER_EVIDENCE_VALUES!r}")
