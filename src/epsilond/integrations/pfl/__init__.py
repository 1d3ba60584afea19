"""pfl-research: its privacy accountants, solved by certified upper bounds. Importing this imports no pfl."""

from typing import TYPE_CHECKING

from epsilond.integrations.lazily import importer
from epsilond.integrations.pfl.postprocessors import check_postprocessors
from epsilond.integrations.pfl.runs import PflPrivacyWarning, spec_from_pfl

if TYPE_CHECKING:
    from epsilond.integrations.pfl.accountant import EpsilondPrivacyAccountant as EpsilondPrivacyAccountant
    from epsilond.integrations.pfl.joint import EpsilondJointPrivacyAccountant as EpsilondJointPrivacyAccountant

__all__ = [
    "EpsilondJointPrivacyAccountant",
    "EpsilondPrivacyAccountant",
    "PflPrivacyWarning",
    "check_postprocessors",
    "spec_from_pfl",
]

if not TYPE_CHECKING:
    __getattr__ = importer(
        __name__, {"EpsilondJointPrivacyAccountant": "joint", "EpsilondPrivacyAccountant": "accountant"}
    )
