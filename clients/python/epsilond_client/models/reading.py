from enum import StrEnum


class Reading(StrEnum):
    COMPLETE = "complete"
    CORRECTED = "corrected"
    EXPERIMENTAL = "experimental"
    INFORMAL = "informal"
    LIPSCHITZ = "lipschitz"
    PRINTED = "printed"
    PROOF = "proof"
    SMOOTH = "smooth"
    STATEMENT = "statement"
    STRONGLY_CONVEX = "strongly-convex"

    def __str__(self) -> str:
        return str(self.value)
