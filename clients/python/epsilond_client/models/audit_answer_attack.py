from typing import Literal

AuditAnswerAttack = Literal["implemented", "mathematical"]

AUDIT_ANSWER_ATTACK_VALUES: set[AuditAnswerAttack] = {
    "implemented",
    "mathematical",
}


def check_audit_answer_attack(value: str) -> AuditAnswerAttack:
    if value in AUDIT_ANSWER_ATTACK_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {AUDIT_ANSWER_ATTACK_VALUES!r}")
