"""dp-accounting: its events as specs, and an accountant with its interface.

spec_from_dp_event(event)      the spec that an event describes; dp-accounting need not be installed
EpsilondAccountant(relation)   a `PrivacyAccountant` with certified ε and δ
profile_from_pld(distribution) the spec of a PrivacyLossDistribution that the caller vouches for
"""

from typing import TYPE_CHECKING

from epsilond.integrations.dp_accounting.events import spec_from_dp_event
from epsilond.integrations.lazily import importer

if TYPE_CHECKING:
    from epsilond.integrations.dp_accounting.accountant import EpsilondAccountant
    from epsilond.integrations.dp_accounting.distributions import profile_from_pld

__all__ = ["EpsilondAccountant", "profile_from_pld", "spec_from_dp_event"]

if not TYPE_CHECKING:
    __getattr__ = importer(__name__, {"EpsilondAccountant": "accountant", "profile_from_pld": "distributions"})
