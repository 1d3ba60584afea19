"""Opacus: its histories as specs, an accountant to register, an engine with warnings, noise for a target.

register()                         PrivacyEngine(accountant="epsilond") then accounts with certified bounds
replace_accountants("rdp", …)       certified bounds in the places of its own accountants
EpsilondPrivacyEngine(budget=…)    the same with noise calibrated to them, a ledger that stops it, and warnings
get_noise_multiplier(…)            the least certified noise, with the arguments of Opacus' own
spec_from_opacus_history(history)  history of one of its accountants; Opacus need not be installed
"""

from typing import TYPE_CHECKING

from epsilond.integrations.lazily import importer
from epsilond.integrations.opacus.history import spec_from_opacus_history
from epsilond.integrations.opacus.noise import get_noise_multiplier
from epsilond.integrations.opacus.pitfalls import (
    DataDependentDenominator,
    LargeDelta,
    OpacusPrivacyWarning,
    SamplerReplaced,
)

if TYPE_CHECKING:
    from epsilond.integrations.opacus.accountant import EpsilondAccountant, register
    from epsilond.integrations.opacus.drop_in import replace_accountants
    from epsilond.integrations.opacus.engine import EpsilondPrivacyEngine

__all__ = [
    "DataDependentDenominator",
    "EpsilondAccountant",
    "EpsilondPrivacyEngine",
    "LargeDelta",
    "OpacusPrivacyWarning",
    "SamplerReplaced",
    "get_noise_multiplier",
    "register",
    "replace_accountants",
    "spec_from_opacus_history",
]

if not TYPE_CHECKING:
    __getattr__ = importer(
        __name__,
        {
            "EpsilondAccountant": "accountant",
            "EpsilondPrivacyEngine": "engine",
            "register": "accountant",
            "replace_accountants": "drop_in",
        },
    )
